#!/usr/bin/env python3
"""left_out.py BUILD [FILE...]: leaves out each check of bytes from outside, one at a time: of the reader of saved runs
(vm/snapshot) and of the loader of programs (vm/program).

A check is a MUST, or a refusal behind a condition. Of a condition with several parts each part is left out too. The tests
of that folder must notice each of them. BUILD is a folder of CMake with compile_commands.json and libmwlvm.a; nothing is
changed in the tree or there. FILEs are paths as `vm/program/verify.c`. Prints what goes unnoticed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# Folder: its files with checks, and the tests that must notice.
SETS = {
    "vm/snapshot": (["fit.c", "records.c", "reader.c", "restart.c", "load.c", "cbor.c", "header.c"],
                    ["test_snapshot_damage", "test_snapshot_damage_bytes", "test_snapshot_damage_any", "test_snapshot"]),
    "vm/program": (["image.c", "pack.c", "program.c", "verify.c", "verify_flow.c", "verify_loops.c", "verify_nest.c",
                    "verify_regs.c"],
                   ["test_verify_places", "test_verify", "test_image", "test_pack", "test_emit", "test_swap",
                    "test_verify_ways"]),
}

# Leaving these out changes nothing that a test could see.
SPARE = {
    # Parameters are always of type object, as the schema of provider documents wants it.
    "mwl_value_kind(c->args) == MWL_KIND_OBJECT",
    # A Flow that has not begun has no Step that has.
    "w->now.step == MWL_NONE",
    # Behind a DISPATCH of a Gather's call nothing goes on.
    "!fans_out",
    # Where its record says that GATHER_RUN is, its place is known from the tables.
    "w->now.gather_state == RUNNING",
    "w->now.call_state == NO_CALL",
    # A call that is answered has a Result.
    "!w->live || !at.res || w->now.res",
    # What a register borrows from is below it, and TAKE alone takes and lends.
    "dep > lowest",
    # Out of memory is refused in another way; so many records need 32 GB.
    "mwl_is_absent(map)",
    "size / record >= UINT32_MAX",
    # The next check refuses it too, after a read that only a sanitizer sees.
    "size < 4",
    "left < sizeof(mwl__str)",
    "len > MWL_STRING_LIMIT",
    "u->end - u->at < 8",
}


REFUSES = re.compile(r"(return (\([a-z0-9_]+\))?|good = )?(damaged\(|mwl__reader_refuse\(\S+ MWL_E_SNAPSHOT|refuse\(error, MWL_E_[^N]|"
                     r"REFUSE(_AT)?\(|bad\(error|refuse\(u,|mwl__image_refuse\([^;]*MWL_E_(IMAGE|VERSION)|\"an? )")


def closing(text, at):
    """The place behind the parenthesis that closes the one at `at`."""
    depth = 0
    quoted = None
    for i in range(at, len(text)):
        c = text[i]
        if quoted:
            if c == quoted and text[i - 1] != "\\":
                quoted = None
        elif c in "\"'":
            quoted = c
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError(text[at:at + 80])


def split(text, operator):
    """The parts of an expression between an operator of the outermost level, as (begin, end)."""
    parts, depth, begin, quoted = [], 0, 0, False
    i = 0
    while i < len(text):
        if text[i] == '"':
            quoted = not quoted
        elif quoted:
            pass
        elif text[i] in "([":
            depth += 1
        elif text[i] in ")]":
            depth -= 1
        elif depth == 0 and text.startswith(operator, i):
            parts.append((begin, i))
            begin = i + len(operator)
            i += len(operator) - 1
        i += 1
    return parts + [(begin, len(text))]


def conditions(text):
    """(begin, end, value): a condition that is a check, and what it is when the check passes."""
    for m in re.finditer(r"\bMUST\(", text):
        if text[text.rfind("\n", 0, m.start()) + 1:m.start()].startswith("#define"):
            continue
        end = closing(text, m.end() - 1) - 1
        yield m.end(), m.end() + split(text[m.end():end], ",")[0][1], True
    for m in re.finditer(r"\bif \(", text):
        end = closing(text, m.end() - 1)
        rest = text[end:end + 200].lstrip("{ \n")
        if REFUSES.match(rest) or ("header.c" in text[:80] and re.match(r"return MWL_E_", rest)) or (
                "cbor.c" in text[:80] and re.match(r"return false", rest)):
            yield m.end(), end - 1, False
    for m in re.finditer(r"\|\|\s*(damaged\(|mwl__reader_refuse\(&l->r, MWL_E_SNAPSHOT)", text):
        begin = max(e.end() for e in re.finditer(r"return |[^=!<>]= |;\s", text[:m.start()]))
        # `a && (b || damaged())`: the check is b.
        inner = text[begin:m.start()]
        depth, at = 0, len(inner)
        while at > 0:
            at -= 1
            depth += inner[at] == ")"
            depth -= inner[at] == "("
            if depth < 0:
                begin += at + 1
                break
        yield begin, m.start(), True


def mutants(text):
    """(line, what is left out, the text without it)"""
    for begin, end, passes in conditions(text):
        condition = text[begin:end]
        line = text.count("\n", 0, begin) + 1
        parts = split(condition, "&&" if passes else "||")
        # && binds more tightly than ||, and both more tightly than ?:.
        if (passes and len(split(condition, "||")) > 1) or len(split(condition, "?")) > 1:
            parts = [(0, len(condition))]
        for b, e in parts:
            part = condition[b:e]
            if part.strip() == "good":
                continue
            unused = "true" if passes else "false"
            yield line, " ".join(part.split()), text[:begin + b] + " " + unused + " " + text[begin + e:]


def commands(build):
    return {os.path.relpath(c["file"], ROOT): c for c in json.load(open(os.path.join(build, "compile_commands.json")))}


def run(command, cwd, seconds=60):
    try:
        return subprocess.run(command, cwd=cwd, shell=isinstance(command, str), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None


class Builder:
    """Links the tests with one object that is broken."""

    def __init__(self, build, folder):
        self.build, self.folder, self.objects = build, folder, {}
        self.known = commands(build)
        ninja = open(os.path.join(build, "build.ninja")).read()
        libraries = re.search(r"LINK_LIBRARIES = (.*libmwlvm\.a.*)", ninja).group(1).replace("$", "")
        shutil.copy(os.path.join(build, "libmwlvm.a"), folder)  # the build may go on meanwhile
        self.libraries = libraries.replace(" libmwlvm.a", f" {folder}/libmwlvm.a")
        for test in sorted({t for _, tests in SETS.values() for t in tests}):
            source = next(p for p in self.known if p.endswith(f"/{test}.c"))
            self.objects[test] = os.path.join(folder, f"{test}.o")
            shutil.copy(os.path.join(build, re.search(r" -o (\S+)", self.known[source]["command"]).group(1)),
                        self.objects[test])

    def compile(self, path, text):
        """Returns what the compiler says, or None if it is content."""
        command = self.known[path]
        broken = os.path.join(self.folder, "broken.c")
        open(broken, "w").write(text)
        line = re.sub(r" -o \S+", f" -o {self.folder}/broken.o", command["command"])
        line = line.replace(command["file"], broken).replace("-Werror", "") + " -w -O0"
        p = run(line.replace("ccache ", "", 1), command["directory"])
        return None if p and p.returncode == 0 else p.stdout.decode()[-600:] if p else "no end"

    def notices(self, test):
        p = run(f"cc {self.objects[test]} {self.folder}/broken.o {self.libraries} -o {self.folder}/{test}", self.build)
        if p.returncode:
            sys.exit(p.stdout.decode()[-2000:])
        p = run([f"{self.folder}/{test}"], ROOT)
        return p is None or p.returncode != 0


def main(args):
    paths = args[1:] or [f"{folder}/{name}" for folder, (files, _) in SETS.items() for name in files]
    unnoticed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(os.path.abspath(args[0]), folder)
        for path in paths:
            tests = list(SETS[os.path.dirname(path)][1])
            for line, what, mutant in mutants(open(os.path.join(ROOT, path)).read()):
                if what in SPARE:
                    continue
                total += 1
                said = builder.compile(path, mutant)
                if said:
                    print(f"{path}:{line}: {what}: does not compile\n{said}")
                    return 1
                by = next((test for test in tests if builder.notices(test)), None)
                if by:
                    tests.insert(0, tests.pop(tests.index(by)))  # likely to notice the next one too
                else:
                    unnoticed += 1
                    print(f"{path}:{line}: unnoticed: {what}", flush=True)
    print(f"{total} checks left out, {unnoticed} unnoticed")
    return 1 if unnoticed else 0


sys.exit(main(sys.argv[1:]))
