#!/usr/bin/env python3
"""each.py MWLVM MWL_BENCH: what `run --each` costs beside the machine itself, and what a second thread brings.

The cost is counted in instructions (callgrind), so it can be measured on a machine that others use: the
command with N and with 3 N lines of minimal runs, the difference over 2 N lines. It contains reading,
parsing, running and writing. wf/a_min of the same build is the machine alone.

Two threads are compared by processor time: that of the busiest thread of one process (-j 1), over that of the busiest
thread of the other (-j 2). On an idle machine with two processors that is how much sooner they are done. It is the median of several
pairs: a machine that is shared runs now quicker, now slower.

The time by the clock is shown beside it: it is the same on an idle machine, and smaller on a shared one.

Status 1 when a line costs more than 4 times a run, or two threads are less than 1.8 times as fast.
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
COST, SPEED = 4.0, 1.8
LINES = 10000       # under callgrind
MANY = 1500000      # for threads
PAIRS = 9
FLOW = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "s0",
        "steps": {"s0": {"action": "Pass", "next": "done"}, "done": {"action": "Return"}}}
LINE = '{"n":1,"s":"granule-0001"}\n'


def instructions(folder, n):
    with open(os.path.join(folder, "in"), "w") as f:
        f.write(LINE * n)
    got = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", MWLVM, "run",
                          f"{folder}/flow.json", "--each", f"{folder}/in", "-j", "1", "--quiet"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"refs: +([\d,]+)", got.stderr).group(1).replace(",", ""))


def thread_times(pid):
    times = {}
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as f:
                times[path] = int(f.read().split()[0]) / 1e9
        except OSError:
            pass
    return times


def threads(folder, jobs):
    """Processor seconds of each thread, busiest first, and seconds by the clock."""
    began = time.monotonic()
    with open(os.path.join(folder, "in")) as f:
        p = subprocess.Popen([MWLVM, "run", f"{folder}/flow.json", "--each", f"{folder}/in", "-j", str(jobs), "--quiet"],
                             stdin=f, stdout=subprocess.DEVNULL)
    best = {}
    while p.poll() is None:
        best.update(thread_times(p.pid))
        time.sleep(0.005)
    return sorted(best.values(), reverse=True), time.monotonic() - began


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "flow.json"), "w") as f:
        json.dump(FLOW, f)
    line = (instructions(folder, 3 * LINES) - instructions(folder, LINES)) / (2 * LINES)
    shown = subprocess.run([BENCH, "--instructions", "wf/a_min"], capture_output=True, text=True, check=True).stdout
    alone = float(re.search(r"wf/a_min +([\d.]+)", shown).group(1))
    with open(os.path.join(folder, "in"), "w") as f:
        f.write(LINE * MANY)
    one, ratios, clock = [], [], []
    for _ in range(PAIRS):  # one after the other, so that both meet the machine in the same state
        alone_times, alone_clock = threads(folder, 1)
        both_times, both_clock = threads(folder, 2)
        one.append(alone_times[0])
        ratios.append(alone_times[0] / both_times[0])
        clock.append(alone_clock / both_clock)
    cost, speed = line / alone, statistics.median(ratios)
print(f"a line of run --each    {line:8.0f} instructions")
print(f"wf/a_min                {alone:8.0f} instructions")
print(f"cost                    {cost:8.2f} times the machine's own; at most {COST}")
print(f"one thread              {min(one) / MANY * 1e9:8.0f} ns of processor time a line")
print(f"two threads             {speed:8.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f}); at least {SPEED}")
print(f"by the clock            {statistics.median(clock):8.2f} times as fast ({min(clock):.2f} to {max(clock):.2f})")
sys.exit(0 if cost <= COST and speed >= SPEED else 1)
