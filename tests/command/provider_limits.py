#!/usr/bin/env python3
"""provider_limits.py MWLVM: whatever a provider or a middleware is given, it stays inside the run's limits.

Every provider that the command lists, and every phase of every middleware, is called again and again in one run, with one
parameter at a time replaced by something large: texts, lists and objects that share their parts, so that they are small in the
run and gigabytes as text. Under `--memory 64M` the process has at most 80 MiB resident, and a unit of fuel costs at most 100 times
the average. A provider that is new is found here by itself; it needs a row of EXAMPLES if its parameters cannot be made up.
"""
import json
import os
import resource
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MEMORY, RESIDENT, FUEL = "64M", 80 << 20, 2_000_000
SECONDS = 100 * 12e-9 * FUEL  # a unit of fuel takes about 12 ns
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
CALLS, MIDDLEWARE = "mwl:provider.call/", "mwl:provider.middleware/"
MOCK = {"provider": CALLS + "mwl/mock/v1"}
ROUNDS, DOUBLINGS = 40, 26
DURABLE = {CALLS + "mwlvm/answer/v1", CALLS + "mwlvm/message/v1"}  # they have no call here; durable runs have tests of their own

# What is made from this by doubling.
SHARED = {"a list of numbers": "[1]", "a list of a text": "[vars.text]"}
LARGE = {"a text": "vars.text", "texts": "lists.range(20000).map(i, 'text number ' + string(i))",
         "an object": "dyn(fromJson('{' + lists.range(20000).map(i, '\"k' + string(i) + '\":' + string(i)).join(',') + '}'))"}


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(20 << 20))
        self.end_headers()
        try:
            self.wfile.write(b"x" * (20 << 20))
        except OSError:
            pass

    do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


def examples(folder, port):
    """Arguments that a provider accepts, by the end of its URI."""
    file = {"path": folder + "/large", "maxBytes": 1 << 30}
    return {
        "mwl/retry": {"onEntry": {"policies": [{"match": {"codes": ["*"]}, "attempts": 2}]}},
        "mwl/timeout": {"onEntry": {"duration": "PT1S"}}, "mwl/finally": {"onAlways": {"call": MOCK}},
        "mwlvm/http": {"url": f"http://127.0.0.1:{port}/", "maxBytes": 1 << 30}, "mwlvm/file": file,
        "mwlvm/exec": {"argv": ["/bin/cat", folder + "/large"], "maxBytes": 1 << 30},
        "mwlvm/sqlite": {"file": folder + "/db", "sql": "select zeroblob(8000000)"},
        "mwlvm/run": {"path": folder + "/hello.json"}, "mwlvm/env": {"names": ["PATH"]},
        "mwlvm/template": {"text": "<a><a>", "delimiters": ["<", ">"], "values": {"a": "{{ vars.v }}"}}, "mwlvm/prompt": {"message": "m"},
        "mwlvm/cache": {"onEntry": {"key": "k", "ttl": "PT1H"}}, "mwlvm/redact": {"onEntry": {"paths": ["*"]}},
        "mwlvm/circuit-breaker": {"onEntry": {"key": "k"}}, "mwlvm/rate-limit": {"onEntry": {"key": "k", "rate": 1000000}},
        "mwlvm/concurrency": {"onEntry": {"key": "k", "limit": 1}}, "mwlvm/log": {"message": "m", "onEntry": {"message": "m"}},
        "mwlvm/answer": {"name": "n", "message": "m"}, "mwlvm/message": {"name": "n"},
    }


def made(schema):
    """A small value for a schema."""
    if not isinstance(schema, dict):
        return 1
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return arguments(schema)
    small = {"string": "PT1S" if schema.get("format") == "duration" else "a", "number": 1, "integer": 1, "boolean": True, "null": None}
    return [made(schema.get("items"))] * schema.get("minItems", 0) if kind == "array" else small[kind]


def arguments(schema):
    return {name: made(schema["properties"].get(name)) for name in schema.get("required", [])}


def paths(schema, value, at=()):
    """The places of a parameter that may be replaced: each property, and the properties and the elements of those."""
    for name, inner in schema.get("properties", {}).items():
        yield at + (name,), inner
        if isinstance(inner, dict) and "properties" in inner and len(at) < 1:
            yield from paths(inner, value, at + (name,))


def replaced(value, path, new):
    if not path:
        return new
    value = dict(value) if isinstance(value, dict) else {}
    value[path[0]] = replaced(value.get(path[0]), path[1:], new)
    return value


def fits(schema, what):
    kinds = schema.get("type", ["string", "array", "object"]) if isinstance(schema, dict) else ["string", "array", "object"]
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(schema, dict) and "enum" in schema:
        return False
    kind = {"a text": "string", "an object": "object"}.get(what, "array")
    return kind in kinds


