#!/usr/bin/env python3
"""pages.py MWLVM PAGE...: runs the examples of pages, from the root of the repository.

An indented block that begins with `$ ` has commands and what they print; a line `...` stands for any
number of lines. Times of the wall clock may differ. A block after a line that ends in `FILE`: must be
that file.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MWLVM = os.path.abspath(sys.argv[1])
failures = 0


def blocks(text):
    """(line number, the line of prose before, lines) of each indented block."""
    lines = text.split("\n")
    at = 0
    prose = ""
    while at < len(lines):
        if not lines[at].startswith("    "):
            prose = lines[at] if lines[at].strip() else prose
            at += 1
            continue
        begin = at
        block = []
        while at < len(lines) and (lines[at].startswith("    ") or
                                   (not lines[at].strip() and at + 1 < len(lines) and
                                    lines[at + 1].startswith("    "))):
            block.append(lines[at][4:])
            at += 1
        yield begin + 1, prose, block


def plain(text):
    return re.sub(r"\b\d+\.\d\d s\b", "T s", text.rstrip())


def matches(expected, actual):
    """Both are lists of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and plain(expected[0]) == plain(actual[0]) and matches(expected[1:], actual[1:])


def run(page, line, command, expected):
    global failures
    words = re.sub(r"(^|\| |&& )(build/)?mwlvm ", lambda m: m.group(1) + MWLVM + " ", command)
    done = subprocess.run(words, shell=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    actual = done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []
    while expected and not expected[-1].strip():
        expected.pop()
    if not matches(expected, actual):
        failures += 1
        print(f"FAIL {page}:{line}: $ {command}\n--- printed\n{done.stdout}--- expected\n" +
              "\n".join(expected))


def page(name):
    global failures
    n = 0
    for line, prose, block in blocks(open(os.path.join(ROOT, name)).read()):
        file = re.search(r"`([^`]+)`:$", prose.strip())
        if block[0].startswith("$ "):
            command, expected = None, []
            for text in block + ["$ "]:
                if text.startswith("$ "):
                    if command:
                        run(name, line, command, expected)
                        n += 1
                    command, expected = text[2:], []
                elif command and command.endswith("\\"):
                    command = command[:-1] + text.strip()
                else:
                    expected.append(text)
        elif file and os.path.exists(os.path.join(ROOT, file.group(1))):
            n += 1
            if open(os.path.join(ROOT, file.group(1))).read().rstrip() != "\n".join(block).rstrip():
                failures += 1
                print(f"FAIL {name}:{line}: this is not {file.group(1)}")
    return n


count = sum(page(name) for name in sys.argv[2:])
print(f"{count} examples, {failures} failed")
sys.exit(1 if failures or not count else 0)
