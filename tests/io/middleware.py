#!/usr/bin/env python3
"""middleware.py MWLVM: cache, circuit-breaker, concurrency, log, rate-limit and redact, seen from Flows.

Time is virtual where nothing real is called: it is exact then.
"""
import json

from flow import TIMED_OUT, Case, call, entry, flow, main, retry, timeout, uri

MOCK = uri("mock", "call", "mwl")
VIRTUAL = "--virtual-time"


def sub(middleware, with_, over, concurrency=None, **gather):
    """Calls a Flow for each item at once; its one Step calls mock inside the middleware."""
    step = {"action": "Call", "call": {"provider": MOCK, "with": with_}, "middleware": middleware, "next": "end"}
    inner = {"entrypoint": "s", "steps": {"s": step, "end": {"action": "Return"}}}
    steps = {"g": {"action": "Gather", "over": over, "concurrency": concurrency, "call": {"flow": "Sub"}, "next": "end", **gather},
             "end": {"action": "Return"}}
    return flow(steps, "g", flows={"Sub": inner})


class Shared(Case):
    def one_failure(self, definition):
        """The failure of the one dispatch that failed."""
        failure = self.fails(definition, "System.GatherCompletionUnmet", VIRTUAL)
        (one,) = failure["details"]["failures"]
        return one["result"]


class Concurrency(Shared):
    def seconds(self, limit, items, **with_):
        """How long so many calls of one second each take."""
        mw = [entry("concurrency", {"key": "k", "limit": limit, **with_})]
        inner = {"entrypoint": "s", "steps": {
            "s": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT1S"}}, "middleware": mw, "next": "end"},
            "end": {"action": "Return"}}}
        log = {"action": "Call", "call": {"provider": uri("log"), "with": {"message": "m"}}, "next": "g"}
        steps = {"l": log, "g": {"action": "Gather", "over": "{{ step.input }}", "call": {"flow": "Sub"}, "next": "m"},
                 "m": {**log, "next": "end"}, "end": {"action": "Return"}}
        run = self.run_flow(flow(steps, "l", flows={"Sub": inner}), VIRTUAL, input=list(range(items)))
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.value, list(range(items)))
        first, second = (line["time"] for line in run.log())
        return (int(second[14:16]) * 60 + float(second[17:-1])) - (int(first[14:16]) * 60 + float(first[17:-1]))

    def test_so_many_at_a_time(self):
        self.assertEqual([self.seconds(limit, 6) for limit in (1, 2, 3, 6, 100)], [6, 3, 2, 1, 1])

    def test_a_thousand_wait(self):
        self.assertEqual(self.seconds(50, 1000), 20)

    def test_max_wait(self):
        mw = [entry("concurrency", {"limit": 1, "maxWait": "PT0.5S"})]
        definition = sub(mw, {"delay": "PT1S"}, "{{ [1, 2] }}")
        self.assertEqual(self.one_failure(definition)["code"], "Provider.Middleware.Concurrency.TookTooLong")

    def test_a_cancelled_wait_gives_its_place_back(self):
        """Three want the one turn; the second gives up after half a second, and the third still gets it."""
        gate = entry("concurrency", {"limit": 1})
        inner = lambda mw: {"entrypoint": "s", "steps": {"s": {"action": "Call", "middleware": mw, "next": "end",
                                                               "call": {"provider": MOCK, "with": {"delay": "PT1S"}}},
                                                         "end": {"action": "Return"}}}
        steps = {"g": {"action": "Gather", "calls": [{"flow": "A"}, {"flow": "B"}, {"flow": "A"}], "completion": {"successes": 2}, "next": "end"},
                 "end": {"action": "Return", "value": "{{ size(step.input) }}"}}
        definition = flow(steps, "g", flows={"A": inner([gate]), "B": inner([timeout(0.5), gate])})
        run = self.run_flow(definition, VIRTUAL)
        self.assertEqual(run.status, 0, run)

    def test_a_failed_scope_gives_its_turn_back(self):
        definition = sub([retry(3), entry("concurrency", {"limit": 1})], {"failure": {"code": "X.Y"}}, "{{ [1, 2] }}",
                         completion={"successes": 0})
        self.succeeds(definition, VIRTUAL)


