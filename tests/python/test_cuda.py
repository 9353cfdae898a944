"""Tensors of a real CUDA device: copied to the host and back."""
import unittest

import support

support.need("library", "torch")
if not support.real_cuda():
    raise unittest.SkipTest("PyTorch has no CUDA device")

import torch  # noqa: E402

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n),
             mask=i < n)


@triton.jit
def add_by_table(table, z, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        x = tl.load(table + k).to(tl.pointer_type(tl.float32))
        total += tl.load(x + i)
    tl.store(tl.load(z).to(tl.pointer_type(tl.float32)) + i, total)


class Address:
    """What kernels are given where a tensor is only an address."""
    dtype = torch.float32

    def __init__(self, tensor):
        self.tensor = tensor

    def data_ptr(self):
        return self.tensor.data_ptr()


class Cuda(unittest.TestCase):
    def test_nothing_is_virtual(self):
        from tkdbg import session
        self.assertIsNone(session.current().setup.cuda)

    def test_launch(self):
        x = torch.rand(1000, device="cuda")
        z = torch.empty_like(x)
        add[(8,)](x, x, z, 1000, BLOCK=128)
        self.assertTrue(torch.equal(z, x + x))
        self.assertTrue(z.is_cuda)

    def test_views_and_aliases(self):
        base = torch.arange(12.0, device="cuda")
        add[(1,)](base[:4], base[4:8], base[8:], 4, BLOCK=4)
        self.assertEqual(base[8:].tolist(), [4, 6, 8, 10])
        with self.assertRaises(tkdbg.LaunchError):
            add[(1,)](base[8:], base[8:], base[8:], 5, BLOCK=8)

    def test_addresses_in_memory(self):
        xs = [torch.rand(20, device="cuda") for _ in range(3)]
        out = torch.zeros(16, device="cuda")
        table = torch.tensor([x.data_ptr() + 16 for x in xs], device="cuda")
        where = torch.tensor([out.data_ptr()], device="cuda")
        for _ in range(2):
            add_by_table[(1,)](table, where, 3, BLOCK=16)
            want = xs[0][4:] + xs[1][4:] + xs[2][4:]
            self.assertTrue(torch.equal(out, want))
            xs[0].neg_()
        with self.assertRaises(tkdbg.LaunchError):
            add_by_table[(1,)](table, where, 3, BLOCK=32)

    def test_memory_that_is_gone_is_wild(self):
        x = torch.rand(16, device="cuda")
        table = torch.tensor([x.data_ptr()], device="cuda")
        out = torch.zeros(16, device="cuda")
        where = torch.tensor([out.data_ptr()], device="cuda")
        del x
        with self.assertRaises(tkdbg.LaunchError):
            add_by_table[(1,)](table, where, 1, BLOCK=16)

    def test_a_wrapper_that_has_an_address_alone(self):
        x = torch.rand(8, device="cuda")
        z = torch.empty_like(x)
        add[(1,)](Address(x), Address(x[2:]), z, 6, BLOCK=8)
        self.assertTrue(torch.equal(z[:6], x[:6] + x[2:]))

    def test_mixed_with_the_host(self):
        x = torch.ones(4)
        z = torch.zeros(4, device="cuda")
        add[(1,)](x, z, z, 4, BLOCK=4)
        self.assertEqual(z.tolist(), [1] * 4)

    def test_backward_in_the_device_thread(self):
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                z = torch.empty_like(x)
                add[(1,)](x, x, z, x.numel(), BLOCK=16)
                return z

            @staticmethod
            def backward(ctx, dy):
                return Double.forward(ctx, dy.contiguous())
        x = torch.ones(5, device="cuda", requires_grad=True)
        Double.apply(x).sum().backward()
        self.assertEqual(x.grad.tolist(), [2] * 5)

    def test_autotune_all(self):
        @triton.autotune(configs=[triton.Config({"BLOCK": 16}),
                                  triton.Config({"BLOCK": 32})], key=["n"],
                         reset_to_zero=["z"])
        @triton.jit
        def total(x, z, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.atomic_add(z, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))
        tkdbg.options().autotune = "all"
        self.addCleanup(setattr, tkdbg.options(), "autotune", "first")
        x = torch.ones(100, device="cuda")
        z = torch.zeros(1, device="cuda")
        total[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, z, 100)
        self.assertEqual(z.item(), 100)

    def test_forced_virtual_device(self):
        tkdbg.install(virtual_cuda=True)
        try:
            x = torch.ones(3, device="cuda")
            self.assertTrue(x.is_cuda)
        finally:
            tkdbg.install(virtual_cuda=None)


if __name__ == "__main__":
    unittest.main()
