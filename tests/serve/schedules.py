#!/usr/bin/env python3
"""schedules.py MWLVM: runs that start by the clock: once for each instant, also after a kill; what happens when the last run
goes on; what was missed."""
import re
import signal
import sqlite3
import time

from server import Case, ask, flow, main

QUICK = flow({"a": {"action": "Sleep", "for": "PT0.01S", "next": "end"}})
ID = re.compile(r"^(\w+)@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$")


class Schedules(Case):
    def begin(self, *schedules):
        self.write("quick.json", QUICK)
        self.write("waits.json", flow({"a": ask("ok")}))
        self.write("schedule.json", list(schedules))
        self.serve("quick.json", "waits.json", "--schedule", "schedule.json")

    def runs(self, name):
        got = [ID.match(r["run"]) for r in self.get("/v1/runs?limit=1000").lines]
        return [m[2] for m in got if m and m[1] == name]

    def test_once_for_each_instant_also_after_a_kill(self):
        self.begin({"name": "tick", "program": "quick", "every": "1s", "catchUp": "all"})
        for _ in range(2):
            n = len(self.runs("tick"))
            self.until(lambda: len(self.runs("tick")) > n + 1)
            self.stop(signal.SIGKILL)
            self.begin({"name": "tick", "program": "quick", "every": "1s", "catchUp": "all"})
        n = len(self.runs("tick"))
        self.until(lambda: len(self.runs("tick")) > n + 1)
        seconds = [int(time.mktime(time.strptime(t, "%Y-%m-%dT%H:%M:%SZ"))) for t in self.runs("tick")]
        self.assertEqual(seconds, list(range(seconds[0], seconds[0] + len(seconds))))
        run = self.get("/v1/runs?limit=1").lines[0]
        self.assertEqual(self.get(f"/v1/runs/{run['run']}").json["start"]["input"]["schedule"], "tick")

    def test_overlap(self):
        self.begin({"name": "skip", "program": "waits", "every": "1s"},
                   {"name": "queue", "program": "waits", "every": "1s", "overlap": "queue"},
                   {"name": "allow", "program": "waits", "every": "1s", "overlap": "allow"})
        self.until(lambda: len(self.runs("allow")) >= 4)
        self.assertEqual((len(self.runs("skip")), len(self.runs("queue"))), (1, 1))
        first = self.runs("queue")[0]
        self.post(f"/v1/runs/queue@{first}/answers/ok", "1", status=204)
        self.until(lambda: len(self.runs("queue")) == 2)
        one, two = [int(t[17:19]) for t in self.runs("queue")]
        self.assertEqual((two - one) % 60, 1)  # the next instant, though it is over

    def test_what_was_missed(self):
        names = ("last", "all", "none")
        schedules = [{"name": n, "program": "quick", "every": "1h", "from": "2026-01-01T00:00:00Z", "catchUp": n,
                      "overlap": "allow"} for n in names]
        self.begin(*schedules)
        self.until(lambda: self.stored() == set(names))
        self.stop()
        base = sqlite3.connect(self.path("runs.db"))
        hour = int(time.time()) // 3600 * 3600
        # some hours ago, at a time when the last hour is long enough over
        for n in names:
            base.execute("update value set value = ? where key = ?", (f"{hour - 3 * 3600 - 1} ", "schedule/" + n))
        base.commit()
        base.close()
        late = time.time() - hour > 61
        self.begin(*schedules)
        self.until(lambda: len(self.runs("all")) >= 4)
        self.assertEqual(len(self.runs("all")), 4)
        self.assertEqual(len(self.runs("last")), 1)
        if late:
            self.assertEqual(len(self.runs("none")), 0)

    def stored(self):
        base = sqlite3.connect(self.path("runs.db"))
        try:
            return {key[9:] for key, in base.execute("select key from value where key like 'schedule/%'")}
        finally:
            base.close()

    def test_what_is_refused(self):
        for schedule, why in (({"program": "p", "every": "1s"}, "`name`"), ({"name": "a", "every": "1s"}, "`program`"),
                              ({"name": "a", "program": "p"}, "either `cron` or `every`"),
                              ({"name": "a", "program": "p", "cron": "61 * * * *"}, "the minute '61'"),
                              ({"name": "a", "program": "p", "cron": "0 0 31 2 *"}, "never due"),
                              ({"name": "a", "program": "p", "every": "soon"}, "soon"),
                              ({"name": "a", "program": "p", "every": "1s", "zone": "Mars/Base"}, "Mars/Base"),
                              ({"name": "a", "program": "p", "every": "1s", "overlap": "no"}, "overlap"),
                              ({"name": "a", "program": "p", "every": "1s", "other": 1}, "not known")):
            self.write("schedule.json", [schedule])
            got = self.command("serve", "--store", "runs.db", "--listen", "none", "--schedule", "schedule.json", status=1)
            self.assertIn(why, got.stderr)


if __name__ == "__main__":
    main()
