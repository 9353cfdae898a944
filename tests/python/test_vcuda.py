"""The virtual CUDA device of a PyTorch without CUDA."""
import contextlib
import copy
import io
import os
import pickle
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import support

support.need("library", "torch")

import torch  # noqa: E402

if support.real_cuda():
    raise unittest.SkipTest("PyTorch has a real CUDA device")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def limits(z):
    tl.store(z, torch.iinfo(torch.int16).max)
    tl.store(z + 1, torch.finfo(torch.float8_e4m3fn).max)
    tl.store(z + 2, torch.finfo(z.dtype.element_ty).bits)


@triton.jit
def double(x, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def twice(x):
    z = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 64),)](x, z, x.numel(), BLOCK=64)
    return z


class Factories(unittest.TestCase):
    def test_every_spelling_of_the_device(self):
        for device in ("cuda", "cuda:0", torch.device("cuda"),
                       torch.device("cuda", 0), 0):
            x = torch.zeros(3, device=device)
            self.assertTrue(x.is_cuda, device)
            self.assertEqual(x.device, torch.device("cuda:0"))
            self.assertEqual(x.get_device(), 0)
            self.assertFalse(x.is_cpu)

    def test_factories(self):
        d = {"device": "cuda"}
        cpu = torch.ones(2)
        made = [
            torch.empty(2, **d), torch.zeros(2, **d), torch.ones((2, 2), **d),
            torch.full((2,), 3.0, **d), torch.rand(2, **d),
            torch.randn(2, **d), torch.randint(0, 9, (2,), **d),
            torch.randperm(4, **d), torch.arange(4, **d),
            torch.tensor([1, 2], **d), torch.as_tensor([1.0], **d),
            torch.linspace(0, 1, 3, **d), torch.eye(2, **d),
            torch.empty_like(cpu, **d), torch.zeros_like(cpu, **d),
            torch.rand_like(cpu, **d), torch.full_like(cpu, 2, **d),
            cpu.new_zeros(3, **d), cpu.new_tensor([1], **d),
            torch.empty_strided((2,), (1,), **d), torch.tril_indices(
                2, 2, **d), torch.zeros(2, pin_memory=True, **d)]
        for i, x in enumerate(made):
            self.assertTrue(x.is_cuda, i)

    def test_cpu_stays(self):
        for x in (torch.zeros(2), torch.zeros(2, device="cpu"),
                  torch.from_numpy(__import__("numpy").zeros(2)),
                  torch.Tensor([1, 2]), torch.Tensor(2),
                  torch.frombuffer(bytearray(8), dtype=torch.float32)):
            self.assertEqual(x.device.type, "cpu")
            self.assertFalse(x.is_cuda)

    def test_other_devices(self):
        x = torch.zeros(2, device="cuda:1")
        self.assertEqual((x.device, x.get_device()),
                         (torch.device("cuda:1"), 1))
        self.assertEqual((x + 1).device.index, 1)
        with torch.cuda.device(1):
            self.assertEqual(torch.cuda.current_device(), 1)
            self.assertEqual(torch.zeros(2, device="cuda").device.index, 1)
        self.assertEqual(torch.zeros(2, device="cuda").device.index, 0)
        self.assertEqual(twice(x + 3).tolist(), [6, 6])

    def test_no_such_device(self):
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.zeros(2, device="cuda:8")
        with unittest.mock.patch.dict(os.environ,
                                      CUDA_VISIBLE_DEVICES="4,5"):
            self.assertEqual(torch.cuda.device_count(), 2)
            with self.assertRaisesRegex(RuntimeError, "ordinal"):
                torch.zeros(2, device="cuda:2")

    def test_memory_that_was_not_written(self):
        for dtype, held in ((torch.float32, "nan"), (torch.int32, 2**31 - 1),
                            (torch.bool, True), (torch.bfloat16, "nan")):
            for x in (torch.empty(3, device="cuda", dtype=dtype),
                      torch.empty_like(torch.zeros(3, dtype=dtype).cuda())):
                self.assertEqual([str(n) for n in x.tolist()],
                                 [str(held)] * 3)

    def test_default_device(self):
        torch.set_default_device("cuda")
        try:
            self.assertTrue(torch.zeros(2).is_cuda)
            self.assertEqual(torch.get_default_device().type, "cuda")
            self.assertFalse(torch.zeros(2, device="cpu").is_cuda)
        finally:
            torch.set_default_device("cpu")
        self.assertFalse(torch.zeros(2).is_cuda)

    def test_device_context(self):
        with torch.device("cuda"):
            self.assertTrue(torch.zeros(2).is_cuda)
        self.assertFalse(torch.zeros(2).is_cuda)

    def test_random_numbers_are_the_cpu_generators(self):
        torch.manual_seed(3)
        a = torch.rand(5, device="cuda")
        torch.manual_seed(3)
        b = torch.rand(5)
        self.assertTrue(torch.equal(a.cpu(), b))
        torch.cuda.manual_seed(3)
        self.assertTrue(torch.equal(torch.rand(5, device="cuda"), a))

    def test_generator(self):
        g = torch.Generator(device="cuda").manual_seed(4)
        self.assertIsInstance(g, torch.Generator)
        self.assertIsInstance(torch.default_generator, torch.Generator)
        x = torch.randn(3, generator=g, device="cuda")
        self.assertTrue(x.is_cuda)

    def test_default_generators_count(self):
        (g,) = torch.cuda.default_generators
        torch.manual_seed(11)
        seed, offset = g.get_state().view(torch.int64).tolist()
        self.assertEqual((seed, offset), (11, 0))
        g.set_state(torch.tensor([11, 8]).view(torch.uint8))
        self.assertEqual((g.initial_seed(), g.get_offset()), (11, 8))
        self.assertEqual(g.clone_state().get_offset(), 8)
        torch.cuda.manual_seed(11)
        self.assertEqual(g.get_offset(), 0)
        with self.assertRaisesRegex(RuntimeError, "16 bytes"):
            g.set_state(torch.get_rng_state())


