#!/usr/bin/env python3
"""thousand.py MWLVM: a thousand calls at once of exec, file and sqlite, of every kind, under Timeout, Retry and
cancellation: nothing is left behind. http and middleware have their own in http.py and middleware.py.
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

from flow import Case, flow, main, retry, timeout, uri

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def children_of(pid):
    """Its children, by their states: Z is a zombie."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append((int(name), fields[0]))
    return found


class Thousand(Case):
    N = 1000

    def each(self, name, inner=(), outer=(), then_wait=True, successes=0):
        """Calls the provider for each element, which is its arguments; afterwards the file `done` is written."""
        call = {"action": "Call", "call": {"provider": uri(name), "with": "{{ step.input }}"}, "next": "end"}
        one = {"entrypoint": "call", "middleware": list(inner), "steps": {"call": call, "end": {"action": "Return"}}}
        gather = {"action": "Gather", "over": "{{ step.input }}", "call": {"flow": "one"}, "completion": {"successes": successes}, "next": "end"}
        every = {"entrypoint": "g", "steps": {"g": gather, "end": {"action": "Return", "value": "{{ size(step.input) }}"}}}
        steps = {"go": {"action": "Call", "call": {"flow": "every"}, "middleware": list(outer), "catch": [{"match": {"codes": ["*"]}, "next": "done"}],
                        "assign": {"n": "{{ step.result.value }}"}, "next": "done"},
                 "done": {"action": "Call", "call": {"provider": uri("file"), "with": {"path": "done", "action": "write", "value": "done"}}, "next": "wait"},
                 "wait": {"action": "Sleep", "for": "PT60S" if then_wait else "PT0S", "next": "end"}, "end": {"action": "Return", "value": "{{ has(vars.n) ? vars.n : null }}"}}
        return flow(steps, "go", flows={"one": one, "every": every})

    def start(self, definition, items, limit=None):
        command = self.command(definition, "--allow-all", "--input", "@items.json")
        self.put("items.json", json.dumps(items))
        if limit:
            command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *command]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def finished(self, child):
        for _ in range(20000):
            if os.path.exists(self.path("done")) or child.poll() is not None:
                break
            time.sleep(0.01)
        self.assertTrue(os.path.exists(self.path("done")), child.poll() is not None and child.communicate())

    def nothing_left(self, child, fds=20):
        """Descriptors, processes and files, while the run still goes on."""
        for _ in range(500):
            left = children_of(child.pid), os.listdir(f"/proc/{child.pid}/fd")
            if not left[0] and len(left[1]) < fds:
                break
            time.sleep(0.01)
        self.assertEqual((left[0], len(left[1]) < fds), ([], True), left)
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)

    def mixed(self, kinds):
        return [kinds[i % len(kinds)] for i in range(self.N)]


class Exec(Thousand):
    KINDS = [{"argv": ["true"]}, {"argv": ["sleep", "600"]}, {"argv": ["false"]}, {"argv": ["no-such-program"]}, {"argv": ["echo", "{"], "as": "json"},
             {"argv": ["sh", "-c", "trap '' TERM; sleep 0.05"], "grace": "PT0.1S"}, {"argv": ["yes"], "maxBytes": 1000}, {"argv": ["cat"], "stdin": "x" * 1000}]

    def test_every_kind_under_timeout_and_retry(self):
        child = self.start(self.each("exec", inner=[retry(2), timeout(1)]), self.mixed(self.KINDS)[:160])
        self.finished(child)
        self.nothing_left(child)

    def test_all_of_them_succeed_with_few_descriptors(self):
        """They wait for their turn, rather than to fail because the host may open few files."""
        definition = self.each("exec", then_wait=False, successes=self.N)
        child = self.start(definition, self.mixed([{"argv": ["true"]}, {"argv": ["cat"], "stdin": "x"}]), limit=64)
        most = 0
        while child.poll() is None:
            most = max(most, len(children_of(child.pid)))
            time.sleep(0.1)
        out, err = child.communicate()
        self.assertEqual(json.loads(out)["value"], self.N, err)
        self.assertLessEqual(most, 8)

    def test_a_cancelled_thousand(self):
        """Some run, most wait for their turn; then all of them are cancelled."""
        text = "echo $$ >> pids; exec sleep 600"
        child = self.start(self.each("exec", outer=[timeout(1)]), self.mixed([{"argv": ["sh", "-c", text], "cwd": self.folder}]))
        self.finished(child)
        self.nothing_left(child)
        pids = [int(pid) for pid in self.text("pids").split()]
        self.assertLessEqual(len(pids), 256)
        self.assertEqual([pid for pid in pids if state_of(pid) not in (None, "Z")], [])

    def test_a_signal_at_any_moment(self):
        items = self.mixed([{"argv": ["sh", "-c", "echo $$ >> pids; exec sleep 600"], "cwd": self.folder, "grace": "PT0.2S"}])[:200]
        for delay in (0.0, 0.05, 0.2):
            child = self.start(self.each("exec"), items)
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=60)
        pids = [int(pid) for pid in self.text("pids").split()] if os.path.exists(self.path("pids")) else []
        for _ in range(500):
            if not any(state_of(pid) not in (None, "Z") for pid in pids):
                return
            time.sleep(0.01)
        self.fail("processes are left")


