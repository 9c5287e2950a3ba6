"use strict";
// The report of one run. D is its data (data.c has its form). Rows are the structure of the run: frames, Steps,
// middleware, calls, dispatches; what is executed again in the same place is another bar in the same row. Only the rows
// and bars that can be seen are in the document.
//
// The playground shows the same for a run that goes on. `part` is the element that holds the views there: the head of the
// page is not filled, and keys count inside it alone. `before` is what seen() returned for the run as it was.
function mwlReport(D, part, before) {
const began = performance.now();
const $ = id => document.getElementById(id);
const KIND = {RUN: 0, FLOW: 1, STEP: 2, ENTRY: 3, PHASE: 4, ATTEMPT: 5, CALL: 6, DISPATCH: 7, WAIT: 8};
const KINDS = ["Run", "Flow", "Step", "Middleware", "Phase", "Attempt", "Call", "Dispatch", "Wait"];
const STATUS = ["running", "succeeded", "failed", "caught", "cancelled", "not ended"];
const ROW = 24;
const cut = new Set(D.cut);
const FILE = D.file.slice(D.file.lastIndexOf("/") + 1) || D.file;
const text = i => i < 0 ? "" : D.texts[i];

const spans = D.spans.map((s, i) => ({
  i, kind: s[0], status: s[1], track: s[2], parent: s[3], begin: s[4], end: s[5], from: s[6], to: s[7], number: s[8],
  flow: text(s[9]), step: text(s[10]), provider: text(s[11]), phase: text(s[12]), total: s[13], line: s[14], column: s[15],
  input: s[16], args: s[17], result: s[18], before: s[19], after: s[20], caught: s[21], children: 0, waits: false, row: null, drawn: false, target: "",
}));
let orders = 0, latest = 0;
for (const s of spans) {
  orders = Math.max(orders, s.from + 1, s.to + 1);
  latest = Math.max(latest, s.begin, s.end);
}
if (D.state === "running") latest = Math.max(latest, D.now);
for (const s of spans) {
  if (s.status === 0) { s.to = orders; s.end = latest; }
  if (s.parent >= 0) {
    const p = spans[s.parent];
    p.children++;
    if (s.kind === KIND.WAIT && p.kind === KIND.STEP) p.waits = true;
    if (s.kind === KIND.FLOW) p.target = s.flow ? "Flow " + s.flow : "Flow";
  }
}
orders++;

// ---- words ------------------------------------------------------------------------------------

function short(uri) {
  const parts = uri.split("/");
  if (parts.length < 4) return uri;
  const version = parts[parts.length - 1];
  return (parts[1] === "mwl" ? "" : parts[1] + "/") + parts.slice(2, -1).join("/") + (version === "v1" ? "" : " " + version);
}
function duration(ns) {
  const abs = Math.abs(ns);
  if (abs === 0) return "0 s";
  if (abs < 1e3) return Math.round(ns) + " ns";
  if (abs < 1e6) return trim(ns / 1e3) + " µs";
  if (abs < 1e9) return trim(ns / 1e6) + " ms";
  if (abs < 6e10) return trim(ns / 1e9) + " s";
  const total = Math.round(ns / 1e9), d = Math.floor(total / 86400), h = Math.floor(total / 3600) % 24;
  const m = Math.floor(total / 60) % 60, s = total % 60;
  return [d && d + " d", h && h + " h", m && m + " min", !(d && (h || m)) && s && s + " s"].filter(Boolean).join(" ");
}
const trim = n => String(Number(n.toPrecision(3)));
function nameOf(s) {
  switch (s.kind) {
    case KIND.RUN: return FILE;
    case KIND.FLOW: return s.flow || (s.parent >= 0 && spans[s.parent].kind === KIND.RUN ? FILE : "inline Flow");
    case KIND.STEP: return s.step;
    case KIND.ENTRY: return short(s.provider);
    case KIND.PHASE: return s.phase;
    case KIND.ATTEMPT: return "run " + s.number;
    case KIND.DISPATCH: return "#" + s.number + " " + (short(s.provider) || s.target || "Flow");
    case KIND.CALL: return short(s.provider) || s.target || "Flow";
    default: return s.number > 0 ? "wait before run " + s.number : "wait";
  }
}
function label(s) {
  const failure = failureOf(s);
  return `${KINDS[s.kind]} ${nameOf(s)}${s.kind === KIND.STEP || !s.step ? "" : " of " + s.step}, ` +
    (s.kind === KIND.WAIT || s.waits ? "waiting, " : "") + STATUS[s.status] +
    (failure && failure.code ? " with " + failure.code : "") + ", " + duration(s.end - s.begin);
}
function element(tag, className, content) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (content !== undefined) e.textContent = content;
  return e;
}

// ---- rows -------------------------------------------------------------------------------------

