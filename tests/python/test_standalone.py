"""``tkdbg report``: a launch file as one Python file to attach."""
import os
import subprocess
import sys
import tempfile
import unittest

import support

support.need("library", "numpy")

KERNEL = """
import triton, triton.language as tl
N = tl.constexpr(5)

@triton.jit
def helper(v, by: tl.constexpr):
    return v * by + N

@triton.autotune(configs=[triton.Config({})], key=[])
@triton.jit
def k(x, y, n, by: tl.constexpr = 3, B: tl.constexpr = 32):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, helper(tl.load(x + i, i < n, other=1), by), i < n)
"""
HOST = """
import numpy as np
x, y = np.arange(65, dtype=np.int64), np.zeros(64, np.int64)
k[(2,)](x[1:], y, 40)
x[1] = y.ctypes.data
k[(2,)](x[1:], y, 40)
"""


class Report(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tkdbg-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "r.safetensors")

    def tkdbg(self, *words):
        return subprocess.run(
            [os.path.join(support.BUILD, "tkdbg"), *words], cwd=self.folder,
            capture_output=True, text=True, check=False,
            env=support.environment(TKDBG_PYTHON=sys.executable))

    def record(self, dtype="i32", size=64):
        """A launch that the command line describes."""
        self.run_recorded(KERNEL, "--kernel", "k", "--grid", "2", "--arg",
                          f"x={dtype}[{size}]:arange", "--arg",
                          f"y={dtype}[64]:zeros", "--arg", "n=40",
                          "--option", "num_warps=2")

    def run_recorded(self, text, *words):
        script = os.path.join(self.folder, "s.py")
        with open(script, "w", encoding="utf-8") as f:
            f.write(text)
        return self.tkdbg("run", "-q", *words, "--record", self.path, script)

    def report(self, *words):
        done = self.tkdbg("report", self.path, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refused(self, why, *words):
        done = self.tkdbg("report", self.path, *words)
        self.assertEqual(done.returncode, 2)
        self.assertIn(why, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def launched(self, text):
        """What the file says and ends with, by Triton's interpreter."""
        if not support.real_triton():
            self.skipTest("Triton is not installed")
        path = os.path.join(self.folder, "report.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run(
            [sys.executable, path], capture_output=True, text=True,
            check=False, env=dict(os.environ, TRITON_INTERPRET="1"))
        return done.returncode, done.stdout.split("\n", 1)[-1], done.stderr

    def test_the_file_needs_nothing_else(self):
        self.record()
        text = self.report()
        compile(text, "report.py", "exec")
        for wanted in ("@triton.jit\ndef k(x, y, n,", "N = tl.constexpr(5)",
                       "@triton.jit\ndef helper(v,", "GRID = (2, 1, 1)",
                       "'num_warps': 2", "RTOL, ATOL = 0.0, 0.0",
                       "tkdbg report r.safetensors"):
            self.assertIn(wanted, text)
        self.assertNotIn("autotune", text)
        self.assertNotIn("import tkdbg", text)

    def test_right_values_pass_and_others_fail(self):
        self.record()
        text = self.report()
        self.assertEqual(self.launched(text),
                         (0, "all tensors are as they must be\n", ""))
        broken = text.replace("return v * by + N", "return v * by - N")
        self.assertNotEqual(broken, text)
        self.assertEqual(self.launched(broken), (
            1, "y: 40 of 64 elements are wrong; y[0] is -5, not 5\nwrong\n",
            ""))

    def test_how_far_numbers_may_be_off(self):
        self.record(dtype="f32")
        broken = ("return v * by + N", "return v * by * 1.001 + N")
        near = self.report("--rtol", "0.01", "--atol", "1e-3")
        self.assertIn("RTOL, ATOL = 0.01, 0.001", near)
        self.assertIn("report --rtol 0.01 --atol 1e-3 r.safetensors", near)
        self.assertEqual(self.launched(near.replace(*broken))[0], 0)

    def test_addresses(self):
        for launch in "1", "2":
            done = self.run_recorded(KERNEL + HOST, "--triton", "ours",
                                     "--kernel", "k", "--launch", launch)
            self.assertEqual(done.stderr, "")
            if launch == "2":
                self.refused("'x' holds the address of a tensor")
                continue
            text = self.report()
            self.assertIn("N = tl.constexpr(5)", text)
            self.assertRegex(text, r"'x': \('.*', torch.int64, 8, \(64,\)")

    def test_what_is_refused(self):
        self.record()
        self.refused("--rtol x: a number is expected", "--rtol", "x")
        self.refused("--atol -1: a number is expected", "--atol", "-1")
        self.refused("nowhere/r.py: No such file", "--output", "nowhere/r.py")
        with open(self.path, "r+b") as f:
            f.truncate(40)
        self.refused("r.safetensors")
        os.unlink(self.path)
        self.refused("r.safetensors: No such file")

    def test_a_launch_that_fails_says_so(self):
        self.record(size=20)
        done = self.tkdbg("report", self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("out-of-bounds", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
