#!/usr/bin/env python3
"""terminal.py MWLVM: what a person sees on a terminal: the live line, the progress bar, colours,
Ctrl-C. The command runs on a pseudo-terminal; what it draws is interpreted as a terminal does.
"""
import concurrent.futures
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

MWLVM = sys.argv[1]
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
MOCK = "mwl:provider.call/mwl/mock/v1"
FOLDER = tempfile.mkdtemp(prefix="terminal-")
ENV = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR")}
failures = []


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(w)[:600] for w in words))


def flow(name, steps, **more):
    path = os.path.join(FOLDER, name + ".json")
    with open(path, "w") as f:
        json.dump({"$schema": SCHEMA, "entrypoint": "a", "steps": {**steps, "z": {"action": "Return"}}, **more}, f)
    return path


def middleware(name, **arguments):
    return {"provider": f"mwl:provider.middleware/mwl/{name}/v1", "onEntry": {"with": arguments}}


SLEEP = flow("sleep", {"a": {"action": "Sleep", "for": "PT2.5S", "next": "z"}})
HOUR = flow("hour", {"a": {"action": "Sleep", "for": "PT1H", "next": "z"}})
POLICIES = [{"match": {"codes": ["*"]}, "attempts": 2, "backoff": {"initial": "PT2S"}}]
RETRY = flow("retry", {"a": {"action": "Call", "call": {"flow": "sub"}, "next": "z"}}, flows={"sub": {
    "entrypoint": "fetch", "steps": {"fetch": {
        "action": "Call", "middleware": [middleware("retry", policies=POLICIES)], "next": "end",
        "call": {"provider": MOCK, "with": {"delay": "PT2S", "failure": {"code": "Http.500"}}},
        "catch": [{"match": {"codes": ["*"]}, "next": "end"}]}, "end": {"action": "Return"}}}})
GATHER = flow("gather", {"a": {"action": "Gather", "over": ["PT0.5S", "PT3S", "PT3S"], "next": "z", "call": {
    "provider": MOCK, "with": {"delay": "{{ call.input }}"}}}})
TIMES_OUT = flow("timesout", {"a": {"action": "Call", "next": "z", "middleware": [middleware("timeout", duration="PT3S")],
                                    "call": {"provider": MOCK, "with": {"delay": "PT1H"}},
                                    "catch": [{"match": {"codes": ["*"]}, "next": "z"}]}})
POLL = flow("poll", {"a": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT0.9S"}}, "next": "b"},
                     "b": {"action": "Pass", "assign": {"n": "{{ vars.n + 1.0 }}"}, "next": "z"}},
            parameters={"type": "object", "properties": {"n": {"type": "number", "default": 0}}}, middleware=[{
                "provider": "mwl:provider.middleware/mwl/loop/v1", "onSuccess": {"when": "{{ vars.n < 2 }}"}}])
RAISE = flow("raise", {"a": {"action": "Raise", "result": {"code": "Bad", "message": "no"}}})
CLEANS = flow("cleans", {"a": {"action": "Call", "next": "z", "call": {"provider": MOCK, "with": {"delay": "PT1H"}},
                               "middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with": {
                                   "call": {"provider": MOCK, "with": {"delay": "PT1H"}}}}}]}})
NAMES = flow("names", {"a": {"action": "Call", "call": {"flow": "f"}, "next": "z"}}, flows={"f": {
    "entrypoint": "w\u001b[31m\u4e16\u754c", "steps": {
        "w\u001b[31m\u4e16\u754c": {"action": "Sleep", "for": "PT2.5S", "next": "e"}, "e": {"action": "Return"}}}})


