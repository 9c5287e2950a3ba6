#!/usr/bin/env python3
"""page.py PAGE [FOLDER]: the playground in a real browser (Chromium, headless), from its file and without a network.

It opens without a message on the console, and is below 500 kB compressed. It diagnoses as one types, in place, and repairs;
runs, steps, goes back and moves time; asks a person for answers; shows the Result, the events and the listing; shares by
a link that opens again; every example runs; the keyboard is enough; light and dark, wide and narrow. FOLDER keeps pictures.
"""
import gzip
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../command"))
from browser import Browser, RIGHT, ESCAPE  # noqa: E402

PAGE = os.path.abspath(sys.argv[1])
SUITES = os.environ.get("MWL_SUITES", "")
failures = []
F8, F9, F10, TAB, CONTROL, ENTER = "\ue038", "\ue039", "\ue03a", "\ue004", "\ue009", "\ue007"


def fail(text):
    failures.append(text)
    print("FAIL", text)


class Page:
    def __init__(self, browser):
        self.b = browser

    def value(self, script):
        return self.b.run("return " + script)

    def wait(self, what, script, want=True):
        """Until the page says so; a busy machine may take its time."""
        until = time.monotonic() + 60
        got = self.value(script)
        while got != want and time.monotonic() < until:
            time.sleep(0.05)
            got = self.value(script)
        if got != want:
            fail(f"{what}: {script}: {got!r} instead of {want!r}")

    def open(self, fragment=""):
        self.b.ask("POST", "/url", {"url": "about:blank"})
        self.b.ask("POST", "/url", {"url": "file://" + PAGE + fragment})
        self.wait("the page is ready", "document.body.dataset.ready === '1'")
        self.wait("its run has ended or waits", "document.getElementById('p-run').textContent", "▶ Run")

    def words(self, id):
        return self.value(f"document.getElementById('p-{id}').textContent")

    def type(self, editor, old, new):
        """Replaces a part of a text, as typing would."""
        done = self.b.run("""const t = document.querySelector(`#p-${arguments[0]} textarea`), at = t.value.indexOf(arguments[1]);
            if (at < 0) return false;
            t.focus(); t.setSelectionRange(at, at + arguments[1].length);
            return document.execCommand("insertText", false, arguments[2]);""", editor, old, new)
        if not done:
            fail(f"{old!r} could not be replaced in {editor}")

    def example(self, title):
        self.b.run("""const s = document.getElementById('p-examples'), o = [...s.options].find(x => x.text.startsWith(arguments[0]));
            s.value = o.value; s.dispatchEvent(new Event('change'));""", title)
        self.wait(title, "document.getElementById('p-run').textContent", "▶ Run")

    def chord(self, *keys):
        actions = [{"type": "keyDown", "value": k} for k in keys] + [{"type": "keyUp", "value": k} for k in reversed(keys)]
        self.b.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})


def check_first(page):
    page.open()
    page.wait("an example has run", "document.body.dataset.state", "done")
    page.wait("the Result in short", "document.getElementById('p-words').textContent", '{"charged":true}')
    page.wait("the way is marked", "document.querySelectorAll('#views .step.visited').length", 2)
    page.wait("one bar for each attempt", "document.querySelectorAll(\".bar[aria-label^='Attempt']\").length", 4)
    page.wait("the axis", "document.querySelectorAll('#axis-time .tick').length > 2")
    page.b.picture("light")


def check_diagnosis(page):
    page.type("definition", '"next": "done"', '"nxet": "done"')
    page.wait("a mistake", "document.getElementById('p-verdict').textContent.includes('error')")
    page.wait("its underline", "document.querySelector('#p-definition .ed-marks .error').textContent", '"nxet"')
    page.wait("no run", "document.getElementById('p-run').disabled")
    page.b.keys(F8)
    page.wait("what is wrong", "document.querySelector('#p-definition .ed-tip').textContent.includes(\"no member 'nxet'\")")
    page.wait("a suggestion", "document.querySelector('#p-definition .ed-tip').textContent.includes(\"did you mean 'next'\")")
    page.b.picture("mistake")
    page.b.click("#p-definition .ed-tip button")
    page.wait("it is repaired", "document.getElementById('p-verdict').textContent", "✓ valid")
    page.type("input", "", "[1, ")
    page.wait("the input is not JSON", "document.getElementById('p-w-input').textContent !== ''")
    page.wait("its underline", "document.querySelectorAll('#p-input .ed-marks .error').length", 1)
    page.type("input", "[1, ", "")
    page.wait("the input is valid", "document.getElementById('p-w-input').textContent", "")
    # quick enough to type: the slowest of the checks above
    if int(page.value("document.body.dataset.checked")) > 2000:
        fail("a check took " + page.value("document.body.dataset.checked") + " ms")


