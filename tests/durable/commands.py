#!/usr/bin/env python3
"""commands.py MWLVM: durable runs as a person uses them: run, resume, ps, show, logs, answer, cancel, prune, backup, and
what is refused."""
import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from workload import turns  # noqa: E402

MWLVM = os.path.abspath(sys.argv[1])
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
MOCK = "mwl:provider.call/mwl/mock/v1"
EXEC = "mwl:provider.call/mwlvm/exec/v1"


def flow(steps, **more):
    return {"$schema": SCHEMA, "entrypoint": next(iter(steps)), "steps": {**steps, "end": {"action": "Return"}}, **more}


def append(text, following):
    return {"action": "Call", "next": following,
            "call": {"provider": EXEC, "with": {"argv": ["sh", "-c", f"echo $MWLVM_CALL_KEY {text} >>seen"]}}}


SLEEP = {"action": "Sleep", "for": "PT1H", "next": "end"}
ASK = {"action": "Call", "next": "end",
       "call": {"provider": "mwl:provider.call/mwlvm/answer/v1", "with": {"name": "ok", "message": "Is it?"}}}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, definition):
        with open(self.path(name), "w") as f:
            json.dump(definition, f)
        return name

    def popen(self, *words, **more):
        return subprocess.Popen([MWLVM, *words], cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def command(self, *words, status=0, **more):
        got = subprocess.run([MWLVM, *words], cwd=self.folder.name, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=200, **more)
        self.assertEqual(got.returncode, status, got.stderr + got.stdout)
        return got

    def on(self, name, *words, **more):
        return self.command(name, "--store", "runs.db", *words, **more)

    def rows(self, *words):
        return [json.loads(line) for line in self.on("ps", "--json", *words).stdout.splitlines()]

    def until(self, true):
        for _ in range(2000):
            if true():
                return
            time.sleep(0.05)
        self.fail("it does not happen")

    def seen(self):
        try:
            with open(self.path("seen")) as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []


class Run(Case):
    def test_a_result_is_shown_once_it_is_stored(self):
        self.write("f.json", flow({"a": {"action": "Return", "value": "{{ frame.input + 1.0 }}"}}))
        got = self.command("run", "f.json", "--store", "runs.db", "--input", "4", "--id", "x")
        self.assertEqual(got.stdout, "5\n")
        self.assertTrue(got.stderr.endswith("mwlvm: run x is in runs.db\n"))
        self.assertEqual([(r["run"], r["state"], r["result"]["value"]) for r in self.rows("--all")], [("x", "done", 5)])

    def test_the_same_command_again_has_the_same_result_and_no_new_effect(self):
        self.write("f.json", flow({"a": append("one", "end")}))
        words = ["run", "f.json", "--store", "runs.db", "--id", "x", "--allow-exec"]
        first = self.command(*words)
        self.assertEqual(self.command(*words).stdout, first.stdout)
        self.assertEqual(self.seen(), ["x.1 one"])
        self.write("f.json", flow({"b": append("other", "end")}))
        self.assertIn("of another program", self.command(*words, status=1).stderr)

    def test_the_columns_of_ps_fit_their_names(self):
        self.write("f.json", flow({"a": {"action": "Sleep", "for": "PT1H", "next": "b"}, "b": {"action": "Return"}}))
        for name in ("short", "n" * 40, "\u00e4" * 30):
            self.command("run", "f.json", "--store", "runs.db", "--id", name, "--detach")
        lines = self.command("ps", "--store", "runs.db").stdout.splitlines()
        self.assertEqual([line.index(word) for line, word in zip(lines, ("STATE", "new", "new", "new"))], [41] * 4)

    def test_another_input_under_the_same_id_is_refused(self):
        self.write("f.json", flow({"a": {"action": "Sleep", "for": "PT0.01S", "next": "b"},
                                   "b": {"action": "Return", "value": "{{ frame.input }}"}},
                                  parameters={"type": "object", "properties": {"x": {}}}))
        words = ["run", "f.json", "--store", "runs.db", "--id", "x"]
        self.command(*words, "--input", '{"amount": 1}', "--arg", "x=1", "--detach")
        for other, what in ((["--input", '{"amount": 2}', "--arg", "x=1"], "another input"),
                            (["--input", "null", "--arg", "x=1"], "another input"),
                            (["--input", '{"amount": 1}'], "other arguments")):
            for more in ([], ["--detach"]):
                got = self.command(*words, *other, *more, status=1)
                self.assertEqual(got.stdout, "")
                self.assertIn(f"run 'x' was started with {what}; `mwlvm resume x --store runs.db` goes on with it", got.stderr)
        got = self.command(*words, "--input", '{ "amount": 1.0 }', "--arg", "x=1")
        self.assertEqual(got.stdout, '{"amount":1}\n')
        self.command("run", "f.json", "--store", "runs.db", "--id", "n", "--detach")  # no input is null
        self.assertEqual(self.command("run", "f.json", "--store", "runs.db", "--id", "n", "--input", "null").stdout, "null\n")

    def test_an_id_that_the_server_would_not_take_is_refused(self):
        self.write("f.json", flow({"b": {"action": "Return", "value": "{{ 1 }}"}}, entrypoint="b"))
        got = self.command("run", "f.json", "--store", "runs.db", "--id", "x" * 501, status=2)
        self.assertIn("--id has at most 500 bytes in a store", got.stderr)
        self.assertFalse(os.path.exists(self.path("runs.db")))
        self.command("run", "f.json", "--store", "runs.db", "--id", "x" * 500)

    def test_a_transition_waits_for_its_commit_and_not_for_a_poll(self):
        """A poll comes each 50 ms; a hundred commits take less than a second. The best of three: the machine is not ours."""
        self.write("f.json", flow(turns(100)))
        took = []
        while len(took) < 3 and min(took, default=1) >= 1:
            began = time.monotonic()
            self.command("run", "f.json", "--store", "runs.db", "--id", f"x{len(took)}")
            took.append(time.monotonic() - began)
        self.assertLess(min(took), 1)
        self.assertGreater(self.rows("--all")[0]["version"], 99)

    def test_limits_are_those_of_the_process_that_drives_it(self):
        """A row may say less, but not more: who can write to the store does not choose the limits."""
        grow = {"action": "Return", "value": "{{ size(vars.l.map(x, vars.l.map(y, string(x + y)))) }}"}
        self.write("f.json", flow({"a": {"action": "Pass", "assign": {"l": "{{ lists.range(700) }}"}, "next": "b"},
                                   "b": {**ASK, "next": "c"}, "c": grow}))
        for run in ("x", "y"):
            self.command("run", "f.json", "--store", "runs.db", "--id", run, "--memory", "1G", "--detach")
            if run == "y":  # it has a snapshot
                process = self.popen("resume", "--store", "runs.db", "y", "--memory", "1G")
                self.until(lambda: [r for r in self.rows() if r["run"] == "y" and r["waits"] == 1])
                process.send_signal(signal.SIGTERM)
                process.communicate()
            self.on("answer", run, "ok", "1")
            got = self.on("resume", run, "--memory", "8M", status=6)
            self.assertEqual(json.loads(got.stdout)["details"], {"limit": "memory"})

    def test_a_seed_means_the_same_wherever_the_run_is(self):
        """The waits of a seed: in virtual time exactly, in real time and in a store about so long, in `test` and `debug` exactly."""
        policies = [{"match": {"codes": ["*"]}, "attempts": 2, "backoff": {"initial": "PT0.8S", "jitter": "full"}}]
        fails = {"action": "Call", "call": {"provider": MOCK, "with": {"failure": {"code": "A.B"}}}, "next": "end",
                 "middleware": [{"provider": "mwl:provider.middleware/mwl/retry/v1", "onEntry": {"with": {"policies": policies}}}],
                 "catch": [{"match": {"codes": ["*"]}, "next": "end"}]}
        definition = flow({"begin": {"action": "Pass", "assign": {"t": "{{ string(wallTime()) }}"}, "next": "a"}, "a": fails})
        definition["steps"]["end"]["value"] = "{{ string(wallTime() - timestamp(vars.t)) }}"
        self.write("f.json", definition)

        def waited(seed, *words):
            return json.loads(self.command("run", "f.json", "--seed", str(seed), *words).stdout)

        for seeds in (range(1, 13), range(2**53 + 1, 2**53 + 25, 2)):
            exact = {seed: waited(seed, "--virtual-time") for seed in seeds}
            by_wait = sorted(seeds, key=lambda seed: float(exact[seed].rstrip("s")))
            self.assertEqual(len(set(exact.values())), len(exact))
            for seed in (by_wait[0], by_wait[-1]):
                for words in ([], ["--store", "runs.db"]):
                    took = float(waited(seed, *words).rstrip("s")) - float(exact[seed].rstrip("s"))
                    self.assertTrue(-0.002 < took < 0.3, (seed, words, took, exact))
        seed = by_wait[0]
        for control in ({"seed": str(seed)}, None):
            case = {"definition": "f.json", "expect": {"result": {"type": "success", "value": exact[seed]}}}
            self.write("case.json", {**case, "control": control} if control else case)
            self.command("test", "case.json", *([] if control else ["--seed", str(seed)]))
        waited(seed, "--virtual-time", "--record", "recorded.json")
        self.command("test", "recorded.json")
        with open(self.path("script"), "w") as f:
            f.write("continue\n")
        self.assertIn(exact[seed], self.command("debug", "f.json", "--seed", str(seed), "--script", "script").stdout)

    def test_the_end_of_a_run_is_shown_as_run_shows_it(self):
        """Whether a store has the run or not: the same Result, explanation, snippet and status; also when it is shown again."""
        codes = {"error": 1, "cancellation": 4, "timeout": 5}
        raises = {kind: {"action": "Raise", "result": {"type": kind, "code": "A.B", "message": "m", "details": {"limit": "fuel"}}} for kind in codes}
        steps = {**raises, "fault": {"action": "Return", "value": "{{ {'a': 1}.b + frame.input }}"}, "spin": {"action": "Pass", "next": "spin"}}
        for name, step in steps.items():
            words = ["run", self.write(f"{name}.json", {"$schema": SCHEMA, "entrypoint": name, "steps": {name: step}}), "--fuel", "100000"]
            status = {**codes, "fault": 1, "spin": 6}[name]
            for more in (["--result", "--pretty"], []):
                plain = self.command(*words, *more, status=status)
                kept = self.command(*words, *more, "--store", "runs.db", "--quiet", "--id", name + str(len(more)), status=status)
                self.assertEqual((kept.stdout, kept.stderr), (plain.stdout, plain.stderr))
            again = self.on("resume", name + "0", "--fuel", "100000", status=status)  # the run is not in memory: no Step is known
            self.assertEqual(again.stdout, plain.stdout)
            said = [line for line in plain.stderr.splitlines() if line.startswith("mwlvm: ")]
            self.assertEqual(again.stderr.splitlines()[0], said[0].partition(" in Step")[0])

    def test_a_run_without_a_result_is_shown_as_run_shows_it(self):
        spin = {"entrypoint": "x", "steps": {"x": {"action": "Pass", "next": "x"}}}
        cleanup = {"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with": {"call": {"flow": spin}}}}
        self.write("f.json", {"$schema": SCHEMA, "middleware": [cleanup], **spin})
        plain = self.command("run", "f.json", "--fuel", "10000", status=6)
        self.assertIn("without a Result", plain.stderr)
        kept = self.command("run", "f.json", "--fuel", "10000", "--store", "runs.db", "--quiet", "--id", "x", status=6)
        self.assertEqual((kept.stdout, kept.stderr), (plain.stdout, plain.stderr))
        again = self.on("resume", "x", "--fuel", "10000", status=6)
        self.assertTrue(plain.stderr.endswith(again.stderr), again.stderr)

    def test_exit_statuses_are_those_of_run(self):
        for kind, status in (("error", 1), ("cancellation", 4), ("timeout", 5)):
            failure = {"type": kind, "code": "A.B", "message": "m"}
            self.write("f.json", flow({"a": {"action": "Call", "call": {"provider": MOCK, "with": {"failure": failure}}, "next": "end"}}))
            got = self.command("run", "f.json", "--store", "runs.db", status=status)
            self.assertEqual(json.loads(got.stdout)["code"], "A.B")

    def test_killed_in_the_middle_and_resumed(self):
        self.write("f.json", flow({"a": append("one", "n"), "n": {"action": "Sleep", "for": "PT3S", "next": "b"},
                                   "b": append("two", "end")}))
        process = self.popen("run", "f.json", "--store", "runs.db", "--id", "x", "--allow-exec", "--input", "7")
        self.until(lambda: self.seen() and self.rows() and self.rows()[0]["version"] >= 0)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual([r["state"] for r in self.rows()], ["live"])
        self.assertIn("Step", self.on("show", "x").stdout)
        self.on("resume", "--allow-exec")
        lines = self.seen()
        self.assertEqual((set(lines), lines[-1]), ({"x.1 one", "x.2 two"}, "x.2 two"))
        self.assertEqual(lines.count("x.2 two"), 1)
        self.assertEqual([r["state"] for r in self.rows("--all")], ["done"])

    def test_ctrl_c_leaves_the_run_in_the_store(self):
        self.write("f.json", flow({"a": SLEEP}))
        process = self.popen("run", "f.json", "--store", "runs.db", "--id", "x")
        self.until(lambda: os.path.exists(self.path("runs.db")) and [r["state"] for r in self.rows()] == ["waiting"])
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=100)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("the runs stay in the store", error)
        self.assertEqual([r["state"] for r in self.rows()], ["waiting"])

    def test_a_second_owner_is_told_who_has_it(self):
        self.write("f.json", flow({"a": SLEEP}))
        process = self.popen("run", "f.json", "--store", "runs.db")
        self.until(lambda: os.path.exists(self.path("runs.db")) and len(self.rows()) == 1)
        got = self.on("resume", "--all", status=1)
        self.assertIn(f"in use by process {process.pid} (mwlvm run)", got.stderr)
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "y")  # everybody may start
        self.assertEqual(len(self.rows()), 2)
        process.kill()
        process.communicate()

    def test_a_sleep_of_an_hour_is_a_row_and_nothing_in_memory(self):
        self.write("f.json", flow({"a": SLEEP}))
        for i in range(5):
            self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", f"s{i}")
        self.assertIn("0 done, 0 failed, 0 stuck", self.on("resume", "--all").stderr)
        self.assertEqual([(r["state"], "due" in r) for r in self.rows()], [("waiting", True)] * 5)
        base = sqlite3.connect(self.path("runs.db"))
        base.execute("update run set due_ns = 0")  # as if the hour had passed: the store wakes them
        base.commit()
        base.close()
        self.on("resume", "--all")
        self.assertEqual([r["state"] for r in self.rows()], ["waiting"] * 5)  # the snapshot knows better

    def test_permissions_are_asked_for_before_a_run_goes_on(self):
        self.write("f.json", flow({"a": append("one", "end")}))
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "x", "--allow-exec")
        self.assertIn("--allow-exec", self.on("resume", "--all", status=2).stderr)
        self.on("resume", "--all", "--allow-exec")
        self.assertEqual(self.seen(), ["x.1 one"])


