#!/usr/bin/env python3
"""readme.py [--write]: the figures of README.md: "How fast" from bench/PEERS.md, the weights of the parts from
bench/SIZES.md.

--write writes them, with the machine and the date of PEERS.md. Without it they are checked: a time is within a factor of
two of the present PEERS.md, a weight within a tenth of SIZES.md, so that README.md never claims what is not so any more.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
README = os.path.join(ROOT, "README.md")
BEGIN, END = "<!-- from bench/PEERS.md by bench/readme.py -->\n", "<!-- end -->\n"
ROWS = {
    "wf/a_min": "a run of a Pass and a Return, from its start to its Result",
    "wf/b_chain10": "ten Steps, each of which makes an object",
    "wf/c_retry": "a call that is tried three times",
    "wf/f_timeout": "a call that its time limit interrupts",
    "wf/e_fan1000": "a fan-out of 1,000 calls",
    "wf/g_parked, resident bytes": "memory of a run that waits",
}
COLUMNS = ["mwlvm", "Lua 5.4", "effect", "aws-local-stepfunctions"]
# What a time of "How fast" is not.
NOTE = """In the fan-out mwlvm asks a provider that answers at once, and Lua makes a coroutine for each element. The time limit
elapses in virtual time with mwlvm and Lua, and is a timer of a millisecond with the two engines."""
# How a row of the parts begins, and the rows of SIZES.md that it is the sum of. The first one is a sentence.
WEIGHTS = {
    "It is a command and a C library of ": ["`libmwlvm.so`"],
    "| the core library `libmwlvm`, without": ["the smallest `libmwlvm.so`: runs programs alone, `-Os`, needs libc alone"],
    "| the core library `libmwlvm` |": ["`libmwlvm.so`"],
    "| standard providers": ["stdlib/io"],
    "| durable runs": ["stdlib/durable"],
    "| the command": ["the command `mwlvm`"],
    "| of it the server": ["tools/serve"],
    "| of it the editors": ["tools/debug", "tools/lsp"],
}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def peers():
    """(the line with machine and date, {case: {column: figure}})"""
    text = open(os.path.join(ROOT, "bench/PEERS.md")).read()
    where = re.search(r"^(\d{4}-\d\d-\d\d, .*)$", text, re.M).group(1)
    lines = [line for line in text.split("\n") if line.startswith("|")]
    names = cells(lines[0])[1:]
    table = {}
    for line in lines[2:]:
        row = cells(line)
        table[row[0]] = {name: re.sub(r" \(.*\)", "", cell) for name, cell in zip(names, row[1:])}
    return where, table


def number(figure):
    value, unit = figure.split()
    return float(value) * UNITS[unit]


def made():
    where, table = peers()
    lines = [f"| {where.split(',')[0]} | {' | '.join(COLUMNS)} |", "| --- |" + " ---: |" * len(COLUMNS)]
    for case, words in ROWS.items():
        lines.append(f"| {words} | {' | '.join(table[case][c] for c in COLUMNS)} |")
    return BEGIN + "\n".join(lines) + f"\n\nMeasured {where} {NOTE}\n" + END


def parts():
    text = open(README).read()
    if BEGIN not in text or END not in text:
        sys.exit(f"README.md has no place for the table: {BEGIN.strip()} ... {END.strip()}")
    before, rest = text.split(BEGIN, 1)
    return before, rest.split(END, 1)[0], rest.split(END, 1)[1]


def weights(text, write):
    """(the text with the weights of SIZES.md, or unchanged; problems)"""
    lines = open(os.path.join(ROOT, "bench/SIZES.md")).read().split("\n")
    sizes = {row[0]: int(row[1].split()[0]) for row in map(cells, lines) if len(row) == 2 and row[1].endswith(" KiB")}
    problems = []
    for begin, rows in WEIGHTS.items():
        found = re.search(r"%s[^\n]*?(\d+) KiB" % re.escape(begin).replace(r"\ ", r"\s"), text)
        missing = [row for row in rows if row not in sizes]
        if missing or not found:
            problems.append(f"no row: {missing or begin}")
            continue
        weight = sum(sizes[row] for row in rows)
        if write:
            text = text[: found.start(1)] + str(weight) + text[found.end(1) :]
        elif not 0.9 <= int(found.group(1)) / weight <= 1.1:
            problems.append(f"README.md says {found.group(1)} KiB, bench/SIZES.md {weight}: {begin}")
    return text, problems


def main():
    before, present, after = parts()
    if "--write" in sys.argv:
        text, problems = weights(before + made() + after, True)
        open(README, "w").write(text)
        print("\n".join(problems), end="")
        return 1 if problems else 0
    _, table = peers()
    rows = {row[0]: row[1:] for row in map(cells, (line for line in present.split("\n") if line.startswith("|")))}
    _, problems = weights(before + after, False)
    for case, words in ROWS.items():
        for column, figure in zip(COLUMNS, rows.get(words, [])):
            if not 0.5 <= number(figure) / number(table[case][column]) <= 2:
                problems.append(f"{words}, {column}: README.md says {figure}, bench/PEERS.md {table[case][column]}")
        if words not in rows:
            problems.append(f"README.md has no row: {words}")
    print("\n".join(problems + [f"{len(rows) - 2} rows, {len(problems)} problems; bench/readme.py --write writes them"]))
    return 1 if problems else 0


sys.exit(main())