def check_steps(page):
    page.example("Retry: throttled")
    page.b.click("#p-reset")
    page.b.click("#p-auto")
    page.wait("the beginning", "document.getElementById('p-clock').textContent", "t = 0 s")
    for _ in range(3):
        page.b.click("#p-step")
    page.wait("it waits", "document.getElementById('p-state').textContent", "waiting")
    page.wait("the line of the Step", "!document.querySelector('#p-definition .ed-line').hidden")
    page.b.picture("step")
    page.b.click("#p-step")
    page.wait("time stands", "document.getElementById('p-clock').textContent", "t = 0 s")
    page.b.keys(F9)
    page.wait("time has moved", "document.getElementById('p-clock').textContent !== 't = 0 s'")
    bars = page.value("document.querySelectorAll('.bar').length")
    page.b.click("#p-back")
    page.wait("back", "document.getElementById('p-clock').textContent", "t = 0 s")
    page.wait("fewer bars", f"document.querySelectorAll('.bar').length < {bars}")
    page.b.click("#p-auto")
    page.b.click("#p-run")
    page.wait("the end", "document.body.dataset.state", "done")
    page.b.click("#p-t-result")
    page.wait("the Result", "document.querySelector('#p-v-result pre').textContent.includes('\"charged\": true')")
    page.wait("one view at a time", "document.getElementById('p-v-way').offsetHeight", 0)
    page.b.keys(RIGHT)
    page.wait("the events", "document.querySelectorAll('#p-v-events tr').length > 20")
    page.b.keys(RIGHT)
    page.wait("the listing", "document.querySelector('#p-v-listing pre').textContent.includes('call')")
    page.b.keys(RIGHT)
    page.wait("the first view again", "document.getElementById('p-t-way').getAttribute('aria-selected')", "true")


def check_long_back(page):
    """Back does everything again in its order, also what takes several pieces."""
    text = """{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {
        "a": {"action": "Pass", "assign": {"n": 0}, "next": "b"},
        "b": {"action": "Pass", "assign": {"n": "{{ vars.n + 1.0 }}"}, "next": "c"},
        "c": {"action": "Match", "cases": [{"when": "{{ vars.n < 30000.0 }}", "next": "b"}], "default": {"next": "s"}},
        "s": {"action": "Sleep", "for": "PT1S", "next": "t"}, "t": {"action": "Sleep", "for": "PT2S", "next": "z"},
        "z": {"action": "Return", "value": "{{ vars.n }}"}}}"""
    page.type("definition", page.value("document.querySelector('#p-definition textarea').value"), text)
    page.wait("it is valid", "!document.getElementById('p-run').disabled && !document.getElementById('p-verdict').className.includes('bad')")
    page.b.click("#p-auto")
    page.b.click("#p-run")
    page.wait("it waits", "document.getElementById('p-state').textContent", "waiting")
    page.b.click("#p-timer")
    page.b.click("#p-timer")
    page.wait("the end", "document.body.dataset.state", "done")
    page.b.click("#p-back")
    page.wait("before the last timer", "document.getElementById('p-state').textContent", "waiting")
    page.wait("its clock", "document.getElementById('p-clock').textContent", "t = 1 s")
    page.b.click("#p-auto")


def check_answers(page):
    page.example("You are the provider")
    page.wait("a call waits", "document.querySelectorAll('.p-call').length", 1)
    page.b.picture("answer")
    page.b.run("document.querySelector('.p-call button[type=button]').click()")
    page.wait("the Retry waits, or has called again", "document.querySelectorAll(\".bar[aria-label^='Attempt']\").length > 0")
    page.b.click("#p-run")
    page.wait("it asks again", "document.querySelectorAll('.p-call').length", 1)
    page.b.run("const i = document.querySelector('.p-call input'); i.value = '{\"receipt\": \"r-1\"}'; i.form.requestSubmit()")
    page.wait("the Result", "document.body.dataset.state", "done")
    page.wait("it has the answer", "document.getElementById('p-words').textContent.includes('r-1')")


def check_share(page):
    page.example("Hello")
    page.type("input", '"Ada"', '"ä→ 8"')
    page.wait("it is valid", "document.getElementById('p-verdict').textContent", "✓ valid")
    page.b.click("#p-share")
    page.wait("a link", "document.getElementById('p-url').value.includes('#1')")
    url = page.value("document.getElementById('p-url').value")
    if len(url) > 4000:
        fail(f"the link has {len(url)} characters")
    page.open("#" + url.split("#", 1)[1])
    page.wait("the input is there", "document.querySelector('#p-input textarea').value.includes('ä→ 8')")
    page.wait("it has run", "document.getElementById('p-words').textContent.includes('ä→ 8')")
    page.open("#1broken")
    page.wait("a link that is broken", "document.querySelector('#p-definition textarea').value.length > 100")
    page.wait("what became of it", "document.getElementById('p-words').textContent", "The link cannot be read; an example is shown instead.")
    page.b.click("#p-reset")
    page.wait("the words go", "document.getElementById('p-words').textContent.startsWith('Press Run')")


