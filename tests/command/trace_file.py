#!/usr/bin/env python3
"""trace_file.py MWLVM: what --trace-file writes is Chrome trace-event JSON.

Runs the cases of tests/cases and a few definitions of its own, and checks each file against the
format: every line is an event, every B has its E on the same thread, times do not go back, every
thread has a name. A Gather has a thread for each dispatch; a Retry has a span for each attempt and
for each wait, with the right times; an interrupted run leaves a complete file too.
"""
import concurrent.futures
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

MWLVM = sys.argv[1]
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
MOCK = "mwl:provider.call/mwl/mock/v1"
failures = []


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(w) for w in words))


def flow(steps, **more):
    return {"$schema": SCHEMA, "entrypoint": "a", "steps": {**steps, "z": {"action": "Return"}}, **more}


def middleware(name, **arguments):
    return {"provider": f"mwl:provider.middleware/mwl/{name}/v1", "onEntry": {"with": arguments}}


def check(name, text):
    """The rules of the format. Returns spans: (name, category, thread, begin, end, arguments)."""
    try:
        events = json.loads(text)
    except ValueError as e:
        expect(False, name, "is not JSON:", e)
        return []
    spans, open_, named, last = [], {}, set(), {}
    for e in events:
        where = f"{name}: {json.dumps(e)[:200]}"
        expect(e.get("ph") in ("M", "B", "E", "i"), where, "unknown phase")
        expect(isinstance(e.get("pid"), int) and isinstance(e.get("tid"), int), where, "pid, tid")
        expect(isinstance(e.get("ts"), (int, float)) and e["ts"] >= 0, where, "ts")
        thread = (e["pid"], e["tid"])
        if e["ph"] == "M":
            if e["name"] == "thread_name":
                expect(thread not in named, where, "a thread has two names")
                named.add(thread)
            continue
        expect(thread in named, where, "its thread has no name yet")
        expect(e["ts"] >= last.get("all", 0), where, "time goes back")
        last["all"] = e["ts"]
        if e["ph"] == "B":
            expect(e.get("name") and e.get("cat") and isinstance(e.get("args"), dict), where, "B")
            open_.setdefault(thread, []).append(e)
        elif e["ph"] == "E":
            stack = open_.get(thread)
            expect(stack, where, "E without B")
            if stack:
                b = stack.pop()
                spans.append((b["name"], b["cat"], e["tid"], b["ts"], e["ts"], {**b["args"], **e["args"]}))
        else:
            expect(e.get("s") == "t" and e.get("name"), where, "i")
            expect(open_.get(thread), where, "an instant in no span")
    expect(not any(open_.values()), name, "a B has no E")
    expect(sum(s[1] == "run" for s in spans) == 1, name, "there is not one run")
    return spans


