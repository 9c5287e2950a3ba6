"""The middleware stack: descent, phases, ascent, unwinding; Retry, Timeout, Loop, Finally."""
import math

import schema
from scheduler import SHIELD, Unwind
from values import (ENVELOPE, NS, Failed, Free, check_envelope, duration_ns, flying, is_severed, is_success, matches,
                    over_cleanup, success, supersede, timestamp_text)

FOREVER = 2**63 - 1


def name_of(entry):
    return entry["provider"].split("/")[2]


class Entry:
    """One established (or being established) entry: its input, its contributed metadata."""

    def __init__(self, definition, value):
        self.definition, self.input, self.name = definition, value, name_of(definition)
        self.metadata = {"retry": {"attempt": 0.0}, "loop": {"iteration": 0.0}}.get(self.name, {})
        self.gated, self.down = False, None
        self.policies, self.counts, self.saved = [], [], None
        self.duration = self.duration_text = None


class Stack:
    """A stack around an operation. `site` gives the roots of the contexts around it and the frame's
    variables; `operation(value)` is a generator that answers a Result."""

    def __init__(self, machine, task, site, entries, operation, wraps_graph=False):
        self.wraps_graph = wraps_graph
        self.machine, self.task, self.site = machine, task, site
        self.entries, self.operation = entries, operation

    def run(self, value, i=0):
        if i == len(self.entries):
            return (yield from self.operation(value))
        entry = Entry(self.entries[i], value)
        try:
            self.on_entry(entry)
        except Failed as fault:
            return fault.result  # not established: nothing of it runs on the way out
        try:
            result = yield from self.inside(entry, i)
        except Unwind as unwind:
            rising = yield from self.always(entry, unwind.result)
            raise Unwind(unwind.scope, rising)
        result = yield from self.always(entry, result)
        self.task.resume(result)
        return result

    # ---- phases --------------------------------------------------------------------------------------

    def phase(self, entry, name, result=None):
        """A new execution of a phase: its block, evaluated against its bindings."""
        return Phase(self, entry, name, result)

    def on_entry(self, entry):
        phase = self.phase(entry, "onEntry")
        entry.gated = not phase.when()
        if not entry.gated:
            args = phase.arguments()
            if entry.name == "retry":
                entry.policies = args["policies"]
                entry.counts = [0] * len(entry.policies)
            if entry.name == "timeout":
                entry.duration, entry.duration_text = duration_ns(args["duration"]), args["duration"]
                at = min(self.machine.sched.now + entry.duration, FOREVER)
                entry.metadata["deadline"] = timestamp_text(self.machine.epoch + at)
        entry.down = phase.field("output", entry.input)
        phase.assign()
        entry.saved = dict(self.site.frame.vars)

    def inside(self, entry, i):
        """The entry's inner scope, run and re-run, to the Result that the entry emits."""
        value = entry.down
        if entry.name == "loop" and entry.gated:
            return success(value)
        if entry.name == "timeout" and not entry.gated:
            result, fired = yield from self.bounded(entry, i)
            if fired:
                return result
            return self.ascend(entry, result)[0]
        while True:
            for count in ("attempt", "iteration"):
                if count in entry.metadata:
                    entry.metadata[count] += 1.0
            result = yield from self.run(value, i + 1)
            emitted, again = self.ascend(entry, result)
            if not again:
                return emitted
            if self.wraps_graph:
                self.site.frame.failure = None  # a re-run begins as the first one did
            if entry.name == "loop":
                value = emitted["value"]
            elif again > 0 and again is not True:
                yield from self.task.wait(self.machine.sched.now + again)

    def bounded(self, entry, i):
        explanation = {"type": "timeout", "code": "Provider.Middleware.Timeout.Exceeded",
                       "message": Free(), "details": {"duration": entry.duration_text}}
        cancellation = {"type": "cancellation", "code": "System.Cancelled", "message": Free(),
                        "details": Free(), "previous": explanation}
        if entry.duration <= 0:
            return explanation, True
        sched, scope = self.machine.sched, self.task.push()
        sched.bound(min(sched.now + entry.duration, FOREVER), scope, cancellation)
        try:
            result = yield from self.run(entry.down, i + 1)
            self.task.pop(scope)
            return result, False
        except Unwind as unwind:
            self.task.pop(scope)
            if unwind.scope is not scope:
                raise
            arriving = unwind.result
        if over_cleanup(arriving):
            self.task.resume(arriving)
            return arriving, True
        emerging = arriving["previous"]  # the explanation, with what the bound displaced beneath it
        self.task.resume(emerging.get("previous"))
        return emerging, True

    def ascend(self, entry, result):
        """onSuccess or onFailure: what the entry emits, and whether its action re-enters (for Retry,
        the wait in nanoseconds, or True for none)."""
        name = "onSuccess" if is_success(result) else "onFailure"
        phase = self.phase(entry, name, result)
        try:
            if name == "onSuccess":
                return self.on_success(entry, phase, result)
            return self.on_failure(entry, phase, result)
        except Failed as fault:
            return supersede(fault.result, result), False

    def on_success(self, entry, phase, result):
        again = phase.when()
        if again:
            phase.arguments()
        emitted = success(phase.field("value", result["value"]))
        phase.assign()
        return emitted, entry.name == "loop" and again

    def on_failure(self, entry, phase, result):
        rising, delay = result, None
        if phase.when():
            args = phase.arguments()
            if entry.name == "retry":
                rising, delay = self.retry(entry, args, result)
        if delay is not None:  # consumed: no emission, so no shaping; the gap's assign is the carry
            bindings = phase.captured()
            self.site.frame.vars = {**entry.saved, **bindings}
            return rising, delay or True
        emitted = phase.envelope(rising)
        phase.assign()
        return emitted, False

    def retry(self, entry, args, result):
        for position, policy in enumerate(entry.policies):
            if not matches(policy["match"], result):
                continue
            entry.counts[position] += 1
            if entry.counts[position] >= policy["attempts"]:
                exhausted = {"type": "error", "code": "Provider.Middleware.Retry.Exhausted",
                             "message": Free(),
                             "details": {"attempts": entry.metadata["attempt"], "policy": float(position)},
                             "retryable": Free(), "previous": result}
                return flying(exhausted, over_cleanup(result), is_severed(result)), None
            if args.get("delay") is not None:
                return result, max(0, duration_ns(args["delay"]))
            return result, backoff(policy.get("backoff"), entry.counts[position])
        return result, None

    def always(self, entry, result):
        """onAlways, protected. The Result that rises on."""
        self.task.stack.append(SHIELD)
        phase = self.phase(entry, "onAlways", result)
        try:
            if phase.when():
                args = phase.arguments()
                if entry.name == "finally":
                    yield from self.cleanup(entry, phase, args)
            phase.assign()
        except Failed as fault:
            rising = supersede(fault.result, result)
            result = flying(rising, True, is_severed(rising))
        self.task.pop(SHIELD)
        return result

    def cleanup(self, entry, phase, args):
        site, machine, task = self.site, self.machine, self.task

        def dispatch(value):
            return machine.call(task, site, phase.roots, args["call"], value)
        stack = Stack(machine, task, site, args.get("middleware", []), dispatch)
        result = yield from stack.run(entry.input)
        if not is_success(result):
            fault = Failed(result["code"])
            fault.result = result
            raise fault


