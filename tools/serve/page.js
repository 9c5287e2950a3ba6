"use strict";
/* The page of `mwlvm serve`. It uses the endpoints that everybody has, and nothing else. The place is in the address:
 * #/ the list, #/run/ID one run, #/start the form for a new one; /a/... is a link that answers one question. */

const $ = id => document.getElementById(id);
const main = $("main");
let token = sessionStorage.getItem("token") || "";
let leave = () => {};  // ends what the present view has going
let stopAll = null;    // the stream of all events

/* ---- elements ---------------------------------------------------------------------------------- */

function make(name, props = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k in e && k !== "list") e[k] = v;
    else e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
const chip = state => make("span", {className: `chip ${state}`}, state);
const show = (...children) => main.replaceChildren(...children);
function complain(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}
function when(text) {
  const at = new Date(text), day = at.toDateString() === new Date().toDateString();
  return day ? at.toLocaleTimeString() : at.toLocaleString([], {dateStyle: "medium", timeStyle: "short"});
}
function long(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3600000) return `${(ms / 60000).toFixed(1)} min`;
  return ms < 172800000 ? `${(ms / 3600000).toFixed(1)} h` : `${(ms / 86400000).toFixed(1)} d`;
}

/* ---- the server -------------------------------------------------------------------------------- */

class Problem extends Error {
  constructor(status, body) {
    super(body.title ?? `the server returned ${status}`);
    this.status = status;
    this.body = body;
  }
}
async function ask(method, path, body, how = {}) {
  const headers = {Accept: how.accept || "application/json"};
  if (token) headers.Authorization = "Bearer " + token;
  const reply = await fetch(path, {method, headers, body, signal: how.signal, cache: "no-store"});
  if (reply.ok) return reply;
  const text = await reply.text();
  let problem = {};
  try { problem = JSON.parse(text); } catch { /* not from this server */ }
  if (reply.status === 401) {
    askToken();
    problem.title = "";
  }
  throw new Problem(reply.status, problem);
}
const json = async (method, path, body) => (await ask(method, path, body)).json();
const lines = async path => (await (await ask("GET", path)).text()).split("\n").filter(Boolean).map(l => JSON.parse(l));
const runPath = id => "/v1/runs/" + encodeURIComponent(id);

/* Calls `see` for each event; goes on by its number when the connection is lost. Returns a function that ends it. */
function listen(path, see, state = () => {}) {
  const stop = new AbortController();
  let last = null;
  (async () => {
    while (!stop.signal.aborted) {
      try {
        const from = last === null ? path : `${path}?after=${last}`;
        const reader = (await ask("GET", from, undefined, {accept: "text/event-stream", signal: stop.signal})).body
          .pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        state(true);
        for (let part; !(part = await reader.read()).done;) {
          const pieces = (rest + part.value).split("\n\n");
          rest = pieces.pop();
          for (const piece of pieces) {
            const data = piece.split("\n").find(l => l.startsWith("data: "));
            if (!data) continue;
            const event = JSON.parse(data.slice(6));
            last = event.n;
            see(event);
          }
        }
      } catch (e) {
        if (stop.signal.aborted || e.status === 401 || e.status === 403 || e.status === 404) return;
      }
      state(false);
      await new Promise(r => setTimeout(r, 1000));
    }
  })();
  return () => stop.abort();
}

/* ---- a form made of a schema -------------------------------------------------------------------- */

