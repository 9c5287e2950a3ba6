#!/usr/bin/env python3
"""secrets.py MWLVM: a secret that env has read is in nothing that people or files keep, only in the value."""
import base64
import glob
import json
import os
import subprocess
import unittest

from flow import MWLVM, Case, flow, main, uri
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
                            ("--trace-file", "trace.json"), ("--report", "report.html")):
                run = self.run_flow(content, server.allow(), "--allow-env=TOKEN", *options, env=env)
                self.assertEqual(run.status, 1, run)
                self.assertIn("My.Failure", run.out)
                self.assert_clean(run.out, options)
                self.assert_clean(run.err, options)
                self.assertIn("[secret]", run.err)
            self.assertEqual(json.loads(server.seen[0][3]), {"t": SECRET})  # it was really used
        kept = [path for path in glob.glob(self.path("*")) if not path.endswith("definition.json")]
        self.assertEqual(len(kept), 2, kept)
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


main()
