"""Tensors of a program's own classes on the virtual CUDA device."""
import unittest

import support

support.need("library", "torch")

import torch  # noqa: E402
from torch.utils import _python_dispatch  # noqa: E402

if support.real_cuda():
    raise unittest.SkipTest("PyTorch has a real CUDA device")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

aten = torch.ops.aten


@triton.jit
def dequantize(q, scale, z, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(q + i, mask=i < n).to(tl.float32) * tl.load(scale)
    tl.store(z + i, x, mask=i < n)


class Quantized(torch.Tensor):
    """Bytes and a scale, as libraries of quantisation write it."""

    @staticmethod
    def __new__(cls, data, scale):
        return torch.Tensor._make_wrapper_subclass(
            cls, data.shape, dtype=scale.dtype, device=data.device)

    def __init__(self, data, scale):
        self.bytes, self.scale = data, scale

    def full(self):
        z = torch.empty(self.bytes.shape, device=self.bytes.device)
        dequantize[(1,)](self.bytes, self.scale, z, z.numel(), BLOCK=256)
        return z

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.nn.functional.linear:
            return args[0] @ args[1].full().t()  # launches in here
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        kwargs = kwargs or {}
        if func is aten.mm.default:
            args = [a.full() if isinstance(a, cls) else a for a in args]
            return func(*args)
        parts = args[0].bytes, args[0].scale
        if func in (aten.detach.default, aten.clone.default,
                    aten._pin_memory.default):
            result = cls(*map(func, parts))
        elif func is aten._to_copy.default:
            result = cls(*(p.to(kwargs["device"]) for p in parts))
        else:
            raise NotImplementedError(str(func))
        return _python_dispatch.return_and_correct_aliasing(
            func, args, kwargs, result)


def make(device):
    data = torch.arange(16, dtype=torch.int8, device=device).view(4, 4)
    return Quantized(data, torch.tensor(0.5, device=device))


class Wrappers(unittest.TestCase):
    def test_made_by_pytorchs_own_code(self):
        """Which sees the CPU's memory, and not where the program says it
        is."""
        data, scale = torch.ones(4, device="cuda"), torch.ones(())
        with torch._C.DisableTorchFunction():
            made = Quantized(data, scale)
        self.assertTrue(made.is_cuda)
        self.assertFalse(Quantized(data.cpu(), scale).is_cuda)

    def test_place(self):
        self.assertEqual(str(make("cuda").device), "cuda:0")
        self.assertTrue(make("cuda").is_cuda)
        self.assertEqual(str(make("cpu").device), "cpu")

    def test_parameter(self):
        weight = torch.nn.Parameter(make("cuda"), requires_grad=False)
        self.assertIsInstance(weight, Quantized)
        self.assertTrue(weight.is_cuda)
        self.assertTrue(weight.bytes.is_cuda)
        self.assertTrue(weight.detach().is_cuda)

    def test_kernels_run_in_its_methods(self):
        x, weight = torch.ones(2, 4, device="cuda"), make("cuda")
        for product in (x @ weight,
                        torch.nn.functional.linear(x, weight).t()):
            self.assertTrue(product.is_cuda)
        self.assertEqual((x @ weight)[0].tolist(), [12, 14, 16, 18])

    def test_moves(self):
        here = make("cpu")
        there = here.cuda()
        self.assertTrue(there.is_cuda and there.bytes.is_cuda)
        self.assertFalse(here.is_cuda or here.bytes.is_cuda)
        back = there.cpu()
        self.assertFalse(back.is_cuda or back.bytes.is_cuda)
        self.assertTrue(here.to("cuda:0").scale.is_cuda)

    def test_places_are_not_mixed(self):
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.ones(2, 4, device="cuda") @ make("cpu")

    def test_pinned(self):
        pinned = make("cpu").pin_memory()
        self.assertTrue(pinned.is_pinned() and pinned.bytes.is_pinned())
        self.assertFalse(make("cpu").is_pinned())


if __name__ == "__main__":
    unittest.main()
