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
    super(body.title || `the server returned ${status}`);
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
  if (reply.status === 401) askToken();
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

/* {element, read}: read returns the value, or throws with a reason. */
function field(schema, label) {
  const s = schema && typeof schema === "object" ? schema : {};
  const text = s.title || label, help = s.description ? make("span", {className: "soft"}, s.description) : null;
  const wrap = input => make("label", {className: "field"}, make("span", {}, text), input, help);
  if (Array.isArray(s.enum)) {
    const input = make("select", {}, ...s.enum.map((v, i) => make("option", {value: i}, typeof v === "string" ? v : JSON.stringify(v))));
    return {element: wrap(input), read: () => s.enum[input.value]};
  }
  if (s.type === "boolean") {
    const input = make("select", {}, make("option", {value: "true"}, "yes"), make("option", {value: "false"}, "no"));
    return {element: wrap(input), read: () => input.value === "true"};
  }
  if (s.type === "integer" || s.type === "number") {
    const input = make("input", {type: "number", step: s.type === "integer" ? "1" : "any", min: s.minimum ?? "", max: s.maximum ?? ""});
    if ("default" in s) input.value = s.default;
    return {element: wrap(input), read: () => {
      if (input.value === "") throw new Error(`${text}: a number is missing`);
      return Number(input.value);
    }};
  }
  if (s.type === "string") {
    const input = s.maxLength > 200 ? make("textarea") : make("input", {type: {date: "date", email: "email"}[s.format] || "text"});
    if ("default" in s) input.value = s.default;
    return {element: wrap(input), read: () => input.value};
  }
  if (s.type === "object" && s.properties) {
    const parts = Object.entries(s.properties).map(([name, sub]) => [name, field(sub, name), (s.required || []).includes(name)]);
    return {element: make("div", {}, ...parts.map(p => p[1].element)), read: () => {
      const value = {};
      for (const [name, part, needed] of parts) {
        try {
          const v = part.read();
          if (needed || v !== "") value[name] = v;
        } catch (e) {
          if (needed) throw e;
        }
      }
      return value;
    }};
  }
  const input = make("textarea", {spellcheck: false, placeholder: "JSON"});
  if ("default" in s) input.value = JSON.stringify(s.default, null, 2);
  return {element: wrap(input), read: () => {
    try { return JSON.parse(input.value); } catch (e) { throw new Error(`${text}: not JSON: ${e.message}`); }
  }};
}

/* The question of a wait with its form; a yes-or-no question has two buttons. `send` gets the value. */
function questionCard(name, question, send) {
  const wrong = make("p", {className: "wrong", role: "alert", hidden: true});
  const card = make("form", {className: "card", "data-wait": name}, make("h3", {}, question.message || name));
  const give = async read => {
    wrong.hidden = true;
    try {
      await send(JSON.stringify(read()));
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
    const f = field(question.schema, name);
    card.append(f.element, make("button", {className: "main"}, "Answer"));
    card.addEventListener("submit", e => { e.preventDefault(); give(f.read); });
  }
  card.append(wrong);
  return card;
}

/* ---- views --------------------------------------------------------------------------------------- */

function askToken() {
  leave();
  const input = make("input", {type: "password", autocomplete: "off", required: true});
  show(make("form", {className: "narrow", id: "token", onsubmit: e => {
    e.preventDefault();
    token = input.value.trim();
    sessionStorage.setItem("token", token);
    begin();
  }}, make("h1", {}, "A token, please"),
  make("p", {className: "soft"}, "The server wrote it to the file that it named when it started (the store's name and -token)."),
  make("label", {className: "field"}, make("span", {}, "Token"), input), make("button", {className: "main"}, "Go on")));
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
    make("span", {className: "id"}, r.run), make("span", {className: "program"}, r.program + (r.waits ? ` · ${r.waits} open` : "")),
    make("span", {className: "when"}, when(r.ended || r.updated || r.created))));
  async function load(further = false) {
    if (further) shown += 50;
    try {
      const query = new URLSearchParams({order: "newest", limit: Math.min(shown, 1000), state: filters.state, program: filters.program});
      const rows = await lines("/v1/runs?" + query), focus = document.activeElement?.dataset?.run;
      if (!list.isConnected && !main.querySelector(".empty")) return;
      list.replaceChildren(...rows.map(row));
      const empty = main.querySelector(".empty");
      if (!rows.length && !empty) list.after(make("p", {className: "empty"}, "No runs here yet. ",
        make("a", {href: "#/start"}, "Start one"), "."));
      if (rows.length && empty) empty.remove();
      list.hidden = !rows.length;
      more.hidden = rows.length < shown;
      counts.textContent = rows.length ? `${rows.length}${more.hidden ? "" : "+"} runs, the newest first` : "";
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

const OVER = ["done", "failed", "aborted"];
function runView(id) {
  const parts = Object.fromEntries(["head", "waits", "graph", "events", "data"].map(k => [k, make("section", {id: "run-" + k})]));
  show(parts.head, parts.waits, make("div", {className: "columns"}, make("div", {}, make("h2", {}, "Graph"), parts.graph),
    make("div", {}, make("h2", {}, "Timeline"), parts.events)), parts.data);
  const events = [], rows = make("ol", {className: "events", "aria-label": "What happened"});
  parts.events.append(rows);
  let svg = null, timer = 0, run = null, waits = "";
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
    parts.head.replaceChildren(make("div", {className: "head"}, chip(run.state), make("h1", {}, id), make("span", {className: "push"}), ...button),
      make("dl", {className: "facts"}, ...facts.map(([k, v]) => make("div", {}, make("dt", {}, k), make("dd", {}, v)))));
  }
  function drawWaits() {
    const open = (run.open || []).filter(w => !w.provider), now = JSON.stringify(open.map(w => w.number));
    if (now === waits) return;
    waits = now;
    parts.waits.replaceChildren(...(open.length ? [make("h2", {}, "It waits for an answer")] : []),
      ...open.map(w => questionCard(w.name, w.question || {}, body => ask("POST", `${runPath(id)}/answers/${encodeURIComponent(w.name)}`, body))));
  }
  function drawData() {
    const block = (title, value) => value === undefined ? [] : [make("h2", {}, title), make("pre", {}, JSON.stringify(value, null, 2))];
    parts.data.replaceChildren(...block("Result", run.result), ...block("Input", run.start?.input),
      ...(run.frames || []).flatMap(f => f.vars && Object.keys(f.vars).length ? block(`Variables${f.flow ? " of " + f.flow : ""}`, f.vars) : []));
  }
  function drawGraph() {
    if (!svg) return;
    const visited = new Set(events.filter(e => e.kind === "step").map(e => e.text));
    const here = new Set((run?.frames || []).map(f => f.step));
    for (const g of svg.querySelectorAll("g.step")) {
      const name = g.querySelector("text")?.textContent;
      g.classList.toggle("visited", visited.has(name));
      g.classList.toggle("here", here.has(name));
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
        make("span", {className: "kind"}, e.kind), make("span", {title: e.text || ""}, (e.text || "").replace(/^mwl:provider\.\w+\//, "")),
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
  make("div", {className: "choice"}, make("button", {className: "main"}, "Start"), make("a", {href: "#/"}, "Back")), wrong,
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
    token = given[1];
    sessionStorage.setItem("token", token);
    history.replaceState(null, "", "#/");
  }
  begin();
}
