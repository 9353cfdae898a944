"""--engine triton-ptx: what the installed Triton's compiler makes of a kernel,
interpreted.  No GPU is needed."""
import os
import subprocess
import sys
import unittest

import support

support.need("library", "numpy", "triton")

HEAD = """
import numpy as np, triton, triton.language as tl

@triton.jit
def twice(v, by: tl.constexpr = 2):
    return v * by

"""
# A kernel and its launch.  All of it is exact, so that every bit must agree.
EXACT = {
    "masks, helpers and numbers": """
@triton.jit
def k(x, y, n, s, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, i < n, other=-1)
    tl.store(y + i, twice(a) * s + n, i < n)
x, y = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
k[(4,)](x, y, 100, 3, B=32)
k[(1,)](x, y, 1, 1, B=32)
""",
    "an address that is not aligned": """
@triton.jit
def k(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) + 1)
x, y = np.arange(65, dtype=np.float32), np.zeros(65, np.float32)
k[(1,)](x[1:], y[1:], B=64)
""",
    "reductions and scans": """
@triton.jit
def k(x, y, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    a = tl.load(x + i * B + j)
    tl.store(y + tl.arange(0, B), tl.sum(a, 1) + tl.max(a, 0))
    tl.store(y + B + i * B + j, tl.cumsum(a, 1))
x = np.arange(1024, dtype=np.int32)
k[(1,)](x, np.zeros(32 + 1024, np.int32), B=32)
""",
    "a product": """
@triton.jit
def k(a, b, c, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    p = tl.dot(tl.load(a + i * B + j), tl.load(b + i * B + j))
    tl.store(c + i * B + j, p)
a = (np.arange(1024) % 7).astype(np.float16)
k[(1,)](a, a, np.zeros(1024, np.float32), B=32)
""",
    "atomics": """
@triton.jit
def k(x, h, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(h + tl.load(x + i) % 8, 1)
k[(4,)](np.arange(256, dtype=np.int32), np.zeros(8, np.int32), B=64)
""",
}
OUT_OF_BOUNDS = """
@triton.jit
def k(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))
k[(1,)](np.zeros(40, np.float32), np.zeros(64, np.float32), B=64)
"""


class TritonPtx(support.ScriptCase):
    triton = "ours"

    def run_by(self, command, text, *options):
        path = self.write(text, head=HEAD)
        return subprocess.run(
            [os.path.join(support.BUILD, "tkdbg"), command, *options,
             "--triton", "ours", "--python", sys.executable, path],
            env=support.environment(TKDBG_PYTHON=sys.executable),
            capture_output=True, text=True, timeout=300, cwd=self.folder.name)

    def test_exact_kernels(self):
        for name, text in EXACT.items():
            with self.subTest(name):
                done = self.run_by("diff", text, "--backend", "triton-ptx")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("all bits agree", done.stdout)
                self.assertNotIn(" differ by", done.stdout)

    def test_an_access_out_of_bounds(self):
        """It is found in Triton's code, and the kernel's line is named."""
        done = self.run_by("run", OUT_OF_BOUNDS, "--engine", "triton-ptx")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("out-of-bounds", done.stderr)
        self.assertRegex(done.stderr, r"script.py:\d+:\d+: the kernel is here\n"
                         r" *\d+ \|     tl.store\(y \+ i, tl.load")


if __name__ == "__main__":
    unittest.main()
