// worker.mjs URL PROVIDER: takes calls of a provider from `mwlvm serve` and settles them. The token is in MWLVM_TOKEN.
// node worker.mjs http://127.0.0.1:7441 mwl:provider.call/example.com/count/v1
const [url, provider] = process.argv.slice(2);

async function ask(method, path, body) {
  const reply = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${process.env.MWLVM_TOKEN}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
  return reply.status === 204 ? null : reply.json();
}

// What this provider does: `call` has `input` and `arguments`. The key of the call is the same if it is repeated.
function work(call) {
  const { text } = call.input;
  if (!text) throw new Error("there is no text");
  return { words: text.trim().split(/\s+/).length };
}

for (;;) {
  const taken = await ask("GET", `/v1/calls?wait=30&lease=60&provider=${encodeURIComponent(provider)}`);
  if (!taken) continue;
  let result;
  try {
    result = { value: work(taken.call) };
  } catch (error) {
    result = { failure: { code: "Provider.Call.Count.Failed", message: error.message } };
  }
  await ask("POST", `/v1/calls/${encodeURIComponent(taken.key)}/result`, result);
  console.log(taken.key, "attempt", taken.attempt);
}
