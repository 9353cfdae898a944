"""Binding arguments to parameters, launch options, annotations, grids."""
import inspect
import unittest
import warnings

import support  # noqa: F401
from tkdbg import arguments, binder, errors, launch
from tkdbg import tltypes as t


def bind(fn):
    return binder.make(fn.__name__, inspect.signature(fn))


class Binding(unittest.TestCase):
    def setUp(self):
        def kernel(x, n, BLOCK=16, flag=None):
            pass
        self.bind = bind(kernel)

    def test_positional_keyword_default(self):
        self.assertEqual(self.bind(1, n=2), ((1, 2, 16, None), {}))

    def test_options_are_apart(self):
        values, options = self.bind(1, 2, num_warps=4, BLOCK=32)
        self.assertEqual((values, options),
                         ((1, 2, 32, None), {"num_warps": 4}))

    def test_missing_argument_names_kernel_and_parameter(self):
        with self.assertRaisesRegex(TypeError, r"kernel\(\).*'n'"):
            self.bind(1)

    def test_twice(self):
        with self.assertRaisesRegex(TypeError, "multiple values"):
            self.bind(1, 2, n=3)

    def test_too_many(self):
        with self.assertRaisesRegex(TypeError, "positional argument"):
            self.bind(1, 2, 3, 4, 5)

    def test_keyword_only(self):
        def kernel(x, *, n, m=3):
            pass
        self.assertEqual(bind(kernel)(1, n=2), ((1, 2, 3), {}))

    def test_no_parameters(self):
        def kernel():
            pass
        self.assertEqual(bind(kernel)(), ((), {}))

    def test_any_number(self):
        def kernel(x, *rest, n=3):
            pass
        self.assertEqual(bind(kernel)(1), ((1, (), 3), {}))
        self.assertEqual(bind(kernel)(1, 2, 4, n=5, num_warps=8),
                         ((1, (2, 4), 5), {"num_warps": 8}))

    def test_any_keywords_are_refused(self):
        def kernel(**others):
            pass
        with self.assertRaises(TypeError):
            bind(kernel)

    def test_parameter_called_options(self):
        def kernel(options, options_):
            pass
        self.assertEqual(bind(kernel)(1, 2, num_warps=8),
                         ((1, 2), {"num_warps": 8}))


class Options(unittest.TestCase):
    def test_known(self):
        binder.check_options(dict(num_warps=8, num_stages=3, num_ctas=1,
                                  maxnreg=64, enable_fp_fusion=False,
                                  launch_pdl=True, arch="sm90"))
        binder.check_options(dict.fromkeys(
            ("num_warps", "num_ctas", "maxnreg", "num_stages", "arch")))

    def test_unknown_raises_as_triton(self):
        with self.assertRaisesRegex(KeyError, "BLOK was specified but"):
            binder.check_options({"BLOK": 4})

    def test_unknown_here_raises_as_triton(self):
        with self.assertRaisesRegex(KeyError, "option of AMD"):
            binder.check_options({"waves_per_eu": 2})

    def test_out_of_range(self):
        for options, error, text in (
                (dict(num_warps=3), AssertionError, "power of 2"),
                (dict(num_warps=0), AssertionError, "power of 2"),
                (dict(num_warps=-4), AssertionError, "power of 2"),
                (dict(num_warps="4"), TypeError, "'>'"),
                (dict(num_warps=4.0), TypeError, "&"),
                (dict(num_ctas=0), RuntimeError, "PassManager"),
                (dict(num_ctas=3), RuntimeError, "PassManager"),
                (dict(num_ctas=1.0), TypeError, "num_ctas"),
                (dict(maxnreg=0), errors.PTXASError, "maxnreg"),
                (dict(maxnreg="32"), TypeError, "maxnreg"),
                (dict(num_stages=2.5), TypeError, "num_stages"),
                (dict(arch="x"), ValueError, "OVERRIDE_ARCH")):
            with self.assertRaisesRegex(error, text, msg=str(options)):
                binder.check_options(options)
        binder.check_options(dict(num_ctas=16, num_stages=-1, maxnreg=1000))
        with self.assertRaisesRegex(ValueError, "requires NVIDIA SM90"):
            binder.check_options(dict(num_ctas=2), 80)

    def test_deprecated(self):
        with self.assertRaisesRegex(AssertionError, "deprecated"):
            binder.check_options({"stream": 0})


class Annotations(unittest.TestCase):
    def test_spellings(self):
        cases = {
            "tl.constexpr": "constexpr", "constexpr": "constexpr",
            "*fp16": "*fp16", "const *fp32": "*kfp32", "float*": "*fp32",
            "int": "i32", "tl.int64": "i64", "bool": "u1", "uint8": "u8"}
        for text, wanted in cases.items():
            self.assertEqual(binder.normalise(text), wanted, text)
        self.assertEqual(binder.normalise(t.constexpr), "constexpr")
        self.assertEqual(binder.normalise(t.dtype("int64")), "i64")
        self.assertEqual(binder.normalise(
            t.pointer_type(t.dtype("fp16"))), "*fp16")

    def test_params(self):
        def kernel(x, n: "tl.int64", p: "const *fp32", B: t.constexpr = 4):
            pass
        made = [binder.KernelParam(i, p, False, False) for i, p in
                enumerate(inspect.signature(kernel).parameters.values())]
        self.assertEqual([p.is_constexpr for p in made],
                         [False, False, False, True])
        self.assertEqual([p.annotation_type for p in made],
                         ["", "i64", "*kfp32", ""])
        self.assertTrue(made[2].is_const)
        self.assertTrue(made[3].has_default and made[3].default == 4)


class Grids(unittest.TestCase):
    def grid(self, grid, **named):
        return launch.resolve_grid(grid, list(named), tuple(named.values()))

    def test_forms(self):
        self.assertEqual(self.grid((3,)), (3, 1, 1))
        self.assertEqual(self.grid([3, 4]), (3, 4, 1))
        self.assertEqual(self.grid((2, 3, 4)), (2, 3, 4))
        self.assertEqual(self.grid((t.constexpr(5),)), (5, 1, 1))
        self.assertEqual(self.grid(lambda meta: (meta["n"] // 2,), n=8),
                         (4, 1, 1))

    def test_int_warns(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(self.grid(7), (7, 1, 1))
        self.assertEqual(len(caught), 1)

    def test_refused(self):
        for bad in ((1.5,), ("3",)):
            with self.assertRaises(TypeError):
                self.grid(bad)
        with self.assertRaises(AssertionError):
            self.grid(None)


class Keys(unittest.TestCase):
    def test_constexprs_differ_by_type(self):
        keys = [arguments.constexpr_key(v)
                for v in (1, 1.0, True, "1", None, (1,), 0.0, -0.0)]
        self.assertEqual(len(set(keys)), len(keys))

    def test_equal_values_share_a_key(self):
        key = arguments.constexpr_key
        self.assertEqual(key((1, "a")), key((1, "a")))
        self.assertEqual(key(t.dtype("fp16")), key(t.dtype("fp16")))
        self.assertEqual(key(t.constexpr(4)), key(t.constexpr(4)))

    def test_run_time_values_do_not_count(self):
        self.assertEqual(arguments.key_of(5), arguments.key_of(6))
        self.assertNotEqual(arguments.key_of(5), arguments.key_of(5.0))
        self.assertNotEqual(arguments.key_of(5), arguments.key_of(True))


if __name__ == "__main__":
    unittest.main()
