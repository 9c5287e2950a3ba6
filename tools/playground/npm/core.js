// mwlvm in JavaScript: the WebAssembly module, and classes around it. The npm package and the playground share this file:
// the package adds exports to it, the page has it in a script element. tools/playground/play.h lists the requests.

// What a definition was rejected for: `diagnostics`, and `problems` of the other texts.
class MwlError extends Error {
  constructor(message, checked = {}) {
    super(message);
    this.name = "MwlError";
    this.diagnostics = checked.diagnostics || [];
    this.problems = checked.problems || [];
  }
}

// A failure that a provider written in JavaScript ends its call with.
class Failure extends Error {
  constructor(code, message = "", members = {}) {
    super(message);
    this.name = "Failure";
    this.code = code;
    for (const name of ["type", "retryable", "details", "previous"]) if (members[name] !== undefined) this[name] = members[name];
  }
}

function failureOf(error) {
  if (!error || typeof error.code !== "string") return {code: "Mwlvm.Thrown", message: String((error && error.message) || error)};
  const failure = {code: error.code, message: String(error.message || "")};
  for (const name of ["type", "retryable", "details", "previous"]) if (error[name] !== undefined) failure[name] = error[name];
  return failure;
}

// ---- time zones -----------------------------------------------------------------------------------------------------

const zoneFiles = new Map();

