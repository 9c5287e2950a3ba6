#!/usr/bin/env python3
"""case_names.py MWLVM: a name in a case that its definition does not have is refused.

One case names everything that can be named. Each of its names and members is misspelt once: none of these
cases may pass, and what was meant is said."""
import copy
import json
import os
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
URI = "mwl:provider.call/acme/pay/v1"
FLOW = {
    "$schema": "https://mwl.dev/v0.1/flow/schema.json",
    "entrypoint": "charge",
    "flows": {"Refund": {"entrypoint": "giveBack", "steps": {
        "giveBack": {"action": "Call", "call": {"provider": URI}, "next": "back"},
        "back": {"action": "Return"}}}},
    "steps": {
        "charge": {"action": "Call", "call": {"provider": URI}, "next": "undo"},
        "undo": {"action": "Call", "call": {"flow": "Refund"}, "next": "done"},
        "done": {"action": "Return"}, "never": {"action": "Return"}}}
FLOW["steps"]["charge"]["catch"] = [{"match": {"codes": ["Pay.No"]}, "next": "never"}]
CASE = {
    "definition": "flow.json",
    "input": 1,
    "answers": {"charge": {"value": 2}, "Refund/giveBack": {"value": 3}, URI: {"value": 4}, "*": {"value": 5}},
    "control": {"seed": 1},
    "expect": {
        "value": 3,
        "calls": {"charge": 1, "giveBack": {"atMost": 1}, "Refund/giveBack": [{"step": "Refund/giveBack"}], URI: 2},
        "cleanup": False,
        "steps": {"ran": ["charge", "giveBack", "Refund/back"], "notRan": ["never"]},
        "vars": {"charge": {}, "Refund/giveBack": {}},
        "time": "PT0S"}}
failures = 0


def run(folder, case):
    with open(os.path.join(folder, "a.json"), "w") as f:
        json.dump(case, f)
    done = subprocess.run([MWLVM, "test", os.path.join(folder, "a.json")], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAIL", what)


def misspelt(name):
    return name[:-2] + name[-1] + name[-2] if name[-1] != name[-2] else name + "x"


def variants(value, path=()):
    """Every case with one member, or one name in a list, misspelt."""
    if isinstance(value, dict):
        for key in value:
            if key != "*":
                yield path + (key,), {misspelt(key) if k == key else k: v for k, v in value.items()}
            for where, inner in variants(value[key], path + (key,)):
                yield where, {**value, key: inner}
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, str):
                yield path + (item,), value[:i] + [misspelt(item)] + value[i + 1:]
            for where, inner in variants(item, path + (i,)):
                yield where, value[:i] + [inner] + value[i + 1:]
    elif isinstance(value, str) and path[-1] == "step":
        yield path + (value,), misspelt(value)


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "flow.json"), "w") as f:
        json.dump(FLOW, f)
    status, out = run(folder, CASE)
    check(status == 0, f"the case itself fails:\n{out}")
    n = 0
    for where, case in variants(copy.deepcopy(CASE)):
        n += 1
        status, out = run(folder, case)
        check(status != 0, f"{where} is misspelt and the case passes:\n{json.dumps(case)}\n{out}")
        if where[0] in ("answers", "expect") and where[1:2] != ("time",) and len(where) > 2 and where[-1] not in (
                "value", "step"):
            check("did you mean" in out or "not a member" in out, f"{where}: no suggestion:\n{out}")
    # a case without `expect` expects a success
    bare = {k: v for k, v in CASE.items() if k != "expect"}
    check(run(folder, bare)[0] == 0, "a case without `expect` that succeeds")
    bare["answers"] = {"*": {"failure": {"code": "Pay.Other"}}}
    status, out = run(folder, bare)
    check(status == 1 and "a success is expected" in out, f"a failure without `expect`: {status}\n{out}")
print(f"{n} misspelt cases, {failures} failed")
sys.exit(1 if failures or n < 25 else 0)