class Messages(Case):
    def setUp(self):
        super().setUp()
        self.write("ask.json", flow({"a": ASK}))
        self.command("run", "ask.json", "--store", "runs.db", "--detach", "--id", "x")

    def test_an_answer_before_its_wait_is_kept(self):
        self.on("answer", "x", "ok", '{"yes": true}')
        self.assertEqual(self.on("resume", "x").stdout, '{"yes":true}\n')

    def test_an_answer_to_an_open_wait(self):
        self.on("resume", "--all")
        waits = [json.loads(line) for line in self.on("ps", "--waits", "--json").stdout.splitlines()]
        self.assertEqual([(w["run"], w["name"], w["question"]["message"]) for w in waits], [("x", "ok", "Is it?")])
        self.on("answer", "x", "ok", "1", "--key", "k")
        self.assertIn("answered already", self.on("answer", "x", "ok", "2", status=1).stderr)
        self.assertIn("answered already", self.on("answer", "x", "ok", "1", "--key", "k", status=1).stderr)
        self.assertEqual(self.on("resume").stdout, "1\n")
        self.assertIn("is over", self.on("answer", "x", "ok", "3", status=1).stderr)
        self.assertIn("no run 'y'", self.on("answer", "y", "ok", "3", status=1).stderr)
        self.on("answer", "x", "ok", "{", status=2)

    def test_an_answer_settles_no_call_for_a_worker(self):
        uri = "mwl:provider.call/example.com/count/v1"
        self.write("call.json", flow({"a": {"action": "Call", "call": {"provider": uri}, "next": "end"}}))
        self.command("run", "call.json", "--store", "runs.db", "--detach", "--id", "y", "--remote", uri)
        early = self.on("answer", "y", "y.1", "true", status=1).stderr
        self.assertIn("'y.1' is a call for a worker outside", early)
        self.on("resume", "--all", "--remote", uri)
        self.on("answer", "y", "y.1", '{"value": 1}', status=1)
        for name in ("y. 1", "y.+1", "y.1x"):  # nearly: kept, and for nobody
            self.on("answer", "y", name, '{"value": 1}')
        self.on("resume", "--all", "--remote", uri)
        waits = [json.loads(line) for line in self.on("ps", "--waits", "--json").stdout.splitlines()]
        self.assertEqual([w["name"] for w in waits], ["ok", "y.1"])
        self.on("answer", "x", "x.1.ok", "1")  # a name like others

    def test_a_run_in_the_foreground_gets_its_answer(self):
        process = self.popen("resume", "--store", "runs.db", "x")
        self.until(lambda: self.rows()[0]["waits"] == 1)
        self.on("answer", "x", "ok", "[1]")
        out, error = process.communicate(timeout=100)
        self.assertEqual((process.returncode, out), (0, "[1]\n"), error)

    def test_cancel(self):
        self.on("resume", "--all")
        self.on("cancel", "x", "--reason", "enough")
        self.on("cancel", "x")
        got = self.on("resume", "x", status=4)
        self.assertEqual(json.loads(got.stdout)["type"], "cancellation")
        self.assertIn("enough", got.stdout)
        self.on("cancel", "x")  # it is over: nothing to do
        self.assertIn("is failed since", self.on("show", "x").stdout)

    def test_logs(self):
        self.on("answer", "x", "ok", "1")
        self.on("resume", "x")
        events = [json.loads(line) for line in self.on("logs", "x", "--json").stdout.splitlines()]
        self.assertEqual([e["kind"] for e in events], ["accepted", "step", "call", "answered", "step", "done"])
        self.assertEqual((events[1]["text"], events[1]["flow"], "flow" in events[2]), ("a", "", False))
        with contextlib.closing(sqlite3.connect(self.path("runs.db"), isolation_level=None)) as base:
            base.execute("update event set body = 'a' where n = ?", (events[1]["n"],))  # as older versions wrote it
        line = json.loads(self.on("logs", "x", "--json").stdout.splitlines()[1])
        self.assertEqual((line["text"], "flow" in line), ("a", False))
        behind = self.on("logs", "--json", "--after", str(events[4]["n"])).stdout.splitlines()
        self.assertEqual([json.loads(line)["kind"] for line in behind], ["done"])

    def test_prune_and_backup(self):
        self.on("answer", "x", "ok", "1")
        self.on("resume", "x")
        self.command("run", "ask.json", "--store", "runs.db", "--detach", "--id", "y")
        old = os.umask(0o022)
        self.on("backup", "copy.db")
        os.umask(old)
        for name in ("runs.db", "copy.db"):  # they have what runs know, also secrets
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o600, name)
        self.on("backup", self.path("again.db"))
        self.assertEqual([n for n in os.listdir(self.folder.name) if "part" in n], [])
        self.assertIn("exists already", self.on("backup", "copy.db", status=1).stderr)
        self.assertEqual(self.on("prune").stdout, "0 removed\n")
        self.assertEqual(self.on("prune", "--keep", "PT0S", "--json").stdout, '{"removed":1}\n')
        self.assertEqual([r["run"] for r in self.rows("--all")], ["y"])
        got = self.command("ps", "--store", "copy.db", "--all", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["run"] for line in got], ["x", "y"])
        self.on("prune", "--keep", "soon", status=2)