/* {element, read}: read returns the value, undefined if nothing was given, or throws with a reason. `needed`: it is required. */
function field(schema, label, needed = true) {
  const s = schema && typeof schema === "object" ? schema : {};
  const kinds = [].concat(s.type ?? []).filter(t => t !== "null"), kind = kinds.length === 1 ? kinds[0] : undefined;
  const f = {text: s.title || label, s, needed, nothing: [].concat(s.type ?? []).includes("null") && needed ? null : undefined};
  const options = Array.isArray(s.enum) ? s.enum : kind === "boolean" ? [true, false] : null;
  if ("const" in s) return {element: make("div"), read: () => s.const};
  if (options) return choiceField(f, options);
  if (kind === "integer" || kind === "number") return numberField(f, kind);
  if (kind === "string") return textField(f);
  if (kind === "object" && s.properties) return objectField(f);
  if (kind === "array" && s.items && typeof s.items === "object") return arrayField(f);
  return jsonField(f);
}
function caption(f) {
  return [f.text, ...(f.needed ? [] : [make("span", {className: "soft"}, " (optional)")])];
}
function labelled(f, input) {
  const help = f.s.description ? make("span", {className: "soft help"}, f.s.description) : null;
  return make("label", {className: "field"}, make("span", {}, ...caption(f)), input, help);
}
const shown = v => v === true ? "yes" : v === false ? "no" : typeof v === "string" ? v : JSON.stringify(v);
function choiceField(f, options) {
  const input = make("select", {}, make("option", {value: ""}, f.needed ? "choose" : "not given"),
    ...options.map((v, i) => make("option", {value: i}, shown(v))));
  const first = options.findIndex(v => "default" in f.s && JSON.stringify(v) === JSON.stringify(f.s.default));
  if (first >= 0) input.value = first;
  return {element: labelled(f, input), read: () => {
    if (input.value === "" && f.needed && f.nothing === undefined) throw new Error(`${f.text}: a choice is missing`);
    return input.value === "" ? f.nothing : options[input.value];
  }};
}
function numberField(f, kind) {
  const input = make("input", {type: "number", step: kind === "integer" ? "1" : "any", min: f.s.minimum ?? "", max: f.s.maximum ?? ""});
  if ("default" in f.s) input.value = f.s.default;
  return {element: labelled(f, input), read: () => {
    if (input.validity.badInput) throw new Error(`${f.text}: not a number`);
    if (input.value === "" && f.needed && f.nothing === undefined) throw new Error(`${f.text}: a number is missing`);
    return input.value === "" ? f.nothing : Number(input.value);
  }};
}
function textField(f) {
  const input = f.s.maxLength > 200 ? make("textarea") : make("input", {type: {date: "date", email: "email"}[f.s.format] || "text"});
  if ("default" in f.s) input.value = f.s.default;
  return {element: labelled(f, input), read: () => input.value !== "" ? input.value : f.nothing === null ? null : f.needed ? "" : undefined};
}
function jsonField(f) {
  const input = make("textarea", {spellcheck: false, placeholder: "JSON"});
  if ("default" in f.s) input.value = JSON.stringify(f.s.default, null, 2);
  return {element: labelled(f, input), read: () => {
    if (!input.value.trim() && !f.needed) return undefined;
    try { return JSON.parse(input.value); } catch (e) { throw new Error(`${f.text}: not JSON: ${e.message}`); }
  }};
}
/* A group inside a group has a frame. An optional one is given if anything in it is. */
function group(f, ...inside) {
  return make("fieldset", {}, make("legend", {}, ...caption(f)), f.s.description ? make("p", {className: "soft help"}, f.s.description) : null, ...inside);
}
function objectField(f) {
  const required = f.s.required || [];
  const parts = Object.entries(f.s.properties).map(([name, sub]) =>
    [name, field("default" in f.s && name in Object(f.s.default) ? {...sub, default: f.s.default[name]} : sub, name, required.includes(name))]);
  return {parts, element: group(f, ...parts.map(p => p[1].element)), read: () => {
    const value = {};
    let wrong = null;
    for (const [name, part] of parts) {
      try {
        const v = part.read();
        if (v !== undefined) value[name] = v;
      } catch (e) { wrong ??= e; }
    }
    const blank = !Object.values(value).some(v => v !== "");
    if (blank && !f.needed) return undefined;
    if (wrong) throw wrong;
    return value;
  }};
}
function arrayField(f) {
  const list = make("div", {className: "items"}), parts = [];
  const add = given => {
    const sub = given === undefined ? f.s.items : {...f.s.items, default: given};
    const part = field(sub, f.s.items.title || "item");
    const row = make("div", {className: "item"}, part.element, make("button", {type: "button", title: "Remove", onclick: () => {
      parts.splice(parts.indexOf(part), 1);
      row.remove();
    }}, "Remove"));
    parts.push(part);
    list.append(row);
    return row;
  };
  const first = Array.isArray(f.s.default) ? f.s.default : Array(Math.min(f.s.minItems || 0, 20)).fill(undefined);
  first.forEach(v => add(v));
  const more = make("button", {type: "button", onclick: () => add().querySelector("input, select, textarea")?.focus()}, "Add");
  return {element: group(f, list, more), read: () => parts.length || f.needed ? parts.map(p => p.read()) : undefined};
}

