"""tkdbg bisect: which pass of Triton's compiler is wrong.  No GPU is
needed."""
import os
import subprocess
import sys
import tempfile
import unittest

import support

support.need("library", "numpy", "triton")

TKDBG = os.path.join(support.BUILD, "tkdbg")
HEAD = "import numpy as np, triton, triton.language as tl\n"
QUOTIENT = """
@triton.jit
def k(y):
    i = tl.arange(0, 128)
    tl.store(y + i, (i - 64) // 16)
k[(1,)](np.zeros(128, np.int32), num_warps=1)
"""
RIGHT = """
@triton.jit
def k(x, y):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i) + 1)
x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
k[(1,)](x, y)
"""

TO_HALF = """
@triton.jit
def k(x, y):
    i = tl.arange(0, 256)
    tl.store(y + i, tl.load(x + i).to(tl.uint32).to(tl.float16))
x, y = np.arange(256).astype(np.int8), np.zeros(256, np.float16)
k[(1,)](x, y, num_warps=1)
"""


class Bisect(support.ScriptCase):
    triton = "ours"

    def bisect(self, text, *words):
        path = self.write(text, head=HEAD)
        return subprocess.run(
            [TKDBG, "bisect", "--python", sys.executable, path,
             *words],
            env=support.environment(TKDBG_PYTHON=sys.executable),
            capture_output=True, text=True, timeout=300, cwd=self.folder.name)

    def test_nothing_differs(self):
        done = self.bisect(RIGHT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no stage differs, up to the PTX", done.stdout)

    def test_axis_info(self):
        """Triton takes quotients of negative numbers for equal where they are
        not, which its TTGIR does not show."""
        done = self.bisect(QUOTIENT)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("pass ConvertTritonGPUToLLVM", done.stdout)
        self.assertIn("'triton-ptx' beside the interpreter", done.stdout)

    def test_a_pass_of_llvm(self):
        """LLVM's passes are told apart by its own -opt-bisect-limit."""
        done = self.bisect(TO_HALF, "--arch", "sm_90")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, "pass slp-vectorizer of LLVM's, number "
                                      r"\d+ of \d+: the PTX differs")

    def test_a_text_that_differs(self):
        """Two texts of one launch are told apart, and both are shown."""
        from tkdbg import bisect
        with tempfile.TemporaryDirectory() as folder:
            launch = bisect.recorded(self.write(RIGHT, head=HEAD), {}, folder)
            stages, why = bisect.compiled(launch, "sm_80", folder)
            self.assertEqual(why, "")
            broken = [s._replace(text=s.text.replace("dense<1>", "dense<2>"))
                      if i > 3 else s for i, s in enumerate(stages)]
            self.assertNotEqual(broken[4], stages[4])
            found = bisect.search(launch, broken, bisect.memory_after(launch),
                                  folder)
            said = bisect.tell_stage(broken, found)
        self.assertEqual((found.last, found.first), (3, 4))
        self.assertIn(f"pass {stages[3].next}: other values in y", said)
        self.assertIn("dense<2>", said)


if __name__ == "__main__":
    unittest.main()
