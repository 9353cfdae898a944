"""Compiling without running, and what the errors of it carry."""
import pickle
import textwrap
import unittest
import warnings

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True)

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.compiler.errors import CompilationError  # noqa: E402


@triton.jit
def odd_range(x):
    y = x + 1
    return tl.arange(2, 7)


@triton.jit
def through(x):
    return odd_range(x)


@triton.jit
def calls(X):
    # so that the call is in line 3
    through(X)


@triton.jit
def typed(X, n, c: tl.constexpr):
    tl.static_assert(X.dtype.element_ty == tl.float16)
    tl.static_assert(n.dtype == tl.int64)
    tl.store(X + n, c)


@triton.jit
def not_a_condition():
    c = tl.full((4,), 2, tl.uint32)
    tl.where(c, c, c)


def compile_(fn, signature=None, constexprs=None):
    return triton.compile(ASTSource(fn=fn, signature=signature or {},
                                    constexprs=constexprs or {}))


class Errors(unittest.TestCase):

    def test_chain_of_calls(self):
        with self.assertRaises(CompilationError) as c:
            calls[(1,)](np.zeros(1, "f4"))
        outer = c.exception
        self.assertIn("at 3:4:", str(outer))
        self.assertIsNone(outer.error_message)
        middle, inner = outer.__cause__, outer.__cause__.__cause__
        self.assertIn("at 2:11:", str(middle))
        self.assertIn("at 3:11:", str(inner))
        self.assertIn("power of 2", inner.error_message)
        self.assertIsInstance(inner.__cause__, ValueError)
        self.assertEqual(str(inner.__cause__),
                         "arange's range must be a power of 2")

    def test_assertions_have_no_cause(self):
        @triton.jit
        def fails():
            tl.static_assert(1 == 2)
        with self.assertRaises(CompilationError) as c:
            compile_(fails)
        self.assertIsNone(c.exception.__cause__)
        self.assertIn("at 2:4:", str(c.exception))

    def test_copies(self):
        with self.assertRaises(CompilationError) as c:
            calls[(1,)](np.zeros(1, "f4"))
        again = pickle.loads(pickle.dumps(c.exception))
        self.assertEqual(str(again), str(c.exception))
        self.assertEqual(str(c.exception.copy()), str(c.exception))

    def test_warnings_are_python_warnings(self):
        with self.assertWarnsRegex(UserWarning, "tl.where"):
            compile_(not_a_condition)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(UserWarning):
                compile_(triton.jit(not_a_condition.fn))


class Compile(unittest.TestCase):

    def test_signature(self):
        types = {"X": "*fp16", "n": "i64", "c": "constexpr"}
        kernel = compile_(typed, types, {"c": 3})
        self.assertIn("store", kernel.asm["ttir"])
        with self.assertRaises(CompilationError):
            compile_(typed, dict(types, X="*fp32"), {"c": 3})

    def test_unknown_types_and_files(self):
        with self.assertRaisesRegex(NotImplementedError, "'strange'"):
            compile_(typed, {"X": "strange", "n": "i64"}, {"c": 3})
        with self.assertRaisesRegex(NotImplementedError, "kernel.ttgir"):
            triton.compile("kernel.ttgir")


class Executed(unittest.TestCase):

    def test_kernel_made_by_exec(self):
        text = textwrap.dedent('''
            @triton.jit
            def made(z):
                tl.store(z, 41 + 1)
        ''')
        namespace = {}
        exec(text, globals(), namespace)
        z = np.zeros(1, "i4")
        namespace["made"][(1,)](z)
        self.assertEqual(z[0], 42)

    def test_without_text(self):
        parts = ["@triton.jit\n", "def made(z):\n", "    pass\n"]
        with self.assertRaisesRegex(ValueError, "Python file"):
            exec("".join(parts), globals(), {})


@unittest.skipUnless(support.has("torch") and support.has("pytest"),
                     "torch or pytest is not installed")
class InternalTesting(unittest.TestCase):

    def test_round_trip(self):
        from triton import _internal_testing as helpers
        rs = np.random.RandomState(3)
        for name in helpers.dtypes_with_bfloat16:
            x = helpers.numpy_random((8,), name, rs)
            tensor = helpers.to_triton(x, "cpu", dst_type=name)
            np.testing.assert_array_equal(helpers.to_numpy(tensor), x)
            self.assertEqual(helpers.str_to_triton_dtype(name).codegen_name(),
                             name)
        self.assertFalse(helpers.is_interpreter())
        self.assertEqual(helpers.requires_tma.name, "skipif")


if __name__ == "__main__":
    unittest.main()
