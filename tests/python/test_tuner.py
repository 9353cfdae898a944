"""Autotuning and heuristics."""
import contextlib
import io
import math
import pickle
import unittest
import warnings

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

CONFIGS = [triton.Config({"BLOCK": 16}, num_warps=2),
           triton.Config({"BLOCK": 64}, num_stages=5)]


def raw(x, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(z + i, mask=i < n),
             mask=i < n)


def wrong(x, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + BLOCK, mask=i < n)


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def make(fn=raw, **options):
    options.setdefault("configs", CONFIGS)
    options.setdefault("key", ["n"])
    return triton.autotune(**options)(triton.jit(fn))


class TooLarge(unittest.TestCase):
    def test_threads(self):
        told = []
        wide, fits = (triton.Config({"BLOCK": 8}, num_warps=n)
                      for n in (64, 4))
        kernel = make(
            configs=[wide, fits], pre_hook=lambda args, **_: told.append("pre"),
            post_hook=lambda args, exception: told.append(exception))
        x, z = np.ones(8, np.float32), np.zeros(8, np.float32)
        with self.assertWarnsRegex(UserWarning, "num_warps: 64.* left out"):
            kernel[grid](x, z, 8)
        self.assertIs(kernel.best_config, fits)
        self.assertEqual(z[0], 1)
        errors = [t for t in told if isinstance(t, Exception)]
        self.assertIsInstance(errors[0],
                              triton.runtime.errors.OutOfResources)
        self.assertIn("Required: 2048", str(errors[0]))
        with self.assertRaises(triton.runtime.errors.OutOfResources):
            make(configs=[wide])[grid](x, z, 8)


class Config(unittest.TestCase):
    def test_all_kwargs(self):
        config = triton.Config({"B": 1}, num_warps=8, maxnreg=128)
        self.assertEqual(config.all_kwargs(), {
            "B": 1, "num_warps": 8, "num_ctas": 1, "num_stages": 3,
            "maxnreg": 128})

    def test_str(self):
        self.assertEqual(
            str(triton.Config({"B": 1})),
            "B: 1, num_warps: 4, num_ctas: 1, num_stages: 3, maxnreg: None")

    def test_equality_hash_pickle(self):
        a, b = triton.Config({"B": 1}), triton.Config({"B": 1})
        self.assertEqual(a, b)
        self.assertEqual(len({a, b}), 1)
        self.assertNotEqual(a, triton.Config({"B": 2}))
        self.assertEqual(pickle.loads(pickle.dumps(a)), a)

    def test_unknown_option(self):
        with self.assertRaises(TypeError):
            triton.Config({}, num_warp=4)


