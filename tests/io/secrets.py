#!/usr/bin/env python3
"""secrets.py MWLVM: what env has read, and what redact names, is in nothing that people or files keep, only in the value."""
import base64
import glob
import json
import os
import subprocess
import unittest

from flow import MWLVM, Case, call, entry, flow, main, uri
from serve_http import Server

SECRET = 'hunter2/"=&\u00e9 42'
FORMS = [SECRET, json.dumps(SECRET, ensure_ascii=False)[1:-1], "hunter2",
         base64.b64encode(SECRET.encode()).decode()[:16], base64.b64encode(b"user:" + SECRET.encode()).decode()[8:20]]


class Secrets(Case):
    def definition_of(self, server):
        """Reads the secret and passes it on: to a log line, a request, a failure."""
        def step(name, with_, next, **more):
            return {"action": "Call", "call": {"provider": uri(name), "with": with_}, "next": next, **more}

        url = "{{ '" + server.url("/status/404") + "?key=' + 'x' }}"
        return flow({
            "read": step("env", {"names": ["TOKEN"]}, "log", assign={"t": "{{ step.result.value.TOKEN }}"}),
            "log": step("log", {"message": "{{ 'token ' + vars.t }}", "fields": {"t": "{{ vars.t }}"}}, "send"),
            "send": step("http", {"url": url, "headers": {"Authorization": "{{ 'Basic ' + base64.encode(bytes('user:' + vars.t)) }}"},
                                  "query": {"t": "{{ vars.t }}"}, "body": {"t": "{{ vars.t }}"}}, "end",
                         catch=[{"match": {"codes": ["*"]}, "assign": {"f": "{{ failure }}"}, "next": "fail"}]),
            "fail": {"action": "Raise", "result": {"code": "My.Failure", "message": "{{ 'with ' + vars.t }}",
                                                   "details": {"token": "{{ vars.t }}", "earlier": "{{ vars.f }}"}}},
            "end": {"action": "Return"}}, "read")

    def assert_clean(self, text, where):
        for form in FORMS:
            self.assertTrue(form not in text, (where, form, text[max(0, text.find(form) - 80):][:200]))

    def test_it_is_nowhere(self):
        env = {**os.environ, "TOKEN": SECRET}
        with Server() as server:
            content = self.definition(self.definition_of(server))
            for options in ((), ("--trace",), ("--trace=full",), ("--trace=json",), ("-v",),
                            ("--trace-file", "trace.json"), ("--report", "report.html"), ("--record", "record.json")):
                run = self.run_flow(content, server.allow(), "--allow-env=TOKEN", *options, env=env)
                self.assertEqual(run.status, 1, run)
                self.assertIn("My.Failure", run.out)
                self.assert_clean(run.out, options)
                self.assert_clean(run.err, options)
                self.assertIn("[secret]", run.err)
            self.assertEqual(json.loads(server.seen[0][3]), {"t": SECRET})  # it was really used
        kept = [path for path in glob.glob(self.path("*")) if not path.endswith("definition.json")]
        self.assertEqual(len(kept), 3, kept)
        for path in kept:
            with open(path) as f:
                self.assert_clean(f.read(), path)

    def test_the_value_of_a_success_is_not_changed(self):
        env = {**os.environ, "TOKEN": SECRET}
        content = flow({"read": {"action": "Call", "call": {"provider": uri("env"), "with": {"names": ["TOKEN"]}},
                                 "next": "end"}, "end": {"action": "Return"}}, "read")
        run = self.run_flow(content, "--allow-env=TOKEN", "--trace=full", env=env)
        self.assertEqual(run.value, {"TOKEN": SECRET}, run)
        self.assert_clean(run.err, "trace")

    def test_many_runs_share_them(self):
        """run --each: the secret that one thread has read is not shown by another."""
        env = {**os.environ, "TOKEN": SECRET}
        steps = {"read": {"action": "Call", "call": {"provider": uri("env"), "with": {"names": ["TOKEN"]}},
                          "next": "fail"},
                 "fail": {"action": "Raise", "result": {"code": "My.Failure", "message": "{{ step.input.TOKEN }}"}}}
        path = self.definition(flow(steps, "read"))
        done = subprocess.run([MWLVM, "run", path, "--each", "--allow-env=TOKEN"], input="1\n2\n3\n",
                              capture_output=True, text=True, env=env, cwd=self.folder)
        self.assertIn("My.Failure", done.stdout + done.stderr)
        self.assert_clean(done.stdout + done.stderr, "each")

    def test_marks_end_with_their_run(self):
        """Under a limit that has room for some hundred of them."""
        definition = {**call("log", {"message": "x", "level": "debug"}, middleware=[entry("redact", {"paths": ["word"]})])}
        lines = "".join(json.dumps({"word": f"a text of the run number {i} and of no other one"}) + "\n" for i in range(10000))
        done = subprocess.run([MWLVM, "run", self.definition(definition), "--each", "--memory", "8M"], input=lines,
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stdout.count('"type":"success"'), 10000, (done.stdout[-500:], done.stderr[-500:]))

    def test_each_line_of_a_key(self):
        """A secret with several lines is shown line by line by whoever splits it."""
        key = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\n9w0BAQEFAASCAUAwggE8\n-----END KEY-----\n"
        steps = {"read": {"action": "Call", "call": {"provider": uri("env"), "with": {"names": "TOKEN"}}, "next": "log"},
                 "log": {"action": "Call", "call": {"provider": uri("log"), "with": {"message": "{{ step.input.split('\\n')[1] }}"}}, "next": "end"},
                 "end": {"action": "Return", "value": None}}
        run = self.run_flow(flow(steps, "read"), "--allow-env=TOKEN", "--trace=full", env={**os.environ, "TOKEN": key})
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("MIIBVgIBADAN", run.err)
        self.assertIn('"message":"[secret]"', run.err)

    def test_a_long_message_is_not_cut_inside_a_secret(self):
        """The URL is longer than any buffer, and the secret at every place of it."""
        with Server() as server:
            for n in (400, 480, 500, 1000):
                content = {"read": {"action": "Call", "call": {"provider": uri("env"), "with": {"names": "TOKEN"}}, "next": "get"},
                           "get": {"action": "Call", "call": {"provider": uri("http"), "with": {
                               "url": "{{ '" + server.url("/status/404?" + "x" * n) + "' + step.input }}"}}, "next": "end"},
                           "end": {"action": "Return"}}
                run = self.run_flow(flow(content, "read"), server.allow(), "--allow-env=TOKEN", env={**os.environ, "TOKEN": "abcdefghijklmnop"})
                self.assertIn("NonSuccessStatus", run.out)
                self.assertNotIn("abcd", run.out + run.err)

    def test_a_saved_run_keeps_its_secrets(self):
        env = {**os.environ, "TOKEN": SECRET}
        steps = {"read": {"action": "Call", "call": {"provider": uri("env"), "with": {"names": ["TOKEN"]}},
                          "assign": {"t": "{{ step.result.value.TOKEN }}"}, "next": "nap"},
                 "nap": {"action": "Sleep", "for": "PT0.2S", "next": "fail"},
                 "fail": {"action": "Raise", "result": {"code": "My.Failure", "message": "{{ vars.t }}"}}}
        path = self.definition(flow(steps, "read"))
        done = subprocess.run([MWLVM, "run", path, "--allow-env=TOKEN", "--save", self.path("saved"), "--save-at", "nap"],
                              capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(os.stat(self.path("saved")).st_mode & 0o777, 0o600)
        for words in (("show",), ("show", "--json"), ("resume", "--allow-env=TOKEN", "--trace=full")):
            done = subprocess.run([MWLVM, words[0], self.path("saved"), *words[1:]], capture_output=True, text=True, env=env,
                                  stdin=subprocess.DEVNULL)
            self.assert_clean(done.stdout + done.stderr, words)
            self.assertIn("[secret]", done.stdout + done.stderr, words)


class Redact(Case):
    """Parts of the input and of a response, which redact names: short ones, too."""

    INPUT = {"user": {"password": "correct horse", "pin": 42, "vip": True, "name": "ann"}, "cards": [{"number": 411111}, {"number": "5500-1"}]}
    HIDDEN = ["correct horse", "correct%20horse", "411111", "5500-1", "s3ss10n-t0ken", '"pin":42', '"pin": 42', '"vip":true', '"vip": true']
    EVERY = ((), ("--trace",), ("--trace=full",), ("--trace=json",), ("-v",), ("--trace-file", "trace.json"), ("--report", "report.html"),
             ("--record", "record.json"))

    def definition_of(self, server, paths=("user.password", "user.pin", "user.vip", "cards.*.number")):
        def step(name, with_, next, **more):
            return {"action": "Call", "call": {"provider": uri(name), "with": with_}, "next": next, **more}

        log = entry("log", {"message": "around", "values": True, "fields": {"all": "{{ middleware.input }}"}})
        steps = {
            "log": step("log", {"message": "{{ 'password ' + step.input.user.password + ' card ' + step.input.cards[1].number }}", "fields": "{{ step.input }}"}, "send",
                        middleware=[log], assign={"all": "{{ step.input }}"}),
            "send": step("http", {"url": server.url("/session"), "query": {"p": "{{ vars.all.user.password }}"}, "body": "{{ vars.all }}"}, "use",
                         middleware=[entry("redact", {"paths": ["session.token"]})]),
            "use": step("log", {"message": "{{ 'token ' + step.input.session.token }}"}, "fail"),
            "fail": {"action": "Raise", "result": {"code": "My.Failure", "message": "{{ 'with ' + vars.all.user.password }}",
                                                   "details": "{{ {'deep': [vars.all], 'session': step.input.session} }}"}}}
        inner = {"entrypoint": "log", "middleware": [entry("redact", {"paths": list(paths)})], "steps": steps}
        outer = {"go": {"action": "Call", "call": {"flow": "inner"}, "next": "end"}, "end": {"action": "Return"}}
        return flow(outer, "go", flows={"inner": inner})

    def assert_hidden(self, text, where):
        for form in self.HIDDEN:
            self.assertTrue(form not in text, (where, form, text[max(0, text.find(form) - 80):][:200]))

    def test_it_is_nowhere(self):
        with Server() as server:
            content = self.definition(self.definition_of(server))
            for options in self.EVERY:
                run = self.run_flow(content, server.allow(), *options, input=self.INPUT)
                self.assertIn("My.Failure", run.out, run)
                self.assert_hidden(run.out, options)
                self.assert_hidden(run.err, options)
                self.assertIn("ann", run.out + run.err)
            self.assertEqual(json.loads(server.seen[0][3]), self.INPUT)  # it was really used
        kept = [path for path in glob.glob(self.path("*")) if not path.endswith("definition.json")]
        self.assertEqual(len(kept), 3, kept)
        for path in kept:
            with open(path) as f:
                text = f.read()
            self.assert_hidden(text, path)
            self.assertIn("[secret]", text)
            if path.endswith(".json"):
                json.loads(text)

    def test_what_is_marked_late_is_taken_out_of_files(self):
        """A path without a name is known only when the entry has seen the value: files are cleaned at their end."""
        with Server() as server:
            step = {"action": "Call", "call": {"provider": uri("http"), "with": {"url": server.url("/session")}}, "next": "end",
                    "middleware": [entry("redact", {"paths": ["*.*"]})]}
            content = self.definition(flow({"s": step, "end": {"action": "Return", "value": None}}, "s"))
            for options in (("--trace-file", "trace.json"), ("--report", "report.html"), ("--record", "record.json")):
                self.assertEqual(self.run_flow(content, server.allow(), *options).status, 0)
                with open(self.path(options[1])) as f:
                    text = f.read()
                self.assertNotIn("s3ss10n-t0ken", text, options)
                if options[1].endswith(".json"):
                    json.loads(text)

    def test_a_recorded_case_can_be_replayed(self):
        with Server() as server:
            content = self.definition(self.definition_of(server))
            run = self.run_flow(content, server.allow(), "--record", "record.test.json", input=self.INPUT)
        self.assertEqual(run.status, 1, run)
        done = subprocess.run([MWLVM, "test", self.path("record.test.json")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 passed, 0 failed", done.stdout)

    def test_many_runs(self):
        with Server() as server:
            path = self.definition(self.definition_of(server))
            done = subprocess.run([MWLVM, "run", path, "--each", "-j", "2", server.allow()], input=(json.dumps(self.INPUT) + "\n") * 5,
                                  capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stdout.count("My.Failure"), 5, done)
        self.assert_hidden(done.stdout + done.stderr, "each")

    def test_the_value_of_a_success_is_not_changed(self):
        definition = call("log", {"message": "x"}, middleware=[entry("redact", {"paths": ["user"]})])
        self.assertEqual(self.succeeds(definition, input=self.INPUT), self.INPUT)


main()
