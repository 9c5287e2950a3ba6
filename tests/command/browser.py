"""browser.py: Chromium, headless, driven by chromedriver through plain WebDriver requests. For tests of pages."""
import base64
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request


class Browser:
    """One session; the part of WebDriver that is needed."""

    def __init__(self, folder, pictures=None):
        self.pictures = pictures
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = int(line.rsplit("port", 1)[1].strip(" .\n"))
                break
        if not port:
            raise RuntimeError("chromedriver does not start")
        self.base = f"http://127.0.0.1:{port}"
        words = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                 f"--user-data-dir={folder}/profile"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")  # Chromium refuses to run as root with it
        options = {"args": words}
        binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if binary:
            options["binary"] = binary
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/session/" + answer["sessionId"]
        self.ask("POST", "/timeouts", {"script": 240000, "pageLoad": 240000})  # a loaded machine

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=280) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:500]) from None

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def open(self, file):
        self.ask("POST", "/url", {"url": "file://" + file})

    def run(self, script, *args):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def messages(self):
        return [m["message"] for m in self.ask("POST", "/se/log", {"type": "browser"})]

    def find(self, css):
        return next(iter(self.ask("POST", "/element", {"using": "css selector", "value": css}).values()))

    def click(self, css):
        """A live page may draw the element anew between finding and clicking it; then it is found again."""
        for left in range(20, -1, -1):
            try:
                return self.ask("POST", f"/element/{self.find(css)}/click", {})
            except RuntimeError as error:
                if "stale element" not in str(error) or not left:
                    raise

    def frame(self):
        """Waits until the page has drawn."""
        self.run("return new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def click_bar(self, label):
        """The bar with this name, as a person finds it: by scrolling."""
        css = f".bar[aria-label^='{label}']"
        for part in range(0, 40):
            self.run("document.getElementById('rows').scrollTop = arguments[0]", part * 100)
            self.frame()
            if self.run("""const b = document.querySelector(arguments[0]), r = document.getElementById('rows');
                    if (!b) return false;
                    const at = b.getBoundingClientRect(), in_ = r.getBoundingClientRect();
                    return at.top >= in_.top && at.bottom <= in_.bottom;""", css):
                return self.click(css)
        raise RuntimeError(f"there is no bar {label}")

    def keys(self, text):
        """To what has the focus, as a person types."""
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": [
            {"type": t, "value": c} for c in text for t in ("keyDown", "keyUp")]}]})

    def media(self, dark):
        self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}})

    def size(self, width, height):
        self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})
        self.frame()

    def picture(self, name):
        if self.pictures:
            os.makedirs(self.pictures, exist_ok=True)
            with open(os.path.join(self.pictures, name + ".png"), "wb") as file:
                file.write(base64.b64decode(self.ask("GET", "/screenshot")))


DOWN, UP, LEFT, RIGHT, ENTER, ESCAPE = "\ue015", "\ue013", "\ue012", "\ue014", "\ue007", "\ue00c"
