"""What CUDA refuses, and what it does otherwise than the CPU."""
import os
import re
import unittest

import support

support.need("library", "torch")

import torch  # noqa: E402

if support.real_cuda():
    raise unittest.SkipTest("PyTorch has a real CUDA device")

import tkdbg  # noqa: E402
from tkdbg.vcuda import autocast  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

F = torch.nn.functional
FOUND = "found at least two devices, cuda:0 and cpu!"


@triton.jit
def add_one(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


class Mixing(unittest.TestCase):
    def setUp(self):
        self.a = torch.ones(3, device="cuda")
        self.b = torch.ones(3)

    def refused(self, text, function, *args, error=RuntimeError, **kwargs):
        with self.assertRaises(error) as caught:
            function(*args, **kwargs)
        self.assertIn(text, str(caught.exception))

    def test_elementwise(self):
        a, b = self.a, self.b
        self.refused(FOUND, lambda: a + b)
        self.refused(FOUND, torch.maximum, a, b)
        self.refused(FOUND, torch.where, a > 0, a, b)
        self.refused(FOUND, torch.allclose, a, b)
        self.refused(FOUND, F.mse_loss, a, b)
        self.refused("cuda:0 and cuda:1", lambda: a + a.to("cuda:1"))
        self.refused(FOUND, torch.add, a, a, out=torch.empty(3))

    def test_others_name_the_argument(self):
        a, b = self.a, self.b
        self.refused("got mat2 is on cpu, different from other tensors on "
                     "cuda:0 (when checking argument in method "
                     "wrapper_CUDA_mm)", torch.mm, a[:, None], b[None])
        self.refused("wrapper_CUDA_addmm", torch.nn.Linear(3, 3), a[None])
        self.refused("wrapper_CUDA_cat", torch.cat, [a, b])
        self.refused("wrapper_CUDA__index_select", F.embedding,
                     torch.zeros(2, dtype=torch.long), a[:, None])
        self.refused("got target", F.cross_entropy, a[None],
                     torch.zeros(1, dtype=torch.long))
        self.refused("wrapper_CUDA__equal", torch.equal, a, b)

    def test_indices(self):
        self.assertTrue(self.a[torch.tensor([0])].is_cuda)
        self.refused("indices should be either on cpu or on the same device "
                     "as the indexed tensor (cpu)",
                     lambda: self.b[torch.tensor([0], device="cuda")])

    def test_what_torch_func_wraps(self):
        a, b = self.a, self.b
        text = "found at least two devices"
        self.refused(text, torch.vmap(lambda x, y: x + y), a, b)
        self.refused(text, torch.vmap(lambda x: x * b), a)
        self.refused(text, torch.func.grad(lambda x: (x * b).sum()), a)
        self.refused("on the same device", torch.vmap(torch.dot),
                     a[:, None], b[:, None])
        for found in (torch.vmap(lambda x: x + b[0])(a),
                      torch.vmap(torch.dot)(a[:, None], a[:, None]),
                      torch.func.grad(lambda x: (x * a).sum())(a),
                      torch.vmap(torch.func.grad(lambda x: x * x))(a)):
            self.assertTrue(found.is_cuda)
        self.assertFalse(torch.vmap(lambda x: x * b)(b).is_cuda)

    def test_packed_sequences(self):
        """Their batch sizes are on the CPU."""
        from torch.nn.utils import rnn
        x, lengths = torch.ones(3, 5, 4, device="cuda"), torch.tensor(
            [2, 5, 3])
        for cls in torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN:
            layer = cls(4, 6, batch_first=True).cuda()
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True,
                                              enforce_sorted=False)
            found, counts = rnn.pad_packed_sequence(layer(packed)[0],
                                                    batch_first=True)
            self.assertEqual(counts.device.type, "cpu")
            torch.testing.assert_close(found[1], layer(x)[0][1])
            self.assertTrue(found.is_cuda)
            found.sum().backward()
            self.assertTrue(layer.weight_hh_l0.grad.is_cuda)
            self.refused("Input and parameter tensors are not at the same "
                         "device", layer.cpu(), packed)
        self.refused("should be a 1D CPU int64 tensor, but got 1D cuda:0 Long",
                     rnn.pack_padded_sequence, x, lengths.cuda())

    def test_indices_of_what_is_written(self):
        """They may be on a device when the tensor is not, as on CUDA."""
        at = torch.tensor([0, 2], device="cuda")
        for index, value, wanted in (
                (at, 5.0, [5, 1, 5, 1]), (at > 1, 5.0, None),
                (at, torch.tensor([2.0, 3.0]), [2, 1, 3, 1]),
                (at, torch.tensor(3.0, device="cuda"), [3, 1, 3, 1])):
            b = torch.ones(4 if wanted else 2)
            b[index] = value
            self.assertEqual(b.tolist(), wanted or [1, 5])
            self.assertEqual(b.device.type, "cpu")
        b = torch.ones(3)
        b.index_put_((at,), torch.ones(2), accumulate=True)
        self.assertEqual(b.index_put((at,), torch.zeros(2)).tolist(),
                         [0, 1, 0])
        self.assertEqual(b.tolist(), [2, 1, 2])
        text = "found at least two devices, cuda:0 and cpu!"
        self.refused(text, b.__setitem__, at, self.a[:2])
        self.refused(text, self.a.__setitem__, at, b[:2])

    def test_numpy(self):
        text = ("can't convert cuda:0 device type tensor to numpy. Use "
                "Tensor.cpu() to copy the tensor to host memory first.")
        self.refused(text, self.a.numpy, error=TypeError)
        numpy = __import__("numpy")
        self.refused(text, numpy.asarray, self.a, error=TypeError)
        self.assertEqual(self.a.cpu().numpy().tolist(), [1] * 3)

    def test_gradients(self):
        p = torch.nn.Parameter(self.b)
        with self.assertRaisesRegex(RuntimeError, "assigned grad"):
            p.grad = self.a

    def test_gradients_of_custom_functions(self):
        """They are where the results were, whatever was used before."""
        seen = []

        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * 2, "no tensor", y

            @staticmethod
            def backward(ctx, g, none, h):
                seen.append((str(g.device), none, str(h.device)))
                g = -g * torch.ones(3, device=g.device)
                return g, h * torch.ones(3, device=h.device)

        for device in "cuda:0", "cpu", "cuda:0":
            x, y = (torch.ones(3, device=device, requires_grad=True)
                    for _ in range(2))
            u, _, w = Twice.apply(x, y)
            self.assertEqual(str(w.device), device)
            (u + w).sum().backward()
            self.assertEqual(seen.pop(), (device, None, device))
            self.assertEqual(str(x.grad.device), device)
        u, _, w = Twice.apply(x.cpu(), y.cpu())
        (u + w).sum().backward()
        self.assertEqual(seen.pop(), ("cpu", None, "cpu"))
        self.assertEqual(str(x.grad.device), "cuda:0")

    def test_generators(self):
        here = torch.Generator("cuda").manual_seed(1)
        self.assertEqual(here.device, torch.device("cuda"))
        self.assertTrue(torch.rand(2, device="cuda", generator=here).is_cuda)
        self.refused("Expected a 'cuda' device type for generator but found "
                     "'cpu'", torch.rand, 2, device="cuda",
                     generator=torch.Generator())
        self.refused("Expected a 'cpu' device type", self.b.normal_,
                     generator=here)

    def test_tensors_without_memory(self):
        y = torch.empty(3, device="cuda")
        add_one[(1,)](torch.empty(0), y, 0, BLOCK=4)

    def test_what_is_allowed(self):
        a, b = self.a, self.b
        for result in (a + torch.tensor(1.0), a.copy_(b), a.view_as(b),
                       a.expand_as(b), torch.where(a > 0, a,
                                                   torch.tensor(0.0)),
                       b.type_as(a), torch.zeros_like(b, device="cuda")):
            self.assertTrue(result.is_cuda)
        self.assertFalse(b.copy_(a).is_cuda)
        self.assertFalse(a.type_as(b).is_cuda)
        a[:2] = b[:2]
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            a.expand(2, 3), torch.tensor([3, 2]), batch_first=True)
        self.assertTrue(packed.data.is_cuda)
        self.assertFalse(packed.batch_sizes.is_cuda)

    def test_kernels(self):
        y = torch.empty(3, device="cuda")
        self.refused("Pointer argument (at 0) cannot be accessed from Triton "
                     "(cpu tensor?)", add_one[(1,)], self.b, y, 3, BLOCK=4,
                     error=ValueError)
        self.refused("(at 1)", add_one[(1,)], self.a, self.b, 3, BLOCK=4,
                     error=ValueError)
        add_one[(1,)](self.b.pin_memory(), y, 3, BLOCK=4)
        self.assertEqual(y.tolist(), [2] * 3)

    def test_lenient(self):
        options = tkdbg.options()
        options.lenient_device = True
        self.addCleanup(setattr, options, "lenient_device", False)
        self.assertTrue((self.a + self.b).is_cuda)
        self.assertEqual(self.a.numpy().tolist(), [1] * 3)
        add_one[(1,)](self.b, self.b, 3, BLOCK=4)
        self.assertEqual(self.b.tolist(), [2] * 3)


