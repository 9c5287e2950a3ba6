"use strict";
// The page: three editors on the left, a run on the right. The run is started when the texts are valid, and stands at its
// beginning until a button makes it go on. What the buttons did is kept, so that Back can do all of it again but the last.
(async () => {
const $ = id => document.getElementById("p-" + id);
const make = (tag, name, words) => { const e = document.createElement(tag); if (name) e.className = name; if (words !== undefined) e.textContent = words; return e; };
const PIECE = 100000; // work between two frames

// ---- the module -----------------------------------------------------------------------------------------------------

async function loadModule() {
  const packed = Uint8Array.from(atob($("wasm").textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
let module_, vm;
// After a trap (a stack that is too small for a text) the module starts again.
function ask(request) {
  if (vm.broken) { run = null; vm = new Mwlvm(module_); }
  return vm.ask(request);
}

// ---- texts ----------------------------------------------------------------------------------------------------------

const editors = {};
for (const name of ["definition", "input", "case"]) editors[name] = new Editor($(name), "p-l-" + name, () => edited());
editors.input.field.placeholder = "null, or any JSON";
editors.case.field.placeholder = '{"Step": {"value": 1}}\nA call without an answer asks you.';
let fileName = "definition.json", timer = 0, notice = ""; // notice: words that stay until one does something

function edited() {
  notice = "";
  clearTimeout(timer);
  timer = setTimeout(check, 120);
}
const subjectNow = () => ({definition: editors.definition.text, name: fileName, case: editors.case.text});

function check() {
  clearTimeout(timer);
  timer = 0;
  const began = performance.now();
  const reply = ask({do: "check", ...subjectNow(), input: editors.input.text});
  document.body.dataset.checked = String(Math.round(performance.now() - began));
  editors.definition.setMarks(reply.diagnostics);
  showProblems(reply.diagnostics);
  for (const name of ["input", "case"]) {
    const p = reply.problems.find(x => x.in === name);
    editors[name].setMarks(p ? [{...p, endLine: p.line, endColumn: p.column + 1, severity: "error"}] : []);
    $("w-" + name).textContent = p ? p.message : "";
    $("w-" + name).title = p ? p.message : "";
  }
  begin(reply.ok);
  return reply.ok;
}

function showProblems(list) {
  const errors = list.filter(d => d.severity === "error").length, warnings = list.length - errors;
  const count = (n, word) => n ? `${n} ${word}${n > 1 ? "s" : ""}` : "";
  $("verdict").textContent = [count(errors, "error"), count(warnings, "warning")].filter(Boolean).join(", ") || "✓ valid";
  $("verdict").className = errors ? "bad" : warnings ? "warn" : "good";
  $("problems").hidden = !list.length;
  $("problems").replaceChildren(...list.slice(0, 100).map(d => {
    const row = make("div", "p-problem " + d.severity), go = make("button", "go");
    go.append(make("span", "at", `${d.line}:${d.column} `), d.message, d.suggestion ? make("span", "at", " — " + d.suggestion) : "");
    go.addEventListener("click", () => editors.definition.goTo(markOf(d)));
    row.append(make("span", "sign", d.severity === "error" ? "✗" : "!"), go);
    if (d.fix.length) {
      const fix = make("button", "", "Repair");
      fix.setAttribute("aria-label", "Repair: " + d.message);
      fix.addEventListener("click", () => editors.definition.repair(d));
      row.append(fix);
    }
    return row;
  }));
}
const markOf = d => editors.definition.marks.find(m => m.line === d.line && m.column === d.column && m.code === d.code);
function nextMistake() {
  const e = editors.definition, at = e.field.selectionStart, mark = e.marks.find(m => m.from > at) || e.marks[0];
  if (mark) e.goTo(mark);
}

// ---- the run --------------------------------------------------------------------------------------------------------

let run = null, done = [], events = [], report = null, running = false, listed = "", over = false;

function begin(valid) {
  stop();
  if (run) run.dispose();
  run = null;
  done = [];
  events = [];
  over = false;
  if (valid) {
    try {
      run = vm.start(editors.definition.text, {virtualTime: true, record: true, slice: 1, name: fileName, case: editors.case.text,
                                               inputText: editors.input.text, onEvent: e => { if (events.length < 20000) events.push(e); }});
    } catch (error) { $("w-case").textContent = error.message; }
  }
  show();
}
const auto = () => $("auto").checked;

// One button. What it did is kept for Back.
function act(action) {
  if (!run) return;
  done.push(action);
  perform(action);
}
// A long one goes on in pieces, between frames. If it was stopped, its number of pieces is kept: again it stops there.
async function perform(action) {
  const mine = run;
  let {until, auto} = action;
  if (action.answer) {
    if (action.failure) run.fail(action.answer, action.failure); else run.answer(action.answer, action.value);
    until = "wait";
  }
  if (action.cancel) { run.cancel("from the page"); until = "end"; auto = true; }
  if (until !== "end" && until !== "wait") { run.go(until, auto, 5000000); show(); return; }
  running = true;
  for (let n = 1; ; n++) {
    run.go(until, auto, PIECE);
    if (run.state.state !== "ready" || n === action.pieces) break;
    showState();
    await new Promise(resolve => setTimeout(resolve, 0));
    if (run !== mine) return;
    if (!running) { action.pieces = n; break; }
  }
  running = false;
  show();
}
let stops = 0;
function stop() { running = false; stops++; }
async function back() {
  const again = done.slice(0, -1);
  begin(true);
  const mine = run, before = stops;
  for (const action of again) {
    done.push(action);
    await perform(action);
    if (run !== mine || stops !== before) return;
  }
}

function second(ns) {
  if (ns < 1e9) return ns ? Number((ns / 1e6).toPrecision(3)) + " ms" : "0 s";
  if (ns < 6e10) return Number((ns / 1e9).toPrecision(4)) + " s";
  const s = Math.round(ns / 1e9), d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
  return [d && d + " d", h && h + " h", m && m + " min", !d && s % 60 && s % 60 + " s"].filter(Boolean).join(" ");
}
const shortUri = uri => { const p = uri.split("/"); return p.length < 4 ? uri : (p[1] === "mwl" ? "" : p[1] + "/") + p.slice(2, -1).join("/"); };

function stateWord() {
  if (!run) return ["not valid", "failed"];
  const s = run.state;
  if (s.state === "aborted") return ["ended without a Result", "failed"];
  if (s.state === "done") return s.result.type === "success" ? ["✓ succeeded", "succeeded"] : s.result.type === "cancellation" ? ["⊘ cancelled", "cancelled"] : ["✗ " + (s.result.type === "timeout" ? "timed out" : "failed"), "failed"];
  if (running) return ["running", "ready"];
  return s.stops ? [s.state === "waiting" ? "waiting" : "stopped", "waiting"] : ["ready", "ready"];
}
const brief = value => { const text = JSON.stringify(value); return text.length > 120 ? text.slice(0, 119) + "…" : text; };
function stateWords() {
  if (!run) return "Repair the mistakes on the left to run it.";
  const s = run.state, w = s.where;
  if (s.state === "aborted") return s.why || "";
  if (s.state === "done") return (s.why ? s.why + ". " : "") + (s.result.type === "success" ? brief(s.result.value) : s.result.code || "") + (s.unexpected.length ? " No answer fits a call of Step " + s.unexpected[0].step + ": " + s.unexpected[0].why + "." : s.unused ? " Not used: " + s.unused + "." : "");
  if (!s.stops) return "Press Run, or Step to see one thing after the other.";
  const last = [...events].reverse().find(e => WORDS[e.event] && e.event !== "TIMER" && e.event !== "PHASE");
  const where = w && w.waiting === "time" ? `Step ${w.step} waits until ${second(s.due)}` : w && w.waiting === "call" ? `Step ${w.step} waits for ${shortUri(w.provider)}` + (s.due !== null && !s.calls.length ? ` until ${second(s.due)}` : "")
    : w && w.waiting === "gather" ? `Step ${w.step}: ${w.done} of ${w.total} dispatches done` : "";
  return s.state === "waiting" && where ? where : last ? words(last) : "";
}

function showState() {
  const [word, kind] = stateWord();
  $("state").textContent = word;
  $("state").className = "chip " + kind;
  $("clock").textContent = run ? "t = " + second(run.state.now) : "";
  $("words").textContent = notice || stateWords();
  over = !run || run.over;
  $("run").textContent = running ? "■ Stop" : "▶ Run";
  $("run").disabled = !run;
  $("step").disabled = over || running;
  $("timer").disabled = over || running || run.state.due === null || run.state.state !== "waiting";
  $("back").disabled = !run || !done.length || running;
  $("reset").disabled = !run || !done.length;
  editors.definition.showLine(run && !run.over && run.state.where && run.state.stops ? run.state.where.line : 0);
}

function show() {
  showState();
  showCalls();
  showTab();
  document.body.dataset.state = run ? run.state.state : "invalid";
}

// ---- calls that a person answers ------------------------------------------------------------------------------------

// The codes that a provider may fail with: of its document in the case, or one by its name.
function codesOf(uri) {
  let documents = [];
  try { documents = JSON.parse(editors.case.text).providers || []; } catch { /* there is none */ }
  const own = documents.find(d => d && d.uri === uri), codes = own && own.failureCatalog && own.failureCatalog.closed;
  const name = (uri.split("/")[2] || "Any").replace(/[^A-Za-z0-9]/g, "");
  return codes && codes.length ? codes : [`Provider.Call.${name[0].toUpperCase()}${name.slice(1)}.Failed`];
}
function showCalls() {
  const calls = run && !running ? run.state.calls : [];
  $("calls").hidden = !calls.length;
  $("calls").replaceChildren(...calls.length ? [make("b", "", calls.length > 1 ? "These calls wait for your answer" : "This call waits for your answer")] : [], ...calls.slice(0, 20).map(c => {
    const row = make("form", "p-call"), about = make("div"), value = make("input"), ok = make("button", "p-main", "Succeed"), bad = make("button", "", "Fail");
    about.append(make("b", "", c.step), ` calls ${shortUri(c.provider)} with `, make("code", "", JSON.stringify(c.with)), " and input ", make("code", "", JSON.stringify(c.input)));
    value.value = 'null';
    value.setAttribute("aria-label", `Answer to the call of ${c.step}, as JSON; of a failure its code`);
    bad.type = "button";
    const codes = codesOf(c.provider), list = make("datalist");
    list.id = "p-codes-" + c.number;
    list.append(...codes.map(code => new Option(code)));
    value.setAttribute("list", list.id);
    const fail = () => {
      const code = /^[A-Za-z]\w*(\.\w+)+$/.test(value.value.trim()) ? value.value.trim() : codes[0];
      act({answer: c.number, failure: {code, message: "answered by hand"}});
    };
    row.addEventListener("submit", e => {
      e.preventDefault();
      let json;
      try { json = JSON.parse(value.value); } catch { json = value.value; }
      act({answer: c.number, value: json});
    });
    bad.addEventListener("click", fail);
    bad.title = "A failure; write its code into the field, as Provider.Call.Pay.Busy";
    row.append(about, value, ok, bad, list);
    return row;
  }));
}

// ---- views ----------------------------------------------------------------------------------------------------------

const tabs = ["way", "result", "events", "listing"];
let tab = "way";
function choose(name, focus) {
  tab = name;
  for (const t of tabs) {
    const on = t === name;
    $("t-" + t).setAttribute("aria-selected", String(on));
    $("t-" + t).tabIndex = on ? 0 : -1;
    $("v-" + t).hidden = !on;
    if (on && focus) $("t-" + t).focus();
  }
  showTab();
}
function showTab() { ({way: showWay, result: showResult, events: showEvents, listing: showListing})[tab](); }

function showWay() {
  const host = $("v-way");
  if (!run) {
    if (!host.querySelector("#views")) host.replaceChildren(make("div", "p-hint", "There is nothing to draw yet."));
    return;
  }
  const before = report && host.querySelector("#views") ? report.seen() : undefined;
  const {svg, data} = run.report();
  const views = make("main", run.state.stops ? "" : "fresh");
  views.id = "views";
  views.append($("views").content.cloneNode(true));
  views.querySelector("#graph-view").innerHTML = svg || "";
  host.replaceChildren(views);
  if (!svg) views.classList.add("no-graph");
  report = mwlReport(data, views, before);
  if (!run.over && run.state.stops) report.follow();
}
function showResult() {
  const s = run && run.state, host = $("v-result");
  if (!s || !s.result) {
    const vars = s && s.vars && Object.keys(s.vars).length ? [make("h3", "", "Variables now"), make("pre", "", JSON.stringify(s.vars, null, 2))] : [];
    host.replaceChildren(make("div", "p-hint", "There is no Result yet: the run has not ended."), ...vars);
    return;
  }
  host.replaceChildren(make("h3", "", s.result.type === "success" ? "Success" : "Failure"), make("pre", "", JSON.stringify(s.result, null, 2)));
}
const WORDS = {RUN_STARTED: "the run starts", RUN_DONE: "the run is over", FRAME_ENTERED: "Flow begins", FRAME_EXITED: "Flow ends", STEP_ENTERED: "Step begins",
  STEP_EXITED: "Step ends", PHASE: "phase", ATTEMPT: "runs again", CALL_DISPATCHED: "call begins", CALL_ACCEPTED: "call ends", TIMER: "a timer fires",
  INTERRUPTED: "is interrupted", ESTABLISHED: "is established", ENTRY_EXITED: "middleware ends", CAUGHT: "failure caught", WAITING: "waits"};
function words(e) {
  const failed = e.failed ? " with " + ((e.value && e.value.code) || "a failure") : "";
  return [e.step, WORDS[e.event] || e.event, e.phase, e.provider && shortUri(e.provider), e.index !== undefined ? "#" + e.index : ""].filter(Boolean).join(" · ") + failed;
}
function showEvents() {
  const table = make("table", "p-events");
  for (const e of events.slice(-2000)) {
    const row = make("tr", e.failed ? "failed" : ""), value = e.value === undefined ? "" : JSON.stringify(e.value), cell = make("td", "", words(e));
    const last = make("td");
    last.append(make("code", "", value.length > 160 ? value.slice(0, 160) + "…" : value));
    row.append(make("td", "", second(e.at)), cell, last);
    table.append(row);
  }
  $("v-events").replaceChildren(events.length > 1 ? table : make("div", "p-hint", "Nothing has happened yet."));
  if (run && !run.over) $("v-events").scrollTop = $("v-events").scrollHeight;
}
function showListing() {
  const key = editors.definition.text + "\u0000" + editors.case.text;
  if (listed === key) return;
  listed = key;
  const reply = ask({do: "look", ...subjectNow()});
  $("v-listing").replaceChildren(reply.listing ? make("pre", "", reply.listing) : make("div", "p-hint", "There is no code: the definition has errors."));
}

// ---- examples and links ---------------------------------------------------------------------------------------------

const examples = JSON.parse($("examples-data").textContent), rows = examples.flatMap(g => g.rows);
$("examples").append(new Option("Your own", "-1"));
for (const group of examples) {
  const g = make("optgroup");
  g.label = group.group;
  for (const row of group.rows) g.append(new Option(row.title, String(rows.indexOf(row))));
  $("examples").append(g);
}
function open(texts, name, start) {
  fileName = name || "definition.json";
  editors.definition.text = texts.definition;
  editors.input.text = texts.input;
  editors.case.text = texts.case;
  report = null;
  if (check() && start) act({until: "end", auto: true});
}
async function stream(bytes, through) { return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer()); }
async function link() {
  const texts = [editors.definition.text, editors.input.text, editors.case.text, fileName];
  const packed = await stream(encoder.encode(JSON.stringify(texts)), new CompressionStream("deflate-raw"));
  return location.href.replace(/#.*/s, "") + "#1" + base64(packed).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
async function openLink() {
  if (!location.hash.startsWith("#1")) return false;
  try {
    const packed = Uint8Array.from(atob(location.hash.slice(2).replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
    const [definition, input, case_, name] = JSON.parse(decoder.decode(await stream(packed, new DecompressionStream("deflate-raw"))));
    $("examples").value = "-1";
    open({definition: String(definition), input: String(input), case: String(case_)}, String(name), true);
    return true;
  } catch {
    notice = "The link cannot be read.";
    showState();
    return false;
  }
}
async function share() {
  const url = await link();
  history.replaceState(null, "", url);
  $("link").hidden = false;
  $("url").value = url;
  $("url").focus();
  $("url").select();
  $("copied").textContent = `${url.length} characters`;
  try { await navigator.clipboard.writeText(url); $("copied").textContent = "Copied."; } catch { /* it is selected */ }
}

// ---- buttons and keys -----------------------------------------------------------------------------------------------

// On a narrow page the run is below the texts.
function toRun() { if (matchMedia("(max-width: 900px)").matches) $("show").scrollIntoView({block: "start"}); }
const actions = {
  run: () => { if (running) { stop(); show(); return; } if (!run) return; if (run.over) begin(true); act({until: "end", auto: auto()}); toRun(); },
  step: () => { act({until: "step", auto: auto()}); toRun(); },
  timer: () => { act({until: "timer", auto: false}); toRun(); },
  back, reset: () => begin(true), share,
};
for (const [name, action] of Object.entries(actions)) {
  actions[name] = () => {
    notice = "";
    if (timer) check(); // what was typed a moment ago
    if (!$(name).disabled) return action();
  };
  $(name).addEventListener("click", actions[name]);
}
$("examples").addEventListener("change", e => { notice = ""; if (e.target.value !== "-1") { history.replaceState(null, "", location.pathname + location.search); $("link").hidden = true; const row = rows[e.target.value]; open(row, row.name, true); } });
const toggleHelp = on => { $("help").hidden = !on; $("help-button").setAttribute("aria-expanded", String(on)); };
$("help-button").addEventListener("click", () => toggleHelp($("help").hidden));
$("link-close").addEventListener("click", () => { $("link").hidden = true; $("share").focus(); });
for (const t of tabs) {
  $("t-" + t).addEventListener("click", () => choose(t));
  $("t-" + t).addEventListener("keydown", e => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (step) { choose(tabs[(tabs.indexOf(t) + step + tabs.length) % tabs.length], true); e.preventDefault(); }
  });
}
document.addEventListener("keydown", e => {
  const key = (e.ctrlKey || e.metaKey) && e.key === "Enter" ? "run" : e.key === "F10" ? e.shiftKey ? "back" : "step" : e.key === "F9" ? "timer" : "";
  if (e.key === "F8") { nextMistake(); e.preventDefault(); return; }
  if (e.key === "Escape" && (!$("help").hidden || !$("link").hidden)) { toggleHelp(false); $("link").hidden = true; return; }
  if (!key) return;
  e.preventDefault();
  actions[key]();
});
window.addEventListener("hashchange", openLink);

try {
  module_ = await loadModule();
  vm = new Mwlvm(module_);
} catch (error) {
  document.getElementById("p-cols").replaceChildren(make("div", "p-hint", "This browser cannot run the page: " + error.message));
  throw error;
}
$("about").textContent = `mwlvm ${vm.version}.` + (vm.missing.length ? ` Not here: ${vm.missing.join(", ")}; providers that touch the world (http, exec, file …) are answered by what you write.` : "");
if (!await openLink()) {
  if (notice) notice = "The link cannot be read; an example is shown instead.";
  $("examples").value = "0";
  open(rows[0], rows[0].name, true);
}
document.body.dataset.ready = "1";
})();
