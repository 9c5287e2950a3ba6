#!/usr/bin/env python3
"""keys.py MWLVM: one idempotency key, one request: against a service that honours keys.

The service does what it is asked once for each key, answers a known key with what it answered before, and refuses a
known key with another request (422), as payment services do."""
import json
import os
import signal
import subprocess
import time

from flow import MWLVM, ROOT, Case, call, entry, flow, main, uri
from serve_http import Server


class Bank(Server):
    def __init__(self):
        super().__init__()
        self.forget()

    def forget(self):
        self.known, self.done, self.replayed, self.lose, self.hang = {}, [], 0, 0, 0
        self.seen.clear()

    async def on_bank(self, w, parts, method, headers, body, query):
        key, asked = headers.get("idempotency-key"), (method, "/".join(parts), body.decode())
        if key in self.known and self.known[key] != asked:
            return await self.reply(w, b'{"why": "this key had another request"}', 422)
        self.replayed += key in self.known
        if key is None or key not in self.known:
            self.done.append((key, *asked))
            self.known[key or len(self.done)] = asked
        if self.lose:  # it was done, and the answer gets lost
            self.lose -= 1
            return False
        if self.hang:
            self.hang -= 1
            return await self.on_hang(w, parts)
        return await self.reply(w, b'{"id": "c-1"}')

    async def on_no(self, w, parts, **_):
        return await self.reply(w, b'{}', 409)


def again(attempts):
    return entry("retry", {"policies": [{"match": {"codes": ["*"]}, "attempts": attempts}]}, "mwl")