class Screen:
    """Enough of a terminal: text, line feeds, returns, erasing to the end of the line, colours."""

    def __init__(self, columns):
        self.columns, self.rows, self.at, self.states, self.wrapped = columns, [""], 0, [], False
        self.colours = set()

    def feed(self, text):
        for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z]|\r|\n)", text):
            if part == "\r":
                self.at = 0
            elif part == "\n":
                self.rows.append("")
            elif part == "\x1b[K":
                self.rows[-1] = self.rows[-1][:self.at]
                self.states.append((time.time(), self.rows[-1]))
            elif part.startswith("\x1b["):
                expect(part.endswith("m"), "an unknown sequence:", repr(part))
                self.colours.add(part)
            elif part:
                row = self.rows[-1]
                self.rows[-1] = row[:self.at] + part + row[self.at + len(part):]
                self.at += len(part)
                wide = sum(2 if ord(c) > 0x2e80 else 1 for c in self.rows[-1])
                if wide >= self.columns:
                    self.wrapped = True


def run(*words, columns=80, env=None, keys=(), stdin=None, piped=None, stdout_file=None, status=0, limit=60, at_once=False):
    """Runs the command with a terminal. keys: (seconds after the first status line, or at_once after the start, bytes to type). piped: what comes
    through a pipe as standard input. Returns the screen."""
    pipe = os.pipe() if piped is not None else None
    pid, fd = pty.fork()
    if pid == 0:
        if stdin is not None:
            os.dup2(os.open(stdin, os.O_RDONLY), 0)
        if pipe:
            os.dup2(pipe[0], 0)
            os.close(pipe[1])
        if stdout_file is not None:
            os.dup2(os.open(stdout_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.execve(MWLVM, [MWLVM, *words], {**ENV, "TERM": "xterm", **(env or {})})
    if pipe:
        os.close(pipe[0])
        os.write(pipe[1], piped)  # less than a pipe holds
        os.close(pipe[1])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    screen, start, raw = Screen(columns), time.time(), b""
    keys = list(keys)
    while time.time() - start < limit:
        began = start if at_once else screen.states[0][0] if screen.states else None
        if keys and began and time.time() - began > keys[0][0]:
            os.write(fd, keys.pop(0)[1])
        ready, _, _ = select.select([fd], [], [], 0.05)
        if not ready:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        raw += piece
        screen.feed(piece.decode("utf-8", "replace"))
    os.close(fd)
    _, code = os.waitpid(pid, 0)
    got = -os.WTERMSIG(code) if os.WIFSIGNALED(code) else os.WEXITSTATUS(code)
    expect(got == status, words, "status", got, "instead of", status, raw[-300:])
    screen.start = start
    screen.raw, screen.took = raw.decode("utf-8", "replace"), time.time() - start
    return screen


def lines_of(screen):
    return [text for _, text in screen.states if text]


def live_line():
    s = run(SLEEP)
    seen = lines_of(s)
    until = re.compile(r"\[0:\d\d\] a, sleeps until \d\d:\d\d:\d\d \(\d s left\)$")
    late = re.compile(r"\[0:\d\d\] a, sleeps$") # the instant has passed, and the machine was busy
    expect(any(until.match(t) for t in seen), "sleep:", seen)
    expect(all(until.match(t) or late.match(t) for t in seen), "sleep:", seen)
    times = [at for at, text in s.states if text]
    expect(len(times) <= 10 * (times[-1] - times[0]) + 5, "drawn", len(times), "times in", times[-1] - times[0], "s")
    expect(times[-1] - times[0] > 0.5, "drawn for", times[-1] - times[0], "s")
    expect(s.rows[0] == "null" and s.states[-1][1] == "", "the line is not gone:", s.rows)
    expect(not s.wrapped, "it wraps")
    seen = lines_of(run(RETRY))
    expect(any("a/fetch, attempt 1, waits for mock until " in t for t in seen), "retry:", seen)
    expect(any("a/fetch, waits for attempt 2 until " in t for t in seen), "retry:", seen)
    expect(any("a/fetch, attempt 2, waits for mock until " in t for t in seen), "retry:", seen)
    seen = lines_of(run(GATHER))
    expect(any("a, 1 of 3 dispatches done, 2 in flight" in t for t in seen), "gather:", seen)
    seen = lines_of(run(POLL))
    expect(any("a, iteration 2, waits for mock until " in t for t in seen), "loop:", seen)
    seen = lines_of(run(TIMES_OUT))
    expect(any("a, waits for mock, times out at " in t for t in seen), "timeout:", seen)
    s = run(NAMES, columns=30)
    expect(any("a/w?[31m\u4e16\u754c" in t for t in lines_of(s)) and not s.wrapped, "names:", lines_of(s)[:2])
    expect(all(len(t) <= 29 for t in lines_of(s)) and any(t.endswith("...") for t in lines_of(s)), "narrow:", lines_of(s)[:2])


def durable():
    """A run in a store has a live line too, as long as the command waits for it."""
    store = os.path.join(FOLDER, "live.db")
    got = subprocess.run([MWLVM, "ps", "--store", store], capture_output=True, text=True)
    if "no durable runs" in got.stdout + got.stderr:
        return
    s = run(SLEEP, "--store", store, "--id", "seen")
    seen = lines_of(s)
    form = re.compile(r"\[0:0\d\] a, sleeps( until \d\d:\d\d:\d\d \(\d s left\))?$")
    expect(seen and all(form.match(t) for t in seen) and any("until" in t for t in seen), "durable:", seen)
    times = [at for at, text in s.states if text]
    expect(times and len(times) <= 10 * (times[-1] - times[0]) + 5, "durable: drawn", len(times), "times")
    expect(s.states and s.states[-1][1] == "" and "null" in s.rows, "durable: the line is not gone:", s.rows)
    for words, env in ((["--quiet"], {}), ([], {"TERM": "dumb"})):
        s = run(SLEEP, "--store", store, *words, env=env)
        expect(not s.states, "durable:", words, env, repr(s.raw))


def failures_in_a_store():
    """A failure is shown on a terminal as it is without a store: explained, with its line, and without the Result as JSON."""
    store = os.path.join(FOLDER, "failures.db")
    if "no durable runs" in subprocess.run([MWLVM, "ps", "--store", store], capture_output=True, text=True).stderr:
        return
    fault = flow("fault", {"a": {"action": "Return", "value": "{{ {'b': 1}.c + frame.input }}"}})
    for path in (RAISE, fault):
        plain, kept = run(path, status=1), run(path, "--store", store, "--quiet", status=1)
        expect(plain.raw == kept.raw and " at Step 'a'" in plain.raw, "in a store:", repr(plain.raw), repr(kept.raw))
    expect("|" in plain.raw and '{"type"' not in plain.raw, "no snippet:", repr(plain.raw))


def no_live_line():
    for words, env in (((SLEEP, "--quiet"), {}), ((SLEEP,), {"TERM": "dumb"}), ((SLEEP,), {"TERM": ""})):
        s = run(*words, env=env)
        expect(s.raw == "null\r\n", words, env, repr(s.raw))
    quick = flow("quick", {"a": {"action": "Sleep", "for": "PT0.1S", "next": "z"}})
    expect(run(quick).raw == "null\r\n", "a short run shows something")
    got = subprocess.run([MWLVM, SLEEP], stdin=subprocess.DEVNULL, capture_output=True, env={**ENV, "TERM": "xterm"})
    expect(got.stderr == b"" and got.stdout == b"null\n", "not a terminal:", got)
    s = run(SLEEP, "-v", env={"NO_COLOR": "1"})
    expect("a  null" in s.raw and "sleep: 2.5 s" in s.raw and "\x1b" not in s.raw, "-v:", repr(s.raw))
    for duration, shown in (("PT0.99996S", "1.0 s"), ("PT0.9999S", "999.9 ms"), ("PT59.96S", "1:00 min"), ("PT59.5S", "59.5 s")):
        s = run(flow("odd", {"a": {"action": "Sleep", "for": duration, "next": "z"}}), "-v", "--virtual-time")
        expect(f"sleep: {shown}" in s.raw, duration, repr(s.raw))
    s = run(SLEEP, "-v")
    expect("\x1b[1ma\x1b[0m" in s.raw and "\r\x1b" not in s.raw.replace("\r\n", ""), "-v in colour:", repr(s.raw))


def live_interrupts():
    s = run(HOUR, keys=[(0.3, b"\x03")], status=-signal.SIGINT)
    expect("mwlvm: interrupted: cancelling the run" in s.raw, "Ctrl-C:", s.raw)
    expect(any(r.startswith("mwlvm: interrupted") for r in s.rows), "the message shares a line:", s.rows)
    s = run(CLEANS, keys=[(0.3, b"\x03"), (0.9, b"\x03")], status=-signal.SIGINT)
    expect(s.took < 20 and "ended without a Result" in s.raw, "Ctrl-C twice:", s.raw)


def cleanup_has_a_name():
    """The live line of a cleanup of the Flow, which belongs to no Step."""
    whole = flow("whole", {"a": {"action": "Pass", "next": "z"}}, middleware=[{
        "provider": "mwl:provider.middleware/mwl/finally/v1",
        "onAlways": {"with": {"call": {"provider": MOCK, "with": {"delay": "PT1H"}}}}}])
    s = run(whole, keys=[(0.4, b"\x03"), (0.9, b"\x03")], status=-signal.SIGINT)
    expect("] cleanup of the Flow, waits for mock" in s.raw, "a cleanup without a name:", s.raw)


def prompt_interrupts():
    """Ctrl-C at the prompt of the debugger gives up what was typed; `quit` ends it."""
    s = run("debug", HOUR, "--input", "null", keys=[(0.4, b"whe\x03"), (0.8, b"where\n"), (1.2, b"quit\n")], at_once=True)
    expect("there is no command" not in s.raw and "> the root Flow, line 1" in s.raw, "Ctrl-C at the prompt:", s.raw)


def colours():
    s = run(RAISE, status=1)
    expect("\x1b[1;31merror Bad\x1b[0m: no" in s.raw, "a failure:", repr(s.raw))
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        s = run(RAISE, status=1, env=env)
        expect("\x1b" not in s.raw and "Bad" in s.raw, env, repr(s.raw))


def bar():
    path, out = os.path.join(FOLDER, "in.ndjson"), os.path.join(FOLDER, "out.ndjson")
    waits = flow("waits", {"a": {"action": "Sleep", "for": "PT0.02S", "next": "b"}, "b": {
        "action": "Call", "next": "z", "call": {"provider": MOCK, "with": {
            "failure": "{{ step.input == 7 ? {'code': 'Seven'} : null }}"}}}})
    with open(path, "w") as f:
        f.write("".join(f"{i}\n" for i in range(300)))
    more = ["--each", path, "-j", "1", "--concurrency", "4"]
    s = run("run", waits, *more, stdout_file=out, status=1)
    seen = lines_of(s)
    form = r"\[#*>? *\] +\d+%  [\d,]+ done, [01] failed, [\d,]+/s(, ETA \d+:\d\d)?$"
    expect(len(seen) > 1 and all(re.match(form, t) for t in seen), "bar:", seen[:3])
    expect(any("ETA" in t for t in seen), "no ETA:", seen)
    expect("\x1b[32m" in s.colours and "\x1b[31m" in s.colours, "bar colours:", s.colours)
    times = [at for at, text in s.states if text]
    expect(len(times) / max(times[-1] - times[0], 0.1) < 15, "drawn too often")
    expect(times[0] - s.start > 0.9, "the bar comes after", times[0] - s.start, "s")
    expect(any(re.match(r"mwlvm: 300 runs in .* 299 succeeded, 1 failed$", r) for r in s.rows), "summary:", s.rows)
    expect(any(re.match(r"mwlvm: +1  Seven$", r) for r in s.rows), "summary:", s.rows)
    expect(sum(1 for _ in open(out)) == 300, "Results")
    s = run("run", waits, *more, stdout_file=out, status=1, env={"NO_COLOR": "1"})
    expect(not s.colours and lines_of(s), "NO_COLOR:", s.colours)
    for extra, env in ((["--quiet"], {}), ([], {"TERM": "dumb"})):
        s = run("run", waits, *more, *extra, stdout_file=out, status=1, env=env)
        expect(not s.states and ("runs in" in s.raw) == (not extra), "no bar:", repr(s.raw))
    # Results on the same terminal: each is a row of its own
    s = run("run", waits, *more, status=1, env={"NO_COLOR": "1"})
    rows = [r for r in s.rows if r.startswith('{"type"')]
    expect(len(rows) == 300 and all(json.loads(r) for r in rows), "Results and the bar:", len(rows), s.rows[:5])
    # a narrow terminal: the gauge is shorter, or not there, and the rest is whole
    for columns, form in ((60, r"\[#*>? *\] +\d+%  "), (48, r"(\[#*>? *\] )? *\d+%  ")):
        s = run("run", waits, *more, columns=columns, stdout_file=out, status=1)
        seen = lines_of(s)
        form += r"[\d,]+ done, [01] failed, [\d,]+/s(, ETA \d+:\d\d)?$"
        expect(seen and all(re.match(form, t) and len(t) < columns for t in seen), columns, "columns:", seen[:3])
        expect(any("ETA" in t for t in seen), columns, "columns: no ETA:", seen)
    with open(path, "rb") as f:
        text = f.read()
    # a file as standard input has a size; a pipe has none, so there is no gauge
    each = ["run", waits, "--each", "-j", "1", "--concurrency", "4"]
    seen = lines_of(run(*each, stdin=path, stdout_file=out, status=1))
    expect(seen and all(t.startswith("[") for t in seen), "from a file:", seen)
    seen = lines_of(run(*each, piped=text, stdout_file=out, status=1))
    expect(seen and all(re.match(r"[\d,]+ done, [01] failed, [\d,]+/s$", t) for t in seen), "from a pipe:", seen)
    quick = run("run", RAISE, "--each", path, "--quiet", stdout_file=out, status=1)
    expect(not quick.states, "a short one:", quick.raw)
    # the same terminal, in less than a second: nothing but Results and the summary
    brief = run("run", RAISE, "--each", "-j", "1", "--ignore", "unreachable-step", piped=b"1\n2\n", status=1)
    expect(not brief.states and len(brief.rows) == 5, "a short one:", brief.rows)


def bar_interrupts():
    path, out = os.path.join(FOLDER, "many.ndjson"), os.path.join(FOLDER, "many.out")
    with open(path, "w") as f:
        f.write("".join(f"{i}\n" for i in range(400)))
    s = run("run", HOUR, "--each", path, "-j", "2", stdout_file=out, keys=[(0.8, b"\x03")], status=-signal.SIGINT)
    expect("interrupted: cancelling the runs in flight" in s.raw and "interrupted at line 200: 0 done" in s.raw and
           "200 cancelled" in s.raw, "Ctrl-C:", s.raw[-500:])
    s = run("run", CLEANS, "--each", path, stdout_file=out, keys=[(0.8, b"\x03"), (1.3, b"\x03")], status=-signal.SIGINT)
    expect("200 cancelled" in s.raw and s.took < 20, "Ctrl-C twice:", s.raw[-500:])


def attempt(test):
    test()
    return failures


if __name__ == "__main__":
    begun = time.time()
    tests = [t for t in (live_line, durable, failures_in_a_store, no_live_line, live_interrupts, cleanup_has_a_name, prompt_interrupts, colours, bar, bar_interrupts)
             if len(sys.argv) < 3 or t.__name__ in sys.argv[2:]]
    with concurrent.futures.ProcessPoolExecutor(len(tests)) as pool: # they wait most of the time
        found = [line for some in pool.map(attempt, tests) for line in some]
    for line in found[:20]:
        print("FAIL", line)
    print(f"{len(tests)} tests in {time.time() - begun:.1f} s, {len(found)} failures")
    sys.exit(1 if found else 0)
