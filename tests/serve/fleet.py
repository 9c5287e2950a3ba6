#!/usr/bin/env python3
"""fleet.py MWLVM: two servers on one PostgreSQL: what one starts the other answers; an instant of a schedule starts one run;
a call and a link of one serve at the other; a server that is killed loses nothing."""
import os
import re
import signal
import subprocess
import sys
import time
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "durable"))
from postgres import Server, programs  # noqa: E402
from server import MWLVM, Case, ask, flow, main  # noqa: E402

if not programs():
    print("there is no PostgreSQL")
    sys.exit(77)

URI = "mwl:provider.call/example.com/count/v1"
TAKE = "/v1/calls?provider=" + quote(URI, safe="")


class Member(Case):
    """One server of the fleet; not a case of its own."""

    def __init__(self, case, store, name):
        super().__init__("until")  # any method: it is never run
        self.case, self.store, self.name = case, store, name
        self.folder = case.folder
        self.process = None

    def begin(self, *words):
        self.token = None
        log = open(self.path(self.name + ".log"), "a+")
        self.case.addCleanup(log.close)
        self.process = subprocess.Popen([MWLVM, "serve", "--store", self.store, "--listen", "none", "--unix", self.name + ".sock",
                                         "--token-file", self.name + ".token", "--remote", URI, *words], cwd=self.folder.name,
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.case.addCleanup(self.stop, signal.SIGKILL)

        def ready():
            with open(self.path(self.name + ".log")) as f:
                self.assertIsNone(self.process.poll(), f.read())
            try:
                return self.ask("GET", "/readyz").status == 200
            except OSError:
                return False
        self.until(ready)
        return self

    def path(self, name):
        return super().path(self.name + ".sock" if name == "runs.db-sock" else name)


class Fleet(Case):
    def test_two_servers(self):
        with Server() as postgres:
            self.write("schedule.json", [{"name": "tick", "program": "quick", "every": "1s", "overlap": "allow", "catchUp": "all"}])
            one = Member(self, postgres.uri, "one").begin()
            one.put("p", flow({"a": ask("ok", message="Is it?", schema={"type": "boolean"})}))
            one.put("quick", flow({"a": {"action": "Sleep", "for": "PT0.01S", "next": "end"}}))
            one.put("count", flow({"a": {"action": "Call", "call": {"provider": URI, "with": {}}, "next": "end"}}))
            two = Member(self, postgres.uri, "two").begin("--schedule", "schedule.json")
            self.answers(one, two)
            self.calls(one, two)
            self.schedule(one, two)
            one.stop()
            two.stop()

    def answers(self, one, two):
        one.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: two.get("/v1/runs/x").json["waits"] == 1)
        link = one.post("/v1/runs/x/waits/1/link", status=200).json["link"]
        path = re.sub("^http://[^/]*", "", link)
        two.post(path, "3", status=422)
        two.post(path, "true", status=204)
        self.assertEqual(one.get("/v1/runs/x/result?wait=60").json["value"], True)
        self.assertEqual(two.post("/v1/runs?wait=60", {"program": "quick", "input": 4}, status=200).json["value"], 4)

    def calls(self, one, two):
        one.post("/v1/runs", {"program": "count", "id": "c"}, status=202)
        taken = two.get(TAKE + "&wait=60&lease=600").json
        self.assertEqual(taken["key"], "c.1")
        one.get(TAKE, status=204)
        one.post("/v1/calls/c.1/result", {"value": 8}, status=204)
        two.post("/v1/calls/c.1/result", {"value": 9}, status=409)
        self.assertEqual(two.get("/v1/runs/c/result?wait=60").json["value"], 8)

    def ticks(self, member):
        rows = member.get("/v1/runs?limit=1000").lines
        return sorted(r["run"] for r in rows if r["run"].startswith("tick@"))

    def schedule(self, one, two):
        one.stop()
        one.begin("--schedule", "schedule.json")
        n = len(self.ticks(one))
        self.until(lambda: len(self.ticks(one)) > n + 2)
        two.stop(signal.SIGKILL)
        n = len(self.ticks(one))
        self.until(lambda: len(self.ticks(one)) > n + 1)
        at = [int(time.mktime(time.strptime(t[5:], "%Y-%m-%dT%H:%M:%SZ"))) for t in self.ticks(one)]
        self.assertEqual(at, list(range(at[0], at[0] + len(at))))
        self.until(lambda: all(r["state"] == "done" for r in one.get("/v1/runs?limit=1000").lines if r["run"] in self.ticks(one)[:-2]))


if __name__ == "__main__":
    main()