const rows = [];
const byKey = new Map();
function rowFor(parent, s, name) {
  const key = (parent ? parent.id : "") + "|" + s.kind + "|" + name + "|" + (s.kind === KIND.STEP ? s.line + ":" + s.column : "");
  let row = byKey.get(key);
  if (!row) {
    row = {id: rows.length, parent, name, kind: s.kind, depth: parent ? parent.depth + 1 : 0, children: [], bars: [], folded: false, at: -1};
    byKey.set(key, row);
    rows.push(row);
    if (parent) parent.children.push(row);
  }
  return row;
}
for (const s of spans) {
  const p = s.parent >= 0 ? spans[s.parent] : null;
  const inside = p ? p.row : null;
  if (s.kind === KIND.RUN && s.children) continue; // the root Flow shows it
  if (inside && s.kind === KIND.FLOW) { s.row = inside; continue; } // the call shows it
  if (inside && (s.kind === KIND.ATTEMPT || (s.kind === KIND.PHASE && !s.children))) s.row = inside;
  else if (inside && s.kind === KIND.WAIT) { s.row = inside; if (p.kind === KIND.STEP) continue; }
  else s.row = rowFor(inside, s, nameOf(s));
  s.row.bars.push(s);
}
// A middleware that runs its inner scope again shows each run; its own bar would lie behind them.
for (const r of rows)
  if (r.kind === KIND.ENTRY && r.bars.some(s => s.kind === KIND.ATTEMPT)) r.bars = r.bars.filter(s => s.kind !== KIND.ENTRY);
// Bars of one kind lie in one layer of their row: waits behind runs, phases along the lower edge.
for (const r of rows) {
  const layers = new Map();
  for (const s of r.bars) {
    s.drawn = true;
    if (!layers.has(s.kind)) layers.set(s.kind, []);
    layers.get(s.kind).push(s);
  }
  const level = l => (l[0] === KIND.PHASE) - (l[0] === KIND.WAIT);
  r.layers = [...layers].sort((a, b) => level(a) - level(b)).map(l => l[1]);
}
let shown = [];
function listRows() {
  shown = [];
  changes++;
  const visit = r => { r.at = shown.length; shown.push(r); if (!r.folded) r.children.forEach(visit); };
  for (const r of rows) r.at = -1;
  rows.filter(r => !r.parent).forEach(visit);
}

// ---- time -------------------------------------------------------------------------------------

// Where each order (a begin or an end) lies between 0 and 1. Compressed: stretches in which no call runs are at most as
// long as `most`, and each order has a little room, so that what happens at one instant can be seen side by side.
const times = new Float64Array(orders);
{
  for (const s of spans) { times[s.from] = s.begin; times[s.to] = s.end; }
  let last = 0;
  for (let o = 0; o < orders; o++) { if (times[o] < last) times[o] = last; last = times[o]; }
}
const total = times[orders - 1];
const place = new Float64Array(orders);
let gaps = [], trueTime = false, changes = 0;
// How long an idle stretch is drawn at most. Usual ones keep their length, so that waits can be compared, unless all that
// runs would be too small beside them. `idle` is sorted.
function longest(idle, active) {
  const usual = idle.length ? idle[(idle.length - 1) >> 1] * 2.5 : 0, little = active * (idle.length < 3 ? 0.3 : 0.15);
  return active < 1e7 || usual < 100 * active ? Math.max(little, usual) : little;
}
function layTime() {
  changes++;
  gaps = [];
  const change = new Int32Array(orders + 1);
  for (const s of spans)
    if ((s.kind === KIND.CALL || s.kind === KIND.DISPATCH) && !s.children) { change[s.from]++; change[s.to]--; }
  const idle = [];
  let active = 0, open = 0;
  for (let o = 0; o + 1 < orders; o++) {
    open += change[o];
    const dt = times[o + 1] - times[o];
    if (dt > 0 && open === 0) idle.push(dt); else active += dt;
  }
  idle.sort((a, b) => a - b);
  const most = trueTime ? Infinity : longest(idle, active);
  let sum = active;
  for (const dt of idle) sum += Math.min(dt, most);
  const forOrder = trueTime && total > 0 ? 0 : sum > 0 ? 0.3 : 1;
  open = 0;
  for (let o = 0; o + 1 < orders; o++) {
    open += change[o];
    const dt = times[o + 1] - times[o], waits = dt > 0 && open === 0;
    const width = waits ? Math.min(dt, most) : dt;
    place[o + 1] = place[o] + (sum > 0 ? (1 - forOrder) * width / sum : 0) + forOrder / (orders - 1);
    if (waits && dt > most * 1.2) gaps.push({from: o, to: o + 1, ns: dt});
  }
  const end = place[orders - 1] || 1;
  for (let o = 0; o < orders; o++) place[o] /= end;
}
const view = {from: 0, to: 1};
let width = 600;
const x = o => (place[o] - view.from) / (view.to - view.from) * width;

// ---- drawing the timeline ---------------------------------------------------------------------

