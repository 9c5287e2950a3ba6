"""Random Flows from a seed: stacks of the four middlewares at both levels, calls that wait and fail as
variables say, catch and Raise, Match, Pass, Sleep, Gathers, subflows, expressions with deliberate faults,
cancellation from outside. Every program ends: graphs go forward only, Retry and Loop are bounded.

A program records what it does in vars.log. What the language leaves open is left out: at most one
fault in a block, no look at messages of the engine, no identifiers."""
import random

MOCK = "mwl:provider.call/mwl/mock/v1"
MIDDLEWARE = "mwl:provider.middleware/mwl/%s/v1"
CODES = ["A.One", "A.Two", "B.One", "B.Two.Deep"]
PATTERNS = ["*", "A.*", "A.One", "B.*", "B.Two.*", "System.*", "Provider.Middleware.*", "System.Cancelled"]
FAULTS = ["vars.missing", "1 + vars.n", "1 / 0", "vars.log.nope", "'a' + 1.0", "vars.log[99]", "vars.n.x",
          "!vars.n", "int('x')", "[1.0, 2.0][5]", "vars.n && true"]
UNREPRESENTABLE = ["vars.n / 0.0 * 0.0", "9007199254740993", "duration('1s')", "now()", "{1: 'a'}",
                   "[1.0, 2.0 / 0.0]"]
SECONDS = ["0.5", "1", "1", "2", "2", "3", "5", "8"]


class Site:
    """What an expression may read where it stands."""

    def __init__(self, nums=(), vals=(), bools=(), texts=()):
        self.nums = ["vars.n", "vars.k", "1.0", "2.0", "double(size(vars.log))"] + list(nums)
        self.vals = ["vars.n", "vars.flag", "'text'", "null", "frame.input"] + list(vals)
        self.bools = ["vars.flag", "failure == null", "has(vars.u)", "true"] + list(bools)
        self.texts = ["'a'", "(failure == null ? 'none' : failure.code)", "string(vars.n)"] + list(texts)

    def plus(self, nums=(), vals=(), bools=(), texts=()):
        out = Site()
        for name, more in (("nums", nums), ("vals", vals), ("bools", bools), ("texts", texts)):
            setattr(out, name, getattr(self, name) + list(more))
        return out


