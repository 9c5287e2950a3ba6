#!/usr/bin/env python3
"""requests.py PLAY: what the playground and the npm package ask of the library (tools/playground/play.h), asked natively.

Mistakes have their place and their repair; runs go on by steps, by timers and by answers from outside; going step by step
leads to the Result that each case of tests/cases expects; a program runs without its definition; wrong requests are
refused and lose nothing.
"""
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
failures = []
HTTP = "mwl:provider.call/example/http/v1"


class Play:
    def __init__(self):
        self.process = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, do, **members):
        self.process.stdin.write(json.dumps({"do": do, **members}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def raw(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        same("exit status", self.process.wait(), 0)


def same(what, got, wanted):
    if got != wanted:
        failures.append(what)
        print(f"FAIL {what}: {got!r} instead of {wanted!r}")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def flow(**steps):
    return json.dumps({"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": next(iter(steps)), "steps": steps})


def call(**more):
    return {"action": "Call", "call": {"provider": "mwl:provider.call/acme/pay/v1", "with": {"n": 1}}, "next": "done", **more}


DONE = {"action": "Return"}
TIMEOUT = [{"provider": "mwl:provider.middleware/mwl/timeout/v1", "onEntry": {"with": {"duration": "PT5S"}}}]


def check_mistakes(play):
    text = '{\n  "$schema": "https://mwl.dev/v0.1/flow/schema.json",\n  "entrypoint": "a",\n  "steps": {"a": {"action": "Return", "vlaue": 1}}\n}'
    reply = play.ask("check", definition=text)
    d = reply["diagnostics"]
    same("one mistake", [len(d), reply["ok"]], [1, False])
    same("its place", [d[0]["line"], d[0]["column"], d[0]["endColumn"]], [4, 39, 46])
    same("its repair", d[0]["fix"][0]["text"], '"value"')
    same("no mistake", play.ask("check", definition=text.replace("vlaue", "value"))["ok"], True)
    same("a text that ends", [d["severity"] for d in play.ask("check", definition="{\n")["diagnostics"]], ["error"])
    reply = play.ask("check", definition=flow(a=DONE), input="[1,\n 2", case='{"a": {"delay": "soon"}}')
    places = {p["in"]: (p["line"], p["column"]) for p in reply["problems"]}
    same("problems of other texts", [places.get("input"), "case" in places, reply["ok"]], [(2, 3), True, False])
    same("a case with a wrong control", play.ask("check", definition=flow(a=DONE), case='{"answers": {}, "control": {"x": 1}}')["ok"], False)
    same("a start that is rejected", play.ask("start", definition="{}", virtual=True)["run"], None)
    same("a start with a wrong input", play.ask("start", definition=flow(a=DONE), input="{")["run"], None)
    # a document in the case: its failure catalog counts
    document = {"$schema": "https://mwl.dev/v0.1/provider/schema.json", "uri": "mwl:provider.call/acme/pay/v1", "codePrefix": "Pay",
                "description": "Pays.", "parameters": {"type": "object", "properties": {"n": {}}}, "failureCatalog": {"closed": [], "open": []}}
    for documents in ([], [document]):
        case = json.dumps({"answers": {"a": {"failure": {"code": "Provider.Call.Pay.Odd"}}}, "providers": documents})
        run = play.ask("start", definition=flow(a=call(), done=DONE), case=case, virtual=True)["run"]
        same("a document in the case", len(play.ask("go", run=run, until="end")["unexpected"]), len(documents))
    same("a file in the case", play.ask("check", definition=flow(a=DONE), case='{"answers": {}, "providers": ["a.json"]}')["ok"], False)


def check_steps(play):
    definition = read("tools/examples/patterns/retry.json")
    case = json.dumps({HTTP: json.loads(read("tools/examples/patterns/throttled.json"))})
    state = play.ask("start", definition=definition, case=case, virtual=True, record=True, lines=True, slice=1, name="retry.json")
    run, seen, now = state["run"], [], 0
    for _ in range(100):
        state = play.ask("go", run=run, until="step")  # time stands still
        seen += [line["event"] for line in state["lines"]]
        same("time does not go back", state["now"] >= now, True)
        now = state["now"]
        if state["state"] == "done":
            break
        if state["state"] == "waiting":
            report = play.ask("report", run=run)["data"]
            same("a run that goes on has open spans", any(s[1] == 0 for s in report["spans"]), True)
            due = state["due"]
            state = play.ask("go", run=run, until="timer")
            seen += [line["event"] for line in state["lines"]]
            same("time moves to the timer", state["now"], due)
    same("the Result", state["result"], {"type": "success", "value": {"charged": True}})
    same("calls", seen.count("CALL_DISPATCHED"), 4)
    report = play.ask("report", run=run)
    same("the graph is drawn", report["svg"][:4] + report["svg"].rstrip()[-6:], "<svg</svg>")
    same("attempts have bars", sum(s[0] == 5 for s in report["data"]["spans"]) >= 3, True)
    same("the end", play.ask("end", run=run), {})
    same("the end again", "error" in play.ask("end", run=run), True)
    look = play.ask("look", definition=definition)
    same("the listing", "call" in look["listing"] and look["svg"].startswith("<svg"), True)
    same("no listing of what is wrong", play.ask("look", definition="{}")["listing"], None)


def check_outside(play):
    definition = flow(a=call(middleware=TIMEOUT), done=DONE)
    state = play.ask("start", definition=definition, virtual=True)
    run = state["run"]
    state = play.ask("go", run=run, until="end", advance=True)
    same("a call waits for a person", [state["state"], state["now"], len(state["calls"])], ["waiting", 0, 1])
    same("what is asked", [state["calls"][0][k] for k in ("provider", "step", "with")], ["mwl:provider.call/acme/pay/v1", "a", {"n": 1}])
    same("an answer that is not JSON", play.ask("answer", run=run, number=1, value="{")["ok"], False)
    same("an answer to another call", play.ask("answer", run=run, number=9, value="1")["ok"], False)
    same("an answer", play.ask("answer", run=run, number=1, value='{"x": 1}')["ok"], True)
    same("its Result", play.ask("go", run=run, until="end", advance=True)["result"], {"type": "success", "value": {"x": 1}})
    run = play.ask("start", definition=definition, virtual=True)["run"]
    play.ask("go", run=run, until="end", advance=True)
    state = play.ask("go", run=run, until="timer")
    same("nobody answers", [state["state"], state["now"], state["calls"]], ["done", 5 * 10**9, []])
    same("the bound", state["result"]["code"], "Provider.Middleware.Timeout.Exceeded")
    run = play.ask("start", definition=definition, virtual=True)["run"]
    play.ask("go", run=run, until="end", advance=True)
    play.ask("answer", run=run, number=1, failure='{"code": "Provider.Call.Pay.Declined", "message": "no"}')
    same("a failure", play.ask("go", run=run, until="end")["result"]["code"], "Provider.Call.Pay.Declined")
    run = play.ask("start", definition=definition, virtual=True)["run"]
    play.ask("go", run=run, until="wait")
    play.ask("cancel", run=run, reason="enough")
    same("a cancellation", play.ask("go", run=run, until="end")["result"]["type"], "cancellation")
    case = json.dumps({"answers": {"a": [{"value": 1, "with": {"n": 2}}]}})
    run = play.ask("start", definition=definition, virtual=True, case=case)["run"]
    state = play.ask("go", run=run, until="end", advance=True)
    same("an answer that does not fit", state["unexpected"][0]["step"], "a")
    case = json.dumps({"answers": {"a": "never"}, "control": {"cancelAfter": "PT2S"}})
    run = play.ask("start", definition=definition, virtual=True, case=case)["run"]
    state = play.ask("go", run=run, until="end", advance=True)
    same("the control of a case", [state["result"]["type"], state["now"]], ["cancellation", 2 * 10**9])


def check_programs(play):
    definition = flow(a=call(), done=DONE)
    for strip in (False, True):
        image = play.ask("assemble", definition=definition, strip=strip)["image"]
        run = play.ask("start", image=image, virtual=True, record=True, case='{"*": {"value": 7}}')["run"]
        same("a program", play.ask("go", run=run, until="end")["result"], {"type": "success", "value": 7})
        same("its graph", play.ask("report", run=run)["svg"] is None, strip)
    for image in ("", "####", "AAAA", "abc"):
        same("an image that is none", "error" in play.ask("start", image=image), True)
    # a run in real time, and one that never ends
    run = play.ask("start", definition=flow(a={"action": "Sleep", "for": "PT0.01S", "next": "done"}, done=DONE))["run"]
    while play.ask("go", run=run, until="end")["state"] != "done":
        pass
    endless = flow(a={"action": "Pass", "next": "b"}, b={"action": "Pass", "next": "a"})
    state = play.ask("start", definition=endless, virtual=True, fuel=1000000)
    same("a piece of work", play.ask("go", run=state["run"], until="end", fuel=1000)["state"], "ready")
    state = play.ask("go", run=state["run"], until="end", fuel=50000000)
    same("its limit", [state["state"], state["why"]], ["done", "the work limit was reached"])


def check_many(play):
    """Runs of the same texts share what was read of them: a waiting run is small, and others are not disturbed."""
    definition, case = flow(a=call(middleware=TIMEOUT, output="{{ step.result.value }}"), done=DONE), json.dumps({"answers": {}})
    image = play.ask("assemble", definition=definition, case=case)["image"]

    def begin(i, **texts):
        run = play.ask("start", case=case, input=json.dumps(i), **(texts or {"image": image}))["run"]
        state = play.ask("go", run=run, until="end")
        return run, state["calls"][0]["number"]

    def resident():
        with open(f"/proc/{play.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def finish(run, number, value):
        play.ask("answer", run=run, number=number, value=json.dumps(value))
        same("the Result of one of many", play.ask("go", run=run, until="end")["result"], {"type": "success", "value": value})
        play.ask("end", run=run)

    first = begin(0)
    same("a start of the same texts with a wrong input", play.ask("start", image=image, case=case, input="{")["problems"][0]["in"], "input")
    again = play.ask("start", image=image, case=case, input="1")
    same("its problem is not told again", [again["ok"], again["problems"], again["run"] is None], [True, [], False])
    play.ask("end", run=again["run"])
    other = begin(1, definition=definition)  # other texts come between
    has_statm = os.path.exists("/proc/self/statm") and not os.environ.get("MWL_SANITIZED")
    before, runs = resident() if has_statm else 0, [begin(i) for i in range(400)]
    if has_statm:
        each = (resident() - before) // len(runs)
        same(f"a waiting run has less than 80 KiB: {each}", each < 80 << 10, True)
    finish(*first, "first")
    finish(*other, "other")
    for i in (399, 0, 200):
        finish(*runs.pop(i), i)
    for i, (run, number) in enumerate(runs):
        finish(run, number, i)
    same("a run that has ended", "error" in play.ask("state", run=first[0]), True)


def fits(expected, result):
    """As the conformance suite compares: of a failure the members that are named; null: not there."""
    if isinstance(expected, dict) and isinstance(result, dict) and expected.get("type", "success") != "success":
        return all(result.get(k) is None if v is None else fits(v, result.get(k)) for k, v in expected.items())
    if isinstance(expected, dict) and isinstance(result, dict):
        return expected.keys() == result.keys() and all(fits(v, result[k]) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(result, list):
        return len(expected) == len(result) and all(map(fits, expected, result))
    return expected == result


def check_cases(play):
    """Every second case of ours, step by step in the smallest slices."""
    cases = sorted(glob.glob(os.path.join(ROOT, "tests/cases/*/*/definition.json")))[::2]
    count = 0
    for path in cases:
        folder = os.path.dirname(path)
        for scenario in sorted(glob.glob(folder + "/scenarios/*/expected-result.json")):
            def text(name):
                file = os.path.join(os.path.dirname(scenario), name)
                return open(file, encoding="utf-8").read() if os.path.exists(file) else None
            if text("control.json"):
                continue  # limits, which are about the command's defaults
            members = {k: v for k, v in (("input", text("input.json")), ("arguments", text("arguments.json"))) if v}
            state = play.ask("start", definition=open(path, encoding="utf-8").read(), virtual=True, slice=1, **members)
            run, count = state["run"], count + 1
            for step in range(200000):
                if not run or state["state"] == "done":
                    break
                # a loop of thousands of iterations goes on by itself
                state = play.ask("go", run=run, until="step" if step < 200 else "end", advance=True)
            if run:
                play.ask("end", run=run)
            expected = json.loads(text("expected-result.json"))
            if not fits(expected, state.get("result") or {}):
                same(os.path.relpath(scenario, ROOT), state.get("result"), expected)
    same("there are cases", count > 100, True)
    return count


def check_requests(play):
    for line in (b"", b"{", b"[]", b"null", b"{}", b'{"do": 1}', b'{"do": "fly"}', b'{"do": "go", "run": 1e300}', b'{"do":"go"}'):
        same(f"the request {line!r}", "error" in play.raw(line) if line else True, True)
    same("about", set(play.ask("about")), {"version", "missing"})


def main():
    play = Play()
    for check in (check_mistakes, check_steps, check_outside, check_programs, check_many, check_requests):
        check(play)
    count = check_cases(play)
    play.close()
    print(f"{count} scenarios step by step, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
