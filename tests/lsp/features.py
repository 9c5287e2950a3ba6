#!/usr/bin/env python3
"""features.py MWLVM: what `mwlvm lsp` answers, request by request, in valid and in broken texts.

A `|` in a text is the cursor. Each check says what the language has at that place.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from client import Client

MWLVM = sys.argv[1]
URI = "file:///flow.json"
failures = []


def check(what, condition, shown=""):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}: {shown}")


def position(text, offset):
    """Line and UTF-16 character of an offset."""
    before = text[:offset]
    line = before.count("\n")
    rest = before[before.rfind("\n") + 1:]
    return {"line": line, "character": len(rest.encode("utf-16-le")) // 2}


def place(marked):
    at = marked.index("|")
    text = marked[:at] + marked[at + 1:]
    return text, position(text, at)


def inside(text, range_):
    """The part of the text that a range means."""
    lines = text.split("\n")
    start, end = range_["start"], range_["end"]
    assert start["line"] == end["line"], range_
    units = lines[start["line"]].encode("utf-16-le")
    return units[2 * start["character"]:2 * end["character"]].decode("utf-16-le")


def ask(client, method, marked, **more):
    text, at = place(marked)
    client.open(URI, text)
    params = {"textDocument": {"uri": URI}, "position": at}
    params.update(more)
    return text, client.request("textDocument/" + method, params)


def labels(client, marked):
    return [item["label"] for item in ask(client, "completion", marked)[1]["items"]]


def offset(text, at):
    """The offset of a position; lines end with a line feed, a carriage return or both."""
    start = 0
    for line in text.splitlines(keepends=True)[:at["line"]]:
        start += len(line)
    return start + len(text[start:].encode("utf-16-le")[:2 * at["character"]].decode("utf-16-le"))


def apply(text, edits):
    """Makes edits, from the last to the first."""
    for edit in sorted(edits, key=lambda e: offset(text, e["range"]["start"]), reverse=True):
        begin, end = offset(text, edit["range"]["start"]), offset(text, edit["range"]["end"])
        text = text[:begin] + edit["newText"] + text[end:]
    return text


HEAD = '{ "$schema": "https://mwl.dev/v0.1/flow/schema.json",\n'
FLOW = HEAD + ''' "parameters": { "type": "object", "properties": {
   "limit": { "type": "number", "description": "The most." },
   "order": { "type": "object", "properties": { "id": { "type": "string" } } } } },
 "entrypoint": "first",
 "steps": {
  "first": { "action": "Call", "comment": "It pays.",
   "call": { "provider": "mwl:provider.call/mwlvm/http/v1", "with": { "url": "{{ vars.order.id }}" } },
   "assign": { "total": "{{ step.result.value.total }}" },
   "catch": [{ "match": { "codes": ["*"] }, "assign": { "total": 0 }, "next": "last" }],
   "next": "last" },
  "last": { "action": "Return", "value": "{{ vars.total + vars.limit }}" } } }
'''


def diagnostics(c):
    text = FLOW.replace('"next": "last" },', '"next": "lest" },')
    c.open(URI, text)
    found = c.diagnostics(URI, 1)
    unknown = [d for d in found if d["code"] == "MWL0301"]
    check("an unknown Step is reported", len(unknown) == 1, found)
    check("at its name", inside(text, unknown[0]["range"]) == '"lest"', unknown)
    check("as an error", unknown[0]["severity"] == 1 and "did you mean" in unknown[0]["message"])
    actions = c.request("textDocument/codeAction", {
        "textDocument": {"uri": URI}, "range": unknown[0]["range"], "context": {"diagnostics": unknown}})
    quick = [a for a in actions if a["kind"] == "quickfix"]
    check("with a repair", len(quick) == 1, actions)
    check("that mends it", apply(text, quick[0]["edit"]["changes"][URI]) == FLOW)
    check("and one for all", any(a["kind"] == "source.fixAll.mwl" for a in actions), actions)
    only = c.request("textDocument/codeAction", {
        "textDocument": {"uri": URI}, "range": unknown[0]["range"],
        "context": {"diagnostics": [], "only": ["source.fixAll"]}})
    check("the editor can ask for that alone", [a["kind"] for a in only] == ["source.fixAll.mwl"], only)
    at = unknown[0]["range"]["start"]
    hover = c.request("textDocument/hover", {"textDocument": {"uri": URI},
                                             "position": {"line": at["line"], "character": at["character"] + 1}})
    check("the explanation is in the hover", "MWL0301 unknown-step" in hover["contents"]["value"], hover)
    c.open(URI, FLOW)
    found = c.diagnostics(URI, 1)
    check("the whole is clean", found == [], found)
    c.open(URI, '{"some": "other", "json": [1, 2}')
    check("JSON of others is left alone", c.diagnostics(URI, 1) == [])
    c.open(URI, '{"entrypoint": }', language="mwl")
    found = c.diagnostics(URI, 1)
    check("unless the editor says that it is ours", found and "expected a value" in found[0]["message"], found)


def synchronises(c):
    c.open(URI, FLOW)
    wrong = FLOW.index('"last" },')
    c.change(URI, 2, {"range": {"start": position(FLOW, wrong + 1), "end": position(FLOW, wrong + 5)}, "text": "lust"})
    check("an edit of a range", c.diagnostics(URI, 2)[0]["code"] == "MWL0301")
    c.change(URI, 3, {"text": FLOW})
    check("an edit of everything", c.diagnostics(URI, 3) == [])
    smile = FLOW.replace("It pays.", "It 😀 pays.")
    c.change(URI, 4, {"text": smile})
    at = smile.index("😀") + 1
    end = position(smile, at)
    c.change(URI, 5, {"range": {"start": end, "end": end}, "text": "\\"})  # "\ " is not an escape
    found = c.diagnostics(URI, 5)
    check("positions count UTF-16", found and found[0]["range"]["start"] == end, found)
    middle = {"line": end["line"], "character": end["character"] - 1}
    c.change(URI, 6, {"range": {"start": middle, "end": {"line": end["line"], "character": end["character"] + 1}},
                      "text": ""})
    check("a place inside a character is its beginning", c.diagnostics(URI, 6) == [])


def completes(c):
    names = labels(c, FLOW.replace('"next": "last" },', '"next": "|" },'))
    check("Step names", names == ["first", "last"], names)
    broken = HEAD + '"steps": { "last": { "action": "Return" }, "first": { "action": "Pass", "next": |'
    check("Step names in a text that ends there", labels(c, broken) == ["last", "first"], labels(c, broken))
    names = labels(c, FLOW.replace("mwlvm/http/v1", "|"))
    check("providers", "mwl:provider.call/mwlvm/http/v1" in names and not any("middleware" in n for n in names), names)
    names = labels(c, HEAD + '"steps": { "a": { "middleware": [{ "provider": "|')
    check("middleware", "mwl:provider.middleware/mwl/retry/v1" in names and not any(".call/" in n for n in names), names)
    names = labels(c, FLOW.replace('"url": "{{ vars.order.id }}"', '"url": "", "|"'))
    check("arguments from the document", "method" in names and "url" not in names and "argv" not in names, names)
    names = labels(c, HEAD + '"steps": { "a": { "middleware": [{ "provider": "mwl:provider.middleware/mwl/retry/v1",'
                   ' "onEntry": { "with": { "policies": [{ "|')
    check("arguments inside arguments", "attempts" in names and "backoff" in names, names)
    names = labels(c, HEAD + '"steps": { "a": { "action": "Sleep", "|')
    check("members of a Step by its action", "for" in names and "call" not in names and "action" not in names, names)
    names = labels(c, HEAD + '"steps": { "a": { "action": "|"')
    check("actions", names == ["Call", "Gather", "Match", "Pass", "Sleep", "Return", "Raise"], names)
    names = labels(c, FLOW.replace('"codes": ["*"]', '"codes": ["|"]'))
    check("codes of the provider", "Provider.Call.Http.Throttled" in names and "*" in names, names)
    names = labels(c, HEAD + '"flows": { "inner": { "steps": {} } }, "steps": { "a": { "call": { "flow": "|"')
    check("Flows", names == ["inner"], names)
    names = labels(c, HEAD + '"flows": { "inner": { "parameters": { "properties": { "most": {} } }, "steps": {} } }, '
                   '"steps": { "a": { "call": { "flow": "inner", "with": { "|')
    check("arguments of a Flow", names == ["most"], names)
    names = labels(c, FLOW.replace('"assign": { "total": 0 }', '"assign": { "|" }'))
    check("variables that are there", names == ["limit", "order", "total"], names)
    names = labels(c, HEAD + '"entrypoint": "begin", "steps": { "|')
    check("Steps that are wanted", names == ["begin"], names)
    text, answer = ask(c, "completion", FLOW.replace('"next": "last" },', '"ne|" },'))
    item = next(i for i in answer["items"] if i["label"] == "next")
    check("what is typed is replaced", inside(text, item["textEdit"]["range"]) == '"ne"', item)
    check("with a place for the value", item["textEdit"]["newText"].startswith('"next": '), item)


def completes_expressions(c):
    def at(expression, where="value"):
        return labels(c, FLOW.replace('"{{ vars.total + vars.limit }}"', '"' + expression))
    names = at("{{ |")
    check("roots", "vars" in names and "step" in names and "size" in names and "has" in names, names)
    check("only those that exist here", "middleware" not in names and "call" not in names, names)
    names = at("{{ vars.|")
    check("variables and parameters", names == ["limit", "order", "total"], names)
    names = at("{{ vars.to| }}\" } } }")
    check("variables when one is begun", "total" in names, names)
    check("members of a parameter", at("{{ vars.order.|") == ["id"], at("{{ vars.order.|"))
    names = at("{{ step.|")
    check("members of a root", "input" in names and "metadata" in names, names)
    names = at("{{ math.|")
    check("functions of a namespace", "greatest" in names and "size" not in names, names)
    names = at("{{ f(x).|")
    check("methods of what is not known", "startsWith" in names and "map" in names and "vars" not in names, names)
    names = labels(c, FLOW.replace("step.result.value.total", "step.result.|"))
    check("members of a Result", "value" in names and "code" in names, names)
    check("nothing in a text of an expression", at("{{ 'vars.|") == [])
    text = HEAD + ('"steps": { "a": { "action": "Call", "middleware": [{ "provider": '
                   '"mwl:provider.middleware/mwl/retry/v1", "onFailure": { "when": "{{ middleware.metadata.|')
    names = labels(c, text)
    check("what a middleware counts", "attempt" in names or "attempts" in names, names)


def hovers(c):
    def text_of(marked):
        answer = ask(c, "hover", marked)[1]
        return answer["contents"]["value"] if answer else ""
    check("a member", "The Step that follows" in text_of(FLOW.replace('"next": "last" },', '"ne|xt": "last" },')))
    check("a provider", "HTTP request" in text_of(FLOW.replace("mwlvm/http/v1", "mwlvm/h|ttp/v1")))
    check("an argument", "The URL" in text_of(FLOW.replace('"url":', '"u|rl":')))
    check("a Step that is named", "It pays." in text_of(FLOW.replace('"entrypoint": "first"', '"entrypoint": "fi|rst"')))
    check("a variable", "The most." in text_of(FLOW.replace("vars.limit }}", "vars.li|mit }}")))
    hover = text_of(FLOW.replace("{{ vars.total + vars.limit }}", "{{ si|ze(vars.order.id) }}"))
    check("a function", "size(" in hover, hover)
    check("the type of an expression", "`int`" in hover, hover)
    check("an action", "Ends the Flow" in text_of(FLOW.replace('"Return"', '"Re|turn"')))


def navigates(c):
    text, found = ask(c, "definition", FLOW.replace('"next": "last" },', '"next": "la|st" },'))
    check("the definition of a Step", [inside(text, f["range"]) for f in found] == ["last"] and
          found[0]["range"]["start"]["line"] == 11, found)
    text, found = ask(c, "references", FLOW.replace('"last": {', '"la|st": {'), context={"includeDeclaration": True})
    check("references of a Step", [f["range"]["start"]["line"] for f in found] == [9, 10, 11], found)
    text, found = ask(c, "references", FLOW.replace("vars.limit", "vars.lim|it"), context={"includeDeclaration": False})
    check("references of a variable", [f["range"]["start"]["line"] for f in found] == [11], found)
    text, found = ask(c, "definition", FLOW.replace("vars.total +", "vars.to|tal +"))
    check("the definition of a variable", [f["range"]["start"]["line"] for f in found] == [8, 9], found)
    nested = HEAD + ''' "flows": { "inner": { "entrypoint": "last", "steps": { "last": { "action": "Return" } } } },
 "entrypoint": "last", "steps": { "last": { "action": "Call", "call": { "flow": "inn|er" } } } }'''
    text, found = ask(c, "definition", nested)
    check("the definition of a Flow", found[0]["range"]["start"]["line"] == 1, found)
    text, edit = ask(c, "rename", FLOW.replace('"last": {', '"la|st": {'), newName='the "end"')
    renamed = apply(text, edit["changes"][URI])
    check("a Step is renamed everywhere", renamed == FLOW.replace('"last"', '"the \\"end\\""'), renamed)
    text, edit = ask(c, "rename", nested.replace("inn|er", "inner").replace('"steps": { "last": { "action": "Call"',
                                                                       '"steps": { "la|st": { "action": "Call"'),
                     newName="other")
    check("only in its Flow", len(edit["changes"][URI]) == 2 and
          all(e["range"]["start"]["line"] == 2 for e in edit["changes"][URI]), edit)
    text, at = place(FLOW.replace('"last": {', '"la|st": {'))
    answer = c.ask("textDocument/rename", {"textDocument": {"uri": URI}, "position": at, "newName": "first"})
    check("not to a name that is there", "error" in answer, answer)
    text, edit = ask(c, "rename", FLOW.replace("vars.total +", "vars.to|tal +"), newName="sum")
    check("a variable is renamed too", apply(text, edit["changes"][URI]) ==
          FLOW.replace('"total": ', '"sum": ').replace("vars.total +", "vars.sum +"))
    text, found = ask(c, "prepareRename", FLOW.replace('"Return"', '"Re|turn"'))
    check("an action has no name of yours", found is None, found)


def shows_symbols(c):
    text, found = ask(c, "documentSymbol", "|" + FLOW)
    check("symbols", [(s["name"], s["detail"]) for s in found] == [("first", "Call"), ("last", "Return")], found)
    text, found = ask(c, "documentSymbol", "|" + FLOW[:FLOW.index('"last": {') + 20])
    check("symbols of a text that is broken off", [s["name"] for s in found] == ["first", "last"], found)


def formats(c):
    def formatted(text):
        c.open(URI, text)
        return apply(text, c.request("textDocument/formatting", {
            "textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}}))
    wanted = subprocess.run([MWLVM, "fmt", "--stdin"], input=FLOW, capture_output=True, text=True, check=True).stdout
    check("formatting is that of fmt", formatted(FLOW) == wanted, formatted(FLOW))
    check("what is formatted stays", formatted(wanted) == wanted)
    smile = FLOW.replace("It pays.", "Ünïcödé 😀")
    check("with other characters", formatted(smile) == wanted.replace("It pays.", "Ünïcödé 😀"))
    check("and other line ends", formatted(FLOW.replace("\n", "\r\n")) == wanted)
    check("a broken text stays", formatted(FLOW[:300]) == FLOW[:300])
    check("an empty one too", formatted("") == "")


def keeps_the_protocol():
    c = Client([MWLVM, "lsp"], started=False)
    check("first initialize", c.ask("textDocument/hover", {})["error"]["code"] == -32002)
    answer = c.request("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-16", "utf-8"]}}})
    check("UTF-8 when it is offered", answer["capabilities"]["positionEncoding"] == "utf-8", answer)
    check("an unknown request", c.ask("workspace/nothing", {})["error"]["code"] == -32601)
    c.notify("$/nothing", {})
    c.send_raw(b"Content-Length: 9\r\nContent-Type: x\r\n\r\n{\"broken\"")
    answer = c.read()
    check("text that is not JSON", answer["error"]["code"] == -32700 and answer["id"] is None, answer)
    check("a document that is not open", "error" in c.ask("textDocument/hover", {"textDocument": {"uri": "x"}}))
    c.request("shutdown", None)
    check("nothing after shutdown", "error" in c.ask("textDocument/hover", {"textDocument": {"uri": "x"}}))
    c.notify("exit", None)
    check("0 after shutdown and exit", c.process.wait(60) == 0)
    c = Client([MWLVM, "lsp"])
    c.process.stdin.close()
    check("1 when the editor only leaves", c.process.wait(60) == 1)
    c = Client([MWLVM, "lsp"])
    c.send_raw(b"hello\r\n\r\n")
    check("1 after a header without a length", c.process.wait(60) == 1)


def knows_providers():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "examples", "testing")
    document = os.path.join(folder, "pay.provider.json")
    with open(os.path.join(folder, "order.json"), encoding="utf-8") as file:
        order = file.read()
    c = Client([MWLVM, "lsp"])
    c.open(URI, order)
    check("an unknown provider", any("no provider" in d["message"] for d in c.diagnostics(URI, 1)))
    with open(document, encoding="utf-8") as file:
        text = file.read()
    c.open("file:///pay.json", text)
    check("a provider document is clean", c.diagnostics("file:///pay.json", 1) == [])
    c.open("file:///pay.json", text.replace('"codePrefix"', '"codePrefixx"'), version=2)
    check("or not", c.diagnostics("file:///pay.json", 2) != [])
    check("it ends", c.end() == 0)
    c = Client([MWLVM, "lsp", "--provider", document, "--deny", "warnings"])
    c.open(URI, order)
    found = c.diagnostics(URI, 1)
    check("a provider of one's own", not any("no provider" in d["message"] for d in found), found)
    check("is completed", any("/pay/" in name for name in labels(c, HEAD + '"steps": { "a": { "call": { "provider": "|')))
    check("it ends", c.end() == 0)


client = Client([MWLVM, "lsp"])
for part in (diagnostics, synchronises, completes, completes_expressions, hovers, navigates, shows_symbols,
             formats):
    part(client)
check("the server ends well", client.end() == 0)
knows_providers()
keeps_the_protocol()
print(f"{len(failures)} checks failed" if failures else "all checks hold")
sys.exit(1 if failures else 0)
