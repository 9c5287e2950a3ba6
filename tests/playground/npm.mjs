// npm.mjs PACKAGE: the npm package as its tarball has it, extracted into the folder PACKAGE. The example of its README is
// executed; check, assemble and run do what their types say, in real and in virtual time; the cases of tests/cases have
// their Results in WebAssembly too.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import {pathToFileURL, fileURLToPath} from "node:url";

const folder = path.resolve(process.argv[2]);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const mwlvm = await import(pathToFileURL(path.join(folder, "mwlvm.mjs")));
const {load, check, assemble, run, start, Failure, MwlError} = mwlvm;
const read = name => fs.readFileSync(path.join(root, name), "utf8");
let count = 0;
async function test(name, body) {
  try { await body(); count++; } catch (error) { console.log("FAIL", name, error); process.exitCode = 1; }
}
const flow = steps => ({$schema: "https://mwl.dev/v0.1/flow/schema.json", entrypoint: Object.keys(steps)[0], steps});
const PAY = "mwl:provider.call/acme/pay/v1";
const call = more => ({action: "Call", call: {provider: PAY, with: {n: 1}}, next: "done", ...more});
const done = {action: "Return"};
const timeout = duration => [{provider: "mwl:provider.middleware/mwl/timeout/v1", onEntry: {with: {duration}}}];

await test("every export has a type, and the reverse", () => {
  const types = fs.readFileSync(path.join(folder, "mwlvm.d.ts"), "utf8");
  const named = [...types.matchAll(/^export (?:function|class) (\w+)/gm)].map(m => m[1]).sort();
  assert.deepEqual(named, Object.keys(mwlvm).sort());
});
await test("the example of the README", () => {
  const text = fs.readFileSync(path.join(folder, "README.md"), "utf8").match(/```js\n(.*?)```/s)[1];
  const file = path.join(folder, "readme-example.mjs");
  fs.writeFileSync(file, text.replace('from "mwlvm"', 'from "./mwlvm.mjs"'));
  const out = execFileSync(process.execPath, [file], {encoding: "utf8"});
  assert.equal(out.trim(), text.match(/console\.log\(result\); \/\/ (.*)/)[1]);
});
await test("check", async () => {
  const text = JSON.stringify(flow({a: {action: "Return", vlaue: 1}}), null, 2);
  const reply = await check(text);
  assert.equal(reply.ok, false);
  assert.equal(reply.diagnostics[0].name, "unknown-member");
  assert.equal(text.split("\n")[reply.diagnostics[0].line - 1].slice(reply.diagnostics[0].column - 1, reply.diagnostics[0].endColumn - 1), '"vlaue"');
  assert.equal((await check(flow({a: done}))).ok, true);
  assert.equal((await check("not JSON")).ok, false);
});
await test("assemble, and run the program", async () => {
  const program = await assemble(flow({a: {action: "Return", value: "{{ step.input + 1.0 }}"}}));
  assert.ok(program instanceof Uint8Array && program.length > 100);
  assert.deepEqual(await run(program, {input: 41}), {type: "success", value: 42});
  await assert.rejects(assemble("{}"), error => error instanceof MwlError && error.diagnostics.length > 0);
  await assert.rejects(run(new Uint8Array([1, 2, 3])), MwlError);
});
await test("the bytes are those of mwlvm asm", async () => {
  if (!process.argv[3]) return;
  const file = path.join(root, "tools/examples/patterns/polling.json"), out = path.join(folder, "polling.mwlb");
  const example = "tools/examples/hello.json";
  execFileSync(process.argv[3], ["asm", path.join(root, example), "-o", out]);
  assert.deepEqual(Buffer.from(await assemble(read(example), {name: path.join(root, example)})), fs.readFileSync(out), file);
});
await test("providers in JavaScript", async () => {
  const seen = [];
  const providers = {[PAY]: async c => { seen.push(c.with); await new Promise(r => setTimeout(r, 5)); return {got: c.input}; }};
  assert.deepEqual(await run(flow({a: call(), done}), {input: "x", providers}), {type: "success", value: {got: "x"}});
  assert.deepEqual(seen, [{n: 1}]);
  const thrown = await run(flow({a: call(), done}), {providers: {"*": () => { throw new Error("broken"); }}});
  assert.equal(thrown.code, "Mwlvm.Thrown");
  const failed = await run(flow({a: call(), done}), {providers: {"*": () => { throw new Failure("Provider.Call.Pay.No", "no", {details: {a: 1}}); }}});
  assert.deepEqual([failed.code, failed.message, failed.details], ["Provider.Call.Pay.No", "no", {a: 1}]);
  await assert.rejects(run(flow({a: call(), done})), /nothing answers the call/);
  assert.equal((await run(flow({a: call(), done}), {providers: {"*": () => undefined}})).value, null);
});
await test("a Timeout aborts the function", async () => {
  let aborted = false;
  const slow = c => new Promise((resolve, reject) => c.signal.addEventListener("abort", () => { aborted = true; reject(new Error("late")); }));
  const result = await run(flow({a: call({middleware: timeout("PT0.02S")}), done}), {providers: {"*": slow}});
  assert.equal(result.code, "Provider.Middleware.Timeout.Exceeded");
  assert.equal(aborted, true);
});
await test("virtual time stands still while a function works", async () => {
  const providers = {"*": () => new Promise(r => setTimeout(() => r(1), 10))};
  const result = await run(flow({nap: {action: "Sleep", for: "PT12H", next: "a"}, a: call({middleware: timeout("PT1S")}), done}), {virtualTime: true, providers});
  assert.deepEqual(result, {type: "success", value: 1});
});
await test("a signal cancels", async () => {
  const abort = new AbortController();
  const ended = run(flow({a: {action: "Sleep", for: "PT1H", next: "done"}, done}), {signal: abort.signal});
  setTimeout(() => abort.abort(new Error("enough")), 10);
  assert.equal((await ended).type, "cancellation");
  await assert.rejects(run(flow({a: call(), done}), {answers: {a: "never"}}), /never comes/);
});
await test("events and steps", async () => {
  const events = [];
  const r = await start(flow({a: call(), done}), {virtualTime: true, slice: 1, record: true, answers: {a: {value: 5, delay: "PT3S"}}, onEvent: e => events.push(e.event)});
  for (let i = 0; i < 100 && !r.over; i++) r.step();
  assert.deepEqual(r.state.result, {type: "success", value: 5});
  assert.equal(r.state.now, 3e9);
  assert.ok(events.includes("CALL_DISPATCHED") && events.at(-1) === "RUN_DONE");
  assert.match(r.report().svg, /^<svg/);
  r.dispose();
});
await test("limits", async () => {
  const endless = flow({a: {action: "Pass", next: "b"}, b: {action: "Pass", next: "a"}});
  const r = await start(endless, {fuel: 100000});
  await r.finish().catch(() => {});
  assert.match(r.state.why, /work limit/);
  r.dispose();
  assert.equal((await check(flow({a: {action: "Return", value: "{{ " + "(".repeat(20000) + " }}"}}))).ok, false);
});
await test("time zones", async () => {
  const z = flow({a: {action: "Return", value: "{{ step.input.map(t, timestamp(t).getHours('Europe/Lisbon')) }}"}});
  const at = ["1999-07-01T12:00:00Z", "2026-01-01T12:00:00Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2099-07-01T12:00:00Z"];
  const hour = new Intl.DateTimeFormat("en-US", {timeZone: "Europe/Lisbon", hourCycle: "h23", hour: "numeric"});
  assert.deepEqual((await run(z, {input: at})).value, at.map(t => Number(hour.format(new Date(t)))));
  assert.equal((await run(flow({a: {action: "Return", value: "{{ timestamp('2026-01-01T00:00:00Z').getHours('No/Where') }}"}}))).type, "error");
});
await test("an instance of its own, from bytes; require", async () => {
  const bytes = fs.readFileSync(path.join(folder, "mwlvm.wasm"));
  const vm = await load(bytes), other = await load(new WebAssembly.Module(bytes));
  assert.equal(vm.version, JSON.parse(fs.readFileSync(path.join(folder, "package.json"))).version);
  assert.equal(vm.check(flow({a: done})).ok && other.check(flow({a: done})).ok, true);
  const required = createRequire(import.meta.url)(path.join(folder, "mwlvm.cjs"));
  assert.deepEqual(await required.run(flow({a: done}), {input: 3}), {type: "success", value: 3});
  assert.deepEqual(Object.keys(required).sort(), Object.keys(mwlvm).sort());
  await assert.rejects(required.assemble("{}"), required.MwlError);
});

