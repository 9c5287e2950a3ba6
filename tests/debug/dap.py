#!/usr/bin/env python3
"""dap.py MWLVM: the debug adapter, request by request, also those that come at a wrong time."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lsp"))
from client import Client

MWLVM = os.path.abspath(sys.argv[1])
ORDER = os.path.join(HERE, "order.json")
failures = []


def check(what, condition, shown=""):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}: {shown}")


class Adapter(Client):
    def __init__(self):
        super().__init__([MWLVM, "dap"], started=False)
        self.events = []

    def ask(self, command, **arguments):
        """The response of a request; events that come first are kept."""
        self.number += 1
        self.send({"seq": self.number, "type": "request", "command": command, "arguments": arguments})
        while True:
            message = self.read()
            assert message is not None, "the adapter has ended"
            if message["type"] == "response":
                assert message["request_seq"] == self.number and message["command"] == command, message
                return message
            self.events.append(message)

    def wait(self, name):
        """The body of the next event of this name."""
        while True:
            for i, event in enumerate(self.events):
                if event["event"] == name:
                    del self.events[:i + 1]
                    return event.get("body")
            message = self.read()
            assert message is not None, "the adapter has ended"
            self.events.append(message)

    def begin(self, program=ORDER, **more):
        check("initialize", self.ask("initialize", adapterID="mwl")["body"]["supportsStepBack"])
        answer = self.ask("launch", program=program, **more)
        check("launch", answer["success"], answer)
        self.wait("initialized")

    def end(self):
        self.ask("disconnect")
        self.process.stdin.close()
        check("the adapter ends well", self.process.wait(60) == 0)


def runs_to_the_end():
    a = Adapter()
    a.begin()
    a.ask("configurationDone")
    shown = a.wait("output")
    check("the Result", '"type":"success"' in shown["output"], shown)
    check("the exit code", a.wait("exited") == {"exitCode": 0})
    a.wait("terminated")
    check("there is nothing to look at any more", not a.ask("stackTrace", threadId=1)["success"])
    check("nor a way on", not a.ask("continue", threadId=1)["success"])
    a.end()


def steps():
    a = Adapter()
    a.begin(stopOnEntry=True)
    a.ask("configurationDone")
    check("the entry", a.wait("stopped")["reason"] == "entry")
    said = []
    for command in ("stepIn", "stepIn", "next", "next", "stepBack", "stepBack"):
        check(command, a.ask(command, threadId=1)["success"])
        said.append(a.wait("stopped")["description"])
    check("where it stood", said == [
        "Step 'pay' begins", "onEntry of retry around Step 'pay' begins", "Step 'fan' begins", "Step 'end' begins",
        "Step 'fan' ends", said[-1]], said)
    a.ask("setFunctionBreakpoints", breakpoints=[{"name": "pay"}, {"name": "phase onFailure"}])
    a.ask("reverseContinue", threadId=1)
    check("back to a breakpoint", "onFailure" in a.wait("stopped")["description"])
    frame = a.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]
    check("the line of the phase", frame["line"] == 19, frame)
    value = a.ask("evaluate", expression="middleware.result", frameId=frame["id"])["body"]
    check("a value with members", value["variablesReference"] > 0 and value["namedVariables"] == 3, value)
    members = a.ask("variables", variablesReference=value["variablesReference"])["body"]["variables"]
    check("its members", [m["name"] for m in members] == ["type", "code", "message"], members)
    check("a wrong expression", not a.ask("evaluate", expression="1 +")["success"])
    check("a wrong frame", not a.ask("scopes", frameId=99)["success"])
    check("a wrong value", not a.ask("variables", variablesReference=99)["success"])
    a.ask("setFunctionBreakpoints", breakpoints=[])
    a.ask("continue", threadId=1)
    a.wait("terminated")
    a.end()


def lines():
    a = Adapter()
    a.begin()
    def answers(path, *numbers):
        return a.ask("setBreakpoints", source={"path": path},
                     breakpoints=[{"line": n} for n in numbers])["body"]["breakpoints"]
    found = answers(ORDER, 8, 17, 35, 1)
    check("lines become Steps", [b.get("line") for b in found] == [8, 14, 35, None], found)
    check("outside of them there is none", not found[3]["verified"], found)
    check("another file has none", not answers("/etc/passwd", 1)[0]["verified"])
    answers(ORDER, 8)
    a.ask("configurationDone")
    stopped = a.wait("stopped")
    check("it stops there", stopped["reason"] == "breakpoint" and stopped["description"].startswith("Step 'double'"), stopped)
    names = [t["name"] for t in a.ask("threads")["body"]["threads"]]
    check("dispatches are threads", names == ["main", "fan #0", "fan #1", "fan #2"], names)
    a.end()


def waits():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "nap.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{ "$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "nap", "steps": {\n'
                       '"nap": { "action": "Sleep", "for": "PT1H", "next": "end" },\n'
                       '"end": { "action": "Return" } } }')
        a = Adapter()
        a.begin(path, realTime=True)
        a.ask("configurationDone")
        check("it runs", not a.ask("stackTrace", threadId=1)["success"])
        check("breakpoints can be set meanwhile", a.ask("setFunctionBreakpoints", breakpoints=[{"name": "end"}])["success"])
        said = ""
        while "waits" not in said:  # the first pauses may come while it still works
            a.ask("pause", threadId=1)
            stopped = a.wait("stopped")
            said = stopped["description"]
            check("a pause in a wait", stopped["reason"] == "pause", stopped)
            frames = a.ask("stackTrace", threadId=1)["body"]["stackFrames"]
            if "waits" not in said:
                a.ask("continue", threadId=1)
        check("shows where it waits", frames[0]["name"] == "Step 'nap'" and frames[0]["line"] == 2, frames)
        check("real time has no way back", not a.ask("stepBack", threadId=1)["success"])
        a.ask("continue", threadId=1)
        a.end()  # it does not wait for an hour


def wrong():
    a = Adapter()
    check("an unknown request", not a.ask("nothing")["success"])
    check("not before launch", not a.ask("configurationDone")["success"])
    check("nor this", not a.ask("setBreakpoints", source={})["success"])
    answer = a.ask("launch", program="/no/such/file.json")
    check("a program that is not there", not answer["success"], answer)
    a.end()
    a = Adapter()
    a.begin(input={"n": 1}, args=["--seed", "3"])
    a.send_raw(b"Content-Length: 5\r\n\r\n{\"a\":")
    check("text that is not JSON", not a.read()["success"])
    a.process.stdin.close()
    check("the editor may just leave", a.process.wait(60) == 0)


for part in (runs_to_the_end, steps, lines, waits, wrong):
    part()
print(f"{len(failures)} checks failed" if failures else "all checks hold")
sys.exit(1 if failures else 0)