const box = $("rows"), space = $("space");
let selected = -1, hits = [], hitSet = new Set(), hitAt = -1, pending = false;
function later() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; draw(); });
}
function barClass(s) {
  let c = "bar s" + s.status;
  if (s.kind === KIND.WAIT || s.waits) c += " wait";
  if (s.kind === KIND.FLOW || s.kind === KIND.RUN) c += " frame";
  if (s.kind === KIND.PHASE && s.row.kind !== KIND.PHASE) c += " phase"; // a mark in the row of its middleware
  if (s.i === selected) c += " selected";
  if (hitSet.has(s.i)) c += " hit";
  return c;
}
// What fits: a duration as a whole, a code also in part, at least the mark of a failure. The number of an attempt is what one
// looks for: it is the last text that a narrow bar loses.
function putText(e, s, size) {
  const failure = failureOf(s), mark = s.status === 2 ? "✗" : s.status === 4 ? "⊘" : "", took = duration(s.end - s.begin);
  const number = s.kind === KIND.ATTEMPT ? String(s.number) : "", least = 6 * number.length + 4;
  const room = size - 9 - (number ? least : 0), fits = words => room >= 6 * words.length;
  let words = s.kind === KIND.WAIT || s.waits ? "wait " + took : failure && failure.code ? failure.code : s.end > s.begin ? took : "";
  if (failure && failure.code && words === failure.code ? room < 42 : !fits(mark + words)) words = "";
  words = [fits(mark) ? mark : "", words].filter(Boolean).join(" ");
  if (s.kind === KIND.PHASE && s.row.kind !== KIND.PHASE) return;
  if (number && size >= least) e.append(element("b", "", number));
  if (words) e.append(element("span", "", words)); else e.classList.add("tight");
}
function drawBars(bars, into) {
  let low = 0, high = bars.length;
  while (low < high) { const m = (low + high) >> 1; if (place[bars[m].to] < view.from) low = m + 1; else high = m; }
  for (let i = low; i < bars.length; i++) {
    const s = bars[i], left = Math.min(x(s.from), x(s.from) > width ? Infinity : width - 5);
    if (left > width) break;
    const next = i + 1 < bars.length ? x(bars[i + 1].from) : width;
    const least = s.kind === KIND.ATTEMPT ? Math.min(6 * String(s.number).length + 7, next - left - 2) : 5; // room for its number
    let right = Math.max(x(s.to), left + Math.max(5, least)), count = 1, bad = s.status === 2;
    // bars too narrow to be told apart are one, until there is room again
    while (i + 1 < bars.length && x(bars[i].to) - x(bars[i].from) < 5 && x(bars[i + 1].from) < left + 7 &&
           bars[i].i !== selected && bars[i + 1].i !== selected) {
      i++;
      count++;
      bad = bad || bars[i].status === 2;
      right = Math.max(right, x(bars[i].to));
    }
    const e = element("div", count > 1 ? barClass(s).replace(/s\d/, "s" + (bad ? 2 : s.status)) + " many" : barClass(s));
    const size = Math.max(5, Math.min(right, place[s.to] > view.to ? width + 4 : width) - Math.max(left, -4));
    e.style.left = Math.max(left, -4) + "px";
    e.style.width = size + "px";
    e.dataset.span = s.i;
    if (count === 1) { e.id = "bar" + s.i; e.setAttribute("aria-label", label(s)); e.title = label(s); }
    else e.title = `${count} bars; zoom in to see each`;
    e.setAttribute("role", "button");
    if (count === 1) putText(e, s, size);
    into.append(e);
  }
}
function drawRow(row) {
  const e = element("div", "row" + (selected >= 0 && spans[selected].row === row ? " current" : ""));
  e.style.top = row.at * ROW + "px";
  const name = element("div", "name" + (row.bars.some(s => hitSet.has(s.i)) ? " hit" : ""));
  name.style.paddingLeft = `calc(${Math.min(row.depth, 12)} * var(--indent) + 6px)`;
  const fold = element("button", "fold", row.children.length ? row.folded ? "▶" : "▼" : "");
  fold.tabIndex = -1;
  if (row.children.length) { fold.dataset.fold = row.id; fold.setAttribute("aria-label", row.folded ? "Unfold" : "Fold"); }
  name.append(fold, element("span", "kind", KINDS[row.kind]), element("span", "what", row.name));
  const runs = row.bars.filter(s => s.kind !== KIND.PHASE && s.kind !== KIND.WAIT).length;
  if (runs > 1) name.append(element("span", "count", "×" + runs));
  name.title = KINDS[row.kind] + " " + row.name;
  const bars = element("div", "bars");
  for (const g of gaps) {
    const left = x(g.from), right = x(g.to);
    if (right < 0 || left > width || right - left < 2) continue;
    const i = element("div", "idle");
    i.style.left = left + "px";
    i.style.width = right - left + "px";
    bars.append(i);
  }
  for (const layer of row.layers) drawBars(layer, bars);
  e.append(name, bars);
  return e;
}
function timeAt(p) { // the time at a place between 0 and 1
  let low = 0, high = orders - 1;
  while (low < high) { const m = (low + high) >> 1; if (place[m] < p) low = m + 1; else high = m; }
  if (low === 0) return times[0];
  const a = place[low - 1], b = place[low], part = b > a ? (p - a) / (b - a) : 0;
  return times[low - 1] + part * (times[low] - times[low - 1]);
}
function placeAt(t) { // where the time first is
  let low = 0, high = orders - 1;
  while (low < high) { const m = (low + high) >> 1; if (times[m] < t) low = m + 1; else high = m; }
  if (low === 0) return 0;
  const a = times[low - 1], b = times[low];
  return place[low - 1] + (b > a ? (t - a) / (b - a) : 1) * (place[low] - place[low - 1]);
}
// The roundest time after a and not after b that duration() shows exactly; -1: there is none.
function roundTime(a, b) {
  const units = [864e11, 432e11, 216e11, 108e11, 36e11, 18e11, 6e11, 3e11, 6e10, 3e10, 1e10, 5e9, 2e9];
  const least = b >= 6e10 ? 1e9 : b / 100;
  for (let u = 1e9; u >= 1; u /= 10) units.push(u, u / 2, u / 5);
  for (const unit of units) { const t = Math.ceil(a / unit) * unit; if (unit >= least && t <= b && t > a) return t; }
  return -1;
}
function drawAxis() {
  const axis = $("axis-time");
  axis.textContent = "";
  const n = Math.max(1, Math.floor(width / 90)), far = k => timeAt(view.from + (view.to - view.from) * k / n);
  let free = 0, last = "";
  for (let k = 0; k < n; k++) {
    const time = k || view.from > 0 ? roundTime(far(k), far(k + 1)) : 0, words = duration(time);
    const at = k || view.from > 0 ? (placeAt(time) - view.from) / (view.to - view.from) * width : 0;
    if (time < 0 || words === last || at < free || at + words.length * 6 > width || gaps.some(g => at > x(g.from) && at < x(g.to))) continue;
    free = at + words.length * 6 + 14;
    last = words;
    const t = element("div", "tick", words);
    t.style.left = at + "px";
    axis.append(t);
  }
  for (const g of gaps) {
    const left = x(g.from), right = x(g.to);
    if (right < 0 || left > width || right - left < 12) continue;
    const e = element("div", "gap", right - left > 40 ? "⋯ " + duration(g.ns) + " ⋯" : "⋯");
    e.title = "Nothing runs for " + duration(g.ns) + "; this stretch is compressed";
    e.style.left = left + "px";
    e.style.width = right - left + "px";
    axis.append(e);
  }
}
// Elements of rows stay as long as nothing in them changes: scrolling must not take a bar away under the pointer.
const elements = new Map();
let drawn = "";
function draw() {
  if (!box.isConnected) return; // another report has taken its place
  const style = getComputedStyle(box);
  width = Math.max(60, box.clientWidth - parseFloat(style.getPropertyValue("--label")));
  space.style.height = shown.length * ROW + "px";
  const now = [width, view.from, view.to, selected, changes].join();
  if (now !== drawn) { space.textContent = ""; elements.clear(); drawAxis(); }
  drawn = now;
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
  const last = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 4);
  for (const [row, e] of elements) if (row.at < first || row.at >= last) { e.remove(); elements.delete(row); }
  const all = document.createDocumentFragment();
  for (let i = first; i < last; i++) {
    if (elements.has(shown[i])) continue;
    const e = drawRow(shown[i]);
    elements.set(shown[i], e);
    all.append(e);
  }
  space.append(all);
  if (selected >= 0) box.setAttribute("aria-activedescendant", "bar" + selected); else box.removeAttribute("aria-activedescendant");
}
function zoom(by, at = 0.5) {
  const size = Math.min(1, Math.max(1e-7, (view.to - view.from) * by));
  const middle = view.from + (view.to - view.from) * at;
  view.from = Math.max(0, Math.min(1 - size, middle - size * at));
  view.to = view.from + size;
  later();
}
function reveal(s) { // scrolls and moves so that the bar can be seen
  for (let r = s.row && s.row.parent; r; r = r.parent) if (r.folded) { r.folded = false; listRows(); }
  if (!s.row) return;
  const top = s.row.at * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  const size = view.to - view.from, a = place[s.from], b = place[s.to];
  if (b < view.from || a > view.to) {
    view.from = Math.max(0, Math.min(1 - size, (a + b) / 2 - size / 2));
    view.to = view.from + size;
  }
}