/* The question of a wait with its form; a yes-or-no question has two buttons. `send` gets the value. */
function questionCard(name, question, send) {
  const wrong = make("p", {className: "wrong", role: "alert", hidden: true});
  const card = make("form", {className: "card", "data-wait": name}, make("h3", {}, question.message || name));
  const give = async read => {
    wrong.hidden = true;
    try {
      await send(JSON.stringify(read() ?? null));
      card.replaceChildren(make("h3", {}, question.message || name), make("p", {role: "status"}, "Thank you. The answer is stored."));
    } catch (e) {
      wrong.textContent = e.message;
      wrong.hidden = false;
    }
  };
  if (question.schema && question.schema.type === "boolean") {
    const button = (text, value, kind) => make("button", {type: "button", className: kind, onclick: () => give(() => value)}, text);
    card.append(make("div", {className: "choice"}, button("Yes", true, "main"), button("No", false, "")));
    card.addEventListener("submit", e => e.preventDefault());
  } else {
    const f = field(question.schema, "Answer");
    if (f.parts) card.append(...f.parts.map(p => p[1].element));  // the card is its frame
    else card.append(f.element);
    card.append(make("button", {className: "main"}, "Answer"));
    card.addEventListener("submit", e => { e.preventDefault(); give(f.read); });
  }
  card.append(wrong);
  return card;
}

/* ---- views --------------------------------------------------------------------------------------- */

function askToken() {
  leave();
  leave = () => {};
  const wrong = token ? make("p", {className: "wrong", role: "alert"}, "The server does not know this token.") : null;
  const input = make("input", {type: "password", autocomplete: "off", required: true});
  show(make("form", {className: "narrow", id: "token", onsubmit: e => {
    e.preventDefault();
    token = input.value.trim();
    sessionStorage.setItem("token", token);
    begin();
  }}, make("h1", {}, "A token, please"),
  make("p", {className: "soft"}, "The server wrote it to the file that it named when it started (the store's name and -token)."),
  make("label", {className: "field"}, make("span", {}, "Token"), input), make("button", {className: "main"}, "Go on"), wrong));
  input.focus();
}

const filters = {state: "", program: ""};
function listView() {
  const list = make("ol", {className: "runs", id: "runs"}), counts = make("span", {className: "counts"});
  const more = make("button", {hidden: true, onclick: () => load(true)}, "More");
  const state = make("select", {id: "state", "aria-label": "State", onchange: () => { filters.state = state.value; load(); }},
    ...[["", "every state"], ["open", "not over"], ["waiting", "waiting"], ["live", "live"], ["done", "done"], ["failed", "failed"],
      ["stuck", "stuck"], ["aborted", "aborted"]].map(([value, text]) => make("option", {value}, text)));
  const program = make("select", {id: "program", "aria-label": "Program", onchange: () => { filters.program = program.value; load(); }},
    make("option", {value: ""}, "every program"));
  state.value = filters.state;
  show(make("div", {className: "tools"}, state, program, counts), list, make("p", {}, more));
  let last = 0, timer = 0, shown = 50;
  const row = r => make("li", {}, make("a", {href: "#/run/" + encodeURIComponent(r.run), "data-run": r.run}, chip(r.state),
    make("span", {className: "id", title: r.run}, r.run),
    make("span", {className: "program", title: r.program}, r.program, r.waits ? make("b", {}, ` · ${r.waits} open`) : null),
    make("span", {className: "when"}, when(r.ended || r.updated || r.created))));
  async function load(further = false) {
    if (further) shown += 50;
    try {
      const query = new URLSearchParams({order: "newest", limit: Math.min(shown, 1000), state: filters.state, program: filters.program});
      const rows = await lines("/v1/runs?" + query), focus = document.activeElement?.dataset?.run;
      if (!list.isConnected && !main.querySelector(".empty")) return;
      list.replaceChildren(...rows.map(row));
      const empty = main.querySelector(".empty");
      empty?.remove();
      if (!rows.length && (filters.state || filters.program)) list.after(make("p", {className: "empty"}, "No run is like that. ",
        make("button", {onclick: () => { state.value = program.value = filters.state = filters.program = ""; load(); }}, "Show every run")));
      else if (!rows.length) list.after(make("p", {className: "empty"}, "No runs here yet. ", make("a", {href: "#/start"}, "Start one"), "."));
      list.hidden = !rows.length;
      more.hidden = rows.length < shown;
      counts.textContent = rows.length ? `${rows.length}${more.hidden ? "" : "+"} ${rows.length === 1 ? "run" : "runs, the newest first"}` : "";
      if (focus) list.querySelector(`[data-run="${CSS.escape(focus)}"]`)?.focus();
      last = Date.now();
    } catch (e) { complain(e.message); }
  }
  lines("/v1/programs").then(all => {
    program.append(...all.map(p => make("option", {value: p.name}, p.name)));
    program.value = filters.program;
  }, () => {});
  load();
  onEvent = () => {
    clearTimeout(timer);
    timer = setTimeout(load, Date.now() - last > 1000 ? 100 : 700);
  };
  leave = () => { clearTimeout(timer); onEvent = () => {}; };
}

