#!/usr/bin/env python3
"""spec_pages.py MWLVM PAGES: every JSON block of the specification's pages works as its page says.

PAGES is a folder with the blocks as they are printed, and index.json. A block that is a definition is run as it is.
A fragment is completed: Steps that it names get a Return, variables that it reads are declared, its Flow gets an
entrypoint; then it must assemble. Providers of the namespace `example` are bound to scripted answers. The cookbook's
pages and the end-to-end example run to the Results that their prose describes (RUNS below).

What cannot be a definition (Results, schemas, the forms of an envelope) is read as the data that it is."""
import json
import os
import re
import subprocess
import sys
import tempfile

MWLVM, PAGES = os.path.abspath(sys.argv[1]), sys.argv[2]
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
HTTP = "mwl:provider.call/example/http/v1"
STEP_MEMBERS = {"action", "comment", "input", "output", "assign", "next", "catch", "middleware", "call", "calls", "over",
                "concurrency", "completion", "cases", "default", "for", "until", "value", "result"}
FLOW_MEMBERS = {"$schema", "comment", "parameters", "middleware", "flows", "entrypoint", "steps"}
# Middleware of the namespace `example` does not exist: `log` stands for it, with its own parameters.
STAND_IN = "mwl:provider.middleware/mwlvm/log/v1"
RETRY = {"provider": "mwl:provider.middleware/mwl/retry/v1",
         "onEntry": {"with": {"policies": [{"match": {"codes": ["Example.Failed"]}, "attempts": 2}]}}}
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAIL", what)


# ---- completing fragments ---------------------------------------------------------------------------

def parse(text):
    """The block, and whether it was complete JSON; else its members are put into an object."""
    for whole in (text, "{" + text.strip().rstrip(",") + "}", "[" + text.strip().rstrip(",") + "]"):
        try:
            return without_dots(json.loads(whole))
        except ValueError:
            continue
    return None


def without_dots(v):
    """What a page leaves out is written {"...": "..."}."""
    if isinstance(v, dict):
        v = {k: without_dots(x) for k, x in v.items() if k != "..."}
        if is_entry(v) and "/example/" in v["provider"]:
            v["provider"] = STAND_IN
            for phase in [x for x in v.values() if isinstance(x, dict)]:
                phase.pop("with", None)
            v.setdefault("onEntry", {})["with"] = {"message": "an example"}
        if v.get("provider") == RETRY["provider"] and v.get("onEntry") == {}:
            v["onEntry"] = RETRY["onEntry"]
        return v
    return [without_dots(x) for x in v] if isinstance(v, list) else v


def is_entry(v):
    return isinstance(v, dict) and str(v.get("provider", "")).startswith("mwl:provider.middleware/")


def step_of(members):
    """A Step that these members belong to."""
    action = "Gather" if {"over", "calls", "completion", "concurrency"} & members.keys() else \
        "Match" if {"cases", "default"} & members.keys() else "Sleep" if {"for", "until"} & members.keys() else \
        "Raise" if "result" in members else "Call" if {"call", "catch", "middleware"} & members.keys() else "Pass"
    step = {"action": action, **members}
    if action == "Call":
        step.setdefault("call", {"provider": HTTP})
    if action == "Gather" and "calls" not in step:
        step.setdefault("over", [1])
        step.setdefault("call", {"provider": HTTP})
    if action == "Match":
        step.setdefault("cases", [])
        step.setdefault("default", {"next": "end"})
    return step


def flow_of(block):
    """The smallest definition with this block in it; None: it is not a part of one."""
    if isinstance(block, list) and block and all(map(is_entry, block)):
        block = {"middleware": block}
    if is_entry(block):
        block = {"middleware": [block]}
    if not isinstance(block, dict) or not block:
        return None
    if {"steps", "entrypoint"} & block.keys() or ("flows" in block and block.keys() <= FLOW_MEMBERS):
        return dict(block)
    if all(isinstance(v, dict) and "action" in v for v in block.values()):
        return {"steps": block}
    if block.keys() <= STEP_MEMBERS and "parameters" not in block:
        return {"steps": {"example": step_of(block)}}
    phases = {"onEntry", "onSuccess", "onFailure", "onAlways"}
    if block.keys() <= phases and (block.keys() & {"onEntry", "onAlways"} or block.get("onFailure", {}).keys() - {"assign"}
                                   or block.get("onSuccess", {}).keys() - {"assign", "value"}):
        return {"steps": {"example": step_of({"middleware": [{**RETRY, **block}]})}}
    if {"onSuccess", "onFailure"} >= block.keys():  # the arms of a call
        return {"steps": {"example": step_of({"call": {"provider": HTTP, **block}})}}
    if {"flow", "provider", "with"} & block.keys() and not is_entry(block) and "uri" not in block:
        return {"steps": {"example": step_of({"call": block})}}
    if block.keys() <= FLOW_MEMBERS:
        return dict(block)
    return None


