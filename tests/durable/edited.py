#!/usr/bin/env python3
"""edited.py MWLVM: rows of a store that somebody has changed or damaged: state, program, snapshot, start, result, numbers.
Each such run is stuck, or an error is reported, or it goes on; the others go on in any case, and nothing crashes. On SQLite,
and on PostgreSQL where it is installed."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import postgres  # noqa: E402

MWLVM = os.path.abspath(sys.argv[1])
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
ASK = {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/answer/v1", "with": {"name": "ok"}}, "next": "end"}
BIG = 2 ** 63 - 1
# column, value, and what may become of the run
STUCK, ANY = ["stuck"], None
EDITS = [
    ("program", b"", STUCK), ("program", b"x" * 16, STUCK), ("program", b"x" * 40, STUCK),
    ("snapshot", b"", ANY), ("snapshot", b"x", STUCK), ("snapshot", b"\0" * 4096, STUCK), ("snapshot", "half", STUCK),
    ("snapshot", "flipped", STUCK), ("snapshot", "longer", STUCK), ("snapshot", "other", ANY),
    ("version", -1, ANY), ("version", BIG, ANY), ("recoveries", -5, ANY), ("recoveries", BIG, ANY),
    ("state", 77, ANY), ("state", -1, ANY), ("state", 1, ANY), ("created_ns", -BIG, ANY), ("updated_ns", BIG, ANY),
    ("ended_ns", BIG, ANY), ("name", "", ANY), ("name", "n" * 100000, ANY), ("result", "{", ANY),
    ("due", -BIG, ANY), ("due", BIG, ANY), ("start", None, ANY), ("start", "", ANY), ("start", "{", ANY), ("start", "[]", ANY),
    ("start", '{"limits":{"memory":1e300,"fuel":-1}}', ANY), ("start", '{"seed":"x","limits":7}', ANY),
]
# of a run that has not begun: the same columns decide how it begins
NEW = [("start", None), ("start", ""), ("start", "{"), ("start", "[]"), ("start", '{"input":' + "[" * 5000), ("program", b"?"),
       ("start", '{"arguments":3,"limits":{"memory":1}}'), ("recoveries", BIG), ("state", 2), ("state", 5)]


class Sqlite:
    due = "due_ns"

    def __init__(self):
        self.where = ["--store", "runs.db"]

    def reset(self):
        for end in ("", "-wal", "-shm", "-owner"):
            if os.path.exists("runs.db" + end):
                os.unlink("runs.db" + end)

    def edit(self, changes):
        db = sqlite3.connect("runs.db")
        with db:
            for run, column, value in changes:
                db.execute(f"update run set {column} = ? where id = ?", (value, run))
        db.close()

    def snapshot(self, run):
        db = sqlite3.connect("runs.db")
        try:
            return db.execute("select snapshot from run where id = ?", (run,)).fetchone()[0]
        finally:
            db.close()


class Postgres:
    due = "available_ns"

    def __init__(self, server):
        self.server, self.where = server, ["--store", server.uri]

    def reset(self):
        self.server.sql("drop schema if exists mwlvm cascade")

    @staticmethod
    def written(value):
        if value is None:
            return "null"
        if isinstance(value, bytes):
            return f"'\\x{value.hex()}'"
        return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"

    def edit(self, changes):
        self.server.sql("; ".join(f"update mwlvm.run set {column} = {self.written(value)} where id = '{run}'"
                                  for run, column, value in changes))

    def snapshot(self, run):
        return bytes.fromhex(self.server.sql(f"select encode(snapshot, 'hex') from mwlvm.run where id = '{run}'")[0][0])


def command(store, name, *words, statuses=(0,)):
    got = subprocess.run([MWLVM, name, *store.where, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=120)
    assert got.returncode in statuses, (name, words, got.returncode, got.stdout[-2000:], got.stderr[-2000:])
    return got


def damaged(store, run, value):
    whole = store.snapshot(run)
    half = len(whole) // 2
    return {"half": whole[:half], "longer": whole + b"x", "flipped": whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1:],
            "other": store.snapshot("good0")}[value]


def states(store):
    return {row["run"]: row for row in map(json.loads, command(store, "ps", "--all", "--json").stdout.splitlines())}


def check(store):
    store.reset()
    with open("ask.json", "w") as f:
        json.dump({"$schema": SCHEMA, "entrypoint": "a", "steps": {"a": ASK, "end": {"action": "Return"}}}, f)
    goods, edited = [f"good{i}" for i in range(3)], [f"e{i}" for i in range(len(EDITS))]
    for run in [*goods, *edited]:
        command(store, "run", "ask.json", "--id", run, "--detach")
    command(store, "resume", "--all")  # each waits now, with a snapshot
    news = [f"n{i}" for i in range(len(NEW))]
    for run in news:
        command(store, "run", "ask.json", "--id", run, "--detach")
    for run in [*goods, *edited]:  # there is something to do for it
        command(store, "answer", run, "ok", "1")
    changes = []
    for run, (column, value, _) in zip(edited, EDITS):
        if column == "snapshot" and isinstance(value, str):
            value = damaged(store, run, value)
        changes.append((run, store.due if column == "due" else column, value))
    changes += [(run, column, value) for run, (column, value) in zip(news, NEW)]
    store.edit(changes)
    ended = command(store, "resume", "--all", statuses=(0, 1, 2, 3, 6))
    rows = states(store)
    assert all(rows[run]["state"] == "done" for run in goods), ({run: rows[run] for run in goods}, ended.stderr[-2000:])
    for run, (column, value, wanted) in zip(edited, EDITS):
        assert wanted is None or rows[run]["state"] in wanted, (run, column, value, rows[run])
    for run in [*edited, *news]:  # nothing that shows it crashes
        command(store, "show", run, "--json", statuses=(0, 1, 2, 3))
    command(store, "run", "ask.json", "--id", "last", "--detach")
    command(store, "answer", "last", "ok", "2")
    assert command(store, "resume", "last").stdout == "2\n", "the store does not go on"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            check(Sqlite())
            if not postgres.programs():
                print("PostgreSQL is not installed: SQLite only")
                return 0
            with postgres.Server() as server:
                check(Postgres(server))
        finally:
            os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
