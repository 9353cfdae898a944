"""Browsers without a window, which pages tell something of themselves."""
from __future__ import annotations

import atexit
import base64
import functools
import http.server
import json
import queue
import shutil
import subprocess
import tempfile
import threading
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or (
    shutil.which("google-chrome"))
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
SECONDS = 120

# What is wrong with a page that was opened and used by its keys, for Firefox to
# send here; the answer is the page that is next.
CONSOLE = """<script>
const wrong = [];
const note = (...words) => wrong.push(words.join(" "));
window.addEventListener("error", (e) => note(e.message), true);
window.addEventListener("unhandledrejection", (e) => note(e.reason));
console.error = console.warn = note;
document.addEventListener("drawn", async () => {
  for (const key of ["ArrowRight", "End", "]", "Home", "n"]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown",
      { key, bubbles: true, cancelable: true }));
  }
  document.getElementById("theme")?.click();
  const heads = [...document.querySelectorAll("h2")].map((e) => e.textContent);
  const said = await fetch(location.pathname, { method: "POST",
    body: JSON.stringify({ wrong, heads }) });
  const next = await said.text();
  if (next) location = next;
});
</script>"""


def _command(width: int, height: int, dark: bool, profile: str) -> list[str]:
    """The browser without a window, at a size, in a folder of its own."""
    assert BROWSER
    return [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu",
            f"--user-data-dir={profile}", f"--window-size={width},{height}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}"]


def run(*words: str, width: int, height: int = 900, dark: bool = False,
        profile: str) -> subprocess.CompletedProcess[str]:
    """Runs it once."""
    return subprocess.run(
        [*_command(width, height, dark, profile), *words],
        capture_output=True, text=True, timeout=SECONDS)


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers with texts, and says nothing of it."""

    def answer(self, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def said(self) -> str:
        """What was posted."""
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def log_message(self, *words: Any) -> None:
        pass


# Shows the pages that told() is asked about, one after the other, each in a
# frame of its size, whose colour scheme it follows; and tells what the page
# made of its title.
SHOWER = """<!doctype html><meta charset="utf-8"><script>
const SECONDS = 20, words = /^TOLD[^]*END$/;
const shown = async ({ number, width, height, dark, address }) => {
  const frame = document.createElement("iframe");
  frame.style = `border:0;width:${width}px;height:${height}px;` +
    `color-scheme:${dark ? "dark" : "light"}`;
  frame.src = `/page/${number}${address}`;
  document.body.replaceChildren(frame);
  await new Promise((done) => { frame.onload = done; });
  const page = frame.contentDocument;
  // not document.title, which has no two spaces one after the other
  const said = () => page.querySelector("title")?.textContent ?? "";
  for (let k = 0; k < 50 * SECONDS && !words.test(said()); k++) {
    await new Promise((done) => { setTimeout(done, 20); });
  }
  return words.test(said()) ? said()
    : page.documentElement.outerHTML.slice(-2000);
};
window.addEventListener("load", async () => {
  for (;;) {
    const next = await (await fetch("/next")).json();
    await fetch("/told", { method: "POST", body: await shown(next) });
  }
});
</script><body style="margin:0">"""


class _Shower(http.server.ThreadingHTTPServer):
    """The pages of one browser, which goes on as long as this process."""
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Shown)
        self.page = ""
        self.asked: queue.Queue[dict[str, Any]] = queue.Queue()
        self.told: queue.Queue[str] = queue.Queue()
        self.count = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.made = tempfile.TemporaryDirectory()
        self.browser = subprocess.Popen(
            _command(800, 900, False, self.made.name) +
            [f"http://127.0.0.1:{self.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.end)

    def end(self) -> None:
        self.browser.terminate()
        self.browser.wait()
        self.shutdown()
        self.server_close()
        self.made.cleanup()

    def show(self, html: str, **how: Any) -> str:
        self.count += 1
        self.page = html
        self.asked.put({"number": self.count, **how})
        return self.told.get(timeout=SECONDS)


class _Shown(_Handler):
    server: _Shower

    def do_GET(self) -> None:
        if self.path == "/next":
            return self.answer(json.dumps(self.server.asked.get()))
        if self.path.startswith("/page/"):
            return self.answer(self.server.page)
        if self.path == "/":
            return self.answer(SHOWER)
        self.send_error(404)  # its icon

    def do_POST(self) -> None:
        said = self.said()
        self.answer("")
        self.server.told.put(said)


@functools.lru_cache(maxsize=None)
def _shower() -> _Shower:
    return _Shower()


def told(html: str, width: int, dark: bool, address: str = "") -> Any:
    """What a page says of itself: its script sets the title to the word TOLD,
    a JSON object and the word END."""
    said = _shower().show(html, width=width, height=900, dark=dark,
                          address=address)
    assert said.startswith("TOLD"), said
    return json.loads(said[len("TOLD"):-len("END")])


# How many of the cells of 8 pixels of two pictures differ in their mean colour.
COMPARE = """PICTURES<script>
const cells = (image) => {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(image.width / 8);
  canvas.height = Math.ceil(image.height / 8);
  const c = canvas.getContext("2d");
  c.imageSmoothingQuality = "high";
  c.drawImage(image, 0, 0, canvas.width, canvas.height);
  return c.getImageData(0, 0, canvas.width, canvas.height).data;
};
window.addEventListener("load", () => {
  const [one, other] = document.images, a = cells(one), b = cells(other);
  let unlike = 0;
  for (let i = 0; i < a.length; i += 4) {
    unlike += [0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > 12);
  }
  document.title = "TOLD" + JSON.stringify({ unlike: 4 * unlike / a.length,
    sizes: [one, other].map((x) => [x.width, x.height]) }) + "END";
});
</script>"""


def unlike(one: str, other: str) -> float:
    """How much of two pictures is unlike, from 0 to 1."""
    images = ""
    for path in one, other:
        with open(path, "rb") as f:
            data = base64.b64encode(f.read()).decode()
        images += f'<img src="data:image/png;base64,{data}">'
    said = told(COMPARE.replace("PICTURES", images), 800, False)
    assert said["sizes"][0] == said["sizes"][1], said["sizes"]
    return said["unlike"]


class Pages(http.server.ThreadingHTTPServer):
    """Shows pages one after the other; each is /NUMBER."""

    def __init__(self, paths: list[str], probe: str) -> None:
        super().__init__(("127.0.0.1", 0), _Page)
        self.paths = paths
        self.probe = probe
        self.told: list[Any] = []
        self.complete = threading.Event()


class _Page(_Handler):
    server: Pages

    def do_GET(self) -> None:
        number = self.path[1:]
        if not number.isdigit():  # its icon
            return self.send_error(404)
        with open(self.server.paths[int(number)], encoding="utf-8") as f:
            self.answer(f.read().replace(
                "</head>", f"{self.server.probe}</head>", 1))

    def do_POST(self) -> None:
        told = self.server.told
        told.append(json.loads(self.said()))
        if len(told) < len(self.server.paths):
            return self.answer(f"/{len(told)}")
        self.answer("")
        self.server.complete.set()


def firefox_told(paths: list[str]) -> list[Any]:
    """What pages say of themselves in Firefox: {"wrong": what its console was
    told, "heads": their headings}."""
    assert FIREFOX
    with Pages(paths, CONSOLE) as server, tempfile.TemporaryDirectory() as made:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = subprocess.Popen(
            [FIREFOX, "--headless", "--no-remote", "--profile", made,
             f"http://127.0.0.1:{server.server_port}/0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            server.complete.wait(SECONDS)
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
        return server.told