class Limits(unittest.TestCase):
    def test_finfo_and_iinfo_in_a_kernel(self):
        z = torch.zeros(3, device="cuda")
        limits[(1,)](z)
        self.assertEqual(z.tolist(), [32767, 448, 32])


class Propagation(unittest.TestCase):
    def setUp(self):
        self.x = torch.arange(6.0, device="cuda").reshape(2, 3)

    def test_results_are_on_the_device(self):
        x = self.x
        results = [x + 1, 1 - x, x @ x.T, x.sum(), x.t(), x[0], x[:, None],
                   x.max(dim=1).values, torch.stack([x, x]), x.half(),
                   torch.where(x > 1, x, 0), x.clone(), x.detach(), x.data,
                   torch.softmax(x, 1), torch.nn.functional.relu(x),
                   x.split(1)[0], x.contiguous(), torch.zeros_like(x),
                   x.new_empty(3), x.to(torch.float64), x.float(),
                   x + torch.tensor(2.0), x[torch.tensor([0])]]
        for i, y in enumerate(results):
            self.assertTrue(y.is_cuda, i)

    def test_cpu_results_stay_on_the_cpu(self):
        y = self.x.cpu()
        for z in (y, y + 1, y.double() @ y.T.double(), torch.zeros_like(y)):
            self.assertEqual(z.device.type, "cpu")

    def test_moves_copy(self):
        y = self.x.cpu()
        y[0, 0] = 50
        self.assertEqual(self.x[0, 0].item(), 0)
        z = y.cuda()
        z[0, 0] = 70
        self.assertEqual(y[0, 0].item(), 50)
        self.assertIs(z.cuda(), z)
        self.assertIs(y.cpu(), y)
        self.assertIs(z.to("cuda"), z)
        self.assertTrue(y.to(z).is_cuda)
        self.assertTrue(y.to("cuda", torch.float16).is_cuda)
        self.assertTrue(y.to(device="cuda", non_blocking=True).is_cuda)
        self.assertTrue(y.to(0).is_cuda)
        self.assertFalse(z.to(torch.device("cpu")).is_cuda)

    def test_from_numpy_moves(self):
        import numpy as np
        a = np.zeros(2, "f4")
        x = torch.as_tensor(a, device="cuda")
        y = torch.from_numpy(a).cuda()
        a[:] = 5
        self.assertEqual(x.sum().item() + y.sum().item(), 0)

    def test_type(self):
        self.assertEqual(self.x.type(), "torch.cuda.FloatTensor")
        self.assertEqual(torch.zeros(1).type(), "torch.FloatTensor")
        y = torch.zeros(2).type("torch.cuda.HalfTensor")
        self.assertTrue(y.is_cuda and y.dtype == torch.float16)

    def test_printing(self):
        self.assertEqual(repr(torch.tensor([1.0], device="cuda")),
                         "tensor([1.], device='cuda:0')")
        half = torch.tensor([1.0], device="cuda", dtype=torch.float16)
        self.assertEqual(
            str(half), "tensor([1.], device='cuda:0', dtype=torch.float16)")
        self.assertEqual(repr(torch.tensor([1.0])), "tensor([1.])")
        self.assertEqual(f"{half}", str(half))
        self.assertEqual(f"{half.sum():.1f}", "1.0")

    def test_pickle_and_deepcopy(self):
        back = pickle.loads(pickle.dumps(torch.zeros(2, device="cpu")))
        self.assertEqual(back.tolist(), [0, 0])
        data = pickle.dumps(self.x)
        self.assertNotIn(b"_tkdbg", data)
        self.assertTrue(torch.equal(pickle.loads(data), self.x))
        self.assertTrue(copy.deepcopy(self.x).is_cuda)

    def test_save_and_load(self):
        with tempfile.NamedTemporaryFile() as f:
            torch.save({"w": self.x}, f.name)
            there = torch.load(f.name, map_location="cuda")["w"]
            here = torch.load(f.name, map_location="cpu")["w"]
            again = torch.load(f.name)["w"]
            other = torch.load(f.name, lambda s, place: s.cuda(1))["w"]
        self.assertTrue(there.is_cuda)
        self.assertEqual((again.device.index, other.device.index), (0, 1))
        self.assertFalse(here.is_cuda)
        self.assertTrue(torch.equal(here, self.x.cpu()))

    def test_storages(self):
        for ask in torch.Tensor.untyped_storage, torch.Tensor.storage:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                storage = ask(self.x)
                here = ask(self.x.cpu())
                self.assertEqual((str(storage.device), storage.is_cuda),
                                 ("cuda:0", True))
                self.assertFalse(here.is_cuda)
        storage, here = self.x.untyped_storage(), here.untyped()
        self.assertEqual(
            [str(s.device) for s in (
                storage.cpu(), storage.clone(), here.clone(), here.cuda(),
                here.to(device="cuda:1"), copy.deepcopy(storage))],
            ["cpu", "cuda:0", "cpu", "cuda:0", "cuda:1", "cuda:0"])

    def test_queues(self):
        queue = torch.multiprocessing.get_context("fork").Queue()
        self.x.untyped_storage()
        for sent in self.x, self.x.cpu(), torch.nn.Parameter(self.x):
            queue.put(sent)
            came = queue.get(timeout=30)
            self.assertEqual(came.device, sent.device)
            self.assertTrue(torch.equal(came, sent))

    def test_assert_close_checks_devices(self):
        torch.testing.assert_close(self.x, self.x.clone())
        with self.assertRaises(AssertionError):
            torch.testing.assert_close(self.x, self.x.cpu())

    def test_inplace_and_out(self):
        y = self.x
        y += 1
        self.assertTrue(y.is_cuda)
        out = torch.empty(2, 3, device="cuda")
        self.assertTrue(torch.add(y, 1, out=out) is out and out.is_cuda)


