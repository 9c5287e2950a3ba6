"""serve_http.py: an HTTP server on loopback for the tests of the provider http.

    with Server() as server:            # http://127.0.0.1:PORT
        server.url("/json")
    with Server(certificate=(cert, key)) as server: ...
    with Server(certificate=(cert, key), clients=ca) as server: ...   # clients need a certificate by that authority

It speaks raw HTTP/1.1 on asyncio streams in a thread of its own, so that it can be slow, wrong and
rude. `server.seen` is the list of requests (method, path, headers, body); `server.open` counts
connections that are open, `server.most_open` the most at a time, `server.connections` all that there were.
"""
import asyncio
import email.utils
import gzip
import json
import ssl
import subprocess
import threading
import time
import urllib.parse


class Server:
    def __init__(self, certificate=None, host="127.0.0.1", clients=None):
        self.host, self.seen, self.open, self.most_open, self.connections = host, [], 0, 0, 0
        self.counts = {}
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
            if clients:
                self.context.verify_mode = ssl.CERT_REQUIRED
                self.context.load_verify_locations(clients)

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        def serve():
            asyncio.set_event_loop(self.loop)
            start = asyncio.start_server(self.client, self.host, 0, ssl=self.context, backlog=2048)
            self.server = self.loop.run_until_complete(start)
            self.port = self.server.sockets[0].getsockname()[1]
            ready.set()
            self.loop.run_forever()
            self.server.close()
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.run_until_complete(asyncio.sleep(0))
            self.loop.close()

        self.thread = threading.Thread(target=serve, daemon=True)
        self.thread.start()
        ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    def url(self, path, host=None):
        return f"{'https' if self.context else 'http'}://{host or self.host}:{self.port}{path}"

    def allow(self, host=None):
        return f"--allow-http={host or self.host}:{self.port}"

    async def client(self, reader, writer):
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self.connections += 1
        try:
            while await self.request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def request(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = dict((name.lower(), value.strip()) for name, _, value in
                       (line.partition(":") for line in lines[1:] if line))
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.seen.append((method, target, headers, body))
        path, _, query = target.partition("?")
        parts = path.strip("/").split("/")
        handler = getattr(self, "on_" + parts[0], self.on_echo)
        return await handler(writer, parts[1:], method=method, headers=headers, body=body, query=query)

    async def reply(self, writer, body=b"", status=200, type="application/json", **headers):
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
        if type:
            lines.append(f"Content-Type: {type}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        return True

    # ---- what it answers, by the first part of the path

    async def on_json(self, w, parts, **_):
        return await self.reply(w, b'{"x": [1, 2.5, "\xc3\xa9"]}', type="application/problem+json; charset=utf-8")

    async def on_session(self, w, parts, **_):
        return await self.reply(w, b'{"session": {"token": "s3ss10n-t0ken"}}', Set_Cookie="t=s3ss10n-t0ken")

    async def on_text(self, w, parts, **_):
        return await self.reply(w, b"one\r\ntwo\n", type="text/plain")

    async def on_latin1(self, w, parts, **_):
        return await self.reply(w, b"caf\xe9", type="text/html; charset=ISO-8859-1")

    async def on_not_utf8(self, w, parts, **_):
        return await self.reply(w, b"caf\xe9", type="text/plain")

    async def on_not_json(self, w, parts, **_):
        return await self.reply(w, b'{"x": ')

    async def on_bytes(self, w, parts, **_):
        return await self.reply(w, bytes(range(256)), type="image/png")

    async def on_empty(self, w, parts, **_):
        return await self.reply(w, b"", 204)

    async def on_echo(self, w, parts, method, headers, body, query):
        seen = {"method": method, "headers": headers, "body": body.decode(), "query": query}
        return await self.reply(w, b"" if method == "HEAD" else json.dumps(seen).encode())

    async def on_status(self, w, parts, **_):
        return await self.reply(w, b'{"why": "asked"}', int(parts[0]))

    async def on_slow(self, w, parts, **_):
        await asyncio.sleep(float(parts[0]))
        return await self.reply(w, b"{}")

    async def on_hang(self, w, parts, **_):
        await asyncio.sleep(600)

    async def on_drip(self, w, parts, **_):
        """The headers, and then a byte now and then, for ever."""
        w.write(b"HTTP/1.1 200 X\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            w.write(b"1\r\nx\r\n")
            await w.drain()
            await asyncio.sleep(0.05)

    async def on_chunked(self, w, parts, **_):
        w.write(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in (b'{"a"', b": [1,", b" 2]}"):
            w.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await w.drain()
            await asyncio.sleep(0.01)
        w.write(b"0\r\n\r\n")
        return True

    async def on_huge(self, w, parts, **_):
        left = int(parts[0])
        w.write(b"HTTP/1.1 200 X\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % left)
        while left:
            n = min(left, 65536)
            w.write(b"x" * n)
            await w.drain()
            left -= n
        return True

    async def on_bomb(self, w, parts, **_):
        """A body that is a thousand times as large after decompression."""
        return await self.reply(w, gzip.compress(b"0" * (64 << 20), 6), type="text/plain", Content_Encoding="gzip")

    async def on_gzip(self, w, parts, **_):
        return await self.reply(w, gzip.compress(b'{"packed": true}'), Content_Encoding="gzip")

    async def on_broken_gzip(self, w, parts, **_):
        return await self.reply(w, b"\x1f\x8b\x08\x00junkjunkjunk", Content_Encoding="gzip")

    async def on_cut(self, w, parts, **_):
        w.write(b"HTTP/1.1 200 X\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nonly this")
        await w.drain()
        return False

    async def on_silent(self, w, parts, **_):
        return False

    async def on_loop(self, w, parts, **_):
        return await self.reply(w, b"", 302, Location="/loop")

    async def on_redirect(self, w, parts, **_):
        """/redirect/STATUS/N/target: N redirects, then the target."""
        status, left, rest = int(parts[0]), int(parts[1]), "/".join(parts[2:])
        to = f"/redirect/{status}/{left - 1}/{rest}" if left > 1 else f"/{rest}"
        return await self.reply(w, b"", status, Location=to)

    async def on_to(self, w, parts, query, **_):
        return await self.reply(w, b"", int(parts[0]), Location=urllib.parse.unquote(query))

    async def on_throttle(self, w, parts, **_):
        """/throttle/seconds/3, /throttle/date/3, /throttle/junk/x"""
        value = parts[1]
        if parts[0] == "date":
            value = email.utils.formatdate(time.time() + float(parts[1]), usegmt=True)
        if parts[0] in ("rfc850", "asctime"):
            then = time.gmtime(time.time() + float(parts[1]))
            value = time.strftime("%A, %d-%b-%y %H:%M:%S GMT", then) if parts[0] == "rfc850" else time.asctime(then)
        if parts[0] == "junk":
            value = urllib.parse.unquote(value)
        name = "rETRY_aFTER" if parts[0] == "seconds" else "Retry_After"  # case means nothing
        return await self.reply(w, b'{"slow": "down"}', 429, **{name: value})

    async def on_after(self, w, parts, **_):
        """/after/N/KEY: N times 503 with Retry-After, then a success."""
        self.counts[parts[1]] = self.counts.get(parts[1], 0) + 1
        if self.counts[parts[1]] <= int(parts[0]):
            return await self.reply(w, b"", 503, Retry_After="0")
        return await self.reply(w, json.dumps(self.counts[parts[1]]).encode())

    async def on_pages(self, w, parts, **_):
        """/pages/N/LAST: a page of ten items, with the URL of the next one; each third page is refused at first."""
        page, last = int(parts[0]), int(parts[1])
        self.counts[f"page {page}"] = self.counts.get(f"page {page}", 0) + 1
        if page % 3 == 2 and self.counts[f"page {page}"] < 3:
            return await self.reply(w, b"", 429 if page % 2 else 503, Retry_After="0")
        body = {"items": [{"id": page * 10 + i} for i in range(10)]}
        if page < last:
            body["next"] = self.url(f"/pages/{page + 1}/{last}")
        return await self.reply(w, json.dumps(body).encode())


def certificates(folder):
    """A test authority and a certificate of localhost by it, made by openssl: (ca, cert, key)."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
        "-keyout", "server.key", "-out", "server.csr")
    with open(f"{folder}/ext", "w") as f:
        f.write("subjectAltName=DNS:localhost\n")
    run("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
        "-extfile", "ext", "-out", "server.pem")
    return tuple(f"{folder}/{name}" for name in ("ca.pem", "server.pem", "server.key"))


def client_certificate(folder, authority="ca"):
    """A certificate of a client by an authority of the folder: (cert, key)."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=client",
        "-keyout", "client.key", "-out", "client.csr")
    run("x509", "-req", "-in", "client.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial", "-days", "2",
        "-out", "client.pem")
    return f"{folder}/client.pem", f"{folder}/client.key"
