"""Tuples, named tuples and tensor descriptors as arguments."""
import collections
import os
import subprocess
import tempfile
import unittest
from typing import Any, NamedTuple

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from tkdbg import session as session_  # noqa: E402
from triton.language.core import builtin  # noqa: E402


class View(NamedTuple):
    ptr: Any
    shape: tuple
    scale: Any = 2


Closure = collections.namedtuple("Closure", "fn captured")


class TensorDescriptor:
    """What triton.tools has, for NumPy arrays."""

    def __init__(self, base, shape, strides, block_shape, padding="zero"):
        self.base, self.shape, self.strides = base, shape, strides
        self.block_shape, self.padding = block_shape, padding

    @staticmethod
    def from_tensor(base, block_shape):
        strides = [s // base.itemsize for s in base.strides]
        return TensorDescriptor(base, base.shape, strides, block_shape)


@builtin
def is_constexpr(v, _semantic=None):
    return isinstance(v, tl.constexpr)


@triton.jit
def scaled(x, factor):
    return x * tl.load(factor)


@triton.jit
def remake(ptr, shape):
    return View(ptr, shape=shape)


@triton.jit
def nested(z, t, u: tl.constexpr):
    tl.static_assert(t[1][1] is None)
    tl.static_assert(is_constexpr(t[1][0]) and t[1][3] == 4)
    tl.store(z, tl.load(t[0]))
    tl.store(z + 1, tl.load(t[1][2]) + t[2])
    tl.store(t[0], u[1])


@triton.jit
def named(closure, a, b):
    v = remake(b.ptr, a.shape)
    i = tl.arange(0, 8)
    x = tl.load(a.ptr + i, i < v.shape[0], 0)
    tl.store(v.ptr + i, closure.fn(x, *closure.captured) * v.scale)


@triton.jit
def missing(b):
    View(shape=b)


@triton.jit
def copied(src, dst, i, j):
    tl.static_assert(src.block_shape == [2, 4])
    x = src.load([i, j])
    tl.store(dst + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4), x)


def arrays():
    return (np.arange(3, dtype="i4") + 7, np.zeros(2, "i4"))


class Tuples(unittest.TestCase):

    def test_nested(self):
        x, z = arrays()
        nested[(1,)](z, (x, (1, None, x[1:], tl.constexpr(4)), 10), (0, 5))
        self.assertEqual(z.tolist(), [7, 18])
        self.assertEqual(x[0], 5)
        nested[(1,)](z, (x, (1, None, x[2:], tl.constexpr(4)), 30), (0, 6))
        self.assertEqual(z.tolist(), [5, 39])

    def test_launches_need_no_more_memory(self):
        x, z = arrays()
        peak = []
        for i in range(40):
            nested[(1,)](z, (x, (1, None, x, tl.constexpr(4)), i), (0, 5))
            peak.append(session_.current().runs.totals["peak"])
        self.assertEqual(peak[10], peak[-1])

    def test_named(self):
        x, y = np.arange(8, dtype="f4"), np.zeros(8, "f4")
        factor = np.full(1, 3, "f4")
        named[(1,)](Closure(scaled, (factor,)), View(x, (5,)), View(y, (8,)))
        self.assertEqual(y.tolist(), [0, 6, 12, 18, 24, 0, 0, 0])

    def test_missing_field(self):
        with self.assertRaisesRegex(triton.CompilationError, "field ptr"):
            missing[(1,)]((1, 2))

    def test_bounds_of_a_tensor_in_a_tuple(self):
        x, z = arrays()
        with self.assertRaisesRegex(Exception, r"t\[1\]\[2\]"):
            nested[(1,)](z, (x, (1, None, np.zeros(0, "i4"),
                                  tl.constexpr(4)), 0), (0, 5))

    def test_what_cannot_be_in_one(self):
        x, z = arrays()
        with self.assertRaisesRegex(TypeError, "object"):
            nested[(1,)](z, (x, object()), (0, 5))

    def test_record_and_replay(self):
        command = os.path.join(os.path.dirname(support.library()), "tkdbg")
        x, z = arrays()
        nested[(1,)](z, (x, (1, None, x[1:], tl.constexpr(4)), 10), (0, 5))
        session = session_.current()
        prepared = next(iter(nested._prepared.values()))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "launch.st")
            session.check(session.lib.tk_launch_record(prepared.ptr,
                                                       path.encode()))
            done = subprocess.run(
                [command, "replay", path, "--print", "z"],
                capture_output=True, text=True)
        self.assertIn("[ 5 18]", done.stdout + done.stderr)


class Descriptors(unittest.TestCase):

    def test_load(self):
        x, z = np.arange(16, dtype="f4").reshape(4, 4), np.zeros(8, "f4")
        copied[(1,)](TensorDescriptor.from_tensor(x, [2, 4]), z, 1, 0)
        self.assertEqual(z.tolist(), x[1:3].ravel().tolist())

    def test_padding_and_block(self):
        x, z = np.arange(16, dtype="f4").reshape(4, 4), np.ones(8, "f4")
        d = TensorDescriptor.from_tensor(x, [2, 4])
        copied[(1,)](d, z, 3, 1)
        self.assertEqual(z.tolist(), [13, 14, 15, 0, 0, 0, 0, 0])
        d.padding = "nan"
        copied[(1,)](d, z, 3, 1)
        self.assertTrue(np.isnan(z[3:]).all())
        d.block_shape = [2, 3]
        with self.assertRaisesRegex(triton.CompilationError, "power of 2"):
            copied[(1,)](d, z, 0, 0)

    def test_in_a_tuple(self):
        @triton.jit
        def both(t, z, n):
            tl.store(z + tl.arange(0, 4), t[0].load([n])[:] + t[1])
        x, z = np.arange(8, dtype="f4"), np.zeros(4, "f4")
        both[(1,)]((TensorDescriptor(x, [8], [1], [4]), 5), z, 2)
        self.assertEqual(z.tolist(), [7, 8, 9, 10])


if __name__ == "__main__":
    unittest.main()
