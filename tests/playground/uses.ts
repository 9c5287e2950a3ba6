// uses.ts: what a user of the npm package writes in TypeScript; types.sh compiles it. A line below a comment that expects an
// error must be refused.
import {assemble, check, Failure, load, MwlError, run, start} from "mwlvm";
import type {Call, Definition, Diagnostic, Json, Provider, Result, RunEvent, RunOptions, State} from "mwlvm";

const flow: Definition = {$schema: "https://mwl.dev/v0.1/flow/schema.json", entrypoint: "a", steps: {a: {action: "Return"}}};

export async function checks(): Promise<string[]> {
  const {ok, diagnostics, problems} = await check(flow, {input: {n: 1}, name: "order.json"});
  if (ok) return [];
  const first: Diagnostic | undefined = diagnostics[0];
  const edits: string[] = first?.fix.map(fix => `${fix.line}:${fix.column} ${fix.text}`) ?? [];
  return [...edits, ...problems.map(p => `${p.in} ${p.message}`)];
}

const pay: Provider = async (call: Call) => {
  call.signal.addEventListener("abort", () => {});
  if (call.with.amount > 10) throw new Failure("Provider.Call.Pay.Declined", "too much", {retryable: false, details: {limit: 10}});
  return {paid: call.with.amount, step: call.step};
};

export async function runs(): Promise<Json> {
  const seen: RunEvent[] = [];
  const options: RunOptions = {
    input: {amount: 3}, virtualTime: true, providers: {"mwl:provider.call/acme/pay/v1": pay, "*": () => null},
    onEvent: event => seen.push(event), signal: new AbortController().signal, fuel: 1e6, memory: 1e7,
  };
  const result: Result = await run(await assemble(flow, {strip: true}), options);
  if (result.type === "success" && "value" in result) return result.value;
  return "code" in result ? `${result.code}: ${result.message ?? ""}` : null;
}

export async function steps(): Promise<State> {
  const mine = await start(flow, {record: true});
  while (!mine.over) {
    for (const call of mine.state.calls) mine.answer(call.number, {n: 1}) || mine.fail(call.number, {code: "Own.Wrong"});
    mine.step();
  }
  const svg: string | null = mine.report().svg;
  mine.dispose();
  return svg ? mine.state : mine.cancel("no graph");
}

export async function own(bytes: Uint8Array): Promise<string> {
  const vm = await load(bytes);
  try {
    vm.assemble("{}");
  } catch (error) {
    if (error instanceof MwlError) return error.diagnostics.map(d => d.message).join();
  }
  return vm.version + vm.missing.join();
}

// @ts-expect-error a definition is needed
void check();
// @ts-expect-error there is no such option
void run(flow, {virtualtime: true});
// @ts-expect-error a provider is a function
void run(flow, {providers: {"mwl:provider.call/acme/pay/v1": 1}});
// @ts-expect-error a program is bytes
void assemble(flow).then(program => program.toUpperCase());
// @ts-expect-error a failure has a code
throw new Failure();