// ---- values and failures ----------------------------------------------------------------------

// JSON text with line breaks; numbers stay as they are written.
function pretty(json) {
  let out = "", depth = 0, quoted = false;
  for (let i = 0; i < json.length; i++) {
    const c = json[i];
    if (quoted) { out += c; if (c === "\\") out += json[++i] || ""; else if (c === '"') quoted = false; continue; }
    if (c === '"') { quoted = true; out += c; }
    else if (c === "{" || c === "[") {
      if (json[i + 1] === "}" || json[i + 1] === "]") out += c + json[++i];
      else out += c + "\n" + "  ".repeat(++depth);
    }
    else if (c === "}" || c === "]") out += "\n" + "  ".repeat(--depth < 0 ? depth = 0 : depth) + c;
    else if (c === ",") out += ",\n" + "  ".repeat(depth);
    else if (c === ":") out += ": ";
    else out += c;
  }
  return out;
}
const parsed = new Map();
function valueOf(i) { // undefined: none, or cut
  if (i < 0 || cut.has(i)) return undefined;
  if (!parsed.has(i)) { try { parsed.set(i, JSON.parse(D.texts[i])); } catch { parsed.set(i, undefined); } }
  return parsed.get(i);
}
function failureOf(s) {
  const i = s.caught >= 0 ? s.caught : s.status === 2 || s.status === 4 ? s.result : -1;
  const v = valueOf(i);
  return v && typeof v === "object" && !Array.isArray(v) && "type" in v ? v : null;
}
// Where the failures of the run's Result began, by what they are.
const origins = new Map();
{
  const run = spans.find(s => s.kind === KIND.RUN);
  let f = run ? valueOf(run.result) : null;
  for (const [line, column, flow, step] of D.chain) {
    if (!f || typeof f !== "object") break;
    origins.set(JSON.stringify([f.type, f.code, f.message]), {line, column, flow, step});
    f = f.previous;
  }
}
function sourceLine(line, column) {
  const p = D.places[line + ":" + column];
  if (!p) return null;
  const [words, at, before, after] = p;
  const pre = element("pre", "source"), gutter = String(line);
  const lead = before ? "… " : "";
  pre.append(gutter + " | " + lead + words + (after ? " …" : "") + "\n" + " ".repeat(gutter.length) + " | ");
  const pad = lead.replace(/./g, " ") + words.slice(0, at).replace(/[^\t]/g, " ");
  pre.append(pad, element("span", "caret", "^"));
  return pre;
}
function placeOf(f, s) {
  const d = f.details && typeof f.details === "object" ? f.details : {};
  if (Number.isInteger(d.line) && d.line > 0) return {line: d.line, column: d.column || 1, step: ""};
  return origins.get(JSON.stringify([f.type, f.code, f.message])) || (s && s.line ? {line: s.line, column: s.column, step: s.step} : null);
}
function chain(f, s) {
  const list = element("ol", "chain");
  for (let n = 0; f && typeof f === "object" && n < 100; f = f.previous, n++) {
    const item = element("li");
    item.append(element("span", "code", f.code || f.type || "failure"));
    if (f.code && f.type) item.append(" ", element("span", "soft", f.type));
    if (f.message) item.append(element("div", "", String(f.message)));
    const at = placeOf(f, n ? null : s);
    if (at && at.line) {
      item.append(element("div", "soft", `${at.step ? "Step " + at.step + ", " : ""}${FILE}:${at.line}:${at.column}`));
      const line = sourceLine(at.line, at.column);
      if (line) item.append(line);
    }
    list.append(item);
  }
  return list;
}

