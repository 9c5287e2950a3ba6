"""Virtual time, tasks and interruption.

A task is one serial thread: the root frame with all it calls, and each dispatch of a Gather. It is a Python
generator; it parks by yielding an instant (wait until then) or None (wait to be woken). Time moves only when
nothing can run. At one instant: what is ready and what is due runs first, then bounds fire, outermost first
and one at a time with all that follows, then the cancellation from outside.

A Scope is a stretch of a task that somebody may interrupt: a Timeout's inner scope, a dispatch, the run. The
interruption is the exception Unwind, thrown where the task is parked; its `result` is the Result in flight. A
SHIELD on the task's stack marks a running onAlways (or a Gather that waits for its dispatches' teardown): an
interruption owned outside it waits until forward execution would resume, and is then imposed (`resume`)."""
import heapq
from collections import deque

from values import flying, is_severed, is_success, link_end, over_cleanup

SHIELD = object()


class Unwind(Exception):
    def __init__(self, scope, result):
        super().__init__("unwind")
        self.scope, self.result = scope, result


class Scope:
    def __init__(self, task):
        self.task, self.asked = task, None
        self.depth = task.depth + len(task.stack)


class Task:
    def __init__(self, sched, parent):
        self.sched, self.parent, self.stack = sched, parent, []
        self.depth = parent.depth + len(parent.stack) if parent else 0
        self.ran = None
        self.body, self.park, self.parked, self.throw = None, 0, False, None
        self.root = self.push()

    def push(self):
        self.stack.append(Scope(self))
        return self.stack[-1]

    def pop(self, item):
        assert self.stack.pop() is item

    def open_scopes(self):
        """The scopes, outermost first, that no shield protects now."""
        out = []
        for item in self.stack:
            out = [] if item is SHIELD else out + [item]
        return out

    def resume(self, result):
        """Forward execution would go on with this Result: an interruption that waited begins here. A failed
        cleanup whose failure is in flight is not hidden by it; any other failure is linked beneath the explanation
        of a bound. None: nothing but the cancellation of an interruption further inside is in flight."""
        waiting = [s for s in self.open_scopes() if s.asked is not None]
        if waiting:
            scope = min(waiting, key=lambda s: s.number)  # who asked first
            if not over_cleanup(result):
                displaces = result is not None and not is_success(result) and scope.asked.get("previous")
                raise Unwind(scope, link_end(scope.asked, result) if displaces else scope.asked)
            raise Unwind(scope, flying(link_end(result, scope.asked), True, is_severed(result)))

    def wait(self, until=None):
        """Park; the scheduler resumes the generator, or throws."""
        yield until


class Sched:
    def __init__(self):
        self.now, self.seq = 0, 0
        self.ready, self.waits, self.bounds = deque(), [], []
        self.tie = False  # the language does not say who of two siblings comes first, and it matters

    def number(self):
        self.seq += 1
        return self.seq

    def spawn(self, make_body, parent=None):
        """A new task that runs make_body(task): at once, until it parks for the first time."""
        task = Task(self, parent)
        task.body = make_body(task)
        self.step(task)
        return task

    def due(self, root):
        """Whether the task or one below it has, or had, something to do at this very instant."""
        def below(task):
            while task is not None and task is not root:
                task = task.parent
            return task is root
        return root.ran == self.now or any(below(t) for t in self.ready) \
            or any(at <= self.now and t.parked and t.park == park and below(t)
                   for at, park, t in self.waits) \
            or any(b[0] <= self.now and b[3] in b[3].task.stack and below(b[3].task)
                   for b in self.bounds)

    def wake(self, task):
        if task.parked:
            task.parked = False
            self.ready.append(task)

    def bound(self, at, scope, cancellation):
        heapq.heappush(self.bounds, (at, scope.depth, self.number(), scope, cancellation))

    def interrupt(self, scope, cancellation):
        """Ask the scope's task to unwind out of it, with this cancellation in flight."""
        task = scope.task
        if scope.asked is not None or scope not in task.stack:
            return
        scope.asked, scope.number = cancellation, self.number()
        if scope not in task.open_scopes():
            return  # shielded: imposed where forward execution would resume
        task.throw = Unwind(scope, cancellation)
        self.wake(task)

    def step(self, task):
        up = task
        while up is not None:
            up.ran, up = self.now, up.parent
        try:
            if task.throw:
                unwind, task.throw = task.throw, None
                until = task.body.throw(unwind)
            else:
                until = next(task.body)
        except StopIteration:
            return
        task.parked = True
        task.park = self.number()
        if until is not None:
            heapq.heappush(self.waits, (max(until, self.now), task.park, task))

    def run(self, cancel_at, cancel):
        """Until nothing is left to do. cancel() is called once, at cancel_at."""
        while True:
            while self.ready:
                self.step(self.ready.popleft())
            if self.waits and self.waits[0][0] <= self.now:
                _, park, task = heapq.heappop(self.waits)
                if task.parked and task.park == park:
                    self.wake(task)
            elif self.bounds and self.bounds[0][0] <= self.now:
                _, _, _, scope, cancellation = heapq.heappop(self.bounds)
                self.interrupt(scope, cancellation)
            elif cancel_at is not None and cancel_at <= self.now:
                cancel_at = None
                cancel()
            else:
                while self.waits and not (self.waits[0][2].parked and
                                          self.waits[0][2].park == self.waits[0][1]):
                    heapq.heappop(self.waits)
                while self.bounds and self.bounds[0][3] not in self.bounds[0][3].task.stack:
                    heapq.heappop(self.bounds)
                times = [self.waits[0][0]] if self.waits else []
                if not times:
                    return
                times += [self.bounds[0][0]] if self.bounds else []
                times += [cancel_at] if cancel_at is not None else []
                self.now = min(times)
