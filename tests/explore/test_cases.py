#!/usr/bin/env python3
"""test_cases.py MWLVM SUITE...: `mwlvm test` through the built command.

Every case of the given suites, converted to the short form of one file, must pass as it does in its
own layout. Then: what a failing case shows, the report formats, --update, coverage, and the time
that 1,000 cases take.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml

MWLVM, SUITES = os.path.abspath(sys.argv[1]), sys.argv[2:]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ORDER = os.path.join(ROOT, "tools", "examples", "testing", "order.json")
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAIL", what)


def run(*words, cwd=None):
    env = {k: v for k, v in os.environ.items() if k != "GITHUB_ACTIONS"}
    done = subprocess.run([MWLVM, "test", *words], capture_output=True, text=True, cwd=cwd, env=env)
    return done.returncode, done.stdout, done.stderr


def write(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))
    return path


def load(path):
    return json.load(open(path)) if os.path.exists(path) else None


def convert(suite, folder):
    """Writes every scenario as one file; returns how many."""
    n = 0
    for path, _, names in os.walk(suite):
        if "case.json" not in names:
            continue
        for scenario in json.load(open(os.path.join(path, "case.json")))["scenarios"]:
            at = os.path.join(path, "scenarios", scenario)
            case = {"definition": os.path.abspath(os.path.join(path, "definition.json"))}
            for member, file in (("input", "input"), ("arguments", "arguments"), ("control", "control")):
                if os.path.exists(os.path.join(at, file + ".json")):
                    case[member] = load(os.path.join(at, file + ".json"))
            case["expect"] = {"result": load(os.path.join(at, "expected-result.json"))}
            trace = load(os.path.join(at, "expected-trace.json"))
            if trace is not None:
                case["expect"]["trace"] = trace
            write(folder, f"{n:04d}-{scenario}.json", case)
            n += 1
    return n


def suites():
    for suite in SUITES:
        if not os.path.isdir(suite):
            print("left out, not there:", suite)
            continue
        with tempfile.TemporaryDirectory() as folder:
            n = convert(suite, folder)
            own = run(suite, "--dots")
            short = run(folder, "--dots")
            check(own[0] == 0 and f"{n} passed, 0 failed" in own[1], f"{suite}: {own[1][-2000:]}")
            check(short[0] == 0 and f"{n} passed, 0 failed" in short[1],
                  f"{suite} in short form: {short[1][-2000:]}")


def thousand():
    with tempfile.TemporaryDirectory() as folder:
        for i in range(1000):
            write(folder, f"case{i}.json", {
                "definition": ORDER, "input": {"amount": i},
                "answers": {"charge": {"value": {"receipt": f"r-{i}"}}},
                "expect": {"value": {"receipt": f"r-{i}"}, "calls": {"charge": 1}}})
        best = 100
        for _ in range(3):
            begin = time.monotonic()
            status, out, _ = run(folder)
            best = min(best, time.monotonic() - begin)
            check(status == 0 and "1000 passed, 0 failed" in out, "1,000 cases: " + out[-300:])
        limit = 1 if not os.environ.get("MWL_SLOW") else 30
        check(best < limit, f"1,000 cases take {best:.2f} s")
        print(f"1,000 cases: {best:.2f} s")


BAD = {"definition": ORDER, "input": {"amount": 12},
       "answers": {"charge": {"value": {"receipt": "r-9"}, "delay": "PT3S"}},
       "expect": {"value": {"receipt": "r-7"}, "calls": [{"with": {"amount": 13}}], "time": "PT1S",
                  "cleanup": True, "steps": ["charge"], "cel": "size(calls) == 2",
                  "vars": {"charge": {"receipt": {"$cel": "this.startsWith('q')"}}}}}


def differences():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "bad.json", BAD)
        status, out, _ = run(".", cwd=folder)
        check(status == 1, "a failing case gives 1")
        for line in ('FAIL bad', '  value.receipt: expected "r-7", got "r-9"',
                     '  calls[0].with.amount: expected 13, got 12', '  time: expected "PT1S", got "PT3S"',
                     '  cleanup ran: expected true, got false', '  steps[1]: expected nothing, got "paid"',
                     '  cel: size(calls) == 2 is not true',
                     '  vars.charge.receipt: this.startsWith(\'q\') is not true, with this = "r-9"',
                     '0 passed, 1 failed'):
            check(line in out, f"missing '{line}' in\n{out}")
        unexpected = dict(BAD, answers={"charge": [{"with": {"amount": 13}}]}, expect={})
        write(folder, "bad.json", unexpected)
        out = run(".", cwd=folder)[1]
        check("unexpected call 1 of mwl:provider.call/acme/pay/v1 in Step 'charge'\n    with "
              '{"amount":12}\n    input {"amount":12}\n    answer 1: `with` does not fit' in out, out)
        write(folder, "bad.json", dict(BAD, answers={"charge": "never"}, expect={}))
        check("waits for an answer that never comes" in run(".", cwd=folder)[1], "never")
        write(folder, "bad.json", dict(BAD, expct={}))
        check("expct: this is not a member of a case" in run(".", cwd=folder)[1], "a wrong member")
        write(folder, "bad.json", '{"definition": 1,\n x}')
        check("bad.json:2:" in run(".", cwd=folder)[1], "a mistake in JSON has its line")
        write(folder, "bad.json", dict(BAD, definition="none.json"))
        check("none.json: No such file" in run(".", cwd=folder)[1], "a missing definition")


def boundaries():
    """Each expectation holds at its boundary and fails one beyond it: three calls, two waits of a second, a cleanup."""
    retry = {"provider": "mwl:provider.middleware/mwl/retry/v1", "onEntry": {"with": {"policies": [
        {"match": {"codes": ["*"]}, "attempts": 5, "backoff": {"initial": "PT1S"}}]}}}
    cleanup = {"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with": {"call": {
        "provider": "mwl:provider.call/mwl/mock/v1"}}}}
    flow = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "ask", "steps": {
        "ask": {"action": "Call", "call": {"provider": "mwl:provider.call/mwl/mock/v1"}, "middleware": [cleanup, retry], "next": "end"},
        "unused": {"action": "Pass", "next": "end"},
        "end": {"action": "Match", "cases": [{"when": "{{ step.input == 7.0 }}", "next": "unused"}], "default": {"next": "last"}},
        "last": {"action": "Return", "value": {"a": [1, 2], "b": 3}}}}
    lost = {"failure": {"code": "Some.Failure"}}
    case = {"definition": "flow.json", "answers": {"ask": [lost, lost, {"value": 1}, {"value": None}]}}
    rows = [
        ({"calls": {"ask": {"atMost": 4}}}, True), ({"calls": {"ask": {"atMost": 3}}}, False),
        ({"calls": {"ask": {"atLeast": 4}}}, True), ({"calls": {"ask": {"atLeast": 5}}}, False),
        ({"calls": {"atLeast": 4, "atMost": 4}}, True), ({"calls": {"ask": 4}}, True), ({"calls": {"ask": 3}}, False),
        ({"calls": 4}, True), ({"calls": 5}, False), ({"calls": {"atMost": 3}}, False), ({"calls": {"atLeast": 5}}, False),
        ({"time": "PT2S"}, True), ({"time": "PT3S"}, False), ({"time": {"atMost": "PT2S"}}, True),
        ({"time": {"atMost": "PT1.9S"}}, False), ({"time": {"atLeast": "PT2S"}}, True), ({"time": {"atLeast": "PT2.1S"}}, False),
        ({"steps": {"ran": ["ask", "last"]}}, True), ({"steps": {"ran": ["ask", "unused"]}}, False),
        ({"steps": {"notRan": ["unused"]}}, True), ({"steps": {"notRan": ["unused", "ask"]}}, False),
        ({"cleanup": True}, True), ({"cleanup": False}, False), ({"cleanup": 1}, True), ({"cleanup": 2}, False),
        ({"cel": ["true", "size(calls) == 4"]}, True), ({"cel": ["true", "size(calls) == 5"]}, False),
        ({"value": {"a": [1, 2], "b": 3}}, True), ({"value": {"a": [1, 2]}}, False), ({"value": {"a": [1], "b": 3}}, False),
        ({"value": {"a": [1, 2, 3], "b": 3}}, False), ({"value": {"a": [1, 2], "b": 3, "c": 1}}, False), ({"result": {"type": "success", "value": {"a": [1, 2], "b": 3}}}, True),
        ({"result": {"type": "success", "value": {"a": [1, 2]}}}, False),
    ]
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "flow.json", flow)
        for i, (expect, _) in enumerate(rows):
            write(folder, f"c{i:02}.case.json", {**case, "expect": expect})
        out = run(".", cwd=folder)[1]
        for i, (expect, good) in enumerate(rows):
            check((f"FAIL c{i:02}.case\n" not in out) == good, f"{'should hold' if good else 'should fail'}: {expect}")
        n_good = sum(good for _, good in rows)
        check(f"{n_good} passed, {len(rows) - n_good} failed" in out, f"how many hold: {out[-100:]}")


def results():
    """An expected failure is compared with its whole chain; what is null there may be absent."""
    policy = {"match": {"codes": ["*"]}, "attempts": 2}
    retry = {"provider": "mwl:provider.middleware/mwl/retry/v1", "onEntry": {"with": {"policies": [policy]}}}
    flow = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "ask", "steps": {
        "ask": {"action": "Call", "call": {"provider": "mwl:provider.call/mwl/mock/v1"}, "middleware": [retry], "next": "end"},
        "end": {"action": "Return"}}}
    lost = {"failure": {"code": "Some.Failure", "message": "lost", "details": {"failures": [1, 2]}}}
    last = {"type": "error", "code": "Some.Failure", "message": "lost", "details": {"failures": [1, 2]}}
    whole = {"type": "error", "code": "Provider.Middleware.Retry.Exhausted", "message": "gave up after 2 attempts",
             "details": {"attempts": 2, "policy": 0}, "previous": last}
    rows = [(whole, True), ({**whole, "retryable": None}, True), ({**whole, "code": "Other"}, False),
            ({**whole, "previous": {**last, "code": "Other"}}, False), ({**whole, "previous": {**last, "details": {"failures": [1, 3]}}}, False),
            ({**whole, "previous": {**last, "details": {"failures": [1]}}}, False), ({**whole, "details": {"attempts": 3, "policy": 0}}, False),
            ({**whole, "retryable": True}, False)]
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "flow.json", flow)
        for i, (expected, _) in enumerate(rows):
            write(folder, f"c{i}.case.json", {"definition": "flow.json", "answers": {"ask": [lost, lost]}, "expect": {"result": expected}})
        out = run(".", cwd=folder)[1]
        for i, (expected, good) in enumerate(rows):
            check((f"FAIL c{i}.case\n" not in out) == good, f"{'the same' if good else 'another'} Result: {expected}\n{out}")


def formats():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "bad.json", BAD)
        write(folder, "good.json", dict(BAD, expect={"calls": 1}))
        out = run(".", "--tap", cwd=folder)[1]
        check(out.startswith("TAP version 13\n1..2\nnot ok 1 - bad\n") and "\nok 2 - good\n" in out, out)
        out = run(".", "--github", cwd=folder)[1]
        check("::error file=bad.json,title=bad::  value.receipt: expected" in out, out)
        run(".", "--junit", "j.xml", cwd=folder)
        suite = xml.parse(os.path.join(folder, "j.xml")).getroot()
        check(suite.get("tests") == "2" and suite.get("failures") == "1", "JUnit counts")
        check("value.receipt" in suite.find("testcase/failure").text, "JUnit text")
        check("1 passed, 0 failed" in run(".", "--filter", "good", cwd=folder)[1], "--filter")
        check(run(".", "--filter", "nothing", cwd=folder)[0] == 3, "no cases")
        check(".F" in run("good.json", "bad.json", "--dots", "-j", "2", cwd=folder)[1], "dots")


def update():
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "bad.json", dict(BAD, expect={"value": 1, "time": "PT9S", "calls": 7}))
        status, out, _ = run(".", "--update", cwd=folder)
        check(status == 0 and "updated 1 of 1" in out and '+    "value": {' in out, out)
        check(json.load(open(path))["expect"] ==
              {"value": {"receipt": "r-9"}, "time": "PT3S", "calls": 1}, "what was seen is written")
        check(run(".", cwd=folder)[0] == 0, "an updated case passes")
        check("updated 0 of 1" in run(".", "--update", cwd=folder)[1], "nothing left to update")


def coverage():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "good.json", dict(BAD, expect={}))
        status, out, _ = run(".", "--coverage", "--coverage-file", "c.json", cwd=folder)
        check(status == 0 and "coverage: 4 of 8 places (50.0 %)" in out, out)
        for line in ("order.json:30:17: not taken: catch clause 1 of Step 'charge'",
                     "order.json:33:5: not taken: Step 'declined'",
                     "not taken: onFailure of retry of Step 'charge'",
                     "not taken: policy 1 of retry of Step 'charge'"):
            check(line in out, f"missing '{line}' in\n{out}")
        data = json.load(open(os.path.join(folder, "c.json")))
        check(data[0]["taken"] == 4 and len(data[0]["items"]) == 8, "coverage as data")
        svg = subprocess.run([MWLVM, "graph", ORDER, "--provider", ORDER.replace("order", "pay.provider"),
                              "--coverage", "c.json"], cwd=folder, capture_output=True, text=True).stdout
        classes = re.findall(r'class="([^"]* (?:taken|missed))"', svg)
        check(sorted(classes) == ["b step call-step taken", "b step return handler missed", "b step return taken",
                                  "e catch missed", "e next taken"], f"colours of the graph: {classes}")
        again = [{"failure": {"code": "Provider.Call.Pay.Busy"}}, {"value": {"receipt": "r-9"}}]
        write(folder, "again.json", dict(BAD, answers={"charge": again}, expect={}))
        out = run(".", "--coverage", cwd=folder)[1]
        check("coverage: 6 of 8 places" in out and "not taken: policy" not in out and "not taken: onFailure" not in out, out)
        os.remove(os.path.join(folder, "again.json"))
        status, out, err = run(".", "--min-coverage", "60", cwd=folder)
        check(status == 1 and "--min-coverage wants 60.0 %" in err, err)
        check(run(".", "--min-coverage", "50", cwd=folder)[0] == 0, "enough coverage")


def record():
    mock = "mwl:provider.call/mwl/mock/v1"
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "flow.json", {
            "$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "fan", "steps": {
                "fan": {"action": "Gather", "over": "{{ step.input }}", "next": "one", "call": {
                    "provider": mock, "with": {"delay": "PT2S"}}},
                "one": {"action": "Call", "next": "end", "call": {
                    "provider": mock, "with": {"failure": {"code": "X.Y"}, "delay": "PT1S"}},
                    "catch": [{"match": {"codes": ["X.Y"]}, "next": "end"}]},
                "end": {"action": "Return", "value": "{{ step.input }}"}}})
        done = subprocess.run([MWLVM, "run", "flow.json", "--input", "[1,2]", "--virtual-time", "--record",
                               "case.json"], cwd=folder, capture_output=True, text=True)
        check(done.returncode == 0, "run --record: " + done.stderr)
        case = json.load(open(os.path.join(folder, "case.json")))
        check([a["value"] for a in case["answers"]["fan"]] == [1, 2], "the answers of a Gather")
        check(case["answers"]["one"][0]["failure"]["code"] == "X.Y" and
              case["answers"]["one"][0]["delay"] == "PT1S", "a failure with its delay")
        check(run("case.json", cwd=folder)[0] == 0, "a recorded run passes as a case")
        case["answers"]["one"] = [{"value": 5}]
        write(folder, "case.json", case)
        check("got 5" in run("case.json", cwd=folder)[1], "the answers are used, not mock itself")


def watch():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "one.json", dict(BAD, expect={"calls": 1}))
        process = subprocess.Popen([MWLVM, "test", "--watch"], cwd=folder, stdout=subprocess.PIPE, text=True)
        late = threading.Timer(60, process.kill)
        late.start()
        seen = []
        for line in process.stdout:
            seen.append(line)
            if line.startswith("watching") and len([s for s in seen if s.startswith("watching")]) == 1:
                write(folder, "one.json", dict(BAD, expect={"calls": 99}))
            elif line.startswith("watching"):
                break
        late.cancel()
        process.terminate()
        process.communicate()
        check("ok   one\n" in seen and "FAIL one\n" in seen, f"--watch: {seen}")


def documentation():
    """Answers stand for providers of the namespace `example`, which the specification's pages call; a document never
    does, nor does anything stand for one that the language does not have."""
    def flow(provider):
        return {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "get", "steps": {
            "get": {"action": "Call", "call": {"provider": provider, "with": {"path": "/jobs"}}, "next": "done",
                    "middleware": [{"provider": "mwl:provider.middleware/mwl/timeout/v1",
                                    "onEntry": {"with": {"duration": "PT5S"}}}]},
            "done": {"action": "Return"}}}
    example = "mwl:provider.call/example/http/v1"
    case = {"definition": "a.json", "answers": {"get": [{"value": 7}]}, "expect": {"value": 7, "calls": {"get": 1}}}
    document = {"$schema": "https://mwl.dev/v0.1/provider/schema.json", "uri": example, "codePrefix": "Http",
                "description": "d", "parameters": {"type": "object", "additionalProperties": True},
                "failureCatalog": {"closed": [], "open": []}}
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.json", flow(example))
        write(folder, "a.case.json", case)
        status, out, err = run("a.case.json", cwd=folder)
        check(status == 0 and "1 passed, 0 failed" in out, f"answers for the namespace example: {out}{err}")
        done = subprocess.run([MWLVM, "explore", "a.json"], capture_output=True, text=True, cwd=folder)
        check(done.returncode == 0 and "Timeout.Exceeded" in done.stdout and "  success: " in done.stdout,
              f"explore in the namespace example: {done.stdout}{done.stderr}")
        write(folder, "http.json", document)
        write(folder, "b.case.json", dict(case, providers=["http.json"]))
        status, out, err = run("b.case.json", cwd=folder)
        check(status == 1 and "MWL0410" in out + err and "http.json:1:" in out + err,
              f"a document in the namespace example: {out}{err}")
        write(folder, "a.json", flow("mwl:provider.call/mwl/http/v1"))
        status, out, err = run("a.case.json", cwd=folder)
        check(status == 1 and "MWL0405" in out + err, f"a provider that the language does not have: {out}{err}")


documentation()
suites()
thousand()
watch()
record()
differences()
boundaries()
results()
formats()
update()
coverage()
sys.exit(1 if failures else 0)