class RateLimit(Shared):
    def test_the_rate(self):
        """Ten at five in a second, two at once: the last one begins after 1.6 seconds."""
        mw = [entry("rate-limit", {"rate": 5, "burst": 2})]
        ok = sub(mw, {}, "{{ [1,2,3,4,5,6,7,8,9,10] }}")
        ok["middleware"] = [timeout(1.601)]
        self.succeeds(ok, VIRTUAL)
        ok["middleware"] = [timeout(1.599)]
        self.fails(ok, TIMED_OUT, VIRTUAL)

    def test_limited(self):
        mw = [entry("rate-limit", {"rate": 1, "per": "PT10S", "maxWait": "PT0S"})]
        failure = self.one_failure(sub(mw, {}, "{{ [1, 2] }}"))
        self.assertEqual((failure["code"], failure["details"], failure["retryable"]),
                         ("Provider.Middleware.RateLimit.Limited", {"retryAfter": "PT10.000S"}, True))

    def test_keys_have_their_own_buckets(self):
        mw = [entry("rate-limit", {"rate": 1, "per": "PT1H", "maxWait": "PT0S", "key": "{{ string(middleware.input) }}"})]
        self.succeeds(sub(mw, {}, "{{ [1, 2, 3] }}"), VIRTUAL)


class CircuitBreaker(Case):
    def loop(self, n, with_, **args):
        """The codes of n calls, one after the other, a second apart."""
        mw = [entry("circuit-breaker", {"failures": 2, "openFor": "PT3S", **args})]
        call_step = {"action": "Call", "call": {"provider": MOCK, "with": with_}, "middleware": mw,
                     "catch": [{"match": {"codes": ["*"]}, "assign": {"codes": "{{ vars.codes + [failure.code] }}"}, "next": "wait"}],
                     "assign": {"codes": "{{ vars.codes + ['ok'] }}"}, "next": "wait"}
        steps = {"i": {"action": "Pass", "assign": {"codes": "{{ [] }}"}, "next": "c"}, "c": call_step,
                 "wait": {"action": "Sleep", "for": "PT1S", "next": "m"},
                 "m": {"action": "Match", "cases": [{"when": f"{{{{ size(vars.codes) < {n} }}}}", "next": "c"}], "default": {"next": "end"}},
                 "end": {"action": "Return", "value": "{{ vars.codes }}"}}
        return self.succeeds(flow(steps, "i"), VIRTUAL)

    OPEN = "Provider.Middleware.CircuitBreaker.Open"

    def test_it_opens_probes_and_opens_again(self):
        codes = self.loop(8, {"failure": {"code": "X.Y"}})
        self.assertEqual(codes, ["X.Y", "X.Y", self.OPEN, self.OPEN, "X.Y", self.OPEN, self.OPEN, "X.Y"])

    def test_failures_that_do_not_match_do_not_count(self):
        self.assertEqual(self.loop(4, {"failure": {"code": "X.Y"}}, match={"codes": ["Z.*"]}), ["X.Y"] * 4)

    def test_it_counts_failures_one_after_the_other(self):
        """A success between them begins the count anew."""
        with_ = "{{ size(vars.codes) == 1 ? {'value': 1} : {'failure': {'code': 'X.Y'}} }}"
        self.assertEqual(self.loop(5, with_), ["X.Y", "ok", "X.Y", "X.Y", self.OPEN])

    def test_one_probe_at_a_time_decides(self):
        """Three come at the instant at which it half-opens: one is let through, and its success closes it for all."""
        mw = [entry("circuit-breaker", {"key": "p", "failures": 1, "openFor": "PT3S"})]
        fails = {"action": "Call", "call": {"provider": MOCK, "with": {"failure": {"code": "X.Y"}}}, "middleware": mw, "next": "w",
                 "catch": [{"match": {"codes": ["*"]}, "next": "w"}]}
        inner = lambda delay: {"entrypoint": "s", "steps": {
            "s": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": delay, "value": 1}}, "middleware": mw, "next": "end"},
            "end": {"action": "Return"}}}
        many = lambda name, next_: {"action": "Gather", "over": "{{ [1, 2, 3] }}", "call": {"flow": name}, "completion": {"successes": 0},
                                    "assign": {name: "{{ step.results.filter(r, r.type == 'success').size() }}"}, "next": next_}
        steps = {"a": fails, "w": {"action": "Sleep", "for": "PT3S", "next": "one"}, "one": many("Probe", "all"),
                 "all": many("After", "end"), "end": {"action": "Return", "value": "{{ [vars.Probe, vars.After] }}"}}
        self.assertEqual(self.succeeds(flow(steps, "a", flows={"Probe": inner("PT1S"), "After": inner("PT0S")}), VIRTUAL), [1, 3])

    def test_a_success_that_began_before_it_opened_does_not_close_it(self):
        mw = [entry("circuit-breaker", {"key": "o", "failures": 1, "openFor": "PT10S"})]
        step = lambda with_: {"action": "Call", "call": {"provider": MOCK, "with": with_}, "middleware": mw, "next": "end"}
        slow = {"entrypoint": "s", "steps": {"s": step({"delay": "PT2S", "value": 1}), "end": {"action": "Return"}}}
        fails = {"entrypoint": "s", "steps": {"s": step({"delay": "PT1S", "failure": {"code": "X.Y"}}), "end": {"action": "Return"}}}
        steps = {"g": {"action": "Gather", "calls": [{"flow": "Slow"}, {"flow": "Fails"}], "completion": {"successes": 1, "wait": True},
                       "next": "again"},
                 "again": step({"value": 2}), "end": {"action": "Return"}}
        self.fails(flow(steps, "g", flows={"Slow": slow, "Fails": fails}), self.OPEN, VIRTUAL)

    def test_a_probe_that_is_cancelled_lets_the_next_one_try(self):
        mw = entry("circuit-breaker", {"key": "q", "failures": 1, "openFor": "PT3S"})
        step = lambda with_, next_, *outer: {"action": "Call", "call": {"provider": MOCK, "with": with_}, "middleware": [*outer, mw],
                                             "catch": [{"match": {"codes": ["*"]}, "next": next_}], "next": next_}
        steps = {"a": step({"failure": {"code": "X.Y"}}, "w"), "w": {"action": "Sleep", "for": "PT3S", "next": "probe"},
                 "probe": step({"delay": "PT1H"}, "again", timeout(1)),
                 "again": {**step({"value": "through"}, "end"), "catch": []}, "end": {"action": "Return"}}
        del steps["again"]["catch"]
        self.assertEqual(self.succeeds(flow(steps, "a"), VIRTUAL), "through")

    def test_successes_keep_it_closed(self):
        self.assertEqual(self.loop(3, {"value": 1}), ["ok"] * 3)


