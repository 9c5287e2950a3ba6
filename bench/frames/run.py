#!/usr/bin/env python3
"""run.py FOLDER [--rounds N] [--actors N] [--frames N] [--check] [--write]: scripts at 60 frames a second, beside Lua.

FOLDER has the three hosts of one game (game.h): frames_mwl, and frames_lua and frames_lua_c where Lua's headers were
found when they were built. They run in turn; each does exactly the same work, which is checked. What counts is the
processor time of a frame's scripts: the median of all frames, of that the median over the rounds. Prints a table and
returns 1 if mwlvm takes more than 1.5 times what coroutines of Lua take. --check looks at the work only, with few
actors; --write writes FIGURES.md.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTS = ["mwl", "lua", "lua_c"]
LIMIT = 1.5
WORK = ["looks", "walks", "arrived", "gaveUp"]


def measure(folder, hosts, args):
    rows = {host: [] for host in hosts}
    for _ in range(args.rounds):
        for host in hosts:
            line = subprocess.run([f"{folder}/frames_{host}", HERE, str(args.actors), str(args.frames)],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            rows[host].append(json.loads(line))
    work = {tuple(row[name] for name in WORK) for row in sum(rows.values(), [])}
    if len(work) != 1:
        sys.exit(f"the hosts did not do the same work ({', '.join(WORK)}): {sorted(work)}")
    if min(work.pop()) == 0:
        sys.exit("no script did anything")
    return rows


def table(rows, args):
    def middle(host, name):
        return statistics.median(row[name] for row in rows[host])

    first = rows["mwl"][0]
    seconds = (args.frames + 120) / 60
    lines = [f"{args.actors:,} scripts, {args.frames} frames, {(first['looks'] + first['walks']) / seconds / 60:.0f} calls of the "
             f"game a frame; median of {args.rounds} rounds.", "",
             "| host | median of a frame | 99 % | longest | beside mwlvm | memory of a script |",
             "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for host in rows:
        lines.append(f"| {rows[host][0]['host']} | {middle(host, 'medianUs') / 1000:.2f} ms | "
                     f"{middle(host, 'p99Us') / 1000:.2f} ms | {middle(host, 'maxUs') / 1000:.2f} ms | "
                     f"{middle(host, 'medianUs') / middle('mwl', 'medianUs'):.2f} | {middle(host, 'bytesPerActor'):.0f} B |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--actors", type=int, default=10000)
    parser.add_argument("--frames", type=int, default=900)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.check:
        args.rounds, args.actors, args.frames = 1, 300, 120
    hosts = [host for host in HOSTS if os.access(f"{args.folder}/frames_{host}", os.X_OK)]
    rows = measure(args.folder, hosts, args)
    if args.check:
        print(f"{len(hosts)} hosts did the same work")
        return 0
    lines = table(rows, args)
    print("\n".join(lines))
    if "lua" not in rows:
        sys.exit("no Lua to compare with (the package liblua5.4-dev)")
    own, ratio, floor = (statistics.median(row["medianUs"] for row in rows[host]) for host in HOSTS)
    ratio, floor = own / ratio, own / floor
    print(f"\nmwlvm takes {ratio:.2f} times what Lua's coroutines take, {floor:.2f} times with the scheduler in C")
    if args.write:
        with open(os.path.join(HERE, "FIGURES.md"), "w") as f:
            f.write("# Scripts at 60 frames a second\n\nWritten by `tools/dev bench --frames --write`; do not edit. README.md says "
                    "what is measured.\n\n" + f"{time.strftime('%F', time.gmtime())}, load {os.getloadavg()[0]:.1f} on "
                    f"{os.cpu_count()} cores. " + "\n".join(lines) + "\n")
    return ratio > LIMIT


if __name__ == "__main__":
    sys.exit(main())
