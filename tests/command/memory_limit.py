#!/usr/bin/env python3
"""memory_limit.py MWLVM: `--memory 64M` bounds the memory of the process.

Runs hostile definitions and inputs under --memory 64M, each in a process of its own, and looks at
the most memory that was resident: at most 64 MiB and a constant of 16 MiB. Each must end by itself, with the status that
its row expects: 0 if there is enough for it, 6 if the limit ends it. With 6 the message names the limit, with 0 there is
something on standard output.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

LIMIT = 64 << 20
CONSTANT = 16 << 20
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
TEXT = "lists.range(1024).map(i, lists.range(256).map(j, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx').join()).join()"


def flow(steps, entry="a", **more):
    return {"$schema": SCHEMA, "entrypoint": entry, "steps": steps, **more}


def returning(expression):
    """A Flow with a text of 8 MiB in `vars.s` that returns the expression."""
    return flow({
        "a": {"action": "Pass", "assign": {"s": "{{ " + TEXT + " }}"}, "next": "b"},
        "b": {"action": "Return", "value": "{{ " + expression + " }}"},
    })


def doubling(levels):
    steps = {"s0": {"action": "Pass", "assign": {"l": "{{ [1, 2, 3, 4] }}"}, "next": "s1"}}
    for i in range(1, levels):
        steps[f"s{i}"] = {"action": "Pass", "assign": {"l": "{{ [vars.l, vars.l] }}"}, "next": f"s{i + 1}"}
    steps[f"s{levels}"] = {"action": "Return", "value": "{{ vars.l }}"}
    return flow(steps, "s0")


IDENTITY = flow({"a": {"action": "Return", "value": "{{ step.input }}"}})
UNIQUE = flow({"a": {"action": "Return"}},
              parameters={"type": "object", "properties": {"l": {"type": "array", "uniqueItems": True}}})

STRINGS = flow({"a": {"action": "Return"}},
               parameters={"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}}}})
PATTERNS = flow({"a": {"action": "Return"}}, parameters={"type": "object", "properties": {
    f"p{i}": {"type": "string", "pattern": f"^{i}(((abcdefgh){{10}}){{10}}){{9}}$"} for i in range(400)}})
GATHER = flow({"a": {"action": "Gather", "over": "{{ lists.range(2000000).map(i, [i]) }}", "next": "b",
                     "call": {"provider": "mwl:provider.call/mwl/mock/v1", "with": {"delay": "PT1H"}}},
               "b": {"action": "Return"}})
LARGE = json.dumps(flow({"a": {"action": "Return", "value": ["@"]}})).replace('"@"', '{"k":"1"},' * 300000 + "1")

# name, statuses, definition, further options. A Result that shares its parts is written, or too long for the limit.
CASES = [
    ("toJson of a shared text", (6,), returning("toJson(lists.range(400).map(i, vars.s))"), []),
    ("a shared text as the Result", (0, 6), returning("lists.range(30).map(i, vars.s)"), []),
    ("a shared tree as the Result", (0, 6), doubling(26), ["--fuel", "100M"]),
    ("a text that grows", (6,), returning("vars.s + vars.s + vars.s + vars.s + vars.s + vars.s + vars.s + vars.s"), []),
    ("a list that is copied", (6,), returning("lists.range(1000000).map(i, [i, i])"), []),
    ("format of a large list", (6,), returning("'%s'.format([lists.range(40).map(i, vars.s)])"), []),
    ("a pattern of many classes", (1,), returning("'x'.matches(lists.range(20000).map(i, '[' + string(i) + '\\\\pL]').join())"), []),
    ("fromJson of many lists", (6,), returning("fromJson('[' + lists.range(4000000).map(i, '[]').join(',') + ']').size()"), []),
    ("an input of many lists", (6,), IDENTITY, ["--input", "@lists"]),
    ("an argument with many numbers", (0,), UNIQUE, ["--args", "@numbers"]),
    ("a report about many numbers", (1,), STRINGS, ["--args", "@numbers"]),
    ("patterns of a schema", (3,), PATTERNS, []),
    ("a Gather over very many", (6,), GATHER, []),
    ("a large definition", (6,), LARGE, []),
]

# name, statuses, the words of another command; @ before a file of write_inputs or write_saved
OTHERS = [
    ("eval of a large list", (6,), ["eval", "lists.range(3000000).map(i, [i])"]),
    ("eval of a text", (6,), ["eval", "toJson(lists.range(400).map(i, " + TEXT + "))"]),
    ("eval with a large input", (6,), ["eval", "step.input.size()", "--input", "@lists"]),
    ("check of a large definition", (0,), ["check", "@large"]),
    ("check of patterns", (3,), ["check", "@patterns"]),
    ("asm of a large definition", (6,), ["asm", "@large", "-o", "@out"]),
    ("asm of patterns", (3,), ["asm", "@patterns", "-o", "@out"]),
    ("resume of a large saved run", (3,), ["resume", "@saved"]),
    ("show of a large saved run", (3,), ["show", "@saved", "--json"]),
    ("resume of a run that grows", (6,), ["resume", "@grows", "--virtual-time"]),
]
SAVED = flow({"a": {"action": "Pass", "assign": {"l": "{{ lists.range(1500000).map(i, [i]) }}"}, "next": "b"},
              "b": {"action": "Sleep", "for": "PT1H", "next": "c"}, "c": {"action": "Return"}})
GROWS = flow({"b": {"action": "Sleep", "for": "PT1H", "next": "c"},
              "c": {"action": "Return", "value": "{{ lists.range(3000000).map(i, [i]) }}"}}, "b")


def write_saved(command, folder):
    """Runs that somebody else has saved, with more memory than there is here."""
    for name, definition in (("saved", SAVED), ("grows", GROWS)):
        path = os.path.join(folder, "made.json")
        with open(path, "w") as out:
            json.dump(definition, out)
        subprocess.run([command, "run", path, "--input", "null", "--memory", "1G", "--save",
                        os.path.join(folder, name), "--save-at", "b"], check=True, capture_output=True)


def write_inputs(folder):
    for name, definition in (("large", LARGE), ("patterns", json.dumps(PATTERNS))):
        with open(os.path.join(folder, name), "w") as out:
            out.write(definition)
    with open(os.path.join(folder, "lists"), "w") as out:
        out.write("[" + "[],[],[],[],[],[],[],[],[],[]," * 1000000 + "1]")
    with open(os.path.join(folder, "numbers"), "w") as out:
        out.write('{"l":[' + ",".join(str(i) for i in range(1500000)) + "]}")


def run_case(command, folder, name, statuses, definition, options):
    path = os.path.join(folder, "definition.json")
    with open(path, "w") as out:
        out.write(definition if isinstance(definition, str) else json.dumps(definition))
    if "--input" not in options:
        options = options + ["--input", "null"]
    return run_command(command, folder, name, statuses, ["run", path, "--fuel", "300M", *options])


def run_command(command, folder, name, statuses, words):
    words = [w.replace("@", folder + "/") if w.startswith("@") else w for w in words]
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.path.join(folder, "printed"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 1)
        os.dup2(os.open(os.path.join(folder, "errors"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        os.execv(command, [command, *words, "--memory", "64M"])
    _, status, usage = os.wait4(pid, 0)
    used = usage.ru_maxrss * 1024
    status = os.waitstatus_to_exitcode(status)
    errors = open(os.path.join(folder, "errors")).read().strip().splitlines()
    ended = {0: words[0] == "check" or os.path.getsize(os.path.join(folder, "printed")) > 0,
             6: any("--memory 64M was used up" in line for line in errors)}
    good = used <= LIMIT + CONSTANT and status in statuses and ended.get(status, True)
    print(f"{'ok  ' if good else 'FAIL'} {name}: {used / (1 << 20):.1f} MiB, status {status}{', ' + errors[-1][:100] if errors else ''}")
    return good


def main(command):
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(folder)
        write_saved(command, folder)
        results = [run_case(command, folder, *case) for case in CASES]
        results += [run_command(command, folder, *case) for case in OTHERS]
    print(f"{sum(results)} of {len(results)} stayed below {(LIMIT + CONSTANT) >> 20} MiB")
    return 0 if all(results) else 1


sys.exit(main(sys.argv[1]))
