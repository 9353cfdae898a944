"""Launching kernels on NumPy arrays, in this process."""
import functools
import unittest

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def scale(x, z, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


@triton.jit
def maybe(x, z, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if x is None:
        tl.store(z + i, i)
    else:
        tl.store(z + i, tl.load(x + i))


@triton.jit
def grid_size(z):
    if tl.program_id(0) + tl.program_id(1) + tl.program_id(2) == 0:
        tl.store(z, tl.num_programs(0))
        tl.store(z + 1, tl.num_programs(1))
        tl.store(z + 2, tl.num_programs(2))


@triton.jit
def unmasked(x, z, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i))


@triton.jit
def wrong_name(x):
    tl.store(x, undefined_thing)  # noqa: F821


@triton.jit
def unused_load(x, z, n):
    v = tl.load(x + tl.arange(0, 8))
    w = v + 1
    for i in range(n):
        w += tl.load(x + i + tl.arange(0, 8))
    tl.store(z, n)


@triton.jit
def both(x, y):
    return tl.load(x), tl.load(y)


@triton.jit
def pair(x, y):
    return both(x, y)


@triton.jit
def unused_result(x, z, n):
    a, b = pair(x, z)
    tl.store(z, n + b)


@triton.jit
def used_result(x, z, n):
    a, b = pair(x, z)
    tl.store(z, n + a)


@triton.jit
def branch_on_load(x, z, n):
    if tl.load(x) > 0:
        n += 1
    tl.store(z, n)


def ramp(n, dtype="f4"):
    return np.arange(n, dtype=dtype)


class Forms(unittest.TestCase):
    """Ways to write a launch."""

    def setUp(self):
        self.x, self.y = ramp(50), ramp(50) * 10
        self.z = np.zeros(50, "f4")

    def check(self):
        np.testing.assert_array_equal(self.z, self.x + self.y)

    def test_tuple(self):
        add[(4,)](self.x, self.y, self.z, 50)
        self.check()

    def test_list(self):
        add[[4]](self.x, self.y, self.z, 50, BLOCK=16)
        self.check()

    def test_callable_sees_all_arguments(self):
        seen = {}

        def grid(meta):
            seen.update(meta)
            return (triton.cdiv(50, meta["BLOCK"]),)
        add[grid](self.x, self.y, self.z, n=50, BLOCK=32)
        self.check()
        self.assertEqual((seen["n"], seen["BLOCK"]), (50, 32))
        self.assertIs(seen["x"], self.x)

    def test_partial(self):
        grid = functools.partial(lambda n, meta: (n // meta["BLOCK"] + 1,),
                                 50)
        add[grid](self.x, self.y, self.z, 50)
        self.check()

    def test_run(self):
        add.run(self.x, self.y, self.z, 50, grid=(4,), warmup=False)
        self.check()

    def test_keywords_and_options(self):
        add[(4,)](x=self.x, y=self.y, z=self.z, n=50, BLOCK=16, num_warps=2,
                  num_stages=1, num_ctas=1, maxnreg=32)
        self.check()

    def test_jit_as_call(self):
        def body(x, z, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(z + i, tl.load(x + i) * 2)
        kernel = triton.jit(body)
        kernel[(1,)](self.x, self.z, 32)
        np.testing.assert_array_equal(self.z[:32], self.x[:32] * 2)

    def test_jit_with_arguments(self):
        @triton.jit(do_not_specialize=["n"], debug=True, noinline=False)
        def kernel(z, n):
            tl.store(z, n)
        kernel[(1,)](self.z, 1)
        self.assertEqual(self.z[0], 1)
        self.assertTrue(kernel.params[1].do_not_specialize)

    def test_keyword_dictionaries_are_refused(self):
        with self.assertRaisesRegex(TypeError, r"do not support \*\*rest "):
            @triton.jit
            def k(x, **rest):
                pass

    def test_zero_programs(self):
        add[(0,)](self.x, self.y, self.z, 50)
        self.assertEqual(self.z.sum(), 0)

    def test_grid_axes(self):
        z = np.zeros(3, "i4")
        grid_size[(2, 3, 4)](z)
        self.assertEqual(z.tolist(), [2, 3, 4])


class Errors(unittest.TestCase):
    def test_direct_call(self):
        with self.assertRaisesRegex(RuntimeError, "Cannot call @triton.jit"):
            add(1, 2, 3)

    def test_missing_argument(self):
        with self.assertRaisesRegex(TypeError, "'z'"):
            add[(1,)](ramp(4), ramp(4))

    def test_unknown_keyword(self):
        with self.assertRaisesRegex(KeyError, "nope"):
            add[(1,)](ramp(4), ramp(4), ramp(4), 4, nope=1)

    def test_unsupported_argument(self):
        with self.assertRaisesRegex(TypeError, "failed to specialize"):
            add[(1,)](object(), ramp(4), ramp(4), 4)

    def test_int_too_large(self):
        with self.assertRaises(OverflowError):
            add[(1,)](ramp(4), ramp(4), ramp(4), 1 << 64)

    def test_out_of_bounds(self):
        x, z = ramp(40), np.zeros(64, "f4")
        with self.assertRaises(tkdbg.LaunchError) as caught:
            unmasked[(4,)](x, z, 16)
        error = caught.exception
        self.assertIsInstance(error, RuntimeError)
        self.assertEqual(error.kernel, "unmasked")
        self.assertIn("x", str(error))
        self.assertEqual(error.findings[0]["kind"], "out-of-bounds")
        self.assertTrue(error.findings[0]["file"].endswith("test_launch.py"))

    def test_compilation_error(self):
        with self.assertRaises(triton.CompilationError) as caught:
            wrong_name[(1,)](ramp(4))
        self.assertIn("undefined_thing", str(caught.exception))

    def test_the_session_goes_on(self):
        with self.assertRaises(triton.CompilationError):
            wrong_name[(1,)](ramp(4))
        z = np.zeros(16, "f4")
        add[(1,)](ramp(16), ramp(16), z, 16)
        self.assertEqual(z[3], 6)

    def test_bad_grid(self):
        with self.assertRaises(ValueError):
            add[(-1,)](ramp(4), ramp(4), ramp(4), 4)

    def test_negative_warps(self):
        with self.assertRaises(AssertionError):
            add[(1,)](ramp(4), ramp(4), ramp(4), 4, num_warps=3)


class Arguments(unittest.TestCase):
    def test_none_pointer(self):
        z = np.zeros(8, "f4")
        maybe[(1,)](None, z, 8)
        np.testing.assert_array_equal(z, ramp(8))
        maybe[(1,)](ramp(8) * 3, z, 8)
        np.testing.assert_array_equal(z, ramp(8) * 3)

    def test_scalars(self):
        z = np.zeros(8, "f4")
        for s in (2, 2.5, -3, True, np.float32(1.5), np.int64(7),
                  np.float64(0.25)):
            scale[(1,)](ramp(8), z, 8, s, BLOCK=8)
            np.testing.assert_array_equal(z, ramp(8) * np.float32(s), str(s))

    def test_float_is_fp32(self):
        @triton.jit
        def kernel(z, s):
            tl.store(z, s)
        z = np.zeros(1, "f8")
        kernel[(1,)](z, 0.1)
        self.assertEqual(z[0], np.float32(0.1))

    def test_int_one_is_constexpr(self):
        @triton.jit
        def kernel(z, n):
            a: tl.constexpr = n + 3
            tl.store(z + tl.arange(0, a), 1)
        z = np.zeros(4, "i4")
        kernel[(1,)](z, 1)
        self.assertEqual(z.tolist(), [1] * 4)
        with self.assertRaises(tkdbg.CompilationError):
            kernel[(1,)](z, 5)

    def test_same_signature_other_values(self):
        for n in (3, 16, 5, 1, 2):
            z = np.zeros(16, "f4")
            add[(1,)](ramp(16), ramp(16), z, n)
            self.assertEqual(int((z > 0).sum()), n - 1)

    def test_constexpr_kinds(self):
        @triton.jit
        def kernel(z, mode: tl.constexpr, flag: tl.constexpr,
                   shape: tl.constexpr, dtype: tl.constexpr):
            if mode == "sum" and flag:
                v = shape[0] + shape[1]
            else:
                v = -1
            tl.store(z, tl.full((), v, dtype))
        z = np.zeros(1, "i8")
        kernel[(1,)](z, "sum", True, (3, 4), tl.int32)
        self.assertEqual(z[0], 7)
        kernel[(1,)](z, "sum", False, (3, 4), tl.int64)
        self.assertEqual(z[0], -1)

    def test_constexpr_object_for_a_plain_parameter(self):
        z = np.zeros(16, "f4")
        add[(1,)](ramp(16), ramp(16), z, tl.constexpr(4))
        self.assertEqual(z.tolist()[:5], [0, 2, 4, 6, 0])

    def test_jit_function_as_constexpr(self):
        @triton.jit
        def twice(v):
            return v * 2

        @triton.jit
        def kernel(z, fn: tl.constexpr):
            tl.store(z, fn(21))
        z = np.zeros(1, "i4")
        kernel[(1,)](z, twice)
        self.assertEqual(z[0], 42)

    def test_tuple(self):
        @triton.jit
        def kernel(z, pair):
            tl.store(z, pair[0] + pair[1])
        z = np.zeros(1, "f4")
        kernel[(1,)](z, (3, 4))
        self.assertEqual(z[0], 7)

    def test_annotated_int64(self):
        @triton.jit
        def kernel(z, n: tl.int64):
            tl.store(z, n * n)
        z = np.zeros(1, "i8")
        kernel[(1,)](z, 100000)
        self.assertEqual(z[0], 10**10)


class Compiled(unittest.TestCase):
    def test_warmup_and_launch(self):
        z = np.zeros(16, "f4")
        x = ramp(16)
        kernel = add.warmup(x, x, z, 16, BLOCK=16, num_warps=8,
                            num_stages=2, grid=(1,))
        self.assertEqual(z.sum(), 0)
        kernel._init_handles()
        self.assertGreater(kernel.n_regs, 0)
        self.assertEqual(kernel.metadata.shared, 0)
        self.assertEqual(kernel.metadata.num_warps, 8)
        self.assertIn("num_warps 8\nnum_stages 2\n", kernel.asm["ttir"])
        self.assertEqual(kernel.metadata.target.backend, "cuda")
        kernel[(1, 1, 1)](x, x, z, 16, 16)
        np.testing.assert_array_equal(z, x * 2)
        z[:] = 0
        kernel[(1, 1, 1)](x, x, z, 16)  # constexprs may be left out
        np.testing.assert_array_equal(z, x * 2)
        with self.assertRaises(TypeError):
            kernel[(1, 1, 1)](x)

    def test_launch_returns_it(self):
        x, z = ramp(16), np.zeros(16, "f4")
        kernel = add[(1,)](x, x, z, 16)
        self.assertEqual(kernel.name, "add")
        self.assertIs(kernel, add[(1,)](x, x, z, 16))

    def test_asm(self):
        x, z = ramp(16), np.zeros(16, "f4")
        kernel = add[(1,)](x, x, z, 16)
        self.assertIn("add", kernel.asm["ttir"])
        with self.assertRaisesRegex(KeyError, "ptx"):
            kernel.asm["ptx"]

    def test_warmup_without_memory(self):
        from tkdbg.wrappers import MockTensor
        mock = MockTensor(np.dtype("f4"))
        add.warmup(mock, mock, mock, 16, BLOCK=16, grid=(1,))
        with self.assertRaisesRegex(ValueError, "no memory"):
            add[(1,)](mock, mock, mock, 16)

    def test_loads_from_nothing_that_nothing_uses(self):
        z, nothing = np.zeros(1, "f4"), np.zeros(0, "f4")
        with self.assertWarnsRegex(Warning, "x, which has no elements"):
            unused_load[(2,)](nothing, z, 3)
        self.assertEqual(z[0], 3)
        with self.assertRaisesRegex(tkdbg.LaunchError, "element 4 of 4"):
            unused_load[(1,)](np.zeros(4, "f4"), z, 3)
        for kernel in branch_on_load, used_result:
            with self.assertRaisesRegex(tkdbg.LaunchError, "element 0 of 0"):
                kernel[(1,)](nothing, z, 3)
        with self.assertWarnsRegex(Warning, "x, which has no elements"):
            unused_result[(1,)](nothing, z, 3)
        self.assertEqual(z[0], 6)

    def test_pre_run_hook(self):
        seen = []

        @triton.jit
        def kernel(z):
            tl.store(z, 1)
        kernel.add_pre_run_hook(lambda *a, **k: seen.append(len(a)))
        kernel[(1,)](np.zeros(1, "f4"))
        self.assertEqual(seen, [1])

    def test_attributes(self):
        self.assertEqual(add.__name__, "add")
        self.assertEqual(add.arg_names, ["x", "y", "z", "n", "BLOCK"])
        self.assertEqual(add.constexprs, [4])
        self.assertTrue(add.src.startswith("def add("))
        self.assertEqual(add.fn.__name__, "add")
        self.assertEqual(add.params[4].default, 16)
        self.assertIn("add", repr(add))


if __name__ == "__main__":
    unittest.main()
