#!/usr/bin/env python3
"""examples.py MWLVM [--store]: the commands that pages and help texts show are run, and print what they show.

A page shows `$ COMMAND` in an indented block, and below it what is printed. A help text shows commands
below the word "Example"; what is printed is indented further. Every subcommand has one. The commands
run in an empty folder in which `tools` is that of the project. Those with $STORE need a database: with --store they are
run, and no others (tests/durable/fleet.py has one).
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ["tools/examples/patterns/README.md", "tools/EDITOR.md", "stdlib/durable/README.md"]
PRINTED = os.path.join(os.environ.get("MWL_SUITES", ""), "mwl/pages") # the blocks of the specification's pages
failures = []
n_run = 0


def run(where, command, wanted):
    global n_run
    if ("$STORE" in command) != ("--store" in sys.argv):
        return
    n_run += 1
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, "tools"), os.path.join(folder, "tools"))
        path = os.path.dirname(MWLVM) + os.pathsep + os.environ["PATH"]
        got = subprocess.run(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, env={**os.environ, "PATH": path})
        made = [f for f in os.listdir(folder) if f != "tools" and os.path.getsize(os.path.join(folder, f))]
    if got.returncode != 0:
        failures.append(f"{where}: {command}: status {got.returncode}\n{got.stderr}")
    elif not got.stdout and not made and wanted is None and not command.startswith("mwlvm check"):
        failures.append(f"{where}: {command}: nothing is printed and no file is made")
    elif wanted is not None and got.stdout.rstrip("\n") != wanted:
        failures.append(f"{where}: {command}: prints\n{got.stdout}instead of\n{wanted}")


def page(name):
    with open(os.path.join(ROOT, name)) as f:
        text = f.read()
    n = 0
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        lines = [line[4:] for line in block.splitlines()]
        if not lines[0].startswith("$ "):
            continue
        command = lines.pop(0)[2:]
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(0).strip()
        run(name, command, "\n".join(lines))
        n += 1
    if not n:
        failures.append(f"{name} shows no command")


def help_text(name):
    text = subprocess.run([MWLVM, name, "--help"], capture_output=True, text=True).stdout
    at = re.search(r"^Examples?:", text, re.M)
    if not at:
        failures.append(f"mwlvm {name} --help has no example")
        return
    lines = text[at.end():].split("\n\n")[0].replace("\\\n", "").splitlines()
    found = []
    for line in lines:
        words = line.strip()
        if re.match(r" {0,3}\S", line) and re.search(r"\bmwlvm ", line):
            found.append([re.sub(r" {2,}", " ", words), None])
        elif words and found:
            found[-1][1] = words if found[-1][1] is None else found[-1][1] + "\n" + words
    if not found:
        failures.append(f"mwlvm {name} --help has no example")
    for command, wanted in found:
        run(f"mwlvm {name} --help", command, wanted)


def as_printed(example, step, name):
    """The Step of an example is the one that the specification's page prints, if that page is there."""
    with open(os.path.join(ROOT, "tools/examples/patterns", example)) as f:
        ours = json.load(f)["steps"][step]
    for path in sorted(glob.glob(os.path.join(PRINTED, f"*{name}.*.json"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        at = text.find(f'"{step}": {{')
        if at < 0:
            continue
        printed, _ = json.JSONDecoder().raw_decode(text[at + len(step) + 4:])
        if printed != ours:
            failures.append(f"{example}: the Step {step} is not as {os.path.basename(path)} prints it")
        return
    if os.path.isdir(PRINTED):
        failures.append(f"{PRINTED} has no page '{name}' with the Step {step}")


for name in PAGES:
    page(name)
if "--store" not in sys.argv:
    as_printed("retry.json", "charge-payment", "retry-composition")
    as_printed("polling.json", "poll-job", "polling")
listing = subprocess.run([MWLVM, "help", "--all"], capture_output=True, text=True).stdout
for name in re.findall(r"^  (?!mwlvm)([a-z]+) ", listing, re.M):
    help_text(name)
for line in failures:
    print("FAIL", line)
print(f"{n_run} commands, {len(failures)} failures")
sys.exit(1 if failures else 0)