class Cache(Case):
    def test_single_flight(self):
        """A hundred want the same value at once: it is made once, in ten seconds."""
        mw = [entry("cache", {"key": "{{ {'a': 1} }}", "ttl": "PT1M"}), entry("log", {"message": "made"})]
        definition = sub(mw, {"delay": "PT10S", "value": [1, {"x": None}]}, "{{ step.input }}")
        definition["middleware"] = [timeout(10.5)]
        definition["steps"]["end"] = {"action": "Return"}
        run = self.run_flow(definition, VIRTUAL, input=list(range(100)))
        self.assertEqual(run.value, [[1, {"x": None}]] * 100)
        self.assertEqual(len(run.log()), 2)

    def test_a_failed_maker_lets_the_next_one_try(self):
        mw = [entry("cache", {"key": 1, "ttl": "PT1M"}), entry("log", {"message": "made"})]
        definition = sub(mw, {"delay": "PT1S", "failure": {"code": "X.Y"}}, "{{ [1, 2, 3] }}", completion={"successes": 0})
        run = self.run_flow(definition, VIRTUAL)
        self.assertEqual(len(run.log()), 6, run)

    def test_a_cancelled_maker_lets_the_next_one_try(self):
        mw = [timeout(0.5), entry("cache", {"key": 1, "ttl": "PT1M"}), entry("log", {"message": "made"})]
        definition = sub(mw, {"delay": "PT1S"}, "{{ [1, 2, 3] }}", completion={"successes": 0})
        run = self.run_flow(definition, VIRTUAL)
        self.assertEqual(run.status, 0, run)

    def test_a_value_lives_until_the_instant_of_its_ttl(self):
        """One nanosecond before, it is kept; at the very instant it is made again, and as long from then on."""
        for waits, values in ((["PT0.999999999S"], [1, 1]), (["PT1S"], [1, 2]), (["PT1S", "PT0.999999999S", "PT0.000000001S"], [1, 2, 2, 4])):
            mw = [entry("cache", {"key": "k", "ttl": "PT1S"})]
            steps = {"end": {"action": "Return", "value": "{{ vars.seen }}"}}
            for i in range(len(waits) + 1):
                last = i == len(waits)
                steps[f"s{i}"] = {"action": "Call", "call": {"provider": MOCK, "with": {"value": i + 1}}, "middleware": mw,
                                  "assign": {"seen": f"{{{{ {'vars.seen + ' if i else ''}[step.result.value] }}}}"},
                                  "next": "end" if last else f"w{i}"}
                if not last:
                    steps[f"w{i}"] = {"action": "Sleep", "for": waits[i], "next": f"s{i + 1}"}
            self.assertEqual(self.succeeds(flow(steps, "s0"), VIRTUAL), values, waits)

    def test_ttl_and_keys(self):
        mw = [entry("cache", {"key": "{{ middleware.input }}", "ttl": "PT5S", "maxEntries": 2}), entry("log", {"message": "made"})]
        step = lambda i, value, next_: {f"s{i}": {"action": "Call", "call": {"provider": MOCK}, "input": value, "middleware": mw, "next": f"w{i}"},
                                        f"w{i}": {"action": "Sleep", "for": "PT2S", "next": next_}}
        values = ["a", "a", "a", "a", "b", "c", "a"]  # at 0 made, 2 and 4 kept, 6 made, 8 made, 10 made and a goes, 12 made
        steps = {"end": {"action": "Return"}}
        for i, value in enumerate(values):
            steps.update(step(i, value, f"s{i + 1}" if i + 1 < len(values) else "end"))
        run = self.run_flow(flow(steps, "s0"), VIRTUAL)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(len([line for line in run.log() if line["message"].endswith("enter")]), 5)


