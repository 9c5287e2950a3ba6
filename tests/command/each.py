#!/usr/bin/env python3
"""each.py MWLVM [LINES [TEST...]]: `run --each`: order, memory, bad lines, broken pipes, signals, statuses.

LINES (200,000 unless told) is how many go through in limited memory; the soak takes a million.
"""
import fcntl
import json
import os
import random
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

MWLVM = sys.argv[1]
LINES = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
SCHEMA = "https://mwl.dev/v0.1/flow/schema.json"
MOCK = "mwl:provider.call/mwl/mock/v1"
FOLDER = tempfile.mkdtemp(prefix="each-")
failures = []


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(w)[:400] for w in words))


def flow(name, steps, **more):
    path = os.path.join(FOLDER, name + ".json")
    with open(path, "w") as f:
        json.dump({"$schema": SCHEMA, "entrypoint": "a", "steps": {**steps, "z": {"action": "Return"}}, **more}, f)
    return path


SAME = flow("same", {"a": {"action": "Pass", "next": "z"}})
SLEEPS = flow("sleeps", {"a": {"action": "Sleep", "for": "{{ step.input.wait }}", "next": "z"}})
RAISES = flow("raises", {"a": {"action": "Call", "next": "z", "call": {"provider": MOCK, "with": {
    "failure": "{{ step.input.code == '' ? null : {'code': step.input.code} }}"}}}})
FOREVER = flow("forever", {"a": {"action": "Sleep", "for": "PT1H", "next": "z"}})
CLEANS = flow("cleans", {"a": {"action": "Call", "next": "z", "call": {"provider": MOCK, "with": {"delay": "PT1H"}},
                               "middleware": [{"provider": "mwl:provider.middleware/mwl/finally/v1", "onAlways": {"with": {
                                   "call": {"provider": MOCK, "with": {"delay": "PT1H"}}}}}]}})
STUCK = flow("stuck", {"a": {"action": "Pass", "next": "a"}})


def run(*words, text="", status=0, **more):
    got = subprocess.run([MWLVM, "run", *words], input=text.encode() if isinstance(text, str) else text,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200, **more)
    expect(got.returncode == status, words, "status", got.returncode, "instead of", status, got.stderr.decode())
    return got.stdout.decode(), got.stderr.decode()


def results(text):
    return [json.loads(line) for line in text.splitlines()]


def lines(values):
    return "".join(json.dumps(v) + "\n" for v in values)


def order():
    """Results come in the order of their inputs, whatever the runs take, on one thread and on four."""
    rng = random.Random(7)
    values = [{"n": i, "wait": f"PT0.{rng.randrange(300):03}S"} for i in range(600)]
    for options in (["-j", "1"], ["-j", "4", "--concurrency", "37"], ["-j", "2", "--concurrency", "1000"]):
        out, err = run(SLEEPS, "--each", *options, text=lines(values))
        expect([r["value"]["n"] for r in results(out)] == list(range(600)), options, "not in order")
        expect("600 runs in " in err and "600 succeeded, 0 failed" in err, options, err)
    out, err = run(SLEEPS, "--each", "--unordered", "--quiet", text=lines(values))
    got = results(out)
    expect(sorted(r["line"] for r in got) == list(range(1, 601)), "unordered: the numbers of lines")
    expect(all(r["value"]["n"] == r["line"] - 1 for r in got), "unordered: another line's Result")
    expect([r["line"] for r in got] != list(range(1, 601)), "unordered: it waited")
    expect(err == "", "quiet:", err)


