#!/usr/bin/env python3
"""run.py [--count N] [--together N] [--rounds N] [MWLVM]: small keep-alive requests per second.

The provider http of stdlib/io beside libcurl's multi interface alone and, where Node is there, undici (the package,
if npm can install it, and the copy in Node, which is fetch): the same requests to one nginx on loopback, each
client on one core and the server on another, in turn. undici and the provider decode the body as JSON.
Processor time of the client counts (what one core sustains); wall time is shown beside it. Prints a
table and returns 1 if http sustains less than half of what libcurl alone does.
"""
import argparse
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
NGINX = """daemon off; master_process off; pid %(f)s/pid; error_log %(f)s/log;
events { worker_connections 2048; }
http { access_log off; client_body_temp_path %(f)s/b; proxy_temp_path %(f)s/p; fastcgi_temp_path %(f)s/f;
uwsgi_temp_path %(f)s/u; scgi_temp_path %(f)s/s; keepalive_requests 100000000; keepalive_timeout 600s;
server { listen 127.0.0.1:%(port)d; default_type application/json; location / { return 200 '{"id":42,"ok":true}'; } } }
"""


def start_nginx(folder):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(f"{folder}/nginx.conf", "w") as f:
        f.write(NGINX % {"f": folder, "port": port})
    server = subprocess.Popen(["nginx", "-p", folder, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/log"],
                              stderr=subprocess.DEVNULL, preexec_fn=lambda: pin(1))
    for _ in range(100):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.05)
    sys.exit("nginx does not listen")


def pin(core):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})


def flow(url, together):
    """A Gather over as many elements as the input has."""
    call = {"provider": "mwl:provider.call/mwlvm/http/v1", "with": {"url": url}}
    return {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "g", "steps": {
        "g": {"action": "Gather", "over": "{{ step.input }}", "concurrency": together, "call": call, "next": "end"},
        "end": {"action": "Return", "value": "{{ step.input.filter(r, r.id == 42).size() }}"}}}


def node_clients(folder, url, size):
    """Node's fetch, and the package undici, installed by npm."""
    clients = {}
    if not shutil.which("node"):
        print("no node: undici is not measured", file=sys.stderr)
        return clients
    done = subprocess.run(["npm", "install", "--silent", "--prefix", folder, "undici@6"], capture_output=True) if shutil.which("npm") else None
    module = f"{folder}/node_modules/undici/index.js"
    if done and done.returncode == 0 and os.path.exists(module):
        with open(f"{folder}/node_modules/undici/package.json") as f:
            version = json.load(f)["version"]
        clients[f"undici {version}, Pool"] = (["node", f"{HERE}/fetch.mjs", url, *size, module], None)
    else:
        print("npm cannot install undici: only its copy in Node is measured", file=sys.stderr)
    clients["undici in Node, fetch"] = (["node", f"{HERE}/fetch.mjs", url, *size], None)
    return clients


def measure(command, stdin=None, expect=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, preexec_fn=lambda: pin(0))
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0 or (expect is not None and done.stdout.strip() != expect):
        sys.exit(f"{command[0]}: {done.returncode} {done.stdout[-300:]} {done.stderr[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mwlvm", nargs="?", default=os.path.join(ROOT, "build", "mwlvm"))
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--together", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ.get("CC", "cc"), "-O2", f"{HERE}/multi.c", "-o", f"{folder}/multi", "-lcurl", "-luv"],
                       check=True)
        server, port = start_nginx(folder)
        url = f"http://127.0.0.1:{port}/x"
        with open(f"{folder}/flow.json", "w") as f:
            json.dump(flow(url, o.together), f)
        with open(f"{folder}/input.json", "w") as f:
            json.dump(list(range(o.count)), f)
        size = [str(o.count), str(o.together)]
        clients = {"libcurl's multi alone": ([f"{folder}/multi", url, *size], None),
                   "http of stdlib/io": ([o.mwlvm, "run", f"{folder}/flow.json", "--allow-all", "--compact",
                                          "--input", f"@{folder}/input.json", "--fuel", "100G"], str(o.count))}
        clients.update(node_clients(folder, url, size))
        taken = {name: [] for name in clients}
        try:
            for _ in range(o.rounds):
                for name, (command, expect) in clients.items():
                    taken[name].append(measure(command, subprocess.DEVNULL, expect))
        finally:
            server.terminate()
            server.wait()
    print(f"{o.count} requests, {o.together} in flight, median of {o.rounds}\n")
    print("| client | requests per second of processor time | of wall time | beside libcurl alone |")
    print("| --- | ---: | ---: | ---: |")
    alone = "libcurl's multi alone"
    cpu = {name: statistics.median(c for c, _ in rows) for name, rows in taken.items()}
    for name, rows in taken.items():
        wall = statistics.median(w for _, w in rows)
        print(f"| {name} | {o.count / cpu[name]:,.0f} | {o.count / wall:,.0f} "
              f"| {cpu[alone] / cpu[name]:.2f} |")
    return 1 if cpu["http of stdlib/io"] > 2 * cpu[alone] else 0


sys.exit(main())
