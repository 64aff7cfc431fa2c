"""Debian's chromium, driven by its chromedriver over HTTP, with nothing but the standard library.

A page is opened as a file. What it logs, what it asks the network for, and each policy violation is collected from before
its first line: a test checks that there was none.
"""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from feature import skip

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # of the WebDriver standard
KEYS = {"down": "\ue015", "up": "\ue013", "enter": "\ue007", "escape": "\ue00c", "end": "\ue010", "home": "\ue011",
        "page_down": "\ue00f", "tab": "\ue004"}
PATIENCE = 120  # seconds; a busy machine is slow

# Runs in the page before its own scripts, whatever its policy says: what would go unnoticed is counted.
WATCH = """
window.watched = {violations: []};
document.addEventListener('securitypolicyviolation', event => watched.violations.push(event.violatedDirective + ' ' + event.blockedURI));
"""


class Browser:
    """One window. Use `browser()` to get one."""

    def __init__(self, port, directory):
        self.base = f"http://127.0.0.1:{port}"
        self.directory = directory
        options = {"binary": "/usr/bin/chromium",
                   "args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
                            "--disable-background-networking", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage",
                            f"--user-data-dir={directory}/profile"]}
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs, "pageLoadStrategy": "normal"}
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + made["sessionId"]
        self.debugging = made["capabilities"]["goog:chromeOptions"]["debuggerAddress"]
        self.entries = []  # of the performance log
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:2000]}") from None

    def command(self, path, **body):
        return self.ask("POST", self.session + path, body)

    def cdp(self, name, **arguments):
        return self.command("/goog/cdp/execute", cmd=name, params=arguments)

    def size(self, width, height, dark=False, scripts=True):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                        {"name": "prefers-reduced-motion", "value": "reduce"}])  # a click does not wait for an animation
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)

    def open(self, path):
        """Opens a file. Returns when its script has done its part."""
        self.logs("browser")
        self.performance()
        self.entries.clear()
        self.command("/url", url=pathlib.Path(path).as_uri())

    def open_ready(self, path):
        self.open(path)
        self.until("document.documentElement.dataset.ready && !document.querySelector('[aria-busy=true]')")

    def run(self, script, *arguments):
        return self.command("/execute/sync", script=script, args=list(arguments))

    def value(self, expression):
        return self.run("return " + expression)

    def until(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.value("Boolean(" + expression + ")"):
            assert time.monotonic() < end, f"never: {expression}"
            time.sleep(0.02)

    def settled(self):
        """After a wish of the user: the list has what was wished for."""
        self.run("await new Promise(done => setTimeout(done, 30))")
        self.until("!document.querySelector('[aria-busy=true]')")

    def find(self, selector):
        return self.command("/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        self.command(f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.command(f"/element/{self.find(selector)}/value", text=text)

    def press(self, *keys):
        """Where the focus is."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def sees(self, selector):
        """Whole, without scrolling."""
        return self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                        "return box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth", selector)

    def logs(self, kind):
        return self.command("/se/log", type=kind)

    def performance(self):
        """What the browser did since the page was opened."""
        self.entries += [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        return self.entries

    def requests(self):
        """What the page asked for, without itself. The browser has icons of its own, as data, for some inputs."""
        asked = [entry["params"] for entry in self.performance() if entry["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in asked if params["type"] != "Document" and not params["request"]["url"].startswith("data:")]

    def check_quiet(self):
        """No message, no request, no violation, since the page was opened."""
        assert self.logs("browser") == []
        assert self.requests() == []
        assert self.value("watched.violations") == []

    def screenshot(self, path):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.ask("GET", self.session + "/screenshot")))

    def close(self):
        self.ask("DELETE", self.session)


def read_port(process):
    """chromedriver says which port it has got."""
    for line in process.stdout:
        if b"successfully on port" in line:
            return int(line.rsplit(b" ", 1)[1].strip(b".\n"))
    raise AssertionError("chromedriver has ended")


@contextlib.contextmanager
def browser():
    if not (os.path.exists("/usr/bin/chromium") and os.path.exists("/usr/bin/chromedriver")):
        skip("chromium", "chromium and chromium-driver are not installed")
    with tempfile.TemporaryDirectory() as directory:
        # Its temporary files go there too, and are removed with it.
        environment = {**os.environ, "TMPDIR": directory, "HOME": directory}
        process = subprocess.Popen(["/usr/bin/chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                                   start_new_session=True)
        try:
            window = Browser(read_port(process), directory)
            yield window
            window.close()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
