#!/usr/bin/env python3
"""words.py: words that CONTRIBUTING.md's list replaces are not used any more.

EVERYWHERE holds for sources and pages, SHOWN only for what users read: texts in the sources of the library and of
the command, the public headers, the pages. Words that a test or a table quotes are in back quotes there. A comment above
a function does not begin with "What".
"""
import os
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOPS = ("vm/", "assembler/", "stdlib/", "tools/")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md", "bench/README.md")
EVERYWHERE = {
    r"belongs? into": "belongs in",
    r"memory (?:is|was) out": "out of memory",
    r"(?:has settled and|it) is gone": "was freed, has ended",
    r"at hand": "current, present",
    r"nobody": "nothing, no caller",
    r"whoever": "the process that, everyone who",
}
SHOWN = {
    r"(?<!there )(?<!that )(?:is|are) no (?!longer|more|limit)(?:[a-z]+ )?[a-z]+": "is not a",
    r"yields no": "is not a",
    r"tells (?:its|how|what|of|the usage)": "reports, prints, says",
    r"once more ends": "a second one ends",
    r"of (?:its|their|your|our) own(?! \w+s\b)": "its own NOUN",
    r"(?<!there )(?:is|are) none": "is not a",
    r"behind (?:it|its|number|the|an?(?! proxy))": "after",
    r"right behind": "right after",
    r"goals?|complaints?|was not kept": "the fact alone",
}
# A comment above a function begins with a verb (Returns, Adds, Checks), so not with "What".
WHAT = re.compile(r"^/\*\s+What\b(?:(?!\*/).)*\*/\n(?!#)[^\n;=]*\(", re.M | re.S)


def compiled(words):
    return re.compile("|".join(r"\b(%s)\b" % word for word in words), re.I), list(words.values())


EVERYWHERE, SHOWN = compiled(EVERYWHERE), compiled(SHOWN)


def files():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True).stdout.split()
    if not out:  # not a clone
        out = [os.path.relpath(os.path.join(path, name), ROOT) for path, _, names in os.walk(ROOT) for name in names]
    return sorted(f for f in out if f in PAGES or f.startswith(TOPS) and f.endswith((".c", ".h", ".md")))


def shown(file, text):
    """What users read: pieces of the text, and where they begin."""
    if file.endswith(".md") or re.search(r"(^|/)mwl(_\w+)?\.h$", file):
        return [(0, text)]
    found = re.finditer(r'/\*.*?\*/|("(?:\\.|[^"\\\n])*")', text, re.S)
    return [(piece.start(), piece.group(1)) for piece in found if piece.group(1)]


def main():
    problems = []
    names = files()
    for file in names:
        text = open(os.path.join(ROOT, file), errors="replace").read()
        if file == "CONTRIBUTING.md":
            text = text.partition("## Words")[0]  # the list itself
        for words, pieces in ((EVERYWHERE, [(0, text)]), (SHOWN, shown(file, text))):
            for begin, piece in pieces:
                for found in words[0].finditer(piece):
                    line = text.count("\n", 0, begin + found.start()) + 1
                    problems.append(f"{file}:{line}: '{found.group(0)}'; write: {words[1][found.lastindex - 1]}")
        for found in WHAT.finditer(text) if file.endswith((".c", ".h")) else ():
            problems.append(f"{file}:{text.count(chr(10), 0, found.start()) + 1}: a comment of a function begins with a verb")
    print("\n".join(problems + [f"{len(names)} files, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