class Keys(Case):
    @classmethod
    def setUpClass(cls):
        cls.bank = Bank().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.bank.__exit__()

    def setUp(self):
        super().setUp()
        self.bank.forget()

    def http(self, path, body=None, key=True, **with_):
        with_ = {"url": self.bank.url("/bank/" + path), "idempotencyKey": key, **with_}
        return {"provider": uri("http"), "with": with_ if body is None else {**with_, "body": body}}

    def charge(self, key=True, body=None, middleware=None, **members):
        with_ = self.http("charges", body or {"amount": 100}, key)["with"]
        return call("http", with_, middleware, **members)

    def compensation(self, key=True):
        return entry("finally", None, "mwl", onAlways={"with": {"call": self.http("release", {"hold": 1}, key)}})

    def keys(self):
        return [key for key, *_ in self.bank.done]

    def run_it(self, content, *options, **how):
        return self.run_flow(content, self.bank.allow(), "--id", "o", *options, **how)

    # ---- a call has its own key

    def test_a_compensation_has_its_own_key(self):
        for key in (True, "attempts"):
            self.bank.forget()
            run = self.run_it(self.charge(key, middleware=[self.compensation(key)]))
            self.assertEqual(run.status, 0, run)
            self.assertEqual([path for _, _, path, _ in self.bank.done], ["charges", "release"])
            self.assertEqual((len(set(self.keys())), self.bank.replayed), (2, 0))

    def test_a_compensation_that_sends_the_same_has_its_own_key(self):
        for middleware in ([], [again(2)]):
            self.bank.forget()
            same = entry("finally", None, "mwl", onAlways={"with": {"call": self.http("charges", {"amount": 100}, "attempts")}})
            run = self.run_it(self.charge("attempts", middleware=[*middleware, same]))
            self.assertEqual((run.status, len(set(self.keys())), self.bank.replayed), (0, 2, 0), run)

    def test_a_compensation_of_each_attempt_has_its_own_key(self):
        for key in (True, "attempts"):
            self.bank.forget()
            self.bank.lose = 1
            run = self.run_it(self.charge(key, middleware=[again(2), self.compensation(key)]))
            self.assertEqual(run.status, 0, run)
            released = [key for key, _, path, _ in self.bank.done if path == "release"]
            self.assertEqual((len(released), len(set(released))), (2, 2))
            self.assertFalse(set(released) & {key for key, _, path, _ in self.bank.done if path == "charges"})

    def test_steps_rounds_and_dispatches_have_their_own_keys(self):
        loop = entry("loop", None, "mwl", onSuccess={"when": "{{ middleware.metadata.iteration < 3.0 }}"})
        gather = {"action": "Gather", "over": [1, 2, 3], "call": self.http("charges", {"amount": 1}), "next": "end"}
        for key in (True, "attempts"):
            gather["call"]["with"]["idempotencyKey"] = key
            for steps in ({"a": gather}, {"a": {"action": "Call", "call": self.http("charges", {"amount": 1}, key),
                                                "middleware": [loop], "next": "end"}},
                          {n: {"action": "Call", "call": self.http("charges", {"amount": 1}, key), "next": following}
                           for n, following in (("a", "b"), ("b", "c"), ("c", "end"))}):
                self.bank.forget()
                run = self.run_it(flow({**steps, "end": {"action": "Return", "value": 1}}, "a"))
                self.assertEqual((run.status, len(self.bank.done), len(set(self.keys()))), (0, 3, 3), run)

    def test_a_run_in_a_run_has_its_own_keys(self):
        inner = self.definition(self.charge(body="{{ frame.input }}"), "inner.json")
        run = self.run_it(call("run", {"path": inner}, [again(2), entry(
            "finally", None, "mwl", onAlways={"with": {"call": {"provider": uri("run"), "with": {"path": inner, "input": 9}}}})]),
            "--allow-read=" + self.folder, input=7)
        self.assertEqual((run.status, len(self.bank.done), len(set(self.keys()))), (0, 2, 2), run)

    # ---- Retry

    def test_each_attempt_is_a_call_and_has_its_own_key(self):
        self.bank.lose = 1
        self.assertEqual(self.run_it(self.charge(middleware=[again(3)])).status, 0)
        self.assertEqual(self.keys(), ["o.1", "o.2"])
        # so the answer that is lost is not called retryable: the service may have done it
        self.bank.forget()
        self.bank.lose = 1
        run = self.run_it(self.charge(middleware=[entry(
            "retry", {"policies": [{"match": {"retryable": True}, "attempts": 3}]}, "mwl")]))
        self.assertEqual((run.code, len(self.bank.done)), ("Provider.Call.Http.ConnectionFailed", 1), run)

    def test_attempts_share_a_key_where_that_is_asked_for(self):
        self.bank.lose = 2
        run = self.run_it(self.charge("attempts", middleware=[entry(
            "retry", {"policies": [{"match": {"retryable": True}, "attempts": 3}]}, "mwl")]))
        self.assertEqual((run.status, len(self.bank.seen), len(self.bank.done), self.bank.replayed), (0, 3, 1, 2), run)

    def test_another_content_gets_another_key(self):
        wait = entry("retry", {"policies": [{"match": {"codes": ["*"]}, "attempts": 2, "backoff": {"initial": "PT0.01S"}}]}, "mwl")
        for name, value, others in (("body", {"at": "{{ string(now()) }}"}, True), ("query", {"at": "{{ string(now()) }}"}, True),
                                    ("headers", {"X-Tenant": "{{ string(now()) }}"}, True),
                                    ("headers", {"authorization": "{{ 'Bearer ' + string(now()) }}"}, False)):
            self.bank.forget()
            self.bank.lose = 1
            with_ = {**self.http("charges", {"n": 1}, "attempts")["with"], name: value}
            run = self.run_it(call("http", with_, [wait]))
            self.assertEqual((run.status, len(self.bank.done), self.bank.replayed), (0, 2, 0) if others else (0, 1, 1), (name, run))
            self.assertEqual(len(set(self.keys())), len(self.bank.done))

    def test_a_redirect_that_changes_the_request_has_no_key(self):
        self.bank.counts.clear()
        run = self.run_it(call("http", {"url": self.bank.url("/redirect/303/1/echo"), "body": {}, "idempotencyKey": True}))
        self.assertEqual((run.status, "idempotency-key" in run.value["headers"]), (0, False), run)
        self.assertIn("idempotency-key", self.bank.seen[0][2])

    def test_a_long_id_of_a_run_is_not_cut(self):
        gather = {"action": "Gather", "over": [1, 2], "call": self.http("charges", {"amount": 1}, "attempts"), "next": "end"}
        run = self.run_flow(flow({"a": gather, "end": {"action": "Return"}}, "a"), self.bank.allow(), "--id", "i" * 600)
        self.assertEqual((run.status, len(set(self.keys()))), (0, 2), run)

    # ---- the first example of README.md

    def test_the_order_of_the_readme(self):
        with open(os.path.join(ROOT, "tools", "examples", "order", "order.json")) as f:
            order = f.read()
        order = order.replace("https://pay.example.org", self.bank.url("/bank"))
        order = order.replace("'https://' + call.input + '.example.org/orders/'", f"'{self.bank.url('/no/')}' + call.input + '/'")
        order = order.replace("PT1S", "PT0.01S")
        self.bank.lose = 1
        run = self.run_it(json.loads(order), input={"amount": 12})
        self.assertEqual((run.code, self.bank.replayed), ("Order.NotShipped", 1), run)
        self.assertEqual([(method, path) for _, method, path, _ in self.bank.done], [("POST", "charges"), ("DELETE", "charges/c-1")])

    # ---- crash and resume

    def killed_and_resumed(self, content, ready, *options):
        path = self.definition(content)
        words = ["--store", "runs.db", "--quiet", self.bank.allow(), *options]
        process = subprocess.Popen([MWLVM, "run", path, "--id", "o", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if ready():
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = subprocess.run([MWLVM, "resume", *words[:2], "o", *words[3:]], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done)

    def test_a_call_keeps_its_key_through_a_crash(self):
        for key in (True, "attempts"):
            with self.subTest(key=key):
                self.folder = self.path(str(key))
                os.mkdir(self.folder)
                self.bank.forget()
                self.bank.hang = 1
                self.killed_and_resumed(self.charge(key, middleware=[again(2), self.compensation(key)]), lambda: self.bank.done)
                self.assertEqual([path for _, _, path, _ in self.bank.done], ["charges", "release"])
                self.assertEqual((len(set(self.keys())), self.bank.replayed), (2, 1))

    def test_a_program_keeps_its_key_through_a_crash(self):
        def say(text, wait=""):
            return {"argv": ["sh", "-c", f"echo $MWLVM_CALL_KEY $MWLVM_CALL_ATTEMPT {text} >>seen; {wait}"]}
        cleanup = entry("finally", None, "mwl", onAlways={"with": {"call": {"provider": uri("exec"), "with": say("release")}}})
        first = "test -e again || { touch again; sleep 600; }; test -e failed || { touch failed; exit 1; }"
        self.killed_and_resumed(call("exec", say("charge", first), [again(2), cleanup]),
                                lambda: os.path.exists(self.path("again")), "--allow-exec=sh")
        self.assertEqual(self.text("seen").splitlines(), ["o.1 1 charge", "o.1 2 charge", "o.2 1 release", "o.3 1 charge", "o.4 1 release"])


if __name__ == "__main__":
    main()
