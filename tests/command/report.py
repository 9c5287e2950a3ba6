#!/usr/bin/env python3
"""report.py MWLVM [FOLDER]: the page of `mwlvm run --report`, in a real browser (Chromium, headless).

It opens without a message on the console; a click on a bar, the keys and the search do what they should, in light and
dark, wide and narrow; 10,000 events are usable; texts cannot leave the data; every scenario of the conformance suite
opens. Chromium is driven by chromedriver through plain WebDriver requests. Without both the test is left out.
FOLDER keeps pictures of the pages.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from browser import Browser, DOWN, UP, LEFT, RIGHT, ENTER, ESCAPE

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SUITES = os.environ.get("MWL_SUITES", "")
MWLVM = os.path.abspath(sys.argv[1])
PICTURES = sys.argv[2] if len(sys.argv) > 2 else None
failures = []


def fail(text):
    failures.append(text)
    print("FAIL", text)


# ---- runs -------------------------------------------------------------------------------------

MOCK = "mwl:provider.call/mwl/mock/v1"
MIDDLEWARE = "mwl:provider.middleware/mwl/"


def flow(steps, entrypoint, **more):
    return {"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": entrypoint, "steps": steps, **more}


def retry(attempts, initial, rate=2):
    return {"provider": MIDDLEWARE + "retry/v1", "onEntry": {"with": {"policies": [
        {"match": {"codes": ["*"]}, "attempts": attempts, "backoff": {"initial": initial, "rate": rate}}]}}}


def order():
    """A run with all that the page shows: retries, waits, a catch, a Gather, a subflow, cleanup, a failure."""
    ship = {"entrypoint": "label", "steps": {
        "label": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT0.4S", "value": "{{ call.input }}"}},
                  "assign": {"shipped": True}, "next": "done"},
        "done": {"action": "Return", "value": "{{ step.input }}"}}}
    cleanup = {"provider": MIDDLEWARE + "finally/v1", "onAlways": {"with": {"call": {
        "provider": MOCK, "with": {"delay": "PT0.1S"}}}}}
    return flow({
        "reserve": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT0.3S", "failure": {
            "code": "Shop.Busy", "message": "no free line", "retryable": True}}}, "middleware": [retry(3, "PT1S")],
            "catch": [{"match": {"codes": ["Provider.Middleware.Retry.*"]}, "next": "pause", "output": "{{ step.input }}"}], "next": "ship"},
        "pause": {"action": "Sleep", "for": "PT2H", "next": "note"},
        "note": {"action": "Pass", "assign": {"waited": True}, "next": "ship"},
        "ship": {"action": "Gather", "over": "{{ step.input.items }}", "concurrency": 2,
                 "call": {"flow": ship, "input": "{{ call.input }}"}, "next": "check"},
        "check": {"action": "Match", "cases": [{"when": "{{ size(step.input) > 9 }}", "next": "charge"},
                                             {"when": "{{ size(step.input) > 2 }}", "next": "charge"}],
                  "default": {"next": "done"}},
        "charge": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT1S", "failure": {
            "code": "Card.Declined", "message": "</script><script>window.broken=1</script><img src=x onerror=window.broken=1>"}}},
            "middleware": [cleanup], "assign": {"total": "{{ 3 * 7 }}"}, "next": "done"},
        "done": {"action": "Return"}}, "reserve", middleware=[
            {"provider": MIDDLEWARE + "timeout/v1", "onEntry": {"with": {"duration": "P1D"}}}])


ITEMS = json.dumps({"items": [{"id": i, "note": "<b>&amp;'\"\u2028</b>"} for i in range(4)]})


def loop(times):
    """Each round is several events: frame, Step, call, phases."""
    body = {"entrypoint": "ask", "steps": {
        "ask": {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT0.5S", "value": "{{ call.input }}"}},
                "next": "nap"},
        "nap": {"action": "Sleep", "for": "PT1S", "next": "out"}, "out": {"action": "Return"}}}
    return flow({"all": {"action": "Gather", "over": "{{ range }}".replace("range", "step.input"),
                         "concurrency": 4, "call": {"flow": body}, "next": "end"},
                 "end": {"action": "Return", "value": "{{ size(step.input) }}"}}, "all"), json.dumps(list(range(times)))


def run(folder, name, value, *words, status=None, given=None):
    file = os.path.join(folder, name + ".json")
    page = os.path.join(folder, name + ".html")
    if isinstance(value, dict):
        json.dump(value, open(file, "w"))
    else:
        file = value
    done = subprocess.run([MWLVM, "run", file, "--report", page, "--compact", *words], capture_output=True, text=True,
                          input=given if given is not None else "")
    if status is not None and done.returncode != status:
        fail(f"{name}: status {done.returncode}: {done.stderr[:400]}")
    if done.returncode not in (2, 3) and not os.path.exists(page):
        fail(f"{name}: no page: {done.stderr[:400]}")
    return page


def scenarios():
    top = os.path.join(SUITES, "mwl/conformance")
    if not os.path.isdir(top):
        print(f"no conformance suite in {top}: our own cases serve")
        top = os.path.join(ROOT, "tests/cases/retry")
    for case in sorted(os.listdir(top)):
        folder = os.path.join(top, case, "scenarios")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            words = []
            for option, file in (("--input", "input.json"), ("--args", "arguments.json")):
                if os.path.exists(os.path.join(folder, name, file)):
                    words += [option, "@" + os.path.join(folder, name, file)]
            yield f"{case}-{name}", os.path.join(top, case, "definition.json"), words


# ---- the checks -------------------------------------------------------------------------------

def opened(browser, page, name):
    """The page is there and said nothing."""
    browser.open(page)
    ready = browser.run("return document.body.dataset.ready")
    for message in browser.messages():
        fail(f"{name}: console: {message}")
    if ready is None:
        fail(f"{name}: the page is not ready")
    return ready


def expect(browser, name, script, want):
    """The page draws in a later frame, so it has some seconds to become what is wanted."""
    until = time.monotonic() + 10
    got = browser.run("return " + script)
    while got != want and time.monotonic() < until:
        time.sleep(0.05)
        got = browser.run("return " + script)
    if got != want:
        fail(f"{name}: {script}: {got!r} instead of {want!r}")


def check_page(browser, page):
    browser.size(1400, 900)
    browser.media(False)
    opened(browser, page, "order")
    expect(browser, "order", "document.getElementById('state').textContent", "✗ failed")
    expect(browser, "order", "document.getElementById('failure').textContent.includes('Card.Declined')", True)
    expect(browser, "order", "document.querySelectorAll('#failure pre.source').length > 0", True)
    expect(browser, "order", "window.broken === undefined && !document.querySelector('img')", True)
    # one bar for each attempt, and the waits between them
    names = browser.run("return [...document.querySelectorAll('.bar')].map(b => b.getAttribute('aria-label') || '')")
    attempts = [n for n in names if n.startswith("Attempt run")]
    if len(attempts) != 3 or not all("failed" in n for n in attempts):
        fail(f"attempts: {attempts}")
    waits = [n for n in names if n.startswith("Wait wait before run")]
    if len(waits) != 2 or not all("waiting" in n for n in waits):
        fail(f"waits: {waits}")
    expect(browser, "idle", "document.querySelectorAll('#axis-time .gap').length", 1)
    expect(browser, "idle", "document.querySelector('#axis-time .gap').title.includes('2 h')", True)
    # the way taken
    way = browser.run("return [...document.querySelectorAll('.mwl .step.visited .t')].map(t => t.textContent)")
    if not {"reserve", "pause", "ship", "check", "charge"} <= set(way) or "done" not in way:
        fail(f"visited Steps: {way}")
    expect(browser, "way", "document.querySelectorAll('.mwl .e.visited.catch').length", 1)
    # of two cases that lead to the same Step, the one that was true
    cases = browser.run("return [...document.querySelectorAll('.mwl .e.match')].map(e => e.classList.contains('visited'))")
    if cases != [False, True, False]:
        fail(f"cases taken: {cases}")
    browser.picture("order-light")
    check_click(browser)
    check_keys(browser)
    check_looks(browser)


def mixed():
    """A long wait and a short one, a Gather that cancels, a bound that cancels a wait, cleanup, and what never runs."""
    nap = {"entrypoint": "nap", "steps": {"nap": {"action": "Sleep", "for": "PT1H", "next": "r"}, "r": {"action": "Return"}}}
    cleanup = {"provider": MIDDLEWARE + "finally/v1", "onAlways": {"with": {"call": {"provider": MOCK, "with": {"delay": "PT0.5S"}}}}}
    bound = {"provider": MIDDLEWARE + "timeout/v1", "onEntry": {"with": {"duration": "PT2S"}}}
    slow = [{"provider": MOCK, "with": {"delay": f"PT{n}S"}} for n in (1, 5)]
    return flow({
        "wait": {"action": "Sleep", "for": "PT2H", "next": "first"},
        "first": {"action": "Gather", "completion": {"successes": 1, "wait": False}, "calls": slow, "next": "bound"},
        "bound": {"action": "Call", "middleware": [bound, cleanup], "call": {"flow": nap},
                  "catch": [{"match": {"codes": ["*"]}, "next": "last"}], "next": "never"},
        "never": {"action": "Gather", "calls": slow, "next": "clean"},
        "clean": {"action": "Call", "call": slow[0], "middleware": [cleanup], "next": "last"},
        "last": {"action": "Return"}}, "wait", middleware=[cleanup])


# Bars that are not inside their row as a whole, and marks of phases that lie on a text.
OUTSIDE = """return [...document.querySelectorAll('.bar')].filter(b => {
  const r = b.getBoundingClientRect(), row = b.parentElement.getBoundingClientRect();
  return r.left < row.left - 0.6 || r.right > row.right + 0.6; }).map(b => b.title)"""
COVERED = """const texts = [...document.querySelectorAll('.bar span, .bar b')].map(t => t.getBoundingClientRect());
return [...document.querySelectorAll('.bar.phase')].filter(p => { const r = p.getBoundingClientRect();
  return texts.some(t => t.left < r.right && r.left < t.right && t.top + 1 < r.bottom && r.top < t.bottom - 1); }).map(p => p.title)"""
NUMBERS = """return [...document.querySelectorAll('.bar')].filter(b => (b.getAttribute('aria-label') || '').startsWith('Attempt'))
  .map(b => [b.textContent, b.getAttribute('aria-label').match(/run (\\d+)/)[1]]).filter(([t, n]) => !t.startsWith(n))"""
TICKS = "return [...document.querySelectorAll('#axis-time .tick')].map(t => t.textContent)"


def check_timeline(browser, folder):
    """Idle time, the ends of the axis, and what can be read, in the width of a desk and of a phone."""
    ask = {"action": "Call", "call": {"provider": MOCK, "with": {"delay": "PT1S"}}}
    one = flow({"a": {**ask, "next": "s"}, "s": {"action": "Sleep", "for": "PT24H", "next": "b"}, "b": {**ask, "next": "r"},
                "r": {"action": "Return"}}, "a")
    patterns = os.path.join(ROOT, "tools/examples/patterns")
    bind = f"mwl:provider.call/example/http/v1={patterns}/"
    pages = {"one": (run(folder, "one", one, "--virtual-time", status=0), ["1 d"]),
             "mixed": (run(folder, "mixed", mixed(), "--virtual-time", status=0), ["2 h"]),
             "retry": (run(folder, "retry", patterns + "/retry.json", "--virtual-time", "--bind", bind + "unreachable.json"), []),
             "poll": (run(folder, "poll", patterns + "/polling.json", "--virtual-time", "--bind", bind + "running.json",
                          given='{"jobId": "7"}'), [])}
    for name, (page, idle) in pages.items():
        for width in (1400, 390):
            browser.size(width, 900)
            opened(browser, page, name)
            browser.frame()
            gaps = browser.run("return [...document.querySelectorAll('#axis-time .gap')].map(g => g.title.match(/for (.*);/)[1])")
            if gaps != idle:
                fail(f"{name}, {width}: compressed {gaps} instead of {idle}")
            for what, script in (("outside", OUTSIDE), ("covered", COVERED), ("without its number", NUMBERS)):
                bad = browser.run(script)
                if bad and (script != NUMBERS or name == "retry"):
                    fail(f"{name}, {width}: {what}: {bad[:4]}")
            crooked = [t for t in browser.run(TICKS) if re.search(r"\d{3}\.|[1-9]\d[1-9] ms|\.\d\d|min [1-9] s", t)]
            if crooked:
                fail(f"{name}, {width}: times of the axis: {crooked}")
            browser.picture(f"{name}-{width}")
    browser.size(1400, 900)
    check_way_of_calls(browser, pages["mixed"][0])


def check_way_of_calls(browser, page):
    """Calls that ran are part of the way, others are not; a cancelled wait looks cancelled."""
    opened(browser, page, "mixed")
    way = browser.run("""const step = e => { const o = document.getElementById(e.dataset.in); return o === e ? '' : o.querySelector('.t').textContent; };
        return [...document.querySelectorAll('.mwl .call')].map(e => step(e) + ':' + e.querySelector('.t').textContent + ':' + e.classList.contains('visited'))""")
    want = ["first:mock:true", "first:mock:true", "finally:onAlways:true", "never:mock:false", "never:mock:false",
            "finally:onAlways:false", "finally:onAlways:true"]
    if way != want:
        fail(f"calls on the way: {way}")
    colours = browser.run("""const of = words => getComputedStyle([...document.querySelectorAll('.bar')].find(
          b => (b.getAttribute('aria-label') || '').startsWith(words))).borderTopColor;
        return ['Step wait', 'Step nap', 'Dispatch #1', 'Step first', 'Step bound'].map(of)""")
    wait, cancelled_wait, cancelled, succeeded, caught = colours
    if cancelled_wait != cancelled or len({wait, cancelled, succeeded, caught}) != 4:
        fail(f"colours of bars: {colours}")


def check_click(browser):
    browser.click_bar("Step charge")
    expect(browser, "click", "document.getElementById('details').hidden", False)
    for words in ("Card.Declined", "order.json:", "Input", "Result", "Variables"):
        expect(browser, "click", f"document.getElementById('details').textContent.includes({json.dumps(words)})", True)
    expect(browser, "click", "document.querySelector('#details pre.source').textContent.includes('charge')", True)
    browser.click_bar("Step note")
    expect(browser, "variables", "[...document.querySelectorAll('#details tr.changed')].map(r => r.textContent).join()",
           "waited–true")
    browser.click_bar("Step reserve")
    expect(browser, "caught", "document.getElementById('details').textContent.includes('handled by a catch')", True)
    expect(browser, "chain", "document.querySelectorAll('#details ol.chain li').length >= 2", True)
    expect(browser, "graph", "document.querySelector('.mwl .now .t').textContent", "reserve")
    browser.picture("order-details")
    browser.run("document.querySelector('.mwl .step.pause, .mwl .step.sleep').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    expect(browser, "graph click", "document.querySelector('#details h2').textContent", "Step pause")
    browser.click("#details button")
    expect(browser, "close", "document.getElementById('details').hidden", True)


def check_keys(browser):
    title = "document.querySelector('#details h2').textContent"
    browser.keys(DOWN)
    expect(browser, "down", title, "Flow order.json")
    browser.keys(DOWN + DOWN)
    expect(browser, "down", title, "Step reserve")
    browser.keys(DOWN)
    expect(browser, "down", title, "Attempt run 1")
    browser.keys(RIGHT)
    expect(browser, "right", title, "Wait wait before run 2")
    browser.keys(RIGHT + LEFT)
    expect(browser, "left", title, "Wait wait before run 2")
    browser.keys(UP)
    expect(browser, "up", title, "Step reserve")
    expect(browser, "active", "document.getElementById('rows').getAttribute('aria-activedescendant') === "
           "document.querySelector('.bar.selected').id", True)
    browser.keys(ENTER)
    expect(browser, "Enter", "document.activeElement.id", "details")
    browser.keys(ESCAPE)
    expect(browser, "Esc", "document.activeElement.id", "rows")
    browser.keys(ESCAPE)
    expect(browser, "Esc", "document.getElementById('details').hidden", True)
    browser.keys("/Declined" + ENTER)
    expect(browser, "search", "document.getElementById('found').textContent.startsWith('1 of ')", True)
    expect(browser, "search", "document.getElementById('details').textContent.includes('Card.Declined')", True)
    browser.keys(ESCAPE + ESCAPE)
    expect(browser, "search", "document.getElementById('search').value + document.querySelectorAll('.hit').length", "0")
    rows = browser.run("return document.querySelectorAll('.row').length")
    browser.keys(DOWN + " ")
    expect(browser, "Space folds", f"document.querySelectorAll('.row').length < {rows}", True)
    browser.keys(" t")
    expect(browser, "true time", "document.getElementById('mode').getAttribute('aria-pressed')", "true")
    browser.frame()
    expect(browser, "true time", "document.querySelectorAll('#axis-time .gap').length", 0)
    browser.keys("t" + ESCAPE)


# WCAG's contrast of the text with what it stands on, for the parts that a reader needs.
CONTRAST = """
const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)|transparent/.test(c)) return c; } return 'rgb(255,255,255)'; };
return ['h1', '#facts dt', '.name .what', '#legend span', '#details pre', '#details h3', '#failure .code'].map(q => {
  const e = document.querySelector(q); if (!e) return [q, 0];
  const a = light(getComputedStyle(e).color), b = light(ground(e));
  return [q, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; });
"""


def check_looks(browser):
    browser.click_bar("Step charge")
    for dark in (False, True):
        browser.media(dark)
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        if (sum(int(c) for c in colour[4:-1].split(",")) < 200) != dark:
            fail(f"dark {dark}: the page is {colour}")
        for what, ratio in browser.run(CONTRAST):
            if ratio < 4.5:
                fail(f"dark {dark}: {what} has a contrast of {ratio:.1f}")
        for width, height in ((1800, 1000), (390, 844)):
            browser.size(width, height)
            if browser.run("return document.documentElement.scrollWidth > innerWidth"):
                fail(f"{width} wide: the page is wider than the window")
            browser.picture(f"order-{'dark' if dark else 'light'}-{width}")
    browser.media(False)
    browser.size(1400, 900)


def check_large(browser, folder):
    """10,000 events: quick to open, to scroll and to move in, and few elements."""
    value, given = loop(1000)
    page = run(folder, "large", value, "--virtual-time", status=0, given=given)
    ready = opened(browser, page, "large")
    n = browser.run("return JSON.parse(document.getElementById('data').textContent).spans.length")
    if n < 5000:
        fail(f"large: only {n} spans")
    took = browser.run("""
        const rows = document.getElementById('rows'), began = performance.now(), n = 10;
        return new Promise(done => { let i = 0; const step = () => {
          rows.scrollTop = rows.scrollHeight * i / n;
          if (i++ < n) requestAnimationFrame(step); else done((performance.now() - began) / n); };
          step(); });""")
    elements = browser.run("return document.querySelectorAll('*').length")
    began = time.monotonic()
    browser.keys(DOWN * 10)
    keys = (time.monotonic() - began) / 10
    began = time.monotonic()
    browser.keys("/500")
    found = browser.run("return document.getElementById('found').textContent")
    searched = time.monotonic() - began
    print(f"{2 * n} events ({n} spans, {os.path.getsize(page) / 1e6:.1f} MB): ready in {ready} ms, a frame of scrolling "
          f"{took:.0f} ms, a key {keys * 1000:.0f} ms, a search {searched * 1000:.0f} ms, {elements} elements")
    if int(ready) > 20000 or took > 5000 or keys > 10 or searched > 20 or elements > 12000 or "found" not in found:
        fail("10,000 events are too slow, or too many elements")  # times for a very loaded machine
    browser.picture("large")


def check_ends(browser, folder):
    """Written also when the run fails, is cancelled, times out or meets a limit; an unwritable page is a message."""
    slow = flow({"s": {"action": "Sleep", "for": "PT60S", "next": "r"}, "r": {"action": "Return"}}, "s")
    page = run(folder, "timeout", dict(slow, middleware=[{"provider": MIDDLEWARE + "timeout/v1", "onEntry": {
        "with": {"duration": "PT1S"}}}]), "--virtual-time", status=5)
    opened(browser, page, "timeout")
    expect(browser, "timeout", "document.getElementById('state').textContent", "✗ timed out")
    file, page = os.path.join(folder, "slow.json"), os.path.join(folder, "slow.html")
    json.dump(slow, open(file, "w"))
    process = subprocess.Popen([MWLVM, "run", file, "--report", page, "-v"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in process.stderr:  # until it waits: then it listens to signals
        if b"sleep" in line:
            break
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    process.wait()
    process.stderr.close()
    opened(browser, page, "cancelled")
    expect(browser, "cancelled", "document.getElementById('state').textContent", "⊘ cancelled")
    page = run(folder, "fuel", flow({"a": {"action": "Pass", "next": "a"}}, "a"), "--fuel", "20K", status=6)
    opened(browser, page, "limit")
    expect(browser, "limit", "document.getElementById('state').textContent", "✗ a limit ended it")
    program = os.path.join(folder, "stripped.mwlb")
    subprocess.run([MWLVM, "asm", os.path.join(ROOT, "tools/examples/hello.json"), "--strip", "-o", program], check=True)
    page = run(folder, "stripped", program, status=0)
    opened(browser, page, "stripped")
    expect(browser, "stripped", "document.getElementById('notes').textContent.includes('no graph')", True)
    done = subprocess.run([MWLVM, "run", os.path.join(ROOT, "tools/examples/hello.json"), "--report",
                           os.path.join(folder, "no/such.html")], capture_output=True, text=True, input="")
    if done.returncode != 2 or "no/such.html" not in done.stderr or done.stdout:
        fail(f"a page that cannot be written is said before anything runs: status {done.returncode}, {done.stdout!r}, {done.stderr!r}")


def check_secrets(folder):
    """What the provider env read is not in the page, in whatever value it came."""
    secret = 'hunter2-"quoted"-ä'
    env = {"action": "Call", "call": {"provider": "mwl:provider.call/mwlvm/env/v1", "with": {"names": "TOKEN"}, "onSuccess": {
        "assign": {"t": "{{ call.result.value }}"}}}, "next": "use"}
    use = {"action": "Call", "call": {"provider": MOCK, "with": {"failure": {
        "code": "A.B", "message": "{{ 'with ' + vars.t }}"}}}, "next": "end"}
    file, page = os.path.join(folder, "secret.json"), os.path.join(folder, "secret.html")
    json.dump(flow({"read": env, "use": use, "end": {"action": "Return"}}, "read"), open(file, "w"))
    done = subprocess.run([MWLVM, "run", file, "--report", page, "--allow-env=TOKEN"], capture_output=True, text=True, input="",
                          env={**os.environ, "TOKEN": secret})
    if done.returncode == 3:
        return print("no provider env in this build: secrets are not tested")
    text = open(page, encoding="utf-8").read() if os.path.exists(page) else ""
    if done.returncode != 1 or "A.B" not in text or "[secret]" not in text or "hunter2" in text:
        fail(f"secrets: status {done.returncode}: {done.stderr[:300]}")


def check_example(browser, folder):
    """The line of tools/COMMAND.md."""
    text = open(os.path.join(ROOT, "tools/COMMAND.md")).read()
    line = re.search(r"^    mwlvm (run .* --report )(\S+)$", text, re.M)
    if not line:
        return fail("tools/COMMAND.md has no example of --report")
    page = os.path.join(folder, line.group(2))
    done = subprocess.run([MWLVM, *line.group(1).split(), page], cwd=ROOT, capture_output=True, text=True, input="")
    if done.returncode or done.stderr:
        fail(f"the example: status {done.returncode}: {done.stderr}")
    opened(browser, page, "example")
    expect(browser, "example", "document.getElementById('state').textContent", "✓ succeeded")


def check_conformance(browser, folder):
    n, want = 0, 0
    for name, file, words in scenarios():
        want += 1
        page = run(folder, name, file, "--virtual-time", *words)
        if os.path.exists(page):
            opened(browser, page, name)
            n += 1
    print(f"{n} scenarios opened")
    if n != want or n < 20:
        fail(f"{n} scenarios opened, of {want}")


def main():
    if not shutil.which("chromedriver") or not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("not tested: no chromium or no chromedriver")
        print("[  SKIPPED ] 1 tests")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder, PICTURES)
        try:
            page = run(folder, "order", order(), "--virtual-time", status=1, given=ITEMS)
            check_page(browser, page)
            check_timeline(browser, folder)
            check_large(browser, folder)
            check_ends(browser, folder)
            check_secrets(folder)
            check_example(browser, folder)
            check_conformance(browser, folder)
        finally:
            browser.close()
    print(f"{len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
