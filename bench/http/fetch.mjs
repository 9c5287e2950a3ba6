// fetch.mjs URL COUNT CONCURRENCY [MODULE]: the same requests by undici: the package at MODULE (its Pool), or Node's fetch,
// which is a copy of undici in Node.
import { pathToFileURL } from "node:url";
const [url, count, together] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
let get = async () => {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(String(response.status));
  return response.json();
};
if (process.argv[5]) {
  const { default: undici } = await import(pathToFileURL(process.argv[5]));
  const target = new URL(url);
  const pool = new undici.Pool(target.origin, { connections: together });
  get = async () => {
    const { statusCode, body } = await pool.request({ path: target.pathname, method: "GET" });
    if (statusCode !== 200) throw new Error(String(statusCode));
    return body.json();
  };
}
let left = count;
const worker = async () => {
  while (left-- > 0) if ((await get()).id !== 42) throw new Error("another body");
};
await Promise.all(Array.from({ length: together }, worker));
process.exit(0);
