"""What free names of kernels mean: globals, closures, modules, helpers."""
import collections
import enum
import math
import operator
import os
import sys
import tempfile
import textwrap
import types
import unittest

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.language import program_id  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402

SIZE = tl.constexpr(8)
NOTED: tl.constexpr = 16
PLAIN = 4
CHANGING = tl.constexpr(1)
Point = collections.namedtuple("Point", "x y")
ORIGIN = tl.constexpr(Point(3, 4))
plain_settings = types.SimpleNamespace(width=tl.constexpr(5))
settings = tl.constexpr(plain_settings)
F32 = tl.float32


class Color(enum.Enum):
    RED = 7


@triton.jit
def helper(v):
    return v + 1


@tl.constexpr
def doubled(n):
    assert isinstance(n, tl.constexpr), n
    return n * 2


@tl.constexpr
def unsigned_of(dtype):
    assert dtype.is_int()
    dtype = dtype.value if isinstance(dtype, tl.constexpr) else dtype
    return tl.core.get_int_dtype(dtype.primitive_bitwidth, False)


@triton.constexpr_function
def compute(a, b=2):
    return a * 10 + b


@triton.jit
def uses_changing(z):
    tl.store(z, CHANGING)


def run(kernel, n=1, dtype="f4", *args):
    z = np.zeros(n, dtype)
    kernel[(1,)](z, *args)
    return z[0] if n == 1 else z


