#!/usr/bin/env python3
"""secrets.py MWLVM: what a durable run has marked as secret is hidden by every process that shows something of it: after a
crash, in commands and by HTTP, as long as its row is kept; and no longer."""
import base64
import contextlib
import json
import os
import signal
import sqlite3

from server import Case, ask, flow, main

SECRET = 'hunter2/"=&\u00e9 42'
PIN = "correct horse"
FORMS = ["hunter2", SECRET, json.dumps(SECRET, ensure_ascii=False)[1:-1], base64.b64encode(SECRET.encode()).decode()[:16], PIN,
         '"code":7', '"code": 7']


def call(name, with_, following, **more):
    return {"action": "Call", "call": {"provider": f"mwl:provider.call/mwlvm/{name}/v1", "with": with_}, "next": following, **more}


REDACT = {"provider": "mwl:provider.middleware/mwlvm/redact/v1", "onEntry": {"with": {"paths": ["user.pin", "user.code"]}}}
STEPS = {
    "read": call("env", {"names": ["TOKEN"]}, "wait", assign={"t": "{{ step.result.value.TOKEN }}", "given": "{{ step.input }}"},
                 middleware=[REDACT]),
    "wait": ask("go", "log", message="{{ 'for ' + vars.t + toJson(vars.given) }}"),
    "log": call("log", {"message": "{{ 'token ' + vars.t }}", "fields": "{{ vars.given }}"}, "fail"),
    "fail": {"action": "Raise", "result": {"code": "My.Failure", "message": "{{ 'with ' + vars.t }}",
                                           "details": {"t": "{{ vars.t }}", "given": "{{ vars.given }}"}}}}
INPUT = {"user": {"pin": PIN, "code": 7, "name": "ann"}}