class Autocast(unittest.TestCase):
    def test_lists(self):
        x = torch.randn(4, 8, device="cuda")
        w = torch.randn(8, 8, device="cuda")
        half, full = torch.float16, torch.float32
        with torch.autocast("cuda", dtype=half):
            y = x @ w
            for result in (y, F.linear(x, w), torch.einsum("ij,jk", x, w),
                           F.gelu(y), F.relu(y), y + y, torch.bmm(
                               x[None], w[None]), F.silu(y), y.abs()):
                self.assertIs(result.dtype, half)
            for result in (torch.softmax(y, -1), F.log_softmax(y, -1),
                           F.layer_norm(y, (8,)), torch.exp(y), y.pow(2),
                           y.sum(), y.sum(0), y.norm(), y.norm(dim=0),
                           y.cumsum(0), F.softplus(y), y.prod(), y + x,
                           F.mse_loss(y, y), torch.logsumexp(y, 0),
                           torch.dot(y[0], x[0]), y.abs().rsqrt(),
                           F.cross_entropy(y, torch.zeros(
                               4, dtype=torch.long, device="cuda"))):
                self.assertIs(result.dtype, full)
            self.assertIs(torch.softmax(y, -1, dtype=half).dtype, half)
            self.assertIs((x.double() @ w.double()).dtype, torch.float64)
            with torch.autocast("cuda", enabled=False):
                self.assertIs((x @ w).dtype, full)
            with self.assertRaisesRegex(RuntimeError, "unsafe to autocast"):
                F.binary_cross_entropy(torch.sigmoid(y), y)
        self.assertIs((x @ w).dtype, full)

    def test_lists_are_those_of_pytorch(self):
        """PyTorch's packages bring the header that has CUDA's lists."""
        header = os.path.join(os.path.dirname(torch.__file__), "include",
                              "ATen", "autocast_mode.h")
        if not os.path.exists(header):
            self.skipTest("this PyTorch brings no headers")
        with open(header) as file:
            text = file.read().replace("\\\n", " ")
        for name, ours in {
                "LOWER_PRECISION_FP": autocast.LOWER,
                "FP32": autocast.FP32,
                "FP32_SET_OPT_DTYPE": autocast.SET_DTYPE,
                "PROMOTE": autocast.PROMOTE}.items():
            macro = re.search(rf"define AT_FORALL_{name}\(_\)(.*)", text)
            if macro is None:
                self.skipTest("this PyTorch's header is an older one")
            theirs = {".".join(re.split(r",\s*", one))
                      for one in re.findall(r"_\(([^)]*)\)", macro[1])}
            self.assertEqual(theirs - set(ours.split()), set(), name)
        appended = re.findall(r'"(norm\.\w+)"', text)
        self.assertEqual(
            set(appended) - set(autocast.APPEND_DTYPE.split()), set())

    def test_the_cpu_has_lists_of_its_own(self):
        x = torch.randn(4, 4)
        with torch.autocast("cuda"):
            self.assertIs((x @ x).dtype, torch.float32)
        with torch.autocast("cpu"):
            self.assertIs((x @ x).dtype, torch.bfloat16)

    def test_training(self):
        model = torch.nn.Linear(8, 8).cuda()
        with torch.autocast("cuda"):
            self.assertIs(torch.get_autocast_dtype("cuda"), torch.float16)
            loss = model(torch.ones(4, 8, device="cuda")).sum()
        loss.backward()
        self.assertIs(model.weight.grad.dtype, torch.float32)
        self.assertTrue(model.weight.grad.is_cuda)


