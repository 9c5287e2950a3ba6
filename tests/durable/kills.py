#!/usr/bin/env python3
"""kills.py MWLVM [KILLS]: durable runs whose process is killed again and again (SIGKILL), until all are over; then the
checker. The command starts the runs, effects are programs that append to a history, answers come from outside."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checker  # noqa: E402
from workload import effects, flow, note  # noqa: E402

MWLVM = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 12
RUNS = 6
BLOCKS = 4  # of three effects


# one of three asks the store for the snapshot that it has of the run
SCRIPT = """#!/bin/sh
if [ $(($$ % 3)) = 0 ]; then
  known=$('{mwlvm}' show --store runs.db "$1" 2>&1 | sed -n 's/^ *waits for call \\([0-9]*\\).*/\\1/p' | tail -n 1)
fi
printf 'effect %s %s %s %s\\nknown %s %s %s\\n' "$1" "$MWLVM_CALL_KEY" "$MWLVM_CALL_ATTEMPT" "$2" \
"$1" "$MWLVM_CALL_KEY" "$known" >>history
"""


def command(*words, **more):
    return subprocess.run([MWLVM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


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
            got = command("run", "flow.json", "--store", "runs.db", "--id", run, "--detach", "--allow-exec=./effect")
            assert got.returncode == 0, got.stderr
            note("start", run)

    def answer(self):
        """Also before anything waits, and one too many."""
        run = self.dice.choice(self.ids)
        self.value += 1
        got = command("answer", "--store", "runs.db", run, "go", str(self.value))
        if got.returncode == 0:
            note("answer", run, str(self.value))
        else:
            assert "already" in got.stderr or "is over" in got.stderr, got.stderr

    def open(self):
        """Runs that are not over: (id, state). It reads the file, which costs less than `mwlvm ps`."""
        base = sqlite3.connect("runs.db")
        rows = base.execute("select id, state from run where state not in (3, 4, 5)").fetchall()
        base.close()
        return rows

    def wait_for(self, process):
        """Until it is to be killed: at once, while it starts and recovers, or behind some effects. False: it ended."""
        most = time.monotonic() + self.dice.choice([0.01, 0.03, 0.15])
        wanted = os.path.getsize("history") + self.dice.randrange(1, 400)
        while time.monotonic() < most and os.path.getsize("history") < wanted:
            if process.poll() is not None:
                return False
            time.sleep(0.001)
        time.sleep(self.dice.uniform(0, 0.004))
        return process.poll() is None

    def drive(self, kill):
        """`resume --all`, killed after some time unless it ends before. Returns whether it was killed."""
        with open("shown", "a") as shown, open("errors", "w+") as errors:
            process = subprocess.Popen([MWLVM, "resume", "--store", "runs.db", "--all", "--quiet", "--allow-exec=./effect"],
                                       stdin=subprocess.DEVNULL, stdout=shown, stderr=errors)
            if kill and self.wait_for(process):
                process.send_signal(signal.SIGKILL)
                if process.wait() == -signal.SIGKILL:
                    return True
            process.wait(timeout=250)
            errors.seek(0)
            assert process.returncode in (0, 1), errors.read()
        return False

    def resume(self, run):
        """One that is stuck. It may wait for an answer then: the command is ended after some time."""
        try:
            command("resume", "--store", "runs.db", run, "--quiet", "--allow-exec=./effect", timeout=3)
        except subprocess.TimeoutExpired:
            pass

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
    deadline = time.monotonic() + 600
    while rows := r.open():
        for run, state in rows:  # on a busy machine ten kills may come before anything is stored
            if state == checker.STUCK:
                r.resume(run)
        assert time.monotonic() < deadline, "the runs do not end"
        if killed < kills:
            if dice.randrange(3) == 0:
                r.answer()
            killed += r.drive(True)
        else:
            r.answer()
            r.drive(False)
    r.results()
    wrong = checker.check(checker.Sqlite("runs.db"), "history", effects(BLOCKS))
    return killed, wrong


def is_found(line):
    """Whether the checker sees what this line in front of the history means."""
    with open("history") as f, open("planted", "w") as planted:
        planted.write(line + "\n" + f.read())
    return len(checker.check(checker.Sqlite("runs.db"), "planted", effects(BLOCKS))) == 1


def main():
    seed = int(os.environ.get("SEED", "1"))
    killed = rounds = seen = again = known = 0
    # a kill takes nothing from the page cache, so the disk has no part in this
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        os.chdir(folder)
        with open("flow.json", "w") as f:
            json.dump(flow(BLOCKS), f)
        with open("effect", "w") as f:
            f.write(SCRIPT.format(mwlvm=MWLVM))
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
            seen += len(keys)
            again += len(keys) - len(set(keys))
            known += sum(count != "" for _, _, count in checker.read("history")["known"])
        assert is_found("answer r0 0"), "an answer that was acknowledged and lost is not seen"
        assert is_found("known r0 r0.9 8"), "a call that no snapshot knows is not seen"
        assert is_found("start r9"), "a run that was accepted and lost is not seen"
        os.chdir("/")
    print(f"{killed} kills in {rounds} rounds of {RUNS} runs, 0 violations; {seen} effects, {again} of them again; the store was "
          f"asked for {known} of them")
    assert known > 5, "nobody asked the store"
    return 0


if __name__ == "__main__":
    sys.exit(main())
