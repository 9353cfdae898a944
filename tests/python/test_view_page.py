"""The page of ``tkdbg view`` in a browser without a window: clicks and keys
change what is shown, and the numbers there are the interpreter's."""
import json
import os
import sys
import tempfile
import unittest

import support

support.need("library")

sys.path[:0] = [os.path.join(support.ROOT, "tests", name)
                for name in ("view", "support")]
import browser  # noqa: E402
import pages  # noqa: E402

# What a page tells of itself when it has been used.
PROBE = """<script>
const wrong = [];
window.addEventListener("error", (e) => wrong.push(String(e.message)));
console.error = (...words) => wrong.push(words.join(" "));
window.addEventListener("load", () => {
  const text = (s) => document.querySelector(s)?.textContent ?? "";
  const all = (s) => [...document.querySelectorAll(s)].map(
    (e) => e.textContent);
  const key = (k, more) => (document.activeElement || document.body)
    .dispatchEvent(new KeyboardEvent("keydown",
      { key: k, bubbles: true, cancelable: true, ...more }));
  const click = (s) => document.querySelector(s).click();
  const at = (s, x, y) => {
    const e = document.querySelector(s), box = e.getBoundingClientRect();
    e.dispatchEvent(new MouseEvent("click", { bubbles: true,
      clientX: box.left + x, clientY: box.top + y }));
  };
  const now = () => ({ step: text("#step-text"),
    program: text("#program-text") });
  const told = { seen: [now()] };
  const then = (f) => { f(); told.seen.push(now()); };
  try {
    USE
  } catch (e) {
    wrong.push(String(e.stack));
  }
  Object.assign(told, {
    wrong, wide: document.documentElement.scrollWidth,
    room: window.innerWidth, warnings: all(".warn"),
    values: all("article.value"), numbers: all(".numbers td"),
    detail: text(".detail"), tensors: all("article.tensor h3"),
    marks: all("main section").length, heads: all("h2"),
    unnamed: [...document.querySelectorAll("button, input")].filter((e) =>
      !e.getAttribute("aria-label") && !e.textContent &&
      !e.closest("label")).length,
    ground: getComputedStyle(document.body).backgroundColor,
    clipped: [...document.querySelectorAll(".scroll, .map")].filter((e) =>
      e.scrollWidth > e.clientWidth + 1 && e.querySelector("canvas")).length,
    cut: [...document.querySelectorAll("h1, h2, h3, .facts dd, button")]
      .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1 &&
        !e.closest(".source")).map((e) => e.textContent),
  });
  document.title = "TOLD" + JSON.stringify(told) + "END";
});
</script>"""


def told(page, use="", width=1280, dark=False):
    """What the page says of itself after the statements `use` of JavaScript."""
    with open(page, encoding="utf-8") as f:
        html = f.read()
    probe = PROBE.replace("USE", use)
    return browser.told(html.replace("</head>", f"{probe}</head>"), width, dark)


def line_of(text):
    """The number of the planted kernels' line that has a text."""
    with open(pages.PLANTED, encoding="utf-8") as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)

    def setUp(self):
        if not browser.BROWSER:
            self.skipTest("Chromium is not installed")

    def page(self, kernel):
        path = os.path.join(self.made.name, f"{kernel}.html")
        if not os.path.exists(path):
            done = pages.planted(support.BUILD, kernel, "--output", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def data(self, kernel):
        done = pages.planted(support.BUILD, kernel, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["launches"][0]

    def test_it_fits_at_every_width(self):
        grounds = set()
        for width, dark in ((390, False), (800, True), (1280, False),
                            (2560, True)):
            with self.subTest(width=width, dark=dark):
                said = told(self.page("stride"), width=width, dark=dark)
                self.assertEqual(said["wrong"], [])
                self.assertLessEqual(said["wide"], said["room"])
                self.assertEqual((said["cut"], said["clipped"]), ([], 0))
                self.assertEqual(said["unnamed"], 0)
                self.assertEqual(said["heads"][-5:], [
                    "Programs", "Source", "Values", "Tensors", "Keys"])
                grounds.add(said["ground"])
        self.assertEqual(len(grounds), 2)

    def test_keys_and_clicks(self):
        store = line_of("v * 2.0")
        said = told(self.page("tail"), f"""
          then(() => key("ArrowRight"));
          then(() => key("End"));
          then(() => key("]"));
          then(() => key("Home"));
          then(() => click("[data-line='{store}']"));
          document.getElementById("map").focus();
          then(() => key("ArrowRight"));
          then(() => click("[data-metric=bytes]"));
          then(() => at("article[data-tensor=y] canvas", 3, 3));
        """)
        self.assertEqual(said["wrong"], [])
        steps = [s["step"].split(":")[0] for s in said["seen"]]
        self.assertEqual(steps[:5], [
            "Step 1 of 3", "Step 2 of 3", "Step 3 of 3", "Step 3 of 3",
            "Step 1 of 3"])
        self.assertIn(f"line {store}", said["seen"][5]["step"])
        self.assertIn("program (1, 0, 0)", said["seen"][5]["program"])
        self.assertIn("program (2, 0, 0)", said["seen"][6]["program"])
        self.assertIn("256 B", said["seen"][7]["program"])
        for what in ("y[0]", "program (0, 0, 0)", "value0"):
            self.assertIn(what, said["detail"])

    def test_values_are_the_interpreters(self):
        """The blocks that a page shows are what a run left in memory."""
        launch = self.data("axis")
        y = launch["tensors"][1]["values"]
        steps = launch["steps"]["0"]
        sums = next(v for s in steps for v in s.get("values", [])
                    if v.get("name") == "s")
        self.assertEqual(sums["lanes"][:16], y)
        said = told(self.page("race"), 'then(() => key("End"));')
        shown = said["numbers"]
        race = self.data("race")["steps"]["0"][-1]
        stored = race["values"][race["accesses"][-1]["value"]]
        self.assertEqual([round(float(x), 4) for x in shown[-16:]],
                         [round(x, 4) for x in stored["lanes"]])

    def test_planted_bugs_are_seen(self):
        said = told(self.page("tail"))
        self.assertIn("4 elements never written: y[96] to y[99]",
                      said["warnings"])
        said = told(self.page("race"))
        self.assertIn("16 elements written by more than one program",
                      said["warnings"])
        line = line_of("tl.sum(v, 0)")
        said = told(self.page("axis"),
                    f"""then(() => click("[data-line='{line}']"));""")
        self.assertIn("sum along axis 0", " ".join(said["values"]))
        said = told(self.page("stride"))
        counts = self.data("stride")["tensors"][0]
        self.assertLess(counts["read"][1], 32 * 48)


if __name__ == "__main__":
    unittest.main()
