#!/usr/bin/env python3
"""page.py MWLVM [FOLDER]: the page of `mwlvm serve` in a real browser (Chromium, headless, by chromedriver): start a run, see
it live, answer its wait, cancel another one, a link for a person without a token; light and dark, wide and narrow; no
message on the console. FOLDER keeps pictures. Without Chromium the test is left out."""
import base64
import os
import re
import shutil
import sys

PICTURES = sys.argv.pop(2) if len(sys.argv) > 2 else None
if not shutil.which("chromedriver"):
    print("there is no chromedriver")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from report import ENTER, ESCAPE, Browser  # noqa: E402
from server import Case, ask, flow, main, sleep  # noqa: E402

ORDER = flow({"check": {"action": "Sleep", "for": "PT0.1S", "next": "approve"},
              "approve": ask("approval", "pack", message="May the order of 240 EUR be sent?", schema={"type": "boolean"}),
              "pack": ask("packet", message="Which packet?", schema={
                  "type": "object", "required": ["size", "weight"], "properties": {
                      "size": {"enum": ["small", "large"], "title": "Size"},
                      "weight": {"type": "number", "minimum": 0.1, "title": "Weight", "description": "in kilograms"},
                      "note": {"type": "string", "title": "Note"}}})})


class Page(Case):
    def setUp(self):
        super().setUp()
        self.serve()
        self.put("order", ORDER)
        self.put("nap", flow({"rest": sleep("PT1H")}))
        self.browser = Browser(self.folder.name)
        self.addCleanup(self.browser.close)
        self.browser.size(1280, 900)

    def open(self, path):
        self.browser.ask("POST", "/url", {"url": f"http://127.0.0.1:{self.port}{path}"})

    def picture(self, name):
        if PICTURES:
            with open(os.path.join(PICTURES, name + ".png"), "wb") as f:
                f.write(base64.b64decode(self.browser.ask("GET", "/screenshot")))

    def text(self, css="main"):
        return self.browser.run("const e = document.querySelector(arguments[0]); return e ? e.innerText : ''", css)

    def sees(self, text, css="main"):
        self.until(lambda: text in self.text(css))

    def type(self, css, text):
        self.browser.ask("POST", f"/element/{self.browser.find(css)}/value", {"text": text})

    def quiet(self):
        self.assertEqual(self.browser.messages(), [])

    def test_start_watch_answer_cancel(self):
        b = self.browser
        self.open("/")
        self.sees("A token, please")
        b.messages()  # the browser reports the 401 by itself
        self.picture("token")
        self.type("#token input", self.token)
        b.click("#token button")
        self.sees("No runs here yet")
        b.keys("n")
        self.sees("Start a run", "#start")
        self.until(lambda: "order" in self.text("#start-program"))
        b.run("document.getElementById('start-program').value = 'order'")
        self.type("#start-input", '{"customer": "Ada", "total": 240}')
        self.type("#start-id", "order-42")
        self.picture("start")
        b.click("#start button.main")
        self.sees("May the order of 240 EUR be sent?")
        self.until(lambda: b.run("return document.querySelectorAll('#run-graph svg g.step.here').length") == 1)
        self.sees("call", "#run-events")
        self.sees("approve, line 1", "#run-head")
        self.picture("waiting")
        b.click("form[data-wait=approval] button.main")
        self.sees("Which packet?")
        self.picture("form")
        b.click("form[data-wait=packet] button.main")
        self.sees("a number is missing", "form[data-wait=packet]")
        self.type("form[data-wait=packet] input[type=number]", "0.01")
        b.run("document.querySelector('form[data-wait=packet] input[type=number]').min = ''")
        b.click("form[data-wait=packet] button.main")
        self.sees("does not fit its schema", "form[data-wait=packet]")  # the server's word
        b.messages()  # and the browser's, about 422
        b.run("document.querySelector('form[data-wait=packet] input[type=number]').value = ''")
        self.type("form[data-wait=packet] input[type=number]", "2.5")
        b.click("form[data-wait=packet] button.main")
        self.sees("done", "#run-head")
        self.sees('"weight": 2.5', "#run-data")
        self.assertEqual(self.get("/v1/runs/order-42/result").json["value"], {"size": "small", "weight": 2.5})
        self.picture("done")
        self.quiet()

        self.post("/v1/runs", {"program": "nap", "id": "nap-1"}, status=202)
        b.keys(ESCAPE)
        self.sees("nap-1", "#runs")  # it came by itself
        self.until(lambda: "waiting" in self.text("#runs li"))
        self.picture("list")
        b.keys("j")
        self.assertEqual(b.run("return document.activeElement.dataset.run"), "nap-1")
        b.keys(ENTER)
        self.sees("nap-1", "#run-head")
        b.click("#run-head button.danger")
        self.sees("Really cancel?", "#run-head")
        b.click("#run-head button.danger")
        self.sees("failed", "#run-head")
        self.sees("cancellation", "#run-data")
        self.quiet()

    def test_a_link_and_narrow_and_dark(self):
        b = self.browser
        self.post("/v1/runs", {"program": "order", "id": "order-7"}, status=202)
        self.until(lambda: self.get("/v1/runs/order-7").json["waits"] == 1)
        link = self.post("/v1/runs/order-7/waits/1/link", status=200).json["link"]
        b.size(390, 800)
        b.media(dark=True)
        self.open(re.sub("^http://[^/]*", "", link))
        self.sees("May the order of 240 EUR be sent?")
        self.picture("link-dark-narrow")
        b.click("form.card button.main")
        self.sees("Thank you")
        self.until(lambda: self.get("/v1/runs/order-7").json["open"][0]["name"] == "packet")
        self.quiet()
        self.open("/#token=" + self.token)
        self.sees("order-7", "#runs")
        self.picture("list-dark-narrow")
        b.click("#runs a")
        self.sees("Which packet?")
        self.until(lambda: b.run("return document.querySelectorAll('#run-graph svg g.step.visited').length") >= 2)
        self.picture("run-dark-narrow")
        self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), b.run("return innerWidth"))
        self.quiet()


if __name__ == "__main__":
    main()