class Globals(unittest.TestCase):
    def test_constexpr(self):
        @triton.jit
        def kernel(z):
            tl.store(z + tl.arange(0, SIZE), 1)
        self.assertEqual(run(kernel, 8).sum(), 8)

    def test_an_annotation_alone_makes_no_constexpr(self):
        @triton.jit
        def kernel(z):
            tl.store(z, NOTED)
        with self.assertRaisesRegex(tkdbg.CompilationError, "annotation"):
            run(kernel)

    def test_plain_object_is_refused(self):
        @triton.jit
        def kernel(z):
            tl.store(z, plain_settings.width)
        with self.assertRaisesRegex(tkdbg.CompilationError, "plain_settings"):
            run(kernel)

    def test_function_of_a_module(self):
        @triton.jit
        def kernel(z, n: tl.constexpr):
            tl.store(z, math.log2(n) + math.ceil(n / 3))
        self.assertEqual(run(kernel, 1, "f4", 16), 10)

    def test_annotations(self):
        @triton.jit
        def kernel(z, n: int | None, x: float):
            tl.static_assert(x.dtype == tl.float32)
            if n is None:
                tl.store(z, x)
            else:
                tl.store(z, n)
        self.assertEqual(run(kernel, 1, "f4", None, 2), 2)
        self.assertEqual(run(kernel, 1, "f4", 5, 2), 5)

    def test_an_annotation_that_kernels_cannot_read(self):
        @triton.jit
        def kernel(z, n: bool):
            tl.store(z, n)
        with self.assertRaisesRegex(tkdbg.CompilationError, "bool"):
            run(kernel, 1, "f4", True)

    def test_unions_are_of_a_type_and_none(self):
        @triton.jit
        def either(z, n: tl.constexpr | int):
            tl.store(z, n)

        @triton.jit
        def any_of(z, n: tl.tensor | float | None):
            tl.store(z, n)

        @triton.jit
        def optional(z, n: "int | float" = 1, b: tl.constexpr | None = 2):
            tl.store(z, n + b)
        for kernel in either, any_of:
            with self.assertRaisesRegex(tkdbg.CompilationError,
                                        "only between a type and None"):
                run(kernel, 1, "f4", 3)
        self.assertEqual(run(optional, 1, "f4"), 3)

    def test_annotations_of_a_decorator(self):
        def annotated(fn):
            fn.__annotations__ = {"x": tl.float16}
            return fn

        @triton.jit
        @annotated
        def kernel(z, x):
            tl.static_assert(x.dtype == tl.float16)
            tl.store(z, x)
        self.assertEqual(run(kernel, 1, "f4", 0.5), 0.5)

    def test_precision_of_products(self):
        @triton.jit
        def kernel(z, a):
            i = tl.arange(0, 16)
            at = i[:, None] * 16 + i[None, :]
            x = tl.load(a + at)
            tl.store(z + at, tl.dot(x, x))
        a = np.full((16, 16), 1 + 2.0**-20, "f4")
        tf32 = run(kernel, 256, "f4", a)[0]
        before = os.environ.get("TRITON_F32_DEFAULT")
        os.environ["TRITON_F32_DEFAULT"] = "ieee"
        try:
            self.assertGreater(run(kernel, 256, "f4", a)[0], tf32)
        finally:
            del os.environ["TRITON_F32_DEFAULT"]
            if before is not None:
                os.environ["TRITON_F32_DEFAULT"] = before

    def test_plain_is_refused(self):
        @triton.jit
        def kernel(z):
            tl.store(z, PLAIN)
        with self.assertRaisesRegex(tkdbg.CompilationError, "PLAIN"):
            run(kernel)

    def test_plain_allowed_by_the_environment(self):
        @triton.jit
        def kernel(z):
            tl.store(z, PLAIN)
        os.environ["TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"] = "1"
        try:
            self.assertEqual(run(kernel), 4)
        finally:
            del os.environ["TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"]

    def test_closure(self):
        def make(k):
            width = tl.constexpr(k)

            @triton.jit
            def kernel(z):
                tl.store(z, width)
            return kernel
        one, two = make(1), make(2)
        self.assertEqual((run(one), run(two), run(one)), (1, 2, 1))

    def test_change_is_an_error(self):
        global CHANGING
        self.assertEqual(run(uses_changing), 1)
        before, CHANGING = CHANGING, tl.constexpr(2)
        try:
            with self.assertRaisesRegex(RuntimeError, "CHANGING has changed"):
                run(uses_changing)
        finally:
            CHANGING = before
        self.assertEqual(run(uses_changing), 1)

    def test_dtype(self):
        @triton.jit
        def kernel(z):
            tl.store(z, tl.full((), 2.5, F32))
        self.assertEqual(run(kernel), 2.5)

    def test_namedtuple(self):
        @triton.jit
        def kernel(z):
            tl.store(z, ORIGIN.x + ORIGIN[1])
        self.assertEqual(run(kernel), 7)

    def test_object_attribute(self):
        @triton.jit
        def kernel(z):
            tl.store(z, settings.width)
        self.assertEqual(run(kernel), 5)

    def test_enum(self):
        @triton.jit
        def kernel(z, c: tl.constexpr):
            tl.static_assert(c.name == "RED")
            tl.store(z, c.value.value)
        self.assertEqual(run(kernel, 1, "f4", Color.RED), 7)

    def test_a_constexpr_holds_the_member_itself(self):
        @triton.jit
        def of_value(z, c: tl.constexpr):
            tl.store(z, c.value)

        @triton.jit
        def of_constexpr(z, c: tl.constexpr):
            tl.store(z, c)

        @triton.jit
        def of_kind(z, c: tl.constexpr):
            tl.store(z, tl.int8.kind())
        for kernel, said in [
                (of_value, "cannot convert Color.RED to a tensor(.*\n)*"
                           ".*its number is its .value"),
                (of_constexpr, "cannot convert Color.RED to a tensor(.*\n)*"
                               ".*its number is its .value.value"),
                (of_kind, "cannot convert KIND.INTEGRAL to a tensor")]:
            with self.subTest(kernel=kernel.fn.__name__):
                with self.assertRaisesRegex(tkdbg.CompilationError, said):
                    run(kernel, 1, "f4", Color.RED)

    def test_unknown_name(self):
        @triton.jit
        def kernel(z):
            tl.store(z, SISE)  # noqa: F821
        with self.assertRaisesRegex(tkdbg.CompilationError, "SIZE"):
            run(kernel)