class Library(unittest.TestCase):
    def test_an_operator_of_aten(self):
        calls = []
        library = torch.library.Library("aten", "IMPL")
        self.addCleanup(library._destroy)
        library.impl("mul.Tensor", lambda a, b: calls.append(1) or a.add(b),
                     "CUDA")
        x = torch.full((3,), 3.0, device="cuda")
        self.assertEqual((x * x).tolist(), [6] * 3)
        self.assertEqual((torch.full((2,), 3.0) * 3).tolist(), [9] * 2)
        self.assertEqual(len(calls), 1)

    def test_kernels_of_tkdbg_stand_in_no_librarys_way(self):
        torch.mm(*[torch.ones(2, 2, device="cuda").half()] * 2)
        self.assertEqual([name for name in torch.library._impls
                          if name.startswith("aten/mm")
                          and name.endswith("/BackendSelect")], [])

    def test_kernels_of_a_library_stand_in_tkdbgs_way(self):
        calls = []
        library = torch.library.Library("aten", "IMPL")
        self.addCleanup(library._destroy)
        for name in "fill_.Scalar", "cumprod":
            library.impl(name, lambda x, n, *a, name=name, **k: calls.append(
                name) or x.zero_(), "CUDA")
        x = torch.empty(3, device="cuda")
        self.assertEqual([str(n) for n in x.tolist()], ["nan"] * 3)
        torch.cumprod(x.fill_(5).half(), 0)
        self.assertEqual(calls, ["fill_.Scalar", "cumprod"])

    def test_devices_that_pytorchs_own_code_asks_for(self):
        asked = []

        def copy(x, dtype=None, device=None, **others):
            asked.append(str(device))
            return torch.zeros(x.shape, dtype=dtype or x.dtype,
                               device=device or x.device)

        library = torch.library.Library("aten", "IMPL")
        self.addCleanup(library._destroy)
        library.impl("_to_copy", copy, "CUDA")
        x = torch.ones(8, device="cuda")
        self.assertEqual(torch.quantile(x, x[:3] / 2).device.type, "cuda")
        self.assertIn("cuda:0", asked)
        self.assertNotIn("cpu", asked)

    def test_a_library_with_two_keys(self):
        library = torch.library.Library("tkdbg_test", "DEF")
        self.addCleanup(library._destroy)
        library.define("where(Tensor x) -> Tensor")
        library.impl("where", lambda x: x + 1, "CPU")
        library.impl("where", lambda x: twice(x), "CUDA")
        where = torch.ops.tkdbg_test.where
        self.assertEqual(where(torch.ones(2)).tolist(), [2, 2])
        self.assertEqual(where(torch.ones(2, device="cuda")).tolist(), [2, 2])
        self.assertEqual(where(torch.full((2,), 4.0, device="cuda")).tolist(),
                         [5, 5])

    def test_custom_op(self):
        if not hasattr(torch.library, "custom_op"):
            self.skipTest("this PyTorch has no custom_op")

        @torch.library.custom_op("tkdbg_test::inc", mutates_args=(),
                                 device_types="cuda")
        def inc(x: torch.Tensor) -> torch.Tensor:
            assert x.is_cuda
            return twice(x)

        @inc.register_kernel("cpu")
        def _(x):
            return x - 1

        inc.register_autograd(lambda ctx, grad: grad * 7)
        x = torch.ones(3, device="cuda", requires_grad=True)
        y = inc(x)
        y.sum().backward()
        self.assertEqual((y.tolist(), x.grad.tolist()), ([2] * 3, [7] * 3))
        self.assertEqual(inc(torch.ones(2)).tolist(), [0, 0])

    def test_triton_op(self):
        if not hasattr(torch.library, "triton_op"):
            self.skipTest("this PyTorch has no triton_op")

        @torch.library.triton_op("tkdbg_test::by_triton", mutates_args=())
        def by_triton(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            torch.library.wrap_triton(add_one)[(1,)](x, y, x.numel(), BLOCK=4)
            return y
        self.assertEqual(by_triton(torch.ones(3, device="cuda")).tolist(),
                         [2] * 3)

    def test_overloads_that_only_cuda_has(self):
        x = torch.full((2, 2), 3.0, device="cuda", dtype=torch.bfloat16)
        full = {"out_dtype": torch.float32}
        for result in (torch.mm(x, x, **full),
                       torch.bmm(x[None], x[None], **full)[0],
                       torch.addmm(torch.zeros_like(x), x, x, **full)):
            self.assertIs(result.dtype, torch.float32)
            self.assertEqual(result.tolist(), [[18, 18]] * 2)
        out = torch.empty(2, 2, device="cuda")
        self.assertIs(torch.addmm(out, x, x, out=out, beta=0, **full), out)
        self.assertEqual(out.tolist(), [[18, 18]] * 2)

    def test_every_key_sees_the_device(self):
        seen = []
        library = torch.library.Library("tkdbg_keys", "DEF")
        self.addCleanup(library._destroy)
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", lambda x: seen.append(x.device) or x + 1,
                     "CompositeExplicitAutograd")
        torch.ops.tkdbg_keys.f(torch.ones(2, device="cuda"))
        self.assertEqual(seen, [torch.device("cuda:0")])

    def test_a_second_kernel(self):
        library = torch.library.Library("tkdbg_second", "DEF")
        self.addCleanup(library._destroy)
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", lambda x: x + 1, "CUDA")
        with self.assertWarnsRegex(UserWarning, "dispatch key: CUDA"):
            library.impl("f", lambda x: x + 2, "CUDA", allow_override=True)
        with self.assertRaisesRegex(
                RuntimeError, "overriding f's behavior for CUDA dispatch key "
                "and tkdbg_second namespace"):
            library.impl("f", lambda x: x + 3, "CUDA", allow_override=False)
        x = torch.ones(2, device="cuda")
        self.assertEqual(torch.ops.tkdbg_second.f(x).tolist(), [3, 3])


