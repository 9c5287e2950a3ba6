#!/usr/bin/env python3
"""mistakes.py MWLVM: `mwlvm explore` finds the mistake planted in each Flow of tests/explore/mistakes,
and no error and no warning in its corrected twin.

mistakes/NAME/: mistake.json, fixed.json, and expect.json: the kind, the rank and a part of the text of the
finding, the providers' documents, the input and further options. The way to a finding, written as a
case, must lead to the same end in `mwlvm test`.
"""
import json
import os
import re
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
                 if f": {expect['rank']}: {expect['finding']}: " in line and expect["text"] in line]
        check(found and "; complete" in out, f"{name}: not found:\n{out}")
        # an error gives status 1; a warning alone does only if it is denied
        check(status == (1 if expect["rank"] == "error" else 0), f"{name}: status {status}:\n{out}")
        denied = explore(os.path.join(folder, "mistake.json"), expect, "--deny", "warning")[0]
        check(denied == 1, f"{name}: status {denied} with --deny warning")
        tested = subprocess.run([MWLVM, "test", cases], capture_output=True, text=True)
        # a run that waits for ever has no Result to compare
        waits = tested.stdout.count("never comes")
        check(os.listdir(cases) == [] or f"{waits} failed" in tested.stdout,
              f"{name}: a written case has another end:\n{tested.stdout}")
    status, out = explore(os.path.join(folder, "fixed.json"), expect)
    check(status == 0 and "\nNo findings.\n" in out and "; complete" in out,
          f"{name}: something in the corrected twin:\n{out}")


def bounds(name, twin):
    """What is known without running is never below what the search finds."""
    flow = os.path.join(HERE, "mistakes", name, twin + ".json")
    expect = json.load(open(os.path.join(HERE, "mistakes", name, "expect.json")))
    words = [MWLVM, "check", "--bounds", flow]
    for document in expect["providers"]:
        words += ["--provider", os.path.join(HERE, "providers", document + ".json")]
    done = subprocess.run(words, capture_output=True, text=True)
    known = re.search(r": the Flow: (at most (\d+) calls?|any number of calls), "
                      r"(at most ([\d.]+) (s|h|days)|unbounded time: .)", done.stdout)
    check(done.returncode == 0 and known, f"{name}: no bounds:\n{done.stdout}{done.stderr}")
    seen = re.search(r"virtual time ([\d.]+) s.*\n  calls of one run (\d+)", explore(flow, expect)[1])
    check(seen, f"{name}: no measures")
    if not known or not seen:
        return
    calls = float(known.group(2) or "inf")
    seconds = float(known.group(4) or "inf") * {"s": 1, "h": 3600, "days": 86400, None: 1}[known.group(5)]
    check(float(seen.group(1)) <= seconds, f"{name}: {seen.group(1)} s are above {seconds} s")
    check(int(seen.group(2)) <= calls, f"{name}: {seen.group(2)} calls are above {calls}")


def codes(out):
    """The Results of a report, without how many ways lead to each."""
    part = out.split("Results:")[1].split("\n\n")[0]
    return sorted(line.split(":")[0].strip() for line in part.splitlines() if ":" in line)


def merging(name, twin):
    """Visiting equal states once loses no Result and no finding."""
    flow = os.path.join(HERE, "mistakes", name, twin + ".json")
    expect = json.load(open(os.path.join(HERE, "mistakes", name, "expect.json")))
    whole = explore(flow, expect, "--no-merge", "--max-states", "20000")[1]
    once = explore(flow, expect)[1]
    check(codes(whole) == codes(once), f"{name}: other Results without merging:\n{whole}\n{once}")
    kinds = [sorted(re.findall(r": ([a-z-]+): .*", out)) for out in (whole, once)]
    if "; complete" in whole:
        check(kinds[0] == kinds[1], f"{name}: other findings without merging:\n{whole}\n{once}")


def grouping():
    """One finding for each Step and kind; --all shows each, and says no less."""
    folder = os.path.join(HERE, "mistakes", "10-a-cleanup-that-hides-a-failure")
    expect = json.load(open(os.path.join(folder, "expect.json")))
    flow = os.path.join(folder, "mistake.json")
    few, each = explore(flow, expect)[1], explore(flow, expect, "--all")[1]
    groups = [int(n) for n in re.findall(r"\(and (\d+) more here; --all shows each\)", few)]
    kinds = len(re.findall(r": (?:error|warning): ", few))
    check(groups and kinds + sum(groups) == len(re.findall(r": (?:error|warning): ", each)),
          f"groups do not add up:\n{few}\n{each}")
    check(kinds == len(set(re.findall(r"^(\S+): (?:error|warning): ([a-z-]+): ", few, re.M))),
          f"two findings of one place and kind:\n{few}")


