"""Browsers without a window, which pages tell something of themselves."""
from __future__ import annotations

import base64
import http.server
import json
import os
import re
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
window.addEventListener("load", async () => {
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


def run(*words: str, width: int, height: int = 900, dark: bool = False,
        profile: str) -> subprocess.CompletedProcess[str]:
    """The browser, at a size, in a folder of its own."""
    assert BROWSER
    return subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={profile}", f"--window-size={width},{height}",
         f"--blink-settings=preferredColorScheme={0 if dark else 1}", *words],
        capture_output=True, text=True, timeout=SECONDS)


def told(html: str, width: int, dark: bool, address: str = "") -> Any:
    """What a page says of itself: its script sets the title to the word TOLD,
    a JSON object and the word END."""
    with tempfile.TemporaryDirectory() as made:
        path = os.path.join(made, "page.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(html)
        done = run("--dump-dom", f"file://{path}{address}", width=width,
                   dark=dark, profile=f"{made}/profile")
    found = re.search(r"TOLD(\{.*\})END", done.stdout)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    text = found.group(1)
    for entity, sign in ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"):
        text = text.replace(entity, sign)
    return json.loads(text)


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


class _Pages(http.server.ThreadingHTTPServer):
    """Shows pages one after the other; each is /NUMBER."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Page)
        self.paths = paths
        self.told: list[Any] = []
        self.complete = threading.Event()


class _Page(http.server.BaseHTTPRequestHandler):
    server: _Pages

    def _answer(self, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        number = self.path[1:]
        if not number.isdigit():  # its icon
            return self.send_error(404)
        with open(self.server.paths[int(number)], encoding="utf-8") as f:
            self._answer(f.read().replace("</head>", f"{CONSOLE}</head>", 1))

    def do_POST(self) -> None:
        told = self.server.told
        told.append(json.loads(
            self.rfile.read(int(self.headers["Content-Length"]))))
        if len(told) < len(self.server.paths):
            return self._answer(f"/{len(told)}")
        self._answer("")
        self.server.complete.set()

    def log_message(self, *words: Any) -> None:
        pass


def firefox_told(paths: list[str]) -> list[Any]:
    """What pages say of themselves in Firefox: {"wrong": what its console was
    told, "heads": their headings}."""
    assert FIREFOX
    with _Pages(paths) as server, tempfile.TemporaryDirectory() as made:
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