def twice(x):
    """x + 1 by a kernel."""
    y = torch.empty_like(x)
    add_one[(1,)](x, y, x.numel(), BLOCK=4)
    return y


class Graphs(unittest.TestCase):
    def test_replay(self):
        graph, x = torch.cuda.CUDAGraph(), torch.zeros(3, device="cuda")
        count = torch.zeros(1, device="cuda")
        with torch.cuda.graph(graph):
            y = twice(twice(x) * 2)
            count += 1
            self.assertTrue(torch.cuda.is_current_stream_capturing())
        self.assertEqual(count.item(), 0)
        x.fill_(10)
        graph.replay()
        graph.replay()
        self.assertEqual((y.tolist(), count.item()), ([23] * 3, 2))

    def test_a_capture_changes_nothing(self):
        x = torch.arange(3.0, device="cuda")
        y = torch.zeros(3, device="cuda")
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            for _ in range(2):
                add_one[(1,)](x, y, 3, BLOCK=4)
        self.assertEqual((x.tolist(), y.tolist()), ([0, 1, 2], [0] * 3))

    def test_training(self):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1).cuda()
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        x, graph = torch.ones(4, 3, device="cuda"), torch.cuda.CUDAGraph()
        before = model.weight.detach().clone()
        with torch.cuda.graph(graph):
            loss = model(x).pow(2).mean()
            loss.backward()
            optimiser.step()
        self.assertTrue(torch.equal(before, model.weight))
        losses = []
        for _ in range(3):
            graph.replay()
            losses.append(loss.item())
        self.assertGreater(losses[0], losses[2])

    def test_the_host_must_not_wait(self):
        x = torch.ones(2, device="cuda")
        for read in (x.cpu, x.sum().item, torch.cuda.synchronize,
                     lambda: bool(x[0] > 0), lambda: x[x > 0]):
            with self.assertRaisesRegex(RuntimeError, "captur"):
                with torch.cuda.graph(torch.cuda.CUDAGraph()):
                    read()
        self.assertFalse(torch.cuda.is_current_stream_capturing())


