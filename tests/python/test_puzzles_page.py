"""The pages of the puzzles, in a browser without a window."""
import os
import sys
import tempfile
import unittest

import support

support.need("library", "numpy")

sys.path.insert(0, os.path.join(support.ROOT, "tests", "support"))
import browser  # noqa: E402
from tkdbg.puzzles import checker, folder, look, manifest, page  # noqa
from tkdbg.puzzles.answer import Submission  # noqa: E402

# what a page tells of itself once it is drawn
PROBE = """<script>
window.onload = () => {
  const colours = (c) => {
    const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
    const seen = new Set();
    for (let i = 0; i < d.length; i += 4)
      seen.add(d.slice(i, i + 4).join());
    return seen.size;
  };
  const told = {
    wide: document.documentElement.scrollWidth, room: window.innerWidth,
    told: document.getElementById("told").textContent,
    marked: document.querySelectorAll(".loads, .stores").length,
    colours: [...document.querySelectorAll("canvas")].map(colours),
    ground: getComputedStyle(document.body).backgroundColor,
  };
  document.title = "TOLD" + JSON.stringify(told) + "END";
};
</script></body>"""


def told(html, width, dark):
    """What the page says of itself, drawn at a width."""
    return browser.told(html.replace("</body>", PROBE), width, dark, "#1")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as made:
            cls.where = folder.make(made)
            entry = cls.where.pack.find("b03")
            with open(cls.where.file(entry), "w") as f:
                f.write(manifest.edited(entry.solution(), [
                    ("z = x[:, None] +", "z = x[:, None] -")]))
            job = cls.where.submission(entry)
        cls.scene = look.scene(job, checker.check(job))
        cls.html = page.page(cls.scene)

    def test_a_page_needs_nothing_else(self):
        for what in "http:", "https:", "src=", "@import", "url(":
            self.assertNotIn(what, self.html)
        self.assertIn("not yet solved", self.html)

    def test_what_learners_write_is_text(self):
        scene = dict(self.scene, source='@triton.jit\n# </script><em>"&',
                     title="<i>")
        html = page.page(scene)
        self.assertNotIn("<em>", html)
        self.assertNotIn("<i>", html)
        self.assertEqual(html.count("</script>"), 2)

    def test_an_answer_that_does_not_compile(self):
        entry = self.where.pack.find("a02")
        job = Submission(entry, "@triton.jit\ndef copy(:", "k.py")
        html = page.page(look.scene(job, checker.check(job)))
        self.assertIn("Programs", html)
        self.assertIn("unexpected", html)

    def test_a_puzzle_that_nobody_has_begun(self):
        entry = self.where.pack.find("b03")
        job = Submission(entry, entry.starter, "k.py")
        html = page.page(look.scene(job, checker.check(job)))
        self.assertIn("return x[:, None] + y[None, :]", html)
        self.assertIn("No program loads or stores anything yet", html)
        if browser.BROWSER:
            said = told(html, 1280, False)
            self.assertEqual(len(said["colours"]), 4)
            self.assertGreater(min(said["colours"]), 0)

    def test_in_a_browser(self):
        if not browser.BROWSER:
            self.skipTest("Chromium is not installed")
        grounds = set()
        for width, dark in ((1280, False), (1280, True), (390, False),
                            (390, True)):
            with self.subTest(width=width, dark=dark):
                said = told(self.html, width, dark)
                self.assertLessEqual(said["wide"], said["room"])
                self.assertIn("program (1, 0, 0), 2 of 4: loads", said["told"])
                self.assertEqual(said["marked"], 3)
                self.assertEqual(len(said["colours"]), 4)
                self.assertGreater(min(said["colours"]), 1)
                grounds.add(said["ground"])
        self.assertEqual(len(grounds), 2)


if __name__ == "__main__":
    unittest.main()
