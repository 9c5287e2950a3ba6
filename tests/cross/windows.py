#!/usr/bin/env python3
"""windows.py COMMAND...: what only Windows has, in the command: names and text in UTF-8, line ends, drives and
backslashes, files that are replaced at once, Ctrl-C, pipes that nothing reads, exit statuses.

COMMAND is how the command is started here: wine and mwlvm.exe. The folder / is drive Z: there.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

COMMAND = [os.path.abspath(word) for word in sys.argv[1:]]
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
MOCK = "mwl:provider.call/mwl/mock/v1"
FINALLY = "mwl:provider.middleware/mwl/finally/v1"
FOLDER = tempfile.mkdtemp(prefix="mwl-")
n_checks = 0
failures = []


def expect(good, *words):
    global n_checks
    n_checks += 1
    if not good:
        failures.append(" ".join(str(w)[:400] for w in words))


def run(*words, data=b"", status=0, cwd=None):
    got = subprocess.run([*COMMAND, *words], input=data, capture_output=True, timeout=300, cwd=cwd)
    expect(got.returncode == status, words, "status", got.returncode, "instead of", status, got.stderr.decode("utf-8", "replace"))
    return got


def write(name, steps, **more):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        json.dump({"$schema": SCHEMA, "entrypoint": "a", "steps": steps, **more}, f, indent=2)
    return path


def backslashes(path):
    return "Z:" + path.replace("/", "\\")


RETURNS = {"a": {"action": "Return", "value": "{{ step.input }}"}}


def text():
    """Arguments, names of files, messages and output are UTF-8."""
    path = write("Grüße 世界 😀.json", RETURNS)
    word = '"ä € 世界 😀"'
    expect(run("run", path, "--input", word).stdout.decode() == word + "\n", "an argument is UTF-8")
    expect(run("run", path, data=word.encode()).stdout.decode() == word + "\n", "standard input is UTF-8")
    expect(run("eval", word + " + 'ß'").stdout.decode() == '"ä € 世界 😀ß"\n', "an expression is UTF-8")
    missing = os.path.join(FOLDER, "fehlt – 無.json")
    err = run("run", missing, status=2).stderr.decode()
    expect(err == f"mwlvm: {missing}: No such file or directory\n", "a message is UTF-8:", err)
    program = os.path.join(FOLDER, "progrämm.mwlb")
    run("asm", path, "-o", program)
    expect(os.path.exists(program), "a file that is written has its name")
    expect(run("run", program, "--input", "7").stdout == b"7\n", "a program runs")
    checked = run("check", FOLDER).stderr + run("check", FOLDER).stdout
    expect(b"cannot" not in checked, "a folder is read:", checked)


def line_ends():
    """A line feed stays one, in what is written and in what is read."""
    path = write("lines.json", RETURNS)
    for words in (["run", path, "--input", '"x"'], ["eval", "1"], ["--version"], ["--help"], ["graph", path], ["fmt", "--stdout", path],
                  ["functions"], ["run", path, "--pretty", "--input", '{"a": [1, 2]}']):
        got = subprocess.run([*COMMAND, *words], capture_output=True, stdin=subprocess.DEVNULL)
        expect(b"\r" not in got.stdout + got.stderr, words, "writes carriage returns")
        expect(b"\n" in got.stdout + got.stderr, words, "writes nothing")
    out = run("run", path, data=b'"a\\r\\nb"').stdout
    expect(out == b'"a\\r\\nb"\n', "data keeps its line ends:", out)
    out = run("run", path, data=b'[1,\r\n\x1a 2]', status=2).stderr
    expect(b"standard input:2:1" in out, "Ctrl-Z is a byte, not the end:", out)
    each = "".join(f"{i}\n" for i in range(3000)).encode()
    out = run("run", path, "--each", "--quiet", data=each).stdout
    expect(out.count(b"\n") == 3000 and b"\r" not in out, "--each writes lines")
    expect([json.loads(line)["value"] for line in out.splitlines()] == list(range(3000)), "--each keeps the order")


def paths():
    """Drives and backslashes."""
    path = write("deep/er/flow.json", RETURNS)
    case = os.path.join(FOLDER, "deep", "cases", "one.json")
    os.makedirs(os.path.dirname(case))
    with open(case, "w") as f:
        json.dump({"definition": "../er/flow.json", "input": 5, "expect": {"value": 5}}, f)
    for name in (backslashes(path), backslashes(path)[2:], "deep\\er\\flow.json", "deep/er\\flow.json", path):
        expect(run("run", name, "--input", "1", cwd=FOLDER).stdout == b"1\n", "runs", name)
    for name in (backslashes(case), "deep\\cases\\one.json", "deep\\cases", "deep\\cases\\"):
        out = run("test", name, cwd=FOLDER)
        expect(b"1 passed" in out.stdout + out.stderr, "a case beside its definition:", name, out.stdout, out.stderr)
    run("asm", backslashes(path), "-o", backslashes(FOLDER) + "\\deep\\out.mwlb")
    expect(os.path.exists(os.path.join(FOLDER, "deep", "out.mwlb")), "-o takes a path with backslashes")
    out = run("graph", backslashes(path), "--format", "svg").stdout
    expect(b"Flow flow.json" in out or b">flow.json" in out or b"\\er" not in out, "a graph has the name alone")


def replacing():
    """A file is replaced at once, and nothing is left beside it."""
    path = write("replaced/flow.json", RETURNS)
    with open(path, "r+b") as f:
        ugly = f.read().replace(b"\n", b"")
        f.seek(0)
        f.truncate()
        f.write(ugly)
    with open(path, "rb") as before:
        run("fmt", path)
        expect(before.read() == ugly, "who has the old file open reads the old text")
    with open(path, "rb") as f:
        expect(f.read() != ugly, "fmt has written the file")
    expect(os.listdir(os.path.dirname(path)) == ["flow.json"], "left over:", os.listdir(os.path.dirname(path)))
    got = run("asm", path, "-o", path.replace("flow", "FLOW") if os.path.exists(path.replace("flow", "FLOW")) else path, status=2)
    expect(b"overwrite" in got.stderr, "the definition is not overwritten:", got.stderr)
    run("asm", path, "-o", os.path.join(FOLDER, "no", "such", "folder"), status=2)
    run("asm", path, "-o", FOLDER, status=2)


def interrupt(path, n):
    p = subprocess.Popen([*COMMAND, "run", path, "-v"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    err = b""
    for i in range(n):
        line = b"?"
        while line and err.count(b"call mock  null") <= i:  # the second time in the cleanup
            line = p.stderr.readline()
            err += line
        time.sleep(0.3)  # two that are near are one
        p.send_signal(signal.SIGINT)  # wine makes Ctrl-C of it
    out, more = p.communicate(timeout=120)
    return p.returncode, out, err + more


def interrupts():
    """Ctrl-C cancels, with cleanup; the second ends it without."""
    steps = {"a": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT1H"}}, "next": "z"}, "z": {"action": "Return"}}
    cleanup = [{"provider": FINALLY, "onAlways": {"with": {"call": {"provider": MOCK, "with": {"delay": "PT0.01S"}}}}}]
    steps["a"]["middleware"] = cleanup
    status, out, err = interrupt(write("sleeps.json", steps), 1)
    expect(status == 130, "Ctrl-C: status", status)
    expect(b"cancelling the run" in err and b"call mock done" in err, "Ctrl-C cancels with cleanup:", err)
    expect(b'"code":"System.Cancelled"' in out, "Ctrl-C is a Result:", out)
    cleanup[0]["onAlways"]["with"]["call"]["with"]["delay"] = "PT1H"
    status, out, err = interrupt(write("cleans.json", steps), 2)
    expect(status == 130, "Ctrl-C twice: status", status, err)


def broken_pipe():
    path = write("same.json", RETURNS)
    p = subprocess.Popen([*COMMAND, "run", path, "--each", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdout.close()
    try:
        p.stdin.write(b"1\n" * 200000)
        p.stdin.close()
    except BrokenPipeError:
        pass
    expect(p.wait(timeout=120) == 141, "--each whose Results nothing reads: status", p.returncode, p.stderr.read())


def statuses():
    """As the help says; and what this build does not have says so."""
    raises = {"a": {"action": "Raise", "result": {"code": "My.Code", "message": "no"}}}
    path = write("raises.json", raises)
    expect(b"My.Code" in run("run", path, status=1).stderr, "a failure has its code")
    run("run", status=2)
    expect(b"MWL0301" in run("check", "tests/diag/unknown-step.json", status=3).stdout, "a diagnostic")
    loops = write("loops.json", {"a": {"action": "Pass", "next": "a"}})
    expect(b"--fuel 1000 was used up" in run("run", loops, "--fuel", "1000", status=6).stderr, "a limit")
    slow = {"a": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT1H"}}, "next": "z", "middleware": [
        {"provider": "mwl:provider.middleware/mwl/timeout/v1", "onEntry": {"with": {"duration": "PT1S"}}}]}, "z": {"action": "Return"}}
    run("run", write("slow.json", slow), "--virtual-time", status=5)
    for words in (["serve"], ["worker"], ["run", path, "--store", "x"]):
        got = subprocess.run([*COMMAND, *words], capture_output=True, stdin=subprocess.DEVNULL)
        expect(got.returncode == 2 and b"this build has no" in got.stderr, words, "says what is missing:", got.stderr)


def files():
    """What commands write: a trace, a report, a saved run."""
    path = write("nap.json", {"a": {"action": "Sleep", "for": "PT0.2S", "next": "z"}, "z": {"action": "Return", "value": 3}})
    trace, report, saved = (os.path.join(FOLDER, name) for name in ("trace.json", "report.html", "saved"))
    run("run", path, "--virtual-time", "--trace-file", trace, "--report", report)
    with open(trace, "rb") as f:
        data = f.read()
    expect(b"\r" not in data and json.loads(data), "a trace is JSON")
    with open(report, "rb") as f:
        expect(f.read().rstrip().endswith(b"</html>"), "a report is complete")
    run("run", path, "--input", "null", "--save", saved, "--save-at", "a")
    expect(b"Step a" in run("show", saved).stdout, "show")
    expect(run("resume", saved, "--virtual-time").stdout == b"3\n", "resume")


for part in (text, line_ends, paths, replacing, interrupts, broken_pipe, statuses, files):
    part()
for line in failures:
    print("FAIL", line)
print(f"{n_checks - len(failures)} passed, {len(failures)} failed, 0 skipped")
sys.exit(1 if failures else 0)
