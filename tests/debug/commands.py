#!/usr/bin/env python3
"""commands.py MWLVM: the commands of `mwlvm debug`, by what they show."""
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile

MWLVM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = os.path.join(HERE, "order.json")
failures = []


def check(what, condition, shown=""):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}:\n{shown}")


def debug(commands, *options, definition=ORDER):
    """What each command showed: a list of texts; the first is what is shown at the beginning."""
    run = subprocess.run([MWLVM, "debug", definition, "--script", "-", *options], input="\n".join(commands) + "\n",
                         capture_output=True, text=True, timeout=120)
    check("the debugger ends well", run.returncode == 0, run.stderr)
    parts, rest = [], run.stdout
    for command in commands:
        before, found, rest = rest.partition(f"(mwl) {command}\n")
        check(f"'{command}' is shown", found, run.stdout)
        parts.append(before)
    return parts + [rest]


def stops(commands, *options, **more):
    """The first line of each."""
    return [part.split("\n")[0].split(", at ")[0] for part in debug(commands, *options, **more)]


# ---- breakpoints
shown = stops(["break end", "c"])
check("on a Step", shown[2] == "Breakpoint 1: Step 'end' begins", shown)
shown = stops(["break phase onFailure", "c", "c"])
check("on a phase", shown[2:] == ["Breakpoint 1: onFailure of retry around Step 'pay' begins"] * 2, shown)
shown = stops(["break provider mock", "break provider mwl:provider.middleware/mwl/retry/v1", "c", "c"])
check("on a provider", shown[3:] == ["Breakpoint 2: onEntry of retry around Step 'pay' begins",
                                     "Breakpoint 1: the call of mock of Step 'pay' begins"], shown)
shown = stops(["break code Bank.*", "c", "c", "c", "c"])
check("on a code, once for each failure", shown[2:] == [
    "Breakpoint 1: the call of Step 'pay' ends with the failure Bank.Busy"] * 3 + [shown[-1]] and
    shown[-1].startswith("The run is over"), shown)
shown = stops(["break when has(vars.failed) && vars.failed == 2.0", "c", "print vars.failed"])
check("on a condition", shown[2].startswith("Breakpoint 1: retry around Step 'pay' runs again: attempt 3") and
      shown[3] == "2", shown)
shown = stops(["break double if step.input == 3.0", "c", "p step.input"])
check("with a condition", shown[2:] == ["Breakpoint 1: Step 'double' begins (in dispatch #2)", "3"], shown)
shown = stops(["break nothing", "break", "delete 4", "breaks", "nonsense"])
check("wrong ones are refused", shown[1] == "no Flow has a Step 'nothing'" and "needs a Step" in shown[2] and
      "no such" in shown[3] and "no breakpoints" in shown[4] and "no command" in shown[5], shown)

# ---- steps
shown = stops(["n", "n", "n", "n", "n"])
check("next goes from Step to Step", shown[1:] == [
    "Step 'pay' begins", "Step 'fan' begins", "Step 'end' begins", "Flow '(root)' ends", shown[5]] and
    shown[5].startswith("The run is over"), shown)
shown = stops(["break double", "c", "out", "delete 1", "out"])
check("out goes to the caller", shown[3] == "dispatch 0 of 3 of Step 'fan' ends", shown)
check("out of the root is its end", shown[5] == "Flow '(root)' ends", shown)
shown = stops(["phase", "phase", "phase"])
check("phase goes from phase to phase", shown[1:] == [
    "onEntry of retry around Step 'pay' begins"] + ["onFailure of retry around Step 'pay' begins"] * 2, shown)
shown = debug(["n"])
check("the line and a caret are shown", '14 |     "pay": {\n   |     ^^^^^\n' in shown[1], shown[1])
shown = debug(["phase", "phase"])
check("the caret is under the phase", '"onFailure": {' in shown[2] and " ^^^^^^^^^^^\n" in shown[2], shown[2])
check("waits take no time", "at 10.000 s" in debug(["phase"] * 3)[3])

# ---- values
shown = debug(["break phase onFailure", "c", "p vars", "p middleware.result.code", "p middleware.metadata", "p step.name",
               "p failure", "p execution.id", "p size(step.name) + 1", "p 1 +", "p nothing", "p match", "p vars.none"])
check("vars", shown[3] == "{}\n", shown[3])
check("middleware", shown[4] == '"Bank.Busy"\n' and '"attempt": 1' in shown[5], shown[4:6])
check("step, failure, execution", shown[6] == '"pay"\n' and shown[7] == "null\n" and len(shown[8]) > 4, shown)
check("an expression", shown[9] == "4\n", shown[9])
check("what is wrong in one", "column" in shown[10] and "nothing" in shown[11], shown[10:12])
check("a root that is not here", "no `match` here" in shown[12], shown[12])
check("a member that is not there", "none" in shown[13], shown[13])
check("the first frame", debug(["w"])[1] == "> the root Flow, line 14\n", debug(["w"]))
shown = debug(["break give", "c", "w"])
check("frames of a Gather", "fan #0:" in shown[3] and "> Step 'give' of Flow 'inner', line 9" in shown[3], shown[3])

