// A text field for JSON: colours, line numbers, and underlined places with what is wrong there. The text itself is in a
// textarea, so that the browser's own editing, undo and accessibility stay; two layers behind it show colours and marks.
class Editor {
  constructor(host, label, changed) {
    const make = (tag, name) => { const e = document.createElement(tag); e.className = name; return e; };
    this.box = make("div", "ed");
    this.gutter = make("div", "ed-gutter");
    this.gutter.setAttribute("aria-hidden", "true");
    this.area = make("div", "ed-area");
    this.colours = make("pre", "ed-text");
    this.under = make("pre", "ed-marks");
    for (const layer of [this.colours, this.under]) layer.setAttribute("aria-hidden", "true");
    this.field = make("textarea", "");
    Object.assign(this.field, {spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off"});
    this.field.setAttribute("aria-labelledby", label);
    this.line = make("div", "ed-line");
    this.tip = make("div", "ed-tip");
    this.tip.setAttribute("role", "tooltip");
    this.line.hidden = this.tip.hidden = true;
    this.area.append(this.line, this.under, this.colours, this.field);
    this.box.append(this.gutter, this.area, this.tip);
    host.append(this.box);
    this.marks = [];
    this.now = 0;
    this.field.addEventListener("input", () => { this.setMarks([]); this.draw(); changed(); });
    this.field.addEventListener("scroll", () => this.scrolled());
    this.field.addEventListener("keydown", e => this.key(e));
    this.field.addEventListener("mousemove", e => this.hover(e));
    this.box.addEventListener("mouseleave", () => this.showTip(null));
    this.field.addEventListener("keyup", () => this.caret());
    this.field.addEventListener("click", () => this.caret());
    this.field.addEventListener("blur", () => setTimeout(() => { if (!this.tip.contains(document.activeElement)) this.showTip(null); }, 150));
    new ResizeObserver(() => this.scrolled()).observe(this.area);
  }

  get text() { return this.field.value; }
  set text(text) { this.field.value = text; this.field.scrollTop = this.field.scrollLeft = 0; this.setMarks([]); this.draw(); }

  // Enter keeps the indentation.
  key(e) {
    if (e.key === "Escape" && !this.tip.hidden) { this.showTip(null); e.stopPropagation(); return; }
    if (e.key !== "Enter" || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || e.isComposing) return;
    const before = this.text.slice(0, this.field.selectionStart), line = before.slice(before.lastIndexOf("\n") + 1);
    const more = /[{[]\s*$/.test(line) ? "  " : "";
    e.preventDefault();
    this.insert("\n" + line.match(/^\s*/)[0] + more);
  }

  // As if it were typed, so that it can be undone.
  insert(text) {
    this.field.focus();
    if (!document.execCommand("insertText", false, text)) { this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end"); this.field.dispatchEvent(new Event("input")); }
  }

  // The index in the text of a line and a column, which counts characters.
  indexOf(line, column) {
    let at = 0;
    for (; line > 1; line--) { const feed = this.text.indexOf("\n", at); if (feed < 0) return this.text.length; at = feed + 1; }
    for (; column > 1 && at < this.text.length && this.text[at] !== "\n"; column--) at += this.text.codePointAt(at) > 0xffff ? 2 : 1;
    return at;
  }

  // marks: [{line, column, endLine, endColumn, severity, message, notes, suggestion, fix}]
  setMarks(marks) {
    this.marks = marks.map(m => {
      const from = this.indexOf(m.line, m.column), to = Math.max(this.indexOf(m.endLine || m.line, m.endColumn || m.column + 1), from + 1);
      return {...m, from, to};
    }).sort((a, b) => a.from - b.from);
    this.showTip(null);
    this.drawMarks();
  }

  repair(mark) {
    for (const edit of [...mark.fix].sort((a, b) => b.line - a.line || b.column - a.column)) {
      this.field.focus();
      this.field.setSelectionRange(this.indexOf(edit.line, edit.column), this.indexOf(edit.endLine, edit.endColumn));
      this.insert(edit.text);
    }
  }

  goTo(mark) {
    this.field.focus();
    this.field.setSelectionRange(mark.from, mark.from);
    const lines = this.text.slice(0, mark.from).split("\n").length - 1;
    const top = lines * 18;
    if (top < this.field.scrollTop || top > this.field.scrollTop + this.field.clientHeight - 60) this.field.scrollTop = Math.max(0, top - this.field.clientHeight / 3);
    const left = mark.from - (this.text.lastIndexOf("\n", mark.from - 1) + 1);
    this.field.scrollLeft = left > 50 ? left * this.width() - 120 : 0;
    this.scrolled();
    this.showTip(mark);
  }

  showLine(line) {
    this.now = line;
    this.line.hidden = !line;
    this.scrolled();
  }

  draw() {
    const escape = t => t.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);
    const words = /("(?:[^"\\\n]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;
    let out = "", at = 0;
    for (const m of this.text.matchAll(words)) {
      out += escape(this.text.slice(at, m.index));
      if (m[2] !== undefined) out += `<span class="k">${escape(m[1])}</span>${m[2]}`;
      else if (m[1]) out += escape(m[1]).replace(/\{\{.*?\}\}/g, x => `<span class="x">${x}</span>`);
      else out += `<span class="${/^[tfn]/.test(m[0]) ? "l" : "n"}">${m[0]}</span>`;
      at = m.index + m[0].length;
    }
    this.colours.innerHTML = out + escape(this.text.slice(at)) + "\n";
    const n = this.text.split("\n").length;
    let numbers = "";
    for (let i = 1; i <= n; i++) numbers += i + "\n";
    this.gutter.textContent = numbers;
    this.drawMarks();
    this.scrolled();
  }

  drawMarks() {
    this.under.textContent = "";
    let at = 0;
    for (const m of this.marks) {
      if (m.to <= at) continue;
      const from = Math.max(m.from, at), e = document.createElement("span");
      e.className = m.severity === "error" ? "error" : "warning";
      const words = this.text.slice(from, m.to);
      e.textContent = words.trim() ? words : " ";
      this.under.append(this.text.slice(at, from), e);
      at = m.to;
    }
    this.under.append(this.text.slice(at) + "\n");
    this.scrolled();
  }

  scrolled() {
    const {scrollTop, scrollLeft} = this.field;
    for (const layer of [this.colours, this.under]) { layer.scrollTop = scrollTop; layer.scrollLeft = scrollLeft; }
    this.gutter.scrollTop = scrollTop;
    this.line.style.top = 6 + (this.now - 1) * 18 - scrollTop + "px";
  }

  width() {
    if (!this.measured) {
      const canvas = document.createElement("canvas").getContext("2d");
      canvas.font = getComputedStyle(this.field).font;
      this.measured = canvas.measureText("0".repeat(100)).width / 100;
    }
    return this.measured;
  }

  hover(e) {
    const r = this.field.getBoundingClientRect();
    const line = Math.floor((e.clientY - r.top - 6 + this.field.scrollTop) / 18) + 1;
    const column = Math.floor((e.clientX - r.left - 8 + this.field.scrollLeft) / this.width()) + 1;
    if (line < 1 || column < 1) return;
    const at = this.indexOf(line, column), mark = this.marks.find(m => at >= m.from && at < m.to);
    if (mark) this.showTip(mark);
    else if (!this.tip.hidden && this.shown) {
      // the way to its button is free
      const box = this.tip.getBoundingClientRect();
      if (e.clientY < box.top - 24 || e.clientY > box.bottom + 24 || e.clientX < box.left - 30 || e.clientX > box.right + 30) this.showTip(null);
    }
  }

  caret() {
    const at = this.field.selectionStart;
    this.showTip(this.marks.find(m => at >= m.from && at <= m.to) || null);
  }

  showTip(mark) {
    if (mark === this.shown && !this.tip.hidden === !!mark) return;
    this.shown = mark;
    this.tip.hidden = !mark;
    if (!mark) return;
    this.tip.className = "ed-tip " + mark.severity;
    this.tip.replaceChildren(...explain(mark, () => this.repair(mark)));
    const line = this.text.slice(0, mark.from).split("\n").length, column = mark.from - (this.text.lastIndexOf("\n", mark.from - 1) + 1);
    const top = line * 18 + 8 - this.field.scrollTop, left = this.gutter.offsetWidth + 8 + column * this.width() - this.field.scrollLeft;
    const below = top + this.tip.offsetHeight < this.box.clientHeight || top < this.box.clientHeight / 2;
    this.tip.style.top = Math.max(4, below ? top + 2 : top - 24 - this.tip.offsetHeight) + "px";
    this.tip.style.left = Math.max(8, Math.min(left, this.box.clientWidth - this.tip.offsetWidth - 8)) + "px";
  }
}

// A diagnostic in words: message, notes, suggestion, and a button if it can be repaired exactly.
function explain(mark, repair) {
  const make = (tag, name, words) => { const e = document.createElement(tag); if (name) e.className = name; e.textContent = words; return e; };
  const out = [make("div", "", mark.message)];
  if (mark.label) out.push(make("div", "soft", mark.label));
  for (const note of mark.notes || []) out.push(make("div", "soft", note));
  if (mark.suggestion) out.push(make("div", "", mark.suggestion));
  if (mark.fix && mark.fix.length) {
    const button = make("button", "", "Repair");
    button.addEventListener("click", repair);
    out.push(button);
  }
  return out;
}
