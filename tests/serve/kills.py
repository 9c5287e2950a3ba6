#!/usr/bin/env python3
"""kills.py MWLVM [KILLS]: `mwlvm serve` is killed again and again (SIGKILL) while clients start runs, answer them and fetch
Results by HTTP; then the checker of tests/durable. What a client was told (202, 204, 200) is written to the history; a
request without an answer is asked again, under the same id or key."""
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

MWLVM = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "durable")]
import checker  # noqa: E402
from server import Unix  # noqa: E402
from workload import effects, flow, note  # noqa: E402

RUNS, BLOCKS, PIECE = 6, 4, 40
SCRIPT = """#!/bin/sh
printf 'effect %s %s %s %s\\n' "$1" "$MWLVM_CALL_KEY" "$MWLVM_CALL_ATTEMPT" "$2" >>history
"""


class Server:
    """`mwlvm serve` on the store runs.db of the present folder."""

    def __init__(self):
        self.process = None

    def begin(self):
        if self.process and self.process.poll() is None:
            return
        with open("log", "a") as log:
            self.process = subprocess.Popen([MWLVM, "serve", "--store", "runs.db", "--listen", "none", "flow.json",
                                             "--allow-exec=./effect"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, method, path, body=None, key=None):
        """(status, body), or None: nobody knows."""
        line = Unix("runs.db-sock")
        try:
            line.request(method, path, body, {"Idempotency-Key": key} if key else {})
            got = line.getresponse()
            return got.status, got.read().decode()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            line.close()


class Round:
    def __init__(self, dice, kills):
        self.dice, self.left, self.killed, self.value = dice, kills, 0, 0
        for name in os.listdir("."):
            if name not in ("flow.json", "effect"):
                os.unlink(name)
        self.ids = [f"r{i}" for i in range(RUNS)]
        self.todo = [self.start(run) for run in self.ids] + [self.answers()]
        self.over = {}
        self.server = Server()
        self.deadline = time.monotonic() + 600

    # Each client is a generator: it yields a request, and gets what came of it.

    def start(self, run):
        while True:
            got = yield "POST", "/v1/runs", json.dumps({"program": "flow", "id": run}), None
            if got and got[0] == 202:
                break
        note("start", run)
        while True:
            got = yield "GET", f"/v1/runs/{run}/result?wait=0.05", None, None
            if got and got[0] == 200:
                note("result", run, got[1].strip())
                self.over[run] = True
                return
            if got and got[0] == 409:  # ten kills may come before anything is stored
                yield "POST", f"/v1/runs/{run}/resume", "", None

    def answers(self):
        """One after the other; also before anything waits, and some too many. One that nobody knows of is given again under
        its key. If it is refused then, it may have been kept before."""
        while len(self.over) < len(self.ids):
            run = self.dice.choice([i for i in self.ids if i not in self.over])
            self.value += 1
            value, tries, got = str(self.value), 0, None
            while not got or got[0] == 503:
                got = yield "POST", f"/v1/runs/{run}/answers/go", value, "k" + value
                tries += 1
            assert got[0] in (204, 404, 409), got
            if got[0] == 204:
                note("answer", run, value)
            elif tries > 1:
                note("doubt", run, value)

    def run(self):
        """One client moves at a time; the server dies within a request, or soon after it."""
        waiting = {i: next(c) for i, c in enumerate(self.todo)}
        try:
            while waiting:
                assert time.monotonic() < self.deadline, "the runs do not end"
                self.server.begin()
                i = self.dice.choice(list(waiting))
                kill = self.left > 0 and self.dice.randrange(6) == 0
                timer = threading.Timer(self.dice.choice([0, 0.001, 0.005, 0.03, 0.1]), self.server.kill)
                if kill:
                    timer.start()
                got = self.server.ask(*waiting[i])
                if kill:
                    timer.join()
                    self.left -= 1
                    self.killed += 1
                if got is None:
                    time.sleep(0.005)
                try:
                    waiting[i] = self.todo[i].send(got)
                except StopIteration:
                    del waiting[i]
        finally:
            if self.server.process:
                self.server.kill()


def main():
    seed = int(os.environ.get("SEED", "1"))
    killed = rounds = seen = again = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        os.chdir(folder)
        with open("flow.json", "w") as f:
            json.dump(flow(BLOCKS), f)
        with open("effect", "w") as f:
            f.write(SCRIPT)
        os.chmod("effect", 0o755)
        while killed < KILLS:
            one = Round(random.Random(seed + rounds), min(KILLS - killed, PIECE))
            one.run()
            wrong = checker.check(checker.Sqlite("runs.db"), "history", effects(BLOCKS))
            if wrong:
                print(f"seed {seed + rounds}:", *wrong[:20], sep="\n  ")
                return 1
            killed += one.killed
            rounds += 1
            keys = [key for _, key, _, _ in checker.read("history")["effect"]]
            seen += len(keys)
            again += len(keys) - len(set(keys))
        os.chdir("/")
    print(f"{killed} kills of a server in {rounds} rounds of {RUNS} runs, 0 violations; {seen} effects, {again} of them again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
