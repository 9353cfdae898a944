"""Real Triton stays in place; launches are ours."""
import unittest

import support

support.need("library", "torch")
if not support.real_triton():
    raise unittest.SkipTest("triton is not installed")

HEAD = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, z, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m),
                 mask=m)
"""


class Installed(support.ScriptCase):
    def run_installed(self, text, *options, **kwargs):
        return self.run_script(text, "-q", "--triton", "installed", *options,
                               head=HEAD, **kwargs)

    def test_launch(self):
        done = self.run_installed("""
            x = torch.arange(100.0, device="cuda")
            z = torch.empty_like(x)
            grid = lambda meta: (triton.cdiv(100, meta["BLOCK"]),)
            add[grid](x, x, z, 100, BLOCK=32, num_warps=2)
            assert torch.equal(z, x * 2)
            print("libtriton" in str(triton._C.libtriton), type(add))
        """)
        self.assertEqual(done.stdout, "True <class 'triton.runtime.jit."
                                      "JITFunction'>\n")

    def test_language_objects(self):
        done = self.run_installed("""
            from triton.language.extra import libdevice
            from triton.language import math
            K = tl.constexpr(3)
            F = tl.float32
            @triton.jit
            def inner(v):
                return tl.sum(v, axis=0) + K
            @triton.jit
            def kernel(z, n, D: tl.constexpr):
                v = tl.full((4,), 2.0, F)
                tl.store(z, inner(tl.maximum(tl.exp(v - 2), v)) + tl.cdiv(n, 2))
                tl.store(z + 1, math.sqrt(tl.zeros((), D) + 9))
                tl.store(z + 2, triton.next_power_of_2(5) + min(n, 3))
            z = torch.zeros(3, device="cuda")
            kernel[(1,)](z, 5, tl.float32)
            print(z.tolist())
        """)
        self.assertEqual(done.stdout, "[14.0, 3.0, 11.0]\n")

    def test_autotune_and_heuristics(self):
        done = self.run_installed("""
            @triton.autotune(configs=[triton.Config({"B": 64}),
                                      triton.Config({"B": 128})],
                             key=["n"], reset_to_zero=["z"])
            @triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
            @triton.jit
            def kernel(z, n, B: tl.constexpr, EVEN: tl.constexpr):
                i = tl.arange(0, B)
                tl.store(z + i, B + EVEN, mask=i < n)
            z = torch.zeros(50, device="cuda")
            kernel[(1,)](z, 50)
            print(z[0].item(), kernel.best_config.kwargs)
        """)
        self.assertEqual(done.stdout, "65.0 {'B': 64}\n")

    def test_driver_and_testing(self):
        done = self.run_installed("""
            from triton.runtime import driver
            print(driver.active.get_current_target())
            x = torch.zeros(8, device="cuda")
            ms = triton.testing.do_bench(
                lambda: add[(1,)](x, x, x, 8, BLOCK=8), warmup=1, rep=2)
            print(ms > 0)
        """)
        self.assertIn("arch=90", done.stdout)
        self.assertTrue(done.stdout.endswith("True\n"))

    def test_errors_are_tritons_too(self):
        done = self.run_installed("""
            from triton.compiler.errors import CompilationError
            import tkdbg
            @triton.jit
            def bad(z):
                tl.store(z, nothing_here)
            try:
                bad[(1,)](torch.zeros(1, device="cuda"))
            except CompilationError as e:
                print(isinstance(e, tkdbg.KernelError), "nothing_here" in
                      str(e))
        """)
        self.assertEqual(done.stdout, "True True\n")

    def test_decorated_before_install(self):
        path = self.write("""
            import tkdbg
            x = torch.arange(16.0)
            tkdbg.install(quiet=True)
            z = torch.zeros(16, device="cuda")
            add[(1,)](x, x, z, 16, BLOCK=16)
            print(z.sum().item())
            tkdbg.uninstall()
            try:
                add[(1,)](x, x, z, 16, BLOCK=16)
            except Exception as e:
                print("back")
        """, head=HEAD)
        import subprocess
        import sys
        done = subprocess.run([sys.executable, path], text=True,
                              env=support.environment(), cwd=self.folder.name,
                              capture_output=True)
        self.assertEqual(done.stdout, "240.0\nback\n", done.stderr)

    def test_interpreter_variable_does_not_matter(self):
        done = self.run_installed("""
            x = torch.arange(16.0)
            z = torch.zeros(16, device="cuda")
            add[(1,)](x, x, z, 16, BLOCK=16)
            print(z.sum().item())
        """, env={"TRITON_INTERPRET": "1"})
        self.assertEqual(done.stdout, "240.0\n")

    def test_ours_hides_the_installed_one(self):
        done = self.run_script("""
            import triton
            print(type(triton.__spec__.loader).__module__)
        """, "-q", "--triton", "ours")
        self.assertEqual(done.stdout, "tkdbg.modules.finder\n")


if __name__ == "__main__":
    unittest.main()
