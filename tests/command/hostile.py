#!/usr/bin/env python3
"""hostile.py MWLVM: definitions, programs and work that were made to do harm.

Every command that reads a definition or a program (check, asm, eval, run) ends by itself under its default limits, in
little processor time, with a status that it documents; under a small limit it refuses and says which one. Two Ctrl-C,
or one SIGTERM, end the command within a second, whatever the machine is doing.
"""
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
SECONDS = 20 if "asan" in sys.argv[1] or "tsan" in sys.argv[1] else 8  # of processor time
STATUS = {0, 1, 2, 3, 6}


def flow(steps, entry="a", **more):
    return json.dumps({"$schema": SCHEMA, "entrypoint": entry, "steps": steps, **more})


def returning(value):
    return flow({"a": {"action": "Return", "value": value}})


def leaf_schema(n):
    return {"type": "object", "properties": {f"q{i}": {"type": "string", "pattern": "^[a-z]{1,50}$"} for i in range(n)}}


DEFINITIONS = {
    "deep nesting": returning(0).replace(": 0", ": " + "[" * 100000 + "]" * 100000),
    "many names": flow({**{f"s{i}": {"action": "Pass", "next": f"s{i + 1}"} for i in range(50000)},
                        "s50000": {"action": "Return"}}, "s0"),
    "a giant schema": flow({"a": {"action": "Return"}}, parameters={
        "type": "object", "properties": {f"p{i}": leaf_schema(50) for i in range(200)}}),
    "a giant expression": returning("{{ " + " + ".join(["1.0"] * 100000) + " }}"),
    "deep parentheses": returning("{{ " + "(" * 100000 + "1" + ")" * 100000 + " }}"),
    "many diagnostics": flow({f"s{i}": {"action": "Pass", "next": f"x{i}", "nope": 1} for i in range(30000)}, "s0"),
    "a constant that never ends": returning("{{ lists.range(100000).all(i, lists.range(100000).all(j, j >= 0)) }}"),
    "a class of many classes": returning("{{ 'x'.matches('[" + r"\\\\pL" * 20000 + "]') }}"),
    "one text of many escapes": returning("\u0001" * 300000),
    "a long path below a variable": flow({"a": {"action": "Pass", "assign": {"a": 1},
                                               "output": "{{ vars" + ".a" * 200000 + " + 1.0 }}", "next": "z"},
                                         "z": {"action": "Return"}}),
}

# Work that does not end for long.
WORK = {
    "a loop": "lists.range(1000000).all(i, lists.range(1000000).all(j, j >= 0))",
    "sorting": "lists.range(100).map(k, lists.range(3000000).map(i, i * 7919 % 1000003).sort().size())",
    "a pattern": "lists.range(1000).map(k, lists.range(2000000).map(i, 'x').join().matches('(x|xx|xxx)*[a-z]{1,20}y'))",
    "text": "lists.range(1000).map(k, '%s'.format([lists.range(2000000)]).size())",
}

wrong = []


def run(what, command, allowed=STATUS, cwd=None):
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    with subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=limits) as p:
        out, err = p.communicate()
    if p.returncode not in allowed:
        wrong.append(f"{what}: status {p.returncode}: {err[-300:].decode(errors='replace')}")
    return p.returncode, (out + err).decode(errors="replace")


