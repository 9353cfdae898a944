"""The corpus of tests/why: its rows fit its programs, the way in which reports
are read, and a slice of it: half of the rows here, but with ROWS=all.  `make
why-corpus` measures all of it."""
import collections
import os
import sys
import unittest

import support

support.need("library", "numpy")

sys.path.insert(0, os.path.join(support.ROOT, "tests", "why"))
sys.path.insert(0, os.path.join(support.ROOT, "tests", "support"))
import corpus  # noqa: E402
import rows  # noqa: E402

BUILD = support.BUILD
SILENT = "attention_backward", "moe_routing", "radix_sort", "varlen_attention"
NAMED = ("split_kv: axis: the rescale goes along the columns",
         "attention_backward: operand: dK takes p for ds",
         "layer_norm_backward: mask: padding is centred, too",
         "int8_matmul: axis: scales of columns go to rows",
         "top_k: operand: times the temperature",
         "softmax_split_k: sign: the gradient")
REPORT = """\
Traceback (most recent call last):
  File "script.py", line 91, in <module>
tkdbg: numpy.allclose fails on y of launch 2, last
  suspects:
    script.py:65: with `h // group` in place of `h % group` the comparison
      passes; script.py:70 was tried, too
    /tmp/a/script.py:12: the launch before it is right
    other.py:3: no line of the script
    script.py:50: reads another row
    script.py:40: stands fourth
  the lines that y[0] came from:
     33 | tl.store(y + at, x)     y[0] = 1.0
  to stop there: tkdbg debug -b script.py:80 script.py
"""


class Rows(unittest.TestCase):
    def test_every_row_fits_its_program(self):
        rows = corpus.bugs()
        self.assertGreaterEqual(sum(not b.stops for b in rows), 60)
        self.assertEqual(len({b.name() for b in rows}), len(rows))
        for bug in rows:
            with self.subTest(bug.name()):
                text, line = bug.planted()
                compile(text, bug.program, "exec")
                self.assertNotEqual(text, corpus.program(bug.program))
                self.assertIn(bug.new, text.split("\n")[line - 1])

    def test_every_program_has_rows(self):
        count = collections.Counter(b.program for b in corpus.bugs())
        self.assertEqual(sorted(count), corpus.programs())
        self.assertGreaterEqual(len(count), 12)
        self.assertGreaterEqual(min(count.values()), 5)

    def test_a_text_that_two_lines_have(self):
        bug = corpus.Bug("split_kv", "sign", "", "rows", -1, "cols", False)
        self.assertRaises(ValueError, bug.planted)


class Reports(unittest.TestCase):
    def test_suspects(self):
        self.assertEqual(corpus.suspects(REPORT, "script.py"),
                         [65, 12, 50, 40])
        self.assertEqual(corpus.suspects("nothing\n", "script.py"), [])

    def test_named(self):
        self.assertEqual(corpus.named(REPORT, "script.py"),
                         {65, 70, 12, 50, 40, 33, 80})

    def test_verdicts(self):
        for line, expected in ((65, "first"), (13, "first"), (40, "named"),
                               (33, "named"), (81, "named"), (91, "absent")):
            self.assertEqual(corpus.verdict(REPORT, "script.py", line),
                             expected)

    def test_how_programs_end(self):
        for status, said, expected in (
                (None, "", "no end"), (0, "", "passes"),
                (1, "FAILED: off by 3\n", "fails"),
                (1, "AssertionError: dq\n", "fails"),
                (1, "a.py:3:4: error: x [out-of-bounds]\n", "stops"),
                (1, "NameError: x\n", "breaks")):
            self.assertEqual(corpus.ending(status, said), expected)


class Slice(unittest.TestCase):
    def test_correct_programs_are_silent(self):
        for name in rows.some(SILENT, 2):
            with self.subTest(name):
                self.assertEqual(corpus.noise(BUILD, name), "")

    def test_the_line_is_named(self):
        bugs = {b.name(): b for b in corpus.bugs()}
        for name in rows.some(NAMED, 2):
            with self.subTest(name):
                found = corpus.tried(BUILD, bugs[name])
                self.assertIn(found.verdict, ("first", "named"))


if __name__ == "__main__":
    unittest.main()
