#!/usr/bin/env python3
"""speed.py MWLVM: answers on a definition of 1,000 Steps take less than 50 ms of the processor.

The time of the processor is measured and not that of the clock, so that a busy machine changes
little. Each request is measured after an edit, so everything is computed again, as while one types.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from client import Client

URI = "file:///large.json"
LIMIT_MS = float(os.environ.get("MWL_LSP_MS", "50"))


def definition(n, pretty=True, many="many"):
    steps = {}
    for i in range(n):
        steps[f"step{i}"] = {
            "action": "Call",
            "comment": f"Step number {i} of {many}.",
            "input": f"{{{{ {{'order': step.input.order, 'number': vars.limit + {i}.0}} }}}}",
            "middleware": [{"provider": "mwl:provider.middleware/mwl/retry/v1", "onEntry": {"with": {"policies": [
                {"match": {"codes": ["*"]}, "attempts": 3, "backoff": {"initial": "PT1S"}}]}}}],
            "call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"value": {"total": "{{ call.input.number }}"}}},
            "assign": {f"total{i}": "{{ step.result.value.total }}"},
            "catch": [{"match": {"codes": ["*"]}, "next": "last"}],
            "next": f"step{i + 1}" if i + 1 < n else "last"}
    steps["last"] = {"action": "Return", "value": "{{ step.input }}"}
    whole = ({"$schema": "https://mwl.dev/v0.1/flow/schema.json",
                       "parameters": {"type": "object", "properties": {"limit": {"type": "number"}}},
                       "entrypoint": "step0", "steps": steps})
    return json.dumps(whole, indent=2) if pretty else json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def cpu_ms(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e6


def measure(client, uri, version, method, params, rounds=4):
    """The time of one request after an edit at the end."""
    total = 0.0
    for _ in range(rounds):
        version += 1
        before = cpu_ms(client.process.pid)
        start = {"line": 0, "character": 1 << 30}  # behind the last character
        client.change(uri, version, {"range": {"start": start, "end": start}, "text": " "})
        client.request("textDocument/" + method, {"textDocument": {"uri": uri}, **params})
        total += cpu_ms(client.process.pid) - before
        client.diagnostics(uri, version)
    return total / rounds, version


def one_line(client):
    """The same on one line, with characters of several bytes: positions are found there as fast."""
    text = definition(1000, pretty=False, many="viële 😀")
    uri, slow = URI + ".line.json", []
    client.open(uri, text)
    client.diagnostics(uri, 1)
    at = text.index('"next":"step500"') + 10
    place = {"line": 0, "character": len(text[:at].encode("utf-16-le")) // 2}
    version = 1
    for method, params in (("documentSymbol", {}), ("completion", {"position": place}),
                           ("rename", {"position": place, "newName": "x"})):
        each, version = measure(client, uri, version, method, params)
        print(f"{method:16} {each:7.2f} ms on one line")
        if each > LIMIT_MS:
            slow.append(method + " on one line")
    return slow


def long_expression(client):
    """20,000 names in one expression: their places are found by one walk over its text."""
    text = json.dumps({"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
        "a": {"action": "Return", "value": "{{ " + " + ".join(["vars.x"] * 20000) + " }}"}}})
    uri, version, slow = URI + ".long.json", 1, []
    client.open(uri, text)
    client.diagnostics(uri, 1)
    place = {"line": 0, "character": text.index("vars.x") + 5}
    for method in ("documentHighlight", "definition", "references"):
        params = {"position": place, "context": {"includeDeclaration": True}}
        each, version = measure(client, uri, version, method, params, 1)
        print(f"{method:16} {each:7.2f} ms in an expression of 20,000 names")
        slow += [method] if each > 10 * LIMIT_MS else []
    return slow


def main():
    text = definition(1000)
    lines = text.split("\n")
    client = Client([sys.argv[1], "lsp"])
    client.open(URI, text)
    client.diagnostics(URI, 1)
    middle = next(i for i, line in enumerate(lines) if '"next": "step500"' in line)
    value = next(i for i, line in enumerate(lines) if "vars.limit + 500.0" in line)
    name = {"line": middle, "character": lines[middle].index("step500") + 2}
    path = {"line": value, "character": lines[value].index("vars.limit") + 5}
    word = {"line": middle, "character": lines[middle].index("next") + 1}
    methods = [("completion", name, {}), ("completion", path, {}), ("completion", word, {}), ("hover", name, {}),
               ("hover", path, {}), ("definition", name, {}), ("references", path, {"context": {"includeDeclaration": True}}),
               ("rename", name, {"newName": "other"}), ("documentSymbol", name, {}), ("diagnostics", None, {}),
               ("codeAction", None, {"range": {"start": name, "end": name}, "context": {"diagnostics": []}})]
    version, slow = 1, []
    comment = next(i for i, line in enumerate(lines) if "Step number 500 of" in line)
    end = {"line": comment, "character": lines[comment].index(" of many")}
    for method, at, more in methods:
        total, rounds = 0.0, 4
        for _ in range(rounds):
            version += 1
            before = cpu_ms(client.process.pid)
            client.change(URI, version, {"range": {"start": end, "end": end}, "text": "x"})
            if method == "diagnostics":
                client.diagnostics(URI, version)
                total += cpu_ms(client.process.pid) - before
                continue
            params = {"textDocument": {"uri": URI}, **more}
            if at:
                params["position"] = at
            client.request("textDocument/" + method, params)
            total += cpu_ms(client.process.pid) - before
            client.diagnostics(URI, version)
        each = total / rounds
        print(f"{method:16} {each:7.2f} ms")
        if each > LIMIT_MS:
            slow.append(method)
    slow += one_line(client) + long_expression(client)
    assert client.end() == 0
    if slow:
        print(f"slower than {LIMIT_MS} ms: {', '.join(slow)}")
    return 1 if slow else 0


sys.exit(main())
