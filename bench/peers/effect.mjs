// wf (a) to (g) in effect: a run is a fiber, expressions are closures of JavaScript.
import { Effect } from 'effect';
import { expect, input, measure, measureAsync, measureParked, thousand } from './measure.mjs';

const peer = 'effect';
const addOne = (value) => Effect.sync(() => ({ n: value.n + 1, s: value.s }));
const noop = (value) => Effect.sync(() => value);

const minimal = () => Effect.runSync(Effect.flatMap(Effect.succeed(input), Effect.succeed));
const chain = () => {
  let flow = Effect.succeed(input);
  for (let i = 0; i < 10; i++) flow = Effect.flatMap(flow, addOne);
  return Effect.runSync(flow);
};
const retry = () => {
  let calls = 0;
  const flaky = Effect.suspend(() => (++calls < 3 ? Effect.fail({ code: 'Provider.Call.Flaky' }) : Effect.succeed(calls)));
  return Effect.runPromise(Effect.retry(flaky, { times: 2, while: (failure) => failure.code.startsWith('Provider.Call.') }));
};
const loop = () => Effect.runPromise(Effect.gen(function* () {
  let value = input, iteration = 0;
  do { value = yield* noop(value); } while (++iteration < 1000);
  return iteration;
}));
const fan = () => Effect.runPromise(Effect.forEach(thousand, noop, { concurrency: 'unbounded' }));
const timeout = () => Effect.runPromise(Effect.catch(Effect.timeout(Effect.never, '1 millis'), (failure) => Effect.succeed(failure._tag)));
const sleeper = (value) => Effect.flatMap(Effect.sleep('1 hour'), () => Effect.succeed(value));

if (process.argv[2] === 'parked') await measureParked(peer, (i) => Effect.runFork(sleeper({ n: i, s: 'granule-0001' })));
expect(minimal().n === 1 && chain().n === 11, 'a, b');
expect(await retry() === 3 && await loop() === 1000 && (await fan()).length === 1000, 'c, d, e');
expect(/Timeout/.test(await timeout()), 'f');
measure('wf', peer, 'a_min', minimal);
measure('wf', peer, 'b_chain10', chain);
await measureAsync('wf', peer, 'c_retry', retry, 500);
await measureAsync('wf', peer, 'd_loop1000', loop);
await measureAsync('wf', peer, 'e_fan1000', fan);
await measureAsync('wf', peer, 'f_timeout', timeout, 2000);