class Files(Thousand):
    def kinds(self):
        self.put("big.txt", "y" * 100000)
        self.put("bad.json", "{")
        return [{"path": "new-%d.txt", "action": "write", "value": "z" * 20000}, {"path": "log.ndjson", "action": "append", "value": {"n": 1}},
                {"path": "big.txt"}, {"path": "big.txt", "maxBytes": 10}, {"path": "none"}, {"path": ".", "action": "list"}, {"path": "big.txt", "action": "stat"},
                {"path": "never", "action": "watch", "interval": "PT0.01S"}, {"path": "bad.json"}, {"path": "no-%d.txt", "action": "remove"},
                {"path": "new-%d.txt", "action": "write", "value": "z" * 20000}]

    def items(self):
        return [{**kind, "path": kind["path"].replace("%d", str(i))} for i, kind in enumerate(self.mixed(self.kinds()))]

    def whole(self):
        """Files that were written are complete."""
        names = [name for name in os.listdir(self.folder) if name.startswith("new-")]
        self.assertEqual({len(self.text(name)) for name in names} - {20000}, set())
        if os.path.exists(self.path("log.ndjson")):
            self.assertEqual({line for line in self.text("log.ndjson").splitlines()} - {'{"n":1}'}, set())
        return len(names)

    def test_every_kind_under_timeout_and_retry(self):
        items = self.items()
        child = self.start(self.each("file", inner=[retry(2, "Provider.Call.File.NotFound"), timeout(20)]), [i for i in items if i["path"] != "never"])
        self.finished(child)
        self.assertEqual(self.whole(), sum(item["path"].startswith("new-") for item in items))
        self.nothing_left(child)

    def test_watches_under_timeout(self):
        child = self.start(self.each("file", inner=[timeout(0.5)]), [{"path": "never", "action": "watch", "interval": "PT0.01S"}] * self.N)
        self.finished(child)
        self.nothing_left(child)

    def test_cancelled(self):
        child = self.start(self.each("file", outer=[timeout(0.15)]), self.items())
        self.finished(child)
        self.whole()
        self.nothing_left(child)

    def test_a_signal_at_any_moment(self):
        items = self.items()
        for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
            child = self.start(self.each("file", then_wait=False), items)
            time.sleep(delay)
            child.send_signal(random.choice((signal.SIGINT, signal.SIGTERM)))
            child.communicate(timeout=60)
            self.whole()
            self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])


class Sqlite(Thousand):
    def setUp(self):
        super().setUp()
        self.file = self.path("a.db")
        self.python("CREATE TABLE t (a UNIQUE, pair)", "CREATE TABLE n (n)", "INSERT INTO n VALUES (0)", "INSERT INTO t VALUES (-1, 0)")

    def python(self, *statements):
        db = sqlite3.connect(self.file, timeout=60)
        rows = [db.execute(s).fetchall() for s in statements]
        db.commit()
        db.close()
        return rows[-1]

    def items(self):
        def pair(i):
            return {"statements": [{"sql": "INSERT INTO t VALUES (?, 1)", "params": [2 * i]}, {"sql": "INSERT INTO t VALUES (?, 2)", "params": [2 * i + 1]}]}

        kinds = [pair, pair, lambda i: {"sql": "SELECT count(*) FROM t"}, lambda i: {"sql": "SELEC"}, lambda i: {"sql": "INSERT INTO t VALUES (-1, 0)"},
                 lambda i: {"sql": ENDLESS} if i % 100 < 10 else {"sql": "SELECT ?", "params": []},
                 lambda i: {"statements": [{"sql": "INSERT INTO t VALUES (?, 1)", "params": [2 * i]}, {"sql": "INSERT INTO t VALUES (-1, 0)"}]}]
        return [{"file": self.file, "busyTimeout": "PT1M", **kinds[i % len(kinds)](i)} for i in range(self.N)]

    def whole(self):
        self.assertEqual(self.python("PRAGMA integrity_check"), [("ok",)])
        counts = dict(self.python("SELECT pair, count(*) FROM t GROUP BY pair"))
        self.assertEqual(counts.get(1, 0), counts.get(2, 0))  # both of a transaction, or none
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(("-journal", "-wal"))], [])
        return counts.get(1, 0)

    def test_every_kind_under_timeout_and_retry(self):
        child = self.start(self.each("sqlite", inner=[retry(2, "Provider.Call.Sqlite.Constraint"), timeout(1)]), self.items())
        self.finished(child)
        self.nothing_left(child)
        self.whole()

    def test_no_change_is_lost(self):
        """Two processes, each with the threads of its pool, count on one row."""
        count = {"file": self.file, "busyTimeout": "PT2M", "statements": [{"sql": "UPDATE n SET n = n + 1"}, {"sql": "SELECT n FROM n"}]}
        definition = self.each("sqlite", then_wait=False)
        children = [self.start(definition, [count] * 60) for _ in range(2)]
        for child in children:
            out, err = child.communicate(timeout=120)
            self.assertEqual(child.returncode, 0, err)
        self.assertEqual(self.python("SELECT n FROM n"), [(120,)])

    def test_cancelled(self):
        child = self.start(self.each("sqlite", outer=[timeout(0.3)]), self.items())
        self.finished(child)
        self.whole()
        self.nothing_left(child)

    def test_a_signal_at_any_moment(self):
        items = self.items()
        for delay in (0.0, 0.03, 0.1, 0.2):
            child = self.start(self.each("sqlite", then_wait=False), items)
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=60)
            self.whole()


main()
