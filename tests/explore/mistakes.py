#!/usr/bin/env python3
"""mistakes.py MWLVM: `mwlvm explore` finds the mistake planted in each Flow of tests/explore/mistakes,
and nothing in its corrected twin.

mistakes/NAME/: mistake.json, fixed.json, and expect.json: the kind and a part of the text of the
finding, the providers' documents, the input and further options. The way to a finding, written as a
case, must lead to the same end in `mwlvm test`.
"""
import json
import os
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAIL", what)


def explore(flow, expect, *more):
    words = [MWLVM, "explore", flow, *expect["options"], *more]
    if expect["input"] is not None:
        words += ["--input", json.dumps(expect["input"])]
    for name in expect["providers"]:
        words += ["--provider", os.path.join(HERE, "providers", name + ".json")]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def one(name):
    folder = os.path.join(HERE, "mistakes", name)
    expect = json.load(open(os.path.join(folder, "expect.json")))
    with tempfile.TemporaryDirectory() as cases:
        status, out = explore(os.path.join(folder, "mistake.json"), expect, "--write-case", cases)
        found = [line for line in out.splitlines()
                 if f": {expect['finding']}: " in line and expect["text"] in line]
        check(status == 1 and found and "; complete" in out, f"{name}: not found:\n{out}")
        tested = subprocess.run([MWLVM, "test", cases], capture_output=True, text=True)
        # a run that waits for ever has no Result to compare
        waits = tested.stdout.count("never comes")
        check(os.listdir(cases) == [] or f"{waits} failed" in tested.stdout,
              f"{name}: a written case has another end:\n{tested.stdout}")
    status, out = explore(os.path.join(folder, "fixed.json"), expect)
    check(status == 0 and "No findings." in out and "; complete" in out,
          f"{name}: something in the corrected twin:\n{out}")


names = sorted(os.listdir(os.path.join(HERE, "mistakes")))
for name in names:
    one(name)
print(f"{len(names)} mistakes and their twins, {failures} failed")
sys.exit(1 if failures or len(names) < 10 else 0)
