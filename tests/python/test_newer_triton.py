"""What Triton gives hosts since 3.7, 3.8 and 3.9, ours and installed."""
import functools
import os
import subprocess
import unittest

import support

support.need("library", "numpy", "torch")


def since(*version):
    """Decorator: beside an installed Triton that is older the test has
    nothing to ask."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            found = support.triton_version()
            if self.triton == "installed" and found < version:
                self.skipTest(f"Triton {found[0]}.{found[1]} lacks it")
            test(self)
        return run
    return decorate


class Case(support.ScriptCase):
    def lines(self, text, *options):
        done = self.run_script(text, *options, head=support.HEAD)
        return done.stdout.splitlines()


class Kernels(Case):
    @since(3, 9)
    def test_kernels_with_any_number_of_arguments(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def last(p, *rest):
                tl.store(p, rest[len(rest) - 1])
            @triton.jit
            def add_all(p, *numbers, N: tl.constexpr, M: tl.constexpr = 3):
                sum = 0
                for i in tl.static_range(len(numbers)):
                    sum += numbers[i]
                tl.store(p, sum + N * 100 + M * 1000)
            @triton.jit
            def fill(*tensors):
                last(tensors[0], *tensors[1:], 6)
                for i in tl.static_range(len(tensors)):
                    tl.store(tensors[i] + 1, i)
            p, q = (np.zeros(2, np.int32) for _ in range(2))
            add_all[(1,)](p, 3, 4, 5, N=2)
            print(p[0])
            add_all[lambda known: known["numbers"]](p, 1, M=1, N=2,
                                                    num_warps=2)
            print(p[0])
            args = p, 7, 8
            last[(1,)](*args)
            print(p[0])
            fill[(1,)](p, q)
            print(p, q)
            print(len(last.arg_names), last.arg_names[1])
        """, "-q"), ["3212", "1201", "8", "[6 0] [0 1]", "2 rest"])

    @support.only_ours("of an older version than the installed one")
    def test_they_are_refused_before(self):
        done = self.run_script("""
            @triton.jit
            def k(p, *rest):
                tl.store(p, rest[0])
            k[(1,)](np.zeros(2, np.int32), 3)
        """, "--triton-version", "3.7", head=support.HEAD, check=False)
        self.assertIn("script.py:14:10: error: a @triton.jit function cannot "
                      "take *args; Triton 3.8 takes it", done.stderr)

    @since(3, 8)
    def test_where_a_function_stands(self):
        self.assertEqual(self.lines("""
            class Some:
                @triton.jit
                def inner(x):
                    pass
            @triton.autotune([triton.Config({})], key=[])
            @triton.jit
            def outer(x):
                pass
            print(outer.fn.file_name == __file__)
            for f in outer.fn, Some.inner:
                print(f.def_file_line_number, f.def_file_col_number,
                      f.starting_line_number)
        """, "-q"), ["True", "19 1 17", "15 5 14"])


class Descriptors(Case):
    @since(3, 7)
    def test_loads_that_round_to_tf32(self):
        """To ten bits, halves to even; NaN and infinity stay as they are, and
        so does what is stored.  The bits are those of Triton's interpreter."""
        self.assertEqual(self.lines("""
            import torch
            from triton.tools.tensor_descriptor import TensorDescriptor
            @triton.jit
            def copy(x, y, LOADS: tl.constexpr):
                i = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
                if LOADS:
                    tl.store(y + i, x.load([0, 0]))
                else:
                    x.store([0, 0], tl.load(y + i))
            @triton.jit
            def gather(x, y):
                i = tl.arange(0, 8)
                rows = x.gather(i // 4, 0)
                tl.store(y + i[:, None] * 8 + tl.arange(0, 8)[None, :], rows)
            bits = np.array([
                0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0xbf803000,
                0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0xff800000, 0x7f800001,
                0xffc01234, 1, 0x1000, 0x1001, 0x3000, 0x807fffff], np.uint32)
            x = torch.from_numpy(bits.view(np.float32).reshape(4, 4)).cuda()
            y = torch.zeros_like(x)
            z = torch.zeros(8, 8, device="cuda")
            def show(y):
                bits = y.cpu().numpy().view(np.uint32).flatten()
                print(*(f"{n:x}" for n in bits))
            make = TensorDescriptor.from_tensor
            copy[(1,)](make(x, [4, 4]), y, True)
            print(torch.equal(x.view(torch.int32), y.view(torch.int32)))
            copy[(1,)](make(x, [4, 4], round_f32_to_tf32=True), y, True)
            show(y)
            gather[(1,)](make(x.reshape(2, 8), [1, 8],
                              round_f32_to_tf32=True), z)
            show(z[4])
            copy[(1,)](make(y, [4, 4], round_f32_to_tf32=True), x, False)
            print(torch.equal(x.view(torch.int32), y.view(torch.int32)))
            try:
                make(x.to(torch.int32), [4, 4], round_f32_to_tf32=True)
            except AssertionError as e:
                print(e)
        """, "-q"), [
            "True",
            "3f800000 3f800000 3f800000 3f802000 bf804000 7f7fe000 7f800000 "
            "7f800000 ff800000 7f800001 ffc01234 0 0 2000 4000 80800000",
            "ff800000 7f800001 ffc01234 0 0 2000 4000 80800000", "True",
            "round_f32_to_tf32 is only supported for float32 tensors"])

    @support.only_ours("a launch is recorded in one way")
    def test_a_recorded_launch_rounds_as_well(self):
        self.run_script("""
            import torch
            from triton.tools.tensor_descriptor import TensorDescriptor
            @triton.jit
            def copy(x, y):
                tl.store(y + tl.arange(0, 4), x.load([0]))
            x = torch.full((4,), 1 + 2 ** -20, device="cuda")
            copy[(1,)](TensorDescriptor.from_tensor(
                x, [4], round_f32_to_tf32=True), torch.zeros_like(x))
        """, "-q", "--record", "it.safetensors", head=support.HEAD)
        command = os.path.join(os.path.dirname(support.library()), "tkdbg")
        done = subprocess.run(
            [command, "replay", self.path("it.safetensors"), "--print", "y"],
            capture_output=True, text=True, check=True, timeout=60)
        self.assertIn("[1. 1. 1. 1.]", done.stdout)


