#!/usr/bin/env python3
"""run.py MWLVM: the provider run: definitions that run other definitions."""
import signal
import subprocess
import time

from flow import TIMED_OUT, Case, call, entry, flow, gather, main, timeout, uri

PREFIX = "Provider.Call.Run."
MOCK = uri("mock", "call", "mwl")


class Running(Case):
    def inner(self, steps, entrypoint="s", name="inner.json", **members):
        return self.definition(flow({**steps, "end": {"action": "Return"}}, entrypoint, **members), name)

    def mock(self, with_, **members):
        return self.inner({"s": {"action": "Call", "call": {"provider": MOCK, "with": with_}, "next": "end", **members}})

    def test_a_value_comes_back(self):
        self.inner({"s": {"action": "Pass", "output": "{{ [step.input, execution.id] }}", "next": "end"}})
        value = self.succeeds(call("run", {"path": "inner.json"}), "--allow-read=.", "--id", "outer", input={"a": 1})
        self.assertEqual(value[0], {"a": 1})
        self.assertTrue(value[1].startswith("outer/"), value)

    def test_input_and_arguments(self):
        self.inner({"s": {"action": "Pass", "output": "{{ [step.input, vars.n] }}", "next": "end"}},
                   parameters={"type": "object", "properties": {"n": {"type": "number"}}})
        self.assertEqual(self.succeeds(call("run", {"path": "inner.json", "input": 5, "arguments": {"n": 7}}), "--allow-read=."), [5, 7])

    def test_a_failure_is_previous(self):
        self.mock({"failure": {"code": "Pay.Declined", "retryable": True}})
        failure = self.fails(call("run", {"path": "inner.json"}), PREFIX + "Failed", "--allow-read=.")
        self.assertEqual((failure["previous"]["code"], failure["retryable"]), ("Pay.Declined", True))

    def test_what_cannot_be_run(self):
        self.put("bad.json", '{"entrypoint": "x"}')
        failure = self.fails(call("run", {"path": "bad.json"}), PREFIX + "InvalidDefinition", "--allow-read=.")
        self.assertIn("error", failure["details"]["diagnostics"])
        self.fails(call("run", {"path": "none.json"}), PREFIX + "Unreadable", "--allow-read=.")
        self.fails(call("run", {"path": "{{ step.input }}"}), PREFIX + "NotPermitted", "--allow-read=/proc", input=self.path("bad.json"))

    def test_inner_runs_have_no_more_rights(self):
        self.inner({"s": {"action": "Call", "call": {"provider": uri("env"), "with": {"names": "HOME"}}, "next": "end"}})
        failure = self.fails(call("run", {"path": "inner.json"}), PREFIX + "Failed", "--allow-read=.")
        self.assertEqual(failure["previous"]["code"], "Provider.Call.Env.NotPermitted")

    def test_it_does_not_run_itself_for_ever(self):
        self.inner({"s": {"action": "Call", "call": {"provider": uri("run"), "with": {"path": "inner.json"}}, "next": "end"}})
        run = self.run_flow(call("run", {"path": "inner.json"}), "--allow-read=.")
        self.assertEqual(run.code, PREFIX + "Failed", run)
        self.assertIn(PREFIX + "TooDeep", run.out)

    def test_time_and_a_timeout(self):
        self.mock({"delay": "PT1H", "value": 1})
        self.assertEqual(self.succeeds(call("run", {"path": "inner.json"}), "--allow-read=.", "--virtual-time"), 1)
        self.fails(call("run", {"path": "inner.json"}, middleware=[timeout(60)]), TIMED_OUT, "--allow-read=.", "--virtual-time")
        self.fails(call("run", {"path": "inner.json"}, middleware=[timeout(0.3)]), TIMED_OUT, "--allow-read=.")

    def test_a_cancelled_run_cleans_up(self):
        clean = {"provider": uri("log"), "with": {"message": "cleaned"}}
        finally_ = entry("finally", None, "mwl", onAlways={"with": {"call": clean}})
        self.mock({"delay": "PT1H"}, middleware=[finally_])
        run = self.run_flow(call("run", {"path": "inner.json"}, middleware=[timeout(60)]), "--allow-read=.", "--virtual-time")
        self.assertEqual(run.code, TIMED_OUT, run)
        self.assertEqual([line["message"] for line in run.log()], ["cleaned"])

    def test_ctrl_c_at_any_stage(self):
        self.mock({"delay": "PT1H"})
        definition = self.definition(call("run", {"path": "inner.json"}))
        for delay in (0.0, 0.02, 0.1, 0.3):
            child = subprocess.Popen(self.command(definition, "--allow-read=."), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, cwd=self.folder)
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            child.wait(30)

    def test_a_hundred_at_once(self):
        self.inner({"s": {"action": "Pass", "output": "{{ step.input * 2.0 }}", "next": "end"}})
        got = self.succeeds(gather("run", {"path": "inner.json", "input": "{{ call.input }}"}), "--allow-read=.", input=list(range(100)))
        self.assertEqual(got, [2 * i for i in range(100)])


main()
