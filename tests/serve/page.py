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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../command"))
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

    def choose(self, css, text):
        self.browser.run("""const e = document.querySelector(arguments[0]);
            e.value = [...e.options].find(o => o.text === arguments[1]).value; e.dispatchEvent(new Event("change"))""", css, text)

    def count(self, css):
        return self.browser.run("return document.querySelectorAll(arguments[0]).length", css)

    def three_ways(self, name, height=900):
        """Pictures: light, dark, and dark as wide as a telephone. Nothing is wider than the window."""
        ways = (("", 1280, False), ("-dark", 1280, True), ("-phone", 390, True))
        for way, width, dark in ways if PICTURES else ways[2:]:
            self.browser.size(width, height)
            self.browser.media(dark=dark)
            self.browser.run("scrollTo(0, 0)")
            self.picture(name + way)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), self.browser.run("return innerWidth"))
        self.browser.size(1280, 900)
        self.browser.media(dark=False)

    def quiet(self):
        self.assertEqual(self.browser.messages(), [])

    def test_start_watch_answer_cancel(self):
        b = self.browser
        self.open("/")
        self.sees("A token, please")
        b.messages()  # the browser reports the 401 by itself
        self.assertEqual(self.text("#message"), "")  # nothing is wrong yet
        self.picture("token")
        self.type("#token input", "wrong")
        b.click("#token button")
        self.sees("does not know this token")
        b.messages()
        self.type("#token input", self.token)
        b.click("#token button")
        self.sees("No runs here yet")
        self.picture("empty")
        self.choose("#state", "failed")
        self.sees("No run is like that")
        b.click(".empty button")
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
        self.sees("a choice is missing", "form[data-wait=packet]")
        self.choose("form[data-wait=packet] select", "small")
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

    def test_a_form_of_every_kind(self):
        b = self.browser
        self.put("form", flow({"a": ask("all", message="How shall it be sent?", schema={
            "type": "object", "required": ["by", "express", "parts", "to", "codes", "note"], "properties": {
                "by": {"enum": ["ship", "rail", "air"], "title": "By", "default": "rail"},
                "express": {"type": "boolean", "title": "Express"},
                "insured": {"type": "boolean", "title": "Insured", "default": False},
                "gift": {"type": "boolean", "title": "A gift"},
                "wrap": {"enum": [1, "two", None], "title": "Wrapping"},
                "parts": {"type": "integer", "title": "Parts", "minimum": 1, "default": 3},
                "weight": {"type": "number", "title": "Weight", "description": "in kilograms"},
                "codes": {"type": "array", "title": "Codes", "items": {"type": "string"}, "minItems": 1},
                "lines": {"type": "array", "title": "Lines", "items": {"type": "object", "title": "Line", "required": ["n"], "properties": {
                    "n": {"type": "integer"}, "what": {"type": "string"}}}},
                "to": {"type": "object", "title": "Address", "description": "Where it goes", "required": ["city"], "properties": {
                    "city": {"type": "string", "title": "City"}, "street": {"type": "string", "title": "Street"}}},
                "back": {"type": "object", "title": "Return address", "required": ["city"], "properties": {"city": {"type": "string"}}},
                "note": {"type": ["string", "null"], "title": "Note"},
                "more": {"title": "Anything else"}}})}))
        self.post("/v1/runs", {"program": "form", "id": "f"}, status=202)
        self.open("/#token=" + self.token)
        self.open("/#/run/f")
        self.sees("How shall it be sent?")
        b.run("""window.fields = (name, what) => [...document.querySelectorAll("form .field, form fieldset")]
            .filter(e => e.firstChild.firstChild.textContent === name).flatMap(e => [...e.querySelectorAll(what)]);
            window.set = (name, value) => { const e = fields(name, "input, select, textarea").pop();
              e.value = e.options ? [...e.options].find(o => o.text === value).value : value; }""")
        form, send = "form[data-wait=all]", "form[data-wait=all] > button.main"
        b.run("fields('Codes', 'input')[0].value = 'a'; set('City', 'Ulm')")
        b.click(send)
        self.sees("Express: a choice is missing", form)  # not yes by itself
        b.run("set('Express', 'no'); set('Anything else', '{')")
        b.click(send)
        self.sees("Anything else: not JSON", form)  # what is optional is not left out because it is wrong
        b.run("set('Anything else', ''); fields('Codes', 'button').pop().click(); fields('Codes', 'input')[1].value = 'b'")
        b.run("fields('Lines', 'button').pop().click(); fields('Lines', 'button').pop().click(); set('n', '7'); fields('Lines', 'button')[0].click()")
        self.three_ways("every-kind", 2000)
        b.click(send)
        self.sees("done", "#run-head")
        self.assertEqual(self.get("/v1/runs/f/result").json["value"], {
            "by": "rail", "express": False, "insured": False, "parts": 3, "codes": ["a", "b"], "lines": [{"n": 7}],
            "to": {"city": "Ulm"}, "note": None})
        self.quiet()

    def test_where_a_run_is(self):
        b, long = self.browser, "a Step whose name is longer than what fits into a box of the picture"
        inner = {"entrypoint": "wait", "steps": {"wait": ask("inside"), "end": {"action": "Return"}}}
        self.put("deep", flow({"first": {"action": "Call", "call": {"flow": "inner"}, "next": "second"},
                               "second": {"action": "Call", "call": {"flow": "inner"}, "next": long}, long: ask("outside", "wait"),
                               "wait": ask("last")}, flows={"inner": inner}))
        run = "a-run-whose-id-is-as-long-as-a-sentence-and-has-no-place-where-a-line-could-be-broken-" + "x" * 120
        self.post("/v1/runs", {"program": "deep", "id": run}, status=202)
        self.open("/#token=" + self.token)
        self.sees("a-run-whose", "#runs")
        self.three_ways("long-names")
        b.click("#runs a")
        self.sees("inside", "#run-waits")
        here = "return [...document.querySelectorAll('#run-graph g.here')].map(g => g.querySelector('title').textContent + ' ' + g.dataset.in)"
        self.until(lambda: self.count("#run-graph svg a") == 2 and b.run(here))
        self.assertEqual([h.split()[0] for h in b.run(here)], ["first", "wait"])  # and not the other `wait`
        b.click("#run-graph svg a text")
        self.assertIn("#/run/", b.run("return location.hash"))
        self.sees("inside", "#run-waits")
        for _ in range(2):
            self.until(lambda: self.post(f"/v1/runs/{run}/answers/inside", "1").status == 204)
        self.until(lambda: b.run(here) == [long + " n0"])
        visited = b.run("return [...document.querySelectorAll('#run-graph g.visited > title')].map(t => t.textContent)")
        self.assertEqual(sorted(visited), sorted(["first", "second", long, "wait", "end"]))  # those of the inner Flow, once
        self.three_ways("deep", 1600)
        name = "inner and with a name that is longer than a line of a box"  # called once, it is drawn inside the call
        self.put("nested", flow({"first": {"action": "Call", "call": {"flow": name}, "next": "wait"}, "wait": ask("last")}, flows={name: inner}))
        self.post("/v1/runs", {"program": "nested", "id": "n"}, status=202)
        self.open("/#/run/n")
        self.sees("inside", "#run-waits")
        self.until(lambda: b.run(here))
        self.assertEqual(b.run(here), ["first n0", "wait " + b.run("return document.querySelector('#run-graph g.here').id")])
        self.quiet()

    def test_equal_names_in_two_flows(self):
        inner = {"entrypoint": "a", "steps": {"a": {"action": "Sleep", "for": "PT0S", "next": "b"}, "b": {"action": "Return"}}}
        self.put("twins", flow({"a": ask("one", "b"), "b": ask("two", "c"), "c": {"action": "Call", "call": {"flow": "inner"}, "next": "d"},
                                "d": ask("three")}, flows={"inner": inner}))
        self.post("/v1/runs", {"program": "twins", "id": "t"}, status=202)
        self.open("/#token=" + self.token)
        self.open("/#/run/t")
        visited = "return [...document.querySelectorAll('#run-graph g.visited > title')].map(t => t.textContent).sort()"
        self.post("/v1/runs/t/answers/one", "1", status=204)
        self.sees("two", "#run-waits")
        self.until(lambda: self.browser.run(visited) == ["a", "b"])  # and not those of the Flow that comes later
        self.post("/v1/runs/t/answers/two", "1", status=204)
        self.until(lambda: self.browser.run(visited) == ["a", "a", "b", "b", "c", "d"])
        self.sees("a of inner", "#run-events")
        self.quiet()

    def test_a_run_that_failed(self):
        raised = {"code": "Payment.Refused", "message": "The card was refused by the bank.", "details": {"card": "1234", "tries": 3}}
        self.put("pay", flow({"pay": {"action": "Call", "call": {"flow": "charge"}, "next": "end",
                                      "catch": [{"match": {"codes": ["*"]}, "next": "give up"}]},
                              "give up": {"action": "Raise", "result": {"code": "Order.Failed", "message": "The order cannot be paid."}}},
                             flows={"charge": {"entrypoint": "a", "steps": {"a": {"action": "Raise", "result": raised}}}}))
        self.post("/v1/runs", {"program": "pay", "id": "order-9", "input": {"customer": "Ada"}}, status=202)
        self.open("/#token=" + self.token)
        self.open("/#/run/order-9")
        self.sees("failed", "#run-head")
        self.sees("after Payment.Refused", ".failures")
        self.assertEqual(self.count(".failures li"), 2)
        self.sees('"tries": 3', ".failures")
        self.three_ways("failed")
        self.put("exec", flow({"a": {"action": "Call", "next": "end", "call": {
            "provider": "mwl:provider.call/mwlvm/exec/v1", "with": {"argv": ["true"]}}}}))
        self.post("/v1/runs", {"program": "exec", "id": "stuck-1"}, status=202)
        self.open("/#/run/stuck-1")
        self.sees("Try again", "#run-head")
        self.three_ways("stuck")
        self.quiet()


if __name__ == "__main__":
    main()
