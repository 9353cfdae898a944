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
# The same for Hopper: products by warpgroups, copies by tensor maps.
HOPPER = {
    "a product by a warpgroup": """
@triton.jit
def k(a, b, c, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    p = tl.dot(tl.load(a + i * B + j), tl.load(b + j * B + i))
    tl.store(c + i * B + j, p)
a = (np.arange(4096) % 7).astype(np.float16)
k[(1,)](a, a, np.zeros(4096, np.float32), B=64)
""",
    "tensor maps": """
@triton.jit
def k(a, b, c, N, B: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [N, N], [N, 1], [B, B])
    y = tl.make_tensor_descriptor(b, [N, N], [N, 1], [B, B])
    z = tl.make_tensor_descriptor(c, [N, N], [N, 1], [B, B])
    sum = tl.zeros((B, B), tl.float32)
    for i in range(0, N, B):
        sum = tl.dot(x.load([tl.program_id(0) * B, i]), y.load([i, 0]), sum)
    z.store([tl.program_id(0) * B, 0], sum.to(tl.float16))
a = (np.arange(96 * 96) % 5).astype(np.float16)
k[(2,)](a, a, np.zeros(96 * 96, np.float16), 96, B=64)
""",
}
HOST_DESCRIPTORS = """
import torch
from triton.tools.tensor_descriptor import TensorDescriptor
@triton.jit
def k(n, x, y):
    for i in range(0, n, 16):
        y.store([i, 0], x.load([i, 8]))
x = torch.arange(40 * 64).reshape(40, 64).cuda().to(torch.float16)
y = torch.zeros(40, 64, dtype=torch.float16, device="cuda")
k[(1,)](40, *(TensorDescriptor.from_tensor(t, [16, 32]) for t in (x, y)))
"""
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

    def test_exact_kernels_for_hopper(self):
        for name, text in HOPPER.items():
            with self.subTest(name):
                done = self.run_by("diff", text, "--backend", "triton-ptx",
                                   "--arch", "sm_90")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("all bits agree", done.stdout)
                self.assertNotIn(" differ by", done.stdout)

    def test_descriptors_of_the_host(self):
        """A tensor map for sm_90, the parts of the descriptor for sm_80."""
        support.need("torch")
        for arch in "sm_90", "sm_80":
            with self.subTest(arch):
                done = self.run_by("diff", HOST_DESCRIPTORS, "--backend",
                                   "triton-ptx", "--arch", arch)
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