// ---- details ----------------------------------------------------------------------------------

function section(title, ...content) {
  const e = element("div");
  e.append(element("h3", "", title), ...content);
  return e;
}
function valueBlock(i) {
  const pre = element("pre", "", pretty(D.texts[i]));
  if (cut.has(i)) pre.append(element("span", "soft", "\n… cut: the value is longer"));
  return pre;
}
function variables(s) {
  const a = valueOf(s.before), b = valueOf(s.after);
  if (s.before < 0 && s.after < 0) return null;
  if ((s.before >= 0 && a === undefined) || (s.after >= 0 && b === undefined)) {
    const both = element("div", "columns");
    if (s.before >= 0) both.append(section("before", valueBlock(s.before)));
    if (s.after >= 0) both.append(section("after", valueBlock(s.after)));
    return both;
  }
  const names = [...new Set([...Object.keys(a || {}), ...Object.keys(b || {})])];
  if (!names.length) return element("div", "soft", "none");
  const table = element("table"), head = element("tr");
  head.append(element("th", "", "name"), element("th", "", "before"), element("th", "", "after"));
  table.append(head);
  for (const name of names) {
    const cell = v => v === undefined ? "–" : JSON.stringify(v);
    const was = cell(a && a[name]), is = s.after < 0 ? "" : cell(b && b[name]);
    const row = element("tr", was !== is && s.after >= 0 ? "changed" : "");
    for (const t of [name, was, was === is ? "unchanged" : is]) {
      const td = element("td"), code = element("code", t === "unchanged" ? "soft" : "", t.length > 2000 ? t.slice(0, 2000) + "…" : t);
      td.append(code);
      row.append(td);
    }
    table.append(row);
  }
  return table;
}
function showDetails(s) {
  const panel = $("details"), top = element("div", "top"), close = element("button", "", "Close");
  close.title = "Close (Esc)";
  close.addEventListener("click", () => choose(-1));
  const state = s.kind === KIND.WAIT || s.waits ? "waiting, " + STATUS[s.status] : STATUS[s.status];
  top.append(element("span", "chip " + STATUS[s.status].replace("caught", ""), state),
             element("h2", "", `${KINDS[s.kind]} ${nameOf(s)}`), close);
  panel.replaceChildren(top);
  const path = [];
  for (let p = s.parent; p >= 0; p = spans[p].parent) if (spans[p].kind !== KIND.RUN) path.unshift(nameOf(spans[p]));
  if (path.length) panel.append(element("div", "path", path.join(" › ")));
  const when = `from ${duration(s.begin)} to ${duration(s.end)}, ${duration(s.end - s.begin)}`;
  panel.append(element("div", "soft", when + (s.provider ? " · " + s.provider : "") +
    (s.kind === KIND.DISPATCH && s.total ? ` · dispatch ${s.number} of ${s.total}` : "")));
  const failure = failureOf(s);
  if (failure) panel.append(section(s.caught >= 0 ? "Failure, handled by a catch" : "Failure", chain(failure, s)));
  else if (s.line) {
    const line = sourceLine(s.line, s.column);
    panel.append(section(`${FILE}:${s.line}:${s.column}`, ...(line ? [line] : [])));
  }
  const both = element("div", "columns");
  if (s.input >= 0) both.append(section("Input", valueBlock(s.input)));
  if (s.args >= 0) both.append(section("Arguments", valueBlock(s.args)));
  if (s.result >= 0) both.append(section(failure && s.caught < 0 ? "Result (failure)" : "Result", valueBlock(s.result)));
  panel.append(both);
  const vars = variables(s);
  if (vars) panel.append(section("Variables", vars));
  panel.hidden = false;
  panel.scrollTop = 0;
}
function choose(i, focus) {
  selected = i;
  if (i < 0) { $("details").hidden = true; markNow(null); box.focus({preventScroll: true}); later(); return; }
  const s = spans[i];
  showDetails(s);
  markNow(s);
  reveal(s);
  draw();
  if (focus) $("details").focus({preventScroll: true});
}

