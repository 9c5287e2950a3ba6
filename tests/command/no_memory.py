#!/usr/bin/env python3
"""no_memory.py MWLVM LIBRARY: out of memory is a limit: whatever command it is, and wherever memory runs out, the command ends
with status 6 and says so; or it has done its work. It is never ended by a signal, and it never does half of its work in silence.
libuv ends the process itself if it cannot register its fork handler, which is one request of each command that has a loop.

LIBRARY is fail_memory.c: with it, each request for memory from the Nth on fails. The N are spread over each command's requests.
"""
import os
import signal
import subprocess
import sys
import tempfile

MWLVM, LIBRARY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
HELLO = os.path.join(ROOT, "tools/examples/hello.json")
PLACES = 24
folder = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(folder.name, name)


def written(name, text):
    with open(path(name), "w") as f:
        f.write(text)
    return path(name)


COMMANDS = [["run", HELLO, "--input", '{"name": "Ada"}'], ["run", HELLO, "--report", path("report.html")],
            ["run", HELLO, "--trace-file", path("trace.json")], ["run", HELLO, "--record", path("case.json")],
            ["run", HELLO, "--each=" + written("lines", "1\n2\n"), "-j", "1", "--quiet"],
            ["run", HELLO, "--save", path("saved"), "--save-at", "done"],
            ["check", HELLO], ["check", "--permissions", HELLO], ["fmt", "--check", HELLO], ["schema"], ["eval", "[1, 2].map(x, x + 1)"],
            ["providers"], ["providers", "--json"], ["actions"], ["functions"], ["explain"],
            ["asm", HELLO, "-o", path("hello.mwlb")], ["dis", HELLO], ["graph", HELLO], ["explore", HELLO],
            *(["completion", shell] for shell in ("bash", "fish", "zsh")), ["manual"]]


def run(words, **environment):
    try:
        return subprocess.run([MWLVM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_PRELOAD": LIBRARY, **environment})
    except subprocess.TimeoutExpired:
        return None


def requests(words):
    run(words, MWL_COUNT_TO=path("count"))
    with open(path("count")) as f:
        return int(f.read())


def wrong(got, whole):
    """What is wrong with this end, or None."""
    if got is None:
        return "it does not end"
    if got.returncode == 6:
        return None if "memory" in got.stderr else "status 6 without a word"
    return None if (got.returncode, got.stdout) == (whole.returncode, whole.stdout) else f"status {got.returncode}"


STORE = ["--store", path("runs.db")]
if subprocess.run([MWLVM, "run", HELLO, *STORE, "--id", "x", "--quiet"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
    COMMANDS += [[*words, *STORE] for words in (["ps", "--all"], ["ps", "--json"], ["logs", "x"], ["show", "x"], ["prune"], ["cancel", "y"])]

failures, n_runs, first = [], 0, requests(["--version"])
if requests(["providers"]) < first + 10:
    failures.append("the requests for memory are not counted")
for words in COMMANDS:
    last, whole, of_libuv = requests(words), run(words), 1
    for at in sorted({first + 1 + (last - first) * k // PLACES for k in range(PLACES)}):
        got = run(words, MWL_FAIL_FROM=str(at))
        why, n_runs = wrong(got, whole), n_runs + 1
        if got and got.returncode == -signal.SIGABRT and of_libuv and words[0] == "run":
            of_libuv = 0
        elif why:
            failures.append(f"{' '.join(words)}, request {at} of {last}: {why}: {(got.stderr if got else '')[-200:]!r}")
for line in failures[:20]:
    print("FAIL", line)
print(f"{len(COMMANDS)} commands, {n_runs} runs, {len(failures)} failures")
sys.exit(1 if failures else 0)
