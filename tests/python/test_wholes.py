"""Changes that the whole script is asked about: of what makes a launch stop,
and of the host's lines that launch kernels."""
import ast
import textwrap
import unittest

import support

support.need("library", "numpy")

import answers  # noqa: E402
from tkdbg import purity  # noqa: E402

SCRIPT = """
    @triton.jit
    def double(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, v * 2, mask=i < n)

    @triton.jit
    def add(x, y, z, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
        tl.store(z + i, v, mask=i < n)

    def thrice(x, n):
        y, z = np.zeros(n, np.float32), np.zeros(n, np.float32)
        double[(5,)](x, y, n, B=8)
        add[(5,)](x, y, z, n, B=8)
        return z

    def main():
        HOOK
        for n in (33, 40):
            x = np.linspace(1, 2, n).astype(np.float32)
            np.testing.assert_allclose(thrice(x, n), x * 3, rtol=1e-6)

    main()
"""


class Wholes(answers.Asked):
    def suspects(self, old, new, which=None, hook="pass"):
        text = SCRIPT.replace("HOOK", hook)
        parts = text.split(old)
        self.assertGreater(len(parts), 1)
        at = len(parts) - 1 if which is None else which
        said, status = self.why(old.join(parts[:at]) + new +
                                old.join(parts[at:]), "on")
        self.assertEqual(status, 1, said)
        return said

    def test_a_launch_that_stops(self):
        """Of much that keeps it from stopping the script ends well with the
        right one alone."""
        said = self.suspects("tl.store(y + i, v * 2, mask=i < n)",
                             "tl.store(y + i, v * 2, mask=i <= n)")
        self.assertIn("tkdbg: launch 1, double, stops\n  suspects:\n", said)
        self.assertRegex(said, r"\.py:10: with `[^`]*i < n[^`]*` in place of "
                         r"`[^`]*i <= n[^`]*` the script ends well")

    def test_the_host(self):
        """A buffer of a type that is too narrow is no part of a launch that
        could be changed."""
        said = self.suspects("y, z = np.zeros(n, np.float32)",
                             "y, z = np.zeros(n, np.float16)")
        self.assertRegex(said, r"\.py:19: with `np\.float32` in place of "
                         r"`np\.float16` the script ends well")

    def test_a_launch_that_lacks(self):
        """... of a kernel that is there, with arguments that are called like
        its parameters, or that other launches are given for these."""
        said = self.suspects("double[(5,)](x, y, n, B=8)\n        ", "")
        self.assertIn(".py:20: with `double[(5,)](x=x, y=y, n=n, B=8)` before "
                      "it the ", said)

    def test_buffers_that_are_not_exchanged(self):
        said = self.suspects(
            "double[(5,)](x, y, n, B=8)\n        add[(5,)](x, y, z, n, B=8)\n",
            "one, other = x * 2, np.zeros_like(x)\n"
            "        for j in range(3):\n"
            "            double[(5,)](one, other, n, B=8)\n"
            "        add[(5,)](one, -13 * x, z, n, B=8)\n")
        self.assertRegex(said, r"\.py:22: with `(one, other = other, one|"
                         r"other, one = one, other)` after it the ")

    def test_what_fails_later(self):
        """A change with which the first comparison passes, and the next one
        fails, is not told of."""
        said = self.suspects("add[(5,)]", "add[(4,)]")
        self.assertRegex(said, r"\.py:21: with grid \(5, 1, 1\)")
        said = self.suspects("mask=i < n)\n        tl.store(y",
                             "mask=i < 32)\n        tl.store(y")
        self.assertRegex(said, r"\.py:9: with `(i < |)n` in place of "
                         r"`(i < |)32` the comp")
        self.assertNotIn("`33`", said)

    def test_a_script_that_writes(self):
        """It runs once."""
        said = self.suspects("tl.store(y + i, v * 2, mask=i < n)",
                             "tl.store(y + i, v * 2, mask=i <= n)",
                             hook="open('log', 'a').write('x')\n"
                             "        assert open('log').read() == 'x'")
        self.assertIn("[out-of-bounds]", said)
        self.assertNotIn("suspects", said)


class OnlyComputes(unittest.TestCase):
    def holds(self, text):
        return purity.only_computes(ast.parse(textwrap.dedent(text)))

    def test_yes(self):
        for text in ("import numpy as np, triton\nx = np.zeros(3)",
                     "import triton.language as tl\nv = tl.load(p)",
                     "from torch import nn\nimport sys\nsys.exit(1)",
                     "import tkdbg\ntkdbg.install(triton='ours')",
                     "@triton.jit\ndef k(d):\n    d.load([0])",
                     "x = x.view(2, 2)"):
            self.assertTrue(self.holds(text), text)

    def test_no(self):
        for text in ("import os", "from subprocess import run",
                     "from . import x", "import numpy as np\nnp.save(f, x)",
                     "x.tofile(f)", "open(f)", "exec(text)", "f.write(x)",
                     "import sys\nsys.modules",
                     "import tkdbg\ntkdbg.view(k, (1,))",
                     "import tkdbg\ntkdbg.install(record='f')",
                     "import tkdbg as t", "from tkdbg import verify",
                     "@kernels.of\ndef k(d):\n    d.load([0])",
                     "@tune(open(f))\n@triton.jit\ndef k(d):\n    pass"):
            self.assertFalse(self.holds(text), text)


if __name__ == "__main__":
    unittest.main()