class Modules(unittest.TestCase):
    def test_linear(self):
        for move in (lambda m: m.cuda(), lambda m: m.to("cuda"),
                     lambda m: m.to(device="cuda", non_blocking=True),
                     lambda m: m.to(device=torch.device("cuda", 0)),
                     lambda m: m.to(torch.device("cuda"), torch.float16)):
            model = move(torch.nn.Linear(3, 2))
            self.assertTrue(all(p.is_cuda for p in model.parameters()))
            dtype = model.weight.dtype
            y = model(torch.ones(1, 3, device="cuda", dtype=dtype))
            self.assertTrue(y.is_cuda)
            self.assertFalse(any(p.is_cuda for p in model.cpu().parameters()))

    def test_made_on_the_device(self):
        model = torch.nn.Linear(3, 2, device="cuda")
        self.assertTrue(model.weight.is_cuda)
        self.assertIn("Linear", repr(model))

    def test_training_step(self):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1).cuda()
        optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
        x = torch.randn(16, 4, device="cuda")
        first = last = None
        for _ in range(20):
            loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            first = first if first is not None else loss.item()
            last = loss.item()
        self.assertLess(last, first)
        self.assertTrue(model.weight.grad.is_cuda)


class Autograd(unittest.TestCase):
    def function(self):
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                assert x.is_cuda
                ctx.save_for_backward(x)
                return twice(x)

            @staticmethod
            def backward(ctx, dy):
                x, = ctx.saved_tensors
                assert x.is_cuda and dy.is_cuda, (x.device, dy.device)
                extra = torch.zeros(1, device=dy.device)
                return twice(dy.contiguous()) + extra
        return Double

    def test_backward(self):
        x = torch.ones(5, device="cuda", requires_grad=True)
        y = self.function().apply(x)
        self.assertTrue(y.is_cuda and x.is_leaf)
        y.sum().backward()
        self.assertTrue(x.grad.is_cuda)
        self.assertEqual(x.grad.tolist(), [2] * 5)

    def test_grad(self):
        x = torch.ones(5, device="cuda", requires_grad=True)
        y = (self.function().apply(x) * 3).sum()
        g, = torch.autograd.grad(y, x)
        self.assertEqual(g.tolist(), [6] * 5)

    def test_results_that_were_saved(self):
        class Squash(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.tanh()
                ctx.save_for_backward(x, None, y)
                return y

            @staticmethod
            def backward(ctx, dy):
                x, nothing, y = ctx.saved_tensors
                assert nothing is None and x.device == y.device == dy.device
                rest = 1 - y[1:] * y[1:]
                return dy * torch.cat([1 - y[:1] * y[:1], rest])

        torch.ones(1, device="cuda")
        for device in "cpu", "cuda":
            x = torch.ones(3, device=device, requires_grad=True)
            y = Squash.apply(x)
            y.backward(torch.ones(3, device=device))
            self.assertEqual(x.grad.device.type, device)
            torch.testing.assert_close(x.grad, 1 - y.detach() ** 2)

    def test_hooks_and_checkpoint(self):
        from torch.utils.checkpoint import checkpoint
        seen = []
        x = torch.ones(3, device="cuda", requires_grad=True)
        y = checkpoint(lambda v: self.function().apply(v), x,
                       use_reentrant=False)
        y.register_hook(lambda g: seen.append(g.is_cuda))
        y.sum().backward()
        self.assertEqual((seen, x.grad.tolist()), ([True], [2] * 3))


class Cuda(unittest.TestCase):
    def test_queries(self):
        c = torch.cuda
        self.assertTrue(c.is_available() and c.is_initialized())
        self.assertEqual((c.device_count(), c.current_device()), (1, 0))
        self.assertEqual(c.get_device_capability(), (9, 0))
        self.assertIn("H200", c.get_device_name(0))
        p = c.get_device_properties("cuda")
        self.assertEqual((p.major, p.multi_processor_count), (9, 132))
        self.assertGreater(c.mem_get_info()[0], 1 << 30)
        c.synchronize()
        c.empty_cache()
        c.reset_peak_memory_stats()
        with self.assertRaises(RuntimeError):
            c.get_device_properties(8)
        self.assertIsInstance(torch.version.cuda, str)

    def test_streams_and_events(self):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(torch.cuda.Stream()):
            start.record()
            end.record()
        side = torch.cuda.Stream()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.stream(side):
            self.assertEqual(torch.cuda.current_stream(), side)
            self.assertNotEqual(side, torch.cuda.default_stream())
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        self.assertEqual(torch.cuda.current_stream().cuda_stream, 0)
        with self.assertRaisesRegex(ValueError, "enable_timing"):
            torch.cuda.Event().elapsed_time(torch.cuda.Event())

    def test_scopes(self):
        with torch.cuda.device(0), torch.cuda.nvtx.range("x"):
            torch.cuda.nvtx.range_push("y")
            torch.cuda.nvtx.range_pop()
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cuda.matmul.allow_tf32 = False

    def test_autocast(self):
        x = torch.ones(4, 4, device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            self.assertEqual((x @ x).dtype, torch.bfloat16)
        with torch.autocast(device_type="cuda"):
            self.assertEqual((x @ x).dtype, torch.float16)
            self.assertTrue(torch.is_autocast_enabled("cuda"))
        self.assertEqual((x @ x).dtype, torch.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.cuda.amp.autocast():
                self.assertEqual((x @ x).dtype, torch.float16)

    def test_threads(self):
        seen = []
        thread = threading.Thread(target=lambda: seen.append(
            torch.zeros(2, device="cuda").is_cuda))
        thread.start()
        thread.join()
        self.assertEqual(seen, [True])

    def test_launch_from_a_thread(self):
        seen = []
        x = torch.ones(100, device="cuda")
        threads = [threading.Thread(
            target=lambda: seen.append(twice(x).sum().item()))
            for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(seen, [200.0] * 4)

    def test_benchmark(self):
        x = torch.ones(64, device="cuda")
        self.assertGreater(triton.testing.do_bench(lambda: twice(x), rep=2,
                                                   warmup=1), 0)

    def test_accelerator(self):
        if not hasattr(torch, "accelerator"):
            self.skipTest("this PyTorch has no torch.accelerator")
        self.assertEqual(torch.accelerator.current_accelerator().type,
                         "cuda")

    def test_compile_is_eager(self):
        x = torch.ones(3, device="cuda")
        self.assertTrue(torch.compile(lambda v: v + 1)(x).is_cuda)

        @torch.compile(fullgraph=True)
        def f(v):
            return v * 2
        self.assertEqual(f(x).tolist(), [2] * 3)

    def test_old_tensor_types(self):
        self.assertTrue(torch.cuda.FloatTensor([1, 2]).is_cuda)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.set_default_tensor_type("torch.cuda.FloatTensor")
            try:
                self.assertTrue(torch.zeros(2).is_cuda)
            finally:
                torch.set_default_tensor_type("torch.FloatTensor")
        self.assertFalse(torch.zeros(2).is_cuda)

    def test_off(self):
        with contextlib.redirect_stderr(io.StringIO()):
            tkdbg.install(virtual_cuda=False)
        try:
            self.assertFalse(torch.cuda.is_available())
            with self.assertRaises((RuntimeError, AssertionError)):
                torch.zeros(2, device="cuda")
        finally:
            tkdbg.install(virtual_cuda=None)
        self.assertTrue(torch.zeros(2, device="cuda").is_cuda)


if __name__ == "__main__":
    unittest.main()
