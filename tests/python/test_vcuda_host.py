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


if __name__ == "__main__":
    unittest.main()