// ---- the graph --------------------------------------------------------------------------------

const svg = document.querySelector("#graph-view svg");
const boxOf = s => s.line && D.steps ? D.steps[s.line + ":" + s.column] : undefined;
function markWay() {
  if (!svg || !D.steps) return;
  const mark = id => {
    const e = svg.getElementById ? svg.getElementById("e" + id) : $("e" + id);
    if (e) e.classList.add("visited");
    const l = svg.querySelector(`.label[data-of="e${id}"]`);
    if (l) l.classList.add("visited");
  };
  const first = new Set(), counts = new Map(), begun = new Set();
  for (const s of spans) {
    const at = s.kind === KIND.STEP ? boxOf(s) : undefined;
    if (!at) continue;
    const e = $("n" + at[0]);
    if (e) {
      e.classList.add("visited");
      if (s.status === 2) e.classList.add("bad");
      counts.set(at[0], (counts.get(at[0]) || 0) + 1);
    }
    if (!begun.has(s.parent)) first.add(at[1]);
    begun.add(s.parent);
  }
  const begins = new Map(); // of Flows: the place of their first Step
  for (const s of spans) {
    if (s.kind !== KIND.STEP) continue;
    let p = s.parent;
    while (p >= 0 && spans[p].kind !== KIND.FLOW) p = spans[p].parent;
    if (!begins.has(p)) begins.set(p, s.line + ":" + s.column);
  }
  const boxes = new Map(D.calls.map(([id, ...key]) => [key.join(), id]));
  for (const s of spans) {
    const id = s.kind === KIND.CALL || s.kind === KIND.DISPATCH ? callBox(s, boxes, begins) : undefined;
    if (id === undefined) continue;
    $("n" + id).classList.add("visited");
    counts.set(id, (counts.get(id) || 0) + 1);
  }
  // an edge of kind 0 leads from the beginning of a Flow to its first Step
  for (const [, to, kind, id, taken] of D.edges) if (taken || (kind === 0 && first.has(to))) mark(id);
  for (const [id, n] of counts) if (n > 1) badge($("n" + id), "×" + n);
}
// The box of a dispatch, or of the call of a phase, if it has one of its own.
function callBox(s, boxes, begins) {
  const up = (i, kinds) => { while (i >= 0 && !kinds.includes(spans[i].kind)) i = spans[i].parent; return i < 0 ? null : spans[i]; };
  if (s.kind === KIND.DISPATCH) {
    const step = up(s.parent, [KIND.STEP]), place = step && step.line + ":" + step.column;
    const own = boxes.get([place, "", s.number, 0].join());
    return own === undefined ? boxes.get([place, "", 0, 0].join()) : own; // all of `over` have one
  }
  const phase = up(s.parent, [KIND.PHASE, KIND.STEP, KIND.FLOW]);
  if (!phase || phase.kind !== KIND.PHASE) return undefined;
  const around = [KIND.ENTRY, KIND.PHASE, KIND.STEP, KIND.FLOW];
  let depth = -1, owner = phase;
  do { owner = up(owner.parent, around); depth++; } while (owner && owner.kind === KIND.ENTRY);
  if (!owner || owner.kind === KIND.PHASE) return undefined;
  const flow = owner.kind === KIND.FLOW;
  return boxes.get([flow ? begins.get(owner.i) : owner.line + ":" + owner.column, phase.phase, depth - 1, flow ? 1 : 0].join());
}
function badge(e, words) {
  const r = e.querySelector("rect"), ns = "http://www.w3.org/2000/svg";
  const g = document.createElementNS(ns, "g"), back = document.createElementNS(ns, "rect"), t = document.createElementNS(ns, "text");
  const w = words.length * 7 + 8, cx = Number(r.getAttribute("x")) + Number(r.getAttribute("width")) - w / 2, cy = Number(r.getAttribute("y"));
  back.setAttribute("x", cx - w / 2); back.setAttribute("y", cy - 8); back.setAttribute("width", w); back.setAttribute("height", 16);
  back.setAttribute("rx", 8); back.setAttribute("class", "badge-back");
  t.setAttribute("x", cx); t.setAttribute("y", cy + 4); t.setAttribute("class", "badge"); t.textContent = words;
  g.append(back, t);
  e.parentNode.append(g);
}
function markNow(s) {
  if (!svg) return;
  for (const e of svg.querySelectorAll(".now")) e.classList.remove("now");
  for (let p = s; p; p = p.parent >= 0 ? spans[p.parent] : null) {
    const at = boxOf(p);
    if (!at) continue;
    const e = $("n" + at[0]);
    if (e) { e.classList.add("now"); if (p === s) e.scrollIntoView({block: "nearest", inline: "nearest"}); }
    break;
  }
}
const stepBars = new Map();
for (const s of spans) { const at = s.kind === KIND.STEP ? boxOf(s) : undefined; if (at && !stepBars.has("n" + at[0])) stepBars.set("n" + at[0], s.i); }