// The TZif file (RFC 9636) of a zone, made of what Intl knows about the years 1900 to 2100; null if there is no such zone.
function zoneFile(name) {
  if (zoneFiles.has(name)) return zoneFiles.get(name);
  let format;
  try {
    format = new Intl.DateTimeFormat("en-US", {timeZone: name, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23",
      year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric"});
  } catch {
    zoneFiles.set(name, null);
    return null;
  }
  const offset = seconds => {
    const p = {};
    for (const part of format.formatToParts(seconds * 1000)) p[part.type] = Number(part.value);
    return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second) / 1000 - seconds;
  };
  const first = Date.UTC(1900, 0, 1) / 1000, last = Date.UTC(2101, 0, 1) / 1000, weeks = 14 * 86400;
  const offsets = [offset(first)], changes = [];
  for (let at = first, was = offsets[0]; at < last; at += weeks) {
    const is = offset(at + weeks);
    if (is === was) continue;
    let low = at, high = at + weeks;
    while (high - low > 1) { const middle = Math.floor((low + high) / 2); if (offset(middle) === was) low = middle; else high = middle; }
    if (!offsets.includes(is)) offsets.push(is);
    changes.push([high, offsets.indexOf(is)]);
    was = is;
  }
  const file = writeZone(offsets, changes);
  zoneFiles.set(name, file);
  return file;
}

function writeZone(offsets, changes) {
  const out = [];
  const word = n => out.push(n >>> 24 & 255, n >>> 16 & 255, n >>> 8 & 255, n & 255);
  const head = (times, types) => {
    out.push(0x54, 0x5a, 0x69, 0x66, 0x32, ...new Array(15).fill(0)); // "TZif2"
    for (const n of [0, 0, 0, times, types, 4]) word(n);
  };
  const type = seconds => { word(seconds); out.push(0, 0); };
  const name = () => out.push(0x2d, 0x30, 0x30, 0); // "-00": expressions do not show the names
  head(0, 1);
  type(0);
  name();
  head(changes.length, offsets.length);
  for (const [at] of changes) { word(Math.floor(at / 2 ** 32)); word(at); }
  for (const [, ix] of changes) out.push(ix);
  for (const seconds of offsets) type(seconds);
  name();
  out.push(10, 10); // no rule for later years
  return new Uint8Array(out);
}

// ---- the module -----------------------------------------------------------------------------------------------------

const encoder = new TextEncoder(), decoder = new TextDecoder();

class Mwlvm {
  // module: a WebAssembly.Module. Instances share nothing.
  constructor(module, instance) {
    this.module = module;
    this.broken = null;
    const memory = () => new DataView(this.exports.memory.buffer);
    const none = () => 8; // WASI's "bad file descriptor": there are no files
    const imports = {
      env: {
        mwl_zone: (at, len) => this.zone(at, len),
        getentropy: (at, len) => { crypto.getRandomValues(new Uint8Array(this.exports.memory.buffer, at, len)); return 0; },
        emscripten_notify_memory_growth: () => {},
        __syscall_stat64: () => -44, // "no such file"; the hook of zones is mwl_zone, so nothing asks
      },
      wasi_snapshot_preview1: {
        clock_time_get: (id, ...rest) => {
          const ms = id === 0 ? Date.now() : performance.now();
          memory().setBigUint64(rest[rest.length - 1], BigInt(Math.round(ms * 1e6)), true);
          return 0;
        },
        environ_sizes_get: (count, size) => { memory().setUint32(count, 0, true); memory().setUint32(size, 0, true); return 0; },
        environ_get: () => 0,
        fd_read: none, fd_write: none, fd_close: none, fd_seek: none,
      },
    };
    this.exports = (instance || (i => new WebAssembly.Instance(module, i)))(imports).exports;
    this.exports._initialize();
    const about = this.ask({do: "about"});
    this.version = about.version;
    this.missing = about.missing;
  }

  put(bytes) {
    const at = this.exports.mwl_play_alloc(bytes.length || 1);
    if (!at) throw new MwlError("out of memory");
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  zone(at, len) {
    const file = zoneFile(decoder.decode(new Uint8Array(this.exports.memory.buffer, at, len)));
    if (!file) return 0;
    const bytes = new Uint8Array(file.length + 4);
    new DataView(bytes.buffer).setUint32(0, file.length, true);
    bytes.set(file, 4);
    return this.put(bytes);
  }

  // One request. Throws if it cannot be served.
  ask(request) {
    if (this.broken) throw new MwlError("the module has stopped: " + this.broken);
    const bytes = encoder.encode(JSON.stringify(request));
    let text;
    try {
      const at = this.exports.mwl_play(this.put(bytes), bytes.length), view = new DataView(this.exports.memory.buffer);
      text = decoder.decode(new Uint8Array(this.exports.memory.buffer, view.getUint32(at, true), view.getUint32(at + 4, true)));
    } catch (error) {
      if (error instanceof MwlError) throw error;
      this.broken = error.message;
      throw new MwlError("the module has stopped: " + error.message);
    }
    const reply = JSON.parse(text);
    if (reply.error) throw new MwlError(reply.error);
    return reply;
  }

  // Checks a definition. Never throws for what is wrong with it.
  check(definition, options = {}) {
    return this.ask({do: "check", ...subject(definition, options), input: json(options.input), arguments: json(options.arguments)});
  }

  // Assembles a definition. Returns the bytes of a program (.mwlb).
  assemble(definition, options = {}) {
    const reply = this.ask({do: "assemble", ...subject(definition, options), strip: !!options.strip, pack: !!options.pack});
    if (!reply.image) throw rejected(reply);
    return Uint8Array.from(atob(reply.image), c => c.charCodeAt(0));
  }

  // Starts a run of a definition or a program; the caller makes it go on. See Run.
  start(definition, options = {}) { return new Run(this, definition, options); }

  // Runs a definition or a program to its end. Resolves to its Result, also if that is a failure.
  async run(definition, options = {}) {
    const run = this.start(definition, options);
    try {
      return await run.finish();
    } finally {
      run.dispose();
    }
  }
}

const json = value => value === undefined ? undefined : JSON.stringify(value);

function subject(definition, options) {
  const {name, answers, documents, control} = options;
  const parts = {answers: answers || {}, providers: documents, control};
  return {definition: typeof definition === "string" ? definition : JSON.stringify(definition, null, 2), name,
          case: options.case !== undefined ? text(options.case) : JSON.stringify(parts)};
}
const text = value => typeof value === "string" ? value : JSON.stringify(value);

function rejected(reply) {
  const d = reply.diagnostics.find(x => x.severity === "error"), p = reply.problems[0];
  const words = d ? `${d.file}:${d.line}:${d.column}: ${d.message}` : p ? `${p.in}: ${p.message}` : "the definition was rejected";
  return new MwlError(words, reply);
}

function base64(bytes) {
  let out = "";
  for (let i = 0; i < bytes.length; i += 8192) out += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(out);
}

// ---- a run ----------------------------------------------------------------------------------------------------------

class Run {
  constructor(vm, definition, options) {
    this.vm = vm;
    this.options = options;
    this.virtual = !!options.virtualTime;
    this.inFlight = new Map(); // calls that JavaScript answers, by number
    const program = definition instanceof Uint8Array;
    const request = {do: "start", ...subject(program ? "" : definition, options), virtual: this.virtual, record: !!options.record,
      lines: !!options.onEvent, slice: options.slice, fuel: options.fuel, memory: options.memory, seed: options.seed, id: options.id,
      input: options.inputText !== undefined ? options.inputText : json(options.input),
      arguments: options.argumentsText !== undefined ? options.argumentsText : json(options.arguments)};
    if (program) request.image = base64(definition);
    const reply = vm.ask(request);
    if (!reply.run) throw rejected(reply);
    this.id = reply.run;
    this.take(reply);
  }

  take(reply) {
    this.state = reply;
    if (this.options.onEvent) for (const event of reply.lines) this.options.onEvent(event);
    return reply;
  }

  get over() { return this.state.state === "done" || this.state.state === "aborted"; }

  // Goes on: until "step", "wait", "timer" or "end"; advance: virtual time moves by itself.
  go(until, advance = false, fuel = undefined) { return this.take(this.vm.ask({do: "go", run: this.id, until, advance, fuel})); }

  // To the next thing that happens: a Step, a call, its answer, another attempt, a catch.
  step() { return this.go("step", true); }

  // Answers a call that waits (state.calls), by its number.
  answer(number, value) { return this.take(this.vm.ask({do: "answer", run: this.id, number, value: JSON.stringify(value === undefined ? null : value)})).ok; }
  fail(number, failure) { return this.take(this.vm.ask({do: "answer", run: this.id, number, failure: JSON.stringify(failureOf(failure))})).ok; }
  cancel(reason) { return this.take(this.vm.ask({do: "cancel", run: this.id, reason})); }

  // The graph as SVG and the data for mwlReport (tools/report/page.js); only of a run with `record`.
  report() { return this.vm.ask({do: "report", run: this.id}); }

  dispose() {
    for (const call of this.inFlight.values()) call.abort.abort();
    this.inFlight.clear();
    if (this.id && !this.vm.broken) this.vm.ask({do: "end", run: this.id});
    this.id = 0;
  }

  // Goes on to the end, with the providers of the options. Resolves to the Result.
  async finish() {
    const signal = this.options.signal;
    const cancel = () => { if (this.id && !this.over) this.cancel(signal.reason ? String(signal.reason.message || signal.reason) : undefined); this.wake(); };
    this.wake = () => {};
    if (signal) { if (signal.aborted) cancel(); else signal.addEventListener("abort", cancel); }
    try {
      for (;;) {
        this.go("end", this.virtual && !this.inFlight.size);
        if (this.over) break;
        this.callOut();
        await this.pause();
      }
    } finally {
      if (signal) signal.removeEventListener("abort", cancel);
    }
    if (this.state.state === "aborted") throw new MwlError(this.state.why || "the run was aborted");
    return this.state.result;
  }

  // Calls the functions of new calls, and tells those to stop whose calls are over.
  callOut() {
    const waiting = new Set(this.state.calls.map(c => c.number));
    for (const [number, call] of this.inFlight) if (!waiting.has(number)) { call.abort.abort(); this.inFlight.delete(number); }
    for (const c of this.state.calls) {
      if (this.inFlight.has(c.number)) continue;
      const all = this.options.providers || {}, provider = all[c.provider] || all["*"];
      if (!provider) throw new MwlError(`nothing answers the call of ${c.provider} in Step '${c.step}'`);
      const call = {abort: new AbortController()};
      this.inFlight.set(c.number, call);
      const settle = end => { if (this.inFlight.get(c.number) === call && this.id) { this.inFlight.delete(c.number); end(); this.wake(); } };
      Promise.resolve()
        .then(() => provider({with: c.with, input: c.input, step: c.step, flow: c.flow, provider: c.provider, id: c.id, signal: call.abort.signal}))
        .then(value => settle(() => this.answer(c.number, value)), error => settle(() => this.fail(c.number, error)));
    }
  }

  // Waits until there is something to do.
  pause() {
    const {state, due, now} = this.state;
    if (state !== "ready" && due === null && !this.inFlight.size) throw new MwlError("the run waits for something that never comes");
    return new Promise(resolve => {
      let timer = null;
      this.wake = () => { clearTimeout(timer); this.wake = () => {}; resolve(); };
      if (state === "ready") timer = setTimeout(this.wake, 0);
      else if (due !== null && !this.virtual) timer = setTimeout(this.wake, Math.min(Math.max(0, (due - now) / 1e6), 2 ** 30));
    });
  }
}
