"""server.py: `mwlvm serve` in a temporary folder, and requests to it, for the tests of this folder."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from urllib.parse import quote

MWLVM = os.path.abspath(sys.argv[1])
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
ANSWER = "mwl:provider.call/mwlvm/answer/v1"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def flow(steps, **more):
    return {"$schema": SCHEMA, "entrypoint": next(iter(steps)), "steps": {**steps, "end": {"action": "Return"}}, **more}


def ask(name, following="end", **more):
    return {"action": "Call", "next": following, "call": {"provider": ANSWER, "with": {"name": name, **more}}}


def sleep(text):
    return {"action": "Sleep", "for": text, "next": "end"}


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.process = None

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def memory(self):
        """The most that the server had in memory, in KiB; 0 under a sanitizer, whose memory it would be."""
        if os.environ.get("MWL_SANITIZED"):
            return 0
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))

    def write(self, name, value):
        with open(self.path(name), "w") as f:
            f.write(value if isinstance(value, str) else json.dumps(value))
        return name

    def command(self, *words, status=0):
        got = subprocess.run([MWLVM, *words], cwd=self.folder.name, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=200)
        self.assertEqual(got.returncode, status, got.stderr + got.stdout)
        return got

    def serve(self, *words, listen="127.0.0.1:0", token="runs.db-token"):
        """Starts a server and waits until it listens."""
        self.log = open(self.path("log"), "a+")
        self.addCleanup(self.log.close)
        start = self.log.seek(0, 2)
        self.process = subprocess.Popen([MWLVM, "serve", "--store", "runs.db", "--listen", listen, *words],
                                        cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        restore_signals=False)  # SIGXFSZ stays ignored
        self.addCleanup(self.stop, signal.SIGKILL)

        def ready():
            with open(self.path("log")) as f:
                f.seek(start)
                text = f.read()
            self.assertIsNone(self.process.poll(), text)
            found = re.search(r"http://[^/ ]*:(\d+)/ ", text)
            if found:
                self.port = int(found[1])
            return "unix socket" in text
        self.until(ready)
        with open(self.path(token)) as f:
            self.token = f.read().strip()

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(60)

    def until(self, true):
        for _ in range(2400):
            got = true()
            if got:
                return got
            time.sleep(0.025)
        self.fail("it does not happen")

    def ask(self, method, path, body=None, status=None, token=None, headers=None, tcp=False):
        """One request: by the unix socket, or with a token by TCP."""
        if tcp or token is not None:
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        else:
            line = Unix(self.path("runs.db-sock"))
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        with contextlib.suppress(BrokenPipeError):  # what is refused by its head is closed before the body comes
            line.request(method, path, body, headers)
        got = line.getresponse()
        reply = Reply(got.status, got.headers, got.read().decode())
        line.close()
        if status is not None:
            self.assertEqual(reply.status, status, reply.body)
        return reply

    def get(self, path, **more):
        return self.ask("GET", path, **{"status": 200, **more})

    def post(self, path, body=None, **more):
        return self.ask("POST", path, "" if body is None else body, **more)

    def put(self, name, definition):
        return self.ask("PUT", f"/v1/programs/{quote(name)}", definition, status=200).json["id"]

    def listen(self, path, headers=None):
        """Yields server-sent events."""
        line = Unix(self.path("runs.db-sock"))
        line.request("GET", path, headers=headers or {})
        got = line.getresponse()
        self.assertEqual((got.status, got.headers["Content-Type"]), (200, "text/event-stream"))
        self.addCleanup(line.close)

        def events():
            event = {}
            for raw in got:
                text = raw.decode().rstrip("\n")
                if text.startswith("id: "):
                    event["id"] = int(text[4:])
                elif text.startswith("data: "):
                    event.update(json.loads(text[6:]))
                elif not text and event:
                    yield event
                    event = {}
        return events()

    def state(self, run):
        return self.get(f"/v1/runs/{quote(run, safe='')}").json["state"]


def main():
    del sys.argv[1]
    unittest.main()
