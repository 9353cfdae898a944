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


# what TORCH_COMPILE_DEBUG=1 writes as fx_graph_runnable.py, shortened
RUNNABLE = """
    import torch
    from torch import device
    import torch._inductor.inductor_prims

    class Repro(torch.nn.Module):
        def forward(self, arg0_1, arg1_1):
            add = torch.ops.aten.add.Tensor(arg0_1, arg1_1)
            relu = torch.ops.aten.relu.default(add);  add = None
            amax = torch.ops.aten.amax.default(relu, [-1], True)
            sub = torch.ops.aten.sub.Tensor(relu, amax);  relu = amax = None
            exp = torch.ops.aten.exp.default(sub);  sub = None
            sum_1 = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
            div = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
            permute = torch.ops.aten.permute.default(arg1_1, [1, 0])
            mm = torch.ops.aten.mm.default(arg0_1, permute);  arg0_1 = None
            relu_1 = torch.ops.aten.relu.default(mm);  mm = None
            return (div, relu_1)

    def load_args(reader):
        buf0 = reader.storage(None, 7200, device=device(type='cuda', index=0))
        reader.tensor(buf0, (9, 100), is_leaf=True)
        reader.tensor(buf0, (9, 100), storage_offset=900, is_leaf=True)
    load_args._version = 0
    mod = Repro()
    from torch._dynamo.repro.after_aot import run_repro
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx
    torch._inductor.config.compile_threads = 1
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run',
                  save_dir=None, tracing_mode='real', check_str=None)
        mod, args = run_repro(mod, load_args, accuracy=False,
                              command='get_args', save_dir=None,
                              tracing_mode='real', check_str=None)
        got = compile_fx_inner(make_fx(mod)(*args), args)(list(args))
        for one, other in zip(got, mod(*args)):
            torch.testing.assert_close(one, other)
        print("same on", ", ".join(str(t.device) for t in got))
"""

AHEAD = """
    from torch._dynamo.device_interface import get_interface_for_device
    kernel = runpy.run_path(FIXTURE)["triton_poi_fused_add_0"]
    kernel.precompile()
    launcher, = kernel.launchers
    assert launcher.config is kernel.configs[0]
    assert launcher.n_regs >= 24 and launcher.n_spills == 0
    assert (launcher.shared, launcher.store_cubin) == (0, False)
    kernel.precompile()
    assert kernel.launchers == [launcher]
    src = launcher.bin.src
    assert src.signature["xnumel"] == "i32", src.signature
    assert list(src.attrs) == [(0,)], src.attrs
    assert src.constants == {(4,): launcher.config.kwargs["XBLOCK"]}
    x, z = torch.randn(300, device="cuda"), torch.empty(300).cuda()
    stream = get_interface_for_device("cuda").get_raw_stream(0)
    kernel.run(x, x, z, 300, stream=stream)
    assert torch.equal(z, torch.relu(x + x))
    z.zero_()
    launcher(x, x, z, 1, stream=stream)  # a number, although it is 1
    assert z[0] == torch.relu(x + x)[0] and not z[1:].any()
    print("right")
"""

TOO_LARGE = """
    import copy
    kernel = runpy.run_path(FIXTURE)["triton_poi_fused_add_0"]
    small = kernel.configs[0]
    small.kwargs["XBLOCK"] = 64
    large = copy.deepcopy(small)
    large.num_warps = 64  # a block has at most 1024 threads
    x, z = torch.randn(300, device="cuda"), torch.empty(300).cuda()
    kernel.configs = [large, small]
    kernel.run(x, x, z, 300, stream=0)
    print(len(kernel.launchers), kernel.launchers[0].config.kwargs,
          torch.equal(z, torch.relu(x + x)))
    kernel.configs, kernel.launchers = [large], []
    for call in lambda: kernel.run(x, x, z, 300, stream=0), kernel.precompile:
        try:
            call()
        except Exception as e:
            print(type(e).__name__)
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


    def test_fx_graph_runnable(self):
        """A graph that PyTorch wrote down is compiled for the device."""
        done = self.run_script(RUNNABLE, env={
            "TORCHINDUCTOR_CACHE_DIR": self.path("cache")})
        self.assertIn("same on cuda:0, cuda:0\n", done.stdout)
        self.assertRegex(done.stderr, r"tkdbg: [2-9] launch")

    def test_what_is_compiled_ahead(self):
        done = self.run_script(AHEAD, head=HEAD)
        self.assertEqual(done.stdout, "right\n")

    def test_the_first_configuration_that_fits(self):
        done = self.run_script(TOO_LARGE, head=HEAD)
        self.assertEqual(done.stdout, "1 {'XBLOCK': 64} True\n" +
                         "OutOfResources\n" * 2)


if __name__ == "__main__":
    unittest.main()
