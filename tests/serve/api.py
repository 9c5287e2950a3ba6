#!/usr/bin/env python3
"""api.py MWLVM: what `mwlvm serve` does by HTTP: programs, runs, answers, events, tokens, links, metrics, a restart."""
import contextlib
import hashlib
import hmac
import json
import os
import re
import signal
import sqlite3

from server import ANSWER, Case, Unix, ask, flow, main, sleep

EXEC = "mwl:provider.call/mwlvm/exec/v1"

YES = ask("ok", message="Is it?", schema={"type": "boolean"})


class Runs(Case):
    def test_a_run_from_its_start_to_its_result(self):
        self.serve()
        program = self.put("order", flow({"a": YES}))
        self.assertEqual(self.get("/v1/programs").lines, [{"name": "order", "id": program}])
        self.assertEqual(self.get("/v1/programs/order").json["definition"]["entrypoint"], "a")
        self.assertEqual(self.post("/v1/runs", {"program": "order", "id": "x/1", "input": 7}, status=202).json, {"run": "x/1"})
        self.until(lambda: self.state("x/1") == "waiting")
        run = self.get("/v1/runs/x%2F1").json
        self.assertEqual((run["program"], run["programId"], run["start"]["input"]), ("order", program, 7))
        self.assertEqual((run["frames"][0]["step"], run["calls"][0]["provider"]), ("a", ANSWER))
        definition = json.dumps(flow({"a": YES}))  # as it was sent: one line
        self.assertEqual((run["frames"][0]["line"], run["frames"][0]["column"]), (1, definition.index('"a": {') + 1))
        self.assertEqual(run["open"][0]["question"]["message"], "Is it?")
        self.assertEqual(self.get("/v1/waits").lines[0]["run"], "x/1")
        self.assertEqual(self.get("/v1/runs/x%2F1/result", status=202).json["state"], "waiting")
        wrong = self.post("/v1/runs/x%2F1/answers/ok", "3", status=422).json
        self.assertIn("must be a boolean", wrong["title"])
        self.post("/v1/runs/x%2F1/answers/ok", "true", status=204)
        self.assertEqual(self.get("/v1/runs/x%2F1/result?wait=30").json, {"type": "success", "value": True})
        self.assertEqual(self.post("/v1/runs/x%2F1/answers/ok", "true", status=409).json["title"], "run 'x/1' is over")
        self.assertIn("<svg", self.get("/v1/runs/x%2F1/graph").body)
        self.assertIn("<svg", self.get("/v1/programs/order/graph").body)

    def test_a_request_waits_for_the_result(self):
        self.serve()
        self.put("p", flow({"a": {"action": "Sleep", "for": "PT0.2S", "next": "end"}}))
        got = self.post("/v1/runs?wait=30", {"program": "p", "input": [1]}, status=200)
        self.assertEqual(got.json, {"type": "success", "value": [1]})
        self.put("q", flow({"a": YES}))
        self.assertIn(self.post("/v1/runs?wait=0.1", {"program": "q"}, status=202).json["state"], ("new", "live", "waiting"))

    def test_a_seed_is_a_number_that_is_exact_or_a_text_of_digits(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        for n, seed in enumerate((1, 2**53 - 1, "1", str(2**64 - 1))):
            self.post("/v1/runs", {"program": "p", "id": f"s{n}", "seed": seed}, status=202)
            start = self.get(f"/v1/runs/s{n}").json["start"]["seed"]
            self.assertEqual(int(start), int(seed))
        for seed in (0, -1, 1.5, 2**53, "", "0", "x", "1x", "-1", str(2**64), None, [1], True):
            self.post("/v1/runs", {"program": "p", "seed": seed}, status=400)

    def test_a_start_is_repeated_by_its_key(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        for _ in range(2):
            got = self.post("/v1/runs", {"program": "p"}, headers={"Idempotency-Key": "k1"}, status=202)
            self.assertEqual(got.json, {"run": "k1"})
        self.post("/v1/runs", {"program": "p", "input": 2}, headers={"Idempotency-Key": "k1"}, status=409)
        self.assertEqual(len(self.get("/v1/runs").lines), 1)
        for _ in range(2):  # those of an array have the key and their number
            got = self.post("/v1/runs", [{"program": "p"}, {"program": "p", "id": "own"}, {"program": "p"}],
                            headers={"Idempotency-Key": "k2"}, status=202)
            self.assertEqual([r["run"] for r in got.json], ["k2.0", "own", "k2.2"])
        self.assertEqual(len(self.get("/v1/runs").lines), 4)
        self.post("/v1/runs", {"program": "p"}, headers={"Idempotency-Key": "k" * 501}, status=400)
        self.post("/v1/runs/k1/answers/ok", "true", headers={"Idempotency-Key": "k" * 3000}, status=400)

    def test_many_runs_start_at_once_or_none(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        got = self.post("/v1/runs", [{"program": "p", "id": f"r{i}"} for i in range(250)], status=202).json
        self.assertEqual(len(got), 250)
        self.post("/v1/runs", [{"program": "p", "id": "s"}, {"program": "p", "id": "r1", "input": 1}], status=409)
        self.ask("GET", "/v1/runs/s", status=404)
        self.until(lambda: len(self.get("/v1/runs?state=waiting&limit=1000").lines) == 250)
        first = self.get("/v1/runs?order=newest&limit=2").lines
        self.assertEqual([row["run"] for row in first], ["r249", "r248"])
        more = self.get(f"/v1/runs?order=newest&limit=1&after={first[-1]['seq']}").lines
        self.assertEqual(more[0]["run"], "r247")
        self.assertEqual(self.get("/v1/runs?program=q").lines, [])
        waits = self.get("/v1/waits").lines
        self.assertEqual([w["run"] for w in waits], [f"r{i}" for i in range(250)])
        pieces, after = [], ""
        while rows := self.get("/v1/waits?limit=99" + after).lines:
            pieces += rows
            after = f"&after={rows[-1]['run']}.{rows[-1]['number']}"
        self.assertEqual(pieces, waits)
        self.get("/v1/waits?after=r1", status=400)
        self.get("/v1/waits?after=nobody.1", status=410)

    def test_cancel(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.post("/v1/runs/x/cancel", {"reason": "enough"}, status=202)
        got = self.get("/v1/runs/x/result?wait=30").json
        self.assertEqual((got["type"], "enough" in json.dumps(got)), ("cancellation", True))
        self.post("/v1/runs/x/resume", status=409)

    def test_an_answer_may_come_first(self):
        self.serve()
        self.put("p", flow({"n": {"action": "Sleep", "for": "PT0.3S", "next": "a"}, "a": YES}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.post("/v1/runs/x/answers/ok", "false", status=204)
        self.assertEqual(self.get("/v1/runs/x/result?wait=30").json["value"], False)

    def test_a_rejected_definition_has_its_diagnostics(self):
        self.serve()
        got = self.ask("PUT", "/v1/programs/p", {"$schema": "x", "entrypoint": "nowhere"}, status=422).json
        self.assertIn("missing-member", [d["name"] for d in got["diagnostics"]])
        self.ask("PUT", "/v1/programs/p", "{", status=422)
        self.ask("GET", "/v1/programs/p", status=404)
        self.post("/v1/runs", {"program": "p"}, status=404)
        self.post("/v1/runs", {}, status=400)
        self.post("/v1/runs", "{", status=400)

    def test_the_last_definition_of_a_name_counts(self):
        self.serve()
        one, two = flow({"a": sleep("PT1H")}), flow({"a": YES})
        ids = [self.put("p", d) for d in (one, two, one)]
        self.assertEqual(ids[0], ids[2])
        self.assertEqual(self.get("/v1/programs").lines[0]["id"], ids[0])

    def test_runs_outlive_a_kill(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", [{"program": "p", "id": f"r{i}"} for i in range(50)], status=202)
        self.post("/v1/runs/r7/answers/ok", "true", status=204)
        self.stop(signal.SIGKILL)
        self.serve()
        self.assertEqual(self.get("/v1/runs/r7/result?wait=60").json["value"], True)
        for i in range(50):
            self.post(f"/v1/runs/r{i}/answers/ok", "true", status=409 if i == 7 else 204)
        for i in range(50):
            self.assertEqual(self.get(f"/v1/runs/r{i}/result?wait=60").json["value"], True)
        self.assertEqual(self.stop(), None)
        self.assertEqual(self.process.returncode, -signal.SIGTERM)


class Events(Case):
    def test_a_step_has_its_flow(self):
        self.serve()
        self.put("p", flow({"a": {"action": "Call", "call": {"flow": "inner"}, "next": "end"}},
                           flows={"inner": {"entrypoint": "a", "steps": {"a": {"action": "Return"}}}}))
        self.post("/v1/runs?wait=60", {"program": "p", "id": "x"}, status=200)
        mine, steps = self.listen("/v1/runs/x/events"), []
        while (event := next(mine))["kind"] != "done":
            if event["kind"] == "step":
                steps.append((event["text"], event["flow"]))
        self.assertEqual(steps, [("a", ""), ("a", "inner"), ("end", "")])
        self.assertIn(" step        a of inner\n", self.command("logs", "--store", "runs.db", "x").stdout)

    def test_events_come_as_they_are_committed(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        everything = self.listen("/v1/events")
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.post("/v1/runs", {"program": "p", "id": "y"}, status=202)
        mine = self.listen("/v1/runs/x/events")
        kinds = [next(mine)["kind"] for _ in range(3)]
        self.assertEqual(kinds, ["accepted", "step", "call"])
        self.post("/v1/runs/y/answers/ok", "true", status=204)
        self.post("/v1/runs/x/answers/ok", "true", status=204)
        rest = [next(mine) for _ in range(3)]
        self.assertEqual([e["kind"] for e in rest], ["answered", "step", "done"])
        self.assertTrue(all(e["run"] == "x" for e in rest))
        seen, done = [], set()
        while done != {"x", "y"}:
            seen.append(next(everything))
            if seen[-1]["kind"] == "done":
                done.add(seen[-1]["run"])
        numbers = [e["id"] for e in seen]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(len(numbers), 12)
        again = self.listen("/v1/events", {"Last-Event-ID": str(numbers[4])})
        self.assertEqual([next(again)["id"] for _ in range(7)], numbers[5:])


class Tokens(Case):
    def test_who_may(self):
        token = self.command("serve", "--new-token", "read", "--tokens", "tokens").stdout.strip()
        starter = self.command("serve", "--new-token", "start,answer", "--tokens", "tokens").stdout.strip()
        admin = self.command("serve", "--new-token", "admin", "--tokens", "tokens").stdout.strip()
        with open(self.path("tokens")) as f:
            kept = f.read()
        self.assertNotIn(token, kept)
        self.assertEqual(kept.splitlines()[0], hashlib.sha256(token.encode()).hexdigest() + " read")
        self.serve("--tokens", "tokens")
        self.assertEqual(os.stat(self.path("runs.db-token")).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(self.path("runs.db-sock")).st_mode & 0o777, 0o600)
        self.put("p", flow({"a": YES}))
        got = self.get("/v1/runs", tcp=True, status=401)
        self.assertEqual(got.headers["WWW-Authenticate"], "Bearer")
        self.get("/v1/runs", token="wrong", status=401)
        self.get("/v1/runs", token=token[:-1] + "x", status=401)
        self.get("/v1/runs", token=token)
        self.get("/v1/runs", token=self.token)
        got = self.post("/v1/runs", {"program": "p"}, token=token, status=403)
        self.assertIn("'start'", got.json["title"])
        self.post("/v1/runs", {"program": "p"}, token=starter, status=202)
        self.get("/v1/runs", token=starter, status=403)
        self.ask("PUT", "/v1/programs/q", flow({"a": YES}), token=starter, status=403)
        self.ask("PUT", "/v1/programs/q", flow({"a": YES}), token=admin, status=200)
        run = self.post("/v1/runs", {"program": "q"}, token=admin, status=202).json["run"]  # admin is every scope
        self.get("/v1/runs", token=admin)
        self.until(lambda: self.state(run) == "waiting")
        self.post(f"/v1/runs/{run}/answers/ok", "true", token=admin, status=204)
        self.get("/v1/calls?provider=x", token=admin, status=204)
        for path in ("/", "/healthz", "/readyz"):
            self.get(path, tcp=True)
        self.get("/metrics", tcp=True, status=401)

    def test_what_is_refused_at_the_start(self):
        got = self.command("serve", "--store", "runs.db", "--listen", "0.0.0.0:0", status=2)
        self.assertIn("--token-file", got.stderr)
        self.write("tokens", "not a token\n")
        self.assertIn("tokens:1", self.command("serve", "--store", "runs.db", "--tokens", "tokens", status=1).stderr)
        self.write("open-token", "a" * 64)
        os.chmod(self.path("open-token"), 0o644)
        got = self.command("serve", "--store", "runs.db", "--token-file", "open-token", status=1)
        self.assertIn("others can read", got.stderr)
        self.serve()
        got = self.command("serve", "--store", "runs.db", status=1)
        self.assertIn("is in use by process", got.stderr)


class Links(Case):
    def test_a_person_without_a_token_answers_once(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", {"program": "p", "id": "x y"}, status=202)
        self.until(lambda: self.state("x y") == "waiting")
        got = self.post("/v1/runs/x%20y/waits/1/link?valid=3600", status=200).json
        path = re.sub("^http://[^/]*", "", got["link"])
        with contextlib.closing(sqlite3.connect(self.path("runs.db"))) as base:
            secret = base.execute("select value from value where key = 'serve/secret'").fetchone()[0]
        signed = f"link 1 {path.split('/')[4]} 3 x y"  # the id with its length
        self.assertEqual(path.split("/")[5], hmac.new(secret.encode(), signed.encode(), "sha256").hexdigest())
        asked = self.get(path, tcp=True, headers={"Accept": "application/json"}).json
        self.assertEqual((asked["run"], asked["question"]["message"]), ("x y", "Is it?"))
        self.assertIn("<!doctype html>", self.get(path, tcp=True, headers={"Accept": "text/html"}).body)
        for wrong in (path[:-1] + ("0" if path[-1] != "0" else "1"), path.replace("/1/", "/2/"), path.replace("x%20y", "xy")):
            self.post(wrong, "true", tcp=True, status=403)
        self.post(path, "12", tcp=True, status=422)
        self.post(path, "true", tcp=True, status=204)
        self.assertEqual(self.get("/v1/runs/x%20y/result?wait=30").json["value"], True)
        self.post(path, "true", tcp=True, status=410)
        parts = path.split("/")
        parts[4] = "1000000000"
        self.post("/".join(parts), "true", tcp=True, status=403)

    def test_the_time_of_a_link_is_over(self):
        self.serve("--url", "https://flows.example.com/team")
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs?wait=0.1", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.state("x") == "waiting")
        link = self.post("/v1/runs/x/waits/1/link?valid=1", status=200).json["link"]
        self.assertTrue(link.startswith("https://flows.example.com/team/a/x/1/"), link)
        path = link.removeprefix("https://flows.example.com/team")
        json_please = {"Accept": "application/json"}
        self.until(lambda: self.ask("GET", path, tcp=True, headers=json_please).status == 410)
        got = self.post(path, "true", tcp=True, status=410)
        self.assertIn("the time of this link is over", got.json["title"])
        self.assertEqual(self.state("x"), "waiting")
        for valid in ("0", "-1", "x", "1e99", "1h", "60x"):
            self.post("/v1/runs/x/waits/1/link?valid=" + valid, status=400)

    def test_addresses(self):
        for url in ("flows.example.com", "https://", "http://x/", "ftp://x"):
            self.assertIn("--url", self.command("serve", "--store", "runs.db", "--url", url, status=2).stderr)
        self.serve("--tokens", self.write("tokens", ""), listen="0.0.0.0:0")
        with open(self.path("log")) as f:
            self.assertIn("name --url", f.read())
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.state("x") == "waiting")
        self.assertTrue(self.post("/v1/runs/x/waits/1/link", status=200).json["link"].startswith("/a/x/1/"))


class Stuck(Case):
    def test_a_run_that_is_not_allowed_is_stuck_and_resumed(self):
        self.serve()
        self.put("p", flow({"a": {"action": "Call", "next": "end", "output": 7,
                                  "call": {"provider": EXEC, "with": {"argv": ["true"]}}}}))
        for run in ("x", "y"):
            self.post("/v1/runs", {"program": "p", "id": run}, status=202)
            self.until(lambda: self.state(run) == "stuck")
        got = self.get("/v1/runs/x/result?wait=30", status=409).json
        self.assertIn("run 'x' is stuck: ", got["title"])
        self.post("/v1/runs/x/resume", status=202)  # in vain
        self.until(lambda: [e["kind"] for e in self.events("x")].count("stuck") == 2)
        self.post("/v1/runs/y/cancel", status=202)
        self.until(lambda: self.state("y") == "aborted")
        self.assertIn("run 'y' is aborted", self.get("/v1/runs/y/result", status=409).json["title"])
        self.post("/v1/runs/y/resume", status=409)
        self.stop()
        self.serve("--allow-exec=true")
        self.post("/v1/runs/x/resume", status=202)
        self.assertEqual(self.get("/v1/runs/x/result?wait=30").json, {"type": "success", "value": 7})

    def events(self, run):
        got = self.command("logs", "--store", "runs.db", run, "--json").stdout
        return [json.loads(line) for line in got.splitlines()]


class Keeping(Case):
    def test_runs_that_are_over_are_removed(self):
        self.serve("--keep", "PT1S")
        self.put("quick", flow({"a": sleep("PT0.01S")}))
        self.put("bad", flow({"a": {"action": "Raise", "result": {"code": "Test.Bad", "message": "bad"}}}))
        self.put("p", flow({"a": YES}))
        for program in ("quick", "bad", "p"):
            self.post("/v1/runs", [{"program": program, "id": f"{program}{i}"} for i in range(120)], status=202)
        self.until(lambda: {r["state"] for r in self.get("/v1/runs?limit=1000").lines} == {"waiting", "failed"})
        self.assertEqual(len(self.get("/v1/runs?limit=1000").lines), 240)
        self.assertEqual(len(self.get("/v1/programs").lines), 3)
        self.stop()
        self.serve("--keep-failed", "PT0S")
        self.until(lambda: len(self.get("/v1/runs?limit=1000").lines) == 120)
        for words in (("--keep", "soon"), ("--keep-failed", "-PT1S"), ("--drain", "1"), ("--lease", "PT4S")):
            self.assertIn(words[0], self.command("serve", "--store", "x.db", *words, status=2).stderr)


class State(Case):
    def test_metrics(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", {"program": "p"}, status=202)
        self.until(lambda: "mwlvm_waits_open 1\n" in self.get("/metrics").body)
        text = self.get("/metrics").body
        names = re.findall(r"^# TYPE (\S+) (?:gauge|counter)$", text, re.M)
        self.assertEqual(len(names), len(set(names)))
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) mwlvm_\w+ .+|mwlvm_\w+(\{state="\w+"\})? [0-9.e+-]+)$')
        for wanted in ('mwlvm_runs{state="waiting"} 1', "mwlvm_waits_open 1", "mwlvm_http_waiting 0"):
            self.assertIn(wanted + "\n", text)

    def test_a_run_that_is_due_and_is_not_claimed_is_late(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.state("x") == "waiting")
        late = re.compile(r"^mwlvm_oldest_due_seconds (\S+)$", re.M)
        self.assertEqual(late.search(self.get("/metrics").body)[1], "0")
        self.process.send_signal(signal.SIGSTOP)
        with contextlib.closing(sqlite3.connect(self.path("runs.db"), isolation_level=None)) as base:
            base.execute("update run set due_ns = 0 where id = 'x'")  # as if a message had come
            base.execute("begin immediate")  # nobody can claim it
            self.process.send_signal(signal.SIGCONT)
            self.until(lambda: float(late.search(self.get("/metrics").body)[1]) > 0.3)
            base.execute("rollback")
        self.until(lambda: late.search(self.get("/metrics").body)[1] == "0")

    def test_calls_are_held_while_the_store_refuses(self):
        self.serve("--allow-exec=/bin/mkdir")
        self.put("p", flow({"nap": {"action": "Sleep", "for": "PT2S", "next": "a"}, "a": {
            "action": "Call", "next": "end", "call": {"provider": EXEC, "with": {"argv": ["/bin/mkdir", self.path("made")]}}}}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.state("x") == "live")

        def metric(name):
            return float(re.search(rf"^mwlvm_{name} (\S+)$", self.get("/metrics").body, re.M)[1])
        self.assertEqual(metric("calls_held"), 0)
        with contextlib.closing(sqlite3.connect(self.path("runs.db"), isolation_level=None)) as base:
            base.execute("begin immediate")
            self.until(lambda: metric("calls_held") == 1)
            self.until(lambda: metric("poll_age_seconds") > 0.5)
            self.assertFalse(os.path.exists(self.path("made")))
            base.execute("rollback")
        self.until(lambda: self.state("x") == "done" and os.path.exists(self.path("made")))
        self.assertEqual(metric("calls_held"), 0)
        self.until(lambda: metric("poll_age_seconds") < 0.5)

    def test_what_is_not_there(self):
        self.serve()
        self.ask("GET", "/v1/nothing", status=404)
        self.ask("GET", "/v1/runs/x/y/z/a/b/c/d/e/f", status=404)
        self.ask("GET", "/v1/runs/%zz", status=404)
        self.ask("DELETE", "/v1/runs", status=405)
        for path in ("/v1/runs/%FF", "/v1/runs?program=%C3%28", "/v1/runs/%ED%A0%80/result"):
            self.assertIn("UTF-8", self.ask("GET", path, status=400).json["title"])
        self.ask("GET", "/v1/runs", headers={"Idempotency-Key": b"\xff"}, status=400)
        self.ask("GET", "/v1/runs/%C3%A4", status=404)
        self.ask("GET", "/v1/runs?state=unknown", status=400)
        self.ask("GET", "/v1/runs/nobody", status=404)
        self.ask("GET", "/v1/runs/nobody/events", status=404)
        self.post("/v1/runs/nobody/answers/ok", "1", status=404)
        self.post("/v1/runs/nobody/cancel", status=404)

    def test_a_snapshot(self):
        self.serve()
        self.put("p", flow({"a": YES}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.until(lambda: self.state("x") == "waiting")
        line = Unix(self.path("runs.db-sock"))
        line.request("GET", "/v1/runs/x/snapshot")
        self.assertEqual(line.getresponse().read()[:4], b"MWLS")
        line.close()
        got = self.get("/v1/runs/x/snapshot", headers={"Accept": "application/json"}).json
        self.assertEqual(got["frames"][0]["step"], "a")


if __name__ == "__main__":
    main()