def files():
    path = os.path.join(FOLDER, "inputs.ndjson")
    with open(path, "w") as f:
        f.write("1\n\n  \r\n[2]\r\n\"3\"")  # blank lines have no Result; the last line has no line feed
    for words in ((SAME, "--each", path), (SAME, f"--each={path}"), ("--each", SAME, path)):
        out, _ = run(*words)
        expect([r["value"] for r in results(out)] == [1, [2], "3"], words, out)
    out, err = run(SAME, "--each", text="")
    expect(out == "" and "0 runs" in err, "no input:", out, err)
    run(SAME, "--each", os.path.join(FOLDER, "missing"), status=2)
    run(SAME, "--each", FOLDER, status=2)
    for words in ((SAME, "x"), (SAME, "-j", "2"), (SAME, "--each", "--input", "1"), (SAME, "--each", "-v"), (SAME, "--each", "-j", "0"),
                  (SAME, "--each", "--concurrency", "x"), (SAME, "--each", "a", "b"), ("-", "--each"),
                  (SAME, "--each=a", "b"), (SAME, "--each", "--trace-file", "t")):
        run(*words, status=2)


def bad_lines():
    """A line that is not JSON is one failed Result with its number; the others are not touched."""
    values = [json.dumps({"n": i}) for i in range(2001)]
    values[1000] = '{"n": 1000,, "quote": "\\"'
    values[1500] = "\"\xff\xfe\""
    text = "\n".join(values).encode("latin-1")
    for more in ([], ["-j", "3", "--concurrency", "5"]):
        out, err = run(SAME, "--each", *more, text=text, status=1)
        got = results(out)
        expect(len(got) == 2001, "bad line:", len(got), "Results")
        for i, r in enumerate(got):
            if i in (1000, 1500):
                expect(r["type"] == "error" and r["code"] == "Mwlvm.InvalidInput" and r["details"]["line"] == i + 1
                       and f"line {i + 1}: " in r["message"], "bad line:", r)
            else:
                expect(r == {"type": "success", "value": {"n": i}}, "beside a bad line:", r)
        expect("1,999 succeeded, 2 failed" in err and "2  Mwlvm.InvalidInput" in err, err)
    deep = "[" * 100000
    out, _ = run(SAME, "--each", text=f"1\n{deep}\n2\n", status=1)
    expect([r["type"] for r in results(out)] == ["success", "error", "success"], "deep:", out[:300])
    long = "\"" + "x" * (9 << 20) + "\""
    out, _ = run(SAME, "--each", "--memory", "4M", text=f"1\n{long}\n2\n", status=1)
    expect([r["type"] for r in results(out)] == ["success", "error", "success"], "long:", out[:300])
    expect("too long" in results(out)[1]["message"], "long:", out[:300])


def codes():
    names = ["", "A.One", "B.Two", "A.One", "C", "A.One", ""] * 3
    out, err = run(RAISES, "--each", "-j", "2", text=lines({"code": c} for c in names), status=1)
    expect([r.get("code", "") for r in results(out)] == names, "codes:", out)
    at = [err.index(w) for w in ("21 runs", "9  A.One", "3  B.Two", "3  C")]
    expect(at == sorted(at) and "6 succeeded, 15 failed" in err, "the summary:", err)
    out, err = run(RAISES, "--each", text=lines({"code": f"Code{i}"} for i in range(2000)), status=1)
    expect("other codes" in err and len(err.splitlines()) < 300, "very many codes:", len(err.splitlines()))
    limits = flow("limits", {"a": {"action": "Pass", "next": "a"}})
    out, err = run(limits, "--each", "--fuel", "10000", text="1\n2\n", status=1)
    expect(all(r["type"] == "cancellation" and r["details"]["limit"] == "fuel" for r in results(out)), "fuel:", out)


def fail_fast():
    values = [{"code": ""}] * 50 + [{"code": "Bad"}] + [{"code": ""}] * 200000
    out, err = run(RAISES, "--each", "--fail-fast", "-j", "2", text=lines(values), status=1)
    got = results(out)
    expect(51 <= len(got) < 150000, "fail fast:", len(got), "Results")
    expect(got[50]["type"] == "error", "fail fast:", got[45:55])  # in front of it one may be in flight on the other thread
    expect(all(r["type"] in ("success", "cancellation") for r in got[:50] + got[51:]), "fail fast: around it")
    out, err = run(SLEEPS, "--each", "--fail-fast", text='{"wait": "PT1H"}\n{"wait": "?"}\n', status=1)
    expect([r["type"] for r in results(out)] == ["cancellation", "error"], "fail fast, in flight:", out)
    expect(re.search(r"stopped by a failure at line 2: 1 done in .* \(0 succeeded, 1 failed\), 1 cancelled", err), "fail fast:", err)


