#!/usr/bin/env python3
"""edits.py MWLVM [--count N] [--seed S]: random edits of a definition, as a person makes them.

Text is typed character by character, cut, pasted somewhere else, and undone; between edits the
server is asked at random places. It must answer everything, its text must stay the one of the
client (a second document with the same text gets the same diagnostics), and its memory must not
grow with the number of edits.
"""
import argparse
import glob
import os
import random
import sys

sys.dont_write_bytecode = True
from client import Client

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
URI = "file:///edited.json"
TYPED = ['"next": "', '"{{ vars.', "}}", "{", "}", "[", "]", ",", ":", '"', "\\", "\\u00e9", "\n", "\r\n", "\r", " ",
         "vars.", "step.result.value", "size(", ")", "😀", "é", '"catch": [{ "match": { "codes": ["*"] }, "next": ',
         '"flow": {', '"steps": {', "true", "1e9", "//", "'", "has(", "\t", "x" * 50]
ASKED = ["completion", "hover", "definition", "references", "documentHighlight", "documentSymbol", "codeAction",
         "prepareRename", "rename"]


class Text:
    """The client's text, with lines as the protocol has them, counted as the two have agreed."""

    def __init__(self, text, encoding):
        self.text = text
        self.encoding = encoding

    def units(self, text):
        return len(text.encode()) if self.encoding == "utf-8" else len(text.encode("utf-16-le")) // 2

    def position(self, offset):
        before = self.text[:offset]
        if before.endswith("\r") and self.text[offset:offset + 1] == "\n":
            offset -= 1
            before = before[:-1]
        flat = before.replace("\r\n", "\n").replace("\r", "\n")
        return {"line": flat.count("\n"), "character": self.units(flat[flat.rfind("\n") + 1:])}

    def place(self, rng):
        """A random offset that is not between a carriage return and its line feed."""
        at = rng.randint(0, len(self.text))
        return at - 1 if self.text[at - 1:at + 1] == "\r\n" else at


def memory_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def edit(client, text, rng, version, begin, end, new):
    change = {"range": {"start": text.position(begin), "end": text.position(end)}, "text": new}
    text.text = text.text[:begin] + new + text.text[end:]
    client.change(URI, version, change)


def one_edit(client, text, rng, version, state):
    kind = rng.random()
    if len(text.text) > 30000:  # back to the beginning, so that texts stay of one size
        text.text = state["first"]
        client.change(URI, version, {"text": text.text})
    elif kind < 0.6:  # typed
        if not state["typing"]:
            state["typing"] = list(rng.choice(TYPED))
            state["at"] = text.place(rng)
        letter = state["typing"].pop(0)
        at = min(state["at"], len(text.text))
        if text.text[at - 1:at + 1] == "\r\n":
            at -= 1
        edit(client, text, rng, version, at, at, letter)
        state["at"] = at + len(letter)
    elif kind < 0.8:  # cut
        begin = text.place(rng)
        end = min(len(text.text), begin + rng.choice([1, 1, 1, 5, 30, 400]))
        if text.text[end - 1:end + 1] == "\r\n":
            end += 1
        state["clip"] = text.text[begin:end]
        edit(client, text, rng, version, begin, end, "")
    elif kind < 0.97:  # pasted
        at = text.place(rng)
        edit(client, text, rng, version, at, at, state["clip"])
    else:
        text.text = state["first"]
        client.change(URI, version, {"text": text.text})


def ask(client, text, rng):
    method = rng.choice(ASKED)
    at = text.position(text.place(rng))
    params = {"textDocument": {"uri": URI}, "position": at, "newName": rng.choice(["x", "a b", ""]),
              "context": {"includeDeclaration": True, "diagnostics": []}, "range": {"start": at, "end": at}}
    answer = client.ask("textDocument/" + method, params)
    assert "result" in answer or method == "rename", answer
    client.notices.clear()


def compare(client, text, version):
    """The server's text is the client's: another document with it has the same diagnostics."""
    client.change(URI, version, {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
                                 "text": ""})
    edited = client.diagnostics(URI, version)
    other = URI + ".other.json"
    client.open(other, text.text, version=version)
    fresh = client.diagnostics(other, version)
    client.notify("textDocument/didClose", {"textDocument": {"uri": other}})
    strip = [{**d, "relatedInformation": None} for d in edited], [{**d, "relatedInformation": None} for d in fresh]
    assert strip[0] == strip[1], f"the texts differ:\n{edited}\n{fresh}"


def session(mwlvm, count, rng, encoding):
    files = sorted(glob.glob(os.path.join(ROOT, "tools/examples/*.json"))) + \
        sorted(glob.glob(os.path.join(ROOT, "tests/diag/*.json")))
    client = Client([mwlvm, "lsp"], {"capabilities": {"general": {"positionEncodings": [encoding]}}})
    assert client.capabilities["capabilities"]["positionEncoding"] == encoding
    version, early = 1, None
    text, state = None, {}
    for i in range(count):
        if i % 100 == 0:
            with open(rng.choice(files), encoding="utf-8", errors="replace", newline="") as file:
                text = Text(file.read(), encoding)
            state = {"first": text.text, "typing": [], "clip": "", "at": 0}
            version += 1
            client.open(URI, text.text, version=version)
        version += 1
        one_edit(client, text, rng, version, state)
        if rng.random() < 0.3:
            ask(client, text, rng)
        if i % 50 == 49:
            version += 1
            compare(client, text, version)
        if i == count // 3:
            early = memory_kb(client.process.pid)
    grown = memory_kb(client.process.pid) - early
    print(f"{count} edits; memory after a third of them {early} KiB, then {grown:+} KiB ({encoding})")
    # a sanitizer keeps freed memory for a while, so there only its own limit applies
    limit = 300000 if os.environ.get("MWL_SANITIZED") else 4000
    assert grown < limit, "the memory grows"
    assert client.end() == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mwlvm")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    for encoding in ("utf-16", "utf-8"):
        session(options.mwlvm, options.count // 2, rng, encoding)


main()
