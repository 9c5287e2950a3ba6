"""compare.py [--first SEED] [--count N] [--batch PROGRAM] [--keep FOLDER]: random programs through the VM and
the model; the Results (with and without a trace listener) and the Steps entered must agree. A disagreement is
shrunk, printed and saved."""
import argparse
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(20000)

import cel  # noqa: E402
import generate  # noqa: E402
import model  # noqa: E402
import shrink  # noqa: E402
from values import TooLarge, Unsure, same  # noqa: E402


class Machine:
    """The VM's side: one process that answers line by line."""

    def __init__(self, path):
        self.path, self.process = path, None

    def run(self, job):
        if self.process is None:
            self.process = subprocess.Popen(self.path.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            status = self.process.wait()
            self.process = None
            return {"broken": f"mwl-batch died, status {status}"}
        return json.loads(line)


def disagreement(machine, job):
    """None, "tie", "limit", "rejected", or in words where the two part. The VM runs with a trace listener,
    which reports the Steps, and without one, because then it takes shorter ways."""
    answer, quiet = machine.run(job), machine.run({**job, "listen": False})
    if "rejected" in answer:
        return "rejected"
    for one in (answer, quiet):
        if "broken" in one:
            return "the VM: " + one["broken"]
    try:
        result, events, tie = model.run(job["definition"], job.get("input"), job.get("arguments"),
                                        job.get("cancelAfter"), limit=8000)
    except cel.Unsupported as e:
        return f"unsupported: {e}"
    except Unsure:
        return "tie"
    except TooLarge:
        limited = all((one["result"].get("details") or {}).get("limit") in ("size", "fuel")
                      for one in (answer, quiet))
        return "limit" if limited else "the VM: no limit for what is too large for the model"
    if tie:
        return "tie"
    return same(result, answer["result"]) \
        or same(result, quiet["result"], "result without a listener") \
        or same([list(e) for e in sorted(map(tuple, events))], sorted(answer["events"]), "events")


def save(folder, seed, job, where):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"seed-{seed}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(job, f, indent=2)
    print(f"seed {seed}: {where}\n  saved as {path}")
    print(json.dumps(job, indent=1))


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--first", type=int, default=1)
    args.add_argument("--count", type=int, default=1000)
    args.add_argument("--batch", default="build/mwl-batch")
    args.add_argument("--keep", default="build/disagreements")
    args.add_argument("--most", type=int, default=5, help="stop after so many disagreements")
    args.add_argument("--no-shrink", action="store_true")
    args = args.parse_args()
    machine, began = Machine(args.batch), time.time()
    counts = {"agreed": 0, "tie": 0, "limit": 0, "rejected": 0, "disagreed": 0}
    for seed in range(args.first, args.first + args.count):
        job = generate.program(seed)
        where = disagreement(machine, job)
        done = seed - args.first + 1
        if done % 10000 == 0:
            print(f"{done} programs, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
        if where is None or where in counts:
            counts[where or "agreed"] += 1
            if where == "rejected":
                print(f"seed {seed}: rejected: {machine.run(job)['rejected'][:600]}")
            continue
        counts["disagreed"] += 1
        if not args.no_shrink:
            job = shrink.smaller(job, lambda j: sort_of(disagreement(machine, j)) == sort_of(where))
            where = disagreement(machine, job)
        save(args.keep, seed, job, where)
        if counts["disagreed"] >= args.most:
            break
    print(", ".join(f"{n} {word}" for word, n in counts.items()) + f", {time.time() - began:.1f} s")
    ok = counts["disagreed"] == 0 and counts["rejected"] == 0
    print(f"{counts['agreed'] + counts['tie'] + counts['limit']} passed, {counts['disagreed'] + counts['rejected']} failed, 0 skipped")
    return 0 if ok else 1


def sort_of(where):
    """What kind of disagreement it is: shrinking must not turn one into another."""
    if where is None or where in ("tie", "limit", "rejected") or where.startswith(("the VM", "unsupported")):
        return where
    return where.split(":")[0][:6]  # the Result or the events


if __name__ == "__main__":
    sys.exit(main())