class Log(Case):
    def test_enter_and_exit(self):
        mw = [entry("log", {"message": "work", "fields": {"n": 1}, "values": True})]
        definition = call("log", {"message": "inside"}, middleware=mw)
        run = self.run_flow(definition, "--id", "r1", input=5)
        enter, inside, leave = run.log()
        self.assertEqual((enter["message"], enter["n"], enter["input"], enter["execution"]), ("work: enter", 1, 5, "r1"))
        self.assertEqual(inside["message"], "inside")
        self.assertEqual((leave["message"], leave["outcome"], leave["value"], leave["runs"], leave["level"]),
                         ("work: exit", "success", 5, 1, "info"))
        self.assertGreaterEqual(leave["milliseconds"], 0)

    def test_a_failure_and_an_interruption(self):
        mw = [timeout(2), entry("log", {"message": "w"})]
        step = {"action": "Call", "middleware": mw, "call": {"provider": MOCK, "with": {"delay": "PT5S"}}, "next": "end"}
        run = self.run_flow(flow({"s": step, "end": {"action": "Return"}}, "s"), VIRTUAL)
        leave = run.log()[1]
        self.assertEqual((leave["level"], leave["milliseconds"]), ("warn", 2000))
        self.assertIn("code", leave)


class Redact(Case):
    def test_marked_values_are_not_in_the_log(self):
        mw = [entry("redact", {"paths": ["user.password", "cards.*.number"]})]
        value = {"user": {"password": "hunter22", "name": "ann"}, "cards": [{"number": 4111111111}, {"number": "5500-1"}]}
        definition = call("log", {"message": "{{ 'p=' + step.input.user.password }}", "fields": "{{ step.input }}"}, middleware=mw)
        run = self.run_flow(definition, input=value)
        self.assertEqual(run.value, value)
        (line,) = run.log()
        self.assertEqual((line["message"], line["user"]["password"], line["user"]["name"]), ("p=[secret]", "[secret]", "ann"))
        self.assertEqual([card["number"] for card in line["cards"]], ["[secret]", "[secret]"])


main()
