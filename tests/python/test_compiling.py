"""Compiling without running, and what the errors of it carry."""
import ast
import functools
import pickle
import textwrap
import types
import unittest
import warnings

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

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


@triton.jit
def add_one(p):
    tl.store(p, tl.load(p) + 1)


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
        self.assertIsInstance(outer, triton.runtime.errors.InterpreterError)
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

    def test_source_and_syntax(self):
        """Where it is wrong, as Triton's own errors say it."""
        with self.assertRaises(CompilationError) as caught:
            calls[(1,)](np.zeros(1, "f4"))
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(error.src, calls.src)
        self.assertEqual(ast.unparse(error.node), "through(X)")
        self.assertEqual(error.node.lineno, 3)
        self.assertEqual(error.message, str(caught.exception))
        inner = caught.exception.__cause__.__cause__
        self.assertEqual(ast.unparse(inner.node), "tl.arange(2, 7)")
        self.assertEqual(inner.src, odd_range.src)

        @triton.jit
        def unknown():
            nowhere
        with self.assertRaises(CompilationError) as caught:
            unknown[(1,)]()
        self.assertIsInstance(caught.exception.node, ast.Name)
        self.assertEqual(caught.exception.error_message,
                         "NameError('nowhere is not defined')")

    def test_text_of_an_assertion(self):
        @triton.jit
        def asserts(said: tl.constexpr):
            if said:
                tl.static_assert(False, "why")
            tl.static_assert(False)
        for said, text in ((True, "why"), (False, "")):
            with self.assertRaises(CompilationError) as caught:
                asserts[(1,)](said)
            self.assertEqual(caught.exception.error_message, text)

    def test_argument_is_wrong_at_its_call(self):
        @triton.jit
        def fails():
            tl.expand_dims(None, -1)
        with self.assertRaises(CompilationError) as c:
            compile_(fails)
        self.assertIn("at 2:4:", str(c.exception))

    def test_copies(self):
        with self.assertRaises(CompilationError) as c:
            calls[(1,)](np.zeros(1, "f4"))
        again = pickle.loads(pickle.dumps(c.exception))
        self.assertEqual(str(again), str(c.exception))
        self.assertEqual(str(c.exception.copy()), str(c.exception))

    def test_warnings_are_python_warnings(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(UserWarning, "tl.where"):
                compile_(not_a_condition)


class Compile(unittest.TestCase):

    def test_signature(self):
        types = {"X": "*fp16", "n": "i64", "c": "constexpr"}
        kernel = compile_(typed, types, {"c": 3})
        self.assertIn("store", kernel.asm["ttir"])
        with self.assertRaises(CompilationError):
            compile_(typed, dict(types, X="*fp32"), {"c": 3})

    def test_descriptors(self):
        @triton.jit
        def kernel(d, p):
            tl.static_assert(d.block_shape[1] == 8)
            tl.store(p + tl.arange(0, 8), tl.sum(d.load([0, 0]), 0))
        compile_(kernel, {"d": "tensordesc<fp16[4, 8]>", "p": "*fp32"})

    def test_options(self):
        """What scripts may read of a kernel that was compiled."""
        kernel = compile_(add_one, {"p": "*fp32"})
        self.assertEqual(kernel.metadata.ir_override, None)
        self.assertEqual(kernel.metadata.extern_libs, ())
        self.assertIs(add_one.warmup(np.zeros(1, "f4"), num_stages=-1, grid=(
            1,)).metadata.num_stages, -1)

    def test_unknown_types_and_files(self):
        with self.assertRaisesRegex(NotImplementedError, "'strange'"):
            compile_(typed, {"X": "strange", "n": "i64"}, {"c": 3})
        with self.assertRaisesRegex(NotImplementedError, "kernel.ttgir"):
            triton.compile("kernel.ttgir")
        with self.assertRaises(KeyError):
            compile_(add_one, {"p": "*fp33"})


class Names(unittest.TestCase):

    def test_repr_names_the_compiled_kernel(self):
        def name(specialization):
            ones = [k for k, v in specialization.constants.items() if v == 1]
            return f"k_{specialization.signature['n']}_{'_'.join(ones)}"

        @triton.jit(repr=name)
        def kernel(n, one, X, c: tl.constexpr):
            pass
        for n, text in ((-1, "i32"), (1 << 40, "i64"), (1 << 63, "u64"),
                        (2.5, "fp32"), (True, "u1")):
            found = kernel[(1,)](n, 1, np.zeros(1, "f4"), 5)
            self.assertEqual(found.name, f"k_{text}_one")

    def test_repr_gives_an_identifier(self):
        @triton.jit(repr=lambda specialization: "no name")
        def kernel():
            pass
        with self.assertRaisesRegex(CompilationError,
                                    "invalid function identifier: no name"):
            kernel[(1,)]()

    def test_functions_under_another_name(self):
        def kernel(z):
            tl.store(z, 5)
        code = types.FunctionType(kernel.__code__, kernel.__globals__, "other")
        z = np.zeros(1, "f4")
        triton.jit(code)[(1,)](z)
        self.assertEqual(z[0], 5)

    def test_constexprs_are_always_specialised(self):
        @triton.jit(do_not_specialize=["c"])
        def kernel(c: tl.constexpr):
            pass
        with self.assertRaisesRegex(CompilationError, "c marked as"):
            kernel[(1,)](3)


class Annotations(unittest.TestCase):

    def test_set_by_a_decorator(self):
        def annotate(text):
            def decorate(fn):
                fn.__annotations__ = {"v": text, "T": tl.constexpr}
                return fn
            return decorate
        for text, value, want in (
                ("tl.uint8", 257, 1), ("tl.int16", -3, -3), ("uint1", 3, 1),
                ("tl.bfloat16", 1.00390625, 1), ("fp16", 0.1, 0.0999755859),
                ("double", 0.1, 0.1)):
            @triton.jit
            @annotate(text)
            def kernel(X, v, T: tl.constexpr):
                tl.static_assert(v.dtype == T)
                tl.store(X, v)
            x = np.zeros(1, "f8")
            kernel[(1,)](x, value, tl.str_to_ty(triton.runtime.jit.KernelParam(
                0, kernel.signature.parameters["v"], 0, 0).annotation_type))
            self.assertAlmostEqual(x[0], want)


    def test_numbers_that_do_not_fit(self):
        """Triton's launchers take some, and refuse others."""
        for kind, value, want in (
                ("int8", 200, -56), ("uint8", -1, 255), ("int16", -3, -3),
                ("uint32", (1 << 33) + 1, 1), ("int64", True, 1)):
            self.assertEqual(self.stored(kind, value), want)
        for kind, value, text in (
                ("int8", -1, "unsigned byte integer is less than minimum"),
                ("int8", 256, "unsigned byte integer is greater than max"),
                ("int16", 1 << 15, "signed short integer is greater"),
                ("int32", 1 << 31, "signed integer is greater than maximum"),
                ("int32", -1 << 32, "signed integer is less than minimum")):
            with self.assertRaisesRegex(OverflowError, text):
                self.stored(kind, value)
        with self.assertRaisesRegex(TypeError, "cannot be interpreted as an"):
            self.stored("int32", 1.9)

    @staticmethod
    def stored(kind, value):
        def kernel(X, v):
            tl.store(X, v.to(tl.int64))
        kernel.__annotations__ = {"v": kind}
        x = np.zeros(1, "i8")
        triton.jit(kernel)[(1,)](x, value)
        return x[0]


class Random(unittest.TestCase):

    def test_seed_is_an_integer(self):
        @triton.jit
        def kernel(X, seed):
            tl.store(X + tl.arange(0, 4), tl.rand(seed, tl.arange(0, 4)))
        x = np.zeros(4, "f4")
        for seed in (2.5, np.zeros(1, "i4")):
            with self.assertRaisesRegex(CompilationError, "integer"):
                kernel[(1,)](x, seed)


@triton.jit
def product(x, z, HOW: tl.constexpr, P: tl.constexpr = None):
    i = tl.arange(0, 16)
    x = tl.load(x + i[:, None] * 16 + i)
    if HOW == "left out":
        y = tl.dot(x, x)
    elif HOW == "precision":
        y = tl.dot(x, x, input_precision=P)
    elif HOW == "allow":
        y = tl.dot(x, x, allow_tf32=P)
    else:
        y = tl.dot(x, x, None, P, P)
    tl.store(z + i[:, None] * 16 + i, y)


class Precision(unittest.TestCase):
    """Which precision a product has, as Triton's front end chooses it."""

    def chosen(self, how, value=None, **options):
        x, z = np.full((16, 16), 1 + 2.0**-12, "f4"), np.ones((16, 16), "f4")
        product[(1,)](x, z, how, value, **options)
        return "tf32" if z[0, 0] == 16 else "ieee"

    def test_defaults(self):
        self.assertEqual(self.chosen("left out"), "tf32")
        self.assertEqual(self.chosen("precision"), "tf32")
        self.assertEqual(self.chosen("allow"), "ieee")
        self.assertEqual(self.chosen("allow", True), "tf32")
        self.assertEqual(self.chosen("allow", False), "ieee")
        with self.assertRaisesRegex(CompilationError, "only one of"):
            self.chosen("both")

    def test_default_dot_input_precision(self):
        options = {"default_dot_input_precision": "ieee"}
        self.assertEqual(self.chosen("precision", **options), "ieee")
        for how, value in (("left out", None), ("precision", "tf32"),
                           ("allow", True)):
            self.assertEqual(self.chosen(how, value, **options), "tf32")

    def test_allowed_dot_input_precisions(self):
        options = {"allowed_dot_input_precisions": ("ieee", "tf32x3")}
        for how, value in (("left out", None), ("allow", True),
                           ("precision", "IEEE"), ("precision", "tf32x3")):
            self.assertEqual(self.chosen(how, value, **options), "ieee")
        for value in (None, "tf32", "bf16x3", "nothing"):
            with self.assertRaisesRegex(CompilationError, "must be one of "
                                        "ieee,tf32x3, not"):
                self.chosen("precision", value, **options)


def through_wrapper(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args)
    return wrapper


class Replaced(unittest.TestCase):

    def test_wrapped(self):
        @triton.jit
        @through_wrapper
        def kernel(z, v: tl.constexpr):
            tl.store(z, v)
        z = np.zeros(1, "i4")
        kernel[(1,)](z, 3)
        self.assertEqual(z[0], 3)
        self.assertTrue(kernel.src.startswith("def kernel(z, v"))
        kernel._unsafe_update_src(kernel.src.replace("v)", "v + 1)"))
        kernel[(1,)](z, 3)
        self.assertEqual(z[0], 4)


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
        found = {}
        exec("".join(parts), globals(), found)
        self.assertIn("pass", found["made"].src)


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
        self.assertFalse(helpers.is_hip_mi300())
        spelled = triton.runtime.jit.type_canonicalisation_dict
        self.assertEqual(tl.str_to_ty(spelled["float8_e5m2"], None),
                         tl.float8e5)
        self.assertEqual(spelled["fp32"], spelled["float"])

    def test_microscaling(self):
        import torch
        from triton.tools.mxfp import MXFP4Tensor, MXScaleTensor
        values = torch.tensor([0.25, 0.75, 2.5, 7, -5, float("nan"), 1.25])
        four = MXFP4Tensor(values)
        self.assertEqual(four.to(torch.float32).tolist(),
                         [0, 1, 2, 6, -4, 6, 1])
        again = four.unpack_packed_tensor(four.to_packed_tensor(0), 0, (7,))
        self.assertEqual(again.tolist(), four.data.tolist())
        scale = MXScaleTensor(torch.tensor([1.0, 3.9, 0.5, 0, -1]))
        self.assertEqual(scale.data.tolist(), [127, 128, 126, 255, 255])
        self.assertEqual(scale.to(torch.float32)[:3].tolist(), [1, 2, 0.5])
        drawn = MXScaleTensor(size=8).random(0.5, 2.0).to(torch.float32)
        self.assertTrue(((drawn >= 0.5) & (drawn <= 2)).all())


if __name__ == "__main__":
    unittest.main()
