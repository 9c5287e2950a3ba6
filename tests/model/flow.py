"""Frames, Steps, calls and Gather."""
import cel
import schema
from middleware import Stack
from scheduler import SHIELD, Unwind
from values import (ENVELOPE, EPOCH_NS, Free, Failed, check_envelope, duration_ns, flying, is_severed, is_success,
                    link_end, matches, over_cleanup, success, supersede, timestamp_ns, timestamp_text)

LISTED = 1000  # of the failures in System.GatherCompletionUnmet; failureCount tells of the rest


def validation(note):
    return Failed("System.ParameterValidationFailed", note=note)


class Endless(Exception):
    pass


class Frame:
    def __init__(self, machine, flow, value):
        self.machine, self.flow, self.input = machine, flow, value
        self.vars, self.failure = {}, None
        self.entered = machine.stamp()

    def roots(self):
        return {"vars": self.vars, "failure": self.failure, "execution": self.machine.execution,
                "frame": {"input": self.input, "metadata": {"enteredAt": self.entered}}}


class Site:
    """Where expressions stand: in a frame, and perhaps in a Step."""

    def __init__(self, frame, step=None):
        self.frame, self.step = frame, step

    def roots(self):
        roots = self.frame.roots()
        return roots if self.step is None else {**roots, "step": self.step}


class Machine:
    def __init__(self, sched, definition, limit=None):
        self.limit = limit
        self.sched, self.epoch = sched, EPOCH_NS
        self.scopes, self.events, self.steps, self.worked = {}, [], 0, 0
        self.execution = {"id": "execution", "platform": {}, "metadata": {"enteredAt": self.stamp()}}
        self.definition = definition
        self.declare(definition, [])

    def declare(self, node, chain):
        """The chain of `flows` maps that encloses each call object."""
        if isinstance(node, list):
            for item in node:
                self.declare(item, chain)
        elif isinstance(node, dict):
            if "entrypoint" in node and "steps" in node:
                chain = [node.get("flows", {})] + chain
            self.scopes[id(node)] = chain
            for item in node.values():
                self.declare(item, chain)

    def target(self, call):
        if isinstance(call["flow"], dict):
            return call["flow"]
        for flows in self.scopes[id(call)]:
            if call["flow"] in flows:
                return flows[call["flow"]]
        raise ValueError("no Flow " + call["flow"])

    def stamp(self):
        return timestamp_text(self.epoch + self.sched.now)

    def step_id(self):
        self.steps += 1
        return str(self.steps)

    # ---- expressions -----------------------------------------------------------------------------------

    def work(self):
        """Generated programs are small; one that does not end was made so by shrinking."""
        self.worked += 1
        if self.limit and self.worked > self.limit:
            raise Endless()

    def evaluate(self, template, roots, now):
        """A field: literals as written, expressions replaced by their results."""
        if isinstance(template, str):
            body = cel.body_of(template)
            if body is None:
                return template
            return cel.evaluate(body, roots, self.epoch + now, self.epoch + self.sched.now)
        if isinstance(template, list):
            return [self.evaluate(t, roots, now) for t in template]
        if isinstance(template, dict):
            return {k: self.evaluate(t, roots, now) for k, t in template.items()}
        return template

    def predicate(self, template, roots, now):
        body = cel.body_of(template) if isinstance(template, str) else None
        value = template if body is None else \
            cel.raw(body, roots, self.epoch + now, self.epoch + self.sched.now)
        if not isinstance(value, bool):
            raise Failed("System.ExpressionEvaluationError", note="a predicate that is no boolean")
        return value

    # ---- frames ----------------------------------------------------------------------------------------

    def run_frame(self, task, flow, value, arguments):
        """A generator: the frame and its Result."""
        frame = Frame(self, flow, value)
        parameters = flow.get("parameters")
        try:
            schema.check(parameters, arguments)
        except Failed as fault:
            return frame, fault.result
        for name, member in (parameters or {}).get("properties", {}).items():
            if isinstance(member, dict) and "default" in member:
                frame.vars[name] = member["default"]
        frame.vars.update(arguments)
        stack = Stack(self, task, Site(frame), flow.get("middleware", []),
                      lambda v: self.graph(task, frame, v), wraps_graph=True)
        try:
            result = yield from stack.run(value)
        except Unwind as unwind:
            raise Unwind(unwind.scope, left(unwind.result)) from None
        return frame, left(result)

    def graph(self, task, frame, value):
        frame.failure = None
        name = frame.flow["entrypoint"]
        while True:
            step = Step(self, task, frame, name, value)
            name, value = yield from step.run()
            if name is None:
                return value

    # ---- calls -----------------------------------------------------------------------------------------

    def call(self, task, site, roots, call, value):
        """One execution of a call object with its arms; a generator that answers a Result."""
        execution = yield from self.dispatch(task, site, roots, call, value)
        return self.arm(execution, site, roots)

    def dispatch(self, task, site, roots, call, value, index=None):
        """Up to settlement: the fields, the target."""
        self.work()
        run = CallExecution(self, call, value, index)
        try:
            bound = {**roots, "call": run.binding()}
            run.given = self.evaluate(call["input"], bound, run.now) if "input" in call else value
            run.args = self.evaluate(call.get("with", {}), bound, run.now)
            if "provider" not in call and not isinstance(run.args, dict):
                raise validation("with")
        except Failed as fault:
            run.result = fault.result
            return run
        run.dispatched = self.stamp()
        if "provider" in call:
            try:
                schema.check(schema.MOCK, run.args)
                yield from self.mock(task, run)
            except Failed as fault:  # as a frame whose arguments are refused: its Result is that failure
                run.result = fault.result
                run.window = ("provider", {"input": run.given, "result": run.result, "metadata": {}})
        else:
            frame, run.result = yield from self.run_frame(task, self.target(call), run.given, run.args)
            run.window = ("flow", {"input": frame.input, "vars": frame.vars, "result": run.result,
                                   "metadata": {"enteredAt": frame.entered, "exitedAt": self.stamp()}})
        run.exited = self.stamp()
        return run

    def mock(self, task, run):
        delay = duration_ns(run.args.get("delay", "PT0S"))
        if delay > 0:
            yield from task.wait(self.sched.now + delay)
        failure = run.args.get("failure")
        if failure is not None:
            run.result = {"type": "error", **failure}
        else:
            run.result = success(run.args.get("value", run.given))
        run.window = ("provider", {"input": run.given, "result": run.result,
                                   "metadata": run.args.get("metadata", {})})

    def arm(self, run, site, roots):
        """The arm that the settled Result selects; the Call's Result."""
        if run.window is None:
            return run.result  # the call's own fields failed: no target execution settled
        name, window = run.window
        block = run.call.get("onSuccess" if is_success(run.result) else "onFailure", {})
        bound = {**roots, "vars": site.frame.vars, "call": run.binding(), name: window}
        result = run.result
        try:
            if is_success(result) and "value" in block:
                result = success(self.evaluate(block["value"], bound, run.now))
            captured = {k: self.evaluate(v, bound, run.now) for k, v in block.get("assign", {}).items()}
        except Failed as fault:
            return supersede(fault.result, run.result)
        site.frame.vars = {**site.frame.vars, **captured}
        return result


