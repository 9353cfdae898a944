"""Parameters that are annotated as pointers, launch options, allocators and
caches do what Triton's do."""
import os
import tempfile
import unittest

import support

support.need("library", "numpy", "torch")

HEAD = """
import numpy as np
import torch
import triton
import triton.language as tl

def tell(name, launch):
    try:
        launch()
        print(name, 'ran')
    except Exception as e:
        print(name, type(e).__name__, *str(e).split()[:40])

@triton.jit
def constant(p: "*kfp32"):
    tl.store(p, 1.0)

@triton.jit
def loads(p: "*kfp32", q):
    tl.static_print(p.dtype, p.dtype.const)
    tl.store(q, tl.load(p))

@triton.jit
def k(p: "*fp32"):
    tl.store(p, 1.0)

@triton.jit
def plain(p):
    tl.store(p, 1.0)

def compile_for(fn, signature):
    return triton.compile(triton.compiler.ASTSource(
        fn=fn, signature=signature), target=triton.backends.compiler.GPUTarget(
            'cuda', 90, 32))

import triton.backends.compiler
x = torch.zeros(4, device='cuda')
"""


class Cases:

    def lines(self, text):
        done = self.run_script(text, "-q", "--triton", self.triton, head=HEAD)
        return done.stdout.splitlines()

    def test_constant_pointers(self):
        lines = self.lines("""
            tell('annotated', lambda: constant[(1,)](x))
            tell('halves', lambda: constant[(1,)](x.half()))
            tell('number', lambda: constant[(1,)](0))
            tell('signature', lambda: compile_for(plain, {'p': '*kfp32'}))
            tell('other', lambda: compile_for(plain, {'p': '*fp32'}))
            y = torch.ones(1, device='cuda')
            tell('loads', lambda: loads[(1,)](x, y))
            print(y.item())
        """)
        for line, name in zip(lines, ("annotated", "halves", "number",
                                      "signature")):
            self.assertRegex(line, f"^{name} CompilationError .*Cannot store "
                                   "to a constant pointer")
        self.assertEqual(lines[4:], ["other ran", "const_pointer<fp32> True",
                                     "loads ran", "0.0"])

    def test_the_annotation_says_what_memory_is_read_as(self):
        self.assertEqual(self.lines("""
            h = torch.zeros(4, device='cuda', dtype=torch.float16)
            k[(1,)](h)
            print(h.tolist())
            k[(1,)](x.data_ptr())
            k[(1,)](x.data_ptr() + 8)
            print(x.tolist())
            tell('float', lambda: k[(1,)](1.5))
        """), ["[0.0, 1.875, 0.0, 0.0]", "[1.0, 0.0, 1.0, 0.0]",
               "float TypeError Pointer argument must be either uint64 or "
               "have data_ptr method"])

    def test_numbers_that_are_no_address(self):
        lines = self.lines("""
            for address in 0, 5, None, True:
                tell(address, lambda: k[(1,)](address))
        """)
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertRegex(line, "LaunchError .*past the end of p")

    def test_launch_options(self):
        lines = self.lines("""
            for options in (dict(num_ctas=0), dict(maxnreg=0),
                            dict(num_warps=6), dict(num_stages='2'),
                            dict(kpack=2), dict(num_warps=None)):
                tell(*options, lambda: plain[(1,)](x, **options))
        """)
        self.assertEqual([" ".join(line.split()[:2]) for line in lines], [
            "num_ctas RuntimeError", "maxnreg PTXASError",
            "num_warps AssertionError", "num_stages TypeError",
            "kpack KeyError", "num_warps ran"])


    def test_scratch_memory_is_allocated_for_descriptors(self):
        self.assertEqual(self.lines("""
            @triton.jit
            def fill(p):
                d = tl.make_tensor_descriptor(p, [4, 4], [4, 1], [4, 4])
                d.store([0, 0], tl.zeros([4, 4], tl.float32) + 1)
            @triton.jit
            def once(p):
                fill(p)
            @triton.jit
            def twice(p):
                fill(p)
                fill(p)
            @triton.jit
            def unused(p):
                d = tl.make_tensor_descriptor(p, [4, 4], [4, 1], [4, 4])
                tl.store(p, 1.0)
            y = torch.zeros(4, 4, device='cuda')
            tell('none set', lambda: once[(1,)](y))
            tell('numpy', lambda: once[(1,)](np.zeros((4, 4), 'f4')))
            tell('unused', lambda: unused[(1,)](y))
            once.warmup(y, grid=(1,))
            def allocate(size, alignment, stream):
                print(size, alignment, stream)
                return torch.empty(size, dtype=torch.int8, device='cuda')
            triton.set_allocator(allocate)
            k = once[(2, 3)](y)
            print(k.metadata.global_scratch_size, y.sum().item())
            twice[(1,)](y)
            unused[(1,)](y)
            triton.set_allocator(lambda *a: 'text')
            tell('text', lambda: once[(1,)](y))
            triton.set_allocator(lambda *a: None)
            tell('nothing', lambda: once[(1,)](y))
        """), ["none set RuntimeError Kernel requires a runtime memory "
               "allocation, but no allocator was set. Use "
               "triton.set_allocator to specify an allocator.",
               "numpy ran", "unused ran", "768 128 0", "128 16.0", "256 128 0",
               "text TypeError Pointer argument must be either uint64 or "
               "have data_ptr method", "nothing ran"])


    def test_tuning_and_compiled_kernels_are_kept(self):
        text = """
            calls = []
            def bench(call, quantiles=None):
                calls.append(call())
                return [-float(len(calls))] * 3
            configs = [triton.Config({'B': 4}), triton.Config({'B': 8})]
            @triton.jit
            def fill(p, n, B: tl.constexpr):
                tl.store(p + tl.arange(0, B), n)
            y = torch.zeros(8, device='cuda')
            tuned = triton.autotune(configs, ['n'], do_bench=bench,
                                    cache_results=True)(fill)
            tuned[(1,)](y, 4)
            print(len(calls), tuned.best_config.kwargs)
            none = triton.autotune(configs, ['n'], prune_configs_by=dict(
                perf_model=lambda **kw: 1.0, top_k=0))(fill)
            tell('none left', lambda: none[(1,)](y, 4))
            told = []
            triton.knobs.runtime.jit_post_compile_hook = (
                lambda **kw: told.append(kw['is_manual_warmup']))
            for clear in (lambda: 0, plain.device_caches.clear,
                          lambda: plain.device_caches[0][0].clear()):
                clear()
                plain[(1,)](x)
                plain[(1,)](x)
            print(len(told))
        """
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TRITON_CACHE_DIR"] = folder
            self.addCleanup(os.environ.pop, "TRITON_CACHE_DIR")
            for tried in 2, 0:  # the second process tries none
                lines = self.lines(text)
                self.assertEqual(lines[0], f"{tried} {{'B': 8}}")
                self.assertRegex(lines[1], "none left ValueError .* empty")
                self.assertEqual(lines[2:], ["3"])


    def test_a_compiled_kernel_keeps_its_signature(self):
        """Numbers have the types that it was compiled for, and constants
        their values, whatever it is launched with."""
        lines = self.lines("""
            @triton.jit
            def sums(p, n, m, f, b, c):
                tl.static_assert(n.dtype == tl.int64)
                tl.static_assert(m.dtype == tl.int8)
                tl.static_assert(f.dtype == tl.float16)
                tl.static_assert(p.dtype.element_ty == tl.int64)
                tl.static_assert(c == 7)
                tl.store(p, (n << 40) + m + f.to(tl.int64) + b + c)
            src = triton.compiler.ASTSource(
                fn=sums, signature={'p': '*i64', 'n': 'i64', 'm': 'i8',
                                    'f': 'fp16', 'b': 'u1',
                                    'c': 'constexpr'},
                constexprs={(5,): 7}, attrs={(1,): [['tt.divisibility', 16]]})
            made = triton.compile(src)
            p = torch.zeros(2, dtype=torch.int32, device='cuda')
            print(made.src is src, made.src.attrs)
            for args in (1, 1, 2, True, 7), (16, 2, 2.5, False, 0):
                made[(1, 1, 1)](p, *args)
                print(p.view(torch.int64).item() - (args[0] << 40))
            tell('large', lambda: made[(1, 1, 1)](p, 1, 300, 1., True, 7))
        """)
        self.assertEqual(lines, [
            "True {(1,): [['tt.divisibility', 16]]}", "11", "11",
            "large OverflowError unsigned byte integer is greater than "
            "maximum"])

    def test_a_compiled_kernel_keeps_its_options(self):
        lines = self.lines("""
            @triton.jit
            def warps(p):
                tl.store(p, tl.extra.cuda.num_warps())
            x[0] = 0
            made = warps.warmup(x, grid=(1,), num_warps=2)
            made[(1, 1, 1)](x)
            print(x[0].item())
        """)
        self.assertEqual(lines, ["2.0"])


class Ours(Cases, support.ScriptCase):
    triton = "ours"


@unittest.skipUnless(support.real_triton(), "triton is not installed")
class Installed(Cases, support.ScriptCase):
    triton = "installed"


if __name__ == "__main__":
    unittest.main()
