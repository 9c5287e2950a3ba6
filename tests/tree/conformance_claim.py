#!/usr/bin/env python3
"""conformance_claim.py MWLVM: the claim that README.md and `mwlvm --version` publish.

The specification (Conformance, Conformance claims): a claim is a set of profile URIs; it contains core, and with an
extension profile the one that it extends. Both places must say the same, every profile that a case of tests/cases asks
for must be claimed, and a definition that uses each claimed library of functions must run.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BASE = "https://mwl.dev/v0.1/conformance/"
URI = re.compile(re.escape(BASE) + r"[a-z/]+")
USES = {  # an expression that only the profile's functions can evaluate, and its value
    "expressions/cel": ("toJson([1.0])", "[1]"),
    "expressions/cel/strings": ("'a,b'.split(',').join('-')", "a-b"),
    "expressions/cel/lists": ("[3.0, 1.0].sort()", [1, 3]),
    "expressions/cel/sets": ("sets.contains([1, 2], [2])", True),
    "expressions/cel/encoders": ("base64.encode(b'hello')", "aGVsbG8="),
    "expressions/cel/math": ("math.greatest(1.0, 2.0)", 2),
}
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAIL", what)


version = subprocess.run([MWLVM, "--version"], capture_output=True, text=True, check=True).stdout
readme = open(os.path.join(ROOT, "README.md"), encoding="utf-8").read().split("\n## Conformance\n")[1].split("\n## ")[0]
claim = set(URI.findall(version))
check(set(URI.findall(readme)) == claim, f"README.md and --version differ: {set(URI.findall(readme)) ^ claim}")
check(BASE + "core" in claim, "a claim includes core")
for uri in claim:
    extends = uri.rsplit("/", 1)[0]
    check(not extends.endswith("/cel") or extends in claim, f"{uri} without {extends}")
asked = {p for path in glob.glob(os.path.join(ROOT, "tests", "cases", "*", "*", "case.json"))
         for p in json.load(open(path, encoding="utf-8"))["profiles"]}
check(asked and asked <= claim, f"cases ask for {asked - claim}")
check({BASE + name for name in USES} | {BASE + "core"} == claim, "the uses above are not those of the claim")
flow = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
    "a": {"action": "Return", "value": {name: "{{ " + text + " }}" for name, (text, _) in USES.items()}}}}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "claim.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(flow, f)
    done = subprocess.run([MWLVM, "run", path, "--input", "null"], capture_output=True, text=True)
check(done.returncode == 0 and json.loads(done.stdout) == {name: value for name, (_, value) in USES.items()},
      f"functions of the claimed profiles: {done.stdout}{done.stderr}")
sys.exit(1 if failures else 0)
