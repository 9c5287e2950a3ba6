// Restate, a server with its SDK for Node, both on loopback: steps a second. IN_FLIGHT clients, each a chain of STEPS steps.
import * as restate from '@restatedev/restate-sdk';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import http from 'node:http';

const [folder, inFlight, input] = [process.argv[2], Number(process.argv[3]), JSON.parse(process.argv[4])];
const STEPS = 10, SECONDS = 4, SVC = 19081, INGRESS = 18081, ADMIN = 19071, NODE = 15123;
const bin = join(createRequire(import.meta.url).resolve('@restatedev/restate-server-linux-x64/package.json'), '../bin/restate-server');
const svc = restate.service({ name: 'wf', handlers: {
  chain: async (ctx, v) => { for (let i = 0; i < STEPS; i++) v = await ctx.run('s' + i, () => v); return v; },
} });
const child = spawn(bin, ['--bind-ip', '127.0.0.1', '--listen-mode', 'tcp', '--base-dir', folder], { stdio: 'ignore', env: {
  PATH: process.env.PATH, HOME: folder, RESTATE_LISTEN_MODE: 'tcp', RESTATE_BIND_ADDRESS: `127.0.0.1:${NODE}`,
  RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${NODE}`, RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${INGRESS}`,
  RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ADMIN}`, RESTATE_LOG_FILTER: 'error', RESTATE_DISABLE_TELEMETRY: '1', DO_NOT_TRACK: '1' } });
process.on('exit', () => { try { child.kill('SIGKILL'); } catch { /* it has ended */ } });
const agent = new http.Agent({ keepAlive: true, maxSockets: inFlight });
const post = (port, path, body) => new Promise((ok, no) => {
  const d = JSON.stringify(body);
  const r = http.request({ host: '127.0.0.1', port, path, method: 'POST', agent,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(d) } }, (res) => {
    let s = '';
    res.on('data', (c) => { s += c; });
    res.on('end', () => (res.statusCode < 300 ? ok(s) : no(new Error(res.statusCode + ' ' + s.slice(0, 150)))));
  });
  r.on('error', no);
  r.end(d);
});
await restate.serve({ services: [svc], port: SVC, logger: () => {} });
let up = false, last;
for (let i = 0; i < 150 && !up; i++) {
  await new Promise((r) => setTimeout(r, 200));
  try { await post(ADMIN, '/deployments', { uri: `http://127.0.0.1:${SVC}`, use_http_11: false }); up = true; } catch (e) { last = e; }
}
if (!up) throw last;
await post(INGRESS, '/wf/chain', input);
let n = 0;
const begin = performance.now();
await Promise.all(Array.from({ length: inFlight }, async () => {
  while (performance.now() - begin < SECONDS * 1000) { await post(INGRESS, '/wf/chain', input); n++; }
}));
console.log(Math.round((n * STEPS) / ((performance.now() - begin) / 1000)));
process.exit(0);