/* The Steps of a picture: {g, name, alone, sole, flow, begins, before}: whether no other has this name, in its Flow, whether a Flow begins with it, and
 * the Steps that lead to it. */
function stepsOf(svg) {
  const titleOf = g => g.querySelector(":scope > title")?.textContent ?? g.querySelector("text")?.textContent;  // the text may be cut
  const outer = g => g.dataset.in && g.dataset.in !== g.id ? svg.querySelector("#" + g.dataset.in) : null;
  const flowOf = g => {  // "": that of the definition
    for (let at = outer(g); at && at.id !== "n0"; at = outer(at)) {
      const text = at.matches(".step") ? at.querySelector(":scope > text.d")?.textContent : at.matches(".flow, .call") ? titleOf(at) : "";
      const name = /(?:^| )Flow (.+)/.exec(text ?? "");
      if (name) return name[1];
    }
    return "";
  };
  const boxes = g => {  // itself, and the frames of its middleware
    const ids = [g.id];
    for (let at = outer(g); at && at.matches(".frame"); at = outer(at)) ids.push(at.id);
    return ids;
  };
  const steps = [...svg.querySelectorAll("g.step")].map(g => ({g, name: titleOf(g), flow: flowOf(g), boxes: boxes(g), begins: false, before: []}));
  for (const s of steps) {
    s.alone = steps.every(o => o === s || o.name !== s.name);
    s.sole = steps.every(o => o === s || o.name !== s.name || o.flow !== s.flow);
  }
  for (const e of svg.querySelectorAll("g.e")) {
    const from = svg.querySelector("#" + e.dataset.from);
    for (const s of steps.filter(s => s.boxes.includes(e.dataset.to))) {
      if (from?.matches(".start")) s.begins = true;
      else s.before.push(...steps.filter(p => p.boxes.includes(e.dataset.from)));
    }
  }
  return steps;
}
const sameFlow = (flow, cut) => flow === cut || (cut.endsWith("\u2026") && flow.startsWith(cut.slice(0, -1)));
/* Those that were entered. Events have the name of the Step and of its Flow; those of older versions, and of inline Flows, the first
 * alone: where two Steps share it, it must come behind a Step that leads there. */
function visitedSteps(steps, entered) {
  const at = new Map(), exact = entered.every(e => e.flow !== undefined);
  const fits = (s, e) => e.text === s.name && (e.flow === undefined || sameFlow(e.flow, s.flow)
    || !steps.some(o => o.name === e.text && sameFlow(e.flow, o.flow)));
  for (let more = true; more;) {
    more = false;
    for (const s of steps.filter(s => !at.has(s))) {
      const from = s.alone || (exact && s.sole) || s.begins ? [-1] : s.before.filter(p => at.has(p)).map(p => at.get(p));
      const i = Math.min(...from.map(f => entered.findIndex((e, i) => i > f && fits(s, e))).filter(n => n >= 0));
      if (from.length && Number.isFinite(i)) {
        at.set(s, i);
        more = true;
      }
    }
  }
  return at;
}