class Autotune(unittest.TestCase):
    def setUp(self):
        self.x = np.arange(50, dtype="f4")
        self.z = np.zeros(50, "f4")

    def test_first_config_runs_once(self):
        kernel = make()
        kernel[grid](self.x, self.z, 50)
        np.testing.assert_array_equal(self.z, self.x)
        self.assertIs(kernel.best_config, CONFIGS[0])
        self.assertEqual(len(kernel.cache), 1)

    def test_a_tuner_that_measures_by_itself(self):
        class Own(triton.runtime.Autotuner):
            def run(self, *args, **kwargs):
                self.nargs = dict(zip(self.arg_names, args))
                times = {c: self._bench(*args, config=c, **kwargs)
                         for c in self.prune_configs(kwargs)}
                best = min(times, key=times.get)
                assert all(len(t) == 3 for t in times.values())
                return self.fn.run(*args, **kwargs, **best.all_kwargs())

        x, z = np.ones(50, np.float32), np.zeros(50, np.float32)
        fn = triton.jit(raw)
        Own(fn, fn.arg_names, CONFIGS, ["n"])[grid](x, z, n=50)
        self.assertTrue((z == 1).all())

    def test_own_do_bench_decides(self):
        asked = []

        def do_bench(call, quantiles):
            call()
            asked.append(quantiles)
            return [3.0 - len(asked)] * 3
        wide = triton.Config({"BLOCK": 16}, num_warps=64)
        kernel = make(configs=[wide, *CONFIGS], do_bench=do_bench,
                      restore_value=["z"])
        with self.assertWarnsRegex(UserWarning, "num_warps: 64.* left out"):
            kernel[grid](self.x, self.z, 50)
        self.assertEqual(asked, [(0.5, 0.2, 0.8)] * 2)
        self.assertIs(kernel.best_config, CONFIGS[1])
        self.assertEqual(list(kernel.configs_timings.values()),
                         [[math.inf] * 3, [2.0] * 3, [1.0] * 3])
        np.testing.assert_array_equal(self.z, self.x)
        kernel[grid](self.x, self.z, 50)
        self.assertEqual(len(asked), 2)

    def test_static_assertions_leave_configurations_out(self):
        @triton.autotune(CONFIGS, ["n"])
        @triton.jit
        def fits(z, n, BLOCK: tl.constexpr):
            tl.static_assert(BLOCK >= 32)
            tl.store(z, BLOCK)

        @triton.autotune(CONFIGS, ["n"])
        @triton.jit
        def fails(z, n, BLOCK: tl.constexpr):
            tl.static_assert(BLOCK < 0, "no block is good")
        z = np.zeros(1, np.int32)
        for _ in range(2):
            fits[(1,)](z, 5)
            self.assertEqual(z[0], 64)
        self.assertEqual(fits.best_config, CONFIGS[1])
        with self.assertRaisesRegex(tkdbg.CompilationError, "no block is"):
            fails[(1,)](z, 5)

    def test_reset_to_zero_when_tuned(self):
        kernel = make(reset_to_zero=["z"])
        self.z[:] = 5
        kernel[grid](self.x, self.z, 50)
        np.testing.assert_array_equal(self.z, self.x)

    def test_conflict(self):
        with self.assertRaisesRegex(ValueError, "Conflicting.*BLOCK"):
            make()[grid](self.x, self.z, 50, BLOCK=16)

    def test_key(self):
        kernel = make(key=["n"])
        for n in (50, 40, 50):
            kernel[grid](self.x, self.z, n)
        self.assertEqual(len(kernel.cache), 2)

    def test_pruning(self):
        kernel = make(prune_configs_by={
            "early_config_prune": lambda configs, args, **kw: configs[1:]})
        kernel[grid](self.x, self.z, 50)
        self.assertEqual(kernel.best_config.kwargs["BLOCK"], 64)

    def test_pruning_everything(self):
        kernel = make(prune_configs_by={
            "early_config_prune": lambda configs, args, **kw: []})
        with self.assertRaisesRegex(triton.TritonError, "at least one"):
            kernel[grid](self.x, self.z, 50)

    def test_perf_model(self):
        kernel = make(prune_configs_by={
            "perf_model": lambda BLOCK, **kw: -BLOCK, "top_k": 1})
        kernel[grid](self.x, self.z, 50)
        self.assertEqual(kernel.best_config.kwargs["BLOCK"], 64)

    def test_a_small_fraction_keeps_one(self):
        seen = []
        kernel = make(do_bench=seen.append, prune_configs_by={
            "perf_model": lambda BLOCK, **_: BLOCK, "top_k": 0.2})
        x, z = np.ones(8, np.float32), np.zeros(8, np.float32)
        kernel[grid](x, z, 8)
        self.assertIs(kernel.best_config, CONFIGS[0])
        self.assertEqual(seen, [])  # there was nothing to measure

    def test_names_that_are_no_parameters(self):
        for option in ("key", "reset_to_zero", "restore_value"):
            with self.assertRaisesRegex(
                    ValueError, f"{option} contains names that are not kernel "
                    "arguments: typo. Valid argument names are: x, z, n"):
                make(**{option: ["typo"]})

    def test_arguments_that_are_none_are_not_reset(self):
        def copies(x, z, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(x + i, i, mask=i < n)
        kernel = make(copies, reset_to_zero=["z"])
        x = np.ones(8, np.float32)
        kernel[(1,)](x, None, 8)
        self.assertEqual(x[3], 3)

    def test_listener(self):
        told = []
        triton.knobs.autotuning.listener = lambda **facts: told.append(facts)
        self.addCleanup(delattr, triton.knobs.autotuning, "listener")
        kernel = make()
        x, z = np.ones(8, np.float32), np.zeros(8, np.float32)
        for _ in range(2):
            kernel[grid](x, z, 8)
        facts, = told
        self.assertIs(facts["best_config"], kernel.best_config)
        self.assertEqual(facts["key"][0], 8)
        self.assertFalse(facts["cache_hit"])

    def test_config_hook(self):
        seen = []
        config = triton.Config({"BLOCK": 64},
                               pre_hook=lambda args: seen.append(args["n"]))
        make(configs=[config])[grid](self.x, self.z, 50)
        self.assertEqual(seen, [50])

    def test_stacked_with_heuristics(self):
        for outer_first in (True, False):
            def even(x, z, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
                i = tl.arange(0, BLOCK)
                tl.store(z + i, EVEN, mask=i < n)
            tune = triton.autotune(
                configs=[triton.Config({"BLOCK": 64})], key=[])
            heur = triton.heuristics(
                {"EVEN": lambda args: args["n"] % 2 == 0})
            kernel = triton.jit(even)
            kernel = tune(heur(kernel)) if outer_first else heur(tune(kernel))
            kernel[(1,)](self.x, self.z, 50)
            self.assertEqual(self.z[0], 1)
            kernel[(1,)](self.x, self.z, 49)
            self.assertEqual(self.z[0], 0)

    def test_deprecated_arguments_warn(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            make(warmup=1, rep=1)
        self.assertEqual([w.category for w in caught], [DeprecationWarning])

    def test_assigned_do_bench(self):
        tuned = make()
        self.assertTrue(callable(tuned.do_bench))
        tuned.do_bench = len
        self.assertIs(tuned.do_bench, len)
        self.assertIs(make(do_bench=max).do_bench, max)

    def test_warmup(self):
        kernels = make().warmup(self.x, self.z, 50, grid=(1,))
        self.assertEqual([k.num_warps for k in kernels], [2, 4])

    def test_called_from_a_kernel(self):
        @triton.heuristics({"K": lambda args: 1})
        @triton.jit
        def inner(v, K: tl.constexpr = 2):
            return v * K

        @triton.jit
        def kernel(z):
            tl.store(z, inner(4))
        kernel[(1,)](self.z)
        self.assertEqual(self.z[0], 8)

    def test_no_configs(self):
        kernel = triton.autotune(configs=[], key=[])(triton.jit(raw))
        kernel[(4,)](self.x, self.z, 50, BLOCK=16)
        np.testing.assert_array_equal(self.z, self.x)


class All(unittest.TestCase):
    """autotune="all": every configuration, compared."""

    def setUp(self):
        tkdbg.options().autotune = "all"
        self.addCleanup(setattr, tkdbg.options(), "autotune", "first")
        from tkdbg import session
        self.session = session.current()
        self.before = self.session.runs.disagreements
        self.x = np.arange(50, dtype="f4")

    def run_all(self, kernel, z):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            kernel[grid](self.x, z, 50)
        return said.getvalue()

    def test_agreement_is_silent(self):
        z = np.ones(50, "f4")
        self.assertEqual(self.run_all(make(), z), "")
        np.testing.assert_array_equal(z, self.x + 1)
        self.assertEqual(self.session.runs.disagreements, self.before)

    def test_disagreement_is_reported(self):
        z = np.zeros(50, "f4")
        said = self.run_all(make(wrong), z)
        self.assertIn("configurations of wrong disagree", said)
        self.assertIn("50 of 50 elements of z differ", said)
        self.assertIn("z[0]: 16 there, 64 here", said)
        np.testing.assert_array_equal(z, self.x + 16)
        self.assertEqual(self.session.runs.disagreements, self.before + 1)

    def test_a_failing_configuration_is_reported(self):
        def bad(x, z, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            m = i < (n if BLOCK == 16 else n + 9)
            tl.store(z + i, tl.load(x + i, mask=m), mask=m)
        said = self.run_all(make(bad), np.zeros(50, "f4"))
        self.assertIn("fails:", said)

    def test_restore_value_hooks_run(self):
        z = np.ones(50, "f4")
        self.assertEqual(self.run_all(make(restore_value=["z"]), z), "")
        np.testing.assert_array_equal(z, self.x + 1)


if __name__ == "__main__":
    unittest.main()
