"""Files that PyTorch's compiler wrote; tests/support/output_code.py is in
their form."""
import os
import unittest

import support

support.need("library", "torch")

FIXTURE = os.path.join(support.ROOT, "tests", "support", "output_code.py")

HEAD = f"""
    import runpy
    import tkdbg
    import torch
    FIXTURE = {FIXTURE!r}
"""

CHECK = """
    def check_results(module):
        torch.manual_seed(0)
        for rows in 1, 7, 70:
            x, y = torch.randn(2, rows, 100, device="cuda").unbind(0)
            x = 1 + x / 100
            total, sums, products = module["call"]([x, y, rows])
            want = torch.relu(x.double() + y.double()).sum(1)
            torch.testing.assert_close(total.double(), want, rtol=1e-6,
                                       atol=1e-5)
            for got, want in ((sums, x.double().cumsum(1)),
                              (products, x.double().cumprod(1))):
                assert got.is_cuda
                torch.testing.assert_close(got.double(), want, rtol=1e-5,
                                           atol=1e-5)

    def check_grids(kernel):
        # older versions write a grid argument
        x, z = torch.randn(300, device="cuda"), torch.empty(300).cuda()
        block = kernel.configs[0].kwargs["XBLOCK"]
        for grid in (-(-300 // block), ), lambda meta: (
                -(-300 // meta["XBLOCK"]), 1, 1):
            z.zero_()
            kernel.run(x, x, z, 300, grid=grid, stream=0)
            assert torch.equal(z, torch.relu(x + x))

    def check_arguments(kernel):
        try:
            kernel.run(300, stream=0)
        except TypeError as e:
            assert str(e) == (
                "triton_poi_fused_add_0.run takes 4 arguments (in_ptr0, "
                "in_ptr1, out_ptr0, xnumel), not 1"), e
        else:
            assert False

    def check_uninstall():
        from torch._inductor.async_compile import AsyncCompile
        from torch._inductor.runtime import triton_heuristics
        functions = lambda: (AsyncCompile.triton,
                             triton_heuristics.CachingAutotuner.run)
        assert all("tkdbg" in f.__module__ for f in functions())
        tkdbg.uninstall()
        assert all("torch" in f.__module__ for f in functions())

    def check_line(path):
        try:
            x = torch.randn(7, 100, device="cuda")
            runpy.run_path(path)["call"]([x, x, 7])
        except tkdbg.KernelError as e:
            print(e)
        else:
            assert False

    module = runpy.run_path(FIXTURE)
    check_results(module)
    check_grids(module["triton_poi_fused_add_0"])
    check_arguments(module["triton_poi_fused_add_0"])
    check_line("output_code.py")
    runpy.run_path(FIXTURE, run_name="__main__")
    check_uninstall()
    print("all right")
"""


class OutputCode(support.ScriptCase):

    def with_a_bug(self):
        """Writes the fixture with a wrong address; the line of it."""
        before = "tmp1 = tl.load(in_ptr1 + (x0), xmask)"
        with open(FIXTURE) as f:
            text = f.read()
        self.write(text.replace(before, before.replace("x0", "x0 + 1")),
                   "output_code.py")
        return 1 + text.count("\n", 0, text.index(before))

    def test_output_code(self):  # one test: importing the compiler is slow
        line = self.with_a_bug()
        done = self.run_script(CHECK, head=HEAD)
        self.assertIn("all right\n", done.stdout)
        self.assertIn(f"output_code.py:{line}:", done.stdout)
        self.assertIn("load past the end of in_ptr1", done.stdout)
        self.assertIn("tkdbg: ran once instead of a benchmark", done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1)  # which it caught

    def test_torch_compile_on_the_cpu(self):
        done = self.run_script("""
            import torch
            from torch._inductor import config
            config.cpu_backend = "triton"
            config.compile_threads = 1

            def f(x, y):
                return torch.relu(x + y).softmax(-1), x.sum(0)

            x, y = torch.randn(2, 9, 100).unbind(0)
            for got, want in zip(torch.compile(f)(x, y), f(x, y)):
                torch.testing.assert_close(got, want)
            print("same")
        """, "--no-virtual-cuda", env={
            "TORCHINDUCTOR_CACHE_DIR": self.path("cache")})
        self.assertEqual(done.stdout, "same\n")
        self.assertRegex(done.stderr, r"tkdbg: [1-9] launch")
        self.assertNotIn("Warning", done.stderr)


if __name__ == "__main__":
    unittest.main()