class Refused(Case):
    def test_files_of_another_kind(self):
        with open(self.path("runs.db"), "w") as f:
            f.write("not a database, but long enough to be one: " + "x" * 5000)
        self.assertIn("not a store of runs", self.on("ps", status=3).stderr)
        os.unlink(self.path("runs.db"))
        self.assertIn("No such file", self.on("ps", status=2).stderr)
        base = sqlite3.connect(self.path("runs.db"))
        base.execute("create table t(x)")
        base.commit()
        base.close()
        self.assertIn("not a store of runs", self.on("ps", status=3).stderr)

    def test_a_store_of_another_version(self):
        self.write("f.json", flow({"a": SLEEP}))
        self.command("run", "f.json", "--store", "runs.db", "--detach")
        base = sqlite3.connect(self.path("runs.db"))
        base.execute("pragma user_version = 99")
        base.close()
        self.assertIn("version 99", self.on("ps", status=3).stderr)

    def test_an_answer_that_does_not_fit_its_schema_is_refused(self):
        wait = {**ASK["call"], "with": {"name": "ok", "schema": {"type": "integer", "minimum": 3}}}
        self.write("f.json", flow({"a": {**ASK, "call": wait}}))
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "x")
        self.on("answer", "x", "ok", "1")  # nobody waits yet: it is kept, and checked when its wait opens
        self.on("resume", "--all")
        self.assertIn("refused", self.on("logs", "x").stdout)
        self.assertEqual(self.rows()[0]["waits"], 1)
        self.assertEqual(self.rows()[0]["messages"], 0)
        got = self.on("answer", "x", "ok", "2", status=1).stderr
        self.assertIn("does not fit its schema", got)
        self.assertIn("3", got)
        self.on("answer", "x", "ok", '"4"', status=1)
        self.on("answer", "x", "ok", "5")
        self.assertEqual(self.on("resume", "x").stdout, "5\n")

    def test_a_store_of_the_first_version_is_upgraded(self):
        self.write("f.json", flow({"a": ASK}))
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "x")
        self.on("resume", "--all")
        base = sqlite3.connect(self.path("runs.db"))
        base.executescript("""drop index wait_call; drop index run_ended; drop index run_stuck; drop table value;
            alter table wait drop column provider; alter table wait drop column lease_ns;
            alter table wait drop column attempt;
            create index run_ended on run(ended_ns) where ended_ns is not null; pragma user_version = 1""")
        base.close()
        self.on("answer", "x", "ok", "7")
        self.assertEqual(self.on("resume", "x").stdout, "7\n")

    def test_a_damaged_snapshot_is_stuck_and_the_others_go_on(self):
        self.write("f.json", flow({"a": ASK}))
        for run in ("x", "y"):
            self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", run)
        self.on("resume", "--all")
        base = sqlite3.connect(self.path("runs.db"))
        base.execute("update run set snapshot = zeroblob(200) where id = 'x'")
        base.commit()
        base.close()
        for run in ("x", "y"):
            self.on("answer", run, "ok", "1")
        got = self.on("resume", "--all", status=1)
        self.assertIn("1 done, 0 failed, 1 stuck", got.stderr)
        self.assertEqual({r["run"]: r["state"] for r in self.rows("--all")}, {"x": "stuck", "y": "done"})
        self.assertIn("cannot be loaded", self.on("show", "x", status=3).stdout)
        self.on("cancel", "x")
        self.assertEqual(self.rows(), [])

    def damaged(self, dice):
        """A copy of the store with bits, a page or its end gone."""
        data = bytearray(self.whole)
        kind, page = dice.choice(("bits", "page", "end")), 4096
        if kind == "bits":
            for _ in range(dice.choice((1, 20, 200))):
                data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind == "page":
            at = page * dice.randrange(len(data) // page)
            data[at:at + page] = dice.choice((bytes(page), dice.randbytes(page)))
        else:
            del data[dice.randrange(len(data)):]
        return data

    def ask_all(self, what):
        """Every command ends with a clear word, whatever it finds. Returns the statuses."""
        statuses = []
        for words in (("ps", "--all", "--json"), ("show", "x3"), ("logs", "--json"), ("resume", "--all", "--allow-exec"),
                      ("answer", "x15", "ok", "1"), ("cancel", "x16"), ("prune",)):
            got = subprocess.run([MWLVM, words[0], "--store", "runs.db", *words[1:]], cwd=self.folder.name,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=200)
            statuses.append(got.returncode)
            if got.returncode == 3:
                self.assertRegex(got.stderr, "damaged|checksum|cannot be loaded", (what, words))
            elif got.returncode == 1:
                self.assertRegex(got.stderr, "[1-9][0-9]* stuck|there is no run|is stuck|is over", (what, words))
            else:
                self.assertEqual((got.returncode, got.stderr.count("runs.db:")), (0, 0), (what, words, got.stderr))
        return statuses

    def put(self, data, log=b""):
        for name in os.listdir(self.folder.name):
            if name.startswith("runs.db"):
                os.unlink(self.path(name))
        for name, content in (("runs.db", data), ("runs.db-wal", log)):
            if content:
                with open(self.path(name), "wb") as f:
                    f.write(content)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_a_damaged_file_is_reported(self):
        self.write("f.json", flow({"a": ASK}))
        for i in range(20):
            self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", f"x{i}", "--input", json.dumps("y" * 300))
        self.on("resume", "--all")
        for i in range(10):
            self.on("answer", f"x{i}", "ok", "1")
        self.whole = self.read("runs.db")
        found = 0
        for seed in range(14):
            self.put(self.damaged(random.Random(seed)))
            found += 3 in self.ask_all(f"seed {seed}")
        self.assertGreater(found, 5)
        self.put(self.whole[:len(self.whole) // 2])
        self.assertEqual(set(self.ask_all("half of it")), {3})

    def test_a_damaged_log_and_a_check_after_an_end_that_was_not_clean(self):
        self.write("f.json", flow({"a": append("one", "b"), "b": ASK}))
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "x3", "--allow-exec")
        process = self.popen("resume", "--store", "runs.db", "x3", "--allow-exec")
        self.until(lambda: self.rows()[0]["waits"] == 1)
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "x4", "--allow-exec")
        process.kill()
        process.communicate()
        data, log = self.read("runs.db"), self.read("runs.db-wal")
        self.assertGreater(len(log), 4096)
        dice = random.Random(1)
        for seed in range(4):  # SQLite goes by what is whole, from the front
            bad = bytearray(log)
            for _ in range(1 + seed * 5):
                bad[dice.randrange(len(bad))] ^= 255
            self.put(data, bytes(bad[:dice.randrange(len(bad))] if seed % 2 else bad))
            self.ask_all(f"log {seed}")
        self.put(data, log)
        base = sqlite3.connect(self.path("runs.db"))
        root = base.execute("select rootpage from sqlite_schema where name = 'event_run'").fetchone()[0]
        base.execute("pragma wal_checkpoint(truncate)")
        base.close()
        os.unlink(self.path("seen"))
        with open(self.path("runs.db"), "r+b") as f:
            f.seek((root - 1) * 4096)
            f.write(bytes(4096))
        got = self.on("resume", "--all", "--allow-exec", status=3)  # before anything is done
        self.assertRegex(got.stderr, r"runs.db: damaged \(")
        self.assertEqual(self.seen(), [])

    def test_a_full_disk_loses_nothing(self):
        self.write("f.json", flow({"a": append("one", "b"), "b": append("two", "end")}))
        self.command("run", "f.json", "--store", "runs.db", "--detach", "--id", "x", "--allow-exec")
        size = os.path.getsize(self.path("runs.db"))

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        process = self.popen("resume", "--store", "runs.db", "--all", "--allow-exec", preexec_fn=small)
        try:
            process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self.assertGreater(size, 8192)
        self.assertEqual(self.seen(), [])  # nothing was committed, so nothing was released
        self.on("resume", "--all", "--allow-exec")
        self.assertEqual(self.seen(), ["x.1 one", "x.2 two"])

    def test_words_that_do_not_fit(self):
        self.write("f.json", flow({"a": SLEEP}))
        self.write("ask.json", flow({"a": ASK}))
        self.assertIn("needs --store", self.command("run", "ask.json", status=2).stderr)
        self.command("run", "f.json", "--detach", status=2)
        self.command("run", "f.json", "--all", status=2)
        self.command("run", "f.json", "--store", "runs.db", "--trace", status=2)
        self.command("run", "f.json", "--store", "runs.db", "--each", status=2)
        self.command("ps", status=2)
        self.command("run", "f.json", "--store", "runs.db", "--detach")
        self.on("ps", "--state", "lost", status=2)
        self.on("answer", "x", status=2)
        self.on("logs", "nobody", status=1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
