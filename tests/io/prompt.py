#!/usr/bin/env python3
"""prompt.py MWLVM: the provider prompt on a pseudo-terminal: what a person sees and types."""
import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time

from flow import TIMED_OUT, Case, call, flow, main, timeout, uri

PREFIX = "Provider.Call.Prompt."


class Terminal:
    """A run of the command whose controlling terminal is a pseudo-terminal."""

    def __init__(self, command, cwd):
        self.master, self.slave = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      preexec_fn=take_terminal, cwd=cwd)
        self.seen = ""

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 4096).decode(errors="replace")

    def expect(self, text, times=1):
        end = time.time() + 20
        while self.seen.count(text) < times:
            assert time.time() < end, (text, self.seen)
            self.read(0.2)
        return self

    def type(self, text):
        os.write(self.master, text.encode())
        return self

    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def end(self):
        out, err = self.child.communicate(timeout=20)
        self.read(0.1)
        result = json.loads(out), err.decode()
        self.left_echo = self.echoes()
        os.close(self.master)
        os.close(self.slave)
        return result


class Prompt(Case):
    def ask(self, with_, *options, **members):
        definition = with_ if "steps" in with_ else call("prompt", with_, **members)
        return Terminal(self.command(definition, *options), self.folder)

    def test_text(self):
        t = self.ask({"message": "Your name?"}).expect("Your name? ").type("Ann \u00e4\n")
        self.assertEqual(t.end()[0]["value"], "Ann \u00e4")

    def test_defaults(self):
        t = self.ask({"message": "Name?", "default": "Bob"}).expect("Name? [Bob] ").type("\n")
        self.assertEqual(t.end()[0]["value"], "Bob")
        t = self.ask({"message": "Go?", "kind": "confirm", "default": False}).expect("Go? [y/N] ").type("\n")
        self.assertEqual(t.end()[0]["value"], False)
        t = self.ask({"message": "Which?", "kind": "choice", "choices": ["a", "b"], "default": "b"}).expect("[b] ").type("\n")
        self.assertEqual(t.end()[0]["value"], "b")

    def test_confirm_asks_until_it_has_an_answer(self):
        t = self.ask({"message": "Deploy?", "kind": "confirm"}).expect("Deploy? [y/n] ").type("maybe\n")
        t.expect("Please type y or n.").expect("Deploy? [y/n] ", 2).type("YES\n")
        self.assertEqual(t.end()[0]["value"], True)

    def test_choice_by_number_and_by_text(self):
        with_ = {"message": "Where?", "kind": "choice", "choices": ["test", "live"]}
        t = self.ask(with_).expect("  1) test").expect("  2) live").expect("\n ").type("3\n").expect("one of the numbers").type("2\n")
        self.assertEqual(t.end()[0]["value"], "live")
        self.assertEqual(self.ask(with_).expect("2) live").type("test\n").end()[0]["value"], "test")

    def test_a_secret_is_not_shown_and_not_logged(self):
        steps = {"a": {"action": "Call", "call": {"provider": uri("prompt"), "with": {"message": "Password?", "kind": "secret"}}, "next": "l"},
                 "l": {"action": "Call", "call": {"provider": uri("log"), "with": {"message": "{{ 'got ' + step.input }}"}}, "next": "end"},
                 "end": {"action": "Return", "value": "{{ size(step.input) }}"}}
        t = self.ask(flow(steps, "a")).expect("Password? ")
        self.assertFalse(t.echoes())
        result, err = t.type("s3cret-word\n").end()
        self.assertEqual(result["value"], 11)
        self.assertNotIn("s3cret-word", t.seen + err)
        self.assertIn("got [secret]", err)
        self.assertTrue(t.left_echo)

    def test_what_was_typed_before_answers_nothing(self):
        steps = {"w": {"action": "Sleep", "for": "PT0.5S", "next": "a"},
                 "a": {"action": "Call", "call": {"provider": uri("prompt"), "with": {"message": "Sure?", "kind": "confirm"}}, "next": "end"},
                 "end": {"action": "Return"}}
        t = self.ask(flow(steps, "w")).type("y\n").expect("Sure?")
        time.sleep(0.3)
        self.assertIsNone(t.child.poll())
        self.assertEqual(t.type("n\n").end()[0]["value"], False)

    def test_control_characters_of_the_message(self):
        t = self.ask({"message": "{{ 'a\\u001b[2Jb\\rc' }}"}).expect("a?[2Jb?c ").type("x\n")
        t.end()
        self.assertNotIn("\x1b", t.seen)

    def test_the_end_of_input(self):
        t = self.ask({"message": "?"}).expect("? ").type("\x04")
        self.assertEqual(t.end()[0]["code"], PREFIX + "Closed")

    def test_a_timeout_puts_the_terminal_back(self):
        t = self.ask({"message": "PIN?", "kind": "secret"}, middleware=[timeout(0.5)]).expect("PIN? ")
        self.assertEqual(t.end()[0]["code"], TIMED_OUT)
        self.assertIn("(cancelled)", t.seen)
        self.assertTrue(t.left_echo)

    def test_ctrl_c(self):
        t = self.ask({"message": "PIN?", "kind": "secret"}).expect("PIN? ").type("\x03")
        self.assertEqual(t.end()[0]["type"], "cancellation")
        self.assertTrue(t.left_echo)

    def test_several_questions_one_after_the_other(self):
        ask = lambda m: {"provider": uri("prompt"), "with": {"message": m}}
        steps = {"g": {"action": "Gather", "calls": [ask("one?"), ask("two?"), ask("three?")], "next": "end"}, "end": {"action": "Return"}}
        t = self.ask(flow(steps, "g")).expect("one? ")
        self.assertNotIn("two?", t.seen)
        t.type("1\n").expect("two? ").type("2\n").expect("three? ").type("3\n")
        self.assertEqual(t.end()[0]["value"], ["1", "2", "3"])

    def test_no_terminal(self):
        done = subprocess.run(self.command(call("prompt", {"message": "?"})), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, start_new_session=True, timeout=20)
        self.assertEqual(json.loads(done.stdout)["code"], PREFIX + "NoTerminal")


main()
