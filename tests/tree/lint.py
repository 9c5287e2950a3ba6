#!/usr/bin/env python3
"""lint.py BUILD [--all | FILE...]: what clang-tidy and gcc's -fanalyzer say about the sources.

BUILD is configured with assertions, which tell both what cannot be. lint-known.txt lists what they
may say, with the reason; a finding that is not there fails, and so does one that is there and is no
longer found. What was found is kept in BUILD/lint. After a pass without new findings only what changed is looked at: a
source that changed, and for a header that changed one source that includes it. --all looks at every source that such a
header reaches; so does the first pass of a folder.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
KNOWN = os.path.join(ROOT, "tests/tree/lint-known.txt")
SOURCES = re.compile(r"(vm|assembler|stdlib)/.*\.c|tools/(?!examples/|windows/).*\.c")
# file:line:column: warning: message [check]
FINDING = re.compile(r"^(?:(\S+?):(\d+):\d+|cc1): (?:warning|error): (.*?)(?: \[CWE-\d+\])? \[(\S+)\]$", re.M)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def commands(build):
    """Each source once, with the words that first compile it; no launcher, no output."""
    seen = set()
    for entry in json.load(open(os.path.join(build, "compile_commands.json"))):
        name = os.path.relpath(entry["file"], ROOT)
        if not SOURCES.fullmatch(name) or name in seen:
            continue
        seen.add(name)
        words = shlex.split(entry["command"])
        words = words[next(i for i, word in enumerate(words) if word.startswith("-")) :]
        kept = [word for word in words if word.startswith(("-D", "-I", "-std=", "-f"))]
        for i, word in enumerate(words):
            kept += words[i : i + 2] if word == "-isystem" else []
        yield name, kept


def function_at(place, line):
    """The function that the line is in: the last line before it that begins one. Numbers of lines change too often."""
    lines = read(os.path.join(ROOT, place)).decode().splitlines()[:line]
    if lines and lines[-1].startswith("#"):
        return "-"  # a macro
    for text in reversed(lines):
        begins = re.match(r"[A-Za-z][^;=]*?\b(\w+)\(", text)
        if begins:
            return begins.group(1)
    return "-"


def findings(text, name):
    found = set()
    for place, line, message, check in FINDING.findall(text):
        place = os.path.relpath(os.path.join(ROOT, place or name), ROOT)
        if not place.startswith(".."):
            found.add(f"{place} {function_at(place, int(line or 0))}: {message} [{check}]")
    return found


def run(words):
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and not FINDING.search(done.stdout):
        sys.exit(f"{shlex.join(words)}\n{done.stdout}")
    return done.stdout


def key_of(name, words, common):
    """What the findings in a file depend on: it, the headers of ours that it includes, and how they are looked at."""
    rule = subprocess.run(["gcc", "-MM"] + words + [name], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    files = sorted(os.path.relpath(word, ".") for word in rule.replace("\\\n", " ").split()[1:])
    parts = [common, repr(words).encode()] + [read(os.path.join(ROOT, file)) for file in files]
    return digest(*parts)


def digest(*parts):
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def state_of(work, common):
    """What a pass without new findings has seen: each source with its words, each header, and the tools."""
    state = {name: digest(repr(words).encode(), read(os.path.join(ROOT, name))) for name, words in work}
    for top in ("vm", "assembler", "stdlib", "tools"):
        for path, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith(".h"):
                    file = os.path.relpath(os.path.join(path, name), ROOT)
                    state[file] = digest(read(os.path.join(ROOT, file)))
    return {**state, "tools": digest(common)}


def to_look_at(work, before, now):
    """The sources that changed, and for each header that changed one that includes it: of its name if there is one."""
    if before.get("tools") != now["tools"]:
        return {name for name, _ in work}
    changed = {name for name in now if before.get(name) != now[name]}
    texts = {name: read(os.path.join(ROOT, name)).decode() for name, _ in work}
    look = changed & set(texts)
    for header in sorted(name for name in changed if name.endswith(".h")):
        named = (f'"{header}"', f'"{os.path.basename(header)}"')  # public headers are included without their folder
        users = [name for name, text in texts.items() if any(word in text for word in named)]
        look.update(sorted(users, key=lambda name: (name[:-2] != header[:-2], name not in look, name))[:1])
    return look


def stored_in(kept):
    try:
        return json.load(open(kept))
    except (OSError, ValueError):
        return {}


def lint(name, words, cache, common, look):
    """What both say about a file, kept under what it depends on. Without `look` what is kept counts, if there is something."""
    kept = os.path.join(cache, name.replace("/", "+"))
    stored = stored_in(kept)
    if stored and not look:
        return name, stored["text"]
    key = key_of(name, words, common)
    if stored.get("key") == key:
        return name, stored["text"]
    # Optimised, gcc speaks of values without names. Version 12 does not see what memcpy fills.
    gcc = ["gcc", "-O0", "-fanalyzer", "-Wno-all", "-Wno-analyzer-use-of-uninitialized-value", "-c", "-o", "/dev/null"]
    text = run(["clang-tidy", "--quiet", name, "--"] + words) + run(gcc + words + [name])
    with open(kept, "w") as file:
        json.dump({"key": key, "text": text}, file)
    return name, text


def known():
    """Lines of findings; a line that begins with # says why those below it may be."""
    return {line for line in open(KNOWN).read().splitlines() if line and not line.startswith("#")}


def main(build, only):
    everything = "--all" in only
    only -= {"--all"}
    cache = os.path.join(build, "lint")
    os.makedirs(cache, exist_ok=True)
    versions = [subprocess.run([tool, "--version"], capture_output=True).stdout for tool in ("gcc", "clang-tidy")]
    common = b"\0".join(versions + [read(os.path.join(ROOT, ".clang-tidy"))])
    work = [(name, words) for name, words in commands(build) if not only or name in only]
    clean = os.path.join(cache, "clean.json")
    now = state_of(work, common)
    look = {name for name, _ in work} if only or everything else to_look_at(work, stored_in(clean), now)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 2)) as pool:
        tasks = [pool.submit(lint, name, words, cache, common, name in look) for name, words in work]
        for i, task in enumerate(concurrent.futures.as_completed(tasks)):
            name, text = task.result()
            found.update((line, text) for line in findings(text, name))
            if sys.stdout.isatty():
                print(f"\rlint: {i + 1} of {len(tasks)}", end="\n" if i + 1 == len(tasks) else "")
    unknown = sorted(set(found) - known())
    gone = [] if only else sorted(known() - set(found))
    for text in {found[line] for line in unknown}:
        print(text)
    for line in unknown:
        print(f"not known: {line}")
    for line in gone:
        print(f"no longer found; remove it from tests/tree/lint-known.txt: {line}")
    if not unknown and not gone and not only:
        with open(clean, "w") as file:
            json.dump(now, file)
    print(f"{len(look)} of {len(work)} files, {len(found)} findings, {len(unknown)} of them not known, {len(gone)} no longer found")
    return 1 if unknown or gone else 0


sys.exit(main(sys.argv[1], set(sys.argv[2:])))
