"""The puzzles in CUDA Tile's language: the pack keeps its promises, learners
are told what is wrong, and nothing but kernels runs."""
import os
import subprocess
import sys
import tempfile
import unittest

import support
from test_cutile import has_cutile, python_path

support.need("library", "numpy")

from tkdbg.puzzles import pack  # noqa: E402


def puzzles(*words, cwd=None):
    """(exit status, what is said) of ``tkdbg puzzles WORDS``."""
    done = subprocess.run(
        [sys.executable, "-m", "tkdbg.puzzles", *words], cwd=cwd, text=True,
        env=support.environment(PYTHONPATH=python_path()), timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


class Languages(unittest.TestCase):
    @unittest.skipIf(has_cutile(), "cuda.tile is installed")
    def test_without_cuda_tile(self):
        with tempfile.TemporaryDirectory() as folder:
            puzzles("--pack", "cutile", "init", folder)
            status, said = puzzles("run", "a01", cwd=folder)
        self.assertEqual(status, 2)
        self.assertIn("these puzzles need cuda.tile (pip install cuda-tile)",
                      said)

    def test_a_language_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "pack.json"), "w") as f:
                f.write('{"tracks": {}, "language": "basic"}')
            status, said = puzzles("--pack", folder, "list")
        self.assertEqual(status, 2)
        self.assertIn("not 'basic'", said)


@unittest.skipUnless(has_cutile(), "cuda.tile is not installed")
class Tiles(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def run_with(self, id_, text):
        """What is said of a text as the answer to a puzzle."""
        entry = pack.Pack("cutile").find(id_)
        status, said = puzzles("--pack", "cutile", "init", self.folder)
        self.assertEqual(status, 0, said)
        with open(os.path.join(self.folder, entry.file), "w") as f:
            f.write(text(entry))
        return puzzles("run", id_, cwd=self.folder)

    def test_dev_check(self):
        status, said = puzzles("--pack", "cutile", "dev", "check")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"^10 puzzles, 3\d wrong answers, 0 faults\n$")

    def test_the_solution_is_right(self):
        status, said = self.run_with("b03", lambda e: e.solution())
        self.assertEqual(status, 0, said)
        self.assertIn("one block a row", said)

    def test_a_wrong_answer_is_told_in_its_words(self):
        status, said = self.run_with("a03", lambda e: e.solution().replace(
            ", padding_mode=ct.PaddingMode.ZERO", ""))
        self.assertEqual(status, 1, said)
        self.assertIn("undef: line ", said)
        self.assertIn("give the load a padding_mode=", said)

    def test_what_cuda_tile_refuses_is_at_its_line(self):
        status, said = self.run_with("a03", lambda e: e.solution().replace(
            "ct.sum(", "ct.summ("))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"type: line \d+: .*summ")

    def test_only_kernels_run(self):
        ran = os.path.join(self.folder, "ran")
        for text, said_of_it in (
                (f"open({ran!r}, 'w')\n", None),
                ("\n\ndef f():\n    ct.static_eval(1)\n",
                 "'static_eval' may not be used")):
            status, said = self.run_with(
                "a01", lambda e, more=text: e.solution() + more)
            self.assertEqual(status, 1 if said_of_it else 0, said)
            self.assertIn(said_of_it or "", said)
        self.assertFalse(os.path.exists(ran))


if __name__ == "__main__":
    unittest.main()
