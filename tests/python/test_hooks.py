"""The hooks of triton.knobs where tkdbg answers for triton."""
import contextlib
import gc
import os
import unittest

import support

support.need("library", "numpy")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import numpy as np  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton import knobs  # noqa: E402


def facts(grid, kernel, args):
    return {"grid": grid, "n": args["n"], "warps": kernel.num_warps}


@triton.jit(launch_metadata=facts, repr=lambda s: f"for_{s.constants['n']}")
def kernel(p, n):
    tl.store(p, n)


@triton.jit
def other(p, n, T: tl.constexpr):
    tl.store(p, tl.full((), n, T))


@triton.jit
def nested_kernel(p, x):
    tl.static_assert(x[0][0] == 1 and x[1][0] > 1)
    tl.store(p, x[0][1] + x[1][1])


class Hooks(unittest.TestCase):
    def setUp(self):
        self.p = np.zeros(1, np.int32)
        self.got = []
        self.scopes = knobs.runtime.scope(), knobs.compilation.scope()
        for scope in self.scopes:
            scope.__enter__()
            self.addCleanup(scope.__exit__, None, None, None)
        for name in ("launch_enter_hook", "launch_exit_hook",
                     "kernel_load_start_hook", "kernel_load_end_hook"):
            self.addCleanup(getattr(knobs.runtime, name).calls.clear)

    def test_in_order(self):
        say, runtime = self.got.append, knobs.runtime
        runtime.jit_cache_hook = lambda **k: say(
            ("before", k["fn"].name, k["compile"]["num_warps"],
             k["is_manual_warmup"]))
        runtime.jit_post_compile_hook = lambda **k: say(
            ("after", k["compile"]["constants"]))
        knobs.compilation.listener = lambda **k: say(
            ("listener", k["cache_hit"]))
        runtime.kernel_load_start_hook.add(
            lambda module, function, name, group, hash: say(("load", name)))
        runtime.launch_enter_hook.add(lambda m: say(("enter", m.get())))
        runtime.launch_exit_hook.add(lambda m: say(("exit", m.get()["name"])))
        for n in (1, 1, 2):
            kernel[(2,)](self.p, n, num_warps=2) if n == 1 else \
                other[(1,)](self.p, n, tl.int32)
        self.assertEqual([g[0] for g in self.got], [
            "before", "listener", "after", "load", "enter", "exit",
            "enter", "exit", "before", "listener", "after", "load", "enter",
            "exit"])
        self.assertEqual(self.got[0], ("before", "kernel", 2, False))
        self.assertEqual(self.got[2], ("after", {(1,): 1}))
        self.assertEqual(self.got[3], ("load", "for_1"))
        enter = self.got[4][1]
        self.assertEqual((enter["name"], enter["grid"], enter["warps"]),
                         ("for_1", (2, 1, 1), 2))
        self.assertEqual(list(kernel.device_caches[0][0].values()),
                         list(kernel.specialized.values()))

    def test_kernels_that_are_collected(self):
        made = triton.jit(other.fn)
        knobs.runtime.kernel_unload_hook.add(
            lambda module, function, name, group, hash: self.got.append(
                (name, function)))
        self.addCleanup(knobs.runtime.kernel_unload_hook.calls.clear)
        made.warmup(self.p, 8, tl.int64, grid=(1,))
        function = made[(1,)](self.p, 9, tl.int64).function
        self.assertEqual(self.got, [])
        made.device_caches.clear()
        del made
        gc.collect()
        self.assertEqual(self.got, [("other", function)])

    def test_compiled_kernels_call_them(self):
        made = other.warmup(self.p, 9, tl.int64, grid=(1,))
        knobs.runtime.launch_enter_hook.add(
            lambda m: self.got.append(m.get()["name"]))
        made[(1,)](self.p, 9, tl.int64)
        self.assertEqual((self.got, self.p[0]), (["other"], 9))

    def test_what_they_are_told(self):
        """The texts and fields that Triton's own hooks get."""
        told, heard, kernel_ = [], [], triton.jit(other.fn)
        knobs.runtime.jit_cache_hook = lambda **k: told.append(k["compile"])
        knobs.compilation.listener = lambda **k: heard.append(k["src"])
        kernel_.add_pre_run_hook(lambda *a, **k: self.got.append(sorted(k)))
        for n in (32, 3, 2.5, 1, None):
            with contextlib.suppress(triton.CompilationError):
                made = kernel_.warmup(self.p, n, T=tl.int32, grid=(1,))
        rest = "{'debug': False, 'instrumentation_mode': ''}"
        self.assertEqual([t["key"] for t in told], [
            f"[('*i32', 'D'), {n}, ('constexpr', {tl.int32!r})]{rest}"
            for n in ("('i32', 'D')", "('i32', '')", "('fp32', None)",
                      "('constexpr', 1)", "('constexpr', None)")])
        self.assertEqual(told[1]["configs"], [
            {(0,): [["tt.divisibility", 16]], (1,): []}])
        self.assertEqual(self.got[0], ["T", "debug", "instrumentation_mode"])
        source = heard[0]
        self.assertIsInstance(source, triton.compiler.ASTSource)
        self.assertEqual((source.fn, source.name, source.constants),
                         (kernel_, "other", {(2,): tl.int32}))
        self.assertEqual(source.signature,
                         {"p": "*i32", "n": "i32", "T": "constexpr"})
        self.assertIsInstance(made.function, int)

    def test_debug(self):
        debugged = triton.jit(other.fn, debug=True)
        for launched, options, wanted in (
                (debugged, {}, True), (debugged, {"debug": False}, False),
                (other, {}, False), (other, {"debug": True}, True)):
            made = launched.warmup(self.p, 3, tl.int32, grid=(1,), **options)
            self.assertIs(made.metadata.debug, wanted)

    def test_groups(self):
        copied = knobs.language.copy()
        with knobs.language.scope():
            knobs.language.fp32_default = "ieee"
            self.assertEqual(knobs.language.knobs["fp32_default"], "ieee")
            self.assertIn("fp32_default", copied.knob_descriptors)
            knobs.setenv("TRITON_F32_DEFAULT", None)
            self.assertIsNone(copied.fp32_default)
            self.assertIsNone(knobs.getenv("TRITON_F32_DEFAULT"))

    def test_a_hook_that_compiles_elsewhere(self):
        knobs.runtime.jit_cache_hook = lambda **k: True
        self.assertIsNone(other[(1,)](self.p, 9, tl.int64))
        self.assertEqual(self.p[0], 0)

    def test_none_instead_of_hooks(self):
        knobs.runtime.launch_enter_hook = None
        knobs.runtime.launch_exit_hook = lambda m: self.got.append(m)
        other[(1,)](self.p, 9, tl.int64)
        self.assertEqual((len(self.got), self.p[0]), (1, 9))

    def test_knobs_go_on_to_the_environment(self):
        name = "TRITON_F32_DEFAULT"
        with knobs.language.scope():
            knobs.language.fp32_default = "ieee"
            self.assertEqual(os.environ[name], "ieee")
            knobs.language.fp32_default = None
            self.assertNotIn(name, os.environ)
            knobs.language.fp32_default = "tf32x3"
        self.assertNotIn(name, os.environ)

    def test_preload(self):
        texts, other_kernel = [], triton.jit(other.fn)
        knobs.runtime.jit_cache_hook = lambda **k: texts.append(
            k["compile"]["specialization_data"])
        other_kernel.warmup(self.p, 32, tl.float32, grid=(1,))
        knobs.runtime.jit_cache_hook = None
        other_kernel.specialized.clear()
        made = other_kernel.preload(texts[0])
        self.assertEqual(list(other_kernel.specialized.values()), [made])
        knobs.runtime.launch_enter_hook.add(lambda m: None)
        self.assertIs(other_kernel[(1,)](self.p, 32, tl.float32), made)
        with self.assertRaisesRegex(RuntimeError, "trying to preload for"):
            kernel.preload(texts[0])

    def test_preload_with_constants_inside_tuples(self):
        told, nested = [], triton.jit(nested_kernel.fn)
        knobs.runtime.jit_cache_hook = lambda **k: told.append(k["compile"])
        for last in (2, 3):
            made = nested.warmup(self.p, ((1, 7), (tl.constexpr(last), 2.5)),
                                 grid=(1,))
        self.assertEqual([t["constants"] for t in told],
                         [{(1, 0, 0): 1, (1, 1, 0): n} for n in (2, 3)])
        self.assertEqual(told[0]["signature"]["x"],
                         (("constexpr", "i32"), ("constexpr", "fp32")))
        again = nested.preload(told[1]["specialization_data"])
        self.assertEqual(again.hash, made.hash)


if __name__ == "__main__":
    unittest.main()
