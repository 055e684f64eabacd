#!/usr/bin/env python3
"""Opens the pages of the samples in headless Chromium, as a reader does: no error, no request, the
numbers of the report, the keyboard, 400 % zoom, and without JavaScript.

    in_a_browser.py OOMDB CAPTURES [--shots FOLDER]

Exits with 77 where Chromium isn't installed. Speaks to it through pipes, with Python's own library.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

WIDE, ZOOMED, PHONE = (1280, 900), (320, 225), (390, 844)  # 400 % of 1280 is 320.


class Browser:
    """One tab of headless Chromium, over --remote-debugging-pipe."""

    def __init__(self, program, folder):
        to_read, self.to = os.pipe()
        self.out, out_write = os.pipe()

        def place():  # The browser reads from 3 and writes to 4.
            read, write = os.dup(to_read), os.dup(out_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + folder],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(out_write)
        self.number, self.rest, self.session = 0, b"", None
        self.problems, self.loaded = [], False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Runtime", "Page", "Network", "Log"):
            self.send(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.out, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append("exception: " + json.dumps(params["exceptionDetails"])[:400])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append("console: " + json.dumps(params["args"])[:400])
        elif method == "Log.entryAdded":
            self.problems.append("log: " + params["entry"]["text"][:400])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith("file:") and url != "about:blank":
                self.problems.append("request: " + url)
        elif method == "Page.loadEventFired":
            self.loaded = True
        return message

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]

    def open(self, path, size=WIDE, dark=False, script=True, fragment=""):
        self.send("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                  deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.loaded = False
        self.send("Page.navigate", url="about:blank")
        while not self.loaded:
            self.read()
        self.loaded = False
        self.send("Page.navigate", url="file://" + path + fragment)
        while not self.loaded:
            self.read()

    def ask(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:400])
        return result["result"].get("value")

    def key(self, name, code):
        text = {"text": name} if len(name) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))

    def shot(self, path, height=None):
        width = self.ask("innerWidth")
        full = self.ask("document.documentElement.scrollHeight")
        picture = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": width,
                                  "height": min(height or full, full), "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def close(self):
        try:
            self.number += 1
            os.write(self.to, json.dumps({"id": self.number, "method": "Browser.close"}).encode() +
                     b"\0")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


class Checks:
    def __init__(self):
        self.failed, self.count = [], 0

    def that(self, holds, what):
        self.count += 1
        if not holds:
            self.failed.append(what)
            print("FAILED", what)


def check_numbers(browser, checks, name, report):
    """What the page says is what the report says."""
    sentence = browser.ask("document.getElementById('sentence').textContent").replace("\xa0", " ")
    text = " ".join(browser.ask("document.querySelector('#as-text pre').textContent").split())
    checks.that(" ".join(sentence.split()) in text, f"{name}: the sentence is the text report's")
    plan = report["plan"]
    peak = ((plan or {}).get("peak_bytes") or {}).get("value")
    if browser.ask("!!document.getElementById('curve')"):
        shown = browser.ask("Math.max(...JSON.parse(document.getElementById('data').textContent)"
                            ".curve.total)")
        checks.that(shown == peak, f"{name}: the curve's highest is {shown}, the peak {peak}")
        said = browser.ask("document.querySelector('#curve text.bad').textContent")
        head = browser.ask("document.querySelector('#curve-live h3').lastChild.textContent")
        checks.that(said == "peak " + head, f"{name}: '{said}' beside a list of {head}")
    needs = browser.ask("[...document.querySelectorAll('.need .remedy')]"
                        ".map(row => Number(row.dataset.needs))")
    known = [r["needs_bytes"]["value"] for f in report["findings"] for r in f["remedies"]
             if r["needs_bytes"]]
    checks.that(set(needs) <= set(known), f"{name}: needs {needs} are not all of {known}")


def check_chart(browser, checks, name, chart):
    """The keyboard moves, what is listed follows, and adds up."""
    browser.ask(f"document.getElementById('{chart}').focus()")
    value = f"document.getElementById('{chart}').getAttribute('aria-valuetext')"
    listed = f"document.getElementById('{chart}-live').innerText"
    lives = (f"[...document.querySelectorAll('#{chart}-live td.l rect')].map(r =>"
             " ['x', 'width'].map(n => parseFloat(r.getAttribute(n)).toFixed(1)).join(' ')).join()")
    before, list_before = browser.ask(value), browser.ask(listed)
    lives_before = browser.ask(lives)
    checks.that(bool(before), f"{name}: {chart} is a slider")
    browser.key("Home", 36)
    home = browser.ask(value)
    browser.key("ArrowRight", 39)
    right = browser.ask(value)
    checks.that(home != right, f"{name}: {chart}: → moves")
    browser.key("End", 35)
    browser.key("p", 80)
    checks.that(browser.ask(value) == before, f"{name}: {chart}: P goes back")
    now = browser.ask(listed).replace("Back (P)", "").strip()
    checks.that(lives_before and browser.ask(lives) == lives_before,
                f"{name}: {chart}: lifetimes {browser.ask(lives)}, were {lives_before}")
    # The script lists what the program listed.
    checks.that(now.split() == list_before.replace("Back (P)", "").split(),
                f"{name}: {chart}: the script's list is another:\n{now}\n---\n{list_before}")


def check_remedies(browser, checks, name, path):
    rows = "document.querySelectorAll('.need .remedy input')"
    if not browser.ask(f"{rows}.length"):
        return
    for index in range(browser.ask(f"{rows}.length")):
        browser.ask(f"{rows}[{index}].click()")
        one = browser.ask("document.getElementById('both-num').textContent")
        own = browser.ask(f"document.querySelectorAll('.need .remedy .resline b')[{index}]"
                          ".textContent")
        checks.that(one == own, f"{name}: one ticked remedy is {one}, its row says {own}")
        browser.ask(f"{rows}[{index}].click()")
    key = browser.ask("document.querySelector('.need .remedy').dataset.remedy")
    if key:
        browser.open(path, fragment="#fix=" + key)
        checks.that(browser.ask(f"{rows}[0].checked"), f"{name}: #fix={key} ticks it")
        browser.open(path)


def check_page(browser, checks, name, path, report):
    browser.problems = []
    browser.open(path)
    check_numbers(browser, checks, name, report)
    for chart in ("curve", "heap"):
        if browser.ask(f"!!document.getElementById('{chart}')"):
            check_chart(browser, checks, name, chart)
    check_remedies(browser, checks, name, path)
    for size in (ZOOMED, PHONE):
        browser.open(path, size)
        over = browser.ask("document.documentElement.scrollWidth - innerWidth")
        checks.that(over <= 0, f"{name}: {over} pixels wider than a window of {size[0]}")
    browser.open(path, dark=True)
    ground = browser.ask("getComputedStyle(document.body).backgroundColor")
    checks.that(ground != "rgb(250, 250, 248)", f"{name}: dark is dark")
    font = browser.ask("getComputedStyle(document.body).fontFamily")
    checks.that("sans-serif" in font, f"{name}: the style sheet is whole: {font}")
    checks.that(not browser.problems, f"{name}: {browser.problems}")


def check_without_script(browser, checks, name, path):
    browser.problems = []
    browser.open(path, script=False)
    tree = browser.send("DOM.getDocument", depth=0)["root"]["nodeId"]
    drawn = browser.send("DOM.querySelectorAll", nodeId=tree,
                         selector="main svg path, main svg rect")
    checks.that(len(drawn["nodeIds"]) > 3, f"{name}: pictures without JavaScript")
    for idle in ("#copy", "#both", ".need input"):
        node = browser.send("DOM.querySelector", nodeId=tree, selector=idle)["nodeId"]
        if node:
            attributes = browser.send("DOM.getAttributes", nodeId=node)["attributes"]
            checks.that("hidden" in attributes, f"{name}: {idle} does nothing and isn't shown")


def check_compare(browser, checks, folder, oomdb, captures):
    """The page of two runs: the text's sentence, and its differences."""
    page = os.path.join(folder, "compare.html")
    pair = [os.path.join(captures, name) for name in ("dataset_oom", "attention_oom")]
    text = subprocess.run([oomdb, "compare", *pair, "--html", page], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    browser.problems = []
    for size in (WIDE, ZOOMED):
        browser.open(page, size)
        over = browser.ask("document.documentElement.scrollWidth - innerWidth")
        checks.that(over <= 0, f"compare: {over} pixels wider than a window of {size[0]}")
    checks.that(browser.ask("document.getElementById('sentence').textContent") ==
                text.splitlines()[0], "compare: the sentence is the text's")
    for cell in browser.ask("[...document.querySelectorAll('[data-delta]')]"
                            ".map(cell => cell.textContent)"):
        checks.that(cell in text, f"compare: {cell} isn't in the text")
    checks.that(not browser.problems, f"compare: {browser.problems}")


def check_fleet(browser, checks, folder, oomdb, captures):
    """The page of a database begins with its runs."""
    page, database = os.path.join(folder, "fleet.html"), os.path.join(folder, "fleet.db")
    names = ("attention_oom", "grad_leak_oom", "cpu")
    for name in names:
        subprocess.run([oomdb, "ingest", "--db", database, "--run", name,
                        os.path.join(captures, name)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    subprocess.run([oomdb, "report", "--db", database, "--html", page], check=True,
                   stdout=subprocess.DEVNULL)
    browser.problems = []
    browser.open(page)
    rows = browser.ask("document.querySelector('#fleet table').innerText")
    for words in names + ("too large", "leak", "can't tell"):
        checks.that(words in rows, f"fleet: {words} isn't among its runs")
    checks.that(not browser.problems, f"fleet: {browser.problems}")


def main():
    oomdb, captures = sys.argv[1:3]
    shots = sys.argv[4] if len(sys.argv) > 4 else None
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser",
                                                   "google-chrome"))), None)
    if program is None:
        print("skipped: Chromium isn't installed (apt-get install chromium)")
        return 77
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(program, os.path.join(folder, "profile"))
        try:
            for name in sorted(os.listdir(captures)):
                page, data = (os.path.join(folder, name + end) for end in (".html", ".json"))
                done = subprocess.run(
                    [oomdb, "report", os.path.join(captures, name), "--html", page, "--json", data],
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                checks.that(os.path.exists(page), f"{name}: no page: {done.stderr}")
                if not os.path.exists(page):
                    continue
                with open(data, encoding="utf-8") as file:
                    report = json.load(file)
                check_page(browser, checks, name, page, report)
                check_without_script(browser, checks, name, page)
                if shots:
                    browser.open(page)
                    browser.shot(os.path.join(shots, name + ".png"), 900)
            check_compare(browser, checks, folder, oomdb, captures)
            check_fleet(browser, checks, folder, oomdb, captures)
        finally:
            browser.close()
    print(f"{checks.count - len(checks.failed)} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
