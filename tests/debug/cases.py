#!/usr/bin/env python3
"""cases.py MWLVM FOLDER... [--all]: the debugger steps through the cases to their ends.

Each scenario is stepped through twice: forwards, and with a `back` after every stop. After `back` the
debugger must stand where it stood, after the next step where it was; and the Results must be equal to
each other and to that of `mwlvm run`. Without --all, some of the scenarios of each folder are taken.
"""
import argparse
import json
import os
import subprocess
import sys
import time

END = ("The run is over", "The run waits", "The run was ended")
MOST_BACK = 400  # stops after which a long scenario is only followed


def scenarios(folder):
    for path, _, files in sorted(os.walk(folder)):
        if "case.json" not in files:
            continue
        with open(os.path.join(path, "case.json"), encoding="utf-8") as file:
            names = json.load(file).get("scenarios", {})
        for name in names:
            yield os.path.join(path, "definition.json"), os.path.join(path, "scenarios", name)


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def options(scenario):
    """The options of a scenario, and whether it is cancelled from outside."""
    words = []
    for name, option in (("input", "--input"), ("arguments", "--args")):
        path = os.path.join(scenario, name + ".json")
        if os.path.exists(path):
            words += [option, "@" + path]
    control = read(os.path.join(scenario, "control.json")) or {}
    for name in ("fuel", "memory", "seed"):
        if name in control:
            words += ["--" + name, str(int(control[name]))]
    return words, control.get("cancelAfter")


class Debugger:
    """Sends commands and reads what is shown for each."""

    def __init__(self, mwlvm, definition, words, cancel):
        command = [mwlvm, "debug", definition, "--script", "-"] + words
        if cancel:
            command += ["--cancel-after", cancel]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, command):
        """The lines that a command shows. A second command marks their end."""
        self.process.stdin.write(command + "\nmark\n")
        self.process.stdin.flush()
        shown = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == "(mwl) mark":
                self.process.stdout.readline()
                return shown
            if not line.startswith("(mwl) "):
                shown.append(line)
        raise AssertionError("the debugger ended: " + self.process.stderr.read())

    def close(self):
        self.process.communicate("quit\n")
        assert self.process.returncode == 0, self.process.returncode


def over(shown):
    return bool(shown) and shown[0].startswith(END)


def forwards(debugger):
    shown, stops = debugger.ask(""), 1
    while not over(shown):
        shown = debugger.ask("step")
        stops += 1
    return shown[0], stops


def back_and_forth(debugger):
    before, stops = debugger.ask(""), 1
    while True:
        shown = debugger.ask("step")
        if stops < MOST_BACK:
            again = debugger.ask("back")
            assert again == before, f"back shows\n{again}\nand not\n{before}"
            again = debugger.ask("step")
            assert again == shown, f"stepping again shows\n{again}\nand not\n{shown}"
        if over(shown):
            return shown[0], stops
        before, stops = shown, stops + 1


def result_of(line):
    start = line.find("{")
    return json.loads(line[start:]) if start >= 0 else line


def check(mwlvm, definition, scenario):
    words, cancel = options(scenario)
    results, stops = [], 0
    for way in (forwards, back_and_forth):
        debugger = Debugger(mwlvm, definition, words, cancel)
        line, stops = way(debugger)
        debugger.close()
        results.append(result_of(line))
    assert results[0] == results[1], f"forwards: {results[0]}, with back: {results[1]}"
    expected = read(os.path.join(scenario, "expected-result.json"))
    if cancel:
        assert results[0].get("type") == expected.get("type"), results[0]
        return stops
    run = subprocess.run([mwlvm, "run", definition, "--virtual-time", "--result", "--compact"] + words,
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")
    if run.stdout.strip():
        assert json.loads(run.stdout) == results[0], f"run: {run.stdout}debug: {results[0]}"
    return stops


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mwlvm")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    done = stops = failed = 0
    since = time.monotonic()
    for folder in given.folders:
        if not os.path.isdir(folder):
            print(f"{folder} is not here; its cases are left out")
            continue
        found = list(scenarios(folder))
        for definition, scenario in found if given.all else found[::15]:
            try:
                stops += check(given.mwlvm, definition, scenario)
            except (AssertionError, OSError, ValueError) as problem:
                failed += 1
                print(f"FAILED {scenario}: {problem}")
            done += 1
    print(f"{done} scenarios with {stops} stops, {failed} failures, {time.monotonic() - since:.1f} s")
    return 1 if failed else 0


sys.exit(main())
