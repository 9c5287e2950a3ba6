#!/usr/bin/env python3
"""calls.py MWLVM: calls for workers outside: the example workers in Python and JavaScript, leases, a kill of the server."""
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from urllib.parse import quote

from server import ROOT, Case, ask, flow, main

URI = "mwl:provider.call/example.com/count/v1"
COUNT = flow({"a": {"action": "Call", "call": {"provider": URI, "with": {"how": "words"}}, "next": "end"}})
TAKE = "/v1/calls?provider=" + quote(URI, safe="")
WORKERS = os.path.join(ROOT, "tools", "examples", "workers")


class Calls(Case):
    def begin(self):
        self.serve("--remote", URI)
        self.put("count", COUNT)

    def start(self, run, text="one two three"):
        self.post("/v1/runs", {"program": "count", "id": run, "input": {"text": text}}, status=202)

    def test_take_renew_settle(self):
        self.begin()
        self.get(TAKE, status=204)
        self.get("/v1/calls", status=400)
        self.start("x")
        call = self.get(TAKE + "&wait=30&lease=1").json
        self.assertEqual((call["key"], call["attempt"], call["call"]["arguments"]), ("x.1", 1, {"how": "words"}))
        self.assertEqual(call["call"]["input"], {"text": "one two three"})
        self.get(TAKE, status=204)
        again = self.get(TAKE + "&wait=60").json  # when the lease is over
        self.assertEqual((again["key"], again["attempt"]), ("x.1", 2))
        self.post("/v1/calls/x.1/lease?attempt=1", status=409)
        self.post("/v1/calls/x.1/lease?attempt=2&lease=60", status=204)
        for wrong in ("attempt=2&lease=0", "attempt=2&lease=-1", "attempt=2&lease=1h", "attempt=2&lease=nan", "attempt=two", "lease=60"):
            self.post("/v1/calls/x.1/lease?" + wrong, status=400)
        self.get(TAKE + "&lease=soon", status=400)
        self.post("/v1/calls/x.1/lease?attempt=2&lease=1e9", status=400)
        self.post("/v1/calls/x.1/lease?attempt=2&lease=999999999", status=204)
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as base:
            until = base.execute("select lease_ns from wait where provider <> ''").fetchone()[0] / 1e9
        self.assertLessEqual(until, time.time() + 24 * 3600)  # a worker that is gone keeps it no longer than a day
        self.assertGreater(until, time.time() + 23 * 3600)
        self.post("/v1/calls/x.1/result", {"words": 3}, status=422)
        self.post("/v1/calls/x.1/result", {"value": 3}, status=204)
        self.assertEqual(self.get("/v1/runs/x/result?wait=60").json["value"], 3)
        self.post("/v1/calls/x.1/result", {"value": 4}, status=409)
        self.post("/v1/calls/nobody.1/result", {"value": 4}, status=404)

    def test_an_answer_settles_no_call(self):
        worker, answerer = (self.command("serve", "--new-token", scope, "--tokens", "tokens").stdout.strip()
                            for scope in ("work", "answer"))
        self.serve("--remote", URI, "--tokens", "tokens")
        self.put("count", COUNT)
        self.put("ask", flow({"a": ask("ok")}))
        self.start("x")
        for name in ("x.1", "x.2", "x.%201", "x.+1", "x.01", "x.1e"):  # also before the call is open
            got = self.post("/v1/runs/x/answers/" + name, "true", token=answerer, status=403)
            self.assertIn("a call for a worker", got.json["title"])
        self.get(TAKE, token=answerer, status=403)
        self.post("/v1/calls/x.1/result", {"value": 1}, token=answerer, status=403)
        self.assertEqual(self.get(TAKE + "&wait=30", token=worker).json["key"], "x.1")
        self.post("/v1/calls/x.1/lease?attempt=1&lease=60", token=worker, status=204)
        self.post("/v1/runs", {"program": "ask", "id": "y"}, status=202)
        self.post("/v1/runs/y/answers/ok", "1", token=worker, status=403)
        self.post("/v1/runs/y/answers/ok", "5", token=answerer, status=204)
        for path in ("/v1/runs", "/v1/runs/x/result", "/v1/events", "/metrics"):
            self.get(path, token=worker, status=403)
            self.get(path, token=answerer, status=403)
        self.post("/v1/calls/x.1/result", {"value": 3}, token=worker, status=204)
        self.assertEqual([self.get(f"/v1/runs/{r}/result?wait=60").json["value"] for r in "xy"], [3, 5])

    def test_head_takes_no_call(self):
        self.begin()
        self.start("x")
        self.until(lambda: self.get("/v1/waits").lines)
        self.ask("HEAD", TAKE, status=405)
        self.assertEqual(self.get(TAKE).json["attempt"], 1)
        self.ask("HEAD", "/v1/runs", status=200)

    def test_a_failure_is_one_of_the_flow(self):
        self.begin()
        self.start("x")
        self.get(TAKE + "&wait=30")
        self.post("/v1/calls/x.1/result", {"failure": {"code": "Provider.Call.Count.Odd", "message": "odd"}}, status=204)
        got = self.get("/v1/runs/x/result?wait=60").json
        self.assertEqual((got["type"], got["code"], got["message"]), ("error", "Provider.Call.Count.Odd", "odd"))

    def test_each_attempt_and_each_cleanup_has_its_own_key(self):
        self.serve("--remote", URI)
        retry = {"provider": "mwl:provider.middleware/mwl/retry/v1",
                 "onEntry": {"with": {"policies": [{"match": {"codes": ["*"]}, "attempts": 2}]}}}
        release = {"provider": "mwl:provider.middleware/mwl/finally/v1",
                   "onAlways": {"with": {"call": {"provider": URI, "with": {"how": "release"}}}}}
        self.put("count", flow({"a": {"action": "Call", "call": {"provider": URI, "with": {"how": "charge"}},
                                      "middleware": [retry, release], "next": "end"}}))
        self.start("x")
        seen, wrong = [], {"failure": {"code": "Provider.Call.Count.Odd", "message": "odd"}}
        for answer in (wrong, {"value": 0}, {"value": 1}, {"value": 0}):
            if len(seen) == 2:  # a call that is open keeps its key through a crash
                self.until(lambda: any(w.get("key", w.get("name")) == "x.3" for w in self.get("/v1/waits").lines))
                self.stop(signal.SIGKILL)
                self.serve("--remote", URI)
            call = self.get(TAKE + "&wait=30&lease=60").json
            seen.append((call["key"], call["call"]["arguments"]["how"]))
            self.post(f"/v1/calls/{call['key']}/result", answer, status=204)
        self.assertEqual(seen, [("x.1", "charge"), ("x.2", "release"), ("x.3", "charge"), ("x.4", "release")])
        self.assertEqual(self.get("/v1/runs/x/result?wait=60").json["value"], 1)

    def test_calls_and_answers_outlive_the_server(self):
        self.begin()
        for run in ("x", "y"):
            self.start(run)
        keys = {self.get(TAKE + "&wait=30&lease=3600").json["key"] for _ in range(2)}
        self.assertEqual(keys, {"x.1", "y.1"})
        self.post("/v1/calls/x.1/result", {"value": 1}, status=204)
        self.stop(signal.SIGKILL)
        self.serve("--remote", URI)
        self.get(TAKE, status=204)  # the lease stands
        self.post("/v1/calls/y.1/result", {"value": 2}, status=204)
        self.assertEqual([self.get(f"/v1/runs/{r}/result?wait=60").json["value"] for r in "xy"], [1, 2])

    def example(self, *words):
        self.begin()
        worker = subprocess.Popen([*words, f"http://127.0.0.1:{self.port}", URI], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "MWLVM_TOKEN": self.token})
        try:
            for i in range(5):
                self.start(f"r{i}", "a b " * i)
            for i in range(1, 5):
                self.assertEqual(self.get(f"/v1/runs/r{i}/result?wait=60").json["value"], {"words": 2 * i})
            self.assertEqual(self.get("/v1/runs/r0/result?wait=60").json["code"], "Provider.Call.Count.Failed")
        finally:
            worker.kill()
            worker.wait()
            worker.stdout.close()

    def test_the_worker_in_python(self):
        self.example(sys.executable, os.path.join(WORKERS, "worker.py"))

    def test_the_worker_in_javascript(self):
        if not shutil.which("node"):
            self.skipTest("there is no node")
        self.example("node", os.path.join(WORKERS, "worker.mjs"))


if __name__ == "__main__":
    main()