// Of a failure the members that are named; null: not there.
function fits(expected, got) {
  if (Array.isArray(expected)) return Array.isArray(got) && expected.length === got.length && expected.every((e, i) => fits(e, got[i]));
  if (expected === null || typeof expected !== "object") return expected === got || (expected === null && got === undefined);
  if (got === null || typeof got !== "object") return false;
  const failure = "type" in expected && expected.type !== "success";
  return Object.keys(expected).every(k => fits(expected[k], got[k])) && (failure || Object.keys(got).every(k => k in expected));
}
let scenarios = 0;
await test("the cases of tests/cases", async () => {
  const vm = await load();
  const bad = [];
  const all = fs.readdirSync(path.join(root, "tests/cases"), {withFileTypes: true}).filter(d => d.isDirectory());
  for (const group of all) for (const name of fs.readdirSync(path.join(root, "tests/cases", group.name))) {
    const dir = path.join(root, "tests/cases", group.name, name);
    for (const scenario of fs.readdirSync(path.join(dir, "scenarios"))) {
      const file = n => path.join(dir, "scenarios", scenario, n);
      const json = n => fs.existsSync(file(n)) ? JSON.parse(fs.readFileSync(file(n), "utf8")) : undefined;
      if (json("control.json")) continue; // limits, which are about the command's defaults
      scenarios++;
      const result = await vm.run(fs.readFileSync(path.join(dir, "definition.json"), "utf8"), {virtualTime: true, input: json("input.json"), arguments: json("arguments.json")})
        .catch(e => ({error: e.message}));
      if (!fits(json("expected-result.json"), result)) bad.push([name, scenario, JSON.stringify(result).slice(0, 300)]);
    }
  }
  assert.deepEqual(bad, []);
  assert.ok(scenarios > 500);
});
console.log(`${count} tests, ${scenarios} scenarios`);