def run(definition, *options, name="own", status=0):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "flow.json"), os.path.join(folder, "trace.json")
        with open(path, "w") as f:
            json.dump(definition, f)
        got = subprocess.run([MWLVM, "run", path, "--trace-file", out, *options], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect(got.returncode == status, name, "status", got.returncode, got.stderr.decode()[:300])
        with open(out) as f:
            return check(name, f.read())


def run_case(folder):
    """A scenario of tests/cases, whatever its Result is. Definitions that are rejected have no trace."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "trace.json")
        definition = os.path.join(folder, "..", "..", "definition.json")
        options = []
        for option, file in (("--input", "input.json"), ("--args", "arguments.json")):
            path = os.path.join(folder, file)
            if os.path.exists(path):
                options += [option, "@" + path]
        got = subprocess.run([MWLVM, "run", definition, "--virtual-time", "--seed", "1", "--fuel", "50M",
                              "--trace-file", out, *options], stdin=subprocess.DEVNULL, capture_output=True)
        if got.returncode in (2, 3):
            return 0
        with open(out) as f:
            check(folder, f.read())
        return 1


def cases():
    folders = sorted(glob.glob("tests/cases/*/*/scenarios/*"))[::int(os.environ.get("EVERY", "4"))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        n = sum(pool.map(run_case, folders))
    expect(n > len(folders) / 2, "only", n, "of", len(folders), "cases ran")
    return n


def retry():
    policies = [{"match": {"codes": ["*"]}, "attempts": 3, "backoff": {"initial": "PT2S", "rate": 2}}]
    spans = run(flow({"a": {"action": "Call", "middleware": [middleware("retry", policies=policies)],
                            "call": {"provider": MOCK, "with": {"delay": "PT1S", "failure": {"code": "Http.500"}}},
                            "assign": {"n": 1}, "next": "z",
                            "catch": [{"match": {"codes": ["*"]}, "next": "z"}]}}), "--virtual-time")
    times = {s[0]: (s[3] / 1e6, s[4] / 1e6) for s in spans if s[1] in ("attempt", "wait")}
    expect(times == {"attempt 1": (0, 1), "wait for attempt 2": (1, 3), "attempt 2": (3, 4),
                     "wait for attempt 3": (4, 8), "attempt 3": (8, 9)}, "attempts and waits:", times)
    status = {s[0]: s[5]["status"] for s in spans}
    expect(status["attempt 3"] == "failed" and status["a"] == "caught" and status["run"] == "succeeded",
           "statuses:", status)
    call = next(s for s in spans if s[1] == "call")
    expect(call[5]["failure"]["code"] == "Http.500" and call[5]["arguments"]["delay"] == "PT1S"
           and call[5]["line"] == 1, "a call:", call)


def gather():
    spans = run(flow({"a": {"action": "Gather", "over": [3, 1, 2], "next": "z",
                            "call": {"flow": {"entrypoint": "w", "steps": {
                                "w": {"action": "Sleep", "for": "{{ 'PT' + string(int(step.input)) + 'S' }}", "next": "r"},
                                "r": {"action": "Return"}}}}}}), "--virtual-time")
    tracks = {s[2]: (s[0], s[4] / 1e6) for s in spans if s[1] == "dispatch"}
    expect(tracks == {1: ("#0", 3), 2: ("#1", 1), 3: ("#2", 2)}, "dispatches:", tracks)
    expect({s[2] for s in spans if s[1] == "wait"} == {1, 2, 3}, "waits of dispatches")


def real_time_and_interrupt():
    spans = run(flow({"a": {"action": "Sleep", "for": "PT0.2S", "next": "z"}}))
    wait = next(s for s in spans if s[1] == "wait")
    expect(0.15e6 < wait[4] - wait[3] < 20e6, "a wait in real time:", wait[:5])
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "flow.json"), os.path.join(folder, "trace.json")
        with open(path, "w") as f:
            json.dump(flow({"a": {"action": "Sleep", "for": "PT1H", "next": "z"}}), f)
        p = subprocess.Popen([MWLVM, path, "-v", "--trace-file", out], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for line in p.stderr:
            if b"sleep" in line:
                break
        p.send_signal(signal.SIGINT)
        p.stderr.read()
        expect(p.wait() == -signal.SIGINT, "interrupted: status", p.returncode)
        with open(out) as f:
            spans = check("interrupted", f.read())
        expect(any(s[0] == "sleep" and s[5]["status"] == "cancelled" for s in spans), "interrupted:", spans)


def big_values():
    """A value of more than 64 KiB is a text of its beginning; the file stays JSON."""
    big = json.dumps({"text": "\u00e9\"\\" * 50000})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "big.json")
        with open(path, "w") as f:
            f.write(big)
        spans = run(flow({"a": {"action": "Pass", "next": "z"}}), "--input", "@" + path, name="big")
    first = next(s for s in spans if s[1] == "run")[5]["input"]
    expect(isinstance(first, str) and first.startswith('{"text":"\u00e9') and "more than 65536 bytes" in first,
           "a big value:", str(first)[:80])


def errors():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "flow.json")
        with open(path, "w") as f:
            json.dump(flow({"a": {"action": "Pass", "next": "z"}}), f)
        for out, word in ((os.path.join(folder, "no", "such"), b"No such file"), ("/dev/full", b"No space left")):
            got = subprocess.run([MWLVM, path, "--trace-file", out], stdin=subprocess.DEVNULL, capture_output=True)
            expect(got.returncode == 2 and word in got.stderr, out, got.returncode, got.stderr)


start = time.time()
n = cases()
for test in (retry, gather, real_time_and_interrupt, big_values, errors):
    test()
for line in failures[:20]:
    print("FAIL", line)
print(f"{n} cases and 5 checks in {time.time() - start:.1f} s, {len(failures)} failures")
sys.exit(1 if failures else 0)