def complete(flow):
    """Adds what a fragment names and does not have."""
    flow.setdefault("$schema", SCHEMA)
    flow.setdefault("steps", {})
    for named in flow.get("flows", {}).values():
        if "steps" not in named or "entrypoint" not in named:
            named.setdefault("entrypoint", "end")
            named.setdefault("steps", {"end": {"action": "Return"}})
        fill_steps(named)
    for name in flow.get("flows", {}):
        if f'"flow": "{name}"' not in json.dumps(flow):
            flow["steps"]["call-" + name] = step_of({"call": {"flow": name}})
    flow.setdefault("entrypoint", next(iter(flow["steps"]), "end"))
    fill_steps(flow)
    bind_variables(flow)
    return flow


def fill_steps(flow):
    wanted = {flow["entrypoint"]}
    for step in flow["steps"].values():
        step.setdefault("action", "Pass")
        if "call" in step and not {"provider", "flow"} & step["call"].keys():
            step["call"]["provider"] = HTTP
        if step["action"] not in ("Return", "Raise", "Match"):
            step.setdefault("next", "end")
        clauses = [step, step.get("default", {})] + step.get("cases", []) + step.get("catch", [])
        wanted |= {c["next"] for c in clauses if isinstance(c.get("next"), str)}
        call = step.get("call", {})
        if isinstance(call.get("flow"), dict) and "steps" in call["flow"]:
            fill_steps(call["flow"])
    for name in wanted - flow["steps"].keys():
        flow["steps"][name] = {"action": "Return"}


def bind_variables(flow):
    """Declares the variables of the root Flow that nothing else declares."""
    names = set(re.findall(r"\bvars\.([A-Za-z_]\w*)", json.dumps({**flow, "flows": None})))
    schema = flow.setdefault("parameters", {"type": "object", "properties": {}})
    for name in names - schema.setdefault("properties", {}).keys():
        schema["properties"][name] = {"default": None}
    for call in re.findall(r'"flow": "([A-Za-z_]\w*)"', json.dumps(flow)):
        flow.setdefault("flows", {}).setdefault(call, {
            "parameters": {"type": "object", "additionalProperties": True}, "entrypoint": "end",
            "steps": {"end": {"action": "Return"}}})


# ---- running ----------------------------------------------------------------------------------------

def run(flow, answers, *options):
    text = json.dumps(flow) if isinstance(flow, dict) else flow
    with tempfile.TemporaryDirectory() as folder:
        path, said = os.path.join(folder, "flow.json"), os.path.join(folder, "answers.json")
        open(path, "w").write(text)
        open(said, "w").write(json.dumps(answers))
        words = [MWLVM, "run", path, "--virtual-time", "--result", *options]
        for uri in sorted(set(re.findall(r"mwl:provider\.call/example/[\w/-]+", text))):
            words += ["--bind", f"{uri}={said}"]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout, done.stderr


def part_of(expected, actual):
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(k in actual and part_of(v, actual[k]) for k, v in expected.items())
    return expected == actual


def fail(code, **more):
    return {"failure": {"code": code, **more}}


def busy(n, then):
    return [{**fail("Provider.Call.Http.Throttled"), "times": n}, then]


DOWN = fail("Provider.Call.Http.ConnectionFailed")
ORDER = {"amount": 12, "lineItems": [{"sku": "a"}, {"sku": "b"}]}
def by_path(answers):
    """Answers of a service by the path that is called: the cleanup of a Flow has no Step of its own."""
    rules = []
    for path, said in answers.items():
        for answer in said if isinstance(said, list) else [{"times": "any", **said}]:
            rules.append({"with": {"path": path}, **answer})
    return {HTTP: rules}


