"""client.py: a small client of the Language Server Protocol, over pipes, for the tests here."""
import json
import os
import select
import subprocess
import time


class Client:
    """Starts a server. Requests are answered in order; what arrives besides is kept in `notices`."""

    def __init__(self, command, initialize=None, started=True):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.buffer = b""
        self.number = 0
        self.notices = []
        if started:
            self.capabilities = self.request("initialize", initialize or {"capabilities": {}})
            self.notify("initialized", {})

    def send(self, message):
        body = json.dumps(message, ensure_ascii=False).encode()
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send_raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, timeout=120):
        """The next message, or None if the server has closed its output."""
        end = time.monotonic() + timeout
        while True:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if found:
                length = int(head.split(b":")[1])
                if len(rest) >= length:
                    self.buffer = rest[length:]
                    return json.loads(rest[:length])
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            assert ready, "the server does not answer"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.buffer += data

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, params):
        """The whole answer of a request."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            assert message is not None, "the server has ended"
            if message.get("id") == self.number and "method" not in message:
                return message
            self.notices.append(message)

    def request(self, method, params):
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def open(self, uri, text, language="json", version=1):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": language, "version": version, "text": text}})

    def change(self, uri, version, *changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def diagnostics(self, uri, version):
        """Waits for the diagnostics of this version of the document."""
        while True:
            for message in self.notices:
                params = message.get("params", {})
                if message["method"].endswith("/publishDiagnostics") and params["uri"] == uri \
                        and params.get("version") == version:
                    self.notices.clear()
                    return params["diagnostics"]
            message = self.read()
            assert message is not None, "the server has ended"
            self.notices.append(message)

    def end(self):
        """Ends the session as an editor does. Returns the exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        return self.process.wait(60)