def vocabulary():
    """Invariants read the roots of the language, count what happened, and refuse other names."""
    folder = os.path.join(HERE, "mistakes", "01-retry-repeats-a-payment")
    expect = dict(json.load(open(os.path.join(folder, "expect.json"))), options=[])
    flow = os.path.join(folder, "mistake.json")
    for option, text, holds in (
            ("--invariant", "has(step.name) && flow.name == ''", True),
            ("--invariant", "step.name == 'charge'", False),
            ("--invariant", "ended == (result != null)", True),
            ("--invariant", "calls('charge') == succeeded('charge') + failed('charge') || ended", True),
            ("--invariant", "succeeded('charge') <= 1", True),
            ("--invariant", "failed('charge') < 2", False),
            ("--invariant", "before('charge', 'mwl:provider.call/acme/pay/v1')", True),
            ("--invariant-end", "result.type != 'success' || succeeded('charge') == 1", True),
            ("--invariant-end", "ended && has(step.name)", True),
            ("--invariant-end", "succeeded('charge') == 1", False)):
        status, out = explore(flow, expect, option, text)
        check(status == (0 if holds else 1) and ("error: invariant" in out) != holds,
              f"{option} {text}: {status}\n{out}")
    for text, why in (("calls('chrage') <= 1", "has no Step 'chrage'; did you mean 'charge'?"),
                      ("succeeded('Order/charge') == 0", "has no Step 'Order/charge'"),
                      ("before('charge', 'refnud')", "has no Step 'refnud'"),
                      ("failed('mwl:provider.call/acme/pay/v2') == 0", "has no provider"),
                      ("calls(vars.x) == 0", "written out"),
                      ("clals('charge') == 0", "clals"),
                      ("var.x == 1", "var")):
        for option in ("--invariant", "--invariant-end"):
            status, out = explore(flow, expect, option, text)
            check(status == 2 and why in out, f"{option} {text}: {status}, not refused:\n{out}")
    for options, why in ((["--ignore", "unbuonded"], "did you mean 'unbounded'?"), (["--deny", "warnings"], "--deny")):
        status, out = explore(flow, expect, *options)
        check(status == 2 and why in out, f"{options}: {status}\n{out}")


PAY = {"provider": "mwl:provider.call/acme/pay/v1"}


def answers():
    """What a provider may answer: each code of its catalog, retryable or not where that is asked; what is given for a Step
    takes the place of what is given for its provider."""
    def results(steps, given=None, *options):
        with tempfile.TemporaryDirectory() as folder:
            flow = os.path.join(folder, "flow.json")
            json.dump({"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": steps}, open(flow, "w"))
            if given:
                json.dump(given, open(os.path.join(folder, "answers.json"), "w"))
                options += ("--answers", os.path.join(folder, "answers.json"))
            return explore(flow, {"options": [], "input": None, "providers": ["pay"]}, *options)[1]

    call = {"action": "Call", "call": PAY, "next": "b"}
    end = {"action": "Return"}
    out = results({"a": call, "b": end})
    check({"Provider.Call.Pay.Declined", "Provider.Call.Pay.Unreachable", "success"} <= set(codes(out)), f"not each code:\n{out}")
    asked = {**call, "catch": [{"match": {"retryable": True}, "next": "c"}]}
    out = results({"a": asked, "b": end, "c": {"action": "Raise", "result": {"code": "May.Pass"}}})
    check({"May.Pass", "Provider.Call.Pay.Declined"} <= set(codes(out)), f"not both of retryable:\n{out}")
    given = {"a": {"value": "Of.Step"}, PAY["provider"]: {"value": "Of.Provider"}}
    said = {"action": "Raise", "result": {"code": "{{ step.input }}"}}
    out = results({"a": call, "b": said}, given)
    check("Of.Step" in codes(out) and "Of.Provider" not in codes(out), f"the answer of the Step:\n{out}")
    out = results({"x": call, "b": said, "a": {"action": "Pass", "next": "x"}}, given)
    check("Of.Provider" in codes(out), f"the answer of the provider:\n{out}")
    # what no answer decides
    nap = {"action": "Sleep", "for": "PT1S"}
    out = results({"a": {**nap, "next": "a"}})
    check("the run need not end: the same state comes again without any answer" in out, f"a Flow without an end:\n{out}")
    out = results({"a": {**nap, "next": "b"}, "b": {**nap, "for": "PT2S", "next": "c"}, "c": end})
    check("virtual time 3 s" in out and "calls of one run 0" in out, f"the longest run:\n{out}")
    # the way that is shown is a shortest one: three answers are possible, two do
    more = {"action": "Match", "cases": [{"when": "{{ vars.n > 2.0 }}", "next": "b"}], "default": {"next": "x"}}
    count = {**call, "assign": {"n": "{{ vars.n + 1.0 }}"}, "catch": [{"match": {"codes": ["*"]}, "next": "b"}], "next": "more"}
    out = results({"a": {"action": "Pass", "assign": {"n": 0}, "next": "x"}, "x": count, "more": more, "b": end}, None, "--invariant", "calls('x') < 2")
    way = re.findall(r"^ +\d+\. 0 s: Step 'x' ", out.split("calls('x') < 2")[1].split("unbounded")[0], re.M)
    check(len(way) == 2, f"not the shortest way:\n{out}")


names = sorted(os.listdir(os.path.join(HERE, "mistakes")))
for name in names:
    one(name)
    bounds(name, "mistake")
    bounds(name, "fixed")
    merging(name, "mistake")
    merging(name, "fixed")
grouping()
vocabulary()
answers()
print(f"{len(names)} mistakes and their twins, {failures} failed")
sys.exit(1 if failures or len(names) < 10 else 0)
