// dap.cjs MWLVM: the debug adapter as VS Code's own test client sees it (@vscode/debugadapter-testsupport).
"use strict";
const assert = require("assert");
const path = require("path");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const program = path.resolve(__dirname, "..", "debug", "order.json");

async function session(mwlvm, body) {
    const client = new DebugClient(mwlvm, "dap", "mwl");
    client.defaultTimeout = 120000; // a busy machine
    const exits = new Promise((done) => client.once("exited", (event) => done(event.body.exitCode)));
    await client.start();
    try {
        await body(client, exits);
    } finally {
        await client.stop();
    }
}

async function main() {
    const mwlvm = process.argv[2];

    await session(mwlvm, async (c, exits) => { // to the end
        await Promise.all([c.configurationSequence(), c.launch({ program }), c.waitForEvent("terminated")]);
        assert.strictEqual(await exits, 0);
    });

    await session(mwlvm, async (c) => { // a breakpoint on a line inside a Step stops at the Step
        await Promise.all([
            c.launch({ program }),
            c.waitForEvent("initialized").then(async () => {
                const answer = await c.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 31 }] });
                assert.deepStrictEqual([answer.body.breakpoints[0].verified, answer.body.breakpoints[0].line], [true, 28]);
                await c.configurationDoneRequest();
            }),
            c.assertStoppedLocation("breakpoint", { path: program, line: 28 }),
        ]);
        const { body: { threads } } = await c.threadsRequest();
        assert.deepStrictEqual(threads.map((t) => t.name), ["main"]);
        await Promise.all([c.nextRequest({ threadId: 1 }), c.assertStoppedLocation("step", { path: program, line: 35 })]);
        await Promise.all([c.continueRequest({ threadId: 1 }), c.waitForEvent("terminated")]);
    });

    await session(mwlvm, async (c) => { // Steps by name, dispatches as threads, variables, back
        await Promise.all([
            c.launch({ program }),
            c.waitForEvent("initialized").then(async () => {
                await c.setFunctionBreakpointsRequest({ breakpoints: [{ name: "double", condition: "step.input == 2.0" }] });
                await c.configurationDoneRequest();
            }),
            c.waitForEvent("stopped"),
        ]);
        const { body: { threads } } = await c.threadsRequest();
        assert.deepStrictEqual(threads.map((t) => t.name), ["main", "fan #1", "fan #2"]);
        const here = threads.find((t) => t.name === "fan #1").id;
        const { body: { stackFrames } } = await c.stackTraceRequest({ threadId: here });
        assert.deepStrictEqual(stackFrames.map((f) => f.name), ["Step 'double' of Flow 'inner'", "Step 'fan'"]);
        const { body: { scopes } } = await c.scopesRequest({ frameId: stackFrames[0].id });
        const step = scopes.find((s) => s.name === "step");
        const { body: { variables } } = await c.variablesRequest({ variablesReference: step.variablesReference });
        assert.strictEqual(variables.find((v) => v.name === "input").value, "2");
        const { body: { result } } = await c.evaluateRequest({ expression: "step.input + 1.0", frameId: stackFrames[0].id });
        assert.strictEqual(result, "3");
        await Promise.all([c.stepInRequest({ threadId: here }), c.waitForEvent("stopped")]);
        await Promise.all([c.stepBackRequest({ threadId: here }), c.waitForEvent("stopped")]);
        const again = await c.stackTraceRequest({ threadId: here });
        assert.strictEqual(again.body.stackFrames[0].name, "Step 'double' of Flow 'inner'");
        const out = c.waitForEvent("stopped");
        await c.stepOutRequest({ threadId: here });
        assert.strictEqual((await out).body.threadId, 1);
        await Promise.all([c.continueRequest({ threadId: 1 }), c.waitForEvent("terminated")]);
    });

    await session(mwlvm, async (c) => { // failures
        await Promise.all([
            c.launch({ program }),
            c.waitForEvent("initialized").then(async () => {
                await c.setExceptionBreakpointsRequest({ filters: [], filterOptions: [{ filterId: "code", condition: "Bank.*" }] });
                await c.configurationDoneRequest();
            }),
            c.waitForEvent("stopped").then((event) => assert.strictEqual(event.body.reason, "exception")),
        ]);
        const info = await c.customRequest("exceptionInfo", { threadId: 1 });
        assert.strictEqual(info.body.exceptionId, "Bank.Busy");
    });
    console.log("all checks hold");
}

main().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
});
