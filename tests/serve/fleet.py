#!/usr/bin/env python3
"""fleet.py MWLVM: two servers on one PostgreSQL: what one starts the other answers; an instant of a schedule starts one run;
a call and a link of one serve at the other; both show the same events, in their order and when they are committed; a server
that is killed loses nothing."""
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

    def addCleanup(self, *what):
        self.case.addCleanup(*what)

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


class Session:
    """One connection of psql: starting it takes longer than asking."""

    def __init__(self, postgres):
        self.process = subprocess.Popen(["psql", postgres.uri, "-XAtq"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self, text):
        self.process.stdin.write(text + ";\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()


class Fleet(Case):
    def test_what_a_run_has_marked_as_secret_goes_with_it(self):
        """The second server cannot know the secret from its environment."""
        def call(name, with_, following, **more):
            return {"action": "Call", "call": {"provider": f"mwl:provider.call/mwlvm/{name}/v1", "with": with_}, "next": following, **more}

        steps = {"a": call("env", {"names": "TOKEN"}, "b", assign={"t": "{{ step.result.value }}"}),
                 "b": ask("go", "c", message="{{ 'for ' + vars.t }}"), "c": call("log", {"message": "{{ 'token ' + vars.t }}"}, "d"),
                 "d": {"action": "Raise", "result": {"code": "My.Failure", "message": "{{ vars.t }}"}}}
        with Server() as postgres:
            self.addCleanup(os.environ.pop, "TOKEN", None)
            os.environ["TOKEN"] = "hunter2 hunter2"
            one = Member(self, postgres.uri, "one").begin("--allow-env=TOKEN", "--lease", "PT1S")
            del os.environ["TOKEN"]
            one.put("p", flow(steps))
            one.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
            self.until(lambda: one.get("/v1/waits").body)
            one.process.kill()
            two = Member(self, postgres.uri, "two").begin("--allow-env=TOKEN", "--lease", "PT1S")
            texts = [two.get("/v1/runs/x").body, two.get("/v1/waits").body]
            two.post("/v1/runs/x/answers/go", "true", status=204)
            texts += [two.get("/v1/runs/x/result?wait=30").body, two.get("/v1/runs/x").body, two.get("/v1/runs?results=1").body,
                      self.command("show", "--store", postgres.uri, "x").stdout]
            two.stop()
            with open(self.path("two.log")) as f:
                texts.append(f.read())
            for text in texts:
                self.assertIn("[secret]", text)
                self.assertNotIn("hunter2", text)

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

    def test_a_server_drains(self):
        with open(self.path("once"), "w") as f:
            f.write("#!/bin/sh\necho began >>calls\nsleep 1\necho ended >>calls\n")
        os.chmod(self.path("once"), 0o755)
        with Server() as postgres:
            one = Member(self, postgres.uri, "one").begin("--allow-exec=./once", "--drain", "PT60S", "--lease", "PT30S")
            one.put("p", flow({"a": {"action": "Call", "next": "b", "call": {
                "provider": "mwl:provider.call/mwlvm/exec/v1", "with": {"argv": ["./once"]}}}, "b": ask("ok")}))
            one.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
            self.until(lambda: os.path.exists(self.path("calls")))
            one.process.send_signal(signal.SIGTERM)
            self.until(lambda: one.ask("GET", "/readyz").status == 503)
            self.assertEqual(one.state("x"), "live")  # it still answers
            self.assertEqual(one.process.wait(60), 0)
            two = Member(self, postgres.uri, "two").begin("--allow-exec=./once")
            two.post("/v1/runs/x/answers/ok", "5", status=204)
            self.assertEqual(two.get("/v1/runs/x/result?wait=20").json["value"], 5)  # well before the lease is over
            two.stop()
        with open(self.path("calls")) as f:
            self.assertEqual(f.read(), "began\nended\n")

    def test_events_of_two_servers(self):
        with Server() as postgres:
            one = Member(self, postgres.uri, "one").begin()
            two = Member(self, postgres.uri, "two").begin()
            one.put("p", flow({"a": ask("ok")}))
            streams = [one.listen("/v1/events"), two.listen("/v1/events")]
            self.committed(postgres, one, two, streams)
            self.held_back(postgres, one, streams)
            one.stop()
            two.stop()
            self.idle(postgres)

    def idle(self, postgres):
        """A server that has nothing to do asks less and less often."""
        postgres.sql("alter database postgres set log_statement = 'all'")
        three = Member(self, postgres.uri, "three").begin()
        time.sleep(1)
        with open(postgres.log, "rb") as f:
            f.seek(0, os.SEEK_END)
            began = time.monotonic()
            time.sleep(1.5)
            asked = f.read().count(b"LOG:  execute mwl") / (time.monotonic() - began)
        three.stop()
        self.assertTrue(2 < asked < 25, f"{asked:.0f} statements a second of a server without work")

    def committed(self, postgres, one, two, streams):
        """Each event is in the store when it is seen, and both servers show the same ones in the same order."""
        runs = [f"e{i}" for i in range(6)]
        for i, run in enumerate(runs):
            (one, two)[i % 2].post("/v1/runs", {"program": "p", "id": run}, status=202)
        for i, run in enumerate(runs):
            (two, one)[i % 2].post(f"/v1/runs/{run}/answers/ok", str(i), status=204)
        seen = [[], []]
        with Session(postgres) as store:
            for stream, events in zip(streams, seen):
                while len({e["run"] for e in events if e["kind"] == "done"}) < len(runs):
                    events.append(next(stream))
                    found = store.line(f"select n, kind from mwlvm.event where n >= {events[-1]['id']} order by n limit 1")
                    self.assertEqual(found, f"{events[-1]['id']}|{events[-1]['kind']}")
        self.assertEqual(seen[0], seen[1])
        numbers = [e["id"] for e in seen[0]]
        self.assertEqual(numbers, [int(n) for n, in postgres.sql("select n from mwlvm.event order by n")])
        for run in runs:
            kinds = [e["kind"] for e in seen[0] if e["run"] == run]
            self.assertEqual(kinds, ["accepted", "step", "call", "answered", "step", "done"])
        for member, others in ((one, seen[1]), (two, seen[0])):  # goes on at the other server
            again = member.listen("/v1/events", {"Last-Event-ID": str(numbers[9])})
            self.assertEqual([next(again)["id"] for _ in numbers[10:]], [e["id"] for e in others[10:]])

    def held_back(self, postgres, one, streams):
        """A transaction that has the lower number, and commits later, is seen first."""
        late = "select count(*) from mwlvm.event e join mwlvm.run r on r.seq = e.run where r.id = 'late' and e.kind = 'call'"
        with Session(postgres) as store, Session(postgres) as other:
            mark = int(other.line("begin; insert into mwlvm.event(run, at_ns, kind) select seq, 0, 'mark' from mwlvm.run "
                                  "where id = 'e0' returning n"))
            one.post("/v1/runs", {"program": "p", "id": "late"}, status=202)
            self.until(lambda: store.line(late) == "1")
            other.line("commit; select 1")
        for stream in streams:
            got = [next(stream) for _ in range(4)]
            self.assertEqual([(e["id"], e["kind"]) for e in got],
                             [(mark + i, kind) for i, kind in enumerate(("mark", "accepted", "step", "call"))])

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
