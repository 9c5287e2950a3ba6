#!/usr/bin/env python3
"""each.py MWLVM MWL_BENCH [PAIRS]: what `run --each` costs beside the machine itself, and what a second thread brings.

The cost is counted in instructions (callgrind), so it can be measured on a machine that others use: the
command with N and with 3 N lines of minimal runs, the difference over 2 N lines. It contains reading,
parsing, running and writing. wf/a_min of the same build is the machine alone.

Two threads (-j 2) are compared with one (-j 1) by four measures, each the median of several rounds, because a machine
that is shared runs now quicker, now slower. All of a round meet the machine in the same seconds.

- The processor time of the busiest thread: the least time by the clock that a machine with idle processors needs. Where
  other processes take more from one processor than from the other, the threads share the lines unevenly, so on a shared
  machine it is mostly too small. It does not see threads that wait for each other.
- The time of the threads on a processor and asleep, without that in which they were ready and other processes had the
  processor (/proc/PID/task/TID/schedstat): the mean of both. It sees locks, a thread that waits for another, and one
  that ends early. It also contains that a thread waits for a lock whose owner has no processor.
- The time by the clock. On an idle machine it is the same as the second; on a shared one it is what the others leave.
- Two processes with one thread each and half of the lines, at the same time, by the clock: what the machine gives at
  that moment to those that share nothing.

Status 1 when a line costs more than 4 times a run, or two threads are less than 1.8 times as fast by the first measure.
The others are shown: with other processes on the machine they also measure those, two processes by the clock between
1.4 and 2.5 times one.
"""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

MWLVM, BENCH = (os.path.abspath(w) for w in sys.argv[1:3])
PAIRS = int(sys.argv[3]) if len(sys.argv) > 3 else 9
COST, SPEED = 4.0, 1.8
LINES = 10000       # under callgrind
MANY = 3000000      # for threads
FLOW = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "s0",
        "steps": {"s0": {"action": "Pass", "next": "done"}, "done": {"action": "Return"}}}
LINE = '{"n":1,"s":"granule-0001"}\n'


def write_lines(folder, n):
    path = os.path.join(folder, f"in{n}")
    with open(path, "w") as f:
        f.write(LINE * n)
    return path


def command(folder, path, jobs):
    return [MWLVM, "run", f"{folder}/flow.json", "--each", path, "-j", str(jobs), "--quiet"]


def instructions(folder, n):
    got = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                          *command(folder, write_lines(folder, n), 1)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"refs: +([\d,]+)", got.stderr).group(1).replace(",", ""))


def look(pid, seen):
    """Notes for each thread its first and its last state: the time, and its seconds on a processor and ready for one."""
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as f:
                ran, ready = (int(n) / 1e9 for n in f.read().split()[:2])
            state = (time.monotonic(), ran, ready)
            seen[path] = (seen[path][0] if path in seen else state, state)
        except OSError:
            pass


def threads(folder, path, jobs):
    """Seconds by the clock, processor seconds of the busiest thread, and the mean of seconds on a processor and asleep."""
    start = time.monotonic()
    p = subprocess.Popen(command(folder, path, jobs), stdout=subprocess.DEVNULL)
    seen = {}
    while p.poll() is None:
        look(p.pid, seen)
        time.sleep(0.005)
    clock = time.monotonic() - start
    workers = sorted(seen.values(), key=lambda states: -states[1][1])[:jobs]
    end = max(last[0] for _, last in workers)
    return clock, workers[0][1][1], statistics.mean(end - first[0] - (last[2] - first[2]) for first, last in workers)


def processes(folder, path, n):
    """Seconds by the clock until all have ended."""
    start = time.monotonic()
    for p in [subprocess.Popen(command(folder, path, 1), stdout=subprocess.DEVNULL) for _ in range(n)]:
        p.wait()
    return time.monotonic() - start


def show(name, ratios, least=None):
    print(f"{name:<24}{statistics.median(ratios):8.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})" +
          (f"; at least {least}" if least else ""))


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "flow.json"), "w") as f:
        json.dump(FLOW, f)
    line = (instructions(folder, 3 * LINES) - instructions(folder, LINES)) / (2 * LINES)
    shown = subprocess.run([BENCH, "--instructions", "wf/a_min"], capture_output=True, text=True, check=True).stdout
    alone = float(re.search(r"wf/a_min +([\d.]+)", shown).group(1))
    whole, half = write_lines(folder, MANY), write_lines(folder, MANY // 2)
    one, busiest, ready, clock, apart = [], [], [], [], []
    for _ in range(PAIRS):
        first, second = threads(folder, whole, 1), threads(folder, whole, 2)
        one.append(first[1])
        for ratios, a, b in zip((clock, busiest, ready), first, second):
            ratios.append(a / b)
        apart.append(first[0] / processes(folder, half, 2))
    cost = line / alone
print(f"a line of run --each    {line:8.0f} instructions")
print(f"wf/a_min                {alone:8.0f} instructions")
print(f"cost                    {cost:8.2f} times the machine's own; at most {COST}")
print(f"one thread              {min(one) / MANY * 1e9:8.0f} ns of processor time a line")
show("two, busiest thread", busiest, SPEED)
show("two, run and asleep", ready)
show("two, by the clock", clock)
show("two processes, clock", apart)
sys.exit(0 if cost <= COST and statistics.median(busiest) >= SPEED else 1)
