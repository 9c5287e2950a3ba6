#!/usr/bin/env python3
"""graph.py MWLVM: `mwlvm graph`: every definition of the tests and suites as SVG, Mermaid and DOT.

graph_check.py has what must hold for a picture. Generated Flows (cycles, fans, ladders, deep nests) are
drawn too, with a thousand Steps in little time (measured on an idle machine: 0.05 s; 0.7 s if each of
them jumps over 500 others). MWL_SUITES names the folder of the outside suites.
"""
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import graph_check

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SUITES = os.environ.get("MWL_SUITES", "")
MWLVM = os.path.abspath(sys.argv[1])
failures = []
SECONDS = float(os.environ.get("MWL_GRAPH_SECONDS", "4"))  # sanitizers need more


def fail(text):
    failures.append(text)
    print("FAIL", text)


def run(*words, **how):
    return subprocess.run([MWLVM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **how)


# ---- definitions ------------------------------------------------------------------------------

def definitions():
    """Files with a Flow, and the provider documents that lie beside them."""
    tops = [os.path.join(ROOT, t) for t in ("tests/cases", "tests/regression", "tests/accept", "tests/golden",
                                            "tools/examples")]
    tops += [os.path.join(SUITES, "mwl", t) for t in ("conformance", "schemas/valid")]
    for top in tops:
        for path, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                file = os.path.join(path, name)
                if not name.endswith(".json") or name in ("case.json", "input.json"):
                    continue
                try:
                    value = json.load(open(file, encoding="utf-8"))
                except (ValueError, OSError):
                    continue
                if isinstance(value, dict) and "steps" in value and "entrypoint" in value:
                    yield file, providers_of(path)


def providers_of(folder):
    out = []
    for name in sorted(os.listdir(folder)):
        file = os.path.join(folder, name)
        if name.endswith(".json") and '"https://mwl.dev/v0.1/provider/schema.json"' in open(file).read():
            out += ["--provider", file]
    return out


# ---- Mermaid ----------------------------------------------------------------------------------

TEXT = r'"(?:[^"#<>`\[\]{}()|;]|#\d+;|<br/>)*"'
MERMAID = [
    r"subgraph (?P<group>n\d+)\[" + TEXT + r"\]", r"(?P<end>end)", r"direction (LR|TB)",
    r'(?P<start>n\d+)\(\(\(" "\)\)\)',
    r"(?P<box>n\d+)(\[" + TEXT + r"\]|\{\{" + TEXT + r"\}\}|\(\[" + TEXT + r"\]\))(:::raise)?",
    r"(?P<a>n\d+) (-->|-\.->)(\|" + TEXT + r"\|)? (?P<b>n\d+)", r"classDef raise stroke:#c4473a",
]
LINE = re.compile(r" *(?:" + "|".join(MERMAID) + ")")


def check_mermaid(text):
    """The part of Mermaid's grammar that is written: every line, groups closed, names declared."""
    lines = text.splitlines()
    if not lines or lines[0] != "flowchart TB":
        return "no flowchart"
    depth, names = 0, set()
    for line in lines[1:]:
        m = LINE.fullmatch(line)
        if not m:
            return f"line {line!r}"
        names.update(v for k, v in m.groupdict().items() if k in ("group", "start", "box") and v)
        depth += 1 if m["group"] else -1 if m["end"] else 0
        if depth < 0 or (m["a"] and not {m["a"], m["b"]} <= names):
            return f"line {line!r}"
    return "a group is open" if depth else None


# ---- generated Flows --------------------------------------------------------------------------

MOCK = {"provider": "mwl:provider.call/mwl/mock/v1"}
RETRY = {"provider": "mwl:provider.middleware/mwl/retry/v1",
         "onEntry": {"with": {"policies": [{"match": {"codes": ["*"]}, "attempts": 3}]}}}


def flow(steps, entrypoint="s0", root=True, **more):
    out = {"$schema": "https://mwl.dev/v0.1/flow/schema.json"} if root else {}
    return {**out, "entrypoint": entrypoint, "steps": steps, **more}


def random_flow(rng, n, depth=0):
    """Any Step may lead to any other: cycles, jumps in both directions, loops to itself."""
    steps = {}
    for i in range(n):
        def anywhere():
            return f"s{rng.randrange(n) if rng.random() < 0.35 else min(n - 1, i + 1)}"

        kind = rng.choice("CCCGMPS" if i + 1 < n else "RX")
        catch = [{"match": {"codes": [f"A.Code{k}" * rng.randint(1, 4)]}, "next": anywhere()}
                 for k in range(rng.choice((0, 0, 1, 3)))]
        step = {"C": {"action": "Call", "call": dict(MOCK), "next": anywhere()},
                "G": {"action": "Gather", "calls": [dict(MOCK) for _ in range(rng.randint(1, 12))],
                      "next": anywhere()},
                "M": {"action": "Match", "cases": [
                    {"when": "{{ vars.x == %d && size(string(vars.y)) > 100 }}" % k, "next": anywhere()}
                    for k in range(rng.randint(1, 9))], "default": {"next": anywhere()}},
                "P": {"action": "Pass", "next": anywhere()},
                "S": {"action": "Sleep", "for": "PT5S", "next": anywhere()},
                "R": {"action": "Return"},
                "X": {"action": "Raise", "result": {"type": "error", "code": "X.Y"}}}[kind]
        if kind in "CG" and catch:
            step["catch"] = catch
        if kind == "C":
            if rng.random() < 0.4:
                step["middleware"] = [RETRY] * rng.randint(1, 4)
            if depth < 3 and rng.random() < 0.3:
                step["call"] = {"flow": random_flow(rng, rng.randint(1, 6), depth + 1)}
        steps[f"s{i}"] = step
    return flow(steps, root=depth == 0)


def chain(n, **more):
    steps = {f"s{i}": {"action": "Pass", "next": f"s{i + 1}", **more} for i in range(n - 1)}
    return {**steps, f"s{n - 1}": {"action": "Return"}}


def handlers(n):
    """Every Step leads to one handler."""
    steps = {f"s{i}": {"action": "Call", "call": MOCK, "next": f"s{i + 1}",
                       "catch": [{"match": {"codes": ["*"]}, "next": "failed"}]} for i in range(n)}
    return flow({**steps, f"s{n}": {"action": "Return"}, "failed": {"action": "Raise"}})


def fan(n):
    cases = [{"when": "{{ vars.n == %d }}" % i, "next": f"s{i}"} for i in range(1, n)]
    steps = {f"s{i}": {"action": "Pass", "next": "end"} for i in range(1, n)}
    return flow({"s0": {"action": "Match", "cases": cases, "default": {"next": "end"}}, **steps,
                 "end": {"action": "Return"}})


def jumps(n, far):
    """Every Step may jump far ahead: many long lines beside each other."""
    steps = {f"s{i}": {"action": "Match", "cases": [
        {"when": "{{ vars.n == %d }}" % i, "next": f"s{min(n - 1, i + far)}"}],
        "default": {"next": f"s{i + 1}"}} for i in range(n - 1)}
    return flow({**steps, f"s{n - 1}": {"action": "Return"}})


def back(n):
    """Every Step may begin again."""
    steps = {f"s{i}": {"action": "Match", "cases": [{"when": "{{ vars.n == %d }}" % i, "next": "s0"}],
                       "default": {"next": f"s{i + 1}"}} for i in range(n - 1)}
    return flow({**steps, f"s{n - 1}": {"action": "Return"}})


def nested(n):
    inner = flow({"s0": {"action": "Return"}}, root=False)
    for i in range(n):
        inner = flow({"s0": {"action": "Call", "call": {"flow": inner}, "next": "s1"},
                      "s1": {"action": "Return"}}, root=i == n - 1)
    return inner


def frames(n):
    return flow({"s0": {"action": "Call", "call": MOCK, "middleware": [RETRY] * n, "next": "s1"},
                 "s1": {"action": "Return"}}, middleware=[RETRY] * n)


def named(n):
    """Flows that several calls name, each naming the next."""
    flows = {f"F{i}": flow({"s0": {"action": "Call", "call": {"flow": f"F{i + 1}"}, "next": "s1"},
                            "s1": {"action": "Call", "call": {"flow": f"F{i + 1}"}, "next": "s2"},
                            "s2": {"action": "Return"}}, root=False) for i in range(n)}
    flows[f"F{n}"] = flow({"s0": {"action": "Return"}}, root=False)
    return flow({"s0": {"action": "Call", "call": {"flow": "F0"}, "next": "s1"}, "s1": {"action": "Return"}},
                flows=flows)


def odd_names():
    texts = ['<b>&"x"</b>', "]]>", "漢字の名前がここにある", "é" * 60, "a\\b`c`|d|", "\u202eabc", "{ x }", "-->",
             "end", "🙂 emoji", "%%", "#quot;", "</title><script>alert(1)</script>"]
    steps = {t: {"action": "Pass", "next": texts[i + 1]} for i, t in enumerate(texts[:-1])}
    steps[texts[-1]] = {"action": "Return"}
    return flow(steps, entrypoint=texts[0])


# ---- the checks -------------------------------------------------------------------------------

def check_all_forms(label, file, words, dots, routes=True):
    done = run("graph", file, *words)
    if done.returncode == 3:  # what is no valid definition is not drawn; `check` says why
        if run("check", file, *words).returncode == 0:
            fail(f"{label}: not drawn: {done.stderr}")
        return False
    if done.returncode != 0:
        fail(f"{label}: status {done.returncode}: {done.stderr}")
        return False
    for problem in graph_check.check(done.stdout, routes)[:5]:
        fail(f"{label}: {problem}")
    problem = check_mermaid(run("graph", file, "--format", "mermaid", *words).stdout)
    if problem:
        fail(f"{label}: Mermaid: {problem}")
    dots.append((label, run("graph", file, "--format", "dot", *words).stdout))
    return True


def check_dots(dots):
    """Graphviz reads all of them (nop), and draws some; without it this part is left out."""
    if not shutil.which("dot"):
        print("no dot (graphviz): DOT is not read")
        return
    done = subprocess.run(["nop"], input="".join(d for _, d in dots), capture_output=True, text=True)
    n = len(re.findall(r"^digraph ", done.stdout, re.M))
    if done.returncode or done.stderr or n != len(dots):
        fail(f"nop: {n} graphs of {len(dots)}: {done.stderr[:500]}")
    small = [d for d in dots if len(d[1]) < 8000]  # Graphviz takes minutes to draw a thousand Steps
    for label, text in small[:: len(small) // 15]:
        drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True)
        if drawn.returncode or drawn.stderr:
            fail(f"{label}: dot -Tsvg: {drawn.stderr[:500]}")


def generated(folder, dots):
    rng = random.Random(7)
    flows = {"chain": flow(chain(30)), "handlers": handlers(150), "fan": fan(60), "jumps": jumps(60, 20),
             "back": back(100), "nested": nested(30), "frames": frames(40), "named": named(12), "names": odd_names(),
             "one": flow({"s0": {"action": "Return"}}),
             "self": flow({"s0": {"action": "Call", "call": MOCK, "next": "s0",
                                  "catch": [{"match": {"codes": ["*"]}, "next": "s0"}]}})}
    for i in range(60):
        flows[f"random{i}"] = random_flow(rng, rng.randint(1, 14))
    for name, value in flows.items():
        file = os.path.join(folder, name + ".json")
        json.dump(value, open(file, "w"))
        if not check_all_forms(name, file, [], dots, not name.startswith("random")):
            fail(f"{name}: refused: {run('check', file).stdout[:600]}")


def checker(folder):
    """graph_check finds what is wrong: a box, a label or a line that was moved, a view that is too small."""
    file = os.path.join(folder, "checked.json")
    json.dump(handlers(5), open(file, "w"))
    svg = run("graph", file).stdout

    def moved(pattern, by):
        return re.sub(pattern, lambda m: m.group(1) + str(float(m.group(2)) + by), svg, count=1)

    mistakes = {"lies on|does not begin": moved(r'(<g id="n3"[^\n]*?<rect x="[^"]*" y=")([\d.]+)', 60),
                "is not inside": moved(r'(<g id="n3"[^\n]*?<rect x=")([\d.]+)', -60),
                "label of e2": moved(r'(data-of="e2"><rect class="lb" x="[^"]*" y=")([\d.]+)', 510),
                "passes through": moved(r'(<g id="e2"[^\n]*?d="M[\d.]+ [\d.]+L[\d.]+ )([\d.]+)', 80),
                "outside of the viewBox": re.sub(r'viewBox="0 0 \d+', 'viewBox="0 0 100', svg),
                "is not in its box": moved(r'(<text class="t" x=")([\d.]+)', 300)}
    def bent(*aside):
        """The happy path, which is straight, goes to these places beside it."""
        def path(m):
            x, top, bottom = float(m[2]), float(m[3]), float(m[4])
            corners, at = [], x
            for i, by in enumerate(aside):
                y = top + (bottom - top) * (i + 1) / (len(aside) + 1)
                corners += [f"L{v} {y}Q{v} {y} {v} {y}" for v in (at, x + by)]
                at = x + by
            return f"{m[1]}M{x} {top}{''.join(corners)}L{at} {bottom}\""

        return re.sub(r'(<g id="e1"[^\n]*?d=")M([\d.]+) ([\d.]+)L\2 ([\d.]+)"', path, svg, count=1)

    mistakes.update({"kink of 4": bent(4), "goes 30 aside": bent(30, 0), "two corners in one place": bent(30, 30)})
    if graph_check.check(svg, True):
        fail("checker: the picture itself is wrong")
    for words, text in mistakes.items():
        problems = graph_check.check(text, True)
        if text == svg or not any(re.search(words, p) for p in problems):
            fail(f"checker: {words}: not found: {problems[:3]}")


def anywhere(n, ways):
    """Every Step may jump to any other: the pieces of the edges are the square of the Steps."""
    rng = random.Random(5)
    steps = {f"s{i}": {"action": "Match", "cases": [{"when": "{{ vars.n == %d }}" % k, "next": f"s{rng.randrange(n)}"}
                                                    for k in range(ways)], "default": {"next": f"s{(i + 1) % n}"}} for i in range(n)}
    return flow(steps)


def many_edges(folder):
    """Beyond 20,000 pieces the picture is plain: all boxes and edges are there, its time and size grow as the definition. Fuel pays."""
    file = os.path.join(folder, "many-edges.json")
    for n, ways, most in ((1900, 3, 6e6), (180, 180, 30e6)):
        json.dump(anywhere(n, ways), open(file, "w"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run("graph", file, "--memory", "256M")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        boxes, edges = len(re.findall(r'<g id="n\d+" class="(?:[^"]* )?step\b', done.stdout)), len(re.findall(r'<g id="e\d+"', done.stdout))
        print(f"{n} Steps with {ways} jumps each: {took:.2f} s of processor time, {len(done.stdout) / 1e6:.1f} MB")
        if done.returncode or took > SECONDS or len(done.stdout) > most or edges != n * (ways + 1) + 1 or boxes < n:
            fail(f"{n} {ways}: status {done.returncode}, {took:.1f} s, {boxes} boxes, {edges} edges: {done.stderr[:300]}")
    json.dump(jumps(180, 50), open(file, "w"))
    if run("graph", file).returncode:
        fail("a layout of 15,000 pieces")
    done = run("graph", file, "--fuel", "4M")
    if done.returncode != 6 or "--fuel 4M was used up" not in done.stderr or done.stdout:
        fail(f"the layout is not paid: status {done.returncode} {done.stderr[:200]}")


def speed(folder):
    """A thousand Steps in well under a second, whatever their shape."""
    shapes = {"chain": flow(chain(1000)), "handlers": handlers(1000), "fan": fan(1000), "jumps": jumps(1000, 500),
              "back": back(1000), "frames": frames(1000), "named": named(500)}
    for name, value in shapes.items():
        file = os.path.join(folder, f"large-{name}.json")
        json.dump(value, open(file, "w"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run("graph", file)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"a thousand Steps, {name}: {took:.2f} s of processor time, {len(done.stdout) / 1e6:.1f} MB")
        if done.returncode or took > SECONDS:
            fail(f"{name}: status {done.returncode}, {took:.1f} s: {done.stderr[:300]}")


def command(folder):
    """Outside behaviour: files, streams, statuses, the example of the help."""
    hello = os.path.join(ROOT, "tools/examples/hello.json")
    out = os.path.join(folder, "hello.svg")
    help_text = run("graph", "--help").stdout
    example = re.search(r"^  mwlvm (graph .*)$", help_text, re.M)
    if not example:
        fail("the help has no example")
    else:
        words = example.group(1).split()
        words[words.index("-o") + 1] = out
        done = run(*words, cwd=ROOT)
        if done.returncode or done.stdout or done.stderr or "<svg" not in open(out).read():
            fail(f"the example: status {done.returncode} {done.stderr}")
    expect = [(0, ("graph", hello), "<svg ", ""), (2, ("graph",), "", "no FILE to draw"),
              (2, ("graph", hello, "--format", "png"), "", "svg, mermaid or dot"),
              (2, ("graph", "no-such.json"), "", "no-such.json"),
              (2, ("graph", hello, "-o", os.path.join(folder, "no/such")), "", "no/such"),
              (3, ("graph", os.path.join(ROOT, "tests/diag/unknown-step.json")), "", "error[MWL0301]"),
              (0, ("graph", os.path.join(ROOT, "tests/diag/unused-parameter.json")), "<svg ", "warning[MWL0809]"),
              (3, ("graph", os.path.join(ROOT, "tests/diag/unused-parameter.json"), "--deny", "warnings"), "",
               "MWL0809")]
    program = os.path.join(folder, "hello.mwlb")
    stripped = os.path.join(folder, "stripped.mwlb")
    run("asm", hello, "-o", program)
    run("asm", hello, "--strip", "-o", stripped)
    expect += [(0, ("graph", program), "greet", ""), (1, ("graph", stripped), "", "stripped"),
               (6, ("graph", hello, "--memory", "4K"), "", "memory")]
    for status, words, stdout, stderr in expect:
        done = run(*words)
        if done.returncode != status or stdout not in done.stdout or stderr not in done.stderr or \
                bool(done.stdout) != bool(stdout) or bool(done.stderr) != bool(stderr):
            fail(f"{' '.join(words)}: status {done.returncode}, out {done.stdout[:80]!r}, err {done.stderr[:200]!r}")
    unknown = os.path.join(folder, "unknown.json")
    json.dump(flow({"s0": {"action": "Call", "call": {"provider": "mwl:provider.call/acme/ship/v2"}, "next": "s1"},
                    "s1": {"action": "Return"}}), open(unknown, "w"))
    done = run("graph", unknown)
    if done.returncode or "acme/ship v2" not in done.stdout or "no document of" not in done.stderr:
        fail(f"a provider without a document: status {done.returncode}: {done.stderr}")
    json.dump(flow({"s0": {"action": "Call", "call": {"provider": "mwl:provider.call/mwl/mok/v1"}, "next": "s1"},
                    "s1": {"action": "Return"}}), open(unknown, "w"))
    if run("graph", unknown).returncode != 3:
        fail("a provider of the language that does not exist is drawn")
    large = os.path.join(folder, "memory.json")
    json.dump(handlers(100), open(large, "w"))
    for size in (16, 50, 100, 200, 400, 600, 100000):  # wherever memory runs out: a message, and no output
        done = run("graph", large, "--memory", f"{size}K")
        if done.returncode not in (0, 6) or bool(done.stdout) != (done.returncode == 0) or \
                (done.returncode == 6 and "memory" not in done.stderr) or (size == 100000) != (done.returncode == 0):
            fail(f"--memory {size}K: status {done.returncode}: {done.stderr[:200]}")
    same = run("graph", hello, "-o", hello)
    if same.returncode != 2 or "overwrite" not in same.stderr:
        fail("-o may overwrite the definition")


def labels(folder):
    """What tells edges and boxes apart can be read in the picture: there may be no tooltip."""
    catches = [["Provider.Middleware.Retry.Exhausted", "Provider.Middleware.Timeout.Exceeded"],
               ["System.ParameterValidationFailed"], ["A.One", "B.Two", "C.Three", "D.Four"]]
    clean = {"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with": {"call": {
        "provider": "mwl:provider.call/mwl/mock/v1"}}}}
    file = os.path.join(folder, "labels.json")
    json.dump(flow({"s0": {"action": "Call", "call": {"provider": "mwl:provider.call/mwl/mock/v1"}, "middleware": [clean],
                           "catch": [{"match": {"codes": c}, "next": f"s{i + 2}"} for i, c in enumerate(catches)], "next": "s1"},
                    "s1": {"action": "Sleep", "for": "{{ step.input.interval }}", "next": "s2"},
                    **{f"s{i}": {"action": "Return"} for i in (2, 3, 4)}}), open(file, "w"))
    svg = run("graph", file).stdout
    label = {m.group(1): re.findall(r"<text[^>]*>([^<]*)</text>", m.group(0))
             for m in re.finditer(r'<g class="label catch" data-of="(e\d+)">.*?</g>', svg)}
    want = [["…Middleware.Retry.Exhausted", "…Middleware.Timeout.Exceeded"], ["System.", "ParameterValidationFailed"], ["A.One", "B.Two", "and 2 more"]]
    if [label[k] for k in sorted(label)] != want:
        fail(f"labels: {label}")
    if "Provider.Middleware.Retry.Exhausted, Provider.Middleware.Timeout.Exceeded</title>" not in svg:
        fail("the tooltip of a catch has no comma between codes")
    if "Sleep · step.input.interval<" not in svg:
        fail("a Sleep shows braces")
    if 'class="b call phase"' not in svg:
        fail("the call of a phase looks like a Step")


def examples(folder):
    """The graphs beside the examples are what the command draws."""
    for name in ("patterns/retry", "patterns/polling", "order/order"):
        out = os.path.join(folder, "drawn.svg")
        kept = os.path.join("tools/examples", name)
        run("graph", kept + ".json", "-o", out, cwd=ROOT)
        if open(out).read() != open(os.path.join(ROOT, kept + ".svg")).read():
            fail(f"{kept}.svg: draw it again with `mwlvm graph`")


def main():
    dots, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for file, words in definitions():
            drawn = check_all_forms(os.path.relpath(file, ROOT), file, words, dots)
            n += drawn
            if not drawn and "/conformance/" in file:
                fail(f"{file}: a definition of the conformance suite is not drawn")
        generated(folder, dots)
        check_dots(dots)
        checker(folder)
        many_edges(folder)
        speed(folder)
        command(folder)
        labels(folder)
        examples(folder)
    print(f"{n} definitions drawn, {len(failures)} problems")
    return 1 if failures or n < 250 else 0


if __name__ == "__main__":
    sys.exit(main())
