// How the Node peers measure: processor time of the whole process, since a batch of runs that wait for a timer costs
// what they work and not what they wait, and the collector's threads belong to the price. One JSON line per case.
const SAMPLES = 5, LEAST_MS = 45, WARM_MS = 250;

export const input = Object.freeze({ n: 1, s: 'granule-0001' });
export const thousand = Object.freeze(Array.from({ length: 1000 }, (_, i) => i));

export function expect(right, what) {
  if (!right) throw new Error(`wrong answer: ${what}`);
}
export function line(suite, peer, name, figures) {
  process.stdout.write(JSON.stringify({ suite, peer, case: name, ...figures }) + '\n');
}
const busy = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };

function report(suite, peer, name, samples, n) {
  samples.sort((x, y) => x - y);
  line(suite, peer, name, { unit: 'ns/op', median: samples[SAMPLES >> 1], min: samples[0], max: samples[SAMPLES - 1], n });
}

export function measure(suite, peer, name, work) {
  let n = 1, end = performance.now() + WARM_MS, last;
  while (performance.now() < end) last = work();
  const sample = () => { const start = busy(); for (let i = 0; i < n; i++) last = work(); return busy() - start; };
  while (sample() < LEAST_MS) n *= 2;
  report(suite, peer, name, Array.from({ length: SAMPLES }, () => sample() * 1e6 / n), n * SAMPLES);
  return last;
}

// `together` runs are started at once and all awaited: that is one batch.
export async function measureAsync(suite, peer, name, work, together = 1) {
  const batch = () => Promise.all(Array.from({ length: together }, work));
  const end = performance.now() + WARM_MS;
  do await batch(); while (performance.now() < end);
  const samples = [];
  let done = 0;
  for (let s = 0; s < SAMPLES; s++) {
    let batches = 0;
    const start = busy();
    do { await batch(); batches++; } while (busy() - start < LEAST_MS);
    samples.push((busy() - start) * 1e6 / (batches * together));
    done += batches * together;
  }
  report(suite, peer, name, samples, done);
}

// Memory of 100,000 runs that sleep for an hour. Needs node --expose-gc. Ends the process.
export async function measureParked(peer, start) {
  const N = 100000, turn = () => new Promise((go) => setImmediate(go));
  for (let i = 0; i < 20; i++) start(i);
  await turn();
  gc(); gc();
  const before = process.memoryUsage(), began = busy(), kept = [];
  for (let i = 0; i < N; i++) {
    kept.push(start(i));
    if (i % 1000 === 999) await turn();
  }
  for (let i = 0; i < 3; i++) await turn();
  const took = busy() - began;
  gc(); gc();
  const after = process.memoryUsage();
  const waiting = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  expect(waiting >= N && kept.length === N, `${waiting} timers`);
  const live = (after.heapUsed - before.heapUsed) / N;
  line('wf', peer, 'g_parked', { unit: 'bytes/run', median: live, min: live, max: live, rss: (after.rss - before.rss) / N, startNs: took * 1e6 / N, n: N });
  process.exit(0);
}