class Secrets(Case):
    def begin(self, *words, token=None):
        """The variable is set only for a server that may read it."""
        os.environ.pop("TOKEN", None)
        if token:
            os.environ["TOKEN"] = token
        self.serve("--allow-env=TOKEN", *words)
        os.environ.pop("TOKEN", None)

    def assert_clean(self, text, where, some=True):
        for form in FORMS:
            self.assertTrue(form not in text, (where, form, text[max(0, text.find(form) - 80):][:200]))
        if some:
            self.assertIn("[secret]", text, where)

    def shown(self, *words):
        got = self.command(words[0], "--store", "runs.db", *words[1:])
        return got.stdout + got.stderr

    def output(self):
        with open(self.path("log")) as f:
            return f.read()

    def row(self, columns, run="x"):
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as db:
            return db.execute(f"select {columns} from run where id = ?", (run,)).fetchone()

    def interrupted(self):
        """A run that waits behind its marks, of a server that was killed."""
        self.begin(token=SECRET)
        self.put("p", flow(STEPS))
        self.post("/v1/runs", {"program": "p", "id": "x", "input": INPUT}, status=202)
        self.until(lambda: self.state("x") == "waiting" or self.get("/v1/waits").body)
        self.stop(signal.SIGKILL)

    def test_whoever_takes_up_or_shows_a_run_hides_what_it_has_marked(self):
        self.interrupted()
        for words in (("show", "x"), ("show", "x", "--json"), ("ps", "--waits"), ("ps", "--waits", "--json")):
            self.assert_clean(self.shown(*words), words)
        self.begin()  # it cannot know the secret from its environment
        for path in ("/v1/runs/x", "/v1/runs/x?full=1", "/v1/waits"):
            self.assert_clean(self.get(path).body, path)
        self.assert_clean(self.get("/v1/runs/x/snapshot", headers={"Accept": "application/json"}).body, "snapshot")
        self.post("/v1/runs/x/answers/go", "true", status=204)
        self.assert_clean(self.get("/v1/runs/x/result?wait=30").body, "result")
        self.assertEqual(self.get("/v1/runs/x").json["result"]["details"]["given"]["user"]["name"], "ann")
        for path in ("/v1/runs/x", "/v1/runs?results=1"):
            self.assert_clean(self.get(path).body, path)
        self.until(lambda: "token" in self.output())
        self.stop()
        self.assert_clean(self.output(), "the server's output")
        self.assertIn("hunter2", self.row("result")[0])  # it was really used
        for words in (("show", "x"), ("show", "x", "--json"), ("ps", "--all", "--json")):
            self.assert_clean(self.shown(*words), words)
        self.assert_clean(self.shown("logs"), "logs", some=False)
        got = self.command("resume", "--store", "runs.db", "x", "--result", "--allow-env=TOKEN", status=1)
        self.assert_clean(got.stdout, "resume")
        self.assert_clean(got.stderr, "resume")

    def test_a_command_that_takes_up_a_run_hides_what_it_has_marked(self):
        self.interrupted()
        self.command("answer", "--store", "runs.db", "x", "go", "true")
        got = self.command("resume", "--store", "runs.db", "x", "--result", "--allow-env=TOKEN", status=1)
        self.assert_clean(got.stdout, "Result")
        self.assert_clean(got.stderr, "log and failure")
        self.assertIn('"message":"token [secret]"', got.stderr)

    def test_what_is_marked_ends_with_its_run(self):
        self.begin(token="a-word-of-one-run")
        self.put("p", flow({"a": call("env", {"names": "TOKEN"}, "b"), "b": ask("go")}))
        self.put("q", flow({"a": ask("go", message="{{ step.input }}")}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.post("/v1/runs", {"program": "q", "id": "y", "input": "a-word-of-one-run"}, status=202)
        self.until(lambda: self.get("/v1/runs/x").json["open"])
        self.assertNotIn("a-word-of-one-run", self.get("/v1/runs/x").body)
        self.post("/v1/runs/x/answers/go", "1", status=204)
        self.get("/v1/runs/x/result?wait=30")
        self.until(lambda: "a-word-of-one-run" in self.get("/v1/runs/y").body)

    def test_what_a_run_inside_has_marked_is_in_the_row_of_the_outer_one(self):
        self.write("inner.json", flow({"a": call("env", {"names": "TOKEN"}, "end")}))
        self.begin("--allow-read=.", token=SECRET)
        self.put("p", flow({"a": call("run", {"path": "inner.json"}, "b", assign={"t": "{{ step.result.value }}"}), "b": ask("go")}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.get("/v1/waits").body)
        self.stop(signal.SIGKILL)
        self.assertIn("hunter2", str(self.row("snapshot")[0]) + str(self.journal()))
        self.assert_clean(self.shown("show", "x"), "show")
        self.begin("--allow-read=.")
        self.post("/v1/runs/x/cancel", {"reason": "because of " + SECRET}, status=202)
        self.until(lambda: self.state("x") == "failed")
        self.assert_clean(self.shown("logs"), "the reason in the events")

    def journal(self):
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as db:
            return db.execute("select bytes from journal").fetchall()

    def test_a_run_of_a_store_can_mark_one_mebibyte(self):
        """4,096 short texts."""
        self.write("p.json", flow({"a": {"action": "Return"}}, middleware=[{
            "provider": REDACT["provider"], "onEntry": {"with": {"paths": ["words"]}}}]))
        for n, status in ((4000, 0), (4200, 1)):
            words = {"words": [f"word number {i}" for i in range(n)]}
            got = self.command("run", "p.json", "--store", "runs.db", "--id", f"n{n}", "--input", json.dumps(words), status=status)
            self.assertEqual("Redact.OutOfMemory" in got.stdout, status == 1, got.stdout[-300:])
            self.assertNotIn("word number 7", self.shown("show", f"n{n}"))

    def test_a_row_with_damaged_marks_is_refused_and_shows_nothing(self):
        self.interrupted()
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as db:
            for table, column in (("run", "snapshot"), ("journal", "bytes")):
                for key, bytes_ in db.execute(f"select rowid, {column} from {table} where {column} is not null").fetchall():
                    self.assertEqual(bytes_[:4], b"MWLM")
                    db.execute(f"update {table} set {column} = ? where rowid = ?", (bytes_[:8] + b"\xff\xff\xff\x7f" + bytes_[12:], key))
            db.commit()
        self.assert_clean(self.shown("show", "x"), "show", some=False)
        self.begin()
        for path in ("/v1/runs/x", "/v1/waits"):
            self.assert_clean(self.get(path).body, path, some=False)
        self.post("/v1/runs/x/answers/go", "true", status=204)  # somebody has to take it up
        self.until(lambda: self.state("x") == "stuck")
        for path in ("/v1/runs/x", "/v1/runs", "/v1/waits"):
            self.assert_clean(self.get(path).body, path, some=False)
        self.assertIn("damaged", self.get("/v1/runs/x").json["why"])


main()