def definitions(mwlvm, folder):
    for name, text in DEFINITIONS.items():
        path = os.path.join(folder, "d.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        run(f"check of {name}", [mwlvm, "check", path])
        run(f"asm of {name}", [mwlvm, "asm", path, "-o", os.path.join(folder, "d.mwlb")])
        for limit in (["--fuel", "1000"], ["--memory", "1M"]):
            status, said = run(f"check of {name}, {limit[0]}", [mwlvm, "check", *limit, path], {0, 3, 6})
            if status == 6 and limit[0] not in said:
                wrong.append(f"check of {name}: the message does not name {limit[0]}: {said[-200:]}")
    # The work and the memory of assembling are limited too; the message has the place.
    with open(path, "w", encoding="utf-8") as f:
        f.write(returning("{{ lists.range(1000).map(i, lists.range(1000).map(j, j)).size() }}"))
    status, said = run("asm, --fuel", [mwlvm, "asm", "--fuel", "5K", path, "-o", os.path.join(folder, "d.mwlb")], {6})
    if "--fuel 5K was used up" not in said or "d.json:1:" not in said:
        wrong.append(f"asm: the message does not name --fuel and a place: {said[-200:]}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(DEFINITIONS["many names"])
    for command in (["check"], ["asm", "-o", os.path.join(folder, "d.mwlb")]):
        status, said = run(f"{command[0]}, --memory", [mwlvm, *command, "--memory", "8M", path], {6})
        if "--memory 8M was used up" not in said or "d.json:1:" not in said:
            wrong.append(f"{command[0]}: the message does not name --memory and a place: {said[-200:]}")
    status, said = run("eval", [mwlvm, "eval", "--fuel", "1M", WORK["a loop"]], {6})
    if "--fuel" not in said:
        wrong.append(f"eval: the message does not name --fuel: {said[-200:]}")


def small_stack(what, command, allowed):
    def limits():
        resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    got = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=limits)
    if got.returncode not in allowed:
        wrong.append(f"{what} on 256 KiB of stack: status {got.returncode}: {got.stderr[-300:]}")
    return got.stdout


def bounds(mwlvm, folder):
    """check --bounds recurses by nothing that a definition makes long: Flows that call each other, Steps in a row, cleanup in cleanup."""
    path = os.path.join(folder, "b.json")
    call = {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"value": 1, "delay": "PT1S"}}
    inner = dict(call)
    for _ in range(40):
        inner = {**call, "middleware": [{"provider": "mwl:provider.middleware/mwl/timeout/v1", "onEntry": {"with": {"duration": "PT1S"}},
                                         "onAlways": {"call": inner}}]}
    deep = {"a": {"action": "Call", "next": "end", **({"middleware": inner["middleware"]} if "middleware" in inner else {}), "call": call},
            "end": {"action": "Return"}}
    flows = {f"f{i}": {"entrypoint": "a", "steps": {"a": {"action": "Call", "call": {"flow": f"f{i + 1}"} if i < 3000 else call, "next": "end"},
                                                    "end": {"action": "Return"}}} for i in range(3001)}
    row = {f"s{i}": {"action": "Sleep", "for": "PT1S", "next": f"s{i + 1}"} for i in range(20000)}
    for name, text, says in (("3,000 Flows", flow({"a": {"action": "Call", "call": {"flow": "f0"}, "next": "end"}, "end": {"action": "Return"}},
                                                  flows=flows), "Flow 'f0': at most 1 call, at most 1 s"),
                             ("20,000 Steps in a row", flow({**row, "s20000": {"action": "Return"}}, "s0"), "the Flow: at most 5.556 h"),
                             ("cleanup in cleanup", flow(deep), None)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        said = small_stack(f"check --bounds of {name}", [mwlvm, "check", "--bounds", path], {0} if says else STATUS)
        if says and says not in said:
            wrong.append(f"check --bounds of {name}: {said[-300:]}")


def shared(mwlvm, folder):
    """A value that shares its parts is small in memory and 3 GB as text: whatever a tool prints of it has a limit."""
    steps = {"a": {"action": "Pass", "assign": {"l": "{{ [1] }}"}, "next": "s0"}}
    for i in range(29):
        steps[f"s{i}"] = {"action": "Pass", "assign": {"l": "{{ [vars.l, vars.l] }}"}, "next": f"s{i + 1}"}
    for name, last in (("returned", {"action": "Return", "value": "{{ vars.l }}"}), ("saved", {"action": "Sleep", "for": "PT1H", "next": "end"})):
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
            f.write(flow({**steps, "s29": last, **({} if name == "returned" else {"end": {"action": "Return"}})}))
    with open(os.path.join(folder, "commands"), "w", encoding="utf-8") as f:
        f.write("break s29\ncontinue\nprint vars\nprint vars.l\nquit\n")
    few = ["--memory", "64M", "--fuel", "100M"]
    for what, command, allowed in (
            ("the Result", ["run", "returned.json", *few], {6}), ("--record", ["run", "returned.json", "--record", "r.case.json", *few], {6}),
            ("--trace=json", ["run", "returned.json", "--trace=json", *few], {6}),
            ("--save", ["run", "saved.json", "--save", "saved.run", "--save-at", "s29", *few], STATUS),
            ("show --json", ["show", "saved.run", "--json", *few], {6}), ("show", ["show", "saved.run", *few], {0}),
            ("debug", ["debug", "saved.json", "--script", "commands", *few], STATUS)):
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
            if SECONDS == 8:  # not under a sanitizer
                resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        got = subprocess.run([mwlvm, *command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limits)
        if got.returncode not in allowed or len(got.stdout) + len(got.stderr) > 8 << 20:
            wrong.append(f"{what} of a shared value: status {got.returncode}, {len(got.stdout)} and {len(got.stderr)} bytes: {got.stderr[-200:]}")


def repairs(mwlvm, folder):
    """At most 100 repairs in one go, because each compares a name with all others."""
    path = os.path.join(folder, "r.json")
    steps = {f"step{i}": {"action": "Pass", "next": f"stpe{i + 1}"} for i in range(8000)}
    with open(path, "w", encoding="utf-8") as f:
        f.write(flow({**steps, "step8000": {"action": "Return"}}, "step0").replace('"step', '\n"step'))
    _, said = run("check --diff of 8,000 wrong names", [mwlvm, "check", "--diff", path])
    n = sum(line.startswith("+") and not line.startswith("+++") for line in said.splitlines())
    if n != 100 or "there may be more repairs than 100" not in said:
        wrong.append(f"check --diff: {n} repairs: {said[-300:]}")


def large_programs(mwlvm, folder):
    """Programs that are small as files and large when they are loaded: --memory counts what loading holds."""
    source, small = os.path.join(folder, "l.json"), os.path.join(folder, "l.mwlb")
    with open(source, "w", encoding="utf-8") as f:
        f.write(returning([0] * 300000))
    run("asm of a long array", [mwlvm, "asm", "--strip", source, "-o", small], {0})
    size = os.path.getsize(small)
    if size > 700000:
        wrong.append(f"a long array: its program has {size} bytes")
    status, said = run("a large program, --memory", [mwlvm, "run", small, "--input", "null", "--memory", "4M"], {6})
    if "--memory 4M was used up by" not in said or "l.mwlb" not in said:
        wrong.append(f"run: the message does not name --memory and the program: {said[-200:]}")
    run("a large program", [mwlvm, "run", small, "--input", "null"], {0})


def programs(mwlvm, folder):
    """Programs with bytes changed, and cut: refused, or they run to an end that is documented."""
    source, good = os.path.join(folder, "p.json"), os.path.join(folder, "p.mwlb")
    with open(source, "w", encoding="utf-8") as f:
        f.write(flow({"a": {"action": "Pass", "assign": {"x": "{{ [1, 2].map(i, i + 1) }}"}, "next": "b"},
                      "b": {"action": "Return", "value": "{{ string(vars.x.size()).matches('[0-9]+') }}"}}))
    run("asm", [mwlvm, "asm", source, "-o", good], {0})
    image = open(good, "rb").read()
    random.seed(1)
    bad = os.path.join(folder, "bad.mwlb")
    for i in range(60):
        data = bytearray(image)
        if i % 3 == 0:
            del data[random.randrange(len(data)):]
        else:
            for _ in range(random.randrange(1, 4)):
                data[random.randrange(len(data))] = random.randrange(256)
        with open(bad, "wb") as f:
            f.write(data)
        run(f"a changed program, {i}", [mwlvm, "run", bad, "--input", "null", "--fuel", "1M"])


def ended(name, mwlvm, path, signals):
    with subprocess.Popen([mwlvm, "run", path, "--input", "null"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        time.sleep(0.6)
        for one in signals:
            time.sleep(0.2)
            p.send_signal(one)
        begin = time.monotonic()
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            p.kill()
        took = time.monotonic() - begin
    words = "+".join(signal.Signals(s).name for s in signals)
    if p.returncode not in (-signals[-1], 128 + signals[-1]):
        wrong.append(f"{name}, {words}: status {p.returncode}")
    return took


def signals(mwlvm, folder):
    path = os.path.join(folder, "w.json")
    for name, work in WORK.items():
        with open(path, "w", encoding="utf-8") as f:
            f.write(returning("{{ " + work + " }}"))
        for which in ([signal.SIGINT, signal.SIGINT], [signal.SIGTERM]):
            took = ended(name, mwlvm, path, which)
            if took > 1:  # the machine may be busy with others
                took = min(ended(name, mwlvm, path, which) for _ in range(3))
            if took > 1:
                wrong.append(f"{name}: {took:.1f} s after the last signal")


def main():
    mwlvm = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        definitions(mwlvm, folder)
        programs(mwlvm, folder)
        large_programs(mwlvm, folder)
        bounds(mwlvm, folder)
        repairs(mwlvm, folder)
        shared(mwlvm, folder)
        signals(mwlvm, folder)
    for line in wrong:
        print(line)
    print(f"{len(DEFINITIONS)} definitions, 60 programs, {len(WORK)} kinds of work: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