def left(result):
    """A Result that leaves its frame: what an author severed there does not reach further."""
    return flying(result, over_cleanup(result)) if is_severed(result) else result


class CallExecution:
    def __init__(self, machine, call, value, index):
        self.call, self.value, self.index = call, value, index
        self.now, self.entered = machine.sched.now, machine.stamp()
        self.given = self.args = self.result = self.window = self.dispatched = self.exited = None

    def binding(self):
        call = {"input": self.value, "metadata": {"enteredAt": self.entered}}
        if self.index is not None:
            call["index"] = float(self.index)
        if self.result is not None:
            call["result"] = self.result
            call["metadata"] = {"enteredAt": self.entered, "exitedAt": self.exited,
                                "dispatchedAt": self.dispatched, "acceptedAt": self.exited}
        return call


class Step:
    """One execution of one Step. run() answers the next Step's name and value, or None and the graph's
    Result."""

    def __init__(self, machine, task, frame, name, value):
        self.machine, self.task, self.frame = machine, task, frame
        machine.work()
        self.definition = frame.flow["steps"][name]
        self.now = machine.sched.now
        self.binding = {"name": name, "id": machine.step_id(), "action": self.definition["action"], "input": value,
                        "metadata": {"enteredAt": machine.stamp()}}
        self.site = Site(frame, self.binding)
        machine.events.append([self.now, name])

    def evaluate(self, template, **more):
        return self.machine.evaluate(template, {**self.site.roots(), **more}, self.now)

    def field(self, name, default, holder=None, **more):
        holder = self.definition if holder is None else holder
        return self.evaluate(holder[name], **more) if name in holder else default

    def capture(self, holder, **more):
        new = {k: self.evaluate(v, **more) for k, v in holder.get("assign", {}).items()}
        self.frame.vars = {**self.frame.vars, **new}

    def settle(self):
        self.binding["metadata"] = {**self.binding["metadata"], "exitedAt": self.machine.stamp()}

    def run(self):
        action = getattr(self, self.definition["action"].lower())
        try:
            return (yield from action())
        except Failed as fault:
            return self.failed(fault.result)

    def failed(self, failure):
        """The Step resolved to a failure: the failure context, the catch clauses."""
        if "exitedAt" not in self.binding["metadata"]:
            self.settle()
        if self.frame.failure is not None and not is_severed(failure):
            failure = flying(link_end(failure, self.frame.failure), over_cleanup(failure))
        self.frame.failure = dict(failure)
        for clause in self.definition.get("catch", []):
            if matches(clause["match"], failure):
                try:
                    value = self.field("output", self.binding["input"], clause)
                    self.capture(clause)
                except Failed as fault:
                    self.frame.failure = link_end(fault.result, self.frame.failure)
                    return None, self.frame.failure
                return clause["next"], value
        return None, failure

    def succeeded(self, name, value):
        self.frame.failure = None
        return name, value

    # ---- actions ---------------------------------------------------------------------------------------

    def call(self):
        d, machine = self.definition, self.machine
        value = self.field("input", self.binding["input"])

        def dispatch(v):
            return machine.call(self.task, self.site, self.site.roots(), d["call"], v)
        stack = Stack(machine, self.task, self.site, d.get("middleware", []), dispatch)
        result = yield from stack.run(value)
        self.settle()
        self.binding["result"] = result
        if not is_success(result):
            return self.failed(result)
        value = self.field("output", result["value"])
        self.capture(d)
        return self.succeeded(d["next"], value)

    def gather(self):
        d = self.definition
        try:
            result = yield from Gather(self).run()
        except Failed as fault:
            result = fault.result
        self.settle()
        if result is not None:
            return self.failed(result)
        projected = [r["value"] for r in self.binding["results"] if is_success(r)]
        value = self.field("output", projected)
        self.capture(d)
        return self.succeeded(d["next"], value)

    def match(self):
        d = self.definition
        value = self.field("input", self.binding["input"])
        stamp = self.binding["metadata"]
        clause, bound = d["default"], {"input": value, "metadata": stamp}
        for case in d["cases"]:
            roots = {**self.site.roots(), "match": bound}
            if self.machine.predicate(case["when"], roots, self.now):
                clause = case
                break
        self.settle()
        bound = {"input": value, "metadata": self.binding["metadata"]}
        out = self.field("output", value, clause, match=bound)
        self.capture(clause, match=bound)
        return self.succeeded(clause["next"], out)
        yield

    def __getattr__(self, name):
        if name == "pass":
            return self.pass_
        if name == "return":
            return self.return_
        if name == "raise":
            return self.raise_
        raise AttributeError(name)

    def pass_(self):
        self.settle()
        value = self.field("output", self.binding["input"])
        self.capture(self.definition)
        return self.succeeded(self.definition["next"], value)
        yield

    def sleep(self):
        d = self.definition
        if "for" in d:
            text = self.evaluate(d["for"])
            wait = duration_ns(text) if isinstance(text, str) else None
            until = None if wait is None else self.now + wait
        else:
            text = self.evaluate(d["until"])
            at = timestamp_ns(text) if isinstance(text, str) else None
            until = None if at is None else at - self.machine.epoch
        if until is None:
            raise validation("no duration or timestamp")
        if until > self.machine.sched.now:
            yield from self.task.wait(until)
        self.settle()
        return self.succeeded(d["next"], self.binding["input"])

    def return_(self):
        value = self.field("value", self.binding["input"])
        self.frame.failure = None
        return None, success(value)
        yield

    def raise_(self):
        d, active = self.definition, self.frame.failure
        if "result" not in d:
            if active is None:
                self.frame.failure = {"type": "error", "code": "System.EmptyRaise", "message": Free(),
                                      "details": Free()}
            return None, self.frame.failure
        fields = {k: self.evaluate(v) for k, v in d["result"].items() if k in ENVELOPE}
        fields.setdefault("type", "error")
        check_envelope(fields)
        if "previous" not in fields and active is not None:
            fields["previous"] = active
        self.frame.failure = fields
        return None, fields
        yield


