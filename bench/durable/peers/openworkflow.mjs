// openworkflow with its SQLite backend: steps a second. IN_FLIGHT runs at a time, each a chain of STEPS steps.
import { OpenWorkflow } from 'openworkflow';
import { BackendSqlite } from 'openworkflow/sqlite';
import { join } from 'node:path';

const [folder, inFlight, input] = [process.argv[2], Number(process.argv[3]), JSON.parse(process.argv[4])];
const STEPS = 10, RUNS = inFlight;
const backend = BackendSqlite.connect(join(folder, 'openworkflow.db'));
const ow = new OpenWorkflow({ backend });
let left = RUNS, resolve;
const done = new Promise((r) => { resolve = r; });
const chain = ow.defineWorkflow({ name: 'chain' }, async ({ input, step }) => {
  let v = input;
  for (let i = 0; i < STEPS; i++) v = await step.run({ name: 's' + i }, async () => v);
  if (--left === 0) resolve();
  return v;
});
const worker = ow.newWorker({ concurrency: inFlight });
for (let i = 0; i < RUNS; i++) await chain.run(input);
const begin = performance.now();
await worker.start();
await done;
console.log(Math.round((RUNS * STEPS) / ((performance.now() - begin) / 1000)));
await worker.stop();
await backend.stop();
process.exit(0);
