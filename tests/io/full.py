#!/usr/bin/env python3
"""full.py MWLVM: a disk without room, and a process that may write only so much: the old content stays.

The disk is a small file system in memory; without the right to mount one, only the limit of the process is tested.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from flow import Case, Run, call, entry, flow, main

FILE, SQLITE = "Provider.Call.File.", "Provider.Call.Sqlite."


def can_mount():
    folder = tempfile.mkdtemp(prefix="mwl-io-")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "mwl-test", folder], capture_output=True) if shutil.which("mount") else None
    good = done is not None and done.returncode == 0
    if good:
        subprocess.run(["umount", folder], check=True)
    os.rmdir(folder)
    return good


class Room:
    """Tests for a folder `disk` in which 300 KB have no room, but 10 KB have."""

    def limited(self, definition, **how):
        return self.run_flow(definition, "--allow-all", **how)

    def fails_with(self, code, definition, retryable=True, **how):
        run = self.limited(definition, **how)
        self.assertEqual((run.code, run.result["retryable"]), (code, retryable), run)
        return run

    def on_disk(self, name):
        return self.path("disk", name)

    def content(self, name):
        with open(self.on_disk(name)) as f:
            return f.read()

    def names(self):
        return sorted(os.listdir(self.path("disk")))

    def test_write_keeps_the_old_file(self):
        self.put("disk/a", "old")
        self.fails_with(FILE + "IoFailed", call("file", {"path": "disk/a", "action": "write"}), input="x" * 300000)
        self.assertEqual((self.content("a"), self.names()), ("old", ["a"]))
        self.assertEqual(self.limited(call("file", {"path": "disk/a", "action": "write"}), input="x" * 10000).value, 10000)

    def test_a_new_file_is_not_begun(self):
        self.fails_with(FILE + "IoFailed", call("file", {"path": "disk/b", "action": "write", "exclusive": True}), input="x" * 300000)
        self.assertEqual(self.names(), [])

    def test_append_adds_all_or_nothing(self):
        self.put("disk/log.ndjson", '{"n":1}\n')
        definition = call("file", {"path": "disk/log.ndjson", "action": "append"})
        self.fails_with(FILE + "IoFailed", definition, input=[{"n": i, "x": "y" * 1000} for i in range(300)])
        self.assertEqual(self.content("log.ndjson"), '{"n":1}\n')
        self.limited(definition, input={"n": 2})
        self.assertEqual(self.content("log.ndjson"), '{"n":1}\n{"n":2}\n')

    def test_a_transaction_changes_nothing(self):
        db = self.on_disk("a.db")
        insert = {"sql": "INSERT INTO t VALUES (?)", "params": ["z" * 1000]}
        self.assertEqual(self.limited(call("sqlite", {"file": db, "statements": [{"sql": "CREATE TABLE t (a)"}, insert]})).status, 0)
        run = self.limited(call("sqlite", {"file": db, "statements": [insert] * 300}))
        self.assertEqual(run.code, SQLITE + "Failed", run)
        connection = sqlite3.connect(db)
        self.assertEqual(connection.execute("SELECT count(*) FROM t").fetchall(), [(1,)])
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        connection.close()
        self.assertEqual(self.limited(call("sqlite", {"file": db, **insert})).status, 0)

    def test_a_cache_without_room_is_a_warning(self):
        mw = [entry("cache", {"key": "k", "ttl": "PT1H", "file": self.on_disk("c.db")})]
        run = self.limited(call("exec", {"argv": ["head", "-c", "300000", "/dev/zero"], "as": "base64"}, middleware=mw))
        self.assertEqual((run.status, len(run.value)), (0, 400000))
        self.assertEqual([line["level"] for line in run.log()], ["warn"], run.err)


@unittest.skipUnless(can_mount(), "no right to mount a file system")
class Disk(Room, Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("disk"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120k", "mwl-test", self.path("disk")], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.path("disk")])

    def test_the_message(self):
        run = self.limited(call("file", {"path": "disk/a", "action": "write"}), input="x" * 300000)
        self.assertIn("No space left on device", run.result["message"])


class Limit(Room, Case):
    """ulimit -f: the system sends SIGXFSZ, which must not end the process."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("disk"))

    def limited(self, definition, input=None):
        command = ["sh", "-c", 'ulimit -f 120; exec "$@"', "sh", *self.command(definition, "--allow-all")]
        return Run(subprocess.run(command, input=json.dumps(input), capture_output=True, text=True, cwd=self.folder, timeout=60))


main()
