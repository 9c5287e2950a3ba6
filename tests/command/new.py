#!/usr/bin/env python3
"""new.py MWLVM: `mwlvm new`: every pattern is written, checks without a warning, is formatted, passes its cases, and runs
with the answers of its first case.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
PATTERNS = ["retry", "poll", "fan-out", "saga", "approval", "pagination"]
problems = []


def mwlvm(*words):
    return subprocess.run([MWLVM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def expect(what, is_so, done):
    if not is_so:
        problems.append(f"{what}: status {done.returncode}\n{done.stdout}{done.stderr}")


def check(pattern, work):
    # a name with what JSON must escape
    file = os.path.join(work, f'my "{pattern}".json')
    done = mwlvm("new", pattern, file)
    expect(f"{pattern}: new", done.returncode == 0, done)
    expect(f"{pattern}: without FILE", mwlvm("new", pattern).stdout == open(file).read(), done)
    cases = sorted(os.path.join(work, n) for n in os.listdir(work) if n.startswith(f'my "{pattern}"') and ".case." in n)
    if len(cases) < 2:
        problems.append(f"{pattern}: {len(cases)} cases")
    done = mwlvm("check", "--deny", "warnings", file)
    expect(f"{pattern}: check", done.returncode == 0 and done.stdout == "", done)
    done = mwlvm("fmt", "--check", file, *cases)
    expect(f"{pattern}: fmt", done.returncode == 0, done)
    done = mwlvm("test", *cases)
    expect(f"{pattern}: test", done.returncode == 0, done)
    done = mwlvm("new", pattern, file)
    expect(f"{pattern}: nothing is overwritten", done.returncode == 2 and "there already" in done.stderr, done)
    run(pattern, file, json.load(open([c for c in cases if ".ok." in c][0])), work)


def run(pattern, file, case, work):
    answers = os.path.join(work, pattern + ".answers.json")
    json.dump(case["answers"], open(answers, "w"))
    words = ["run", file, "--virtual-time", "--quiet", "--input", json.dumps(case.get("input"))]
    for uri in sorted(set(re.findall(r"mwl:provider\.call/mwlvm/[a-z]+/v1", open(file).read()))):
        words += ["--bind", f"{uri}={answers}"]
    for name, value in case.get("arguments", {}).items():
        words += ["--arg", f"{name}={json.dumps(value)}"]
    done = mwlvm(*words)
    expect(f"{pattern}: run", done.returncode == 0 and json.loads(done.stdout) == case["expect"]["value"], done)


def main():
    listed = mwlvm("new")
    expect("the list", [line.split()[0] for line in listed.stdout.splitlines()] == PATTERNS, listed)
    wrong = mwlvm("new", "pole")
    expect("a wrong pattern", wrong.returncode == 2 and "did you mean 'poll'" in wrong.stderr, wrong)
    with tempfile.TemporaryDirectory() as work:
        for pattern in PATTERNS:
            check(pattern, work)
    print("\n".join(problems))
    print(f"{len(PATTERNS)} patterns, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