def check_examples(page):
    titles = page.value("[...document.querySelectorAll('#p-examples optgroup option')].map(o => o.text)")
    for title in titles:
        page.example(title)
        page.wait(title, "document.getElementById('p-verdict').className !== 'bad'")
        page.wait(title, "document.body.dataset.state === 'done' || document.querySelectorAll('.p-call').length > 0")
        page.wait(title + ": its graph", "document.querySelectorAll('#graph-view svg').length", 1)
    if len(titles) < (80 if os.path.isdir(SUITES) else 17):
        fail(f"examples are missing: there are {len(titles)}")


def check_keyboard(page):
    page.open()
    page.b.run("document.querySelector('#p-definition textarea').focus()")
    page.chord(CONTROL, ENTER)
    page.wait("it runs", "document.body.dataset.state", "done")
    page.b.run("document.getElementById('p-examples').focus()")
    reached = set()
    for _ in range(60):
        page.b.keys(TAB)
        reached.add(page.value("(document.activeElement.closest('[id]') || document.body).id"))
    for id in ("p-share", "p-help-button", "p-definition", "p-input", "p-case", "p-run", "p-back", "p-reset", "p-auto", "p-t-way", "rows", "graph-view"):
        if id not in reached:
            fail(f"the key Tab does not reach {id}")
    page.b.click("#p-help-button")
    page.wait("help", "!document.getElementById('p-help').hidden")
    page.wait("what is missing is said", "document.getElementById('p-about').textContent.includes('look-around')")
    page.b.picture("help")
    page.b.keys(ESCAPE)
    page.wait("no help", "document.getElementById('p-help').hidden")


def check_endless(page):
    page.b.run("document.querySelector('#p-definition textarea').select()")
    text = '{"$schema": "https://mwl.dev/v0.1/flow/schema.json", "entrypoint": "a", "steps": {"a": {"action": "Pass", "next": "b"}, "b": {"action": "Pass", "next": "a"}}}'
    page.type("definition", page.value("document.querySelector('#p-definition textarea').value"), text)
    page.wait("it is valid", "!document.getElementById('p-run').disabled && !document.getElementById('p-verdict').className.includes('bad')")
    page.b.click("#p-run")
    page.wait("it runs", "document.getElementById('p-run').textContent", "■ Stop")
    page.b.click("#p-run")
    page.wait("it is stopped", "document.getElementById('p-run').textContent", "▶ Run")
    # a text that is nested without end
    page.type("definition", text, "[" * 20000)
    page.wait("it is refused", "document.getElementById('p-verdict').className", "bad")
    page.type("definition", "[" * 20000, text)
    page.wait("the page goes on", "document.getElementById('p-run').disabled", False)


def check_looks(page):
    page.open()
    for dark in (False, True):
        page.b.media(dark)
        for width, height, name in ((390, 844, "phone"), (820, 1180, "tablet"), (1440, 900, "wide")):
            page.b.size(width, height)
            page.b.frame()
            page.b.run("scrollTo(0, 0)")
            page.b.picture(f"{name}-{'dark' if dark else 'light'}")
            if page.value("document.documentElement.scrollWidth") > width:
                fail(f"{name}: the page is wider than the window")
    page.b.media(False)
    page.b.size(390, 844)
    page.b.click("#p-run")
    page.wait("the run is in sight", "document.getElementById('p-show').getBoundingClientRect().top < 100")
    page.b.frame()
    page.b.picture("phone-run")
    right = page.value("Math.max(...[...document.querySelectorAll('.bar-tools > *, #graph-view, #rows')]"
                       ".map(e => e.getBoundingClientRect().right))")
    if right > 390:
        fail(f"phone: what a run shows ends at {right} of 390")


def main():
    if not shutil.which("chromedriver"):
        print("skipped: there is no chromedriver")
        return 77
    with open(PAGE, "rb") as file:
        size = len(gzip.compress(file.read(), 9))
    if size >= 500 * 1000:
        fail(f"the page has {size} bytes compressed")
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder, sys.argv[2] if len(sys.argv) > 2 else None)
        try:
            browser.ask("POST", "/goog/cdp/execute", {"cmd": "Network.enable", "params": {}})
            browser.ask("POST", "/goog/cdp/execute", {"cmd": "Network.emulateNetworkConditions", "params": {
                "offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}})
            browser.size(1440, 900)
            page = Page(browser)
            for check in (check_first, check_diagnosis, check_steps, check_long_back, check_answers, check_share, check_examples, check_keyboard,
                          check_endless, check_looks):
                check(page)
                for message in browser.messages():
                    fail(f"{check.__name__}: console: {message}")
        finally:
            browser.close()
    print(f"{size} bytes compressed, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
