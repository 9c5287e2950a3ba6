#!/usr/bin/env python3
"""exec.py MWLVM: the provider exec against real programs: polite and stubborn ones, families, floods."""
import os
import signal
import subprocess
import sys
import time
import unittest

from flow import TIMED_OUT, Case, call, flow, gather, main, retry, timeout, uri

PREFIX = "Provider.Call.Exec."
ALL = "--allow-exec"


def alive(pid):
    """Whether the process exists and is not a zombie that its new parent has not yet collected."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def python(text, *args):
    return [sys.executable, "-c", text, *args]


class Exec(Case):
    def wait_for(self, name):
        """The pids that a program wrote to a file of the folder."""
        for _ in range(1000):
            if os.path.exists(self.path(name)):
                with open(self.path(name)) as f:
                    text = f.read()
                if text.endswith("\n"):
                    return [int(pid) for pid in text.split()]
            time.sleep(0.01)
        self.fail(f"no {name}")

    def all_gone(self, pids):
        for _ in range(500):
            if not any(alive(pid) for pid in pids):
                return
            time.sleep(0.01)
        self.fail(f"alive: {[pid for pid in pids if alive(pid)]}")


class Output(Exec):
    def test_text_is_the_default(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["printf", "a\\nb"]}), ALL), "a\nb")

    def test_json_lines_base64_none(self):
        for form, text, value in (("json", '{"a": [1]}', {"a": [1]}), ("lines", "a\\r\\nb\\n\\nc", ["a", "b", "", "c"]),
                                  ("base64", "\\000\\377", "AP8="), ("none", "x", None), ("text", "", "")):
            got = self.succeeds(call("exec", {"argv": ["printf", text], "as": form}), ALL)
            self.assertEqual(got, value, form)

    def test_the_input_is_standard_input_as_json(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["cat"], "as": "json"}), ALL, input={"n": [1, "ä"]}),
                         {"n": [1, "ä"]})

    def test_stdin_text_value_and_nothing(self):
        for stdin, text in (("as it is\n", "as it is\n"), ({"a": 1}, '{"a":1}'), (None, "")):
            self.assertEqual(self.succeeds(call("exec", {"argv": ["cat"], "stdin": stdin}), ALL, input=5), text)

    def test_a_program_that_does_not_read_its_input(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["true"]}), ALL, input="x" * 3000000), "")

    def test_a_megabyte_both_ways(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["cat"], "as": "json"}), ALL, input="x" * 1000000), "x" * 1000000)

    def test_what_is_not_json(self):
        failure = self.fails(call("exec", {"argv": ["echo", "{"], "as": "json"}), PREFIX + "DecodeFailed", ALL)
        self.assertIn("not JSON", failure["message"])
        self.fails(call("exec", {"argv": ["printf", "\\377"]}), PREFIX + "DecodeFailed", ALL)

    def test_no_shell(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["echo", "$HOME; ls *"]}), ALL), "$HOME; ls *\n")

    def test_a_flood_ends_at_max_bytes(self):
        before = time.time()
        failure = self.fails(call("exec", {"argv": ["yes"], "maxBytes": 100000}), PREFIX + "TooLarge", ALL)
        self.assertIn("100000", failure["message"])
        self.assertLess(time.time() - before, 30)
        self.assertEqual(len(self.succeeds(call("exec", {"argv": ["head", "-c", "1000", "/dev/zero"], "as": "base64",
                                                         "maxBytes": 1000}), ALL)), 1336)

    def test_a_flood_of_standard_error_keeps_its_end(self):
        text = "import sys\nfor i in range(200000): sys.stderr.write('line %d\\n' % i)\nsys.exit(3)"
        failure = self.fails(call("exec", {"argv": python(text)}), PREFIX + "NonZeroExit", ALL)
        self.assertTrue(failure["details"]["stderr"].endswith("line 199999\n"))
        self.assertTrue(8000 < len(failure["details"]["stderr"]) <= 8192)
        self.assertRegex(failure["details"]["stderr"], r"^line \d+\n")  # not in the middle of a line


class Ending(Exec):
    def test_code_and_standard_error(self):
        failure = self.fails(call("exec", {"argv": ["sh", "-c", "echo oops >&2; exit 7"]}), PREFIX + "NonZeroExit", ALL)
        self.assertEqual(failure["details"], {"code": 7, "signal": None, "stderr": "oops\n"})
        self.assertEqual(failure["message"], "ended with code 7")

    def test_a_signal(self):
        failure = self.fails(call("exec", {"argv": ["sh", "-c", "kill -SEGV $$"]}), PREFIX + "NonZeroExit", ALL)
        self.assertEqual((failure["details"]["code"], failure["details"]["signal"]), (None, "SIGSEGV"))

    def test_success_codes(self):
        argv = ["sh", "-c", "echo x; exit 3"]
        self.assertEqual(self.succeeds(call("exec", {"argv": argv, "successCodes": [0, 3]}), ALL), "x\n")
        self.fails(call("exec", {"argv": ["true"], "successCodes": [3]}), PREFIX + "NonZeroExit", ALL)

    def test_metadata(self):
        step = {"action": "Call", "call": {"provider": uri("exec"), "with": {"argv": ["sh", "-c", "echo e >&2"]},
                                           "onSuccess": {"assign": {"seen": "{{ provider.metadata }}"}}}, "next": "end"}
        got = self.succeeds(flow({"call": step, "end": {"action": "Return", "value": "{{ vars.seen }}"}}, "call"), ALL)
        self.assertGreaterEqual(got.pop("milliseconds"), 0)
        self.assertEqual(got, {"code": 0, "signal": None, "stderr": "e\n"})

    def test_a_program_that_is_not_there(self):
        self.fails(call("exec", {"argv": ["no-such-program-at-all"]}), PREFIX + "NotFound", ALL)
        self.fails(call("exec", {"argv": ["/no/such"]}), PREFIX + "NotFound", ALL)

    def test_a_file_that_is_not_a_program(self):
        open(self.path("plain"), "w").close()
        failure = self.fails(call("exec", {"argv": ["./plain"]}), PREFIX + "StartFailed", ALL)
        self.assertIn("permission denied", failure["message"])

    def test_a_child_that_keeps_the_output_open(self):
        text = f"sleep 600 & echo $! > {self.path('pids')}; echo done"
        before = time.time()
        self.assertEqual(self.succeeds(call("exec", {"argv": ["sh", "-c", text], "grace": "PT0.3S"}), ALL), "done\n")
        self.assertLess(time.time() - before, 30)
        self.all_gone(self.wait_for("pids"))

    def test_a_child_without_the_output_may_stay(self):
        text = f"sleep 600 > /dev/null 2>&1 & echo $! > {self.path('pids')}; echo done"
        self.assertEqual(self.succeeds(call("exec", {"argv": ["sh", "-c", text]}), ALL), "done\n")
        (pid,) = self.wait_for("pids")
        self.assertTrue(alive(pid))
        os.kill(pid, signal.SIGKILL)


class Environment(Exec):
    def test_it_is_clean(self):
        got = self.succeeds(call("exec", {"argv": ["env"], "as": "lines", "env": {"A": "1"}}), ALL,
                            env={**os.environ, "HIDDEN": "x"})
        names = ["A", "MWLVM_CALL_ATTEMPT", "MWLVM_CALL_KEY", "PATH"]
        self.assertEqual(sorted(line.split("=")[0] for line in got), names)
        self.assertIn("MWLVM_CALL_ATTEMPT=1", got)

    def test_inherit_needs_its_own_right(self):
        definition = call("exec", {"argv": ["printenv", "SEEN"], "inherit": ["SEEN", "NOT_SET"]})
        env = {**os.environ, "SEEN": "yes"}
        self.assertEqual(self.succeeds(definition, ALL, "--allow-env=SEEN,NOT_SET", env=env), "yes\n")
        refused = self.run_flow(definition, ALL, env=env)  # known before it runs
        self.assertEqual((refused.status, "\n  --allow-env=SEEN\n" in refused.err), (2, True), refused)
        failure = self.fails(call("exec", {"argv": ["printenv"], "inherit": "{{ ['SEEN'] }}"}), PREFIX + "NotPermitted",
                             ALL, "--allow-env=OTHER", env=env)
        self.assertEqual(failure["details"]["flag"], "--allow-env=SEEN")

    def test_variables_of_the_loader_need_the_right_to_everything(self):
        definition = call("exec", {"argv": ["true"], "env": {"LD_PRELOAD": "/x.so"}})
        self.fails(definition, PREFIX + "NotPermitted", "--allow-exec=true")

    def test_path_of_env_does_not_choose_the_program(self):
        os.mkdir(self.path("bin"))
        with open(self.path("bin", "echo"), "w") as f:
            f.write("#!/bin/sh\nprintf wrong")
        os.chmod(self.path("bin", "echo"), 0o755)
        self.assertEqual(self.succeeds(call("exec", {"argv": ["echo", "x"], "env": {"PATH": self.path("bin")}}), ALL), "x\n")

    def test_cwd(self):
        os.mkdir(self.path("sub"))
        definition = call("exec", {"argv": ["pwd", "-P"], "cwd": self.path("sub")})
        self.assertEqual(self.succeeds(definition, ALL, f"--allow-read={self.folder}"), os.path.realpath(self.path("sub")) + "\n")
        failure = self.fails(call("exec", {"argv": ["pwd"], "cwd": "{{ step.input }}"}), PREFIX + "NotPermitted", ALL,
                             "--allow-read=/proc", input=self.path("sub"))
        self.assertEqual(failure["details"]["flag"], "--allow-read=" + self.path("sub"))
        self.fails(call("exec", {"argv": ["pwd"], "cwd": self.path("none")}), PREFIX + "StartFailed", ALL, "--allow-read")

    def test_only_allowed_programs(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["echo", "x"]}), "--allow-exec=echo"), "x\n")
        failure = self.fails(call("exec", {"argv": ["{{ step.input }}", "x"]}), PREFIX + "NotPermitted", "--allow-exec=echo",
                             input="printf")
        self.assertEqual(failure["details"]["flag"], "--allow-exec=printf")

    def test_a_variable_with_nul_is_refused(self):
        failure = self.fails(call("exec", {"argv": ["env"], "env": {"A": "{{ step.input }}"}}), PREFIX + "StartFailed", ALL,
                             input="a\0b")
        self.assertIn("NUL", failure["message"])


class Stopping(Exec):
    def test_timeout_ends_politely(self):
        text = f"trap 'echo term > {self.path('term')}; exit 0' TERM; echo $$ > {self.path('pids')}; while :; do sleep 0.05; done"
        self.fails(call("exec", {"argv": ["sh", "-c", text]}, middleware=[timeout(0.5)]),
                   TIMED_OUT, ALL)
        self.all_gone(self.wait_for("pids"))
        self.assertEqual(self.text("term"), "term\n")

    def test_who_ignores_sigterm_is_killed_after_the_grace_time(self):
        text = f"trap '' TERM; echo $$ > {self.path('pids')}; while :; do sleep 0.05; done"
        before = time.time()
        self.fails(call("exec", {"argv": ["sh", "-c", text], "grace": "PT0.4S"}, middleware=[timeout(0.4)]),
                   TIMED_OUT, ALL)
        self.assertTrue(0.8 <= time.time() - before < 30)
        self.all_gone(self.wait_for("pids"))

    def test_the_whole_family_ends(self):
        text = ("import os, signal, time\n"
                "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "pids = [os.getpid()]\n"
                "for i in range(3):\n"
                "    pid = os.fork()\n"
                "    if pid == 0:\n"
                "        if i == 0: signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
                "        while True: time.sleep(1)\n"
                "    pids.append(pid)\n"
                f"open({self.path('pids')!r}, 'w').write(' '.join(map(str, pids)) + '\\n')\n"
                "while True: time.sleep(1)\n")
        self.fails(call("exec", {"argv": python(text), "grace": "PT0.2S"}, middleware=[timeout(1)]),
                   TIMED_OUT, ALL)
        self.all_gone(self.wait_for("pids"))

    def test_children_that_outlive_the_leader_get_the_grace_time(self):
        """The leader ends at once; a child cleans up for a while, which is shorter than the grace time."""
        child = f"trap 'sleep 0.3; echo clean > {self.path('clean')}; exit 0' TERM; echo $$ > {self.path('pids')}; while :; do sleep 0.02; done"
        with open(self.path("child.sh"), "w") as f:
            f.write(child)
        text = f"sh {self.path('child.sh')} & trap 'exit 0' TERM; while :; do sleep 0.02; done"
        self.fails(call("exec", {"argv": ["sh", "-c", text], "grace": "PT20S"}, middleware=[timeout(0.7)]),
                   TIMED_OUT, ALL)
        self.assertEqual(self.text("clean"), "clean\n")
        self.all_gone(self.wait_for("pids"))

    def test_a_flood_is_cancelled(self):
        self.fails(call("exec", {"argv": ["yes"], "as": "none"}, middleware=[timeout(0.4)]),
                   TIMED_OUT, ALL)

    def test_ctrl_c_at_any_stage_leaves_nothing(self):
        text = f"trap '' TERM INT; echo $$ >> {self.path('pids')}; while :; do sleep 0.05; done"
        definition = self.definition(call("exec", {"argv": ["sh", "-c", text], "grace": "PT0.1S"}))
        for delay in (0.0, 0.01, 0.03, 0.1, None):  # None: when the last program runs
            child = subprocess.Popen(self.command(definition, ALL), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, cwd=self.folder)
            if delay is None:
                self.wait_for("pids")
            else:
                time.sleep(delay)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(30), -signal.SIGINT)
            self.all_gone(self.wait_for("pids") if os.path.exists(self.path("pids")) else [])
            if os.path.exists(self.path("pids")):
                os.remove(self.path("pids"))

    def test_the_most_bytes_are_allowed_and_one_more_is_not(self):
        self.assertEqual(self.succeeds(call("exec", {"argv": ["printf", "x" * 1000], "maxBytes": 1000}), ALL), "x" * 1000)
        self.fails(call("exec", {"argv": ["printf", "x" * 1001], "maxBytes": 1000}), PREFIX + "TooLarge", ALL)

    def test_retry_runs_it_again(self):
        text = f"echo x >> {self.path('count')}; test $(wc -l < {self.path('count')}) = 3"
        self.succeeds(call("exec", {"argv": ["sh", "-c", text]}, middleware=[retry(5, PREFIX + "NonZeroExit")]), ALL)
        self.assertEqual(self.text("count"), "x\n" * 3)

    def test_a_gather_of_a_hundred(self):
        got = self.run_flow(gather("exec", {"argv": ["echo", "{{ string(call.input) }}"]}, concurrency=20), ALL,
                            input=list(range(100)))
        self.assertEqual(got.status, 0, got)
        self.assertEqual(got.value, [f"{i}\n" for i in range(100)])


main()