SHOP = {"/customers/validate": {"value": {"id": "c-1"}}, "/inventory/check": {"value": {"available": True}},
        "/orders/review": {"value": "reviewed"}, "/billing/charge": {"value": {"chargeId": "ch-1"}},
        "/notifications/payment-failed": {"compute": "input"}, "/audit/orders": {"value": "audited"}}
SAGA = {"reserve-inventory": {"value": {"reservationId": "r"}}, "charge-payment": {"value": {"chargeId": "c"}},
        "schedule-fulfillment": {"value": "planned"}, "refund-payment": {"value": 1}, "release-inventory": {"value": 1}}
DECLINED = fail("Provider.Call.Payments.CardDeclined")
REQUEST = {"metadata": {"requestId": "q-1"}}
EXCEEDED, EXHAUSTED = "Provider.Middleware.Timeout.Exceeded", "Provider.Middleware.Retry.Exhausted"


def ok(value):
    return {"type": "success", "value": value}


def bad(code, kind="error", **more):
    return {"type": kind, "code": code, **more}


# page: rows of (answers, input, arguments, what the prose says that the Result is)
RUNS = {
    "guide/cookbook/conditional-middleware.md": [
        ({"process": {"value": {"features": []}}}, None, {}, ok({"features": []})),
        ({"process": busy(2, {"value": {"features": []}})}, None, {}, ok({"features": []})),
        # gated off, a Retry is transparent: the first failure leaves the Flow
        ({"process": busy(1, {"value": 1})}, None, {"retriesEnabled": False}, bad("Provider.Call.Http.Throttled")),
        # and a Timeout imposes no bound, unless the argument asks for one
        ({"process": {"value": 1, "delay": "PT9H"}}, None, {}, ok(1)),
        ({"process": {"value": 1, "delay": "PT9H"}}, None, {"deadline": "PT1S"}, bad(EXCEEDED, "timeout"))],
    "guide/cookbook/fan-out.md": [
        ({"check-inventory": {"compute": "input.sku"}}, ORDER, {}, ok(["a", "b"])),
        ({"check-inventory": [{"input": {"sku": "b"}, **DOWN}, {"value": "here"}]}, ORDER, {},
         ok({"lineItems": ORDER["lineItems"], "amount": 12}))],  # report-shortfall gets the Step's input
    "guide/cookbook/finally-cleanup.md": [
        ({HTTP: [{"with": {"path": "/billing/charge"}, **DOWN, "times": 2}, {"with": {"path": "/audit"}, "value": "a"},
                 {"value": "paid"}]}, None, {}, ok("paid")),
        # the audit sees the final outcome once, and a failed one supersedes what it displaced
        ({HTTP: [{"with": {"path": "/audit"}, **fail("Provider.Call.Audit.Down")}, {"value": "paid"}]}, None, {},
         ok(None))],
    "guide/cookbook/pagination.md": [
        ({"fetch-all-items": [{"value": {"items": [1, 2], "nextCursor": "x"}},
                              {"input": {"nextCursor": "x"}, "value": {"items": [3], "nextCursor": None}}]},
         None, {}, ok([1, 2, 3]))],
    "guide/cookbook/polling.md": [
        ({"check": [{"value": {"status": "running"}, "times": 2}, {"value": {"status": "complete"}}]},
         {"jobId": "j"}, {}, ok({"status": "complete"})),
        ({"check": {"value": {"status": "running"}}}, {"jobId": "j"}, {}, ok({"jobId": "j"}))],  # job-took-too-long
    "guide/cookbook/retry-composition.md": [
        ({"charge-payment": busy(4, {"value": "paid"})}, 1, {}, ok("paid")),
        ({"charge-payment": [{**DOWN, "times": 2}, {"value": "paid"}]}, 1, {}, ok("paid")),
        ({"charge-payment": DECLINED}, 1, {}, ok(1)),  # to notify-customer, at once
        ({"charge-payment": {"never": True}}, 1, {}, ok(1))],  # to escalate: the timeout passes through
    "guide/cookbook/saga.md": [
        (SAGA, None, {}, ok("planned")),
        ({**SAGA, "charge-payment": DECLINED}, None, {},
         bad("Orders.CompensatedFailure", previous={"code": "Provider.Call.Payments.CardDeclined"})),
        ({**SAGA, "schedule-fulfillment": DOWN}, None, {},
         bad("Orders.CompensatedFailure", previous={"code": "Provider.Call.Http.ConnectionFailed"})),
        # a failed compensation chains the failure that was being handled
        ({**SAGA, "charge-payment": DECLINED, "release-inventory": DOWN}, None, {},
         bad("Provider.Call.Http.ConnectionFailed", previous={"code": "Provider.Call.Payments.CardDeclined"}))],
    "guide/cookbook/subflow-wrapper.md": [
        ({"register": [{"input": "b", **DOWN, "times": 2}, {"compute": "input + '!'", "times": "any"}]},
         {"features": ["a", "b"]}, {}, ok(["a!", "b!"]))],
    "guide/end-to-end-example.md": [
        (by_path(SHOP), ORDER, {}, ok({"chargeId": "ch-1"})),
        (by_path(SHOP), {**ORDER, "amount": 5000}, {}, ok({"chargeId": "ch-1"})),
        (by_path({**SHOP, "/billing/charge": [{**fail("Provider.Call.Http.Throttled"), **REQUEST, "times": 3},
                                              {"value": {"chargeId": "ch-2"}}]}), ORDER, {}, ok({"chargeId": "ch-2"})),
        (by_path({**SHOP, "/billing/charge": {**DECLINED, **REQUEST}}), ORDER, {},
         ok({"customerId": "c-1", "reason": "Provider.Call.Payments.CardDeclined", "requestId": "q-1"})),
        (by_path({**SHOP, "/inventory/check": [{"input": {"sku": "b"}, "value": {"available": False}},
                                               {"value": {"available": True}}]}), ORDER, {},
         bad("Orders.Rejected", previous={"code": "System.GatherCompletionUnmet"})),
        (by_path({**SHOP, "/billing/charge": {"never": True}}), ORDER, {"deadline": "PT10S"}, bad(EXCEEDED, "timeout")),
        (by_path({**SHOP, "/billing/charge": {**DOWN, **REQUEST}}), ORDER, {},
         bad(EXHAUSTED, previous={"code": "Provider.Call.Http.ConnectionFailed"}))],
}


