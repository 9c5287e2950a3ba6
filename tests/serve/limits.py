#!/usr/bin/env python3
"""limits.py MWLVM: no answer of a server is larger than its limit, whatever runs hold, and what a request misspells is refused."""
import base64
import hashlib
import json
import time

from server import Case, Unix, ask, flow, main


def doubled(levels, first, **more):
    """A variable that holds `first` 2^levels times, in as many small lists."""
    steps = {"set": {"action": "Pass", "assign": {"l": first}, "next": "s0"}}
    for i in range(levels):
        steps[f"s{i}"] = {"action": "Pass", "assign": {"l": "{{ [vars.l, vars.l] }}"}, "next": f"s{i + 1}"}
    steps[f"s{levels}"] = ask("ok", **more)
    return flow(steps)


class Limits(Case):
    def waits(self, run):
        self.until(lambda: self.state(run) == "waiting")

    def metric(self, name):
        lines = self.get("/metrics").body.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"mwlvm_{name} "))

    def test_a_run_is_shown_with_its_values_cut(self):
        """Values that share their parts: a few bytes in memory, 3 GB as text."""
        self.serve("--memory", "64M")
        self.put("p", doubled(29, [1]))
        self.post("/v1/runs", {"program": "p", "id": "big", "input": {"a": 1}}, status=202)
        self.waits("big")
        begin = time.monotonic()
        got = self.get("/v1/runs/big")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertLess(len(got.body), 100000)
        run = got.json
        self.assertTrue(run["cut"])
        self.assertEqual(run["frames"][0]["step"], "s29")
        self.assertRegex(run["frames"][0]["vars"]["l"], r"^\[\[\[.* \.\.\. \(more than 65536 bytes\)$")
        self.assertEqual((run["frames"][0]["input"], run["open"][0]["name"]), ({"a": 1}, "ok"))
        self.assertIn("more than 16 MiB", self.ask("GET", "/v1/runs/big?full=1", status=413).json["title"])
        self.ask("GET", "/v1/runs/big/snapshot?full=1", headers={"Accept": "application/json"}, status=413)
        self.assertTrue(self.get("/v1/runs/big/snapshot", headers={"Accept": "application/json"}).json["cut"])
        self.assertLess(self.memory(), 150000)

    def test_full_shows_what_is_cut(self):
        self.serve()
        self.put("p", flow({"set": {"action": "Pass", "assign": {"l": "{{ step.input }}"}, "next": "a"}, "a": ask("ok")}))
        text = "x" * 100000
        self.post("/v1/runs", {"program": "p", "id": "x", "input": text}, status=202)
        self.waits("x")
        cut, full = self.get("/v1/runs/x").json, self.get("/v1/runs/x?full=1").json
        self.assertTrue(cut.pop("cut"))
        self.assertLess(len(json.dumps(cut)), 5000)
        self.assertEqual((full["frames"][0]["vars"]["l"], full["start"]["input"], "cut" in full), (text, text, False))

    def test_a_failure_that_is_cut_is_still_a_failure(self):
        self.serve()
        failure = {"code": "Test.Bad", "message": "bad", "details": "{{ step.input }}"}
        self.put("p", flow({"a": {"action": "Raise", "result": failure}}))
        self.post("/v1/runs", {"program": "p", "id": "x", "input": "y" * 100000}, status=202)
        self.get("/v1/runs/x/result?wait=30")
        result = self.get("/v1/runs/x").json["result"]
        self.assertEqual((result["type"], result["code"], result["message"]), ("error", "Test.Bad", "bad"))
        self.assertTrue(result["details"].endswith("(more than 65536 bytes)"))

    def test_the_list_of_runs_has_results_only_if_asked_and_ends_at_8_MiB(self):
        self.serve()
        self.put("p", {**flow({"a": {"action": "Return", "value": "{{ step.input }}"}}), "steps": {"a": {"action": "Return", "value": "{{ step.input }}"}}})
        for k in range(10):
            self.post("/v1/runs", [{"program": "p", "id": f"r{k}-{i}", "input": "x" * 60000} for i in range(15)], status=202)
        self.until(lambda: len(self.get("/v1/runs?state=done&limit=1000").lines) == 150)
        plain = self.get("/v1/runs?limit=1000")
        self.assertLess(len(plain.body), 100000)
        self.assertNotIn("result", plain.body)
        seen, after, pieces = [], 0, 0
        while rows := self.get(f"/v1/runs?limit=1000&results=1&after={after}").lines:
            seen += rows
            after = rows[-1]["seq"]
            pieces += 1
        self.assertEqual((len(seen), pieces), (150, 2))
        self.assertTrue(all(r["result"]["value"] == "x" * 60000 for r in seen))

    def test_no_answer_has_more_than_32_MiB(self):
        self.serve()
        grow = {"set": {"action": "Pass", "assign": {"t": "x" * 1024}, "next": "s0"}}
        for i in range(15):
            grow[f"s{i}"] = {"action": "Pass", "assign": {"t": "{{ vars.t + vars.t }}"}, "next": f"s{i + 1}"}
        self.put("waits", flow({**grow, "s15": ask("ok")}))
        self.put("returns", {**flow(grow), "steps": {**grow, "s15": {"action": "Return", "value": "{{ vars.t + 'x' }}"}}})
        self.post("/v1/runs", [{"program": p, "id": p} for p in ("waits", "returns")], status=202)
        self.waits("waits")
        got = self.ask("GET", "/v1/runs/waits/snapshot", status=500)
        self.assertIn("more than 32 MiB", got.json["title"])
        self.assertEqual((got.headers["Connection"], self.metric("http_answers_too_large_total")), ("close", 1))
        self.until(lambda: self.state("returns") in ("done", "failed"))
        self.ask("GET", "/v1/runs/returns/result", status=413)
        self.assertLess(len(self.get("/v1/runs/returns").body), 100000)

    def link(self, run, number=1):
        got = self.post(f"/v1/runs/{run}/waits/{number}/link", status=200).json["link"]
        return got[got.index("/a/"):]

    def test_an_answer_has_one_budget_for_all_waits_of_its_name(self):
        """The search is ended by fuel, and equal schemas are asked once: 200 waits cost what one does."""
        self.serve()
        schema = {"type": "string", "pattern": "^(?:a|ab|b|(?=a)a)*$"}
        for name, with_schema in (("one", schema), ("many", {**schema, "maxLength": "{{ 1000000.0 + call.input }}"})):
            call = {**ask("x", schema=with_schema), "action": "Gather", "over": "{{ lists.range(200) }}"}
            self.put(name, flow({"a": call}))
            self.post("/v1/runs", {"program": name, "id": name}, status=202)
            self.until(lambda: self.get(f"/v1/runs?program={name}").lines[0]["waits"] == 200)
            begin = time.monotonic()
            got = self.post(self.link(name), json.dumps("ab" * 20000 + "c"), status=422)
            self.assertLess(time.monotonic() - begin, 5)
            self.assertIn("cannot be checked", got.json["title"])
            self.post(self.link(name), '"abab"', status=204)

    def test_a_schema_that_does_not_compile_refuses_answers(self):
        self.serve()
        self.put("p", flow({"a": ask("x", schema={"type": "string", "pattern": "{{ '(?i)a' + string(step.input) }}"})}))
        self.post("/v1/runs", {"program": "p", "id": "x", "input": "("}, status=202)
        self.waits("x")
        got = self.post("/v1/runs/x/answers/x", '"a"', status=422)
        self.assertIn("the schema of the question is not valid", got.json["title"])
        self.assertEqual(self.state("x"), "waiting")

    def test_long_reads_stand_before_no_start_and_no_answer(self):
        """Readers have threads of their own: while pictures and lists are made, the store is asked by others."""
        self.serve("--memory", "64M")
        self.put("p", flow({"a": ask("ok")}))
        steps = {f"s{i}": {"action": "Match", "cases": [{"when": "{{ true }}", "next": f"s{(i + 7) % 400}"}],
                           "default": {"next": f"s{i + 1}"}} for i in range(400)}
        text = json.dumps(flow({**steps, "s400": {"action": "Return"}}))
        for k in range(12):  # as many pictures: none of them is kept
            self.put(f"g{k}", text.replace('"s400"', f'"t{k}"'))
        lines = []
        for k in range(24):
            line = Unix(self.path("runs.db-sock"))
            line.request("GET", f"/v1/programs/g{k % 12}/graph")
            lines.append(line)
        slowest = 0
        for i in range(10):
            begin = time.monotonic()
            self.post("/v1/runs", {"program": "p", "id": f"r{i}"}, status=202)
            self.post(f"/v1/runs/r{i}/answers/ok", "true", status=204)
            slowest = max(slowest, time.monotonic() - begin)
        begin = time.monotonic()
        for line in lines:
            got = line.getresponse()
            self.assertEqual((got.status, got.read()[:4]), (200, b"<svg"))
            line.close()
        print(f"the slowest start and answer {slowest:.3f} s, then pictures for {time.monotonic() - begin:.3f} s")
        self.assertLess(slowest, 2)

    def test_a_picture_is_drawn_within_the_limits_of_the_server(self):
        self.serve("--memory", "8M")
        steps = {f"s{i}": {"action": "Match", "cases": [{"when": "{{ vars.n == %d }}" % k, "next": f"s{(i * 7 + k * 13) % 300}"}
                                                        for k in range(20)], "default": {"next": f"s{i + 1}"}} for i in range(300)}
        small = flow({"a": ask("ok")})
        self.put("small", small)
        first = self.get("/v1/programs/small/graph").body
        self.assertEqual(self.get("/v1/programs/small/graph").body, first)
        got = self.ask("PUT", "/v1/programs/big", flow({**steps, "s300": {"action": "Return"}}))
        if got.status == 200:
            got = self.ask("GET", "/v1/programs/big/graph")
        self.assertIn(got.status, (422, 500), got.body[:300])
        self.assertLess(self.memory(), 120000)

    def test_a_link_is_signed_for_one_way_to_write_it(self):
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        self.post("/v1/runs", {"program": "p", "id": "x"}, status=202)
        self.waits("x")
        link = self.link("x")
        _, _, run, number, until, mac = link.split("/")
        headers = {"Accept": "application/json"}
        self.get(link, headers=headers)
        for number, until in (("01", until), ("1%20", until), ("+1", until), ("1", "0" + until), ("1", until + "%0A"), ("1", str(int(until) + 1)),
                              ("2", until), ("", until)):
            self.ask("GET", f"/a/{run}/{number}/{until}/{mac}", headers=headers, status=403)
        got = self.post("/v1/runs/x/waits/01/link", status=200).json["link"]
        self.assertIn("/a/x/1/", got)
        self.get(got[got.index("/a/"):], headers=headers)

    def test_the_page_names_its_script_by_hash(self):
        self.serve()
        page = self.get("/", tcp=True)
        script = page.body[page.body.index("<script>") + 8:page.body.index("</script>")]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = page.headers["Content-Security-Policy"]
        self.assertIn(f"script-src 'sha256-{digest}';", policy)
        self.assertEqual((policy.count("unsafe-inline"), page.body.count("<script")), (1, 1))  # that is for style
        self.assertNotRegex(page.body[:page.body.index("<script>")], r"\son\w+=")

    def test_what_a_start_misspells_is_refused(self):
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        for body, words in (({"program": "p", "inputs": 1}, "a start does not have `inputs`; did you mean `input`?"),
                            ({"program": "p", "zzz": 1}, "a start does not have `zzz`"),
                            ([{"program": "p"}, {"program": "p", "arg": 1}], "a start does not have `arg`"),
                            ({"program": "p", "limits": {"fule": 1}}, "`limits` does not have `fule`; did you mean `fuel`?"),
                            ({"program": "p", "limits": 5}, "`limits` is an object"),
                            ("5", "a start is an object"),
                            ({"program": "p", "id": 5}, "`id` is a text of 1 to 500 bytes"),
                            ({"program": "p", "id": ""}, "`id` is a text of 1 to 500 bytes"),
                            ({"program": "p", "id": "a\0b"}, "`id` is a text of 1 to 500 bytes"),
                            ({"program": "p", "id": "x" * 501}, "`id` is a text of 1 to 500 bytes"),
                            ({"program": "p\0q"}, "`program` is a text"),
                            (b'{"program":"p","id":"\xff"}', "not JSON")):
            got = self.post("/v1/runs", body, status=400)
            self.assertIn(words, got.json["title"])
        self.post("/v1/runs", {"program": "p"}, headers={"Idempotency-Key": ""}, status=400)
        self.post("/v1/runs", {"program": "p"}, headers={"Idempotency-Key": b"\xff"}, status=400)
        self.assertEqual(self.get("/v1/runs").lines, [])
        self.post("/v1/runs/x/cancel", {"reson": "no"}, status=400)

    def test_a_parameter_that_is_not_a_number_is_refused(self):
        self.serve()
        for path in ("/v1/runs?limit=abc", "/v1/runs?limit=", "/v1/runs?limit=-1", "/v1/runs?limit=0", "/v1/runs?limit=1e3",
                     "/v1/runs?after=x", "/v1/waits?limit=abc", "/v1/runs/x/result?wait=soon", "/v1/runs/x/result?wait=-1",
                     "/v1/runs/x/result?wait=0x10", "/v1/runs/x/result?wait=nan", "/v1/events?after=abc", "/v1/runs/x/events?after=-"):
            got = self.ask("GET", path, status=400)
            self.assertRegex(got.json["title"], r"^`(limit|after|wait)` is a number ")
        self.get("/v1/runs?limit=5000")
        self.ask("GET", "/v1/runs/x/result?wait=0.1s", status=404)

    def test_a_parameter_that_is_misspelt_is_refused(self):
        """It would be ignored: a list of all runs, a start that does not wait. Nothing is done."""
        self.serve()
        self.put("p", flow({"a": ask("ok")}))
        for method, path, words in (("GET", "/v1/runs?staate=done", "the query of this request does not have `staate`; did you mean `state`?"),
                                    ("GET", "/v1/runs?limit=1&x=", "does not have `x`"),
                                    ("GET", "/v1/runs?order=newset", "`order` is `newest`, not 'newset'"),
                                    ("GET", "/v1/runs?results=true", "`results` is `1`"),
                                    ("GET", "/v1/programs/p?full=1", "does not have `full`"),
                                    ("POST", "/v1/runs?waitt=1", "did you mean `wait`?"),
                                    ("GET", "/v1/calls?providr=x", "did you mean `provider`?")):
            got = self.ask(method, path, {"program": "p"} if method == "POST" else None, status=400)
            self.assertIn(words, got.json["title"])
        self.assertEqual(self.get("/v1/runs?state=&program=&order=&results=").lines, [])
        self.get("/readyz?by=probe")  # of others, who add what they like


if __name__ == "__main__":
    main()
