"""The reference model: a definition, an input and arguments in, the Result out."""
from flow import Machine
from scheduler import Sched, Unwind
from values import Free, Parts, data


def run(definition, value=None, arguments=None, cancel_after=None, limit=None):
    """The Result, the Steps entered as [nanoseconds, name], and whether the outcome hung on a tie between
    concurrent dispatches that the language leaves open."""
    Parts.made = 0
    sched = Sched()
    machine = Machine(sched, data(definition), limit)
    out = []

    def body(task):
        try:
            _, result = yield from machine.run_frame(task, machine.definition, data(value),
                                                     data(arguments or {}))
        except Unwind as unwind:
            result = unwind.result
        out.append(result)
    root = sched.spawn(body)
    cancelled = {"type": "cancellation", "code": "System.Cancelled", "message": Free(), "details": Free()}
    sched.run(cancel_after, lambda: sched.interrupt(root.root, cancelled))
    assert len(out) == 1, "one Result"
    assert root.stack == [root.root], "every scope was left"
    return out[0], machine.events, sched.tie