def backoff(policy, position):
    """The schedule's wait before retry number `position`; jitter is not modelled."""
    if policy is None:
        return 0
    try:
        wait = duration_ns(policy["initial"]) * policy.get("rate", 1.0) ** (position - 1)
    except OverflowError:
        wait = math.inf if duration_ns(policy["initial"]) > 0 else 0
    if "max" in policy:
        wait = min(wait, duration_ns(policy["max"]))
    return 0 if wait <= 0 or math.isnan(wait) else int(min(wait, FOREVER))


# The phases in which a middleware does something.
ACTS = {("retry", "onEntry"), ("retry", "onFailure"), ("timeout", "onEntry"), ("loop", "onEntry"),
        ("loop", "onSuccess"), ("finally", "onAlways")}


class Phase:
    """One run of one phase: keys resolve in the order when, with, (action), shaping, assign."""

    def __init__(self, stack, entry, name, result):
        self.stack, self.entry, self.name = stack, entry, name
        stack.machine.work()
        self.block = entry.definition.get(name, {})
        self.now = stack.machine.sched.now
        self.result = result

    @property
    def roots(self):
        stamp = timestamp_text(self.stack.machine.epoch + self.now)
        middleware = {"input": self.entry.input, "metadata": {"enteredAt": stamp, **self.entry.metadata}}
        if self.result is not None:
            middleware["result"] = self.result
        return {**self.stack.site.roots(), "middleware": middleware}

    def evaluate(self, template):
        return self.stack.machine.evaluate(template, self.roots, self.now)

    def when(self):
        if (self.entry.name, self.name) not in ACTS:
            return True  # nothing that it could gate: it is not evaluated
        return self.stack.machine.predicate(self.block.get("when", True), self.roots, self.now)

    def arguments(self):
        args = self.block.get("with", {})
        if not (self.entry.name == "finally" and self.name == "onAlways"):  # that one is structural
            args = self.evaluate(args)
        schema.check(schema.PHASES.get((self.entry.name, self.name)), args)
        return args

    def field(self, name, default):
        return self.evaluate(self.block[name]) if name in self.block else default

    def captured(self):
        return {k: self.evaluate(v) for k, v in self.block.get("assign", {}).items()}

    def assign(self):
        self.stack.site.frame.vars = {**self.stack.site.frame.vars, **self.captured()}

    def envelope(self, rising):
        """The onFailure block's envelope keys: a new failure, or the rising one when none is written."""
        written = {k: self.evaluate(self.block[k]) for k in ENVELOPE if k in self.block}
        if not written:
            return rising
        check_envelope(written)
        new = {k: v for k, v in rising.items() if k != "previous"}
        new.update(written)
        if "previous" not in written:
            new["previous"] = rising
        return flying(new, over_cleanup(rising), is_severed(rising) or "previous" in written)
