"""Parameters that are annotated as pointers, and launch options, take and
refuse what Triton's do."""
import unittest

import support

support.need("library", "numpy", "torch")

HEAD = """
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


class Ours(Cases, support.ScriptCase):
    triton = "ours"


@unittest.skipUnless(support.real_triton(), "triton is not installed")
class Installed(Cases, support.ScriptCase):
    triton = "installed"


if __name__ == "__main__":
    unittest.main()