def run_page(page, flow):
    for answers, value, arguments, expected in RUNS[page]:
        status, out, why = run(flow, answers, "--input", json.dumps(value), "--args", json.dumps(arguments))
        try:
            result = json.loads(out)
        except ValueError:
            result = None
        check(result is not None and part_of(expected, result),
              f"{page}: expected {json.dumps(expected)}, got status {status}: {out}{why}\n  {json.dumps(answers)}")


index = json.load(open(os.path.join(PAGES, "index.json")))
blocks, merged = {}, {}
n_run = n_data = 0
for row in index:
    text = open(os.path.join(PAGES, row["file"])).read()
    block = parse(text)
    check(block is not None or row["kind"] == "other", f"{row['file']}: is not JSON and not members of an object")
    flow = flow_of(block) if block is not None else None
    if row["page"] in RUNS and flow is not None:  # the blocks of a page are one Flow
        merged.setdefault(row["page"], {}).update(flow)
    if flow is None:
        check(row["kind"] in ("object", "other", "members"), f"{row['file']}: a {row['kind']} that was not completed")
        n_data += 1
        continue
    n_run += 1
    whole = row["kind"] == "definition" and "..." not in text and "middleware/example" not in text
    status, out, why = run(text if whole else complete(flow), {"*": {"value": {}}}, "--input", "{}")
    check(status in (0, 1), f"{row['file']}: status {status}\n{why}\n{json.dumps(flow)[:2000]}")
for page, flow in merged.items():
    run_page(page, complete(flow))
check(set(merged) == set(RUNS), f"pages without a block: {set(RUNS) - set(merged)}")
print(f"{len(index)} blocks: {n_run} assembled and run, {n_data} read as data; {len(RUNS)} pages with their Results; "
      f"{failures} failed")
sys.exit(1 if failures else 0)
