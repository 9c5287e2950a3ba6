#!/usr/bin/env python3
"""figures.py MWL-BENCH: measures every case and writes bench/FIGURES.md (`tools/dev bench --figures`).

Times come from `mwl-bench --json`, instructions from baseline.json, and where they go from callgrind: a case is
performed N and 3 N times, as instructions.c does it, and what the second took more is divided by function.
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "FIGURES.md")
PROFILED = ("wf/", "expr/", "schema/validate", "asm/m_asm1000", "asm/m_load1000")
SHOWN, LEAST = 8, 3.0  # functions of a case, and the least per cent of one


def machine():
    text = open("/proc/cpuinfo").read() if os.path.exists("/proc/cpuinfo") else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.M)
    return f"{os.cpu_count()} cores {model.group(1) if model else 'of an unknown kind'}, load {os.getloadavg()[0]:.1f}"


def in_units(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.1f} ns" if ns < 100 else f"{ns:.0f} ns"


def counted(n):
    return f"{n / 1e6:.2f} M" if n >= 1e6 else f"{n:,.0f}"


def shown(line):
    """A line of mwl-bench as cells: time or bytes, spread, processor time, allocations, further figures."""
    value = in_units if line["unit"] == "ns/op" else lambda x: f"{x:.0f} B"
    spread = (line["max"] - line["min"]) / line["median"] if line["median"] else 0
    further = []
    for name, text in (
        ("rss", "{:.0f} B resident"),
        ("live", "{:.0f} B live"),
        ("last_by_first", "the last tenth costs {:.2f} of the first"),
        ("throughput", "{:.2f} times the throughput of one thread"),
        ("runs_per_second", "{:,.0f} runs a second"),
    ):
        if name in line:
            further.append(text.format(line[name]))
    if "startNs" in line:
        further.append(f"{in_units(line['startNs'])} to park")
    return [
        value(line["median"]),
        f"{spread:.0%}" if line["max"] > line["min"] else "",
        in_units(line["cpu"]) if "cpu" in line else "",
        f"{line['allocs']:.1f}; {line['bytes']:.0f} B" if "allocs" in line else "",
        ", ".join(further),
    ]


def by_function(bench, case, n, folder):
    """Instructions of a process that performs the case n times, by function."""
    file = os.path.join(folder, "out")
    words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", bench, "--once", case, str(n)]
    subprocess.run(words, check=True, capture_output=True)
    text = subprocess.run(["callgrind_annotate", "--threshold=100", file], check=True, capture_output=True, text=True).stdout
    cost = {}
    for amount, name in re.findall(r"^ *([\d,]+) \(.*?\)  .*?:(\S+)", text, re.M):
        name = re.sub(r"\.(lto_priv|constprop|isra|part|cold).*", "", name.split("'")[0])
        cost[name] = cost.get(name, 0) + int(amount.replace(",", ""))
    return cost


def where(bench, case, n):
    with tempfile.TemporaryDirectory() as folder:
        small, large = (by_function(bench, case, times, folder) for times in (n, 3 * n))
    cost = {name: large[name] - small.get(name, 0) for name in large}
    whole = sum(cost.values()) or 1
    first = sorted(cost.items(), key=lambda item: -item[1])[:SHOWN]
    return ", ".join(f"`{name}` {100 * c / whole:.0f}" for name, c in first if 100 * c / whole >= LEAST)


def main(bench):
    stored = json.load(open(os.path.join(HERE, "baseline.json")))
    page = [
        "# Figures",
        "",
        "Written by `tools/dev bench --figures`; do not edit. README.md says what the cases are and how to read this.",
        "",
        f"{datetime.date.today()}, {machine()}; times by {stored['compiler']}, a Release build with link-time optimisation.",
        f"Instructions: `baseline.json` of {stored['date']}, {stored['compiler']}, by {stored['counter']}.",
        "",
        "| case | time | spread | processor | allocations | instructions | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    done = subprocess.run([bench, "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in map(json.loads, done.splitlines()):
        name = f"{line['suite']}/{line['case']}"
        cells = shown(line)
        count = stored["cases"].get(name)
        cells.insert(4, counted(count["instructions"]) if count else "")
        page.append(f"| {name} | " + " | ".join(cells) + " |")
    page += [
        "",
        "## Where the instructions go",
        "",
        "By callgrind, in per cent of one operation: functions with 3 and more. Link-time optimisation puts others inside.",
        "",
        "| case | functions |",
        "| --- | --- |",
    ]
    for name, count in stored["cases"].items():
        if name.startswith(PROFILED):
            page.append(f"| {name} | {where(bench, name, count['n'])} |")
            print(page[-1], file=sys.stderr)
    with open(PAGE, "w") as file:
        file.write("\n".join(page) + "\n")


main(sys.argv[1])