class Memory(unittest.TestCase):
    def test_figures(self):
        c = torch.cuda
        before = c.memory_allocated()
        c.reset_peak_memory_stats()
        x = torch.empty(1 << 20, device="cuda")
        y = x[:10]
        self.assertEqual(c.memory_allocated() - before, 4 << 20)
        del x
        self.assertEqual(c.memory_allocated() - before, 4 << 20)
        del y
        self.assertEqual(c.memory_allocated(), before)
        self.assertEqual(c.max_memory_allocated() - before, 4 << 20)
        self.assertEqual(c.memory_allocated(1), 0)
        free, total = c.mem_get_info()
        self.assertLess(0, free)
        self.assertLessEqual(free, total)
        self.assertIn("allocated_bytes.all.peak", c.memory_stats())


class Device(support.ScriptCase):
    def test_models(self):
        for model, name, capability, count in (
                ("sm_80", "A100", (8, 0), 108), ("sm_100", "B200",
                                                 (10, 0), 148)):
            done = self.run_script("""
                import torch, triton
                p = torch.cuda.get_device_properties(0)
                print(p.name, torch.cuda.get_device_capability(),
                      p.multi_processor_count,
                      triton.runtime.driver.active.get_current_target().arch)
            """, "--device", model)
            self.assertIn(f"NVIDIA {name}", done.stdout)
            self.assertIn(f"{capability} {count} {model[3:]}", done.stdout)


