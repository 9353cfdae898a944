"""tkdbg.verify: a sample of calls compared with a reference, by NumPy."""
import os
import shutil
import subprocess
import tempfile
import unittest

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

BUILD = support.BUILD


@triton.jit
def scale(x, z, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


def scaled(x, s, grid=2):
    z = np.zeros_like(x)
    scale[(grid,)](x, z, len(x), s, BLOCK=16)
    return z


class Verify(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.x = np.arange(32, dtype=np.float32)

    def verify(self, function, reference, **rules):
        return tkdbg.verify(function, reference, folder=self.folder, **rules)

    def test_right_calls_return_what_the_function_returns(self):
        call = self.verify(scaled, lambda x, s: x * np.float32(s))
        np.testing.assert_array_equal(call(self.x, 3.0), self.x * 3)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_wrong_call_is_recorded_for_why(self):
        call = self.verify(scaled, lambda x, s, grid: x * np.float32(s))
        with self.assertRaises(AssertionError) as caught:
            call(self.x, 3.0, grid=1)  # the second half is not written
        error, text = caught.exception, str(caught.exception)
        self.assertIn("scaled, call 1: the result is wrong: 16 of 32", text)
        self.assertIn("first [16]: 0, the reference gives 48", text)
        self.assertTrue(os.path.exists(error.record))
        np.testing.assert_array_equal(np.load(error.expected), self.x * 3)
        command = text.split("to see why: ")[1].split()
        command[0] = os.path.join(BUILD, "tkdbg")
        said = subprocess.run(command, capture_output=True, text=True)
        self.assertIn("only the tail is wrong", said.stdout + said.stderr)

    def test_every_third_call_is_compared(self):
        asked = []

        def reference(x, s):
            asked.append(s)
            return x * np.float32(s)
        call = self.verify(scaled, reference, every=3)
        for s in range(1, 8):
            call(self.x, float(s))
        self.assertEqual(asked, [1.0, 4.0, 7.0])

    def test_a_kernel_with_its_grid_is_compared_by_its_arguments(self):
        def reference(x, z, n, s, BLOCK):
            z[:] = x * np.float32(s)
        kernel, z = self.verify(scale, reference), np.zeros_like(self.x)
        kernel[(2,)](self.x, z, 32, 2.0, BLOCK=16)
        np.testing.assert_array_equal(z, self.x * 2)
        with self.assertRaisesRegex(AssertionError, "--expect z=@"):
            kernel[(1,)](self.x, np.zeros_like(z), 32, 2.0, BLOCK=16)

    def test_a_server_goes_on(self):
        errors = []
        call = self.verify(scaled, lambda x, s: x * np.float32(s + 1),
                           on_failure=errors.append)
        np.testing.assert_array_equal(call(self.x, 2.0), self.x * 2)
        self.assertEqual(len(errors), 1)

    def test_what_no_launch_wrote_is_said(self):
        call = self.verify(lambda x: x + 1, lambda x: x)
        with self.assertRaisesRegex(AssertionError, "no launch that was"):
            call(self.x)

    def test_a_tolerance_replaces_the_usual_one(self):
        off = self.verify(scaled, lambda x, s: x * np.float32(s * 1.001))
        with self.assertRaises(AssertionError):
            off(self.x, 2.0)
        self.verify(scaled, lambda x, s: x * np.float32(s * 1.001),
                    rtol=1e-2)(self.x, 2.0)

    def test_every_is_checked(self):
        with self.assertRaisesRegex(tkdbg.UsageError, "at least 1, not 0"):
            self.verify(scaled, scaled, every=0)


if __name__ == "__main__":
    unittest.main()