class Gather:
    """One fan-out. A slot is None (not started), a task (running), or settled in `results`."""

    def __init__(self, step):
        self.step, self.machine, self.task = step, step.machine, step.task
        self.results, self.executions, self.tasks = [], [], []
        self.closed, self.deciding, self.settled = False, False, []
        self.began = self.machine.sched.now

    def run(self):
        """None when the Gather succeeds, otherwise its failure."""
        step, d = self.step, self.step.definition
        step.binding["results"] = []
        if "calls" in d:
            self.calls = [(c, step.binding["input"]) for c in d["calls"]]
        else:
            over = step.evaluate(d["over"])
            if not isinstance(over, list):
                raise validation("over")
            self.calls = [(d["call"], element) for element in over]
        n = self.n = len(self.calls)
        self.results, self.executions, self.tasks = [None] * n, [None] * n, [None] * n
        step.binding["metadata"] = {**step.binding["metadata"], "dispatchCount": float(n)}
        self.cap = d.get("concurrency") or n
        policy = d.get("completion", {"successes": float(n)})
        self.wait = policy.get("wait", True)
        try:
            self.need = step.evaluate(policy["successes"])
            if not isinstance(self.need, float) or not self.need.is_integer():
                raise validation("successes")
        except Failed as fault:
            step.binding["results"] = [self.skipped() for _ in range(n)]
            raise fault
        results = {k: v for k, v in step.binding.items() if k != "results"}
        self.site = Site(step.frame, results)  # no expression of the fan-out reads step.results
        yield from self.fan_out()
        return self.finish()

    @staticmethod
    def skipped():
        return {"type": "skipped", "code": "System.GatherDispatchSkipped", "message": Free(), "details": Free()}

    def fan_out(self):
        self.decide()
        try:
            yield from self.until_resolved()
        except Unwind as unwind:
            interrupted = [i for i in range(self.n) if self.tasks[i] and self.results[i] is None]
            self.closed = True
            for i in interrupted:
                self.machine.sched.interrupt(self.tasks[i].root, unwind.result)
            self.task.stack.append(SHIELD)
            yield from self.until_resolved()
            self.task.pop(SHIELD)
            rising = unwind.result
            for i in interrupted:
                mine = self.results[i]
                if over_cleanup(mine) and self.executions[i] is None:
                    asked = self.tasks[i].root.asked is unwind.result
                    rising = flying(mine if asked else link_end(mine, unwind.result), True)
                    break
            raise Unwind(unwind.scope, rising)

    def until_resolved(self):
        while any(t is not None and r is None for t, r in zip(self.tasks, self.results)):
            yield from self.task.wait()

    def decide(self):
        """Count what has settled; start, or stop, what the policy asks for. Dispatches start one at a
        time, in order; one that settles at once does so before the next one starts."""
        if self.deciding:
            return
        self.deciding = True
        while not self.closed:
            good = sum(1 for r in self.results if r is not None and is_success(r))
            bad = sum(1 for r in self.results if r is not None) - good
            if not self.wait and (good >= self.need or self.n - bad < self.need):
                self.close()
                break
            active = sum(1 for t, r in zip(self.tasks, self.results) if t and r is None)
            waiting = [i for i, t in enumerate(self.tasks) if t is None]
            if not waiting or active >= self.cap:
                break
            i = waiting[0]
            self.tasks[i] = True  # started; the task itself follows
            self.tasks[i] = self.machine.sched.spawn(lambda task, i=i: self.dispatch(task, i), self.task)
        self.deciding = False

    def close(self):
        self.closed = True
        sched = self.machine.sched
        later = sched.now > self.began
        if not later and any("flow" in call for call, _ in self.calls):
            sched.tie = True  # Flows that end at once: have the others started by then?
        if later and (sum(at == sched.now for at in self.settled) > 1 or any(
                t and r is None and sched.due(t) for t, r in zip(self.tasks, self.results))):
            sched.tie = True
        for task, result in zip(self.tasks, self.results):
            if task and result is None:
                sched.interrupt(task.root, {"type": "cancellation", "message": Free(), "details": Free(),
                                            "code": "System.GatherDispatchCancelled"})

    def dispatch(self, task, i):
        call, value = self.calls[i]
        try:
            run = yield from self.machine.dispatch(task, self.site, self.site.roots(), call, value, i)
            self.executions[i], self.results[i] = run, run.result
        except Unwind as unwind:
            self.results[i] = unwind.result
        self.settled.append(self.machine.sched.now)
        self.decide()
        if not any(t is not None and r is None for t, r in zip(self.tasks, self.results)):
            self.machine.sched.wake(self.task)

    def finish(self):
        """The arms in dispatch order, then the outcome."""
        for i in range(self.n):
            if self.executions[i] is not None:
                self.results[i] = self.machine.arm(self.executions[i], self.site, self.site.roots())
            elif self.results[i] is None:
                self.results[i] = self.skipped()
        self.step.binding["results"] = self.results
        bad = [{"index": float(i), "result": r} for i, r in enumerate(self.results) if not is_success(r)]
        if self.n - len(bad) >= self.need:
            return None
        return {"type": "error", "code": "System.GatherCompletionUnmet", "message": Free(),
                "details": {"failures": bad[:LISTED], "failureCount": float(len(bad))}}
