#!/usr/bin/env python3
"""cache.py MWLVM: the middleware cache with a store: an SQLite file that several runs and processes share."""
import json
import os
import signal
import sqlite3
import subprocess
import time

from flow import TIMED_OUT, Case, call, entry, flow, gather, main, retry, timeout, uri

PREFIX = "Provider.Middleware.Cache."


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("cache.db")
        self.allow = "--allow-exec", f"--allow-sqlite={self.file}"

    def make(self, text="echo x >> made; echo value", key="k", ttl="PT1M", before=(), **with_):
        """A definition whose value a shell makes; the file `made` has a line for each time."""
        cache = entry("cache", {"key": key, "ttl": ttl, "file": self.file, **with_})
        return call("exec", {"argv": ["sh", "-c", text]}, middleware=[*before, cache])

    def made(self):
        return len(self.text("made").splitlines()) if os.path.exists(self.path("made")) else 0

    def rows(self):
        db = sqlite3.connect(self.file)
        rows = db.execute("SELECT key, value, owner FROM mwlvm_cache ORDER BY key").fetchall()
        db.close()
        return rows

    def start(self, definition, *options):
        return subprocess.Popen(self.command(definition, *self.allow, *options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def wait_for(self, name):
        for _ in range(1000):
            if os.path.exists(self.path(name)):
                return
            time.sleep(0.01)
        self.fail(f"no {name}")


class Store(Cache):
    def test_a_later_process_has_the_value(self):
        for _ in range(3):
            self.assertEqual(self.succeeds(self.make(), *self.allow), "value\n")
        self.assertEqual(self.made(), 1)
        self.assertEqual(self.rows(), [('"k"', '"value\\n"', None)])
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)

    def test_metadata_says_whether_it_was_kept(self):
        definition = self.make()
        definition["steps"]["call"]["middleware"][0]["onSuccess"] = {"assign": {"hit": "{{ middleware.metadata.hit }}"}}
        definition["steps"]["end"]["value"] = "{{ vars.hit }}"
        self.assertEqual(self.succeeds(definition, *self.allow), False)

    def test_keys_are_values(self):
        for key, n in (({"a": 1, "b": [2]}, 1), ({"b": [2], "a": 1}, 1), ({"a": 1}, 2), ("1", 3), (1, 4), (None, 5), (1.0, 5)):
            self.succeeds(self.make(key="{{ step.input }}"), *self.allow, input=key)
            self.assertEqual(self.made(), n, key)

    def test_the_time_to_live(self):
        self.succeeds(self.make(ttl="PT0.2S"), *self.allow)
        time.sleep(0.25)
        self.succeeds(self.make(ttl="PT1H"), *self.allow)
        self.succeeds(self.make(ttl="PT0.2S"), *self.allow)
        self.assertEqual(self.made(), 2)

    def test_the_oldest_go(self):
        for key in "abcd":
            self.succeeds(self.make(key=key, maxEntries=2), *self.allow)
            time.sleep(0.01)
        self.assertEqual([key for key, _, _ in self.rows()], ['"c"', '"d"'])

    def test_failures_are_not_kept(self):
        self.fails(self.make("echo x >> made; exit 1"), "Provider.Call.Exec.NonZeroExit", *self.allow)
        self.assertEqual(self.rows(), [])
        self.succeeds(self.make(), *self.allow)
        self.assertEqual(self.made(), 2)

    def test_several_files(self):
        other = self.path("other.db")
        self.succeeds(self.make(), *self.allow)
        self.succeeds(self.make(file=other), *self.allow, f"--allow-sqlite={other}")
        self.assertEqual(self.made(), 2)

    def test_a_hundred_in_one_run(self):
        inner = {"entrypoint": "call", "steps": self.make("echo x >> made; sleep 0.2; echo value")["steps"]}
        steps = {"g": {"action": "Gather", "over": "{{ step.input }}", "call": {"flow": "one"}, "next": "end"}, "end": {"action": "Return"}}
        got = self.succeeds(flow(steps, "g", flows={"one": inner}), *self.allow, input=list(range(100)))
        self.assertEqual((got, self.made()), (["value\n"] * 100, 1))

    def test_threads_of_one_process(self):
        done = subprocess.run([*self.command(self.make("echo x >> made; sleep 0.3; echo value"), *self.allow)[:3], "--each", "-j", "4", *self.allow],
                              input="1\n" * 20, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.stdout.count('"value\\n"'), self.made()), (20, 1), done)