class Probes(support.ScriptCase):
    triton = "ours"  # it launches nothing

    def test_programs_that_ask_a_driver(self):
        done = self.run_script("""
            import subprocess, torch
            try:
                subprocess.check_output(["nvidia-smi", "-L"])
            except FileNotFoundError as e:
                print(e)
            import ctypes
            ctypes.CDLL("libcuda.so.none")
        """, check=False)
        if "No such file" not in done.stdout:
            self.skipTest("this machine has an nvidia-smi")
        self.assertIn("get_device_properties() says", done.stdout)
        self.assertIn("the device is virtual and has no driver", done.stderr)

    def test_probes_by_a_shell(self):
        for probe in ("os.system('nvidia-debugdump')",
                      "subprocess.run('nvidia-debugdump', shell=True)",
                      "importlib.import_module('gpustat')"):
            done = self.run_script(f"""
                import importlib, os, subprocess, torch
                {probe}
            """, check=False)
            self.assertIn("the device is virtual and has no driver",
                          done.stderr, probe)

    def test_what_is_idle(self):
        self.assertEqual(torch.cuda.utilization(), 0)
        self.assertEqual(torch.cuda.memory_usage(), 0)
        self.assertGreater(torch.cuda.clock_rate(), 1000)
        self.assertIn("no processes", torch.cuda.list_gpu_processes())
        with self.assertRaisesRegex(RuntimeError, "no driver"):
            torch.cuda.temperature()
        with torch.cuda.profiler.profile():
            pass
        runtime = torch.cuda.cudart()
        torch.cuda.check_error(runtime.cudaProfilerStop())
        self.assertEqual(len(runtime.cudaMemGetInfo(0)), 2)


class Numbers(unittest.TestCase):
    def test_devices_by_number(self):
        self.assertEqual(torch.device(0), torch.device("cuda:0"))
        self.assertEqual(torch.nn.Linear(2, 2).to(1).weight.device.index, 1)
        with torch.device(1):
            self.assertEqual(torch.ones(2).device.index, 1)


E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2