def in_flight():
    """10,000 runs of one thread wait at the same time: two seconds, not 20,000."""
    start = time.time()
    out, _ = run(SLEEPS, "--each", "-j", "1", "--concurrency", "10000", text='{"wait": "PT2S"}\n' * 10000)
    expect(out.count("success") == 10000, "in flight:", out.count("success"))
    expect(time.time() - start < 60, "in flight:", time.time() - start, "s")
    start = time.time()
    out, _ = run(SLEEPS, "--each", "-j", "1", "--concurrency", "1", text='{"wait": "PT0.3S"}\n' * 5)
    expect(time.time() - start > 1.4, "concurrency 1:", time.time() - start, "s")
    start = time.time()
    run(SLEEPS, "--each", "--virtual-time", text='{"wait": "PT1000H"}\n' * 5)
    expect(time.time() - start < 300, "virtual time:", time.time() - start, "s") # not 1,000 hours, also on a machine that is busy


def streaming():
    """A Result comes out before the next line goes in, as soon as those before it are there."""
    p = subprocess.Popen([MWLVM, SAME, "--each", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(20):
        p.stdin.write(f"{i}\n".encode())
        p.stdin.flush()
        expect(json.loads(p.stdout.readline())["value"] == i, "streaming", i)
    p.stdin.close()
    expect(p.wait() == 0, "streaming: status")


def resident(p):
    """KiB that were resident at most so far."""
    with open(f"/proc/{p.pid}/status") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))