# ---- back
shown = stops(["s", "s", "n", "n", "back", "back", "back", "back", "back"])
check("back is the way one came", shown[5:] == [shown[3], shown[2], shown[1], shown[0], "this is the beginning"], shown)
shown = stops(["break fan", "break end", "c", "c", "c", "back break", "back break", "back break"])
check("back to breakpoints", shown[6:] == ["Step 'end' begins", "Step 'fan' begins", "Flow '(root)' begins"], shown)
shown = stops(["c", "back", "c"])
check("back from the end", shown[2] == shown[0] and shown[3] == shown[1], shown)
shown = stops(["break fan", "c", "cancel", "c", "back", "c"])
check("a cancellation", '"type":"cancellation"' in shown[4], shown)
check("is taken back too", '"type":"success"' in shown[6], shown)

# ---- the world outside
with tempfile.TemporaryDirectory() as folder:
    made = os.path.join(folder, "made")
    flow = os.path.join(folder, "flow.json")
    with open(flow, "w", encoding="utf-8") as file:
        file.write("""{ "$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
 "a": { "action": "Call", "call": { "provider": "mwl:provider.call/mwlvm/exec/v1",
        "with": { "argv": ["sh", "-c", "echo x >> %s; wc -l < %s"] } }, "next": "b" },
 "b": { "action": "Return", "value": "{{ step.input }}" } } }""" % (made, made))
    shown = stops(["break b", "c", "p step.input", "back", "c", "p step.input", "back", "back", "c", "c"], "--allow-exec",
                  definition=flow)
    check("a real call is made", shown[2] == "Breakpoint 1: Step 'b' begins", shown)
    check("and answers the same after back", shown[3] == shown[6], shown)
    with open(made, encoding="utf-8") as file:
        check("but is not made again", file.read() == "x\n")

with tempfile.TemporaryDirectory() as folder:
    flow = os.path.join(folder, "flow.json")
    with open(flow, "w", encoding="utf-8") as file:
        file.write("""{ "$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
 "a": { "action": "Call", "call": { "provider": "mwl:provider.call/mwlvm/env/v1", "with": { "names": "TOKEN" } },
        "assign": { "token": "{{ step.result.value }}" }, "next": "b" },
 "b": { "action": "Return", "value": "done" } } }""")
    os.environ["TOKEN"] = "hunter2-and-more"
    shown = debug(["break b", "c", "p vars", "p vars.token", "p 'x' + vars.token", "c"], "--allow-env=TOKEN",
                  definition=flow)
    check("secrets are not shown", "hunter2" not in "".join(shown) and "[secret]" in shown[3], shown)

# ---- the terminal
parent, child = pty.openpty()
process = subprocess.Popen([MWLVM, "debug", ORDER], stdin=child, stdout=child, stderr=child,
                           env={**os.environ, "TERM": "xterm"})
os.close(child)
os.write(parent, b"break end\nc\n\nquit\n")
text = b""
while True:
    try:
        data = os.read(parent, 4096)
    except OSError:
        break
    if not data:
        break
    text += data
check("a prompt on a terminal", b"(mwl)" in text and b"Breakpoint 1" in text and b"The run is over" in text, text)
check("it ends well", process.wait(60) == 0)

with tempfile.TemporaryDirectory() as folder:
    flow = os.path.join(folder, "nap.json")
    with open(flow, "w", encoding="utf-8") as file:
        file.write("""{ "$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "nap", "steps": {
 "nap": { "action": "Sleep", "for": "PT1H", "next": "end" }, "end": { "action": "Return" } } }""")
    process = subprocess.Popen([MWLVM, "debug", flow, "--real-time", "--script", "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    shown = process.stdout.readline()  # it has begun
    while "waits" not in shown:  # a signal may come while it still works: then it stops earlier
        process.stdin.write("c\n")
        process.stdin.flush()
        data = ""
        while not any(word in data for word in ("begins", "ends", "waits")):
            process.send_signal(signal.SIGINT)
            if select.select([process.stdout], [], [], 0.3)[0]:
                data += os.read(process.stdout.fileno(), 4096).decode()
        shown += data
    check("Ctrl-C stops a run that waits", "Step 'nap' waits" in shown, shown)
    process.communicate("quit\n", timeout=60)

run = subprocess.run([MWLVM, "debug", "no-such-file.json"], capture_output=True, text=True)
check("a file that is not there", run.returncode == 2 and "no-such-file" in run.stderr, run.stderr)
run = subprocess.run([MWLVM, "debug", ORDER, "--real-time", "--script", "-"], input="n\nback\n", capture_output=True, text=True)
check("real time has no way back", "virtual time" in run.stdout, run.stdout)
print(f"{len(failures)} checks failed" if failures else "all checks hold")
sys.exit(1 if failures else 0)
