"""Host code as users write it, on the virtual device."""
import unittest

import support

support.need("library", "torch")

import torch  # noqa: E402

if support.real_cuda():
    raise unittest.SkipTest("PyTorch has a real CUDA device")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

F = torch.nn.functional


class Saved(unittest.TestCase):
    """What packs the tensors that autograd saves sees where they are."""

    def setUp(self):
        self.module = torch.nn.Sequential(torch.nn.Linear(4, 4),
                                          torch.nn.ReLU()).cuda()
        self.x = torch.ones(2, 4, device="cuda", requires_grad=True)

    def test_checkpoint(self):
        from torch.utils.checkpoint import checkpoint
        y = checkpoint(self.module, self.x, use_reentrant=False)
        y.sum().backward()
        self.assertTrue(self.x.grad.is_cuda)

    def test_hooks(self):
        seen = []

        def pack(tensor):
            seen.append(tensor.device.type)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            self.x.exp().sin()
            torch.ones(2, requires_grad=True).exp().sin()
        self.assertEqual(seen, ["cuda"] * 2 + ["cpu"] * 2)

    def test_save_on_cpu(self):
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            y = (self.x * self.x).sum()
        y.backward()
        self.assertEqual(self.x.grad.tolist(), [[2] * 4] * 2)


class Copies(unittest.TestCase):
    def test_of_tensors_in_another_place(self):
        there = torch.ones(3, device="cuda").new_tensor(torch.zeros(3))
        self.assertEqual((there.device.type, there.tolist()),
                         ("cuda", [0] * 3))


class Memory(unittest.TestCase):
    def test_figures_by_pool(self):
        cuda = torch.cuda
        before = cuda.memory_stats()
        kept = [torch.empty(n, dtype=torch.uint8, device="cuda")
                for n in (1, 513, 3 << 20)]
        after = cuda.memory_stats()
        grown = {name: after[name] - before[name] for name in (
            "allocated_bytes.small_pool.current", "allocation.all.current",
            "allocated_bytes.large_pool.current",
            "requested_bytes.all.allocated")}
        self.assertEqual(list(grown.values()), [1536, 3, 3 << 20,
                                                (3 << 20) + 514])
        kept.clear()
        self.assertEqual(cuda.memory_stats()["allocation.all.freed"] -
                         before["allocation.all.freed"], 3)
        self.assertIn("Allocated memory", cuda.memory_summary())
        self.assertEqual(set(cuda.memory_stats_as_nested_dict()["segment"]),
                         {"all", "small_pool", "large_pool"})

    def test_too_much(self):
        failures = torch.cuda.memory_stats()["num_ooms"]
        for function in (
                lambda: torch.empty(1 << 45, device="cuda"),
                lambda: torch.ones(1 << 20, device="cuda").repeat(1 << 25)):
            with self.assertRaisesRegex(
                    torch.cuda.OutOfMemoryError,
                    r"CUDA out of memory. Tried to allocate 131072.00 GiB. "
                    r"GPU 0 has a total capacity of 131.32 GiB"):
                function()
        self.assertEqual(torch.cuda.memory_stats()["num_ooms"], failures + 2)
        with self.assertRaisesRegex(RuntimeError, "DefaultCPUAllocator"):
            torch.empty(1 << 45)


class Modules(unittest.TestCase):
    """What torch.cuda takes from its modules is there as well."""

    def test_functions(self):
        cuda = torch.cuda
        for module, name in ((cuda.memory, "mem_get_info"),
                             (cuda.memory, "empty_cache"),
                             (cuda.random, "get_rng_state"),
                             (cuda.random, "manual_seed"),
                             (cuda.streams, "Stream"),
                             (cuda.graphs, "CUDAGraph")):
            self.assertIs(getattr(module, name), getattr(cuda, name))
        self.assertGreater(cuda.memory.mem_get_info()[1], 0)

    def test_natives(self):
        c = torch._C
        self.assertEqual(c._cuda_getDevice(), 0)
        with torch.cuda.device(1):
            self.assertEqual(c._cuda_exchangeDevice(0), 1)
        self.assertEqual(torch.cuda._exchange_device(0), 0)
        self.assertEqual(c._cuda_getCurrentStream(0)[1:], (0, 1))
        self.assertTrue(torch.cuda.current_blas_handle())


if __name__ == "__main__":
    unittest.main()
