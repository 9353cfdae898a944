"""torch.compile on the virtual device: kernels that PyTorch's compiler writes
for CUDA, run and told of at the program's own lines."""
import glob
import importlib.util
import os
import re
import unittest

import support

support.need("library", "torch")

from tkdbg import modelled, torch_private  # noqa: E402

TRACED = "what is traced is the same beside any Triton"
PAGE = os.path.join(support.ROOT, "docs", "torch-compile.md")
HEAD = """
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    torch.manual_seed(0)

    def randn(*shape, **kwargs):
        return torch.randn(*shape, device="cuda", **kwargs)

    def check(function, *args, compiled=None, **tolerance):
        got = (compiled or torch.compile(function))(*args)
        want = function(*args)
        assert got.device == want.device, (got.device, want.device)
        torch.testing.assert_close(got, want, **tolerance)
"""


def without_compiler():
    """Why PyTorch's compiler does not run here; "" if it does."""
    if not hasattr(__import__("torch"), "compile"):
        return "this PyTorch has no torch.compile"
    return ""


@unittest.skipIf(without_compiler(), without_compiler())
class Compiled(support.ScriptCase):
    def compile(self, text, *options, **kwargs):
        env = {"TORCHINDUCTOR_CACHE_DIR": self.path("inductor"),
               **kwargs.pop("env", {})}
        return self.run_script(
            text, "--torch-compile", "inductor", *options, env=env,
            **{"head": HEAD, **kwargs})

    def test_forward_and_backward(self):
        done = self.compile("""
            class Block(nn.Module):
                def __init__(self, d):
                    super().__init__()
                    self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
                    self.norm = nn.LayerNorm(d)
                    self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(),
                                             nn.Linear(2 * d, d))

                def forward(self, x):
                    b, t, d = x.shape
                    q, k, v = self.qkv(x).view(b, t, 3, 2, d // 2).permute(
                        2, 0, 3, 1, 4)
                    a = F.scaled_dot_product_attention(q, k, v,
                                                       is_causal=True)
                    x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
                    return x + self.mlp(self.norm(x))

            model, x = Block(32).cuda(), randn(2, 8, 32)
            y = model(x)
            y.pow(2).sum().backward()
            want = [p.grad.clone() for p in model.parameters()]
            model.zero_grad()
            z = torch.compile(model)(x)
            torch.testing.assert_close(z, y)
            z.pow(2).sum().backward()
            for p, grad in zip(model.parameters(), want):
                assert p.grad.is_cuda
                torch.testing.assert_close(p.grad, grad, rtol=1e-3, atol=1e-4)
            optimizer = torch.optim.Adam(model.parameters())
            before = model.qkv.weight.detach().clone()
            torch.compile(optimizer.step)()
            assert not torch.equal(model.qkv.weight, before)
        """)
        self.assertRegex(done.stderr, r"tkdbg: \d+ launches")

    @support.only_ours(TRACED)
    def test_functions(self):
        """Of several ways to compute a product, Triton's first is taken,
        without times, on any machine."""
        done = self.compile("""
            x, y = randn(8, 100), randn(8, 100)
            check(lambda x, y: torch.softmax(x + y.sin(), -1) * 2, x, y)
            check(lambda x: x.cumsum(-1) + x.sort(-1)[0], x)
            i = torch.randint(0, 5, (8,), device="cuda")
            check(lambda x: torch.zeros(5, 100, device="cuda").index_add(
                0, i, x), x)
            h = randn(32, 64, dtype=torch.half)
            check(lambda h: (h @ h.t()).relu().sum(-1), h, rtol=1e-2, atol=1)
            check(F.cross_entropy, x, i)
            same = lambda x: x.sin() + 1
            check(same, x, compiled=torch.compile(same,
                                                  mode="reduce-overhead"))
            sizes = torch.compile(lambda x: (x * 2).softmax(-1).sum(0),
                                  dynamic=True)
            for n in 5, 17, 64:
                check(lambda x: (x * 2).softmax(-1).sum(0), randn(n, 33),
                      compiled=sizes)
            f = lambda x, y: (x @ y).relu()
            check(f, randn(64, 64), randn(64, 64),
                  compiled=torch.compile(f, mode="max-autotune"))
            from tkdbg import session
            print(sorted(session.current().requests.kernels))
        """)
        self.assertIn("triton_tem_fused", done.stdout)
        self.assertNotIn(" ms ", done.stdout + done.stderr.split("tkdbg: ")[0])

    @support.only_ours(TRACED)
    def test_places_that_only_a_gpu_tells(self):
        """C++ is told that tensors on the device are on the CPU: formulas of
        gradients, constants and modes of the program are where they belong."""
        self.compile("""
            torch.cuda.memory_allocated()  # from here on memory is counted
            def gradients(function):
                found = []
                for f in function, torch.compile(function):
                    w = torch.linspace(0, 1, 64, device="cuda")
                    x = torch.linspace(1, 2, 64, device="cuda")
                    f(w.requires_grad_(), x).sum().backward()
                    found.append(w.grad)
                torch.testing.assert_close(*found)
                assert found[1].is_cuda, found
            gradients(lambda w, x: (w * x).cpu().sin().cuda() * w)
            gradients(lambda w, x: torch.as_strided(w.sin(), (32, 2), (1, 2)))
            gradients(lambda w, x: F.dropout(w * x, 1.0))
            gradients(lambda w, x: w * x * torch.tensor(1.5, device="cuda"))

            import numpy as np
            turn = torch.compile(lambda x: np.sin(x))
            x = np.arange(10, dtype=np.float32)
            with torch.device("cuda"):
                np.testing.assert_allclose(turn(x), np.sin(x), 1e-6)
        """)

    @support.only_ours(TRACED)
    def test_what_cudas_operators_return(self):
        """Sizes and strides by which PyTorch's compiler reckons."""
        self.compile("""
            aten = torch.ops.aten
            table = randn(10, 4)
            index = torch.tensor([1, 2, 3, 1], device="cuda")
            starts = torch.tensor([0, 3], device="cuda")
            for mode in range(3):
                _, bags, sizes, largest = torch.compile(
                    lambda *args: aten._embedding_bag(*args, False, mode))(
                        table, index, starts)
                assert bags.tolist() == [0, 0, 0, 1], bags
                assert sizes.tolist() == [3, 1], sizes
                assert largest.shape == ((2, 4) if mode == 2 else (0,))
            q = randn(2, 4, 33, 16, dtype=torch.half)
            out, sums, *_ = torch.compile(
                lambda q: aten._scaled_dot_product_efficient_attention(
                    q, q, q, None, True))(q)
            assert out.stride() == (33 * 64, 16, 64, 1), out.stride()
            assert sums.shape == (2, 4, 64) and sums[0, 0, 33].isinf()
            x = randn(3)
            check(lambda x: x.fill_(torch.tensor(2.0)), x)
        """)

    @support.only_ours(TRACED)
    def test_arguments_are_let_go(self):
        """A kernel does not keep what it was first launched with."""
        self.compile("""
            import gc, weakref
            x = randn(8)
            y = torch.compile(lambda x: x.sin() + 1)(x)
            seen = weakref.ref(x)
            del x
            gc.collect()
            assert seen() is None
        """)

    @support.only_ours(TRACED)
    def test_backward_in_a_compiled_function(self):
        """Compiled autograd; and what has no Python is refused by name."""
        self.compile("""
            from torch._dynamo import compiled_autograd
            from torch._inductor.compile_fx import compile_fx_aot
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(16, 32), nn.GELU(),
                                  nn.Linear(32, 4)).cuda()
            x = randn(8, 16)
            model(x).square().mean().backward()
            want = [p.grad.clone() for p in model.parameters()]
            model.zero_grad()
            loss = torch.compile(model)(x).square().mean()
            with compiled_autograd._enable(torch.compile):
                loss.backward()
            got = [p.grad for p in model.parameters()]
            torch.testing.assert_close(got, want)

            stream = torch.cuda.Stream()
            same = torch.cuda.Stream(stream_id=stream.stream_id,
                                     device_index=0, device_type=1)
            assert same == stream
            try:
                compile_fx_aot(None, [])
            except NotImplementedError as error:
                assert "AOTInductor writes a program in C++" in str(error)
            else:
                raise AssertionError("it was not refused")
        """)

    @support.only_ours(TRACED)
    def test_no_process_is_started(self):
        """PyTorch's processes that compile kernels have nothing to do."""
        self.compile("""
            import subprocess
            start = subprocess.Popen.__init__
            started = []

            def note(self, *args, **kwargs):
                started.append(args)
                start(self, *args, **kwargs)
            subprocess.Popen.__init__ = note
            check(lambda x: x.sin() + 1, randn(8))
            assert not any("compile_worker" in str(a) for a in started)
        """, env={"TORCHINDUCTOR_COMPILE_THREADS": "2"})

    @support.only_ours(TRACED)
    def test_helpers_of_the_release(self):
        """A softmax over rows that take several trips calls helpers whose
        parameters differ between releases of PyTorch."""
        self.compile("""
            x = randn(4, 9000)
            check(lambda x: torch.log_softmax(x, -1), x)
        """)

    @support.only_ours(TRACED)
    def test_debug_folder(self):
        """What PyTorch writes of a model that it compiles runs by itself."""
        folder = self.path("debug")
        self.compile("check(lambda x: x.softmax(-1) + 1, randn(9, 40))", env={
            "TORCH_COMPILE_DEBUG": "1", "TORCH_COMPILE_DEBUG_DIR": folder})
        for name in "fx_graph_runnable.py", "output_code.py":
            found = glob.glob(f"{folder}/**/{name}", recursive=True)
            self.assertEqual(len(found), 1, name)
            with open(found[0], encoding="utf-8") as f:
                done = self.run_script(f.read(), "--why")
            self.assertRegex(done.stderr, "1 launch of kernels .* computes "
                             "what its operators do")

    @support.only_ours(TRACED)
    def test_minifier(self):
        """What PyTorch's minifier begins with, of a model that is wrong by a
        fault that PyTorch has for its own tests: why names kernel and node.
        Looking for a smaller graph starts a process for each, which takes
        minutes."""
        folder = self.path("debug")
        done = self.compile("""
            from torch._inductor import config
            config.triton.inject_relu_bug_TESTING_ONLY = "accuracy"
            torch.compile(lambda x: (x.cos() + 1).relu() * 2)(randn(20))
        """, check=False, env={
            "TORCHDYNAMO_REPRO_AFTER": "aot", "TORCHDYNAMO_REPRO_LEVEL": "4",
            "TORCH_COMPILE_DEBUG_DIR": folder})
        self.assertIn("minifier_launcher.py", done.stderr)
        text = self.only_file(folder, "minifier_launcher.py")
        done = self.compile(text, "--why", args=["run"], head="", check=False)
        self.assertRegex(done.stderr, r"is launch 1, triton_\w+\n"
                         r"  out_ptr0 should hold mul\n")

    def only_file(self, folder, name):
        found = glob.glob(f"{folder}/**/{name}", recursive=True)
        self.assertEqual(len(found), 1, name)
        with open(found[0], encoding="utf-8") as f:
            return f.read()

    @support.only_ours(TRACED)
    def test_profile(self):
        """The table says what a kernel computes, and at which lines."""
        done = self.compile("""
            def model(x):
                return (x * 2).relu()
            torch.compile(model)(randn(40))
        """, json_options={"profile": True, "quiet": True})
        self.assertRegex(done.stdout, r"triton_poi_\w+ \(")
        self.assertIn("  the kernel computes ", done.stdout)
        self.assertRegex(done.stdout, r"of script.py:\d+, in model: "
                         r"return \(x \* 2\).relu\(\)")

    def test_kernels_of_the_program_are_at_their_lines(self):
        """PyTorch's compiler copies them into a file of its own."""
        script = """
            import triton
            import triton.language as tl

            @triton.jit
            def twice(v):
                return v * 2

            @triton.jit
            def shifted(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                v = tl.load(x + i + 1, mask=i < n)
                tl.store(y + i, twice(v), mask=i < n)

            def model(x):
                y = torch.empty_like(x)
                shifted[(triton.cdiv(x.numel(), 32),)](x, y, x.numel(), B=32)
                return y + 1
            torch.compile(model)(randn(100))
        """
        done = self.compile(script, check=False)
        self.assertEqual(done.returncode, 1)
        with open(self.path("script.py"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        line = 1 + next(i for i, text in enumerate(lines) if "v = tl." in text)
        self.assertIn(f"script.py:{line}:", done.stderr)
        self.assertIn("load past the end of x", done.stderr)

    @support.only_ours(TRACED)
    def test_races_name_the_lines_of_the_model(self):
        done = self.compile("""
            def model(x, i):
                return x.index_put((i,), x[:40] * 2)
            i = torch.arange(40, device="cuda") // 2
            torch.compile(model)(randn(40), i)
        """, "--check=race", check=False)
        self.assertIn("[race]", done.stderr)
        self.assertRegex(done.stderr, r"note: of script.py:\d+, in model: "
                         r"return x.index_put\(")

    @support.only_ours(TRACED)
    def test_what_tuning_resets(self):
        """reset_to_zero clears once, as times of the configurations do."""
        self.compile("""
            import triton
            import triton.language as tl

            @triton.autotune([triton.Config({"B": b}) for b in (16, 32)],
                             ["n"], reset_to_zero=["y"])
            @triton.jit
            def add(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                m = i < n
                tl.atomic_add(y + i, tl.load(x + i, mask=m), mask=m)

            def model(x, y):
                add[lambda meta: (triton.cdiv(100, meta["B"]),)](x, y, 100)
                return y * 1
            x, compiled = randn(100), torch.compile(model)
            y = torch.ones(100, device="cuda")
            torch.testing.assert_close(compiled(x, y), x)
            torch.testing.assert_close(compiled(x, y), x * 2)
        """)

    def test_a_kernel_that_breaks_the_graph(self):
        """PyTorch's compiler takes no kernel with a hook into a graph."""
        self.compile("""
            import triton
            import triton.language as tl

            @triton.autotune([triton.Config(
                {"B": 16}, pre_hook=lambda args: args["y"].zero_())], ["n"])
            @triton.jit
            def add(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                m = i < n
                tl.atomic_add(y + i, tl.load(x + i, mask=m), mask=m)

            def model(x):
                y = torch.empty_like(x)
                add[lambda meta: (triton.cdiv(100, meta["B"]),)](
                    x.sin(), y, 100)
                return y + 1
            check(model, randn(100))
            check(lambda x: x.sin() + 1, randn(8))  # 2.13 compiles no more
        """)

    @support.only_ours(TRACED)
    def test_operators_of_the_program(self):
        """torch.library's, with and without Triton inside."""
        self.compile("""
            import triton
            import triton.language as tl

            @triton.jit
            def double(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

            @torch.library.triton_op("tests::doubled", mutates_args={})
            def doubled(x: torch.Tensor) -> torch.Tensor:
                y = torch.empty_like(x)
                torch.library.wrap_triton(double)[(triton.cdiv(
                    x.numel(), 32),)](x, y, x.numel(), B=32)
                return y

            @torch.library.custom_op("tests::filled", mutates_args=("y",))
            def filled(x: torch.Tensor, y: torch.Tensor) -> None:
                y.copy_(x.flip(0))

            @torch.library.custom_op("tests::halved", mutates_args=())
            def halved(x: torch.Tensor) -> torch.Tensor:
                return x / 2

            @halved.register_fake
            def _(x):
                return torch.empty_like(x)
            halved.register_autograd(lambda ctx, grad: grad / 2)

            def model(x):
                y = torch.empty_like(x)
                filled(doubled(x.sin()), y)
                return halved(y) + 1
            check(model, randn(100))

            found = []
            for f in (lambda x: (halved(x.cos()) * 3).sum(),) * 2:
                x = torch.linspace(0, 1, 50, device="cuda").requires_grad_()
                (torch.compile(f) if found else f)(x).backward()
                found.append(x.grad)
            torch.testing.assert_close(*found)

        """)

    @support.only_ours(TRACED)
    def test_a_graph_by_itself(self):
        """The file that is written of it may hold its kernels twice."""
        done = self.compile("""
            from torch._inductor import standalone_compile
            from torch.fx.experimental.proxy_tensor import make_fx

            def model(x):
                return x.sin().softmax(-1)
            x = randn(8, 33)
            graph = make_fx(model, tracing_mode="fake")(x)
            got = standalone_compile(graph, [x],
                                     dynamic_shapes="from_graph")(x)
            torch.testing.assert_close(
                got[0] if isinstance(got, (tuple, list)) else got, model(x))
        """)
        self.assertNotIn("error: ", done.stderr)

    @support.only_ours(TRACED)
    def test_numbers_that_are_not_constants(self):
        done = self.compile("""
            from torch._dynamo import config
            scaled = lambda x, a: x * a + 1
            with config.patch(specialize_float=False):
                compiled = torch.compile(scaled, dynamic=True)
                for a in 1.5, 2.5, -3.0:
                    check(scaled, randn(20), a, compiled=compiled)
        """)
        self.assertRegex(done.stderr, "tkdbg: 3 launches")

    @support.only_ours(TRACED)
    def test_all_configurations(self):
        text = """
            f = lambda x: (x * 2).sum(1) + 1
            check(f, randn(40, 3000), compiled=torch.compile(
                f, options={"max_autotune_pointwise": True}))
        """
        done = self.compile(text, "--check=race")
        self.assertRegex(done.stderr, r"triton_red_\w+: --check saw 1 of \d "
                         "configurations; --autotune all runs all of them")
        done = self.compile(text, "--autotune", "all")
        self.assertRegex(done.stderr, r"tkdbg: [3-9] launches")
        self.assertNotIn("disagree", done.stderr)
        self.assertNotIn("no kernel with", done.stderr)

    @support.only_ours(TRACED)
    def test_operators_that_call_the_programs_functions(self):
        """They run as the program does: a function of theirs may make tensors
        on the device."""
        self.need_flexible_attention()
        done = self.run_script("""
            import warnings
            from torch.nn.attention.flex_attention import flex_attention

            warnings.simplefilter("ignore")
            q, k, v = (randn(1, 2, 64, 16, requires_grad=True)
                       for _ in range(3))
            bias = randn(2)

            def causal(score, b, h, i, j):
                return torch.where(i >= j, score + bias[h], -float("inf"))

            scores = q @ k.transpose(-1, -2) / 4 + bias[:, None, None]
            seen = torch.ones(64, 64, device="cuda", dtype=torch.bool).tril()
            want = scores.masked_fill(~seen, -float("inf")).softmax(-1) @ v
            got = flex_attention(q, k, v, score_mod=causal)
            assert got.device == q.device, got.device
            torch.testing.assert_close(got, want, atol=1e-4, rtol=1e-4)
            got.sum().backward()
            assert q.grad.device == q.device and q.grad.abs().sum() > 0
            print("right")
        """, head=HEAD)
        self.assertIn("right\n", done.stdout)

    @support.only_ours(TRACED)
    def test_compiled_flexible_attention(self):
        self.need_flexible_attention()
        self.compile("""
            from torch.nn.attention.flex_attention import flex_attention

            def causal(score, b, h, i, j):
                return torch.where(i >= j, score, -float("inf"))

            def attend(q, k, v):
                if not torch.compiler.is_compiling():
                    return F.scaled_dot_product_attention(q, k, v,
                                                          is_causal=True)
                return flex_attention(q, k, v, score_mod=causal)
            check(attend, *(randn(1, 2, 128, 16) for _ in range(3)),
                  rtol=1e-3, atol=1e-3)
        """)

    def need_flexible_attention(self):
        name = "torch.nn.attention.flex_attention"
        if importlib.util.find_spec(name) is None:
            self.skipTest("this PyTorch has no flex_attention")

    def test_devices_and_kernels_of_the_program(self):
        """What C++ asks about a device while it is traced."""
        self.compile("""
            x, on_cpu = randn(64), torch.randn(64)
            check(lambda x: x.to("cpu").to("cuda").sin(), x)
            check(lambda x: x.to("cuda").to(torch.float64) + 1, x)
            check(lambda x: on_cpu.cuda().add(x), x)
            check(lambda x: torch.where(x > 0, x, torch.zeros(
                1, device=x.device)) + torch.arange(64, device="cuda"), x)

            check(lambda x: x + torch.ones(64).to(x.device), x)

            def cast(x):
                x = x.view(8, 8)
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    return (x @ x.t()).relu()
            check(cast, x, rtol=1e-2, atol=1e-2)

            def alias(x):
                x.to("cuda").add_(1)
                return x * 2
            a, b = x.clone(), x.clone()
            check(alias, a, compiled=lambda _: torch.compile(alias)(b))
            assert torch.equal(a, b)

            def break_here(x):
                y = x * 2
                print(y.device)
                return y.relu()
            check(break_here, x)

            import triton
            import triton.language as tl

            @triton.jit
            def double(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

            def own(x):
                x = x.sin()
                y = torch.empty_like(x)
                double[(triton.cdiv(x.numel(), 32),)](x, y, x.numel(), B=32)
                return y.cos()
            check(own, randn(100))

            # A tuner fills what a configuration gives besides its names.
            @triton.autotune([triton.Config({"B": 32}, num_warps=8)], ["n"])
            @triton.jit
            def scaled(x, y, n, B: tl.constexpr, num_warps: tl.constexpr,
                       num_stages: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                tl.store(y + i, tl.load(x + i, mask=i < n) * num_warps,
                         mask=i < n)

            def tuned(x):
                y = torch.empty_like(x)
                scaled[lambda meta: (triton.cdiv(100, meta["B"]),)](x, y, 100)
                return y + 1
            check(tuned, randn(100))
        """)

    def test_the_manuals_example(self):
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        model, = re.findall(r"```python\n(.*?)```", page, re.S)
        said = re.findall(r"```text\n(.*?)```", page, re.S)[0]
        done = self.compile(model, name="model.py", head="", check=False)
        self.assertEqual(done.returncode, 1)
        for line in said.splitlines():
            if line.lstrip().startswith(("error", "note")):
                self.assertIn(line.strip().replace("...)", ""), done.stderr)

    @support.only_ours(TRACED)
    def test_nothing_is_compiled(self):
        done = self.compile("randn(3)", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--torch-compile inductor: torch.compile has compiled "
                      "nothing", done.stderr)


@unittest.skipIf(without_compiler(), without_compiler())
class Eager(support.ScriptCase):
    triton = "ours"  # no kernel is compiled

    def test_functions_are_given_back(self):
        done = self.run_script("""
            def f(x):
                return x + 1
            assert torch.compile(f) is f
        """, head=HEAD)
        self.assertIn("torch.compile gave functions as they are; with "
                      "--torch-compile inductor", done.stderr)


class Comments(unittest.TestCase):
    """Above a kernel, in a file that PyTorch's compiler wrote."""

    def test_nodes(self):
        lines = ["x = 1\n", "# kernel path: /tmp/k.py\n",
                 "# Topologically Sorted Source Nodes: [z, sin], Original "
                 "ATen: [aten.mul, aten.sin]\n", "#   z => mul\n"]
        self.assertEqual(modelled.remarks("k", lines),
                         ["the kernel computes z, sin (aten.mul, aten.sin)"])

    def test_none_of_it(self):
        for lines in [], ["x = 1\n"], [
                "# Topologically Sorted Source Nodes: [z]\n", "x = 1\n"], [
                "# Topologically Sorted Source Nodes: [], Original ATen: []"]:
            with self.subTest(lines):
                self.assertEqual(modelled.remarks("k", lines), [])

    def test_frames(self):
        trace = (f'  File "{os.path.abspath("model.py")}", line 7, in f\n'
                 "    return x.sin()\n"
                 '  File "/x/site-packages/torch/nn/modules/a.py", line 3, '
                 "in forward\n    return g(x)\n")
        known = torch_private.traces
        self.addCleanup(setattr, torch_private, "traces", known)
        torch_private.traces = lambda name: [trace, trace, "nothing"]
        self.assertEqual(modelled.remarks("k", []),
                         ["of model.py:7, in f: return x.sin()"])


if __name__ == "__main__":
    unittest.main()
