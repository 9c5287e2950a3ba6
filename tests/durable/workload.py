"""workload.py: what durable runs do in the tests that kill them: a Flow of effects, sleeps and waits for answers, and the
history that checker.py reads."""
import os

EXEC = "mwl:provider.call/mwlvm/exec/v1"


def effect(name, following, **members):
    """What it carries depends on when the Step began: another incarnation would send something else."""
    text = "{{ '%s ' + string(step.metadata.enteredAt) }}" % name
    return {"action": "Call", "output": "{{ step.input }}", "next": following,
            "call": {"provider": EXEC, "with": {"argv": ["./effect", "{{ execution.id }}", text]}}, **members}


def wait(following, output):
    return {"action": "Call", "output": output, "next": following,
            "call": {"provider": "mwl:provider.call/mwlvm/answer/v1", "with": {"name": "go"}}}


def steps(blocks):
    """Blocks of effect, sleep, effect, effect; a wait in the first block and in the last one."""
    all_of = {}
    for i in range(blocks):
        last = i + 1 == blocks
        all_of |= {
            f"a{i}": effect(f"first{i}", f"w{i}" if i == 0 or last else f"n{i}"),
            f"n{i}": {"action": "Sleep", "for": "PT0.01S", "next": f"b{i}"},
            f"b{i}": effect(f"second{i}", f"c{i}"),
            f"c{i}": effect(f"third{i}", "end" if last else f"a{i + 1}")}
    all_of["w0"] = wait("n0", "{{ [step.result.value] }}")
    all_of[f"w{blocks - 1}"] = wait(f"n{blocks - 1}", "{{ step.input + [step.result.value] }}")
    return all_of | {"end": {"action": "Return", "value": "{{ {'answers': step.input} }}"}}


def flow(blocks):
    return {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a0", "steps": steps(blocks)}


def effects(blocks):
    """The first words of its effects."""
    return [f"{name}{i}" for i in range(blocks) for name in ("first", "second", "third")]


def turns(n):
    """One Call, so often: each is a transition that the store has before the next one begins."""
    loop = {"provider": "mwl:provider.middleware/mwl/loop/v1", "onSuccess": {"when": "{{ middleware.metadata.iteration < %d.0 }}" % n}}
    return {"a": {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/random/v1"}, "middleware": [loop],
                  "next": "end"}}


def note(*words):
    """One line, with one write."""
    fd = os.open("history", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (" ".join(words) + "\n").encode())
    os.close(fd)