// ---- searching --------------------------------------------------------------------------------

function search(query) {
  const q = query.trim().toLowerCase();
  hits = []; hitAt = -1;
  if (q) {
    const found = D.texts.map(t => t.toLowerCase().includes(q));
    const has = i => i >= 0 && found[i];
    for (const s of spans)
      if (s.drawn && (nameOf(s).toLowerCase().includes(q) || s.provider.toLowerCase().includes(q) ||
          has(s.input) || has(s.args) || has(s.result) || has(s.caught))) hits.push(s.i);
  }
  hitSet = new Set(hits);
  changes++;
  $("found").textContent = q ? hits.length ? hits.length + " found" : "nothing found" : "";
  later();
}
function nextHit(step) {
  if (!hits.length) return;
  hitAt = (hitAt + step + hits.length) % hits.length;
  $("found").textContent = `${hitAt + 1} of ${hits.length}`;
  choose(hits[hitAt]);
}

// ---- keys and clicks --------------------------------------------------------------------------

function moveRow(step) {
  if (!shown.length) return;
  const now = selected >= 0 ? spans[selected] : null;
  let at = now && now.row && now.row.at >= 0 ? now.row.at + step : step > 0 ? 0 : shown.length - 1;
  for (; at >= 0 && at < shown.length; at += Math.sign(step)) {
    let bars = shown[at].bars.filter(s => s.kind !== KIND.PHASE);
    if (!bars.length) bars = shown[at].bars;
    if (!bars.length) continue;
    // the bar that lies nearest to the one before
    let low = 0, high = bars.length - 1;
    const p = now ? place[now.from] : 0;
    while (low < high) { const m = (low + high) >> 1; if (place[bars[m].to] < p) low = m + 1; else high = m; }
    return choose(bars[low].i);
  }
}
function moveBar(step, phases) {
  if (selected < 0) return moveRow(1);
  const s = spans[selected], bars = s.row ? s.row.bars : [];
  for (let at = bars.indexOf(s) + step; at >= 0 && at < bars.length; at += step)
    if (phases || bars[at].kind !== KIND.PHASE) return choose(bars[at].i);
}
function setMode(on) {
  trueTime = on;
  $("mode").setAttribute("aria-pressed", String(on));
  layTime();
  later();
}
function toggleGraph() {
  const hidden = $("views").classList.toggle("no-graph");
  $("hide-graph").textContent = hidden ? "Show graph" : "Hide";
  later();
}
function fold(row) {
  if (!row || !row.children.length) return;
  row.folded = !row.folded;
  listRows();
  later();
}
(part || document).addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target === $("search"), inDetails = $("details").contains(e.target);
  if (typing) {
    if (e.key === "Enter") { nextHit(e.shiftKey ? -1 : 1); e.preventDefault(); }
    if (e.key === "Escape") { $("search").value = ""; search(""); box.focus(); }
    return;
  }
  if (e.target.tagName === "BUTTON" && (e.key === "Enter" || e.key === " ")) return;
  const scrolls = inDetails || $("graph-view").contains(e.target);
  const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
  const keys = {
    ArrowDown: () => moveRow(1), ArrowUp: () => moveRow(-1), ArrowLeft: () => moveBar(-1, e.shiftKey), ArrowRight: () => moveBar(1, e.shiftKey),
    PageDown: () => moveRow(page), PageUp: () => moveRow(-page),
    Home: () => { const r = shown.find(q => q.bars.length); if (r) choose(r.bars[0].i); },
    End: () => { const r = shown.filter(q => q.bars.length).pop(); if (r) choose(r.bars[r.bars.length - 1].i); },
  };
  if (keys[e.key] && !scrolls) { keys[e.key](); e.preventDefault(); return; }
  const letters = {
    "/": () => $("search").focus(), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => { view.from = 0; view.to = 1; later(); },
    t: () => setMode(!trueTime), g: toggleGraph,
    Enter: () => { if (selected >= 0) choose(selected, true); else moveRow(1); },
    " ": () => { if (selected >= 0) fold(spans[selected].row); },
    Escape: () => { if (inDetails) box.focus(); else if (selected >= 0) choose(-1); else if (hits.length) { $("search").value = ""; search(""); } },
  };
  if (letters[e.key] && !(inDetails && e.key === " ")) { letters[e.key](); e.preventDefault(); }
});
box.addEventListener("click", e => {
  const folds = e.target.closest("[data-fold]"), bar = e.target.closest(".bar");
  if (folds) return fold(rows[Number(folds.dataset.fold)]);
  if (bar && bar.classList.contains("many")) {
    const r = bar.getBoundingClientRect(), area = bar.parentNode.getBoundingClientRect();
    return zoom(Math.max(0.02, (r.width + 10) / area.width), Math.min(1, Math.max(0, (r.left + r.width / 2 - area.left) / area.width)));
  }
  if (bar) choose(Number(bar.dataset.span));
});
box.addEventListener("scroll", later, {passive: true});
box.addEventListener("wheel", e => {
  if (e.ctrlKey || e.metaKey) {
    const area = $("axis-time").getBoundingClientRect();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (e.clientX - area.left) / area.width)));
    e.preventDefault();
  } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    const size = view.to - view.from;
    view.from = Math.max(0, Math.min(1 - size, view.from + e.deltaX / width * size));
    view.to = view.from + size;
    later();
    e.preventDefault();
  }
}, {passive: false});
if (svg) svg.addEventListener("click", e => {
  for (let g = e.target.closest("g[id]"); g; g = g.parentNode.closest && g.parentNode.closest("g[id]"))
    if (stepBars.has(g.id)) { choose(stepBars.get(g.id)); return; }
});
$("search").addEventListener("input", e => search(e.target.value));
$("mode").addEventListener("click", () => setMode(!trueTime));
$("zoom-in").addEventListener("click", () => zoom(0.5));
$("zoom-out").addEventListener("click", () => zoom(2));
$("zoom-all").addEventListener("click", () => { view.from = 0; view.to = 1; later(); });
$("hide-graph").addEventListener("click", toggleGraph);
$("fit").addEventListener("click", () => { $("graph-view").classList.toggle("fit"); $("fit").textContent = $("graph-view").classList.contains("fit") ? "Full size" : "Fit"; });
$("help-button").addEventListener("click", () => { $("help").hidden = !$("help").hidden; $("help-button").setAttribute("aria-expanded", String(!$("help").hidden)); });
new ResizeObserver(() => { if (selected >= 0) reveal(spans[selected]); later(); }).observe(box);

