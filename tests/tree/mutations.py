#!/usr/bin/env python3
"""The edits of mutations.txt.

  mutations.py                     checks that the text of every edit is in its file
  mutations.py NAME SOURCE TARGET  writes SOURCE with the edit NAME made to TARGET
  mutations.py --targets BUILD PATTERN  prints what to build for the entries of ctest that match

White space in an edit's text stands for any white space, so that formatting does not matter.
The first place where the text is found is the one that is edited.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def read_edits():
    edits = {}
    edit = None
    for line in open(os.path.join(HERE, "mutations.txt")):
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "name":
            edit = edits.setdefault(rest, {})
        elif edit is not None and word in ("file", "-", "+"):
            edit[word] = rest
    return edits


def apply(edit, text):
    """The edited text, or None when there is nothing to edit."""
    pattern = r"\s+".join(re.escape(word) for word in edit["-"].split())
    found = re.search(pattern, text)
    return found and text[: found.start()] + edit["+"] + text[found.end() :]


def targets(build, pattern):
    """The programs of the build that the entries name. An entry whose program is not built yet has no command: its name is that of
    the program."""
    out = subprocess.run(["ctest", "--show-only=json-v1", "-R", pattern], cwd=build, capture_output=True, text=True, check=True).stdout
    words = {word for test in json.loads(out)["tests"] for word in test.get("command", [os.path.join(build, test["name"])])}
    return sorted(os.path.relpath(w, build) for w in words if os.path.dirname(w) == build)


def main(args):
    edits = read_edits()
    if args[:1] == ["--targets"]:
        print("\n".join(targets(os.path.abspath(args[1]), args[2])))
        return None
    if len(args) == 3:
        edited = apply(edits[args[0]], open(args[1]).read())
        if edited is None:
            return f"{args[0]}: its text is not in {args[1]}"
        open(args[2], "w").write(edited)
        return None
    lost = [
        f"{name}: its text is not in {edit['file']}"
        for name, edit in edits.items()
        if apply(edit, open(os.path.join(HERE, "../..", edit["file"])).read()) is None
    ]
    print("\n".join(lost + [f"{len(edits)} edits, {len(lost)} without a place"]))
    return 1 if lost else None


sys.exit(main(sys.argv[1:]))