class Scaled(unittest.TestCase):
    """As on an H100 with PyTorch 2.11."""

    def product(self, a=E4, b=E4, m=32, n=32, k=32, left=(), right=(),
                columns=True, bias=None, out=torch.bfloat16, **kwargs):
        """One of ones and its largest difference from the same in fp32."""
        torch.manual_seed(0)
        x = torch.randn(m, k, device="cuda").to(a)
        y = torch.randn(n, k, device="cuda").to(b).t()
        y = y if columns else y.contiguous()
        scales = [torch.rand(s, device="cuda") for s in (left, right)]
        if bias is not None:
            kwargs["bias"] = torch.ones(n, device="cuda", dtype=bias)
        result = torch._scaled_mm(x, y, *scales, out_dtype=out, **kwargs)
        self.assertEqual((result.dtype, str(result.device)), (out, "cuda:0"))
        plain = x.float() * scales[0] @ (y.float() * scales[1])
        plain += int(bias is not None)
        return (result.float() - plain).abs().max()

    def test_what_cublas_takes(self):
        rows = {"left": (32, 1), "right": (1, 32)}
        for given in ({}, {"b": E5}, {"a": E5}, {"out": torch.float16},
                      {"out": torch.float32}, {"m": 5}, rows, {"a": E5, **rows},
                      {"bias": torch.bfloat16},
                      {"bias": torch.bfloat16, **rows},
                      {"bias": torch.float16, "out": torch.float16},
                      {"scale_result": torch.full((), 2., device="cuda")}):
            self.assertLess(self.product(**given), 0.1, given)
        for given in ({"out": E4}, {"a": E5, "out": E5},
                      {"bias": torch.float16, "out": E4}):
            self.assertLess(self.product(**given), 2, given)

    def test_scales_of_blocks(self):
        x = torch.randn(256, 256, device="cuda").to(E4)
        y = torch.randn(256, 256, device="cuda").to(E4).t()
        rows = torch.rand(2, 256, device="cuda").t()
        squares = torch.rand(2, 2, device="cuda")
        wide = rows.repeat_interleave(128, 1)
        wider = squares.repeat_interleave(128, 0).repeat_interleave(128, 1)
        for left, right, plain in (
                (rows, squares.t(), (x.float() * wide) @
                 (y.float() * wider.t())),
                (rows, rows.t(), (x.float() * wide) @
                 (y.float() * wide.t()))):
            result = torch._scaled_mm(x, y, left, right,
                                      out_dtype=torch.float32)
            self.assertTrue(result.is_cuda)
            torch.testing.assert_close(result, plain)
        if not hasattr(F, "scaled_mm"):
            return
        kind = F.ScalingType
        filled = F.pad(squares.t(), (0, 0, 0, 2)).t().contiguous().t()
        for right, recipe, plain in (
                (filled, kind.BlockWise128x128,
                 (x.float() * wide) @ (y.float() * wider.t())),
                (rows, kind.BlockWise1x128,
                 (x.float() * wide) @ (y.float() * wide.t()))):
            result = F.scaled_mm(x, y, rows, kind.BlockWise1x128, right,
                                 recipe, output_dtype=torch.float32)
            self.assertTrue(result.is_cuda)
            torch.testing.assert_close(result, plain)
        with self.assertRaisesRegex(ValueError, "shape 4 x 2 Float elements, "
                                    r"got \[2, 2\]"):
            F.scaled_mm(x, y, rows, kind.BlockWise1x128, squares,
                        kind.BlockWise128x128)

    def test_what_cublas_refuses(self):
        half, one, both = torch.float16, torch.float32, torch.bfloat16
        for text, given in (
                ("divisible by 16 but got mat1 shape: (32x24).", {"k": 24}),
                ("mat2 shape (32x24) must be divisible by 16", {"n": 24}),
                ("Only multiplication of row-major and column-major",
                 {"columns": False}),
                ("CUBLAS_STATUS_NOT_SUPPORTED", {"out": torch.int8}),
                ("CUBLAS_STATUS_NOT_SUPPORTED", {"out": E5}),
                ("Cannot convert ScalarType Float8_e4m3fnuz",
                 {"a": torch.float8_e4m3fnuz}),
                ("Bias must be Float16 to compute Half output, but got "
                 "BFloat16", {"bias": both, "out": half}),
                ("Bias must be BFloat16 to compute BFloat16 output, but got "
                 "Half", {"bias": half}),
                ("Bias is not supported when out_dtype is set to Float32",
                 {"bias": both, "out": one}),
                ("Bias must be BFloat16 or Half, but got Float",
                 {"bias": one})):
            with self.assertRaises(RuntimeError, msg=text) as caught:
                self.product(**given)
            self.assertIn(text, str(caught.exception))

    def test_two_of_e5m2(self):
        """By every name that it has."""
        x = torch.ones(32, 32, device="cuda").to(E5)
        one = torch.ones((), device="cuda")
        out = torch.empty(32, 32, device="cuda", dtype=torch.bfloat16)
        wise = getattr(F, "ScalingType", None)
        wise = wise and wise.TensorWise
        for call in (
                lambda: torch._scaled_mm(x, x.t(), one, one),
                lambda: torch._scaled_mm(input=x, mat2=x.t(), scale_a=one,
                                         scale_b=one),
                lambda: torch._scaled_mm(x, x.t(), one, one, out=out,
                                         out_dtype=torch.bfloat16),
                lambda: torch.ops.aten._scaled_mm(x, x.t(), one, one),
                lambda: torch.ops.aten._scaled_mm.default(x, x.t(), one, one),
                *([lambda: F.scaled_mm(x, x.t(), one, wise, one, wise)]
                  if wise else [])):
            with self.assertRaisesRegex(ValueError, "Multiplication of two "
                                        "Float8_e5m2 matrices is not "):
                call()

    def test_operators_by_their_names(self):
        x = torch.ones(4, 4, device="cuda", dtype=torch.int32)
        for call in torch.mm, torch.ops.aten.mm, torch.ops.aten.mm.default:
            with self.assertRaisesRegex(RuntimeError, "not implemented for "
                                        "'Int'"):
                call(x, x)
            call(x.float(), x.float())
            call(x.cpu(), x.cpu())


if __name__ == "__main__":
    unittest.main()
