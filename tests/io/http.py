#!/usr/bin/env python3
"""http.py MWLVM: the provider http against a real server on loopback."""
import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from flow import MWLVM, Case, call, flow, main, uri
from serve_http import Server, certificates, client_certificate

HTTP = "Provider.Call.Http."


def read(path):
    with open(path) as f:
        return f.read()


def timeout(duration):
    return {"provider": uri("timeout", "middleware", "mwl"), "onEntry": {"with": {"duration": duration}}}


def retry(attempts, match=None, on_failure=None):
    entry = {"provider": uri("retry", "middleware", "mwl"),
             "onEntry": {"with": {"policies": [{"match": match or {"retryable": True}, "attempts": attempts}]}}}
    if on_failure:
        entry["onFailure"] = on_failure
    return entry


class Http(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        super().setUp()
        self.server.seen.clear()

    def get(self, path, code=None, input=None, options=(), middleware=None, **with_):
        with_ = {"url": self.server.url(path), **with_}
        content = call("http", with_, middleware)
        if code:
            return self.fails(content, code, self.server.allow(), *options, input=input)
        return self.succeeds(content, self.server.allow(), *options, input=input)

    def metadata(self, path, **with_):
        """What the Step sees as provider.metadata."""
        step = {"action": "Call", "call": {"provider": uri("http"), "with": {"url": self.server.url(path), **with_},
                                           "onSuccess": {"assign": {"m": "{{ provider.metadata }}"}}}, "next": "end"}
        content = flow({"a": step, "end": {"action": "Return", "value": "{{ vars.m }}"}}, "a")
        return self.succeeds(content, self.server.allow())


class Bodies(Http):
    def test_json_by_the_content_type(self):
        self.assertEqual(self.get("/json"), {"x": [1, 2.5, "é"]})

    def test_text_and_lines(self):
        self.assertEqual(self.get("/text"), "one\r\ntwo\n")
        self.assertEqual(self.get("/text", **{"as": "lines"}), ["one", "two"])

    def test_other_types_are_base64(self):
        self.assertEqual(base64.b64decode(self.get("/bytes")), bytes(range(256)))

    def test_latin1_becomes_utf8(self):
        self.assertEqual(self.get("/latin1"), "café")

    def test_what_cannot_be_decoded(self):
        self.assertIn("UTF-8", self.get("/not_utf8", HTTP + "DecodeFailed")["message"])
        failure = self.get("/not_json", HTTP + "DecodeFailed")
        self.assertEqual((failure["details"]["status"], failure["retryable"]), (200, False))
        self.get("/broken_gzip", HTTP + "DecodeFailed")

    def test_an_empty_json_body_is_null(self):
        self.assertIsNone(self.get("/empty"))
        self.assertIsNone(self.get("/echo", method="HEAD"))

    def test_chunks_and_compression(self):
        self.assertEqual(self.get("/chunked"), {"a": [1, 2]})
        self.assertEqual(self.get("/gzip"), {"packed": True})


class Requests(Http):
    def test_the_input_is_the_body_of_a_post(self):
        seen = self.get("/echo", method="POST", input={"n": 1})
        self.assertEqual((seen["method"], seen["body"]), ("POST", '{"n":1}'))
        self.assertEqual(seen["headers"]["content-type"], "application/json")

    def test_a_get_sends_no_body(self):
        seen = self.get("/echo", input={"n": 1})
        self.assertEqual((seen["method"], seen["body"]), ("GET", ""))

    def test_a_post_without_input(self):
        self.assertEqual(self.get("/echo", method="POST")["headers"]["content-length"], "0")

    def test_body_and_form_make_a_post(self):
        seen = self.get("/echo", body="plain")
        self.assertEqual((seen["method"], seen["body"]), ("POST", "plain"))
        self.assertTrue(seen["headers"]["content-type"].startswith("text/plain"))
        seen = self.get("/echo", form={"a b": "c&d", "n": 1, "l": [True, "x"], "no": None})
        self.assertEqual(seen["body"], "a%20b=c%26d&n=1&l=true&l=x")
        self.assertEqual(seen["headers"]["content-type"], "application/x-www-form-urlencoded")
        self.get("/echo", HTTP + "InvalidRequest", form={}, body=1)

    def test_other_methods(self):
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"):
            self.assertEqual(self.get("/echo", method=method, body=[1])["method"], method)

    def test_the_query_is_added(self):
        self.assertEqual(self.get("/echo?z=0#part", query={"a": "ü", "b": [1, 2]})["query"], "z=0&a=%C3%BC&b=1&b=2")

    def test_headers(self):
        seen = self.get("/echo", headers={"X-One": "1", "X-None": "", "user-agent": "me"})["headers"]
        self.assertEqual((seen["x-one"], seen["x-none"], seen["user-agent"]), ("1", "", "me"))

    def test_a_header_cannot_smuggle(self):
        for headers in ({"X": "a\r\nY: b"}, {"X: a\r\nY": "b"}, {"X Y": "b"}, {"": "x"}):
            self.get("/echo", HTTP + "InvalidRequest", headers=headers)
        self.get("/echo", HTTP + "InvalidRequest", method="GET /x")
        self.assertEqual(self.server.seen, [])

    def test_urls_that_are_none(self):
        for url in ("ftp://127.0.0.1/", "file:///etc/passwd", "//x", "http://", "not a url"):
            self.fails(call("http", {"url": url}), HTTP + "InvalidRequest", "--allow-all")

    def test_a_text_as_idempotency_key_is_sent_unchanged(self):
        self.assertEqual(self.get("/echo", idempotencyKey="mine")["headers"]["idempotency-key"], "mine")
        self.assertNotIn("idempotency-key", self.get("/echo", idempotencyKey=False)["headers"])

    def test_metadata(self):
        m = self.metadata("/redirect/302/1/json")
        self.assertEqual((m["status"], m["redirects"], m["version"]), (200, 1, "1.1"))
        self.assertEqual(m["url"], self.server.url("/json"))
        self.assertEqual(m["headers"]["content-type"], "application/problem+json; charset=utf-8")
        self.assertTrue(0 <= m["timings"]["connect"] <= m["timings"]["firstByte"] <= m["timings"]["total"])


class Failures(Http):
    def test_statuses_and_whether_to_retry(self):
        for status, get, post in ((400, False, False), (404, False, False), (408, True, True), (500, True, False),
                                  (501, False, False), (502, True, False), (503, True, True), (504, True, False)):
            failure = self.get(f"/status/{status}", HTTP + "NonSuccessStatus")
            self.assertEqual((failure["details"]["status"], failure["retryable"]), (status, get))
            self.assertEqual(failure["details"]["body"], {"why": "asked"})
            self.assertEqual(self.get(f"/status/{status}", HTTP + "NonSuccessStatus", method="POST")["retryable"], post)

    def test_throttled_in_seconds(self):
        failure = self.get("/throttle/seconds/3", HTTP + "Throttled")
        self.assertEqual((failure["retryable"], failure["details"]["retryAfter"]), (True, "PT3S"))
        self.assertEqual(failure["details"]["headers"]["retry-after"], "3")
        self.assertEqual(failure["details"]["body"], {"slow": "down"})

    def test_throttled_until_a_date_in_an_old_form(self):
        """RFC 9110 has three forms of a date; two are obsolete and still must be read."""
        for form in ("rfc850", "asctime"):
            after = self.get(f"/throttle/{form}/90", HTTP + "Throttled")["details"]["retryAfter"]
            self.assertTrue(86 <= int(re.fullmatch(r"PT(\d+)S", after)[1]) <= 91, after)

    def test_throttled_until_a_date(self):
        after = self.get("/throttle/date/90", HTTP + "Throttled")["details"]["retryAfter"]
        self.assertTrue(86 <= int(re.fullmatch(r"PT(\d+)S", after)[1]) <= 91, after)
        # a part of a second counts as a whole one: five tries, because the machine may be busy at the turn of a second
        exact = [self.get("/throttle/date/90", HTTP + "Throttled")["details"]["retryAfter"] for _ in range(5)]
        self.assertIn("PT90S", exact)
        self.assertEqual(self.get("/throttle/date/-90", HTTP + "Throttled")["details"]["retryAfter"], "PT0S")

    def test_a_header_that_cannot_be_read(self):
        for value in ("soon", "-5", "1.5", "12:00", "Sun,%2099%20Foo%202020%2000:00:00%20GMT"):
            self.assertIsNone(self.get(f"/throttle/junk/{value}", HTTP + "Throttled")["details"]["retryAfter"], value)

    def test_retry_takes_the_delay(self):
        delay = {"with": {"delay": "{{ middleware.result.details.retryAfter }}"}}
        self.assertEqual(self.get("/after/2/delay", middleware=[retry(3, on_failure=delay)]), 3)

    def test_nothing_listens(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
            failure = self.fails(call("http", {"url": f"http://127.0.0.1:{port}/", "method": "POST"}),
                                 HTTP + "ConnectionFailed", "--allow-all")
        self.assertEqual((failure["retryable"], failure["details"]["sent"]), (True, False))

    def test_an_unknown_name(self):
        failure = self.fails(call("http", {"url": "http://no-such-host.invalid/"}), HTTP + "ConnectionFailed",
                             "--allow-http")
        self.assertTrue(failure["retryable"])

    def test_closed_in_the_middle_of_a_body(self):
        failure = self.get("/cut", HTTP + "ConnectionFailed")
        self.assertEqual((failure["retryable"], failure["details"]["status"], failure["details"]["body"]), (True, 200, "only this"))
        failure = self.get("/cut", HTTP + "ConnectionFailed", method="POST")
        self.assertEqual((failure["retryable"], failure["details"]["sent"]), (False, True))

    def test_closed_without_a_response(self):
        self.get("/silent", HTTP + "ConnectionFailed")

    def test_too_large(self):
        self.assertEqual(len(self.get("/huge/1000000", maxBytes=1000000)), 1000000)
        failure = self.get("/huge/1000001", HTTP + "TooLarge", maxBytes=1000000)
        self.assertEqual((failure["retryable"], failure["details"]["status"]), (False, 200))
        self.assertEqual(failure["details"]["headers"]["content-length"], "1000001")
        self.get("/huge/20000000", HTTP + "TooLarge")  # the default is 16 MiB

    def test_a_bomb_of_gzip(self):
        began = time.monotonic()
        self.get("/bomb", HTTP + "TooLarge", maxBytes=100000)
        self.assertLess(time.monotonic() - began, 20)

    def test_redirects_that_do_not_end(self):
        self.get("/loop", HTTP + "TooManyRedirects")
        self.assertEqual(len(self.server.seen), 6)
        self.get("/redirect/302/3/json", HTTP + "TooManyRedirects", redirects=2)
        self.assertEqual(self.get("/redirect/302/3/json", redirects=3)["x"][0], 1)

    def test_redirects_that_are_not_followed(self):
        self.assertEqual(self.get("/redirect/302/1/json", HTTP + "NonSuccessStatus", redirects=0)["details"]["status"],
                         302)


class Redirects(Http):
    def test_methods(self):
        for status, method, body in ((301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "x"),
                                     (308, "POST", "x")):
            seen = self.get(f"/redirect/{status}/1/echo", body="x")
            self.assertEqual((seen["method"], seen["body"]), (method, body), status)
            self.assertEqual("content-type" in seen["headers"], method == "POST", status)

    def test_a_short_method_becomes_get(self):
        self.assertEqual(self.get("/redirect/303/1/echo", method="X")["method"], "GET")
        self.assertEqual([seen[0] for seen in self.server.seen], ["X", "GET"])

    def test_credentials_stay_with_their_host(self):
        headers = {"Authorization": "Bearer x", "X-Other": "y"}
        self.assertEqual(self.get("/redirect/302/1/echo", headers=headers)["headers"]["authorization"], "Bearer x")
        with Server() as other:
            seen = self.get("/to/302?" + other.url("/echo"), headers=headers, options=[other.allow()])["headers"]
        self.assertNotIn("authorization", seen)
        self.assertEqual(seen["x-other"], "y")

    def test_a_secret_stays_with_its_host(self):
        """Whatever the header is called."""
        with Server() as other:
            step = {"action": "Call", "call": {"provider": uri("env"), "with": {"names": "TOKEN"}}, "next": "get"}
            get = {"action": "Call", "call": {"provider": uri("http"), "with": {
                "url": self.server.url("/to/302?" + other.url("/echo")), "headers": {"X-Api-Key": "{{ step.input }}", "X-Other": "y"}}}, "next": "end"}
            run = self.run_flow(flow({"env": step, "get": get, "end": {"action": "Return"}}, "env"), self.server.allow(), other.allow(),
                                "--allow-env=TOKEN", env={**os.environ, "TOKEN": "k3y-of-the-api"})
        self.assertEqual(self.server.seen[0][2]["x-api-key"], "k3y-of-the-api")
        self.assertEqual((run.value["headers"].get("x-api-key"), run.value["headers"]["x-other"]), (None, "y"))

    def test_a_redirect_does_not_leave_the_allowed_hosts(self):
        with Server() as other:
            failure = self.get("/to/302?" + other.url("/echo"), HTTP + "NotPermitted")
            self.assertEqual(failure["details"]["flag"], other.allow())
            self.assertEqual((other.connections, other.seen), (0, []))
        self.get("/to/302?file:///etc/passwd", HTTP + "InvalidRequest")


class Permissions(Http):
    def test_nothing_is_started_without_the_flag(self):
        run = self.run_flow(call("http", {"url": self.server.url("/json")}))
        self.assertEqual((run.status, run.out), (2, ""))
        self.assertIn("\n  " + self.server.allow() + "\n", run.err)
        self.assertEqual(self.server.seen, [])

    def test_a_computed_url_is_checked_when_it_is_used(self):
        content = call("http", {"url": "{{ step.input }}"})
        run = self.run_flow(content, input=self.server.url("/json"))
        self.assertEqual((run.status, "\n  --allow-http\n" in run.err), (2, True))
        failure = self.fails(content, HTTP + "NotPermitted", "--allow-http=example.org", input=self.server.url("/json"))
        self.assertEqual(failure["details"]["flag"], self.server.allow())

    def test_private_addresses_need_their_name(self):
        port = self.server.port
        for host in ("127.0.0.1", "localhost", "127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "[::1]",
                     "169.254.169.254", "10.0.0.1", "0.0.0.0"):
            content = call("http", {"url": f"http://{host}:{port}/json", "connectTimeout": "PT2S"})
            self.fails(content, HTTP + "NotPermitted", "--allow-http", input=None)
        self.assertEqual((self.server.seen, self.server.connections), ([], self.server.connections))
        self.assertEqual(self.succeeds(call("http", {"url": f"http://localhost:{port}/json"}),
                                       "--allow-http=localhost")["x"][0], 1)

    def test_a_wildcard_does_not_name_a_private_host(self):
        content = call("http", {"url": f"http://x.localhost:{self.server.port}/json"})
        self.fails(content, HTTP + "NotPermitted", "--allow-http=*.localhost")

    def test_the_port_counts(self):
        run = self.run_flow(call("http", {"url": self.server.url("/json")}), "--allow-http=127.0.0.1:1")
        self.assertEqual(run.status, 2)

    def test_check_lists_what_is_asked_for(self):
        path = self.definition(call("http", {"url": self.server.url("/json"), "tls": {"ca": "ca.pem"}}))
        done = subprocess.run([MWLVM, "check", "--permissions", path], capture_output=True, text=True)
        self.assertEqual(done.stdout, f"{path} asks for:\n  {self.server.allow()}\n  --allow-read=ca.pem\n")

    def test_a_policy_file(self):
        with open(self.path("policy.json"), "w") as f:
            json.dump({"description": "test", "allow": {"http": [f"127.0.0.1:{self.server.port}"]}}, f)
        self.succeeds(call("http", {"url": self.server.url("/json")}), "--policy", self.path("policy.json"))
        for wrong in ({"allow": {"disk": True}}, {"allow": {"http": "x"}}, {"allow": {"http": ["a/b"]}}, [], {"x": 1}):
            with open(self.path("policy.json"), "w") as f:
                json.dump(wrong, f)
            run = self.run_flow(call("http", {"url": "http://x/"}), "--policy", self.path("policy.json"))
            self.assertEqual(run.status, 2)


class Under(Http):
    """Middleware, many at once, and cancellation at every stage."""

    def test_timeout_at_each_stage(self):
        for path in ("/hang", "/drip", "/slow/30"):
            began = time.monotonic()
            run = self.run_flow(call("http", {"url": self.server.url(path)}, [timeout("PT0.3S")]), self.server.allow())
            self.assertEqual(run.code, "Provider.Middleware.Timeout.Exceeded", run)
            self.assertLess(time.monotonic() - began, 5)

    def test_timeout_while_connecting(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen(0)
            port = s.getsockname()[1]
            full = [socket.socket() for _ in range(4)]  # the backlog is full: no further connection is accepted
            for one in full:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            content = call("http", {"url": f"http://127.0.0.1:{port}/", "connectTimeout": "PT0.3S"})
            self.fails(content, HTTP + "ConnectionFailed", "--allow-all")
            content = call("http", {"url": f"http://127.0.0.1:{port}/"}, [timeout("PT0.3S")])
            self.assertEqual(self.run_flow(content, "--allow-all").code, "Provider.Middleware.Timeout.Exceeded")
            for one in full:
                one.close()

    def test_a_thousand_at_once(self):
        gather = {"action": "Gather", "over": "{{ step.input }}", "concurrency": 1000, "next": "end",
                  "call": {"provider": uri("http"), "with": {"url": "{{ call.input }}"}}}
        content = flow({"g": gather, "end": {"action": "Return", "value": "{{ step.input.size() }}"}}, "g")
        began = time.monotonic()
        urls = [self.server.url("/slow/0.5")] * 1000
        self.assertEqual(self.succeeds(content, self.server.allow(), input=urls), 1000)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_thousand_cancelled(self):
        gather = {"action": "Gather", "over": "{{ step.input }}", "concurrency": 1000, "next": "end",
                  "call": {"provider": uri("http"), "with": {"url": "{{ call.input }}"}}}
        content = flow({"g": gather, "end": {"action": "Return"}}, "g", middleware=[timeout("PT1S")])
        paths = ["/hang", "/drip", "/redirect/302/1/hang"]
        run = self.run_flow(content, self.server.allow(), input=[self.server.url(paths[i % 3]) for i in range(1000)])
        self.assertEqual(run.code, "Provider.Middleware.Timeout.Exceeded", run)

    def test_a_signal_cancels(self):
        child = subprocess.Popen(self.command(call("http", {"url": self.server.url("/hang")}), self.server.allow()),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(200):
            if self.server.seen:
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
        self.assertEqual(json.loads(out)["code"], "System.Cancelled")
        self.assertEqual(child.returncode, -signal.SIGINT)

    def test_connections_are_used_again(self):
        with Server() as server:  # connections of other tests may still arrive at theirs
            step = {"action": "Call", "call": {"provider": uri("http"), "with": {"url": server.url("/json")}}}
            steps = {f"s{i}": {**step, "next": f"s{i + 1}"} for i in range(5)}
            self.succeeds(flow({**steps, "s5": {"action": "Return"}}, "s0"), server.allow())
            self.assertEqual((server.connections, len(server.seen)), (1, 5))

    def test_virtual_time_waits_for_real_work(self):
        content = call("http", {"url": self.server.url("/slow/0.3")}, [timeout("PT1H")])
        self.assertEqual(self.succeeds(content, self.server.allow(), "--virtual-time"), {})


class Proxy(Http):
    def test_the_proxy_of_the_environment(self):
        env = {**os.environ, "http_proxy": self.server.url(""), "no_proxy": "other.invalid,host.invalid"}  # not the end of a word
        # a proxy gets the whole URL as its target
        content = call("http", {"url": "http://no-such-host.invalid/echo"})
        run = self.run_flow(content, "--allow-http=no-such-host.invalid", env=env)
        self.assertEqual(self.server.seen[0][1] if self.server.seen else run, "http://no-such-host.invalid/echo")
        self.fails(call("http", {"url": "http://other.invalid/echo"}), HTTP + "ConnectionFailed", "--allow-http",
                   env=env)

    def test_a_proxy_gets_no_private_addresses(self):
        env = {**os.environ, "http_proxy": self.server.url("")}
        self.fails(call("http", {"url": "http://169.254.169.254/"}), HTTP + "NotPermitted", "--allow-http", env=env)
        self.assertEqual(self.server.seen, [])


@unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
class Tls(Case):
    def setUp(self):
        super().setUp()
        self.ca, self.cert, self.key = certificates(self.folder)
        self.server = Server((self.cert, self.key))
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)

    def test_a_certificate_that_is_trusted(self):
        url = self.server.url("/json", "localhost")
        content = call("http", {"url": url, "tls": {"ca": self.ca}})
        self.assertEqual(self.succeeds(content, "--allow-http=localhost", "--allow-read=" + self.ca)["x"][0], 1)
        content = call("http", {"url": url, "tls": {"ca": read(self.ca)}})
        self.assertEqual(self.succeeds(content, "--allow-http=localhost")["x"][0], 1)

    def test_certificates_that_are_not(self):
        url = self.server.url("/json", "localhost")
        self.assertFalse(self.fails(call("http", {"url": url}), HTTP + "TlsFailed", "--allow-all")["retryable"])
        content = call("http", {"url": url, "tls": {"verify": False}})
        self.assertEqual(self.succeeds(content, "--allow-all")["x"][0], 1)
        # the certificate is for localhost
        content = call("http", {"url": self.server.url("/json", "127.0.0.1"), "tls": {"ca": self.ca}})
        self.fails(content, HTTP + "TlsFailed", "--allow-all")

    def test_a_certificate_of_the_client(self):
        cert, key = client_certificate(self.folder)
        with Server((self.cert, self.key), clients=self.ca) as server:
            url = server.url("/json", "localhost")

            def run(*flags, **tls):
                return self.run_flow(call("http", {"url": url, "tls": {"ca": self.ca, **tls}}), "--allow-http=localhost", *flags)

            folder = f"--allow-read={self.folder}"
            self.assertEqual(run(folder, cert=cert, key=key).value["x"][0], 1)
            run_with_texts = self.run_flow(call("http", {"url": url, "tls": {"ca": read(self.ca), "cert": read(cert), "key": read(key)}}),
                                           "--allow-http=localhost")
            self.assertEqual(run_with_texts.value["x"][0], 1)
            self.assertEqual(len(server.seen), 2)
            # without one, with a key that is another one's, with what is not a certificate
            self.assertIn(run(folder).code, (HTTP + "TlsFailed", HTTP + "ConnectionFailed"))
            self.assertEqual(run(folder, cert=cert, key=self.key).code, HTTP + "TlsFailed")
            self.assertEqual(run(folder, cert="-----BEGIN CERTIFICATE-----\nx", key=key).code, HTTP + "TlsFailed")
            refused = run(f"--allow-read={self.ca}", cert=cert, key=key)
            self.assertEqual((refused.status, f"--allow-read={key}" in refused.err), (2, True))
            self.assertEqual(len(server.seen), 2)
            for text in (read(key).splitlines()[1], read(key).splitlines()[2]):  # a key is in no message
                self.assertNotIn(text, run(folder, cert=cert, key=self.key).out)

    def test_files_that_cannot_be_read(self):
        url = self.server.url("/json", "localhost")
        content = call("http", {"url": url, "tls": {"ca": self.path("none.pem")}})
        self.fails(content, HTTP + "TlsFailed", "--allow-all")
        content = call("http", {"url": url, "tls": {"ca": "{{ '" + self.ca + "' }}"}})
        failure = self.fails(content, HTTP + "NotPermitted", "--allow-http=localhost")
        self.assertEqual(failure["details"]["flag"], "--allow-read=" + self.ca)

    def test_plain_text_on_the_other_side(self):
        with socket.create_server(("127.0.0.1", 0)) as plain:
            def answer():
                client, _ = plain.accept()
                client.recv(1)
                client.sendall(b"HTTP/1.1 400 X\r\n\r\n")
                client.close()

            threading.Thread(target=answer, daemon=True).start()
            url = f"https://localhost:{plain.getsockname()[1]}/json"
            self.fails(call("http", {"url": url}), HTTP + "TlsFailed", "--allow-all")


@unittest.skipUnless(shutil.which("openssl") and shutil.which("nginx"), "no nginx, or no openssl")
class Http2(Case):
    def setUp(self):
        super().setUp()
        self.ca, cert, key = certificates(self.folder)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        os.mkdir(self.path("www"))
        with open(self.path("www", "x.json"), "w") as f:
            f.write('{"two": true}')
        with open(self.path("www", "slow.txt"), "w") as f:
            f.write("x" * 100000)
        with open(self.path("nginx.conf"), "w") as f:
            f.write(f"""daemon off; master_process off; pid {self.folder}/pid; error_log {self.folder}/log;
events {{ worker_connections 1024; }}
http {{ access_log off; client_body_temp_path {self.folder}/b; proxy_temp_path {self.folder}/p;
fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;
default_type application/json; keepalive_requests 100000;
server {{ listen 127.0.0.1:{self.port} ssl http2; ssl_certificate {cert}; ssl_certificate_key {key};
root {self.folder}/www; location /slow.txt {{ limit_rate 100; }} }} }}
""")
        self.nginx = subprocess.Popen(["nginx", "-p", self.folder, "-c", self.path("nginx.conf"), "-e", self.path("log")],
                                      stderr=subprocess.DEVNULL)
        self.addCleanup(self.nginx.wait)
        self.addCleanup(self.nginx.terminate)
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        self.fail("nginx does not listen")

    def test_many_requests_on_one_connection(self):
        with_ = {"url": f"https://localhost:{self.port}/x.json", "tls": {"ca": read(self.ca)}}
        gather = {"action": "Gather", "over": "{{ step.input }}", "concurrency": 200, "next": "end",
                  "call": {"provider": uri("http"), "with": with_,
                           "onSuccess": {"value": "{{ provider.metadata.version }}"}}}
        content = flow({"g": gather, "end": {"action": "Return", "value": "{{ sets.contains(['2'], step.input) }}"}}, "g")
        self.assertIs(self.succeeds(content, "--allow-http=localhost", input=list(range(200))), True)

    def test_streams_that_are_cancelled_leave_the_others(self):
        """Slow and quick requests share a connection; the slow ones run into their Timeout."""
        def one(path, seconds):
            return {"entrypoint": "get", "middleware": [timeout(f"PT{seconds}S")], "steps": {
                "get": {"action": "Call", "call": {"provider": uri("http"), "with": {
                    "url": f"https://localhost:{self.port}/{path}", "tls": {"ca": read(self.ca)}},
                    "onSuccess": {"value": "{{ provider.metadata.version }}"}}, "next": "end"}, "end": {"action": "Return"}}}

        steps = {"g": {"action": "Gather", "calls": [{"flow": "slow" if i % 4 == 0 else "quick"} for i in range(200)], "completion": {"successes": 150},
                       "next": "end"}, "end": {"action": "Return", "value": "{{ step.input.filter(v, v == '2').size() }}"}}
        content = flow(steps, "g", flows={"slow": one("slow.txt", 1), "quick": one("x.json", 60)})
        run = self.run_flow(content, "--allow-http=localhost", timeout=90)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.value, 150)


class Descriptors(Http):
    def test_none_is_left(self):
        """Two hundred calls of every kind leave as many descriptors as one."""
        kinds = ["/json", "/cut", "/hang", "/huge/30000000", "/loop", "/silent", "/status/500", "/gzip"]
        gather = {"action": "Gather", "over": "{{ step.input }}", "concurrency": 20, "next": "wait",
                  "completion": {"successes": 0}, "call": {"flow": "one"}}
        one = {"entrypoint": "get", "middleware": [timeout("PT0.3S")], "steps": {
            "get": {"action": "Call", "call": {"provider": uri("http"), "with": {"url": "{{ step.input }}"}},
                    "next": "end"}, "end": {"action": "Return"}}}
        content = flow({"g": gather, "wait": {"action": "Sleep", "for": "PT20S", "next": "end"},
                        "end": {"action": "Return"}}, "g", flows={"one": one})
        self.succeeds(json.loads(json.dumps(content).replace("PT20S", "PT0S")), self.server.allow(), input=[])
        child = subprocess.Popen(self.command(content, self.server.allow()), stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        child.stdin.write(json.dumps([self.server.url(kinds[i % len(kinds)]) for i in range(200)]).encode())
        child.stdin.close()
        for _ in range(200):  # until the last of them has begun, and its time is over
            time.sleep(0.05)
            if len(self.server.seen) >= 200:
                break
        time.sleep(0.6)
        fds = os.listdir(f"/proc/{child.pid}/fd")
        # the streams, the loop's own, and connections that can be used again
        self.assertLess(len(fds), 16 + 20 + 2, fds)


main()
