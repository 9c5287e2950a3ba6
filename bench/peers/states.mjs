// wf (a) to (g) in aws-local-stepfunctions: the Amazon States Language, interpreted in this process.
import { StateMachine } from 'aws-local-stepfunctions';
import { expect, input, measureAsync, measureParked, thousand } from './measure.mjs';

const peer = 'aws-local-stepfunctions';
const machine = (StartAt, States) => new StateMachine({ StartAt, States }, { validationOptions: { noValidate: true } });
const task = (more) => ({ Type: 'Task', Resource: 'arn:aws:lambda:eu-west-1:000000000000:function:work', ...more });
const withTask = (work, more) => ({ overrides: { taskResourceLocalHandlers: { work }, ...more } });

const ten = { end: { Type: 'Succeed' } };
for (let i = 0; i < 10; i++) {
  ten[`s${i}`] = { Type: 'Pass', Parameters: { 'n.$': 'States.MathAdd($.n, 1)', 's.$': '$.s' }, Next: i < 9 ? `s${i + 1}` : 'end' };
}
const machines = {
  a: machine('s0', { s0: { Type: 'Pass', Next: 'end' }, end: { Type: 'Succeed' } }),
  b: machine('s0', ten),
  c: machine('work', { work: task({ Retry: [{ ErrorEquals: ['Flaky'], MaxAttempts: 2 }], End: true }) }),
  // The language counts nothing by itself: the value that goes round is the count.
  d: machine('work', {
    work: task({ Next: 'again' }), end: { Type: 'Succeed' },
    again: { Type: 'Choice', Choices: [{ Variable: '$', NumericLessThan: 1000, Next: 'work' }], Default: 'end' },
  }),
  e: machine('each', { each: { Type: 'Map', ItemProcessor: { StartAt: 'work', States: { work: task({ End: true }) } }, End: true } }),
  f: machine('work', { work: task({ TimeoutSeconds: 0.001, Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'end' }], End: true }), end: { Type: 'Succeed' } }),
  g: machine('wait', { wait: { Type: 'Wait', Seconds: 3600, Next: 'end' }, end: { Type: 'Succeed' } }),
};
class Flaky extends Error { name = 'Flaky'; }

const minimal = () => machines.a.run(input).result;
const chain = () => machines.b.run(input).result;
const retry = () => {
  let calls = 0;
  const flaky = async () => { if (++calls < 3) throw new Flaky('not yet'); return calls; };
  return machines.c.run(input, withTask(flaky, { retryIntervalOverrides: { work: 0 } })).result;
};
const loop = () => machines.d.run(0, withTask((value) => value + 1)).result;
const fan = () => machines.e.run(thousand, withTask((value) => value)).result;
const timeout = () => machines.f.run(input, withTask(() => new Promise(() => {}))).result;

if (process.argv[2] === 'parked') await measureParked(peer, (i) => machines.g.run({ n: i, s: 'granule-0001' }));
expect((await minimal()).n === 1 && (await chain()).n === 11, 'a, b');
expect(await retry() === 3 && await loop() === 1000 && (await fan()).length === 1000, 'c, d, e');
expect((await timeout()).Error === 'States.Timeout', 'f');
await measureAsync('wf', peer, 'a_min', minimal, 100);
await measureAsync('wf', peer, 'b_chain10', chain, 100);
await measureAsync('wf', peer, 'c_retry', retry, 100);
await measureAsync('wf', peer, 'd_loop1000', loop);
await measureAsync('wf', peer, 'e_fan1000', fan);
await measureAsync('wf', peer, 'f_timeout', timeout, 2000);
