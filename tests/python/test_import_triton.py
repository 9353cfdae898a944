"""What answers to ``import triton``."""
import contextlib
import importlib
import io
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

import support

support.need("library", "numpy")

import tkdbg  # noqa: E402
from tkdbg import reruns  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from tkdbg.modules import finder  # noqa: E402
from tkdbg.modules import report  # noqa: E402


def _nothing():
    """A kernel's body."""


class Names(unittest.TestCase):
    def test_every_module_imports(self):
        for name in finder.Finder().table:
            self.assertEqual(importlib.import_module(name).__name__, name)

    def test_attributes_without_import(self):
        self.assertTrue(callable(triton.testing.do_bench))
        self.assertIs(triton.runtime.driver.active.utils.get_device_properties
                      (0)["warpSize"], 32)
        self.assertTrue(triton.__version__.startswith("3."))
        self.assertIs(triton.language.core.dtype, tl.dtype)

    def test_from_imports(self):
        from triton import Config, autotune, cdiv, jit  # noqa: F401
        from triton.backends import backends
        from triton.backends.compiler import GPUTarget
        active = [b.driver for b in backends.values() if b.driver.is_active()]
        self.assertEqual(active, [type(triton.runtime.driver.active)])
        from triton.compiler.errors import CompilationError
        from triton.language.extra.cuda import libdevice  # noqa: F401
        from triton.runtime import driver
        from triton.runtime.driver import driver as same
        from triton.runtime.errors import OutOfResources
        from triton.tools.tensor_descriptor import TensorDescriptor  # noqa
        self.assertIs(driver, same)
        self.assertIs(CompilationError, triton.CompilationError)
        self.assertEqual(GPUTarget("cuda", 90, 32),
                         driver.active.get_current_target())
        self.assertIn("shared", str(OutOfResources(2, 1, "shared")))

    def test_names_of_core(self):
        core = triton.language.core
        self.assertEqual(core.CONSTEXPR_0.value, 0)
        self.assertTrue(core.is_builtin(core.builtin(lambda: None)))
        self.assertTrue(getattr(core.builtin(lambda: None),
                                core.TRITON_BUILTIN))
        self.assertTrue(isinstance(triton.jit(_nothing), core.JITCallable))

    def test_cache_manager(self):
        from triton.runtime.cache import FileCacheManager, get_cache_manager

        class Mine(FileCacheManager):
            pass

        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(
                os.environ, TRITON_CACHE_DIR=folder):
            kept = Mine("some-key")
            self.assertIsNone(kept.get_file("a.txt"))
            path = kept.put("text", "a.txt")
            self.assertEqual(kept.get_file("a.txt"), path)
            self.assertEqual(kept.cache_dir, os.path.join(folder, "some-key"))
            with open(kept.put(b"\0\1", "b"), "rb") as file:
                self.assertEqual(file.read(), b"\0\1")
            self.assertIsNone(kept.get_group("all"))
            kept.put_group("all", {"a": path, "gone": path + "x"})
            self.assertEqual(get_cache_manager("some-key").get_group("all"),
                             {"a": path})
            self.assertEqual(sorted(os.listdir(kept.cache_dir)),
                             ["__grp__all", "a.txt", "b"])

    def test_missing_module(self):
        with self.assertRaises(ModuleNotFoundError) as caught:
            importlib.import_module("triton.nothing_here")
        self.assertIn("--triton installed", finder.advice(caught.exception))
        self.assertEqual(finder.advice(ImportError(name="json")), "")

    def test_gluon(self):
        from tkdbg.modules import finder
        with self.assertRaises(ImportError) as caught:
            import triton.experimental.gluon  # noqa: F401
        self.assertIn("Gluon is not Triton's language",
                      finder.advice(caught.exception))

    def test_missing_package(self):
        with self.assertRaises(ModuleNotFoundError) as caught:
            importlib.import_module("no_such_package.at_all")
        said = finder.advice(caught.exception)
        self.assertIn(f"under {sys.executable}", said)
        self.assertIn("no module no_such_package;", said)
        self.assertIn("--python PATH", said)

    def test_missing_attribute(self):
        with self.assertRaises(AttributeError):
            triton.nothing_here

    def test_operations(self):
        for name in ("load", "store", "dot", "arange", "program_id", "exp"):
            self.assertTrue(hasattr(tl, name), name)
        self.assertEqual(tl.load.__name__, "load")
        with self.assertRaisesRegex(ValueError, "forget to add @triton.jit"):
            tl.load(5)
        self.assertIs(tl.load, tl.load)

    def test_unknown_operation(self):
        self.assertFalse(hasattr(tl, "laod"))
        with self.assertRaisesRegex(AttributeError, "did you mean 'load'"):
            tl.laod
        self.assertIn("load", dir(tl))

    def test_types(self):
        self.assertEqual(str(tl.float32), "fp32")
        self.assertEqual(tl.bfloat16, tl.dtype("bf16"))
        self.assertEqual(repr(tl.pi32_t), "pointer<int32>")
        self.assertIsInstance(tl.constexpr(4), tl.constexpr)
        self.assertTrue(isinstance(tl.tensor, type))

    def test_small_functions(self):
        self.assertEqual(triton.cdiv(10, 3), 4)
        self.assertEqual(triton.cdiv(tl.constexpr(9), 3), 3)
        self.assertEqual([triton.next_power_of_2(n) for n in
                          (1, 2, 3, 1000, 0)], [1, 2, 4, 1024, 0])

    def test_knobs(self):
        triton.knobs.runtime.anything = 5
        self.assertEqual(triton.knobs.runtime.anything, 5)
        self.assertIsNone(triton.knobs.nvidia.unknown)
        with triton.knobs.runtime.scope():
            triton.knobs.runtime.anything = 6
        self.assertEqual(triton.knobs.runtime.anything, 5)

    def test_compile_says_what_to_do(self):
        with self.assertRaisesRegex(NotImplementedError, "warmup"):
            triton.compile(None)

    def test_target_info(self):
        from triton.language import target_info
        self.assertTrue(target_info.is_cuda())
        self.assertTrue(target_info.cuda_capability_geq(8, 0))
        self.assertFalse(target_info.is_hip())

    def test_install_again(self):
        before = dict(sys.modules)
        tkdbg.install(quiet=True)
        self.assertTrue(tkdbg.installed())
        import triton.knobs  # what the program holds goes on being Triton
        self.assertIs(triton.knobs, before["triton.knobs"])
        self.assertIs(triton, before["triton"])
        with self.assertRaises(tkdbg.UsageError):
            tkdbg.install(nonsense=1)
        self.assertTrue(tkdbg.installed())