/* A failure and those before it, the last one first. */
function failures(result) {
  const list = [];
  for (let r = result; r && r.type !== "success" && list.length < 50; r = r.previous) list.push(r);
  if (!list.length) return [];
  return [make("h2", {}, "Why it failed"), make("ol", {className: "failures"}, ...list.map((r, i) => make("li", {},
    i ? make("span", {className: "soft"}, "after ") : null, make("b", {}, r.code || r.type), r.code && r.type !== "error" ? ` (${r.type})` : "",
    r.message ? make("div", {}, r.message) : null, r.details === undefined ? null : make("pre", {}, JSON.stringify(r.details, null, 2)))))];
}

const OVER = ["done", "failed", "aborted"];
function runView(id) {
  const parts = Object.fromEntries(["head", "waits", "why", "graph", "events", "data"].map(k => [k, make("section", {id: "run-" + k})]));
  show(parts.head, parts.waits, parts.why, make("div", {className: "columns"}, make("div", {}, make("h2", {}, "Graph"), parts.graph),
    make("div", {}, make("h2", {}, "Timeline"), parts.events)), parts.data);
  const events = [], rows = make("ol", {className: "events", "aria-label": "What happened"});
  parts.events.append(rows);
  let svg = null, steps = [], timer = 0, run = null, waits = "";
  const press = (text, path, body, kind) => {
    const b = make("button", {className: kind, onclick: async () => {
      if (kind === "danger" && b.dataset.sure !== "yes") {
        b.dataset.sure = "yes";
        b.textContent = "Really cancel?";
        setTimeout(() => { b.dataset.sure = ""; b.textContent = text; }, 4000);
        return;
      }
      try { await ask("POST", runPath(id) + path, body); complain(""); later(50); } catch (e) { complain(e.message); }
    }}, text);
    return b;
  };
  function drawHead() {
    const places = (run.frames || []).filter(f => f.step).map(f =>
      `${f.step}${f.flow ? " of " + f.flow : ""}${f.line ? ", line " + f.line : ""}`);
    const facts = [["program", run.program], places.length && ["at", places.slice(0, 5).join("; ") + (places.length > 5 ? "; ..." : "")],
      ["created", when(run.created)], run.due && ["wakes at", when(run.due)],
      run.ended && ["ended", when(run.ended)], run.ended && ["took", long(new Date(run.ended) - new Date(run.created))],
      run.why && ["why", run.why]].filter(Boolean);
    const button = run.state === "stuck" ? [press("Try again", "/resume", "", "main"), press("Cancel", "/cancel", "{}", "danger")]
      : OVER.includes(run.state) ? [] : [press("Cancel", "/cancel", "{}", "danger")];
    const sure = parts.head.querySelector("[data-sure=yes]");
    if (sure && button.length) return;  // someone is about to press it
    parts.head.replaceChildren(make("p", {className: "back"}, make("a", {href: "#/"}, "All runs")),
      make("div", {className: "head"}, chip(run.state), make("h1", {}, id), make("span", {className: "push"}), ...button),
      make("dl", {className: "facts"}, ...facts.map(([k, v]) => make("div", {}, make("dt", {}, k), make("dd", {}, v)))));
  }
  function drawWaits() {
    const open = (run.open || []).filter(w => !w.provider), now = JSON.stringify((run.open || []).map(w => w.number));
    if (now === waits) return;
    waits = now;
    const work = (run.open || []).filter(w => w.provider).map(w => w.provider.replace(/^mwl:provider\.\w+\//, ""));
    parts.waits.replaceChildren(
      ...(work.length ? [make("p", {className: "soft"}, `It waits for a worker of ${[...new Set(work)].join(", ")}.`)] : []),
      ...(open.length ? [make("h2", {}, "It waits for an answer")] : []),
      ...open.map(w => questionCard(w.name, w.question || {}, body => ask("POST", `${runPath(id)}/answers/${encodeURIComponent(w.name)}`, body))));
  }
  function drawData() {
    const block = (title, value) => value === undefined ? [] : [make("h2", {}, title), make("pre", {}, JSON.stringify(value, null, 2))];
    parts.why.replaceChildren(...failures(run.result));
    parts.data.replaceChildren(...block("Result", run.result), ...block("Input", typeof run.start === "string" ? run.start : run.start?.input),
      ...(run.frames || []).flatMap(f => f.vars && Object.keys(f.vars).length ? block(`Variables${f.flow ? " of " + f.flow : ""}`, f.vars) : []));
  }
  function drawGraph() {
    if (!svg) return;
    const visited = visitedSteps(steps, events.filter(e => e.kind === "step"));
    const here = s => (run?.frames || []).some(f => f.step === s.name && (s.alone || sameFlow(f.flow || "", s.flow)));
    for (const s of steps) {
      s.g.classList.toggle("visited", visited.has(s));
      s.g.classList.toggle("here", here(s));
    }
  }
  function drawEvents() {
    if (!events.length) return;
    const first = new Date(events[0].at), over = run && OVER.includes(run.state);
    const end = over ? new Date(events[events.length - 1].at) : new Date();
    const all = Math.max(end - first, 1), bottom = rows.scrollTop + rows.clientHeight >= rows.scrollHeight - 30;
    rows.replaceChildren(...events.slice(-1000).map((e, i, list) => {
      const at = new Date(e.at), until = i + 1 < list.length ? new Date(list[i + 1].at) : end;
      const bar = make("i");
      bar.style.left = `${(at - first) / all * 100}%`;
      bar.style.width = `${Math.max(until - at, 0) / all * 100}%`;
      return make("li", {className: e.kind}, bar, make("span", {className: "at", title: e.at}, "+" + long(at - first)),
        make("span", {className: "kind"}, e.kind), make("span", {title: e.text || ""}, (e.text || "").replace(/^mwl:provider\.\w+\//, "") + (e.flow ? " of " + e.flow : "")),
        make("span", {className: "long", title: "until the next event"}, until - at ? long(until - at) : ""));
    }));
    if (bottom) rows.scrollTop = rows.scrollHeight;
  }
  async function load() {
    try {
      run = await json("GET", runPath(id));
    } catch (e) {
      if (e.status === 404) show(make("p", {className: "empty"}, `There is no run ${id}. `, make("a", {href: "#/"}, "All runs"), "."));
      else if (e.name !== "AbortError") complain(e.message);
      return;
    }
    drawHead(); drawWaits(); drawData(); drawGraph(); drawEvents();
  }
  function later(ms = 120) { clearTimeout(timer); timer = setTimeout(load, ms); }
  ask("GET", runPath(id) + "/graph").then(r => r.text()).then(text => {
    svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    steps = stepsOf(svg);
    svg.addEventListener("click", e => {  // a box of a Flow that is drawn elsewhere; the address is the page's own
      const to = e.target.closest("a")?.getAttribute("href");
      if (!to) return;
      e.preventDefault();
      svg.querySelector(to)?.scrollIntoView({block: "nearest", inline: "nearest"});
    });
    parts.graph.replaceChildren(make("div", {className: "graph", tabIndex: 0}, svg));
    drawGraph();
  }, () => parts.graph.replaceChildren(make("p", {className: "soft"}, "The program does not have its definition.")));
  const stop = listen(runPath(id) + "/events", e => { events.push(e); later(); });
  const tick = setInterval(() => { if (run && !OVER.includes(run.state)) drawEvents(); }, 1000);
  load();
  leave = () => { stop(); clearInterval(tick); clearTimeout(timer); };
}

function startView() {
  const program = make("select", {id: "start-program", required: true});
  const input = make("textarea", {id: "start-input", spellcheck: false, placeholder: "null"});
  const name = make("input", {id: "start-id", autocomplete: "off", placeholder: "made by the server"});
  const wrong = make("p", {className: "wrong", role: "alert", hidden: true});
  const file = make("input", {type: "file", accept: ".json,.mwlb", id: "start-file"});
  const start = make("button", {className: "main"}, "Start");
  const none = make("p", {className: "soft", hidden: true}, "The server has no program yet. Choose a file below, or name files when you start the server.");
  const upload = async () => {
    const f = file.files[0], as = f.name.replace(/\.\w+$/, "");
    try {
      await ask("PUT", "/v1/programs/" + encodeURIComponent(as), await f.arrayBuffer());
      await fill(as);
      wrong.hidden = true;
    } catch (e) {
      const first = e.body?.diagnostics?.[0];
      wrong.textContent = e.message + (first ? `: ${first.message}, line ${first.line}` : "");
      wrong.hidden = false;
    }
  };
  file.addEventListener("change", upload);
  async function fill(chosen) {
    const all = await lines("/v1/programs");
    program.replaceChildren(...all.map(p => make("option", {value: p.name}, p.name)));
    if (chosen) program.value = chosen;
    start.disabled = !all.length;
    none.hidden = all.length > 0;
  }
  show(make("form", {className: "narrow", id: "start", onsubmit: async e => {
    e.preventDefault();
    try {
      const body = {program: program.value};
      if (input.value.trim()) {
        try { body.input = JSON.parse(input.value); } catch (x) { throw new Error("The input is not JSON: " + x.message); }
      }
      if (name.value) body.id = name.value;
      const got = await json("POST", "/v1/runs", JSON.stringify(body));
      location.hash = "#/run/" + encodeURIComponent(got.run);
    } catch (x) {
      wrong.textContent = x.message;
      wrong.hidden = false;
    }
  }}, make("h1", {}, "Start a run"),
  make("label", {className: "field"}, make("span", {}, "Program"), program),
  make("label", {className: "field"}, make("span", {}, "Input, as JSON"), input),
  make("label", {className: "field"}, make("span", {}, "Id"), name),
  none, make("div", {className: "choice"}, start, make("a", {href: "#/"}, "All runs")), wrong,
  make("h2", {}, "Another program"),
  make("label", {className: "field"}, make("span", {}, "A definition (.json) or a program (.mwlb), under the name of its file"), file)));
  fill().then(() => program.focus(), e => complain(e.message));
  leave = () => {};
}

async function linkView() {
  for (const id of ["new", "keys", "live"]) $(id).hidden = true;
  try {
    const asked = await json("GET", location.pathname);
    show(make("div", {className: "narrow"}, make("p", {className: "soft"}, `Run ${asked.run} asks:`),
      questionCard(asked.name, asked.question || {}, body => ask("POST", location.pathname, body))));
  } catch (e) {
    show(make("p", {className: "empty"}, e.message));
  }
}

/* ---- the whole ------------------------------------------------------------------------------------ */

let onEvent = () => {};
function route() {
  leave();
  leave = () => {};
  onEvent = () => {};
  complain("");
  const [, what, id] = location.hash.split("/");
  document.title = what === "run" ? `${decodeURIComponent(id)} · mwlvm` : "mwlvm";
  if (what === "run") runView(decodeURIComponent(id));
  else if (what === "start") startView();
  else listView();
}
function begin() {
  complain("");
  if (stopAll) stopAll();
  stopAll = listen("/v1/events", e => onEvent(e), on => {
    $("live").textContent = on ? "live" : "no connection; trying again";
    $("live").className = on ? "on" : "off";
  });
  route();
}
function move(by) {
  const all = [...main.querySelectorAll(".runs a")], at = all.indexOf(document.activeElement);
  all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
}
function keys() {
  $("help").hidden = !$("help").hidden;
  $("keys").setAttribute("aria-expanded", String(!$("help").hidden));
}
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "Escape") { location.hash = "#/"; return; }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
  if (e.key === "j" || e.key === "ArrowDown") move(1);
  else if (e.key === "k" || e.key === "ArrowUp") move(-1);
  else if (e.key === "n") location.hash = "#/start";
  else if (e.key === "/") $("state")?.focus();
  else if (e.key === "?") keys();
  else return;
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp" || main.querySelector(".runs a")) e.preventDefault();
});
$("new").addEventListener("click", () => { location.hash = "#/start"; });
$("keys").addEventListener("click", keys);
window.addEventListener("hashchange", route);
if (location.pathname.startsWith("/a/")) {
  linkView();
} else {
  const given = location.hash.match(/^#token=(\w+)$/);
  if (given) {
    if (!token) sessionStorage.setItem("token", token = given[1]);  // a link of somebody does not change who one is
    history.replaceState(null, "", "#/");
  }
  begin();
}
