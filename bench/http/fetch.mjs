// fetch.mjs URL COUNT CONCURRENCY: the same requests by undici: the package if it is installed, else Node's own copy.
const [url, count, together] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
let get = async () => (await fetch(url)).text();
try {
  const { Pool } = await import("undici");
  const target = new URL(url);
  const pool = new Pool(target.origin, { connections: together });
  get = async () => {
    const { statusCode, body } = await pool.request({ path: target.pathname, method: "GET" });
    if (statusCode !== 200) throw new Error(String(statusCode));
    return body.text();
  };
  console.error("undici, the package");
} catch {
  console.error("undici, as Node's fetch");
}
let left = count;
const worker = async () => {
  while (left-- > 0) if ((await get()).length === 0) throw new Error("empty");
};
await Promise.all(Array.from({ length: together }, worker));
process.exit(0);
