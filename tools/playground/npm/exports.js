
// ---- the package ----------------------------------------------------------------------------------------------------

let loading = null;

async function bytesBeside() {
  const url = new URL("mwlvm.wasm", import.meta.url);
  if (url.protocol !== "file:") return fetch(url);
  const {readFile} = await import("node:fs/promises");
  return readFile(url);
}

// Loads the module: from the file beside this one, or from what is given: its bytes, a Response or a promise of one, or a
// WebAssembly.Module. Each call makes an instance of its own.
export async function load(source) {
  const given = await (source === undefined ? bytesBeside() : source);
  let module = given;
  if (!(given instanceof WebAssembly.Module)) {
    const bytes = typeof Response !== "undefined" && given instanceof Response ? await given.arrayBuffer() : given;
    module = await WebAssembly.compile(bytes);
  }
  return new Mwlvm(module);
}

// One instance, which is made when it is first needed, and again if it has stopped.
async function shared() {
  const vm = loading && await loading;
  if (vm && !vm.broken) return vm;
  loading = load();
  return loading;
}

export async function check(definition, options) { return (await shared()).check(definition, options); }
export async function assemble(definition, options) { return (await shared()).assemble(definition, options); }
export async function start(definition, options) { return (await shared()).start(definition, options); }
export async function run(definition, options) { return (await shared()).run(definition, options); }
export {Failure, Mwlvm, MwlError, Run};
