#!/usr/bin/env python3
"""bounds.py MWLVM MWL_BATCH: no run takes longer than `mwlvm check --bounds` says.

The definitions are those of tests/cases and tests/regression whose Flow has a bound, and the ones below, which have each
form of backoff. Each runs under virtual time with many seeds, and `mwlvm explore` tries every way of the ones below. A
bound without random numbers in it is reached to the nanosecond.
"""
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MWLVM, BATCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SEEDS = range(1, 31)
UNITS = {"s": 1, "h": 3600, "days": 86400}
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAIL", what)


# ---- the definitions -------------------------------------------------------------------------

def failing(attempts, backoff, **more):
    """A Step that always fails, under a Retry."""
    retry = {"provider": "mwl:provider.middleware/mwl/retry/v1",
             "onEntry": {"with": {"policies": [{"match": {"codes": ["*"]}, "attempts": attempts, "backoff": backoff}]}}, **more}
    call = {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"failure": {"code": "Example.Down", "message": "down"}}}
    return {"a": {"action": "Call", "call": call, "middleware": [retry], "next": "end"}, "end": {"action": "Return"}}


def flow(steps):
    return {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": next(iter(steps)), "steps": steps}


def sleeping(text):
    return {"a": {"action": "Sleep", "for": text, "next": "end"}, "end": {"action": "Return"}}


OWN = {  # name: the definition, and its bound in seconds; None: none that is known before
    "none": (failing(4, {"initial": "PT10S", "rate": 3, "max": "PT60S"}), 10 + 30 + 60),
    "full": (failing(4, {"initial": "PT10S", "rate": 2, "jitter": "full"}), 10 + 20 + 40),
    "equal": (failing(4, {"initial": "PT10S", "rate": 2, "jitter": "equal"}), 10 + 20 + 40),
    "decorrelated": (failing(3, {"initial": "PT10S", "jitter": "decorrelated"}), 30 + 90),
    "decorrelated with a cap": (failing(5, {"initial": "PT10S", "max": "PT50S", "jitter": "decorrelated"}), 30 + 50 * 3),
    "20,000 attempts": (failing(20000, {"initial": "PT1S"}), 19999),
    "300,000 attempts": (failing(300000, {"initial": "PT1S"}), 299999),
    "a delay in place of the backoff": (failing(5, {"initial": "PT10S"}, onFailure={"with": {"delay": "PT2S"}}), 4 * 2),
    "a wait beyond the clock": (failing(3, {"initial": "P300Y"}), math.inf),
    "a delay beyond the clock": (failing(3, {"initial": "PT1S"}, onFailure={"with": {"delay": "P300Y"}}), math.inf),
    "a Sleep beyond the clock": (sleeping("P300Y"), math.inf),
    "a Sleep below 0": (sleeping("-PT5S"), 0),
}


def inputs_of(folder):
    """The input and arguments of each scenario of a case."""
    found = []
    for scenario in sorted(glob.glob(os.path.join(folder, "scenarios", "*"))) or [folder]:
        line = {}
        for name in ("input", "arguments"):
            path = os.path.join(scenario, name + ".json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    line[name] = json.load(f)
        if line not in found:
            found.append(line)
    return found


def batch(lines):
    done = subprocess.run([BATCH], input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True)
    out = [json.loads(line) for line in done.stdout.splitlines()]
    check(done.returncode == 0 and len(out) == len(lines), f"mwl-batch: {len(out)} of {len(lines)} lines: {done.stderr}")
    return out


# ---- what is known -----------------------------------------------------------------------------

def bounds_of(paths):
    """By path, how many seconds its Flow takes at most; rounded as it is printed."""
    done = subprocess.run([MWLVM, "check", "--bounds", *paths], capture_output=True, text=True)
    known = {}
    for path, seconds, unit, endless in re.findall(
            r"^(.+): the Flow: (?:[^\n]*calls?, )?(?:at most ([\d.e+]+) (s|h|days)|(unbounded time))", done.stdout, re.M):
        known[path] = math.inf if endless else float(seconds) * UNITS[unit]
    check(done.returncode == 0 and len(known) == len(paths), f"{len(known)} bounds for {len(paths)} files: {done.stderr[:500]}")
    return known


def slack(seconds):
    """Up to two hours are printed to the nanosecond, more with four digits."""
    return seconds * (1 if seconds < 7200 else 1.0005) + 1e-6


def runs_stay_below(jobs):
    """jobs: (name, definition, inputs, bound). Returns the longest run of each."""
    lines = [(name, most, {"definition": definition, "seed": seed, "listen": False, **given})
             for name, definition, inputs, most in jobs for given in inputs for seed in SEEDS]
    longest = {}
    for (name, most, line), got in zip(lines, batch([line for _, _, line in lines])):
        if "took" not in got:
            continue  # a limit of the batch
        took = got["took"] / 1e9
        check(took <= slack(most), f"{name}, seed {line['seed']}: {took} s, above {most} s")
        longest[name] = max(took, longest.get(name, 0))
    return longest


def cases():
    """Cases whose definition is accepted and needs only the language's own providers."""
    found = []
    for path in sorted(glob.glob(os.path.join(TESTS, "cases/*/*/definition.json")) +
                       glob.glob(os.path.join(TESTS, "regression/**/definition.json"), recursive=True)):
        try:
            with open(path, encoding="utf-8") as f:
                found.append((path, json.load(f)))
        except ValueError:
            pass  # a case about text that is not JSON
    accepted = batch([{"definition": definition, "listen": False} for _, definition in found])
    return [one for one, got in zip(found, accepted) if "rejected" not in got]


def main():
    all_cases = cases()
    known = bounds_of([path for path, _ in all_cases])
    jobs = [(os.path.relpath(path, TESTS), definition, inputs_of(os.path.dirname(path)), known.get(path, math.inf))
            for path, definition in all_cases if not math.isinf(known.get(path, math.inf))]
    ran = runs_stay_below(jobs)
    check(len(ran) > 100, f"only {len(ran)} cases have a bound")
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, (steps, _) in OWN.items():
            paths[name] = os.path.join(folder, name + ".json")
            with open(paths[name], "w", encoding="utf-8") as f:
                json.dump(flow(steps), f)
        known = bounds_of(list(paths.values()))
        for name, (steps, most) in OWN.items():
            got = known.get(paths[name])
            check(got is not None and (got == most or abs(got - most) <= most * 0.0005),
                  f"{name}: the bound is {got} s, and should be {most} s")
        longest = runs_stay_below([(name, flow(steps), [{}], most) for name, (steps, most) in OWN.items() if not math.isinf(most)])
        for name in ("none", "a delay in place of the backoff", "a Sleep below 0"):
            check(longest.get(name) == OWN[name][1], f"{name}: runs take {longest.get(name)} s, not {OWN[name][1]} s")
        check(longest["decorrelated"] > 40, f"no seed waits longer than three times {longest['decorrelated']} s")
        for name, path in paths.items():
            if OWN[name][1] > 10000:
                continue
            done = subprocess.run([MWLVM, "explore", path], capture_output=True, text=True)
            seen = re.search(r"virtual time ([\d.]+) s", done.stdout)
            check(seen and float(seen.group(1)) <= slack(OWN[name][1]), f"{name}: explored:\n{done.stdout}{done.stderr}")
    print(f"{len(ran)} cases and {len(OWN)} definitions, {len(SEEDS)} seeds each, {failures} failed")


main()
sys.exit(1 if failures else 0)