class Processes(Cache):
    def test_single_flight_across_processes(self):
        definition = self.definition(self.make("echo x >> made; sleep 0.7; echo value"))
        children = [self.start(definition) for _ in range(6)]
        for child in children:
            out, err = child.communicate(timeout=60)
            self.assertEqual(json.loads(out)["value"], "value\n", err)
        self.assertEqual(self.made(), 1)

    def test_the_claim_of_a_killed_process_does_not_count(self):
        child = self.start(self.make("echo $$ > pid; exec sleep 600"))
        self.wait_for("pid")
        self.assertEqual([(value, owner is None) for _, value, owner in self.rows()], [(None, False)])
        child.kill()
        child.communicate()
        self.assertEqual(self.succeeds(self.make(), *self.allow), "value\n")
        os.kill(int(self.text("pid")), signal.SIGKILL)

    def test_a_cancelled_maker_ends_its_claim(self):
        for kind in (signal.SIGINT, signal.SIGTERM):
            child = self.start(self.make("echo $$ > pid; exec sleep 600"))
            self.wait_for("pid")
            child.send_signal(kind)
            child.communicate(timeout=30)
            self.assertEqual(self.rows(), [])
            os.remove(self.path("pid"))
        self.fails(self.make("exec sleep 600", before=[timeout(0.3)]), TIMED_OUT, *self.allow)
        self.assertEqual(self.rows(), [])

    def test_who_waits_can_be_cancelled(self):
        child = self.start(self.make("touch begun; while [ ! -e go ]; do sleep 0.02; done; echo x >> made; echo value"))
        self.wait_for("begun")
        self.fails(self.make(before=[timeout(0.3)]), TIMED_OUT, *self.allow)
        waiting = self.start(self.make(), "--seed", "1")
        self.put("go", "")
        self.assertEqual(json.loads(child.communicate(timeout=30)[0])["value"], "value\n")
        self.assertEqual(json.loads(waiting.communicate(timeout=30)[0])["value"], "value\n")
        self.assertEqual(self.made(), 1)

    def test_a_failed_maker_lets_another_process_try(self):
        first = self.start(self.make("touch begun; while [ ! -e go ]; do sleep 0.02; done; exit 1"))
        self.wait_for("begun")
        second = self.start(self.make())
        time.sleep(0.1)
        self.put("go", "")
        self.assertIn("NonZeroExit", first.communicate(timeout=30)[0])
        self.assertEqual(json.loads(second.communicate(timeout=30)[0])["value"], "value\n")

    def test_many_keys_by_many_processes(self):
        definition = self.definition(gather_of(self.make("echo $0 >> made; echo v$0", key="{{ step.input }}")))
        children = [self.start(definition, "--input", json.dumps(list(range(30)))) for _ in range(4)]
        for child in children:
            out, err = child.communicate(timeout=60)
            self.assertEqual(json.loads(out)["value"], ["vsh\n"] * 30, err)
        self.assertEqual((self.made(), len(self.rows())), (30, 30))


def gather_of(definition):
    """The same for each element of the input, ten at a time."""
    inner = {"entrypoint": "call", "steps": definition["steps"]}
    steps = {"g": {"action": "Gather", "over": "{{ step.input }}", "concurrency": 10, "call": {"flow": "one"}, "next": "end"},
             "end": {"action": "Return"}}
    return flow(steps, "g", flows={"one": inner})


class Wrong(Cache):
    def test_a_damaged_file(self):
        self.put("cache.db", "this is not a database, but a text that is long enough to be looked at" * 20)
        failure = self.fails(self.make(), PREFIX + "StoreFailed", *self.allow)
        self.assertIn("file is not a database", failure["message"])
        self.assertIn(self.file, failure["message"])
        self.assertFalse(failure["retryable"])
        self.assertEqual(self.made(), 0)
        self.assertTrue(self.text("cache.db").startswith("this is not"))

    def test_a_page_that_is_damaged(self):
        for i in range(40):
            self.succeeds(self.make(f"echo {'x' * 500}", key=str(i)), *self.allow) if i < 3 else None
        size = os.path.getsize(self.file)
        with open(self.file, "r+b") as f:
            f.seek(4096)
            f.write(b"\xff" * (size - 4096))
        failure = self.fails(self.make(), PREFIX + "StoreFailed", *self.allow)
        self.assertIn("malformed", failure["message"])

    def test_a_table_of_somebody_else(self):
        db = sqlite3.connect(self.file)
        db.execute("CREATE TABLE mwlvm_cache (x)")
        db.commit()
        db.close()
        self.fails(self.make(), PREFIX + "StoreFailed", *self.allow)

    def test_a_folder_and_a_missing_folder(self):
        os.mkdir(self.path("d"))
        for name in ("d", "none/x.db"):
            self.fails(self.make(file=self.path(name)), PREFIX + "StoreFailed", "--allow-exec", f"--allow-sqlite={self.folder}")

    def test_not_permitted(self):
        run = self.run_flow(self.make(), "--allow-exec")
        self.assertEqual((run.status, f"\n  --allow-sqlite={self.file}\n" in run.err), (2, True), run)
        failure = self.fails(self.make(file="{{ middleware.input }}"), PREFIX + "NotPermitted", "--allow-exec", "--allow-sqlite=/proc",
                             input=self.file)
        self.assertEqual(failure["details"]["flag"], "--allow-sqlite=" + self.file)
        self.assertFalse(os.path.exists(self.file))
        failure = self.fails(self.make(file="{{ middleware.input }}"), PREFIX + "StoreFailed", *self.allow, input=self.file + "\0x")
        self.assertIn("NUL", failure["message"])

    def test_a_locked_file(self):
        self.succeeds(self.make(), *self.allow)
        db = sqlite3.connect(self.file, isolation_level=None)
        db.execute("BEGIN EXCLUSIVE")
        self.fails(self.make(before=[timeout(0.3)]), TIMED_OUT, *self.allow)
        db.execute("COMMIT")
        db.close()

    def test_a_value_that_cannot_be_stored_is_not_lost(self):
        """The file can be read and claimed, and is full when the value is made."""
        definition = self.make("head -c 300000 /dev/zero | tr '\\0' x", key="big")
        self.succeeds(self.make(), *self.allow)
        command = ["sh", "-c", 'ulimit -f 100; exec "$@"', "sh", *self.command(definition, *self.allow)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, len(json.loads(done.stdout)["value"])), (0, 300000), done.stderr)
        self.assertIn('"level":"warn"', done.stderr)
        self.assertEqual([key for key, value, _ in self.rows() if value], ['"k"'])
        self.assertEqual(self.succeeds(self.make(), *self.allow), "value\n")


main()
