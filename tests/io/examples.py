#!/usr/bin/env python3
"""examples.py MWLVM: the complete examples of tools/examples, against real servers, scripts and a terminal."""
import fcntl
import json
import os
import pty
import subprocess
import termios

from flow import MWLVM, ROOT, Case, Run, main
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


class Deploy(Case):
    """The scripts note what they did; a person answers on a terminal."""

    def setUp(self):
        super().setUp()
        for name, text in (("build.sh", "mkdir build-output; echo build $1 >>log; echo built"),
                           ("test.sh", "echo test >>log; echo '{\"passed\": 12}'"),
                           ("deploy.sh", "echo deploy $1 >>log; [ $1 != bad ] || { echo no room >&2; exit 3; }")):
            with open(self.path(name), "w") as f:
                f.write("#!/bin/sh\n" + text + "\n")
            os.chmod(self.path(name), 0o755)

    def deploy(self, version, answer):
        ours, theirs = pty.openpty()
        flags = ["--allow-exec=./build.sh,./test.sh,./deploy.sh,rm", "--allow-env=PATH"]
        command = self.command(example("deploy.json"), *flags, "--arg", f'version="{version}"', "--arg", 'previous="v1"')
        child = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 cwd=self.folder, start_new_session=True,
                                 preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        shown = b""
        while b"?" not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, answer)
        out, err = child.communicate(timeout=30)
        os.close(ours)
        self.assertIn(b"Tests: 12 passed. Deploy version " + version.encode(), shown)
        with open(self.path("log")) as f:
            log = f.read().split("\n")[:-1]
        self.assertFalse(os.path.exists(self.path("build-output")))
        return Run(subprocess.CompletedProcess(command, child.returncode, out, err)), log

    def test_approved(self):
        run, log = self.deploy("v2", b"yes\n")
        self.assertEqual(run.value, {"deployed": "v2"}, run)
        self.assertEqual(log, ["build v2", "test", "deploy v2"])

    def test_refused(self):
        run, log = self.deploy("v2", b"no\n")
        self.assertEqual(run.code, "Deploy.Refused", run)
        self.assertEqual(log, ["build v2", "test"])

    def test_a_deployment_that_fails_is_rolled_back(self):
        run, log = self.deploy("bad", b"y\n")
        self.assertEqual(run.code, "Deploy.RolledBack", run)
        self.assertEqual(log, ["build bad", "test", "deploy bad", "deploy v1"])


main()
