#!/usr/bin/env python3
"""snapshot_checks.py BUILD [FILE]: leaves out each check of the reader of saved runs, one at a time.

A check is a MUST, a `damaged(...)` or a `mwl__reader_refuse(...)` behind a condition, in vm/snapshot. Of a condition
with several parts each part is left out too. The tests of saved runs must notice each of them. BUILD is a folder of
CMake with compile_commands.json and libmwlvm.a; nothing is changed in the tree or there. Prints what goes unnoticed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FILES = ["fit.c", "records.c", "reader.c", "restart.c", "load.c", "cbor.c", "header.c"]
TESTS = ["test_snapshot_damage", "test_snapshot_damage_bytes", "test_snapshot_damage_any", "test_snapshot"]

# Leaving these out changes nothing that a program of the assembler could show.
SPARE = {
    # Parameters are always of type object, as the schema of provider documents wants it.
    "mwl_value_kind(c->args) == MWL_KIND_OBJECT",
}


REFUSES = re.compile(r"(return |good = )?(damaged\(|mwl__reader_refuse\(\S+ MWL_E_SNAPSHOT|refuse\(error, MWL_E_[^N])")


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
        rest = text[end:end + 200].lstrip()
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


def main(args):
    build = os.path.abspath(args[0])
    known = commands(build)
    unnoticed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        objects = {}
        ninja = open(os.path.join(build, "build.ninja")).read()
        libraries = re.search(r"LINK_LIBRARIES = (.*libmwlvm\.a.*)", ninja).group(1).replace("$", "")
        shutil.copy(os.path.join(build, "libmwlvm.a"), folder)  # the build may go on meanwhile
        libraries = libraries.replace(" libmwlvm.a", f" {folder}/libmwlvm.a")
        for test in TESTS:
            source = next(p for p in known if p.endswith(f"/{test}.c"))
            objects[test] = os.path.join(folder, f"{test}.o")
            shutil.copy(os.path.join(build, re.search(r" -o (\S+)", known[source]["command"]).group(1)), objects[test])
        for name in args[1:] or FILES:
            path = f"vm/snapshot/{name}"
            command = known[path]
            text = open(os.path.join(ROOT, path)).read()
            for line, what, mutant in mutants(text):
                if what in SPARE:
                    continue
                total += 1
                broken = os.path.join(folder, "broken.c")
                open(broken, "w").write(mutant)
                compiled = re.sub(r" -o \S+", f" -o {folder}/broken.o", command["command"])
                compiled = compiled.replace(command["file"], broken).replace("-Werror", "") + " -w -O0"
                compiled = compiled.replace("ccache ", "", 1)
                p = run(compiled, command["directory"])
                if p is None or p.returncode:
                    print(f"{path}:{line}: {what}: does not compile\n{p.stdout.decode()[-600:] if p else ''}")
                    return 1
                noticed = False
                for test in TESTS:
                    link = f"cc {objects[test]} {folder}/broken.o {libraries} -o {folder}/{test}"
                    p = run(link, build)
                    if p.returncode:
                        print(p.stdout.decode()[-2000:])
                        return 1
                    p = run([f"{folder}/{test}"], ROOT)
                    if p is None or p.returncode:
                        noticed = True
                        break
                if not noticed:
                    unnoticed += 1
                    print(f"{path}:{line}: unnoticed: {what}", flush=True)
    print(f"{total} checks left out, {unnoticed} unnoticed")
    return 1 if unnoticed else 0


sys.exit(main(sys.argv[1:]))
