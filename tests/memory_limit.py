#!/usr/bin/env python3
"""memory_limit.py MWLVM: `--memory 64M` bounds the memory of the process.

Runs hostile definitions and inputs under --memory 64M, each in a process of its own, and looks at
the most memory that was resident: at most 64 MiB and a constant of 16 MiB. Each must end by itself,
with a status that the command documents.
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

# name, definition, further options
CASES = [
    ("toJson of a shared text", returning("toJson(lists.range(400).map(i, vars.s))"), []),
    ("a shared text as the Result", returning("lists.range(30).map(i, vars.s)"), []),
    ("a shared tree as the Result", doubling(26), ["--fuel", "100M"]),
    ("a text that grows", returning("vars.s + vars.s + vars.s + vars.s + vars.s + vars.s + vars.s + vars.s"), []),
    ("a list that is copied", returning("lists.range(1000000).map(i, [i, i])"), []),
    ("format of a large list", returning("'%s'.format([lists.range(40).map(i, vars.s)])"), []),
    ("a pattern of many classes", returning("'x'.matches(lists.range(20000).map(i, '[' + string(i) + '\\\\pL]').join())"), []),
    ("fromJson of many lists", returning("fromJson('[' + lists.range(4000000).map(i, '[]').join(',') + ']').size()"), []),
    ("an input of many lists", IDENTITY, ["--input", "@lists"]),
    ("an argument with many numbers", UNIQUE, ["--args", "@numbers"]),
    ("a report about many numbers", STRINGS, ["--args", "@numbers"]),
    ("patterns of a schema", PATTERNS, []),
    ("a Gather over very many", GATHER, []),
    ("a large definition", LARGE, []),
]

# name, the words of another command; @ before a file of write_inputs or write_saved
OTHERS = [
    ("eval of a large list", ["eval", "lists.range(3000000).map(i, [i])"]),
    ("eval of a text", ["eval", "toJson(lists.range(400).map(i, " + TEXT + "))"]),
    ("eval with a large input", ["eval", "step.input.size()", "--input", "@lists"]),
    ("check of a large definition", ["check", "@large"]),
    ("check of patterns", ["check", "@patterns"]),
    ("asm of a large definition", ["asm", "@large", "-o", "@out"]),
    ("asm of patterns", ["asm", "@patterns", "-o", "@out"]),
    ("resume of a large saved run", ["resume", "@saved"]),
    ("show of a large saved run", ["show", "@saved", "--json"]),
    ("resume of a run that grows", ["resume", "@grows", "--virtual-time"]),
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


def run_case(command, folder, name, definition, options):
    path = os.path.join(folder, "definition.json")
    with open(path, "w") as out:
        out.write(definition if isinstance(definition, str) else json.dumps(definition))
    if "--input" not in options:
        options = options + ["--input", "null"]
    return run_command(command, folder, name, ["run", path, "--fuel", "300M", *options])


def run_command(command, folder, name, words):
    words = [w.replace("@", folder + "/") if w.startswith("@") else w for w in words]
    pid = os.fork()
    if pid == 0:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(os.open(os.path.join(folder, "errors"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        os.execv(command, [command, *words, "--memory", "64M"])
    _, status, usage = os.wait4(pid, 0)
    used = usage.ru_maxrss * 1024
    good = used <= LIMIT + CONSTANT and os.WIFEXITED(status)
    errors = open(os.path.join(folder, "errors")).read().strip().splitlines()
    print(f"{'ok  ' if good else 'FAIL'} {name}: {used / (1 << 20):.1f} MiB, status "
          f"{os.waitstatus_to_exitcode(status)}{', ' + errors[-1][:100] if errors else ''}")
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
