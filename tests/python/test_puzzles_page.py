"""The pages of the puzzles, in a browser without a window."""
import json
import os
import random
import sys
import tempfile
import unittest

import support

support.need("library", "numpy")

sys.path[:0] = [os.path.join(support.ROOT, "tests", name)
                for name in ("support", "view")]
import browser  # noqa: E402
import page_data  # noqa: E402
from probe import told  # noqa: E402
from tkdbg.puzzles import checker, folder, look, manifest, page  # noqa
from tkdbg.puzzles.answer import Submission  # noqa: E402



def page_of(html, use="", **how):
    """What the page says of itself."""
    with tempfile.TemporaryDirectory() as made:
        path = os.path.join(made, "page.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(html)
        return told(path, use, **how)


def scene(job):
    return look.scene(job, checker.check(job))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as made:
            cls.where = folder.make(made)
            cls.entry = cls.where.pack.find("b03")
            with open(cls.where.file(cls.entry), "w") as f:
                f.write(manifest.edited(cls.entry.solution(), [
                    ("z = x[:, None] +", "z = x[:, None] -")]))
            job = cls.where.submission(cls.entry)
        cls.html = scene(job)["page"]

    def setUp(self):
        if not browser.BROWSER:
            self.skipTest("Chromium is not installed")

    def test_a_page_needs_nothing_else(self):
        for what in "http:", "https:", "src=", "@import", "url(":
            self.assertNotIn(what, self.html)

    def test_what_learners_write_is_text(self):
        job = Submission(self.entry, '@triton.jit\n# </script><em>"&', "<i>")
        said = page_of(page.refused(job, "<b>"), """
          told.source = all("pre").at(-1);
          told.refused = text(".warn");""")
        self.assertEqual(said["wrong"], [])
        self.assertEqual(said["source"], '@triton.jit\n# </script><em>"&')
        self.assertEqual(said["refused"], "<b>")

    def test_an_answer_that_does_not_compile(self):
        entry = self.where.pack.find("a02")
        job = Submission(entry, "@triton.jit\ndef copy(:", "k.py")
        said = page_of(scene(job)["page"])
        self.assertEqual(said["wrong"], [])
        self.assertIn("unexpected", "".join(said["warnings"]))

    def test_a_puzzle_that_nobody_has_begun(self):
        job = Submission(self.entry, self.entry.starter, "k.py")
        said = page_of(scene(job)["page"], "told.task = all('pre');")
        self.assertEqual(said["wrong"], [])
        self.assertIn("return x[:, None] + y[None, :]",
                      "".join(said["task"]))
        self.assertIn("z_ptr", "".join(said["tensors"]))

    def test_in_a_browser(self):
        grounds = set()
        for width, dark in ((1280, False), (1280, True), (390, False),
                            (390, True)):
            with self.subTest(width=width, dark=dark):
                said = page_of(self.html, """
                  told.state = text("section p");
                  then(() => click("[data-mode=wrong]"));
                  then(() => key("]"));""", width=width, dark=dark)
                self.assertEqual(said["wrong"], [])
                self.assertEqual((said["cut"], said["unnamed"]), ([], 0))
                self.assertLessEqual(said["wide"], said["room"])
                self.assertIn("not yet solved", said["state"])
                self.assertEqual(said["heads"][:2], [
                    "b03: " + self.entry.title, "What is wrong"])
                self.assertRegex(said["warnings"][0],
                                 r"^\d+ elements of z_ptr are wrong")
                self.assertNotEqual(said["seen"][1]["program"],
                                    said["seen"][2]["program"])
                grounds.add(said["ground"])
        self.assertEqual(len(grounds), 2)

    def test_wrong_elements_are_those_that_differ(self):
        """The reference is a sum, the kernel a difference: all are wrong but
        where y is 0."""
        shown = json.loads(page_data.text(self.html))
        tensors = {t["name"]: t for t in shown["launches"][0]["tensors"] if t}
        rows, columns = tensors["z_ptr"]["shape"]
        wrong = [i for i in range(rows * columns)
                 if tensors["y_ptr"]["values"][i % columns]]
        found = shown["why"]["wrong"]
        self.assertEqual([x for first, n in zip(found[::2], found[1::2])
                          for x in range(first, first + n)], wrong)

    def test_data_are_what_was_made_shorter(self):
        """Lengths and distances of all classes, every byte that UTF-8 has; as
        zlib reads it, and as the page does."""
        dice = random.Random(36)
        some = "".join(dice.choices("0123456789,", k=40000))
        for text in ("", "a", "a" * 1000, some + some[:20000] + some[-300:],
                     "".join(some[:k] + chr(dice.randrange(0x800, 0xd800))
                             for k in range(600)),
                     "".join(map(chr, range(32, 0x2000)))):
            with self.subTest(length=len(text)):
                html = page._alone(puzzles={"title": text, "tracks": []})
                shown = json.loads(page_data.text(html))
                self.assertEqual(shown["puzzles"]["title"], text)
                said = page_of(html, "told.title = text('section h2');")
                self.assertEqual(said["wrong"], [])
                self.assertEqual(said["title"], text)

    def test_the_page_that_leads_to_others(self):
        entries = self.where.pack.entries
        said = page_of(page.index(self.where.pack, [
            (entry, entry is self.entry) for entry in entries]), """
          told.links = [...document.querySelectorAll("a")].map(
            (a) => a.getAttribute("href"));
          told.solved = all(".good");""")
        self.assertEqual(said["wrong"], [])
        self.assertEqual(said["links"], [f"{e.id}.html" for e in entries])
        self.assertEqual(said["solved"], ["solved"])


if __name__ == "__main__":
    unittest.main()