FRAME = Site()
STEP = Site(vals=["step.input", "step.name"], texts=["step.name", "step.action"])
CALL = ["call.input"]


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.tags = self.names = 0
        self.faulty = self.r.choice([0.0, 0.01, 0.03])
        self.coarse = self.r.random() < 0.5  # equal instants are likely
        self.style = self.r.choice(["mixed", "mixed", "cleanup", "severed", "gather", "retry", "deep"])
        self.deep_left = 1 if self.style == "deep" else 0
        self.even = None  # a duration that many bounds share
        self.fault_left = 1
        self.named = []

    def chance(self, p):
        return self.r.random() < p

    def pick(self, items):
        return self.r.choice(items)

    def tag(self):
        self.tags += 1
        return f"t{self.tags}"

    # ---- expressions -----------------------------------------------------------------------------------

    def fault(self, out):
        """A fault in place of the expression, now and then, once in a block."""
        if self.fault_left and self.chance(self.faulty):
            self.fault_left = 0
            return self.pick(FAULTS if self.chance(0.8) else UNREPRESENTABLE)
        return out

    def num(self, site, depth=1):
        if depth and self.chance(0.3):
            a, b = self.num(site, 0), self.num(site, 0)
            return f"({a} {self.pick(['+', '-', '*'])} {b})"
        return self.pick(site.nums)

    def boolean(self, site, depth=2):
        kind = self.r.random()
        if depth and kind < 0.2:
            return f"({self.boolean(site, depth - 1)} {self.pick(['&&', '||'])} {self.boolean(site, depth - 1)})"
        if depth and kind < 0.27:
            return f"!({self.boolean(site, depth - 1)})"
        if depth and kind < 0.3:  # absorbed, or not
            return f"({self.pick(FAULTS[:1])} == 1.0 {self.pick(['&&', '||'])} {self.boolean(site, 0)})"
        if kind < 0.7:
            return f"{self.num(site)} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {self.num(site)}"
        if kind < 0.75:
            return f"{self.text(site)} in ['a', 'none', 'A.One']"
        return self.pick(site.bools)

    def text(self, site, depth=1):
        if depth and self.chance(0.3):
            return f"({self.text(site, 0)} + {self.text(site, 0)})"
        return self.pick(site.texts)

    def value(self, site, depth=2):
        kind = self.r.random()
        if depth and kind < 0.12:
            return f"{{'p': {self.value(site, depth - 1)}, 'q': {self.num(site)}}}"
        if depth and kind < 0.2:
            return f"[{self.value(site, depth - 1)}, {self.text(site)}]"
        if depth and kind < 0.3:
            return f"({self.boolean(site)} ? {self.value(site, depth - 1)} : {self.value(site, depth - 1)})"
        if kind < 0.35:
            return f"vars.log.filter(x, x != {self.text(site)})"
        if kind < 0.38:
            return "vars.log.map(x, [x]).all(x, size(x) == 1)"
        if kind < 0.5:
            return self.num(site)
        if kind < 0.6:
            return self.text(site)
        return self.pick(site.vals)

    def expression(self, body):
        return "{{ " + self.fault(body) + " }}"

    def anything(self, site):
        """A field that takes any value: an expression, or a structure with leaves."""
        if self.chance(0.1):
            return {"leaf": self.expression(self.value(site)), "plain": self.pick([1, "x", None, [True]])}
        if self.chance(0.05):
            return self.pick([None, 3, "plain", {"a": [1, 2]}])
        return self.expression(self.value(site))

    def assign(self, site, p=0.5):
        if not self.chance(p):
            return {}
        out = {}
        if self.chance(0.8):
            mark = f"'{self.tag()}'"
            kind = self.r.random()
            if kind < 0.3:
                mark += " + string(wallTime() - timestamp(execution.metadata.enteredAt))"
            elif kind < 0.45:
                mark += " + durationToIso8601(now() - timestamp(frame.metadata.enteredAt))"
            elif kind < 0.7:
                mark = f"[{mark}, {self.value(site, 1)}]"
            out["log"] = self.expression(f"vars.log + [{mark}]")
        if self.chance(0.4):
            out["n"] = self.expression("vars.n + 1.0" if self.chance(0.7) else self.num(site))
        if self.chance(0.1):
            out["u"] = self.expression(self.value(site, 1))
        if self.chance(0.1):
            out["flag"] = self.expression(self.boolean(site))
        return {"assign": out} if out else {}

    def block(self):
        self.fault_left = 1

    # ---- durations, failures ---------------------------------------------------------------------------

    def duration(self):
        if self.even and self.chance(0.5):
            return self.even
        if self.coarse:
            return f"PT{self.pick(SECONDS)}S"
        return f"PT{self.r.randrange(1, 9000) / 1000:.3f}{self.r.randrange(1, 10**6):06d}S"

    def failure(self, site):
        """The source text of a failure map."""
        parts = [f"'code': '{self.pick(CODES)}'"]
        if self.chance(0.2):
            parts.append(f"'type': '{self.pick(['timeout', 'cancellation', 'Custom', 'skipped'])}'")
        if self.chance(0.3):
            parts.append(f"'retryable': {self.pick(['true', 'false', 'null'])}")
        if self.chance(0.3):
            parts.append(f"'details': {self.value(site, 1)}")
        if self.chance(0.3):
            parts.append(f"'message': {self.text(site)}")
        return "{" + ", ".join(parts) + "}"

    def matcher(self):
        out = {}
        if self.chance(0.7):
            out["codes"] = [self.pick(PATTERNS) for _ in range(self.r.randrange(1, 3))]
        if self.chance(0.2):
            out["types"] = [self.pick(["error", "timeout", "cancellation", "Custom"])]
        if self.chance(0.1):
            out["retryable"] = self.pick([True, False])
        return out or {"codes": ["*"]}

    # ---- calls -----------------------------------------------------------------------------------------

    def call(self, site, depth, failing=0.4):
        self.block()
        inside = site.plus(vals=CALL)
        out = self.flow_call(inside, depth) if depth > 0 and self.chance(0.3) else self.mock(inside, failing)
        if self.chance(0.2):
            out["input"] = self.anything(inside)
        window = ["flow.vars.n", "flow.input"] if "flow" in out else ["provider.input", "provider.metadata"]
        if self.chance(0.5):
            arm = inside.plus(vals=["call.result.value", "call.result"] + window)
            block = {**({"value": self.anything(arm)} if self.chance(0.4) else {}), **self.assign(arm)}
            if "flow" in out and self.chance(0.6):
                block.setdefault("assign", {})["log"] = "{{ vars.log + flow.vars.log }}"
            if block:
                out["onSuccess"] = block
        if self.chance(0.35):
            arm = inside.plus(vals=["call.result"] + window, texts=["call.result.code"])
            block = self.assign(arm, 0.9)
            if block:
                out["onFailure"] = block
        return out

    def mock(self, site, failing):
        args = {}
        if self.chance(0.5):
            args["value"] = self.anything(site)
        if self.chance(failing):
            body = self.failure(site)
            if self.chance(0.7):
                body = f"{self.boolean(site)} ? {body} : null"
            args["failure"] = self.expression(body)
        if self.chance(0.5):
            args["delay"] = self.duration()
        elif self.chance(0.1):
            args["delay"] = self.expression(f"{self.boolean(site)} ? '{self.duration()}' : 'PT0S'")
        if self.chance(0.2):
            args["metadata"] = {"id": self.expression(self.value(site, 1))}
        if self.chance(self.faulty / 2):
            args.update(self.pick([{"undeclared": 1}, {"delay": "soon"}, {"failure": {}}]))
        return {"provider": MOCK, **({"with": args} if args else {})}

    def flow_call(self, site, depth):
        args = {}
        if self.chance(0.5):
            args["k"] = self.expression(self.num(site))
        if self.chance(0.4):
            args["log"] = self.expression("vars.log")
        if self.chance(self.faulty):
            args["k"] = "no number"
        if self.named and self.chance(0.4):
            target = self.pick(self.named)
        else:
            target = self.flow(depth - 1)
        return {"flow": target, **({"with": args} if args else {})}

    # ---- middleware ------------------------------------------------------------------------------------

    def stack(self, site, depth, most=3):
        count = self.pick([0, 1, 1, 2, 3][:most + 2])
        out = [self.entry(site, depth) for _ in range(count)]
        if not self.deep_left or not self.chance(0.5):
            return out
        self.deep_left = 0
        self.even = self.duration()
        return [self.bound()] + out + [self.silent() for _ in range(self.r.randrange(60, 72))] + [self.bound()]

    def bound(self):
        return {"provider": MIDDLEWARE % "timeout", "onEntry": {"with": {"duration": self.duration()}}}

    def silent(self):
        """An entry that only makes the stack deeper."""
        if self.chance(0.5):
            return {"provider": MIDDLEWARE % "retry", "onEntry": {"with": {"policies": [
                {"match": {"codes": ["None.Such"]}, "attempts": 2}]}}}
        return {"provider": MIDDLEWARE % "finally", "onAlways": {
            "when": False, "with": {"call": {"provider": MOCK}}}}

    def phase(self, site, shaping=None, when=0.15):
        self.block()
        out = {}
        if self.chance(when):
            out["when"] = self.expression(self.boolean(site))
        if shaping and self.chance(0.25):
            out[shaping] = self.anything(site)
        out.update(self.assign(site, 0.4))
        return out

    def failure_phase(self, site, when=0.15):
        out = self.phase(site, when=when)
        if self.chance(0.3):
            if self.chance(0.7):
                out["code"] = self.pick(CODES) if self.chance(0.6) else self.expression(f"'C.' + {self.text(site)}")
            if self.chance(0.2):
                out["type"] = self.pick(["error", "timeout", "Custom"])
            if self.chance(0.3):
                out["details"] = self.anything(site)
            if self.chance(0.5 if self.style == "severed" else 0.15):
                out["previous"] = None
            elif self.chance(0.2):
                out["previous"] = self.restated("middleware.result")
            if self.chance(0.15):
                out["retryable"] = self.pick([True, False, None])
        return out

    def restated(self, source):
        """What the engine would put there anyway, written out: the same value, or an equal one."""
        return self.pick(["{{ %s }}", "{{ fromJson(toJson(%s)) }}"]) % source

    def entry(self, site, depth):
        kind = self.pick({"cleanup": ["finally", "finally", "timeout", "timeout", "retry"],
                          "severed": ["finally", "finally", "timeout", "retry"],
                          "retry": ["retry", "retry", "loop", "timeout", "finally"]}.get(
                              self.style, ["retry", "retry", "timeout", "timeout", "loop", "finally", "finally"]))
        down = site.plus(vals=["middleware.input"])
        count = {"retry": ["middleware.metadata.attempt"], "loop": ["middleware.metadata.iteration"]}.get(kind, [])
        down = down.plus(nums=count)
        good = down.plus(vals=["middleware.result.value"])
        bad = down.plus(vals=["middleware.result"], texts=["middleware.result.code"])
        end = down.plus(vals=["middleware.result"], bools=["middleware.result.type == 'success'"],
                        texts=["middleware.result.type"])
        out = {"provider": MIDDLEWARE % kind}
        out["onEntry"] = self.phase(down, "output")
        out["onSuccess"] = self.phase(good, "value")
        if "value" not in out["onSuccess"] and self.chance(0.1):
            out["onSuccess"]["value"] = self.restated("middleware.result.value")
        out["onFailure"] = self.failure_phase(bad)
        out["onAlways"] = self.phase(end)
        getattr(self, kind)(out, {"onEntry": down, "onSuccess": good, "onFailure": bad, "onAlways": end}, depth)
        if kind == "timeout" and self.chance(0.3):
            out["onEntry"].setdefault("assign", {})["u"] = "{{ middleware.metadata.deadline }}"
            if self.chance(0.5):
                out["onAlways"].setdefault("assign", {})["log"] = \
                    "{{ vars.log + [string(timestamp(middleware.metadata.deadline) - now())] }}"
        return {k: v for k, v in out.items() if v != {}}

    def retry(self, out, sites, depth):
        policies = []
        for _ in range(self.pick([1, 1, 2])):
            policy = {"match": self.matcher(), "attempts": self.r.randrange(1, 5)}
            if self.chance(0.5):
                backoff = {"initial": self.duration() if self.chance(0.9) else "-PT1S"}
                if self.chance(0.4):
                    backoff["rate"] = self.pick([1, 1.5, 2, 3])
                if self.chance(0.3):
                    backoff["max"] = self.duration()
                policy["backoff"] = backoff
            policies.append(policy)
        out["onEntry"]["with"] = {"policies": policies}
        if self.chance(self.faulty):
            out["onEntry"]["with"] = {"policies": self.pick([[], "{{ vars.n }}"])}
        if self.chance(0.6):  # the carry that makes attempts differ
            out["onFailure"].setdefault("assign", {})["n"] = "{{ vars.n + 1.0 }}"
        if self.chance(0.3):
            out["onFailure"].setdefault("assign", {})["log"] = "{{ vars.log + ['gap', middleware.metadata.attempt] }}"
        if self.chance(0.2):
            test = self.boolean(sites["onFailure"])
            out["onFailure"]["with"] = {"delay": "{{ %s ? '%s' : null }}" % (test, self.duration())}

    def timeout(self, out, sites, depth):
        duration = self.duration() if self.chance(0.9) else self.pick(
            ["PT0S", "-PT1S", "-PT10S", "-PT0.5S", "-P1D", "no duration", "P1D"])
        out["onEntry"]["with"] = {"duration": duration}

    def loop(self, out, sites, depth):
        when = f"middleware.metadata.iteration < {self.pick(['1.0', '2.0', '3.0'])}"
        if self.chance(0.3):
            when += " && " + self.boolean(sites["onSuccess"])
        out["onSuccess"]["when"] = "{{ " + when + " }}"

    def finally_(self, out, sites, depth):
        site = sites["onAlways"]
        args = {"call": self.call(site, depth if self.chance(0.2) else 0, failing=0.25)}
        stacked = self.style in ("cleanup", "severed")
        if stacked and "provider" in args["call"] and self.chance(0.7):
            args["call"].setdefault("with", {})["delay"] = self.duration()
        if self.chance(self.faulty / 2):
            del args["call"]
        if self.chance(0.5 if stacked else 0.25):
            args["middleware"] = self.stack(site_of(site), 0, 2 if stacked else 1)
        if self.style == "severed" and self.chance(0.5):  # recovers at the second attempt, and has its own history
            args["middleware"] = [{"provider": MIDDLEWARE % "retry",
                                   "onEntry": {"with": {"policies": [{"match": {"codes": ["*"]}, "attempts": 2}]}},
                                   "onFailure": {"assign": {"flag": "{{ !vars.flag }}"}}},
                                  {"provider": MIDDLEWARE % self.pick(["retry", "finally"]),
                                   "onFailure": {"code": "Cleanup.Shaped", "previous": None}}]
            if "retry" in args["middleware"][1]["provider"]:
                args["middleware"][1]["onEntry"] = {"with": {"policies": [
                    {"match": {"codes": ["None.Such"]}, "attempts": 2}]}}
            else:
                args["middleware"][1]["onAlways"] = {"with": {"call": {"provider": MOCK}}}
            args["call"] = {"provider": MOCK, "with": {
                "failure": "{{ vars.flag ? {'code': 'A.Clean'} : null }}"}}
        out["onAlways"]["with"] = args

    def __getattr__(self, name):
        if name == "finally":
            return self.finally_
        raise AttributeError(name)

    # ---- Steps -----------------------------------------------------------------------------------------

    def flow(self, depth):
        self.names += 1
        prefix = f"f{self.names}"
        count = self.r.randrange(1, 5)
        names = [f"{prefix}s{i}" for i in range(count)] + [prefix + "ret", prefix + "raise"]
        steps = {}
        for i in range(count):
            later = names[i + 1:count] * 3 + [prefix + "ret"] * 2 + ([prefix + "raise"] if self.chance(0.3) else [])
            steps[names[i]] = self.step(later, depth)
        self.block()
        steps[prefix + "ret"] = {"action": "Return", "value": {
            "log": "{{ vars.log }}", "n": "{{ vars.n }}", "v": self.expression(self.value(STEP))}}
        steps[prefix + "raise"] = self.raising()
        used = self.reached(steps, names[0])
        out = {"parameters": {"type": "object", "properties": {
            "log": {"default": []}, "n": {"type": "number", "default": 0},
            "k": {"type": "number", "default": self.r.randrange(0, 4)},
            "flag": {"type": "boolean", "default": self.chance(0.5)}, "u": {}}},
            "entrypoint": names[0], "steps": {k: v for k, v in steps.items() if k in used}}
        if self.chance(0.4):
            out["middleware"] = self.stack(FRAME, depth, 2)
        return out

    @staticmethod
    def reached(steps, start):
        seen, todo = set(), [start]
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            step = steps[name]
            todo += [c["next"] for c in [step, step.get("default", {})] + step.get("catch", []) +
                     step.get("cases", []) if "next" in c]
        return seen

    def step(self, later, depth):
        kind = self.r.random()
        if self.style == "gather" and depth > 0 and self.chance(0.3):
            return self.gather_step(later, depth)
        if kind < 0.55:
            return self.call_step(later, depth)
        if kind < 0.72 and depth > 0:
            return self.gather_step(later, depth)
        self.block()
        if kind < 0.8:
            return {"action": "Pass", "next": self.pick(later), **self.shape(STEP)}
        if kind < 0.9:
            wait = self.duration() if self.chance(0.9) else "{{ '" + self.duration() + "' }}"
            return {"action": "Sleep", "for": wait, "next": self.pick(later)}
        site = STEP.plus(vals=["match.input"])
        cases = [{"when": self.expression(self.boolean(site)), "next": self.pick(later), **self.shape(site)}
                 for _ in range(self.r.randrange(0, 3))]
        out = {"action": "Match", "cases": cases, "default": {"next": self.pick(later), **self.shape(site)}}
        if self.chance(0.3):
            out["input"] = self.anything(STEP)
        return out

    def shape(self, site):
        out = {"output": self.anything(site)} if self.chance(0.3) else {}
        return {**out, **self.assign(site)}

    def catching(self, later, p=0.6):
        if not self.chance(p):
            return {}
        site = STEP.plus(vals=["failure"], texts=["failure.code"])
        clauses = []
        for _ in range(self.pick([1, 1, 2])):
            self.block()
            clauses.append({"match": self.matcher() if self.chance(0.6) else {"codes": ["*"]},
                            "next": self.pick(later), **self.shape(site)})
        return {"catch": clauses}

    def call_step(self, later, depth):
        out = {"action": "Call", "call": self.call(STEP, depth), "next": self.pick(later)}
        self.block()
        if self.chance(0.2):
            out["input"] = self.anything(STEP)
        out.update(self.shape(STEP.plus(vals=["step.result.value"])))
        out.update(self.catching(later))
        if self.chance(0.65):
            stack = self.stack(STEP, depth)
            if stack:
                out["middleware"] = stack
        return out

    def gather_step(self, later, depth):
        out = {"action": "Gather", "next": self.pick(later)}
        site = STEP.plus(nums=["call.index"])
        if self.chance(0.5):
            out["over"] = self.pick([[1, 2, 3], [1, 2], "{{ vars.log }}", "{{ [vars.n, 'b', step.input] }}", []])
            if self.chance(self.faulty):
                out["over"] = self.pick(["{{ vars.n }}", "{{ vars.missing }}"])
            out["call"] = self.call(site, depth - 1)
        else:
            out["calls"] = [self.call(site, depth - 1) for _ in range(self.r.randrange(1, 4))]
        if self.chance(0.3):
            out["concurrency"] = self.pick([1, 2, None])
        if self.chance(0.6):
            need = self.pick([0, 1, 1, 2, 5, -1, "{{ step.metadata.dispatchCount - 1.0 }}", "{{ 1 }}"])
            if self.chance(self.faulty):
                need = self.pick([1.5, "{{ 'x' }}", "{{ vars.missing }}"])
            out["completion"] = {"successes": need, **({"wait": False} if self.chance(0.5) else {})}
        self.block()
        tail = STEP.plus(vals=["step.results"], nums=["step.metadata.dispatchCount", "double(size(step.results))"])
        out.update(self.shape(tail))
        out.update(self.catching(later))
        return out

    def raising(self):
        if self.chance(0.3):
            return {"action": "Raise"}
        result = {"code": self.pick(CODES)}
        if self.chance(0.2):
            result["type"] = self.pick(["timeout", "cancellation", "Custom"])
        if self.chance(0.6):
            result["details"] = "{{ vars.log }}"
        if self.chance(0.2):
            result["previous"] = self.pick([None, self.restated("failure")])
        if self.chance(0.2):
            result["message"] = self.expression(self.text(STEP))
        return {"action": "Raise", "result": result}

    def program(self):
        names = [f"Sub{i}" for i in range(self.pick([0, 0, 1, 2]))]
        flows = {}
        for name in names:  # each may call those before it
            flows[name] = self.flow(1)
            self.named.append(name)
        root = {"$schema": "https://mwl.dev/v0.1/flow/schema.json", **self.flow(2)}
        if flows:
            root["flows"] = flows
        out = {"definition": root, "input": self.pick([None, {"a": 1}, [1, "x"], "in"])}
        if self.chance(0.3):
            out["arguments"] = {"n": self.pick([0, 1, 2, 2.5])}
        if self.chance(0.3):
            out["cancelAfter"] = self.r.randrange(10**6, 12 * 10**9) | 1
        if self.chance(0.4):  # what an interrupted run did is seen in the chain
            dump = {"provider": MIDDLEWARE % "finally", "onAlways": {
                "when": "{{ middleware.result.type != 'success' }}",
                "with": {"call": {"provider": MOCK, "with": {
                    "failure": {"code": "Log.Dump", "details": "{{ vars.log }}"}}}}}}
            root["middleware"] = [dump] + root.get("middleware", [])
        return out


def site_of(site):
    """The same place without the middleware root of the phase: an inner stack has its own."""
    out = Site()
    for name in ("nums", "vals", "bools", "texts"):
        setattr(out, name, [x for x in getattr(site, name) if "middleware." not in x])
    return out


def program(seed):
    return Generator(seed).program()


if __name__ == "__main__":
    import json
    import sys
    print(json.dumps(program(int(sys.argv[1])), indent=2))
