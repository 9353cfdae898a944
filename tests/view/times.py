"""How long a page of `tkdbg view` takes to open and to react in Chromium.

    python3 tests/view/times.py --build BUILD [PAGE...]

Without pages, of a launch of 4,096 programs of 64 statements.  Prints for each
page, in milliseconds: from the start of the navigation to the first frame that
shows it, beside the same of an empty page, which is the browser's own; and
what each key takes from its event to the frame after it, as the median and the
longest of several.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading

import pages
import browser

# "]" and "[" choose another program, the arrows another step.
MEASURE = """<script>
window.addEventListener("load", async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  while (!document.querySelector("footer")) await frame();
  await frame();
  const said = { open: performance.now(), keys: {} };
  for (const key of ["ArrowRight", "]", "ArrowLeft", "End", "["]) {
    said.keys[key] = [];
    for (let k = 0; k < 9; k++) {
      await frame();
      const from = performance.now();
      document.body.dispatchEvent(new KeyboardEvent("keydown",
        { key, bubbles: true, cancelable: true }));
      await frame();
      said.keys[key].push(performance.now() - from);
    }
  }
  await fetch("SERVER/0", { method: "POST", mode: "no-cors",
    body: JSON.stringify(said) });
});
</script>"""

EMPTY = ("<!doctype html><html><head></head><body><footer></footer></body>"
         "</html>")

OPERATIONS = (
    "v{now} = v{before} * 1.5 + {before}.0",
    "v{now} = tl.exp(v{before} * 0.001)",
    "v{now} = v{before} + tl.sum(v{before}, 0)",
    "v{now} = tl.where(mask, v{before}, 0.0)",
    "v{now} = tl.maximum(v{before}, 0.25)",
    "v{now} = v{before} - tl.max(v{before}, 0) * 0.5")

HEAD = """import triton
import triton.language as tl


@triton.jit
def many(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    v0 = tl.load(x + at, mask=mask, other=0.0)
"""


def many(build, made):
    """The page of 4,096 programs of 64 statements over a million elements."""
    kernel = HEAD + "".join(
        f"    {OPERATIONS[i % 6].format(before=i, now=i + 1)}\n"
        for i in range(60)) + "    tl.store(y + at, v60, mask=mask)\n"
    script, page = (os.path.join(made, f"many.{end}") for end in ("py", "html"))
    with open(script, "w", encoding="utf-8") as f:
        f.write(kernel)
    n = 1 << 20
    pages.view(build, "-o", page, script, "--kernel", "many", "--grid", "4096",
               "--arg", f"x=f32[{n}]:rand", "--arg", f"y=f32[{n}]:zeros",
               "--arg", f"n={n}", "--arg", "B=256").check_returncode()
    return page


def measured(html):
    """What a page says of one opening."""
    with browser.Pages([], "") as server, \
            tempfile.TemporaryDirectory() as made:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = os.path.join(made, "page.html")
        probe = MEASURE.replace("SERVER",
                                f"http://127.0.0.1:{server.server_port}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(html.replace("</head>", f"{probe}</head>", 1))
        shown = subprocess.Popen(
            [browser.BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={made}/profile", "--window-size=1280,900",
             f"file://{path}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            server.complete.wait(browser.SECONDS)
        finally:
            shown.terminate()
            shown.wait()
            server.shutdown()
        return server.told[0]


def report(page, times):
    with open(page, encoding="utf-8") as f:
        html = f.read()
    said = [measured(html) for _ in range(times)]
    empty = [measured(EMPTY)["open"] for _ in range(times)]
    print(f"{page}: {os.path.getsize(page):,} bytes")
    print("  opens in", ", ".join(f"{one['open']:.0f}" for one in said),
          "(an empty page:", ", ".join(f"{x:.0f}" for x in empty) + ")")
    for key in said[0]["keys"]:
        taken = [t for one in said for t in one["keys"][key]]
        print(f"  {key}: {statistics.median(taken):.0f}, at most "
              f"{max(taken):.0f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("page", nargs="*")
    asked = parser.parse_args()
    if not browser.BROWSER:
        print("skip: Chromium is not installed")
        return 0
    with tempfile.TemporaryDirectory() as made:
        for page in asked.page or [many(asked.build, made)]:
            report(page, asked.times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