def program(what, call, middleware):
    """Makes the large value, then calls in a Loop of Steps; failures are caught."""
    steps = {"text": {"action": "Pass", "next": "value",
                      "assign": {"n": "{{ 0.0 }}", "text": "{{ lists.range(32768).map(i, 'abcdefghijklmno<&\"').join() }}"}}}
    steps["value"] = {"action": "Pass", "assign": {"v": "{{ " + {**SHARED, **LARGE}[what] + " }}"}, "next": "d0" if what in SHARED else "call"}
    for i in range(DOUBLINGS if what in SHARED else 0):
        steps[f"d{i}"] = {"action": "Pass", "assign": {"v": "{{ [vars.v, vars.v] }}"}, "next": f"d{i + 1}" if i < DOUBLINGS - 1 else "call"}
    steps["call"] = {"action": "Call", "call": call, "next": "count", "catch": [{"match": {"codes": ["*"]}, "next": "count"}]}
    if middleware:
        steps["call"]["middleware"] = [middleware]
    steps["count"] = {"action": "Pass", "assign": {"n": "{{ vars.n + 1.0 }}"}, "next": "more"}
    steps["more"] = {"action": "Match", "cases": [{"when": "{{ vars.n < %d.0 }}" % ROUNDS, "next": "call"}], "default": {"next": "end"}}
    steps["end"] = {"action": "Return", "value": 1}
    return {"$schema": SCHEMA, "entrypoint": "text", "steps": steps}


def cases(providers, given):
    for p in providers:
        uri = p["uri"]
        if uri in DURABLE:
            continue
        name = uri.split("/", 1)[1].rsplit("/", 1)[0]
        about = p["document"]
        if uri.startswith(CALLS):
            schema = about.get("parameters", {})
            own = {**arguments(schema), **{k: v for k, v in given.get(name, {}).items() if k in schema.get("properties", {})}}
            places = list(paths(schema, own))
            yield name, "as it is", program("a text", {"provider": uri, "with": own}, None)
            for path, inner in places:
                for what in [*SHARED, *LARGE]:
                    if fits(inner, what):
                        call = {"provider": uri, "with": replaced(own, path, "{{ vars.v }}")}
                        yield name, f"{'.'.join(path)} is {what}", program(what, call, None)
            continue
        own = given.get(name, {})
        for phase, inside in about.get("phases", {}).items():
            schema = inside.get("parameters", {})
            base = {k: {"with": v} for k, v in own.items() if k in about["phases"]}
            mine = own.get(phase, arguments(schema))
            for path, inner in paths(schema, mine):
                if path[0] in inside.get("structural", []):
                    continue
                for what in [*SHARED, *LARGE]:
                    if fits(inner, what):
                        entry = {"provider": uri, **base, phase: {"with": replaced(mine, path, "{{ vars.v }}")}}
                        yield name, f"{phase} {'.'.join(path)} is {what}", program(what, MOCK, entry)
        for what in [*SHARED, *LARGE]:  # the value that goes through
            entry = {"provider": uri, **{k: {"with": v} for k, v in own.items() if k in about["phases"]}}
            if name == "mwl/loop":
                entry["onSuccess"] = {"when": "{{ false }}"}  # which ends it
            call = {**MOCK, "with": {"value": "{{ vars.v }}"}}
            yield name, f"the Result is {what}", program(what, call, entry)


def run(command, folder, number, definition):
    path = f"{folder}/{number}.json"
    with open(path, "w") as out:
        json.dump(definition, out)
    pid = os.fork()
    if pid == 0:
        for fd, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/{number}.{name}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY), fd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        os.execv(command, [command, "run", path, "--memory", MEMORY, "--fuel", str(FUEL), "--allow-all", "--input", "null", "--quiet"])
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def answer():
    """A server in a process of its own: what is resident here counts for the children, too. Returns its process and its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    pid = os.fork()
    if pid == 0:
        server.serve_forever()
    server.server_close()
    return pid, server.server_port


def main(command, only=None):
    server, port = answer()
    try:
        return check(command, port, only)
    finally:
        os.kill(server, signal.SIGTERM)


def check(command, port, only):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/large", "wb") as out:
            for _ in range(20):
                out.write(b"x" * (1 << 20))
        with open(folder + "/hello.json", "w") as out:
            json.dump({"$schema": SCHEMA, "entrypoint": "a", "steps": {"a": {"action": "Return", "value": "{{ step.input }}"}}}, out)
        providers = json.loads(os.popen(f"{command} providers --json").read())
        todo = [c for c in cases(providers, examples(folder, port)) if not only or c[0] == only]

        def one(number):
            name, what, definition = todo[number]
            return (name, what, *run(command, folder, number, definition), open(f"{folder}/{number}.err").read()[:200])

        bad, worst = 0, {}
        with ThreadPoolExecutor(2) as pool:
            for name, what, status, resident, seconds, err in pool.map(one, range(len(todo))):
                good = status in (0, 6) and resident <= RESIDENT and seconds <= SECONDS
                bad += not good
                had = worst.get(name, (0, 0))
                worst[name] = (max(had[0], resident), max(had[1], seconds))
                if not good or only:
                    print(f"{'ok  ' if good else 'FAIL'} {name}: {what}: status {status}, {resident >> 20} MiB, {seconds:.2f} s; {err}")
        for name, (resident, seconds) in worst.items():
            print(f"{name}: at most {resident >> 20} MiB, {seconds:.2f} s")
        missing = {p["uri"].split("/", 1)[1].rsplit("/", 1)[0] for p in providers if p["uri"] not in DURABLE} - set(worst) if not only else ()
        print(f"{len(todo)} runs, {bad} outside their limits; without a run: {sorted(missing) or 'none'}")
        return 1 if bad or missing else 0


sys.exit(main(*sys.argv[1:]))