class Measuring(Case):
    @since(3, 8)
    def test_the_functions_of_proton(self):
        self.assertEqual(self.lines("""
            calls = []
            for name in "do_bench_proton", "do_bench_cudagraph_proton":
                measure = getattr(triton.testing, name)
                took = measure(lambda: calls.append(name), rep=1,
                               return_mode="min")
                print(took >= 0, calls.count(name) > 0)
        """, "-q"), ["True True"] * 2)

    @since(3, 9)
    def test_graphs_and_cublas(self):
        self.assertEqual(self.lines("""
            import gc
            import torch
            from triton import testing
            x, y = (torch.ones(16, 16, device="cuda") for _ in range(2))
            with testing.cuda_graph_without_gc(torch.cuda.CUDAGraph()):
                print(gc.isenabled())
                y.add_(1)
            print(gc.isenabled())
            testing.cublas().matmul(x, x, y)
            print(y[0, 0].item())
        """, "-q"), ["False", "True", "16.0"])

    @support.only_ours("of an older version than the installed one")
    def test_older_versions_lack_them(self):
        self.assertEqual(self.lines("""
            from triton import testing
            print([n for n in dir(testing) if "proton" in n or n == "cublas"])
        """, "-q", "--triton-version", "3.7"), ["[]"])


class InternalTesting(Case):
    """What Triton's own tests import."""

    @since(3, 9)
    def test_names_of_3_9(self):
        self.assertEqual(self.lines("""
            from triton._internal_testing import (
                ProcessResult, is_blackwell_ultra, is_compile_warmup,
                is_cuda, is_hip_cdna3_or_newer, is_hip_rdna, is_hip_rdna4m,
                is_interpreter, is_rubin, numpy_random, random_float,
                random_int, run_in_process,
                skip_if_unsupported_cluster_size, supports_clc, to_numpy,
                to_triton, use_process_pool)
            from triton._compile_warmup_state import is_compile_warmup as same
            print(is_compile_warmup(), same(), is_rubin(), supports_clc(),
                  is_hip_rdna())
            print(3 <= random_int(3, 5) < 5, 0 <= random_float() < 1)
            x = numpy_random((4,), "uint16")
            print((to_numpy(to_triton(x, "cuda")) == x).all())
            skip_if_unsupported_cluster_size(2)
        """, "-q"), ["False False False False False", "True True", "True"])

    @support.only_ours("Triton's begins another process, which is a real one")
    def test_run_in_process(self):
        self.assertEqual(self.lines("""
            import os
            from triton._internal_testing import run_in_process
            def fail(n, by):
                os.write(2, b"said")
                raise ValueError(n, by, os.environ["SOME"])
            told = run_in_process(fail, (1,), {"by": 2}, env={"SOME": "3"})
            print(repr(told.exc), told.driver_stderr_output)
            print(os.environ.get("SOME"))
            print(run_in_process(print, ("here",)).exc)
        """, "-q"), ["ValueError(1, 2, '3') said", "None", "here", "None"])


if __name__ == "__main__":
    unittest.main()
