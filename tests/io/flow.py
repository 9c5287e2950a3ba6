"""flow.py: what the tests of stdlib/io share: small definitions, and the command that runs them.

    from flow import Case, call, main
    class Uuid(Case):
        def test_four(self):
            self.succeeds(call("uuid"), ...)

A test is tests/io/NAME.py; ctest runs it as io_NAME with the command as its argument.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MWLVM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "mwlvm")


def uri(name, kind="call", namespace="mwlvm"):
    return f"mwl:provider.{kind}/{namespace}/{name}/v1"


def call(name, with_=None, middleware=None, **members):
    """A definition whose one Step calls the provider `name`; its value is the value of the call."""
    step = {"action": "Call", "call": {"provider": uri(name)}, "next": "end"}
    if with_ is not None:
        step["call"]["with"] = with_
    if middleware:
        step["middleware"] = middleware
    step.update(members)
    return flow({"call": step, "end": {"action": "Return", "value": "{{ step.input }}"}}, "call")


def flow(steps, entrypoint, **members):
    return {"$schema": SCHEMA, "entrypoint": entrypoint, "steps": steps, **members}


TIMED_OUT = "Provider.Middleware.Timeout.Exceeded"


def entry(name, with_=None, namespace="mwlvm", **phases):
    """An entry of a Step's middleware; with_ is for onEntry."""
    if with_ is not None:
        phases["onEntry"] = {"with": with_}
    return {"provider": uri(name, "middleware", namespace), **phases}


def timeout(seconds):
    return entry("timeout", {"duration": f"PT{seconds}S"}, "mwl")


def retry(attempts, code="*"):
    return entry("retry", {"policies": [{"match": {"codes": [code]}, "attempts": attempts}]}, "mwl")


def gather(name, with_, over="{{ step.input }}", concurrency=None):
    """A definition that calls the provider for each item, which is call.input."""
    step = {"action": "Gather", "over": over, "concurrency": concurrency, "next": "end",
            "call": {"provider": uri(name), "with": with_}}
    return flow({"g": step, "end": {"action": "Return"}}, "g")


class Run:
    """What one run of the command left: status, the Result, standard error."""

    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        try:
            self.result = json.loads(done.stdout)
        except ValueError:
            self.result = None

    @property
    def value(self):
        return self.result["value"]

    @property
    def code(self):
        return self.result and self.result.get("code")

    def log(self):
        """The lines of the log on standard error."""
        return [json.loads(line) for line in self.err.splitlines() if line.startswith('{"time"')]

    def __repr__(self):
        return f"status {self.status}\n{self.out}\n{self.err}"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mwl-io-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def text(self, name):
        """The content of a file in the folder."""
        with open(self.path(name)) as f:
            return f.read()

    def put(self, name, content, mode="w"):
        with open(self.path(name), mode) as f:
            f.write(content)
        return self.path(name)

    def definition(self, content, name="definition.json"):
        with open(self.path(name), "w") as f:
            json.dump(content, f)
        return self.path(name)

    def command(self, content, *options):
        path = content if isinstance(content, str) else self.definition(content)
        return [MWLVM, "run", path, "--result", "--compact", *options]

    def run_flow(self, content, *options, input=None, timeout=20, env=None, cwd=None):
        done = subprocess.run(self.command(content, *options), input="" if input is None else json.dumps(input),
                              capture_output=True, text=True, timeout=timeout, env=env, cwd=cwd or self.folder)
        return Run(done)

    def succeeds(self, content, *options, **how):
        run = self.run_flow(content, *options, **how)
        self.assertEqual(run.status, 0, run)
        return run.value

    def fails(self, content, code, *options, **how):
        """The failure, whose code must be this one."""
        run = self.run_flow(content, *options, **how)
        self.assertEqual(run.code, code, run)
        self.assertEqual(run.status, 5 if run.result["type"] == "timeout" else 1, run)
        return run.result


def main():
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=int(os.environ.get("MWL_VERBOSE", "1")))
