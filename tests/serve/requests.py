#!/usr/bin/env python3
"""requests.py MWLVM [SECONDS [SEED]]: random requests by raw sockets. Whatever is sent, the server lives, answers others, and gives
nothing to a client without a token but what is open to everyone."""
import random
import re
import socket
import sys
import time

from server import Case, ask, flow, main

SECONDS = float(sys.argv.pop(2)) if len(sys.argv) > 2 else 2
SEED = int(sys.argv.pop(2)) if len(sys.argv) > 2 else random.randrange(1 << 32)
PATHS = ["/", "/healthz", "/readyz", "/metrics", "/v1/programs", "/v1/programs/p", "/v1/programs/p/graph", "/v1/runs", "/v1/runs/x",
         "/v1/runs/x/result?wait=0", "/v1/runs/x/graph", "/v1/runs/x/snapshot", "/v1/runs/x/answers/ok", "/v1/runs/x/waits/1/link",
         "/v1/runs/x/cancel", "/v1/runs/x/resume", "/v1/waits?limit=3", "/v1/calls?provider=x", "/a/x/1/9999999999/" + "0" * 64]
METHODS = ["GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "TRACE", "get"]
PARTS = [b"%00", b"%", b"%zz", b"../", b"//", b"?", b"&", b"=", b"\r\n", b"\n", b"\x00", b"\xff\xfe", b" ", b"\t", b"A" * 5000, b"{", b"[" * 600,
         b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: y\r\n", b"Authorization: Bearer x\r\n", b"Expect: 100-continue\r\n",
         b"limit=99999999999999999999", b"?full=1", b"?results=1", b"\"\\u0000\"", b"1e999"]
BODIES = [b"", b"{}", b"[]", b"null", b'{"program":"p"}', b'{"program":"p","id":"x","input":[1]}', b'[{"program":"p"},{"program":"q"}]', b"true"]
OPEN = re.compile(rb"^(GET|HEAD) /(\?|#|\x00| |healthz|readyz|a/)")  # what needs no token


class Requests(Case):
    def request(self, rng, token):
        body = rng.choice(BODIES)
        head = f"{rng.choice(METHODS)} {rng.choice(PATHS)} HTTP/1.{rng.choice('0111')}\r\nHost: x\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Content-Length: {len(body)}\r\n" if body or rng.random() < 0.5 else ""
        head += rng.choice(["", "Accept: application/json\r\n", "Idempotency-Key: k\r\n", "Connection: close\r\n"])
        text = head.encode() + b"\r\n" + body
        for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
            at, how = rng.randrange(len(text) + 1), rng.randrange(4)
            text = (text[:at] + rng.choice(PARTS) + text[at:] if how == 0 else text[:at] + text[at + rng.randrange(9):] if how == 1
                    else text[:at] + bytes([rng.randrange(256)]) + text[at + 1:] if how == 2 else text[:at] + text[at // 2:])
        return text

    def send(self, text, path=None):
        line = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        line.settimeout(0.05)
        got = b""
        try:
            line.connect(path or ("127.0.0.1", self.port))
            line.sendall(text)
            line.shutdown(socket.SHUT_WR)
            while piece := line.recv(65536):
                got += piece
        except OSError:
            pass
        line.close()
        return got

    def test_random_requests(self):
        rng, n, end = random.Random(SEED), 0, time.monotonic() + SECONDS
        self.serve("--memory", "64M", "--idle", "2")
        self.put("p", flow({"a": ask("ok")}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        while time.monotonic() < end:
            kind = rng.random()
            text = self.request(rng, self.token if kind < 0.4 else "")
            got = self.send(text, self.path("runs.db-sock") if kind > 0.8 else None)
            n += 1
            if 0.4 <= kind <= 0.8:
                said = re.match(rb"HTTP/1\.\d (\d+)", got)
                if said and said[1][:1] == b"2":
                    self.assertRegex(text.lstrip(b"\r\n"), OPEN, (SEED, n, text[:300]))
            self.assertIsNone(self.process.poll(), (SEED, n, text[:2000]))
            if n % 50 == 0:
                self.get("/healthz")
        self.get("/v1/runs", token=self.token)
        self.get("/healthz", tcp=True)
        print(f"{n} requests, seed {SEED}", file=sys.stderr)


if __name__ == "__main__":
    main()
