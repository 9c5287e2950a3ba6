#!/usr/bin/env python3
"""crash.py MWL_CRASH [--all]: durable runs on a file system that ends at every write, sync, truncate and delete: the process
dies; power is lost and what was not synced is dropped, kept or torn; the disk is full; an operation fails. After each end
the runs go on, and the checker looks at what was seen. Without --all, some of the operations, spread evenly."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "durable"))
import checker  # noqa: E402

CRASH = os.path.abspath(sys.argv[1])
ALL = "--all" in sys.argv
MODES = {"exit": 16, "dropped": 22, "kept": 8, "torn": 22, "full": 12, "error": 16, "read": 16}  # how many in the short form
EFFECTS = ["one", "left", "right", "last"]
FAILING = ("full", "error", "read")  # the process lives, and tries again
ENDED = 42


def run(*words):
    return subprocess.run([CRASH, *map(str, words)], capture_output=True, text=True, timeout=250)


def fresh():
    for name in os.listdir("."):
        os.unlink(name)


def violations(mode, at):
    """One history: the workload ends or fails at an operation, twice; then it goes on undisturbed."""
    fresh()
    first = run(mode, at, at)
    wanted = (0,) if mode in FAILING else (ENDED, 0)
    if first.returncode not in wanted:
        return [f"status {first.returncode}: {first.stderr}"]
    if mode not in FAILING:
        second = run(mode, 1 + at // 3, at + 1)  # a crash in the recovery
        if second.returncode not in (ENDED, 0):
            return [f"after the crash: status {second.returncode}: {second.stderr}"]
    last = run("count", 0, 0)
    if last.returncode != 0:
        return [f"at the end: status {last.returncode}: {last.stderr}"]
    return checker.check(checker.Sqlite("runs.db"), "history", EFFECTS)


def main():
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    bad = n = 0
    try:
        os.chdir(folder)
        whole = run("count", 0, 0)
        if whole.returncode != 0:
            print(whole.stderr)
            return 1
        operations = int(whole.stdout)
        fresh()
        reads = int(run("read", 0, 0).stdout)
        for mode, few in MODES.items():
            most = reads if mode == "read" else operations
            step = 1 if ALL else max(1, most // few)
            for at in range(1, most + 1, step):
                wrong = violations(mode, at)
                n += 1
                if wrong:
                    print(f"{mode} at {at}:", *wrong[:5], sep="\n  ")
                    bad += 1
                if bad >= 5:
                    return 1
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print(f"{operations} operations and {reads} reads, {n} histories, {bad} violations")
    return 1 if bad else 0


sys.exit(main())