class Device(unittest.TestCase):
    def test_properties(self):
        properties = triton.runtime.driver.active.utils.get_device_properties
        found = properties(0)
        for key in ("multiprocessor_count", "max_shared_mem", "max_num_regs",
                    "warpSize", "sm_clock_rate", "mem_clock_rate",
                    "mem_bus_width"):
            self.assertGreater(found[key], 0, key)
        with self.assertRaises(ValueError):
            properties(8)

    def test_driver(self):
        active = triton.runtime.driver.active
        self.assertEqual(active.get_current_target().arch, 90)
        self.assertEqual(active.get_current_device(), 0)
        self.assertTrue(callable(
            active.get_device_interface().synchronize))

    def test_a_gpu_is_not_begun_to_be_asked(self):
        """In a process that was split off one that uses it, that fails."""
        begun = [False]

        def of_begun(value):
            if not begun[0]:
                raise RuntimeError("Cannot re-initialize CUDA")
            return value
        cuda = types.SimpleNamespace(
            is_available=lambda: True, is_initialized=lambda: begun[0],
            current_device=lambda: of_begun(3),
            is_current_stream_capturing=lambda: of_begun(True),
            current_stream=lambda index: types.SimpleNamespace(
                cuda_stream=of_begun(77)))
        active = triton.runtime.driver.active
        with mock.patch.dict(sys.modules, torch=types.SimpleNamespace(
                cuda=cuda)):
            for begun[0], wanted in (False, (0, 0, False)), (
                    True, (3, 77, True)):
                self.assertEqual((active.get_current_device(),
                                  active.get_current_stream(0),
                                  active.utils.is_stream_capturing()), wanted)

    def test_a_script_that_uses_a_gpu_does_not_run_again(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            print("import triton", file=file, flush=True)
            for begun in True, False:
                torch = types.SimpleNamespace(cuda=types.SimpleNamespace(
                    is_initialized=lambda begun=begun: begun))
                with mock.patch.dict(sys.modules, torch=torch):
                    self.assertEqual(
                        reruns.script(file.name, print, 1.0) is None, begun)

    def test_peaks(self):
        self.assertGreater(triton.testing.get_dram_gbps(), 4000)
        with self.assertRaises(RuntimeError):
            triton.testing.get_max_simd_tflops(tl.float64, 1)


class Measuring(unittest.TestCase):
    def test_modes(self):
        calls = []
        for mode in ("min", "max", "mean", "median"):
            ms = triton.testing.do_bench(lambda: calls.append(1), warmup=1,
                                         rep=1, return_mode=mode)
            self.assertGreater(ms, 0)
        times = triton.testing.do_bench(lambda: None, warmup=1, rep=1,
                                        return_mode="all")
        self.assertIsInstance(times, list)
        self.assertGreater(len(calls), 4)

    def test_quantiles(self):
        low, mid, high = triton.testing.do_bench(
            lambda: None, warmup=1, rep=1, quantiles=[0.2, 0.5, 0.8])
        self.assertTrue(low <= mid <= high)
        one = triton.testing.do_bench_cudagraph(lambda: None, rep=1,
                                                quantiles=[0.5])
        self.assertGreater(one, 0)

    def test_bad_mode(self):
        with self.assertRaises(AssertionError):
            triton.testing.do_bench(lambda: None, return_mode="avg")

    def test_slow_functions_run_once(self):
        import time
        calls = []

        def slow():
            calls.append(1)
            time.sleep(0.03)
        ms = triton.testing.do_bench(slow, warmup=1, rep=10)
        self.assertEqual(len(calls), 1)
        self.assertGreater(ms, 25)
        times = triton.testing.do_bench(slow, warmup=1, rep=10,
                                        quantiles=[0.2, 0.8])
        self.assertEqual(len(times), 2)
        self.assertEqual(len(calls), 2)

    def test_assert_close(self):
        import numpy as np
        triton.testing.assert_close(np.ones(3), np.ones(3) + 1e-3)
        triton.testing.assert_close(1.0, 1.005)
        with self.assertRaises(AssertionError):
            triton.testing.assert_close(np.ones(3), np.ones(3) + 1)
        with self.assertRaises(AssertionError):
            triton.testing.assert_close(1.0, 1.1, atol=0, rtol=1e-3)


class Report(unittest.TestCase):
    def bench(self, **changes):
        options = dict(
            x_names=["size"], x_vals=[4096, 8192], line_arg="provider",
            line_vals=["a", "b"], line_names=["A", "B"], plot_name="plot",
            args={"k": 2}, ylabel="GB/s")
        options.update(changes)
        return triton.testing.Benchmark(**options)

    def output(self, fn, bench, **kwargs):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = triton.testing.perf_report(bench)(fn).run(
                print_data=True, **kwargs)
        return said.getvalue(), result

    def test_three_values(self):
        def fn(size, provider, k):
            return size * k / 1000 + (provider == "b"), 0.0, 1.0
        said, result = self.output(fn, self.bench())
        self.assertIsNone(result)
        self.assertEqual(said, (
            "plot:\n"
            "     size  A (GB/s)  B (GB/s)\n"
            "0  4096.0     8.192     9.192\n"
            "1  8192.0    16.384    17.384\n"))

    def test_one_value(self):
        said, _ = self.output(lambda size, provider, k: 0.5, self.bench())
        self.assertEqual(said, (
            "plot:\n"
            "     size  A (GB/s)  B (GB/s)\n"
            "0  4096.0       0.5       0.5\n"
            "1  8192.0       0.5       0.5\n"))

    def test_several_x_names(self):
        bench = self.bench(x_names=["M", "N"], x_vals=[(1, 2), 3])
        _, table = self.output(lambda M, N, provider, k: (M, N, k), bench,
                               return_df=True)
        self.assertEqual(list(table["N"]), [2, 3])
        with self.assertRaises(ValueError):
            self.output(lambda **k: 1, self.bench(x_vals=[(1, 2)]))

    def test_formats(self):
        f = report._format_column
        self.assertEqual(f([1.0, 2.5]), ["1.0", "2.5"])
        self.assertEqual(f([0.1234567, 1.0]), ["0.123457", "1.000000"])
        self.assertEqual(f([1e-8, 1.0]), ["1.000000e-08", "1.000000e+00"])
        self.assertEqual(f([float("nan"), 1.5]), ["NaN", "1.5"])
        self.assertEqual(f(["x", "yy"]), ["x", "yy"])

    def test_save(self):
        with tempfile.TemporaryDirectory() as folder:
            import warnings
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.output(lambda size, provider, k: (1.0, 2.0, 3.0),
                            self.bench(), save_path=folder)
            with open(os.path.join(folder, "plot.csv")) as f:
                self.assertEqual(f.readline(), "size,A (GB/s),B (GB/s)\n")
                self.assertEqual(f.readline(),
                                 "4096.000000,1.000000,1.000000\n")
            self.assertTrue(os.path.exists(os.path.join(folder,
                                                        "results.html")))

    def test_several_benchmarks(self):
        _, tables = self.output(lambda size, provider, k: 1.0,
                                [self.bench(), self.bench()], return_df=True)
        self.assertEqual(len(tables), 2)


if __name__ == "__main__":
    unittest.main()
