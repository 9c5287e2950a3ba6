#!/usr/bin/env python3
"""fleet.py MWLVM TEST_STORE [FAULTS]: durable runs on PostgreSQL. A server is started as an ordinary user in a temporary
folder, on a unix socket. On it: what every store must do (TEST_STORE), the commands, the examples of the pages, and a
fleet whose workers are killed or stopped for longer than their lease, whose connections are lost, whose backends and whose
postmaster are killed; then the checker.

Exits with 77 (skipped) where the server is not installed."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checker  # noqa: E402
import postgres  # noqa: E402
from workload import effects, flow, note, turns  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MWLVM = os.path.abspath(sys.argv[1])
TEST_STORE = os.path.abspath(sys.argv[2])
FAULTS = int(sys.argv[3]) if len(sys.argv) > 3 else 0  # 0: the short form
RUNS, BLOCKS, WORKERS, LEASE = 6 if FAULTS else 3, 2, 3, 0.6
SCRIPT = """#!/bin/sh
known=$('{mwlvm}' show --store '{uri}' "$1" 2>&1 | sed -n 's/^ *waits for call \\([0-9]*\\).*/\\1/p' | tail -n 1)
printf 'effect %s %s %s %s\\nknown %s %s %s\\n' "$1" "$MWLVM_CALL_KEY" "$MWLVM_CALL_ATTEMPT" "$2" \
"$1" "$MWLVM_CALL_KEY" "$known" >>history
"""


def command(*words, **more):
    return subprocess.run([MWLVM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


def until(true, what):
    deadline = time.monotonic() + 250
    while not (got := true()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return got


# ---- the commands -------------------------------------------------------------------------------------------------------


class Commands:
    """Each of them with --store."""

    def __init__(self, server):
        self.server = server
        server.sql("drop schema if exists mwlvm cascade")
        self.write("ask.json", {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/answer/v1",
                                                                 "with": {"name": "ok"}}, "next": "end"}})
        self.write("slow.json", {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/exec/v1",
                                                                  "with": {"argv": ["sleep", "1000"]}}, "next": "end"}})
        self.write("plain.json", {"a": {"action": "Pass", "next": "end"}})

    @staticmethod
    def write(name, steps):
        with open(name, "w") as f:
            json.dump({"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a",
                       "steps": {**steps, "end": {"action": "Return"}}}, f)

    def on(self, name, *words, status=0):
        got = command(name, "--store", self.server.uri, *words, timeout=250)
        assert got.returncode == status, (name, words, got.returncode, got.stdout, got.stderr)
        return got.stdout if status == 0 else got.stderr

    def states(self):
        return {row["run"]: row["state"] for row in map(json.loads, self.on("ps", "--all", "--json").splitlines())}

    def worker(self, *words):
        return subprocess.Popen([MWLVM, "worker", "--store", self.server.uri, *words], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_asking(self):
        assert "no store of runs" in self.on("ps", status=2)
        assert self.on("run", "plain.json", "--id", "p") == "null\n"
        assert self.on("run", "plain.json", "--id", "p") == "null\n"  # the same run
        self.on("run", "ask.json", "--id", "a", "--detach")
        self.on("run", "ask.json", "--id", "c", "--detach")
        self.on("answer", "a", "ok", "[1]", "--key", "k")
        assert "answered already" in self.on("answer", "a", "ok", "[2]", "--key", "k", status=1)
        self.on("cancel", "c")
        assert self.on("resume", "a") == "[1]\n"
        self.on("resume", "--all", status=1)  # one was cancelled
        assert self.states() == {"p": "done", "a": "done", "c": "failed"}, self.states()
        kinds = [json.loads(line)["kind"] for line in self.on("logs", "a", "--json").splitlines()]
        assert kinds == ["accepted", "step", "call", "answered", "step", "done"], kinds
        assert "is done since" in self.on("show", "a")
        assert "pg_dump" in self.on("backup", "copy.db", status=2)
        assert self.on("prune", "--keep", "PT0S", "--keep-failed", "PT0S") == "3 removed\n"
        assert "no run 'x'" in self.on("answer", "x", "ok", "1", status=1)
        assert "-j needs a number" in self.on("worker", "-j", "0", status=2)
        wrong = self.server.uri.replace("/postgres?", "/nothing?")
        got = command("worker", "--store", wrong, "-j", "3", timeout=250)  # it ends, with all of its threads
        assert got.returncode == 2 and 'database "nothing" does not exist' in got.stderr, got

    def check_draining(self):
        """A run that another worker has; one whose call is at work goes back when its worker is asked to end."""
        self.on("run", "slow.json", "--id", "s", "--detach", "--allow-exec")
        self.on("run", "ask.json", "--id", "w", "--detach")
        first = self.worker("--allow-exec", "--drain", "PT0.1S", "-j", "2")
        until(lambda: self.states().get("s") == "live" and self.states().get("w") == "waiting", "no worker has them")
        shown = subprocess.Popen([MWLVM, "run", "ask.json", "--store", self.server.uri, "--id", "w"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.on("answer", "w", "ok", '"by another"')
        assert shown.communicate(timeout=250)[0] == '"by another"\n'
        first.send_signal(signal.SIGTERM)
        _, error = first.communicate(timeout=250)
        assert first.returncode == 0 and "go back to the store" in error, (first.returncode, error)
        assert self.states()["s"] == "waiting", self.states()
        assert not self.server.sql("select 1 from mwlvm.worker")
        refused = self.worker("--until-idle")  # without --allow-exec
        out, error = refused.communicate(timeout=250)
        assert '"state":"stuck"' in out and "--allow-exec" in error, (out, error)
        self.on("cancel", "s")
        assert self.states()["s"] == "aborted"

    def check_end_beside_message(self):
        """Somebody leaves a message in the moment in which the run ends: the end waits for it, and takes it along."""
        self.write("until.json", {"a": {"action": "Call", "call": {
            "provider": "mwl:provider.call/mwlvm/exec/v1",
            "with": {"argv": ["sh", "-c", "until test -e go-on; do sleep 0.05; done"]}}, "next": "end"}})
        self.on("run", "until.json", "--id", "e", "--detach", "--allow-exec")
        worker = self.worker("--allow-exec", "--quiet", "--until-idle")
        until(lambda: self.states()["e"] == "live", "no worker has it")
        other = subprocess.Popen(["psql", self.server.uri, "-XAt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        other.stdin.write("begin; select seq from mwlvm.run where id = 'e' for update;\n"
                          "insert into mwlvm.inbox(run, n, kind, name, body, at_ns) select seq, last_message + 1, 0, 'x', '1', 0 "
                          "from mwlvm.run where id = 'e';\n"
                          "update mwlvm.run set last_message = last_message + 1 where id = 'e';\n")
        other.stdin.flush()
        waiting = "select 1 from pg_stat_activity where application_name = 'mwlvm' and wait_event_type = 'Lock'"
        until(lambda: self.server.sql("select 1 from pg_locks where locktype = 'transactionid'"), "the other has no lock")
        open("go-on", "w").close()
        until(lambda: self.server.sql(waiting), "the end does not wait")
        other.communicate("commit;\n", timeout=250)
        worker.communicate(timeout=250)
        assert self.states()["e"] == "done", self.states()
        assert not self.server.sql("select 1 from mwlvm.inbox"), "a run that is over has messages"

    def check_full_disk(self):
        """The server refuses every save, as with a full disk: nothing is sent, and nothing is lost."""
        self.write("two.json", {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/exec/v1", "with": {
            "argv": ["sh", "-c", "echo $MWLVM_CALL_KEY >>seen"]}}, "next": "end"}})
        self.on("run", "two.json", "--id", "f", "--detach", "--allow-exec")
        self.server.sql("create function mwlvm.full() returns trigger language plpgsql as $$ begin raise exception 'could not "
                        "extend file: No space left on device' using errcode = '53100'; end $$; create trigger full_disk before "
                        "update on mwlvm.run for each row when (new.version > old.version) execute function mwlvm.full()")
        worker = self.worker("--allow-exec", "--quiet", "--until-idle")
        line = worker.stderr.readline()
        assert "No space left on device" in line and "nothing is lost" in line, line
        time.sleep(0.3)
        assert not os.path.exists("seen"), "an effect that no snapshot knows of"
        self.server.sql("drop trigger full_disk on mwlvm.run")
        _, error = worker.communicate(timeout=250)
        assert worker.returncode == 0 and "accepts changes again" in error, error
        with open("seen") as f:
            assert f.read() == "f.1\n"
        assert self.states()["f"] == "done", self.states()

    def check_waits_at_the_start(self):
        """A worker that is started before its database waits for it, and says so once."""
        self.on("run", "plain.json", "--id", "early", "--detach")
        self.server.kill()
        worker = self.worker("--until-idle")
        line = worker.stderr.readline()
        assert "waiting for the database" in line, line
        self.server.start()
        out, error = worker.communicate(timeout=250)
        assert worker.returncode == 0 and '"early"' in out and "the database is there" in error, (out, error)
        self.server.kill()
        worker = self.worker()
        worker.stderr.readline()
        worker.terminate()
        assert worker.wait(timeout=250) in (2, -signal.SIGTERM), worker.returncode
        worker.communicate()
        self.server.start()

    def check_conflicts(self):
        """Transactions that are in each other's way are repeated: the caller does not notice."""
        self.server.sql("create sequence mwlvm.conflicts; create function mwlvm.conflict() returns trigger language plpgsql as "
                        "$$ begin if nextval('mwlvm.conflicts') % 3 <> 0 then raise exception 'in the way' using errcode = case "
                        "when lastval() % 2 = 0 then '40001' else '40P01' end; end if; return new; end $$; create trigger "
                        "conflict before insert on mwlvm.run for each row execute function mwlvm.conflict(); create trigger "
                        "conflict before insert on mwlvm.inbox for each row execute function mwlvm.conflict()")
        self.on("run", "ask.json", "--id", "in-the-way", "--detach")
        self.on("answer", "in-the-way", "ok", "1")
        self.server.sql("drop trigger conflict on mwlvm.run; drop trigger conflict on mwlvm.inbox")
        assert self.on("resume", "in-the-way") == "1\n"

    def check_clock(self):
        """The database's clock decides: a machine whose clock is 9 days ahead ends no Sleep early, not even of a run that it
        takes over, and removes no run that is minutes old."""
        with open("ahead.c", "w") as f:
            f.write("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\n"
                    "int clock_gettime(clockid_t id, struct timespec *t) {\n"
                    "    static int (*real)(clockid_t, struct timespec *);\n"
                    "    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, \"clock_gettime\");\n"
                    "    int got = real(id, t);\n    if (id == CLOCK_REALTIME) t->tv_sec += 9 * 86400;\n    return got;\n}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "ahead.so", "ahead.c", "-ldl"], check=True)
        ahead = {**os.environ, "LD_PRELOAD": os.path.abspath("ahead.so")}
        self.write("long.json", {"a": {"action": "Sleep", "for": "PT30M", "next": "end"}})
        self.write("nap.json", {"a": {"action": "Sleep", "for": "PT50S", "next": "end"}})
        self.on("run", "plain.json", "--id", "young")
        for run in ("long", "nap"):
            self.on("run", run + ".json", "--id", run, "--detach")
        first = self.worker("--quiet", "--lease", "PT0.3S")
        until(lambda: self.states()["long"] == "waiting" and self.states()["nap"] == "live", "no worker has them")
        owner = "select owner from mwlvm.run where id = 'nap' and version > 0"
        before = until(lambda: self.server.sql(owner), "it is not saved")
        first.kill()
        first.communicate()
        worker = subprocess.Popen([MWLVM, "worker", "--store", self.server.uri, "--keep", "P7D", "--keep-failed", "P7D"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ahead)
        line = worker.stderr.readline()
        assert "clock of this machine is 777600.0 s ahead of that of the database" in line, line
        until(lambda: self.server.sql(owner) != before, "nobody takes it over")
        got = subprocess.run([MWLVM, "prune", "--store", self.server.uri, "--keep", "P7D", "--keep-failed", "P7D"], env=ahead,
                             capture_output=True, text=True)
        assert got.stdout == "0 removed\n", got
        time.sleep(0.5)
        states = self.states()
        worker.terminate()
        worker.communicate(timeout=250)
        assert (states["young"], states["long"], states["nap"]) == ("done", "waiting", "live"), states
        for run in ("long", "nap"):
            self.on("cancel", run)

    def check_standby(self):
        """The server waits for a standby that does not come. If that wait is given up, the outcome is not known: nothing is
        acknowledged. When the standby is there, all is."""
        def standby(name):
            self.server.sql(f"alter system set synchronous_standby_names = '{name}'")
            self.server.sql("select pg_reload_conf()")
            until(lambda: self.server.sql("show synchronous_standby_names") == [[name or ""]] or not name, "no reload")
        waiting = "select pid from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'mwlvm'"
        standby("nobody")
        start = subprocess.Popen([MWLVM, "run", "plain.json", "--store", self.server.uri, "--id", "unsafe", "--detach"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while start.poll() is None:  # each of its commits
            self.server.sql("select pg_cancel_backend(pid) from (" + waiting + ") x")
            time.sleep(0.02)
        out, error = start.communicate()
        standby("")
        assert start.returncode != 0 and "unsafe" not in out and "outcome is not known" in error, (start.returncode, out, error)

    def check_refused(self):
        """A change that the database refuses for what it is makes its run stuck; nobody waits for it. What it refuses for
        now is repeated."""
        refused, later = ["22001", "54000", "23514"], ["40001", "40P01", "53100", "57014"]
        self.server.sql("create sequence mwlvm.tries; create function mwlvm.no() returns trigger language plpgsql as $$ begin "
                        "if new.id like 'now%' or nextval('mwlvm.tries') < 6 then raise exception 'not this one' using "
                        "errcode = substr(new.id, 4); end if; return new; end $$; create trigger no before update on mwlvm.run "
                        "for each row when (new.version > old.version and new.state <> 6 and new.id ~ '^(now|old)') execute "
                        "function mwlvm.no()")
        for run in [*("now" + code for code in refused), *("old" + code for code in later), "good"]:
            self.on("run", "plain.json", "--id", run, "--detach")
        got = self.on("worker", "--quiet", "--until-idle")
        self.server.sql("drop trigger no on mwlvm.run")
        states = self.states()
        assert all(states["now" + code] == "stuck" for code in refused), states
        assert all(states["old" + code] == "done" for code in later), states
        assert states["good"] == "done", states
        assert "the store refused it: PostgreSQL: not this one" in self.on("show", "now22001"), got
        self.on("resume", "now22001")  # the reason is gone
        assert self.states()["now22001"] == "done"

    def check_transitions(self):
        """A transition waits for its commit and not for a poll, in a worker and in a command. The best of three."""
        self.write("turns.json", turns(100))
        worker = self.worker("--quiet")
        took = []
        while len(took) < 3 and min(took, default=1) >= 1:
            run = f"t{len(took)}"
            self.on("run", "turns.json", "--id", run, "--detach")
            until(lambda: self.states()[run] == "done", "it does not end")
            took += self.times(run)
        worker.terminate()
        worker.communicate(timeout=250)
        assert min(took) < 1, took
        alone = []
        while len(alone) < 3 and min(alone, default=1) >= 1:
            began = time.monotonic()
            self.on("run", "turns.json", "--id", f"alone{len(alone)}")
            alone.append(time.monotonic() - began)
        assert min(alone) < 1, alone

    def times(self, run):
        """The seconds from its first Step to its end."""
        rows = self.server.sql("select (max(at_ns) - min(at_ns)) / 1e9, max(r.version) from mwlvm.event e join mwlvm.run r on "
                               f"r.seq = e.run where r.id = '{run}' and kind <> 'accepted'")
        assert int(rows[0][1]) > 99, rows
        return [float(rows[0][0])]

    def check_keeping(self):
        """A worker removes what is over for long; `prune` does the same once."""
        self.on("run", "plain.json", "--id", "k")
        self.on("run", "ask.json", "--id", "l", "--detach")
        worker = self.worker("--keep", "PT0S", "--keep-failed", "PT0S")
        until(lambda: "k" not in self.states(), "it is not removed")
        assert "l" in self.states(), "it is not over"
        worker.terminate()
        worker.communicate(timeout=250)
        assert "needs --keep" in self.on("worker", "--keep-failed", "PT1S", status=2)

    def check_idle(self):
        """A worker that has nothing to do asks less and less often, but not seldom, however long its lease is."""
        self.server.sql("alter database postgres set log_statement = 'all'")
        worker = self.worker("--quiet", "--lease", "PT1H")
        until(lambda: self.server.sql("select 1 from mwlvm.worker"), "no worker")
        time.sleep(1)
        with open(self.server.log, "rb") as f:
            f.seek(0, os.SEEK_END)
            began = time.monotonic()
            time.sleep(1.5)
            asked = f.read().count(b"LOG:  execute mwl") / (time.monotonic() - began)
        worker.terminate()
        worker.communicate(timeout=250)
        self.server.sql("alter database postgres reset log_statement")
        assert 2 < asked < 25, f"{asked:.0f} statements a second of a worker without work"

    def check_takeover(self):
        """Of all runs of a worker, below five seconds; in the long form with the lease of every day, and many runs."""
        lease, runs = ("PT4S", 500) if FAULTS else ("PT0.5S", 30)
        self.write("nap.json", {"a": {"action": "Sleep", "for": "PT50S", "next": "end"}})  # they stay in memory
        self.on("run", "nap.json", "--id", "t0", "--detach")
        self.server.sql("insert into mwlvm.run(id, program, name, start, created_ns, updated_ns) select 't' || i, program, name, "
                        f"start, created_ns, updated_ns from mwlvm.run, generate_series(1, {runs - 1}) i where id = 't0'")
        workers = [self.worker("--quiet", "--lease", lease)]
        owned = "select owner, count(*) from mwlvm.run where id like 't%' and owner is not null and version > 0 group by 1"
        before = until(lambda: [row for row in self.server.sql(owned) if row[1] == str(runs)], "no worker has them")
        workers.append(self.worker("--quiet", "--lease", lease))
        until(lambda: self.server.sql("select count(*) from mwlvm.worker where lease_until > now()") == [["2"]], "no second one")
        workers[0].kill()
        began = time.monotonic()
        until(lambda: [r for r in self.server.sql(owned) if r[1] == str(runs) and r[0] != before[0][0]], "nobody takes them")
        took = time.monotonic() - began
        for worker in workers:
            worker.kill()
            worker.communicate()
        print(f"a worker was killed: another one had its {runs} runs after {took:.1f} s, with a lease of {lease}")
        assert took < 5, "takeover"


# ---- a fleet with faults ------------------------------------------------------------------------------------------------


class Fleet:
    def __init__(self, server, dice, n):
        self.server, self.dice = server, dice
        self.ids = [f"r{n}-{i}" for i in range(RUNS)]
        self.workers, self.stopped = [], []
        self.value = 0
        self.counts = {}

    def again(self, *words):
        """A command that may find no server: repeated until it has an answer. Returns that, and whether it was in doubt."""
        doubt = False
        while True:
            got = command(*words, timeout=250)
            if "PostgreSQL:" not in got.stderr:
                return got, doubt
            doubt = True
            time.sleep(0.05)

    def start(self):
        for run in self.ids:
            got, _ = self.again("run", "flow.json", "--store", self.server.uri, "--id", run, "--detach", "--allow-exec=./effect")
            assert got.returncode == 0, got.stderr
            note("start", run)

    def answer(self, rows):
        """Of one that is not over, if that is known."""
        run = self.dice.choice([run for run, _ in rows or []] or self.ids)
        self.value += 1
        got, doubt = self.again("answer", "--store", self.server.uri, run, "go", str(self.value), "--key", f"k{self.value}")
        if got.returncode == 0 and not doubt:
            note("answer", run, str(self.value))
        elif got.returncode == 0 or doubt:
            note("doubt", run, str(self.value))
        else:
            assert "already" in got.stderr or "is over" in got.stderr or "is stuck" in got.stderr, got.stderr

    def open(self):
        """Runs that are not over: [id, state]; None: the server cannot be asked."""
        try:
            return self.server.sql("select id, state from mwlvm.run where state not in (3, 4, 5) and id like "
                                   f"'{self.ids[0].split('-')[0]}-%'")
        except AssertionError:
            return None

    def hire(self):
        """Those that ended are replaced."""
        self.workers = [w for w in self.workers if w.poll() is None]
        while len(self.workers) < WORKERS:
            with open("shown", "a") as shown, open("errors", "a") as errors:
                self.workers.append(subprocess.Popen(
                    [MWLVM, "worker", "--store", self.server.uri, "--lease", f"PT{LEASE}S", "--drain", "PT1S", "-j", "2",
                     "--allow-exec=./effect"], stdin=subprocess.DEVNULL, stdout=shown, stderr=errors))
        now = time.monotonic()
        for worker, until_then in self.stopped:
            if now >= until_then and worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
        self.stopped = [pair for pair in self.stopped if now < pair[1]]

    # what happens

    def fault_kill_worker(self):
        self.dice.choice(self.workers).kill()

    def fault_drain_worker(self):
        self.dice.choice(self.workers).terminate()

    def fault_stop_worker(self):
        worker = self.dice.choice(self.workers)
        worker.send_signal(signal.SIGSTOP)
        self.stopped.append((worker, time.monotonic() + self.dice.uniform(1.2, 3) * LEASE))

    def fault_lose_connections(self):
        self.server.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mwlvm' and "
                        f"random() < 0.7 and {self.dice.randrange(100)} >= 0", check=False)

    def fault_kill_backend(self):
        """The server ends all others too, and recovers."""
        rows = self.server.sql("select pid from pg_stat_activity where application_name = 'mwlvm'", check=False)
        if rows:
            try:
                os.kill(int(self.dice.choice(rows)[0]), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def fault_kill_postmaster(self):
        self.server.kill()
        time.sleep(self.dice.uniform(0, 0.5))
        self.server.start()

    def happen(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1
        getattr(self, "fault_" + name)()

    def resume(self, run):
        try:
            self.again("resume", "--store", self.server.uri, run, "--quiet", "--allow-exec=./effect")
        except subprocess.TimeoutExpired:
            pass

    def run(self, faults):
        self.hire()
        deadline = time.monotonic() + 500
        while (rows := self.open()) is None or rows:
            assert time.monotonic() < deadline, ("the runs do not end", rows)
            self.hire()
            if faults:
                self.happen(faults.pop())
                time.sleep(self.dice.uniform(0.02, 0.25))
            else:
                time.sleep(0.05)
            for _, state in rows or []:
                if state == str(checker.STUCK):
                    raise AssertionError(f"stuck: {rows}")
            self.answer(rows)

    def end(self):
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
            worker.terminate()
        for worker in self.workers:
            worker.wait(timeout=250)


FAULT_NAMES = ["kill_worker", "kill_worker", "kill_worker", "drain_worker", "stop_worker", "stop_worker", "lose_connections",
               "lose_connections", "kill_backend", "kill_postmaster"]


def results():
    with open("shown") as f:
        for line in f:
            if line.startswith("{") and line.endswith("}\n") and line.count('{"run"') == 1:
                row = json.loads(line)
                if "result" in row:
                    note("result", row["run"], json.dumps(row["result"]))


def round_of(server, dice, n, faults):
    for name in ("history", "shown", "errors"):
        open(name, "w").close()
    server.sql("drop schema if exists mwlvm cascade")
    fleet = Fleet(server, dice, n)
    fleet.start()
    try:
        fleet.run(faults)
    finally:
        fleet.end()
    results()
    return fleet.counts, checker.check(checker.Postgres(server), "history", effects(BLOCKS))


def tell(server, seed):
    """What is left of a round that failed: the folder is removed."""
    print(f"the round of seed {seed}")
    for text in ("select id, state, owner, epoch, version, recoveries, available_ns, updated_ns, result from mwlvm.run",
                 "select * from mwlvm.worker", "select n, run, kind, name, key, body from mwlvm.inbox",
                 "select * from mwlvm.event order by n"):
        print(f"-- {text}", *server.sql(text, check=False), sep="\n")
    for name in ("history", "shown", "errors", server.log):
        with open(name, errors="replace") as f:
            print(f"-- {name}", "".join(f.readlines()[-400:]), sep="\n")
    sys.stdout.flush()


def fleet(server):
    seed = int(os.environ.get("SEED", "1"))
    counts, rounds, seen, again = {}, 0, 0, 0
    with open("flow.json", "w") as f:
        json.dump(flow(BLOCKS), f)
    with open("effect", "w") as f:
        f.write(SCRIPT.format(uri=server.uri, mwlvm=MWLVM))
    os.chmod("effect", 0o755)
    while sum(counts.values()) < max(FAULTS, 1):
        dice = random.Random(seed + rounds)
        faults = dice.sample(FAULT_NAMES, len(FAULT_NAMES))
        try:
            more, wrong = round_of(server, dice, rounds, faults if FAULTS else faults[:3] + ["kill_postmaster"])
        except BaseException:
            tell(server, seed + rounds)
            raise
        if wrong:
            tell(server, seed + rounds)
            print(f"seed {seed + rounds}:", *wrong[:20], sep="\n  ")
            return 1
        rounds += 1
        counts = {name: counts.get(name, 0) + more.get(name, 0) for name in FAULT_NAMES}
        keys = [key for _, key, _, _ in checker.read("history")["effect"]]
        seen += len(keys)
        again += len(keys) - len(set(keys))
    print(f"{sum(counts.values())} faults ({', '.join(f'{n} {name}' for name, n in counts.items() if n)}) in {rounds} rounds "
          f"of {RUNS} runs and {WORKERS} workers, 0 violations; {seen} effects, {again} of them again")
    return 0


def main():
    if not postgres.programs():
        print("skipped: PostgreSQL is not installed")
        return 77
    with postgres.Server() as server, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            env = {**os.environ, "MWL_TEST_POSTGRES": server.uri, "STORE": server.uri}
            for part in ("", "_server", "_postgres"):
                subprocess.run([TEST_STORE + part], env=env, check=True)
            server.sql("drop schema if exists mwlvm cascade")
            subprocess.run([sys.executable, os.path.join(HERE, "..", "command", "examples.py"), MWLVM, "--store"], env=env, check=True)
            commands = Commands(server)
            commands.check_asking()
            commands.check_draining()
            commands.check_end_beside_message()
            commands.check_full_disk()
            commands.check_refused()
            commands.check_conflicts()
            if not os.environ.get("MWL_SANITIZED"):  # a sanitizer must come before what changes the clock
                commands.check_clock()
            commands.check_standby()
            commands.check_waits_at_the_start()
            commands.check_transitions()
            commands.check_keeping()
            commands.check_idle()
            commands.check_takeover()
            return fleet(server)
        finally:
            os.chdir("/")


if __name__ == "__main__":
    sys.exit(main())
