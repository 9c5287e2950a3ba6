#!/usr/bin/env python3
"""bad.py MWLVM [CONNECTIONS]: what a server must bear: a body of 1 GB, many open connections, slow clients, a full disk,
a kill while it makes its token."""
import ctypes
import json
import os
import re
import resource
import signal
import socket
import struct
import sys
import time

from server import Case, ask, flow, main

CONNECTIONS = int(sys.argv.pop(2)) if len(sys.argv) > 2 else 300


class Bad(Case):
    def raw(self, text=b""):
        line = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(line.close)
        if text:
            line.sendall(text)
        return line

    def test_a_body_of_1_gb_is_refused_before_it_is_sent(self):
        self.serve()
        head = f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nContent-Length: 1073741824\r\n\r\n"
        self.assertIn(b" 413 ", self.raw(head.encode()).recv(4096))
        head = head.replace("Content-Length: 1073741824", "Transfer-Encoding: chunked")
        self.assertIn(b" 411 ", self.raw(head.encode()).recv(4096))
        self.assertIn(b" 401 ", self.raw(head.replace(self.token, "wrong").encode()).recv(4096))
        self.assertIn(b" 401 ", self.raw(head.replace("Bearer ", "Digest ").encode()).recv(4096))  # a scheme as long
        got = self.post("/v1/runs", b"x" * (1 << 20) + b"x", status=413)
        self.assertIn("too long", got.json["title"])
        got = self.post("/v1/runs", b"x" * (9 << 20), status=413)  # read to its end, so that the client reads why
        self.assertLess(self.memory(), 200000)

    def test_a_body_of_1_gb_that_is_sent_all_the_same(self):
        self.serve()
        before, piece = self.memory(), b"x" * (1 << 20)
        for length in ("Content-Length: 1073741824", "Content-Length: 2000000", "Transfer-Encoding: chunked"):
            line = self.raw(f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n{length}\r\n\r\n".encode())
            sent = 0
            with self.assertRaises(ConnectionError):  # it is closed long before
                while sent < 1 << 30:
                    line.sendall(piece)
                    sent += len(piece)
            self.assertLess(sent, 64 << 20)
        self.get("/v1/runs", token=self.token)
        self.assertLess(self.memory(), before + 20000)

    def test_a_server_that_is_killed_while_it_makes_its_token_starts_again(self):
        """The file is never there without the token: the kernel says how it came to be."""
        moved_to, created, modified = 0x80, 0x100, 0x2
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        self.addCleanup(os.close, watch)
        folder = self.folder.name.encode()
        self.assertGreaterEqual(libc.inotify_add_watch(watch, folder, moved_to | created | modified), 0)
        self.serve("--token-file", "own", token="own")
        self.get("/v1/runs", token=self.token)
        self.assertEqual(os.stat(self.path("own")).st_mode & 0o777, 0o600)
        self.stop(signal.SIGTERM)
        text, at, seen = os.read(watch, 1 << 20), 0, []
        while at < len(text):
            _, mask, _, size = struct.unpack_from("iIII", text, at)
            name = text[at + 16:at + 16 + size].rstrip(b"\0")
            seen += [mask] if name == b"own" else []
            at += 16 + size
        self.assertEqual(seen, [moved_to])
        self.write("own", "")
        got = self.command("serve", "--store", "runs.db", "--token-file", "own", status=1)
        self.assertIn("own: a token has at least 16", got.stderr)

    def test_many_open_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * CONNECTIONS + 500), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        limit = CONNECTIONS * 2 // 3
        self.serve("--connections", str(limit))
        self.put("p", flow({"a": ask("ok")}))
        lines = [self.raw() for _ in range(CONNECTIONS)]  # more than there may be, and none of them asks
        self.get("/v1/runs", token=self.token)
        self.post("/v1/runs", {"program": "p", "id": "x"}, token=self.token, status=202)

        def closed():
            n = 0
            for line in lines:
                line.setblocking(False)
                try:
                    n += line.recv(1) == b""
                except BlockingIOError:
                    pass
                except ConnectionError:
                    n += 1
            return n
        self.until(lambda: closed() >= CONNECTIONS - limit)
        self.assertEqual(self.get("/v1/runs", token=self.token).lines[0]["run"], "x")

    def test_a_client_that_never_ends_its_request_makes_room_for_others(self):
        """The oldest first, wherever it stopped: in the line, in the headers, in the body."""
        self.serve("--connections", "20")
        self.put("p", flow({"a": ask("ok")}))
        head = f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nContent-Length: 90\r\n\r\n{{"
        for text in (b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX", head.encode()):
            for i in range(20):
                for _ in range(3):
                    self.raw(text)
                self.get("/healthz", tcp=True)
            self.post("/v1/runs", {"program": "p"}, token=self.token, status=202)

    def test_the_unix_socket_does_not_wait_for_the_others(self):
        """Whoever holds all the connections with requests that are whole: its owner can still look."""
        self.serve("--connections", "4")
        self.put("p", flow({"a": ask("ok")}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        wait = f"GET /v1/runs/x/result?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()
        for _ in range(4):
            self.raw(wait)
        self.until(lambda: self.metric("http_waiting") == 4)
        self.ask("GET", "/healthz", tcp=True, status=503)
        self.get("/healthz")
        self.assertEqual(self.state("x"), "waiting")

    def test_a_body_has_one_end(self):
        """Two lengths, or a length and chunks: 400, and what follows is not read as a request."""
        self.serve()
        behind = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        for lengths in ("Content-Length: 2\r\nContent-Length: 40", "Content-Length: 2\r\nContent-Length: 2",
                        "Content-Length: 2\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\ncontent-length: 2",
                        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Content-Length: 2, 2"):
            line = self.raw(f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n{lengths}\r\n\r\n"
                            f"{{}}{behind}".encode())
            got = b""
            while piece := line.recv(4096):
                got += piece
            self.assertEqual((got[:12], b" 200 OK" in got), (b"HTTP/1.1 400", False), (lengths, got))

    def test_slow_clients_are_closed(self):
        self.serve("--idle", "1")
        quiet = self.raw()
        head = self.raw(b"GET /v1/ru")
        body = self.raw(f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
                        "Content-Length: 100\r\n\r\n{".encode())
        for line in (quiet, head, body):
            for _ in range(200):  # a byte now and then does not help
                try:
                    if line is not quiet:
                        line.sendall(b" ")
                    line.settimeout(0.1)
                    if line.recv(100) == b"":
                        break
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
            else:
                self.fail("the connection is still open")
        self.get("/healthz", tcp=True)

    def metric(self, name):
        return float(re.search(rf"^mwlvm_{name} (\S+)$", self.get("/metrics").body, re.M)[1])

    def test_a_listener_that_does_not_read_is_closed(self):
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        line = socket.socket(socket.AF_UNIX)
        self.addCleanup(line.close)
        line.connect(self.path("runs.db-sock"))
        line.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
        self.until(lambda: self.metric("http_streams") == 1)
        for i in range(3):  # each event has the id of its run
            self.post("/v1/runs", [{"program": "p", "id": f"{i}-{k}-" + "x" * 480} for k in range(400)], status=202)
        self.until(lambda: self.metric("http_streams") == 0)
        self.until(lambda: self.metric("http_connections") <= 1)
        line.settimeout(60)
        self.until(lambda: line.recv(1 << 20) == b"")

    def test_listeners_that_do_not_read_share_one_pool(self):
        """64 MiB for all of them: the one that is behind the most is closed, and goes on with Last-Event-ID."""
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        lines = []
        for _ in range(120):
            line = socket.socket(socket.AF_UNIX)
            self.addCleanup(line.close)
            line.connect(self.path("runs.db-sock"))
            line.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
            lines.append(line)
        self.until(lambda: self.metric("http_streams") == 120)
        before = self.memory()
        for i in range(2):  # less than 1 MiB for each
            self.post("/v1/runs", [{"program": "p", "id": f"{i}-{k}-" + "x" * 480} for k in range(250)], status=202)
        self.until(lambda: self.metric("http_streams") < 120)
        self.until(lambda: all(r["state"] == "waiting" for r in self.get("/v1/runs?state=open&limit=1000").lines))
        self.assertGreater(self.metric("http_streams"), 20)
        self.assertLess(self.memory() - before, 110000)
        events = self.listen("/v1/events", headers={"Last-Event-ID": "0"})
        self.assertEqual([next(events)["id"] for _ in range(5)], [1, 2, 3, 4, 5])

    def test_a_listener_that_fetches_nothing_for_long_is_closed(self):
        self.serve("--idle", "1")
        self.put("p", flow({"a": ask("ok")}))
        reads = self.listen("/v1/events")  # this one has fetched everything when its time is over
        line = socket.socket(socket.AF_UNIX)
        self.addCleanup(line.close)
        line.connect(self.path("runs.db-sock"))
        line.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
        self.until(lambda: self.metric("http_streams") == 2)
        runs = [f"{k}-" + "x" * 480 for k in range(300)]  # more than the system keeps for it
        self.post("/v1/runs", [{"program": "p", "id": run} for run in runs], status=202)
        left, size = 3 * len(runs), 0
        while left:
            event = next(reads)
            size += len(json.dumps(event)) + 60
            left -= 1
        self.assertLess(size, 1 << 20)  # that is not why
        self.until(lambda: self.metric("http_streams") == 1)
        line.settimeout(60)
        self.until(lambda: line.recv(1 << 20) == b"")
        self.post("/v1/runs", {"program": "p", "id": "y"}, status=202)
        self.assertEqual(next(reads)["run"], "y")

    def test_bodies_of_all_requests_have_a_limit(self):
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        head = f"POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nContent-Length: 1048576\r\n\r\n".encode()
        lines = [self.raw(head) for _ in range(256)]
        self.until(lambda: self.metric("http_connections") >= 256)

        def refused():
            line = self.raw(head)
            line.settimeout(0.5)
            try:
                return line.recv(4096)
            except TimeoutError:
                lines.append(line)
                return b""
        got = self.until(refused)
        self.assertIn(b" 503 ", got)
        self.assertIn(b"Retry-After: 1\r\n", got)
        self.get("/v1/runs", token=self.token)  # without a body
        for line in lines:
            line.close()
        self.until(lambda: self.post("/v1/runs", {"program": "p", "id": "x"}, token=self.token).status == 202)

    def test_a_body_for_a_link_that_is_not_signed_is_not_read(self):
        self.serve()
        head = "POST /a/x/1/9999999999/" + "0" * 64 + " HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"
        self.assertIn(b" 403 ", self.raw(head.encode()).recv(4096))

    def test_a_request_that_is_not_http(self):
        self.serve()
        for text in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100000 + b"\r\n\r\n"):
            line = self.raw()
            try:
                line.sendall(text)
                line.settimeout(2)
                line.recv(4096)
            except (TimeoutError, ConnectionError):
                pass
        self.get("/healthz", tcp=True)

    def test_a_result_that_is_gigabytes_as_json_stops_nobody(self):
        """A list that is twice in itself, 28 times: a few KB in memory, 1.6 GB of JSON. It ends its run by its limit."""
        self.serve("--memory", "64M")
        self.put("twice", flow({"a": {"action": "Pass", "assign": {"l": "{{ [1] }}", "n": "{{ 0 }}"}, "next": "b"},
                                "b": {"action": "Pass", "assign": {"l": "{{ [vars.l, vars.l] }}", "n": "{{ vars.n + 1.0 }}"},
                                      "next": "c"},
                                "c": {"action": "Match", "cases": [{"when": "{{ vars.n < 28.0 }}", "next": "b"}],
                                      "default": {"next": "w"}},
                                "w": {"action": "Return", "value": "{{ vars.l }}"}}))
        self.put("p", flow({"a": {"action": "Pass", "next": "end"}}))
        began = time.monotonic()
        self.post("/v1/runs", {"program": "twice", "id": "twice"}, status=202)
        self.post("/v1/runs", {"program": "p", "id": "other"}, status=202)
        self.assertEqual(self.get("/v1/runs/other/result?wait=60").json["type"], "success")
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual(self.get("/v1/runs/twice/result?wait=60").json["details"], {"limit": "memory"})
        self.get("/readyz")
        self.assertLess(self.memory(), 100000)

    def test_a_full_disk_loses_nothing(self):
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        self.put("nap", flow({"a": {"action": "Sleep", "for": "PT1S", "next": "end"}}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.state("x") == "waiting")
        self.post("/v1/runs", {"program": "nap", "id": "nap"}, status=202)
        size = max(os.stat(self.path("runs.db-wal")).st_size, os.stat(self.path("runs.db")).st_size)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        refused = None
        for i in range(2000):
            got = self.post("/v1/runs", {"program": "p", "id": f"r{i}", "input": "z" * 2000})
            if got.status != 202:
                refused = got
                break
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "1"), refused.body)
        self.get("/readyz", status=503)  # at once, although no run changes
        ready = self.until(lambda: (got := self.ask("GET", "/readyz")).status == 503 and got)  # the nap is over
        self.assertIn("runs.db: ", ready.json["title"])
        self.get("/healthz")
        self.assertEqual(self.get("/v1/runs?limit=1").lines[0]["run"], "x")
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.post("/v1/runs/x/answers/ok", "1", status=204)
        self.assertEqual(self.get("/v1/runs/x/result?wait=60").json["value"], 1)
        self.until(lambda: self.state("nap") == "done")
        self.until(lambda: self.ask("GET", "/readyz").status == 200)
        with open(self.path("log")) as f:
            log = f.read()
        self.assertIn("runs.db: ", log)
        self.assertIn("requests are answered with 503", log)
        self.assertIn("the store accepts requests again", log)
        self.until(lambda: all(r["state"] == "waiting" for r in self.get("/v1/runs?state=open&limit=1000").lines))
        self.assertEqual(len(self.get("/v1/runs?state=open&limit=1000").lines), i)


if __name__ == "__main__":
    main()