// ---- the head of the page ---------------------------------------------------------------------

function fact(name, value) {
  const e = element("div");
  e.append(element("dt", "", name), element("dd", "", value));
  $("facts").append(e);
}
function note(words) { $("notes").append(element("div", "", words)); }
if (!part) {
  const run = spans.find(s => s.kind === KIND.RUN);
  const words = {succeeded: "✓ succeeded", failed: "✗ failed", timeout: "✗ timed out", cancelled: "⊘ cancelled",
                 limit: "✗ a limit ended it", aborted: "✗ ended without a Result", running: "running"};
  document.title = FILE + ": " + D.state;
  $("file").textContent = FILE;
  $("state").textContent = words[D.state] || D.state;
  $("state").classList.add(D.state);
  fact("took", duration(total) + (D.virtual ? " of virtual time" : ""));
  fact("started", D.started);
  fact("Steps", String(spans.filter(s => s.kind === KIND.STEP).length));
  fact("calls", String(spans.filter(s => (s.kind === KIND.CALL || s.kind === KIND.DISPATCH)).length));
  if (D.file !== FILE) fact("file", D.file);
  fact("run", D.run);
  fact("mwlvm", D.version);
  const result = run ? valueOf(run.result) : undefined;
  if (D.state !== "succeeded" && result && typeof result === "object" && result.type) {
    $("failure").append(chain(result, null));
    $("failure").hidden = false;
  }
  if (D.why) note("A limit ended the run: " + D.why);
  if (D.leftOut) note(`${D.leftOut} spans are left out: the page keeps the first ${spans.length}.`);
  if (D.valuesLeftOut) note("Some values are left out, because there are too many of them.");
  if (!svg) { note("There is no graph: the program has no definition in it, or it could not be drawn."); $("views").classList.add("no-graph"); $("graph").hidden = true; }
}
if (before) {
  trueTime = before.trueTime;
  $("mode").setAttribute("aria-pressed", String(trueTime));
  for (const r of rows) if (before.folded.has(pathOf(r))) r.folded = true;
}
listRows();
layTime();
if (svg && (before ? before.fit : isTooLarge())) $("fit").click();
markWay();
if (before) { box.scrollTop = before.top; $("graph-view").scrollTo(before.graph.x, before.graph.y); }
draw();
if (!part) document.body.dataset.ready = String(Math.round(performance.now() - began));

// A part of a page has little room: there a graph that is too high is made smaller, if it can be read then.
function isTooLarge() {
  const size = svg.getBoundingClientRect(), room = $("graph-view");
  const high = part && size.height > room.clientHeight && size.height < room.clientHeight * 2;
  return size.width > room.clientWidth || high;
}
function pathOf(r) { return (r.parent ? pathOf(r.parent) + "|" : "") + r.kind + " " + r.name; }
// What a person has set, for the report that takes the place of this one.
function seen() {
  const g = $("graph-view");
  return {trueTime, fit: g.classList.contains("fit"), top: box.scrollTop, graph: {x: g.scrollLeft, y: g.scrollTop},
          folded: new Set(rows.filter(r => r.folded).map(pathOf))};
}
// Shows the newest bar, and marks the Step that the run is in.
function follow() {
  let now = null;
  for (const s of spans) if (s.status === 0 && s.kind === KIND.STEP && boxOf(s)) now = s;
  markNow(now);
  const last = spans.filter(s => s.drawn).pop();
  if (last) { reveal(last); draw(); }
}
return {seen, follow};
}
