#!/usr/bin/env python3
"""run.py [--long]: the model of the protocol, exhaustively: it holds, the run ends, and two planted faults are found.

Exits with 77 (skipped) where spin or a C compiler is missing."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.pml")
SMALL = ["-DCRASHES=1", "-DSTEALS=1", "-DUNKNOWNS=1", "-DGIVEN=1"]
MORE = ["-DCRASHES=1", "-DSTEALS=2", "-DUNKNOWNS=1", "-DGIVEN=1"]
# name, definitions, liveness, an error is expected
CASES = [
    ("two workers", SMALL, False, False),
    ("the run ends", SMALL, True, False),
    ("fault: saves without a fence", SMALL + ["-DNOFENCE"], False, True),
    ("fault: release before commit", SMALL + ["-DEARLY"], False, True),
]
LONG = [
    ("two workers, another takeover", MORE, False, False),
    ("the run ends, with another takeover", MORE, True, False),
    ("three workers", SMALL + ["-DW=3"], False, False),
]


def run(name, defines, liveness, error):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(MODEL, folder)
        subprocess.run(["spin", *defines, "-a", "fleet.pml"], cwd=folder, check=True, capture_output=True)
        options = ["-DNFAIR=6"] if liveness else ["-DSAFETY", "-DNOCLAIM"]
        subprocess.run(["cc", "-O1", "-w", *options, "-DCOLLAPSE", "-DVECTORSZ=2048", "-o", "pan", "pan.c"], cwd=folder, check=True)
        how = ["-a", "-f", "-N", "ends"] if liveness else []
        got = subprocess.run(["./pan", "-m500000", *how], cwd=folder, capture_output=True, text=True).stdout
    errors = re.search(r"errors: (\d+)", got)
    states = re.search(r"(\d+) states, stored", got)
    reason = re.search(r"pan:\d+: (.*)", got)
    complete = "max search depth too small" not in got and "out of memory" not in got
    found = int(errors.group(1)) > 0 if errors else None
    good = complete and found == error and (not error or "assertion violated" in reason.group(1))
    print(f"{'ok  ' if good else 'FAIL'} {name}: {states.group(1) if states else '?'} states, "
          f"{reason.group(1) if reason else 'no error'}")
    if not good:
        print(got)
    return bool(good)


def main():
    if not shutil.which("spin") or not shutil.which("cc"):
        print("skipped: spin is not installed")
        return 77
    cases = CASES + (LONG if "--long" in sys.argv else [])
    return 0 if all([run(*case) for case in cases]) else 1


sys.exit(main())