class Functions(unittest.TestCase):
    def test_helper(self):
        @triton.jit
        def kernel(z):
            tl.store(z, helper(41))
        self.assertEqual(run(kernel), 42)

    def test_local_helper(self):
        @triton.jit
        def inner(v):
            return v * 3

        @triton.jit
        def kernel(z):
            tl.store(z, inner(5))
        self.assertEqual(run(kernel), 15)

    def test_constexpr_function(self):
        @triton.jit
        def kernel(z):
            tl.store(z, compute(4, b=3))
        self.assertEqual(run(kernel), 43)
        self.assertEqual(compute(1), 12)

    def test_plain_function_in_a_constexpr(self):
        @triton.jit
        def kernel(z, N: tl.constexpr):
            kind: tl.constexpr = unsigned_of(z.dtype.element_ty)
            tl.store(z, tl.full((), doubled(N) + 1, kind).to(tl.int32))
        self.assertEqual(run(kernel, 1, "i4", 3), 7)

    def test_plain_function_of_a_module(self):
        module = types.ModuleType("some_helpers")
        module.half = lambda n: n // 2

        @triton.jit
        def kernel(z, N: tl.constexpr):
            tl.store(z, module.half(N))
        self.assertEqual(run(kernel, 1, "i4", 6), 3)

    def test_plain_function_is_refused(self):
        def plain(n):
            return n

        @triton.jit
        def kernel(z):
            tl.store(z, plain(4))
        with self.assertRaisesRegex(tkdbg.CompilationError, "not plain Py"):
            run(kernel)

    def test_constexpr_function_that_raises(self):
        @triton.constexpr_function
        def broken(x):
            raise ValueError("no good")

        @triton.jit
        def kernel(z):
            tl.store(z, broken(1))
        with self.assertRaisesRegex(tkdbg.CompilationError, "no good") as c:
            run(kernel)
        self.assertIsInstance(c.exception.__cause__, ValueError)

    def test_triton_cdiv(self):
        @triton.jit
        def kernel(z, N: tl.constexpr):
            tl.store(z, triton.cdiv(N, 4) + triton.next_power_of_2(N))
        self.assertEqual(run(kernel, 1, "f4", 9), 3 + 16)

    def test_triton_cdiv_of_a_tensor(self):
        @triton.jit
        def kernel(z, n):
            tl.store(z, triton.cdiv(n, 4))
        with self.assertRaisesRegex(tkdbg.CompilationError, "write tl.cdiv"):
            run(kernel, 1, "f4", 9)

    def test_python_functions_but_those_of_math(self):
        @triton.jit
        def kernel(z, N: tl.constexpr):
            tl.store(z, operator.add(N, 1))
        with self.assertRaisesRegex(tkdbg.CompilationError, "plain Python"):
            run(kernel, 1, "f4", 9)

    def test_what_the_language_has_too(self):
        @triton.jit
        def block(z):
            tl.store(z, np.exp(tl.load(z)))

        @triton.jit
        def call(z):
            tl.store(z, tl.sum(np.arange(0, 16)))

        @triton.jit
        def name(z):
            tl.store(z, np.maximm(3, 4))
        for kernel, wanted in (block, "exp"), (call, "arange"), (
                name, "maximum"):
            with self.assertRaisesRegex(tkdbg.CompilationError,
                                        rf"did you mean tl\.{wanted}\?"):
                run(kernel)

    def test_limits_of_numpy_dtypes(self):
        @triton.jit
        def kernel(z):
            tl.store(z, np.iinfo(np.int16).max)
        self.assertEqual(run(kernel), 32767)

    def test_builtins(self):
        @triton.jit
        def kernel(z, N: tl.constexpr):
            tl.store(z, min(N, 5) + max(N, 5))
        self.assertEqual(run(kernel, 1, "f4", 9), 14)

    def test_imported_operation(self):
        @triton.jit
        def kernel(z):
            tl.store(z, program_id(0) + 6)
        self.assertEqual(run(kernel), 6)

    def test_math_constant(self):
        @triton.jit
        def kernel(z):
            tl.store(z, math.pi)
        self.assertAlmostEqual(run(kernel), math.pi, places=6)

    def test_plain_function_is_refused(self):
        def plain(x):
            return x

        @triton.jit
        def kernel(z):
            tl.store(z, plain(1))
        with self.assertRaises(tkdbg.CompilationError):
            run(kernel)


