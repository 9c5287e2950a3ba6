#!/usr/bin/env python3
"""examples.py MWLVM: the complete examples of tools/examples, against real servers and files."""
import json
import os

from flow import ROOT, Case, main
from serve_http import Server


def example(name):
    return os.path.join(ROOT, "tools", "examples", name)


class Health(Case):
    def sweep(self, server, good, bad, **more):
        paths = ["/json"] * good + bad
        hosts = [{"url": server.url(f"{path}?{i}")} for i, path in enumerate(paths)]
        return self.run_flow(example("health.json"), server.allow(), input={"hosts": hosts, **more})

    def test_five_hundred_hosts_with_some_down(self):
        with Server() as server:
            run = self.sweep(server, 480, ["/status/500"] * 10 + ["/status/404"] * 5 + ["/silent"] * 4 + ["/hang"])
            self.assertEqual(run.status, 0, run)
            self.assertEqual((run.value["hosts"], run.value["up"]), (500, 480))
            codes = [one["why"] for one in run.value["down"]]
            self.assertEqual(codes.count("Provider.Middleware.Retry.Exhausted"), 14)
            self.assertEqual(codes.count("Provider.Call.Http.NonSuccessStatus"), 5)
            self.assertEqual(codes.count("Provider.Middleware.Timeout.Exceeded"), 1)
            self.assertLessEqual(server.most_open, 60)  # 50 at a time

    def test_too_many_are_down(self):
        with Server() as server:
            run = self.sweep(server, 8, ["/status/404"] * 2)
            self.assertEqual((run.status, run.result["code"]), (1, "System.GatherCompletionUnmet"), run)
            self.assertEqual(self.sweep(server, 8, ["/status/404"] * 2, enough=0.8).value["up"], 8)


class Paginate(Case):
    def test_all_pages_with_failures_between(self):
        with Server() as server:
            os.mkdir(self.path("out"))
            run = self.run_flow(example("paginate.json"), server.allow(), "--allow-write=out",
                                input={"url": server.url("/pages/0/9"), "file": "out/items.ndjson"})
            self.assertEqual(run.status, 0, run)
            self.assertEqual(run.value, {"pages": 10, "items": 100, "file": "out/items.ndjson"})
        with open(self.path("out", "items.ndjson")) as f:
            self.assertEqual([json.loads(line)["id"] for line in f], list(range(100)))

    def test_a_failure_leaves_the_old_file(self):
        os.mkdir(self.path("out"))
        with open(self.path("out", "x"), "w") as f:
            f.write("old")
        with Server() as server:
            run = self.run_flow(example("paginate.json"), server.allow(), "--allow-write=out",
                                input={"url": server.url("/status/404"), "file": "out/x"})
            self.assertEqual(run.result["code"], "Provider.Call.Http.NonSuccessStatus", run)
        with open(self.path("out", "x")) as f:
            self.assertEqual(f.read(), "old")
        self.assertEqual(os.listdir(self.path("out")), ["x"])


main()
