#!/usr/bin/env python3
"""start.py MWLVM [--check]: what starting `mwlvm run` of a program costs beside an empty C program.

The empty program is linked with the same shared libraries, so that the loader has the same work before main. Both are
started many times in turn; the smallest time and the median are printed, and the instructions of one start each
(callgrind). Status 1 if the smallest time of ours is more than 1.2 times that of the empty one and 0.3 ms.

--check: instructions alone, which are the same on a busy machine. Status 1 if ours are more than 1.2 times those of
the empty program and 600,000, which is a generous 0.3 ms, or if a library is loaded at the start that only some
programs need.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

STARTS, FACTOR, MORE_MS, MORE_INSTRUCTIONS = 400, 1.2, 0.3, 600000
ON_DEMAND = ("libidn2", "libunistring", "libcurl", "libsqlite3", "libssl", "libcrypto")
FLOW = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "p",
        "steps": {"p": {"action": "Pass", "output": {"a": 1}, "next": "d"}, "d": {"action": "Return"}}}


def libraries(command):
    """The shared libraries that the loader finds for a command, by path."""
    got = subprocess.run(["ldd", command], stdout=subprocess.PIPE, text=True, check=True)
    return re.findall(r"=> (/\S+)", got.stdout)


def build_empty(folder, paths):
    file = os.path.join(folder, "empty")
    subprocess.run(["cc", "-O2", "-x", "c", "-", "-o", file, "-x", "none", "-Wl,--no-as-needed"] + paths,
                   input="int main(void) { return 0; }\n", text=True, check=True)
    return [file]


def instructions(folder, words):
    got = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"] + words,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"refs: +([\d,]+)", got.stderr).group(1).replace(",", ""))


def start(words, null):
    begin = time.perf_counter()
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"start.py: {words[0]} failed")
    return took * 1000


def main():
    command, check = os.path.abspath(sys.argv[1]), "--check" in sys.argv[2:]
    missing = [name for name in ("cc", "ldd", "valgrind") if not shutil.which(name)]
    if check and missing:
        print(f"not checked: no {', '.join(missing)}\n[  SKIPPED ] 1 tests")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        definition, program = os.path.join(folder, "flow.json"), os.path.join(folder, "flow.mwlb")
        with open(definition, "w") as f:
            json.dump(FLOW, f)
        subprocess.run([command, "asm", definition, "-o", program], check=True)
        paths = libraries(command)
        empty, ours = build_empty(folder, paths), [command, "run", program, "--input", "null"]
        early = [path for path in paths if os.path.basename(path).startswith(ON_DEMAND)]
        slow = bool(early)
        for path in early:
            print(f"{path} is loaded at the start")
        if not missing:
            one, two = instructions(folder, empty), instructions(folder, ours)
            most = int(FACTOR * one + MORE_INSTRUCTIONS)
            print(f"instructions: empty {one:,}, mwlvm run {two:,}, at most {most:,}")
            slow = slow or two > most
        if not check:
            null = os.open(os.devnull, os.O_WRONLY)
            pairs = [(start(empty, null), start(ours, null)) for _ in range(STARTS)] # in turn, under the same load
            a, b = (sorted(times) for times in zip(*pairs))
            most = FACTOR * a[0] + MORE_MS
            print(f"smallest of {STARTS}: empty {a[0]:.3f} ms, mwlvm run {b[0]:.3f} ms, at most {most:.3f} ms")
            print(f"median: empty {a[STARTS // 2]:.3f} ms, mwlvm run {b[STARTS // 2]:.3f} ms")
            slow = slow or b[0] > most
    if check:
        print("[  FAILED  ] 1 tests." if slow else "[  PASSED  ] 1 tests.")
    return 1 if slow else 0


sys.exit(main())
