#!/usr/bin/env python3
"""kills.py MWLVM [KILLS]: durable runs whose process is killed again and again (SIGKILL), until all are over; then the
checker. The command starts the runs, effects are programs that append to a history, answers come from outside."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checker  # noqa: E402

MWLVM = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 12
RUNS = 6
EFFECTS = ["first", "second", "third"]
EXEC = "mwl:provider.call/mwlvm/exec/v1"


def effect(name, following, **members):
    """What it carries depends on when the Step began: another incarnation would send something else."""
    text = "{{ '%s ' + string(step.metadata.enteredAt) }}" % name
    return {"action": "Call", "output": "{{ step.input }}", "next": following,
            "call": {"provider": EXEC, "with": {"argv": ["./effect", "{{ execution.id }}", text]}}, **members}


def wait(following, output):
    return {"action": "Call", "output": output, "next": following,
            "call": {"provider": "mwl:provider.call/mwlvm/answer/v1", "with": {"name": "go"}}}


FLOW = {
    "$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
        "a": effect("first", "w"),
        "w": wait("n", "{{ [step.result.value] }}"),
        "n": {"action": "Sleep", "for": "PT0.02S", "next": "b"},
        "b": effect("second", "v"),
        "v": wait("c", "{{ step.input + [step.result.value] }}"),
        "c": effect("third", "end"),
        "end": {"action": "Return", "value": "{{ {'answers': step.input} }}"}}}
SCRIPT = """#!/bin/sh
printf 'effect %s %s %s %s\\n' "$1" "$MWLVM_CALL_KEY" "$MWLVM_CALL_ATTEMPT" "$2" >>history
"""


def command(*words, **more):
    return subprocess.run([MWLVM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


def note(*words):
    line = " ".join(words) + "\n"
    fd = os.open("history", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, line.encode())
    os.close(fd)


class Round:
    """Runs in one store, until all of them are over."""

    def __init__(self, dice):
        self.dice = dice
        self.value = 0
        for name in os.listdir("."):
            if name not in ("flow.json", "effect"):
                os.unlink(name)
        self.ids = [f"r{i}" for i in range(RUNS)]

    def start(self):
        for run in self.ids:
            got = command("run", "flow.json", "--durable", "runs.db", "--id", run, "--detach", "--allow-exec=./effect")
            assert got.returncode == 0, got.stderr
            note("start", run)

    def answer(self):
        """Also before anything waits, and one too many."""
        run = self.dice.choice(self.ids)
        self.value += 1
        got = command("answer", "--durable", "runs.db", run, "go", str(self.value))
        if got.returncode == 0:
            note("answer", run, str(self.value))
        else:
            assert "already" in got.stderr or "is over" in got.stderr, got.stderr

    def open(self):
        got = command("ps", "--durable", "runs.db", "--json")
        assert got.returncode == 0, got.stderr
        return [json.loads(line) for line in got.stdout.splitlines()]

    def drive(self, kill_after, which="--all"):
        """`resume`, killed after some time unless it ends before. Returns whether it was killed."""
        with open("shown" if which == "--all" else "/dev/null", "a") as shown:
            process = subprocess.Popen([MWLVM, "resume", "--durable", "runs.db", which, "--quiet", "--allow-exec=./effect"],
                                       stdin=subprocess.DEVNULL, stdout=shown, stderr=subprocess.PIPE, text=True)
            try:
                _, error = process.communicate(timeout=kill_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                return True
        assert process.returncode in (0, 1), error
        return False

    def results(self):
        with open("shown") as f:
            for line in f:
                if line.endswith("}\n"):  # else the kill came in the middle of it
                    row = json.loads(line)
                    if "result" in row:
                        note("result", row["run"], json.dumps(row["result"]))


def round_of(dice, kills):
    r = Round(dice)
    r.start()
    killed = 0
    deadline = time.monotonic() + 250
    while rows := r.open():
        for row in rows:  # on a busy machine ten kills may come before anything is stored
            if row["state"] == "stuck":
                r.drive(5, row["run"])
        assert time.monotonic() < deadline, "the runs do not end"
        for _ in range(dice.randrange(3)):
            r.answer()
        if killed < kills:
            killed += r.drive(dice.uniform(0.005, 0.3))
        else:
            r.answer()
            r.drive(60)
    r.results()
    wrong = checker.check("runs.db", "history", EFFECTS)
    return killed, wrong


def main():
    seed = int(os.environ.get("SEED", "1"))
    killed = rounds = effects = again = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("flow.json", "w") as f:
            json.dump(FLOW, f)
        with open("effect", "w") as f:
            f.write(SCRIPT)
        os.chmod("effect", 0o755)
        while killed < KILLS:
            dice = random.Random(seed + rounds)
            more, wrong = round_of(dice, min(KILLS - killed, 40))
            if wrong:
                print(f"seed {seed + rounds}:", *wrong[:20], sep="\n  ")
                return 1
            killed += more
            rounds += 1
            keys = [key for _, key, _, _ in checker.read("history")["effect"]]
            effects += len(keys)
            again += len(keys) - len(set(keys))
        os.chdir("/")
    print(f"{killed} kills in {rounds} rounds of {RUNS} runs, 0 violations; {effects} effects, {again} of them again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