class Files(unittest.TestCase):
    """Helpers that live in other files."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        sys.path.insert(0, self.folder.name)
        self.addCleanup(self._clean)

    def _clean(self):
        sys.path.remove(self.folder.name)
        sys.modules.pop("kernel_helpers_x", None)
        self.folder.cleanup()

    def write(self, text):
        path = os.path.join(self.folder.name, "kernel_helpers_x.py")
        with open(path, "w") as f:
            f.write(textwrap.dedent(text))

    def test_module_attribute_and_import(self):
        self.write("""
            import triton
            import triton.language as tl
            FACTOR = tl.constexpr(3)

            @triton.jit
            def triple(v):
                return v * FACTOR
        """)
        import kernel_helpers_x as helpers
        from kernel_helpers_x import triple

        @triton.jit
        def kernel(z):
            tl.store(z, helpers.triple(2) + triple(1) + helpers.FACTOR)
        self.assertEqual(run(kernel), 12)

    def test_report_names_the_other_file(self):
        self.write("""
            import triton
            import triton.language as tl

            @triton.jit
            def bad(v):
                return v + missing_name
        """)
        import kernel_helpers_x as helpers

        @triton.jit
        def kernel(z):
            tl.store(z, helpers.bad(2))
        with self.assertRaises(tkdbg.CompilationError) as caught:
            run(kernel)
        self.assertIn("kernel_helpers_x.py", str(caught.exception))
        self.assertIn("missing_name", str(caught.exception))


class Sources(unittest.TestCase):
    def test_text_without_a_file(self):
        space = {"triton": triton, "tl": tl, "__name__": "made"}
        exec("@triton.jit\ndef k(z):\n    tl.store(z, 7)\n", space)
        self.assertEqual(run(space["k"]), 7)

    def test_registered_in_linecache(self):
        import linecache
        text = "\n\n@triton.jit\ndef k(z):\n    tl.store(z, 9)\n"
        name = "<cell 1>"
        linecache.cache[name] = (len(text), None,
                                 text.splitlines(keepends=True), name)
        space = {"triton": triton, "tl": tl, "__name__": "made"}
        exec(compile(text, name, "exec"), space)
        self.assertEqual(run(space["k"]), 9)

    def test_changed_source(self):
        @triton.jit
        def kernel(z):
            tl.store(z, 1)
        kernel._unsafe_update_src("def kernel(z):\n    tl.store(z, 8)\n")
        self.assertEqual(run(kernel), 8)
        with self.assertRaises(AttributeError):
            kernel.src = "x"

    def test_source_changed_between_launches(self):
        @triton.jit
        def kernel(z):
            tl.store(z, 1)
        self.assertEqual(run(kernel), 1)
        kernel._unsafe_update_src(kernel.src.replace("1", "8"))
        self.assertEqual(run(kernel), 8)

    def test_changed_source_of_a_function_that_is_passed(self):
        @triton.jit
        def value():
            return 3

        @triton.jit
        def kernel(z, F: tl.constexpr):
            tl.store(z, F())
        self.assertEqual(run(kernel, 1, "i4", value), 3)
        value._unsafe_update_src(value.src.replace("3", "4"))
        self.assertEqual(run(kernel, 1, "i4", value), 4)


class Changed(unittest.TestCase):
    """What a kernel was compiled with must be what it was."""

    def refused(self, kernel, name):
        with self.assertRaisesRegex(RuntimeError, f"{name} has changed"):
            run(kernel)

    def test_element_type(self):
        space = {}

        def make(kind):
            @triton.jit
            def kernel(z):
                tl.store(z, tl.full((), 5, kind))

            def change(other):
                nonlocal kind
                kind = other
            space["change"] = change
            return kernel
        kernel = make(tl.int32)
        self.assertEqual(run(kernel), 5)
        self.assertEqual(run(kernel), 5)
        space["change"](tl.float32)
        self.refused(kernel, "kind")

    def test_constexpr_in_place(self):
        value = tl.constexpr(6)

        @triton.jit
        def kernel(z):
            tl.store(z, value)
        self.assertEqual(run(kernel), 6)
        self.assertEqual(run(kernel), 6)
        value.value = 7
        self.refused(kernel, "value")


class Refused(unittest.TestCase):
    """Kernels that the parser refuses say so each time."""

    def test_twice(self):
        @triton.jit
        def kernel(z):
            async def inner():
                pass
            tl.store(z, 1)
        seen = []
        for _ in range(2):
            with self.assertRaises(tkdbg.CompilationError) as caught:
                run(kernel)
            seen.append(str(caught.exception))
        self.assertEqual(seen[0], seen[1])
        self.assertIn("test_free_names.py", seen[0])

    def test_helper(self):
        @triton.jit
        def helper_with_class(v):
            class Inside:
                pass
            return v

        @triton.jit
        def kernel(z):
            tl.store(z, helper_with_class(1))
        for _ in range(2):
            with self.assertRaises(tkdbg.CompilationError) as caught:
                run(kernel)
            self.assertIn("class", str(caught.exception))


class Libdevice(unittest.TestCase):
    def test_function(self):
        from tkdbg import operations
        if not operations.names().under("libdevice"):
            self.skipTest("the library has no libdevice yet")

        @triton.jit
        def kernel(z):
            tl.store(z, libdevice.tanh(tl.load(z)))
        self.assertEqual(run(kernel), 0)


if __name__ == "__main__":
    unittest.main()