def memory():
    """Many lines in little memory: the address space is limited."""
    if os.environ.get("MWL_SANITIZED"):
        return  # a sanitizer has memory of its own
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))
    p = subprocess.Popen([MWLVM, SAME, "--each", "-j", "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, preexec_fn=limit, env={**os.environ, "MALLOC_ARENA_MAX": "2"})

    def feed():
        for at in range(0, LINES, 1000):
            p.stdin.write("".join(f'{{"n":{i},"text":"{"x" * 100}"}}\n' for i in range(at, min(at + 1000, LINES))).encode())
        p.stdin.close()
    feeder = threading.Thread(target=feed)
    feeder.start()
    n = most = 0
    for line in p.stdout:
        if not line.startswith(b'{"type":"success","value":{"n":%d,' % n):
            expect(False, "memory: line", n, line)
            break
        n += 1
        if n == LINES - 1000:
            most = resident(p)  # wait4 would count what the process was before it became the command
    feeder.join()
    p.stderr.read()
    expect(p.wait() == 0 and n == LINES, "memory: status", p.returncode, "lines", n)
    expect(most < 100 << 10, "memory:", most, "KiB resident")
    figures.append(f"{n:,} lines in {most >> 10} MiB resident")
    # the reader of the Results stops reading: nothing is collected meanwhile
    p = subprocess.Popen([MWLVM, SAME, "--each", "-j", "2", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limit)
    os.set_blocking(p.stdin.fileno(), False)
    sent = 0
    idle = 0
    while idle < 10:
        try:
            n = os.write(p.stdin.fileno(), b'{"text":"%s"}\n' % (b"x" * 5000) * 10)
            sent += n
            idle = 0
        except BlockingIOError:
            idle += 1
            time.sleep(0.05)
    expect(sent < 80 << 20, "backpressure:", sent, "bytes were read")
    p.kill()
    p.wait()


def from_files():
    """A file and a pipe with the same text give the same Results, whatever the lengths of lines."""
    rng = random.Random(11)
    path = os.path.join(FOLDER, "many.ndjson")
    texts, wanted = [], []
    for i in range(20000):
        kind = rng.randrange(2000)
        size = 200000 if kind == 0 else 70000 if kind == 1 else rng.randrange(2000) if kind < 40 else rng.randrange(60)
        text = json.dumps({"n": i, "x": "x" * size})
        texts.append("" if kind == 50 else text[:-1] if kind == 51 else text)
        if kind != 50:
            wanted.append(i if kind != 51 else None)
    text = "\n".join(texts)
    with open(path, "w") as f:
        f.write(text)
    bad = wanted.count(None) > 0
    for more in (["-j", "1"], ["-j", "3"], ["-j", "2", "--concurrency", "1"]):
        for words, given in (([path], ""), ([], text)):
            out, _ = run(SAME, "--each", *words, *more, text=given, status=1 if bad else 0)
            got = results(out)
            expect([r["value"]["n"] if r["type"] == "success" else None for r in got] == wanted, "files:", more, words, len(got))
        with open(path) as f:
            same = subprocess.run([MWLVM, "run", SAME, "--each", *more, "--quiet"], stdin=f, stdout=subprocess.PIPE)
        expect(same.stdout.decode() == out, "files: as standard input", more)
    out, _ = run(SAME, "--each", path, "-j", "3", "--unordered", status=1 if bad else 0)
    got = {r["line"]: r for r in results(out)}
    expect(len(got) == len(wanted) and all(r["type"] == "error" or r["value"]["n"] == at - 1 for at, r in got.items()), "files: unordered")
    with open(path, "w") as f:
        f.write("1\n\"" + "x" * (9 << 20) + "\"\n2\n\"" + "x" * (9 << 20) + "\"\n3")
    out, _ = run(SAME, "--each", path, "--memory", "4M", status=1)
    expect([r["type"] for r in results(out)] == ["success", "error", "success", "error", "success"], "long, in a file:", out[:300])


def spread():
    """Many quick lines make a thread take many at once. Those that then wait are for all threads, and
    what must wait for them in order is limited."""
    path = os.path.join(FOLDER, "spread.ndjson")
    for most, wait, more in ((10, "PT3S", []), (30, "PT0.5S", ["--unordered"])):
        with open(path, "w") as f:
            f.write('{"wait":"PT0S"}\n' * 30000 + f'{{"wait":"{wait}"}}\n' * 400)
        start = time.time()
        out, err = run(SLEEPS, "--each", path, "-j", "4", "--concurrency", "100", *more)
        expect(out.count("\n") == 30400 and "30,400 succeeded" in err, "spread:", out.count("\n"), err)
        expect(time.time() - start < most, "spread:", time.time() - start, "s") # not four times three seconds
    values = [{"n": i, "wait": "PT0.2S" if i % 20000 in range(5000, 5050) else "PT0S"} for i in range(80000)]
    with open(path, "w") as f:
        f.write(lines(values))
    for words, given in (([path], ""), ([], lines(values))):
        out, _ = run(SLEEPS, "--each", *words, "-j", "3", "--concurrency", "10", text=given)
        expect([r["value"]["n"] for r in results(out)] == list(range(80000)), "spread: not in order")


def slow_head():
    """The first run takes long; what waits for it is limited, and nothing is lost."""
    values = ['{"wait": "PT1.5S"}'] + ['{"wait": "PT0S"}'] * 60000
    out, _ = run(SLEEPS, "--each", "-j", "2", text="\n".join(values))
    expect(out.count("\n") == 60001 and out.startswith('{"type":"success","value":{"wait":"PT1.5S"}}\n'), "slow head:", out.count("\n"))


def broken_pipe():
    """Who reads has enough: it ends quietly, as other filters do."""
    source = subprocess.Popen(["yes", "1"], stdout=subprocess.PIPE)
    p = subprocess.Popen([MWLVM, SAME, "--each"], stdin=source.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    source.stdout.close()
    p.stdout.readline()
    p.stdout.close()
    err = p.stderr.read()
    expect(err == b"", "broken pipe:", err)
    expect(p.wait(timeout=60) == -signal.SIGPIPE, "broken pipe: status", p.returncode)
    source.wait()
    with open("/dev/full", "w") as full:
        got = subprocess.run([MWLVM, SAME, "--each"], input=b"1\n", stdout=full, stderr=subprocess.PIPE)
    expect(got.returncode == 2 and b"No space left" in got.stderr, "a full disk:", got)


def settle(p):
    """Until the command answers signals and has read its lines, and a little longer."""
    start = time.time()
    while time.time() - start < 60:
        with open(f"/proc/{p.pid}/status") as f:
            caught = int(re.search(r"SigCgt:\s+(\w+)", f.read()).group(1), 16)
        left = struct.unpack("i", fcntl.ioctl(p.stdin.fileno(), termios.FIONREAD, b"\0\0\0\0"))[0]
        if caught >> signal.SIGINT - 1 & 1 and not left:
            break
        time.sleep(0.02)
    time.sleep(0.7)


def interrupt(definition, n_signals, *words, number=signal.SIGINT, gap=0.3):
    p = subprocess.Popen([MWLVM, definition, "--each", "-j", "2", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(b"".join(b"%d\n" % i for i in range(150)))
    p.stdin.flush()
    settle(p)
    for _ in range(n_signals):
        p.send_signal(number)
        time.sleep(gap)
    start = time.time()
    out, err = p.stdout.read().decode(), p.stderr.read().decode()
    status = p.wait(timeout=60)
    p.stdin.close()
    expect(status == -number, "interrupt: status", status, err)
    expect(time.time() - start < 20, "interrupt:", time.time() - start, "s")
    return results(out), err


def signals():
    got, err = interrupt(FOREVER, 1)
    expect(len(got) == 150 and all(r["type"] == "cancellation" for r in got), "Ctrl-C:", len(got), got[:2])
    expect("interrupted: cancelling" in err, "Ctrl-C:", err)
    summary = r"mwlvm: interrupted at line 150: 0 done in [\d.]+ m?s \(0 succeeded, 0 failed\), 150 cancelled$"
    expect(re.match(summary, err.splitlines()[-1]), "Ctrl-C: no codes, and how many are done:", err)
    half = flow("half", {"a": {"action": "Sleep", "for": "{{ int(step.input) % 3 == 0 ? 'PT1H' : 'PT0.001S' }}", "next": "b"},
                         "b": {"action": "Match", "cases": [{"when": "{{ int(step.input) % 3 == 1 }}", "next": "c"}],
                               "default": {"next": "d"}},
                         "c": {"action": "Raise", "result": {"code": "One", "message": "1"}}, "d": {"action": "Return"}})
    got, err = interrupt(half, 1, "--quiet")
    expect("at line 150: 100 done in" in err and "(50 succeeded, 50 failed), 50 cancelled" in err and "One" not in err,
           "Ctrl-C, --quiet:", err)
    got, err = interrupt(CLEANS, 2)
    expect(len(got) == 150 and all(r["code"] == "Mwlvm.Aborted" for r in got), "Ctrl-C twice:", len(got), got[:2])
    got, err = interrupt(STUCK, 1)
    expect(all(r["type"] == "cancellation" for r in got), "Ctrl-C, busy:", got[:2])
    got, err = interrupt(FOREVER, 1, number=signal.SIGTERM)
    expect(len(got) == 150, "SIGTERM:", len(got))
    # nobody reads the Results: the second signal ends it all the same
    p = subprocess.Popen([MWLVM, SAME, "--each"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.set_blocking(p.stdin.fileno(), False)
    idle = 0
    while idle < 5:
        try:
            os.write(p.stdin.fileno(), b"1\n" * 1000)
            idle = 0
        except BlockingIOError:
            idle += 1
            time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    expect(p.wait(timeout=30) == -signal.SIGINT, "nobody reads: status", p.returncode)


def unread():
    """A thread is busy, and what it has finished cannot be written: signals are answered all the same."""
    busy = flow("busy", {"a": {"action": "Match", "cases": [{"when": "{{ step.input < 500 }}", "next": "z"}], "default": {"next": "b"}},
                         "b": {"action": "Pass", "next": "b"}})
    for n_signals in (1, 2):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(writer, True)
        p = subprocess.Popen([MWLVM, busy, "--each", "-j", "1"], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        p.stdin.write(b"".join(b"%d\n" % i for i in range(501)))
        p.stdin.flush()
        settle(p)
        for _ in range(n_signals):
            p.send_signal(signal.SIGINT)
            time.sleep(0.3)
        if n_signals == 1:  # the run is cancelled, and the Results wait until they are read
            said = b""
            while b"cancelling" not in said and select.select([p.stderr], [], [], 20)[0]:
                said += os.read(p.stderr.fileno(), 4096) or b"cancelling, it has ended"
            expect(b"interrupted: cancelling" in said, "unread:", said)
            text = b""
            while more := os.read(reader, 1 << 16):
                text += more
            got = results(text.decode().lstrip("x"))
            expect([r.get("value") for r in got] == [*range(500), None], "unread:", len(got))
        expect(p.wait(timeout=60) == -signal.SIGINT, "unread: status", p.returncode)
        os.close(reader)
        p.stdin.close()


def idle(p):
    """Until the process has used nearly no processor time for a while."""
    used, since = 0, time.time()
    while time.time() - since < 1 and p.poll() is None:
        time.sleep(0.1)
        with open(f"/proc/{p.pid}/stat") as f:
            now = sum(int(n) for n in f.read().rsplit(")", 1)[1].split()[11:13])
        if now > used:
            used, since = now, time.time()


def interrupt_file():
    """Lines that a thread took and could not start are no Results, or stand at their places."""
    path, at = os.path.join(FOLDER, "stops.ndjson"), os.path.join(FOLDER, "stops.out")
    with open(path, "w") as f:
        f.write(lines([{"n": i, "wait": "PT0S" if i < 30000 or i > 31000 else "PT1H"} for i in range(31050)]))
    for more in ([], ["--unordered"]):
        with open(at, "w") as f:
            p = subprocess.Popen([MWLVM, SLEEPS, "--each", path, "-j", "2", "--concurrency", "50", *more], stdout=f, stderr=subprocess.PIPE)
            idle(p)
            p.send_signal(signal.SIGINT)
            err = p.stderr.read().decode()
        expect(p.wait(timeout=60) == -signal.SIGINT, "interrupt, a file: status", p.returncode)
        with open(at) as f:
            got = results(f.read())
        expect("100 cancelled" in err, "interrupt, a file:", err)
        good = [r["value"]["n"] for r in got if r["type"] == "success"]
        if more:
            expect(len(got) - 100 == len(good) >= 30000, "interrupt, a file, unordered:", len(got), len(good))
            continue
        expect(good[:30000] == list(range(30000)), "interrupt, a file: order")
        expect(all(r["value"]["n"] == i if r["type"] == "success" else i >= 30000 for i, r in enumerate(got)), "interrupt, a file: places")
        expect(sum(r.get("code") != "Mwlvm.NotStarted" and r["type"] == "cancellation" for r in got) == 100, "interrupt, a file:", len(got))


def notes():
    """What a value does not keep is noted with its line: three times, then the number of such lines."""
    out, err = run(SAME, "--each", "-j", "1", text='{"id": 9007199254740993}\n1\n{"a":1,"a":2}\n9007199254740992\n')
    expect([r["value"] for r in results(out)] == [{"id": 2**53}, 1, {"a": 2}, 2**53], "notes:", out)
    expect("note: line 1:1:8: this integer becomes 9007199254740992" in err, "notes:", err)
    expect("note: line 3:1:8: the member 'a' appears twice" in err and "line 4" not in err and "in all" not in err, "notes:", err)
    _, err = run(SAME, "--each", "-j", "1", text='{"id": 9007199254740993}\n' * 5)
    expect(err.count("this integer becomes") == 3 and "with 5 lines in all" in err, "notes:", err)
    out, _ = run(SAME, "--each", "--quiet", text=b"\xef\xbb\xbf1\n2\n", status=1)
    expect("byte order mark" in results(out)[0]["message"] and results(out)[1]["value"] == 2, "byte order mark:", out)


def full_disk():
    """The summary does not count Results that were not written as if all was well."""
    with open("/dev/full", "w") as full:
        got = subprocess.run([MWLVM, "run", SAME, "--each"], input=b"1\n", stdout=full, stderr=subprocess.PIPE)
    expect(got.returncode == 2 and b"Results cannot be written: stopped at line 1" in got.stderr, "full disk:", got.stderr)


def stopped_line():
    """The line at which it was stopped counts also if it is not JSON."""
    _, err = run(SAME, "--each", "--fail-fast", text="{\n", status=1)
    expect("stopped by a failure at line 1: 1 done" in err, "stopped at:", err)


def from_a_line():
    """Lines before --from have no run; the others keep their numbers in id, seed and Result."""
    ids = flow("lines", {"a": {"action": "Return", "value": "{{ execution.id + ' ' + step.input }}"}})
    text = lines(["o-1", "o-2"]) + "\n{\n" + lines(["o-5"])
    for more in ([], ["-j", "3", "--concurrency", "1"]):
        out, _ = run(ids, "--each", "--quiet", "--id", "n", "--from", "2", "--numbered", *more, text=text, status=1)
        got = [(r["line"], r.get("value", r.get("code"))) for r in results(out)]
        expect(got == [(2, "n-2 o-2"), (4, "Mwlvm.InvalidInput"), (5, "n-5 o-5")], "--from:", got)
    seeded = [results(run(ids, "--each", "--quiet", "--seed", "3", *more, text=lines(["a", "b", "c"]))[0])[-1] for more in ([], ["--from", "3"])]
    expect(seeded[0] == seeded[1], "--from: another id by the seed", seeded)
    out, _ = run(ids, "--each", "--quiet", "--from", "9", text=text)
    expect(out == "", "--from behind the end:", out)
    for word in ("0", "x", "-1", "99999999999999999999"):
        run(ids, "--each", "--from", word, status=2)
    run(ids, "--from", "2", status=2)


def recipe():
    """The commands of tools/COMMAND.md that go on after a crash: "What is left of `done.ndjson`"."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    page = open(os.path.join(root, "tools/COMMAND.md")).read()
    return re.search(r"(?:^    .*\n)*^    mwlvm run .*--from.*\n", page, re.M).group().replace("\n    ", "\n")


def killed():
    """After kill -9 at any time and the recipe: every line has one Result in its place, no key was given to two lines, and
    what a service that honours keys has booked is every line once. Also after Ctrl-C, which leaves cancellations."""
    orders = 300
    with tempfile.TemporaryDirectory() as folder:
        book = {"action": "Call", "next": "z", "call": {"provider": "mwl:provider.call/mwlvm/exec/v1", "with": {
            "argv": ["sh", "-c", "sleep 0.02; echo $MWLVM_CALL_KEY $0 >>seen", "{{ step.input }}"]}}}
        with open(os.path.join(folder, "flow.json"), "w") as f:
            json.dump({"$schema": SCHEMA, "entrypoint": "a", "steps": {"a": book, "z": {"action": "Return"}}}, f)
        with open(os.path.join(folder, "orders.ndjson"), "w") as f:
            f.write(lines([f"o-{i}" for i in range(1, orders + 1)]))
        done = os.path.join(folder, "done.ndjson")
        open(done, "w").close()
        env = {**os.environ, "PATH": os.path.dirname(os.path.abspath(MWLVM)) + os.pathsep + os.environ["PATH"]}
        script = recipe().replace("--each=", "--allow-exec --concurrency 3 -j 2 --quiet --each=")
        script = script.replace("mwlvm run", "exec mwlvm run")
        rng, n = random.Random(5), 0
        for number in [signal.SIGKILL, signal.SIGINT, signal.SIGKILL, None]:
            p = subprocess.Popen(["sh", "-eu", "-c", script], cwd=folder, env=env, stderr=subprocess.DEVNULL)
            if number:
                time.sleep(0.15 + rng.random() / 10)
                p.send_signal(number)
                p.wait(timeout=60)
                expect(p.returncode == -number, "killed: it has ended by itself", n, p.returncode)
                n += 1
            expect(number or p.wait(timeout=60) == 0, "killed: the last status", p.returncode)
        with open(done) as f:
            got = results(f.read())
        expect([(r["line"], r["type"]) for r in got] == [(i, "success") for i in range(1, orders + 1)], "killed: Results", len(got))
        by_key = {}
        for line in open(os.path.join(folder, "seen")):
            key, order = line.split()
            by_key.setdefault(key, set()).add(order)
        expect(all(len(o) == 1 for o in by_key.values()), "killed: a key of two lines", by_key)
        expect(len(by_key) == orders, "killed: orders under two keys", len(by_key))


def repeatable():
    """With a seed, Results do not depend on threads and order."""
    ids = flow("ids", {"a": {"action": "Return", "value": "{{ execution.id }}"}})
    outs = {run(ids, "--each", "--quiet", "--seed", "3", "-j", str(j), text=lines(range(500)))[0] for j in (1, 3)}
    expect(len(outs) == 1, "seed: ids differ")
    expect(len({r["value"] for r in results(outs.pop())}) == 500, "ids are not different")
    out, _ = run(ids, "--each", "--quiet", "--id", "job", text="1\n2\n")
    expect([r["value"] for r in results(out)] == ["job-1", "job-2"], "--id:", out)
    args = flow("args", {"a": {"action": "Return", "value": "{{ vars.x }}"}},
                parameters={"type": "object", "properties": {"x": {}}})
    out, err = run(args, "--each", "--quiet", "--arg", "x=[7]", "-j", "2", text="1\n2\n")
    expect([r["value"] for r in results(out)] == [[7], [7]], "--arg:", out, err)


def never():
    """Under virtual time, a run for which nothing can come ends with a failure that says so; the others are not changed."""
    ask = "mwl:provider.call/acme/ask/v1"
    asks = flow("asks", {"a": {"action": "Call", "call": {"provider": ask}, "next": "z"}})
    path = os.path.join(FOLDER, "answers.json")
    with open(path, "w") as f:
        json.dump({"a": [{"input": 2, "value": "two", "delay": "PT1H"}, {"never": True}]}, f)
    for words in ((), ("-j", "1", "--concurrency", "1"), ("-j", "2", "--concurrency", "3")):
        out, _ = run(asks, "--each", "--quiet", "--virtual-time", "--bind", f"{ask}={path}", *words, text=lines([1, 2, 3] * 5), status=1)
        ends = [r.get("code", r.get("value")) for r in results(out)]
        expect(ends == ["Mwlvm.NeverEnds", "two", "Mwlvm.NeverEnds"] * 5, "never:", words, ends)


TESTS = (order, files, bad_lines, codes, fail_fast, in_flight, streaming, memory, from_files, spread, slow_head, broken_pipe, signals,
         unread, interrupt_file, repeatable, notes, full_disk, stopped_line, from_a_line, killed, never)
start, figures = time.time(), []
chosen = [test for test in TESTS if len(sys.argv) <= 3 or test.__name__ in sys.argv[3:]]
for test in chosen:
    began = time.time()
    test()
    if time.time() - began > 3:
        print(f"{test.__name__}: {time.time() - began:.1f} s")
for line in failures[:20]:
    print("FAIL", line)
print(f"{len(chosen)} tests in {time.time() - start:.1f} s, {len(failures)} failures" + "".join("; " + f for f in figures))
sys.exit(1 if failures else 0)
