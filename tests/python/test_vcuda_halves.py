"""Products and reductions of halves on the virtual device, against float64,
and types that only CUDA has kernels for."""
import unittest
from unittest import mock

import support

support.need("library", "torch")

import torch  # noqa: E402

if support.real_cuda():
    raise unittest.SkipTest("PyTorch has a real CUDA device")

import tkdbg  # noqa: E402
from tkdbg import device  # noqa: E402

tkdbg.install(quiet=True)

F = torch.nn.functional
# half the distance of neighbours, relative to the number
UNIT = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed + len(shape))
    return torch.randn(*shape, generator=generator)


def positive(*shape):
    return draw(*shape).abs() + 0.5


# Each is one operation, or a sum of nothing but exact parts: CUDA's result is
# the true one, rounded once.
ROUNDED_ONCE = {
    "matmul": (lambda a, b: a @ b, positive(33, 700), positive(700, 9)),
    "mv": (torch.mv, positive(9, 3000), positive(3000)),
    "dot": (torch.dot, positive(5000), positive(5000)),
    "bmm": (torch.bmm, positive(3, 9, 999), positive(3, 999, 5)),
    "addmm": (torch.addmm, positive(5, 4), positive(5, 900),
              positive(900, 4)),
    "baddbmm": (torch.baddbmm, positive(2, 5, 4), positive(2, 5, 900),
                positive(2, 900, 4)),
    "linear": (F.linear, positive(4, 900), positive(6, 900), positive(6)),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b),
               positive(2, 4, 900), positive(2, 900, 3)),
    "conv1d": (F.conv1d, positive(2, 64, 30), positive(8, 64, 9)),
    "conv2d": (F.conv2d, positive(1, 64, 9, 9), positive(8, 64, 5, 5)),
    "conv_transpose2d": (F.conv_transpose2d, positive(1, 64, 5, 5),
                         positive(64, 8, 3, 3)),
    "sum": (torch.sum, positive(10000)),
    "sum of an axis": (lambda a: a.sum(0), positive(5000, 3)),
    "mean": (torch.mean, positive(100000)),
    "mean of an axis": (lambda a: a.mean(0), positive(9000, 3)),
    "norm": (torch.norm, positive(20000)),
    "vector_norm": (lambda a: torch.linalg.vector_norm(a, dim=0),
                    positive(20000, 2)),
    "var": (torch.var, draw(30000)),
    "std": (lambda a: a.std(0), draw(30000, 2)),
    "prod": (torch.prod, 1 + 0.01 * draw(600)),
    "cumsum": (lambda a: a.cumsum(0), positive(4000)),
    "cumprod": (lambda a: a.cumprod(0), 1 + 0.01 * draw(600)),
    "logsumexp": (lambda a: torch.logsumexp(a, 0), draw(30000)),
    "softmax": (lambda a: torch.softmax(a, 1), draw(3, 5000)),
    "log_softmax": (lambda a: F.log_softmax(a, 1), draw(3, 5000)),
    "layer_norm": (lambda a: F.layer_norm(a, (4000,)), draw(3, 4000)),
    "group_norm": (lambda a: F.group_norm(a, 2), draw(3, 8, 400)),
    "batch_norm": (lambda a: F.batch_norm(a, None, None, training=True),
                   draw(3000, 4)),
    "mse_loss": (F.mse_loss, draw(30000), draw(30000, seed=5)),
    "embedding_bag": (lambda w: F.embedding_bag(
        torch.zeros(1, 3000, dtype=torch.long, device=w.device), w),
        positive(1, 4)),
    "index_add": (lambda a, b: a.index_add(
        0, torch.zeros(5000, dtype=torch.long, device=a.device), b),
        positive(2, 2), positive(5000, 2)),
    "scatter_add": (lambda a, b: a.scatter_add(
        0, torch.zeros(5000, dtype=torch.long, device=a.device), b),
        positive(2), positive(5000)),
    "add with a factor": (lambda a: torch.add(-111.999, a, alpha=-100.001),
                          draw(500)),
}


class Halves(unittest.TestCase):
    def check(self, function, arguments, dtype, units=1.001):
        halves = [a.to(dtype).cuda() for a in arguments]
        exact = function(*[a.cpu().double() for a in halves])
        result = function(*halves)
        self.assertIs(result.dtype, dtype)
        self.assertTrue(result.is_cuda)
        near = result.cpu().double()
        wrong = ((near - exact).abs() - exact.abs() * UNIT[dtype] * units -
                 2.0**-24).max().item()
        self.assertLessEqual(wrong, 0)

    def test_rounded_once(self):
        for name, (function, *arguments) in ROUNDED_ONCE.items():
            for dtype in UNIT:
                with self.subTest(name, dtype=dtype):
                    self.check(function, arguments, dtype)

    def test_cross_entropy(self):
        logits = draw(4096, 2000)
        target = torch.arange(4096) % 2000
        exact = F.cross_entropy(logits.bfloat16().double(), target).item()
        for dtype in UNIT:
            got = F.cross_entropy(logits.to(dtype).cuda(), target.cuda())
            self.assertLess(abs(got.item() - exact), 0.04)

    def test_attention(self):
        q, k, v = (draw(2, 4, 200, 64, seed=i) for i in range(3))
        for dtype in UNIT:
            for causal in (False, True):
                self.check_attention(q, k, v, dtype, causal)

    def check_attention(self, q, k, v, dtype, causal):
        given = [t.to(dtype) for t in (q, k, v)]
        exact = F.scaled_dot_product_attention(
            *[t.double() for t in given], is_causal=causal)
        got = F.scaled_dot_product_attention(
            *[t.cuda() for t in given], is_causal=causal)
        self.assertIs(got.dtype, dtype)
        self.assertLess((got.cpu().double() - exact).abs().max().item(),
                        4 * UNIT[dtype])

    def test_backward(self):
        cases = {
            "matmul": lambda a: a @ a.t(),
            "layer_norm": lambda a: F.layer_norm(a, (64,)),
            "softmax": lambda a: torch.softmax(a, 1) * a,
            "log_softmax": lambda a: F.log_softmax(a, 1),
            "group_norm": lambda a: F.group_norm(a, 4),
            "batch_norm": lambda a: F.batch_norm(a, None, None,
                                                 training=True) * a,
            "mean": lambda a: a.mean(0), "var": lambda a: a.var(1),
            "norm": lambda a: a.norm(), "cumsum": lambda a: a.cumsum(1),
            "attention": lambda a: F.scaled_dot_product_attention(
                a[None], a[None], a[None]),
            "attention of heads": lambda a: F.scaled_dot_product_attention(
                a[None, None], a[None, None], a[None, None]),
        }
        for name, function in cases.items():
            for dtype in UNIT:
                with self.subTest(name, dtype=dtype):
                    self.check_backward(function, dtype)

    def check_backward(self, function, dtype):
        x = draw(32, 64).to(dtype)
        exact = x.double().requires_grad_()
        function(exact).sum().backward()
        x = x.cuda().requires_grad_()
        function(x).sum().backward()
        self.assertIs(x.grad.dtype, dtype)
        scale = max(1.0, exact.grad.abs().max().item())
        wrong = (x.grad.cpu().double() - exact.grad).abs().max().item()
        self.assertLess(wrong, 8 * UNIT[dtype] * scale)

    def test_norms_with_weights_in_fp32(self):
        x = draw(4, 64).half().cuda().requires_grad_()
        norm = torch.nn.BatchNorm1d(64).cuda()
        norm(x).sum().backward()
        self.assertIs(norm.weight.grad.dtype, torch.float32)
        self.assertIs(x.grad.dtype, torch.float16)
        norm = torch.nn.BatchNorm1d(64).cuda().half()
        norm(x.detach())
        self.assertGreater(norm.running_mean.abs().max().item(), 0)

    def test_results_in_place_and_out(self):
        a, b = positive(4, 900).bfloat16().cuda(), positive(
            900, 4).bfloat16().cuda()
        out = torch.empty(4, 4, device="cuda", dtype=torch.bfloat16)
        self.assertIs(torch.mm(a, b, out=out), out)
        self.assertTrue(torch.equal(out, a @ b))
        total = torch.zeros(4, 4, device="cuda", dtype=torch.bfloat16)
        self.assertIs(total.addmm_(a, b), total)
        self.assertTrue(torch.equal(total, out))
        self.assertIs(a.sum(dtype=torch.float32).dtype, torch.float32)

    def test_the_cpu_is_left_as_it_is(self):
        x = torch.full((4097,), 1.0, dtype=torch.float16)
        before = torch.cumsum(x, 0)
        self.assertEqual(before.device.type, "cpu")
        self.assertEqual(x.cuda().cumsum(0).device.type, "cuda")


class Types(unittest.TestCase):
    def test_histc_of_integers(self):
        x = torch.tensor([0, 1, 1, 4, 4, 4], device="cuda")
        for dtype in (torch.int8, torch.int32, torch.int64, torch.float32):
            found = torch.histc(x.to(dtype), bins=5, min=0, max=4)
            self.assertIs(found.dtype, dtype)
            self.assertEqual(found.tolist(), [1, 2, 0, 0, 3])

    def test_halves_of_complex_numbers(self):
        if not hasattr(torch, "complex32"):
            self.skipTest("this PyTorch has no complex32")
        x = torch.tensor([1 + 2j, -3j], dtype=torch.complex32, device="cuda",
                         requires_grad=True)
        y = torch.sin(x) * x
        self.assertIs(y.dtype, torch.complex32)
        y.abs().sum().backward()
        self.assertIs(x.grad.dtype, torch.complex32)
        self.assertIs(torch.fft.fft(x.detach()).dtype, torch.complex32)

    def test_attention_that_only_cuda_has(self):
        from torch.nn import attention
        q, k, v = (draw(2, 4, 33, 16, seed=i).half().cuda()
                   for i in range(3))
        exact = F.scaled_dot_product_attention(
            q.double(), k.double(), v.double(), is_causal=True)
        backend = attention.SDPBackend.EFFICIENT_ATTENTION
        with attention.sdpa_kernel(backend):
            found = [F.scaled_dot_product_attention(q, k, v, is_causal=True)]
        aten = torch.ops.aten
        rows = [t.transpose(1, 2) for t in (q, k, v)]
        found.append(aten._flash_attention_forward(
            *rows, None, None, 33, 33, 0.0, True, False)[0].transpose(1, 2))
        ends = torch.tensor([0, 33, 66], dtype=torch.int32, device="cuda")
        flat = aten._flash_attention_forward(
            *[t.reshape(66, 4, 16) for t in rows], ends, ends, 33, 33, 0.0,
            True, False)[0]
        found.append(flat.view(2, 33, 4, 16).transpose(1, 2))
        found.append(aten._scaled_dot_product_efficient_attention(
            q, k, v, None, True, 0.0, True)[0])
        for result in found:
            self.assertTrue(result.is_cuda)
            self.assertLess((result - exact).abs().max().item(), 2e-3)

    def test_what_the_cpu_has_for_some_arguments(self):
        x = torch.tensor([1 + 1j, complex("nan")], device="cuda")
        self.assertEqual(torch.nansum(x).item(), 1 + 1j)
        if hasattr(torch, "complex32"):
            self.assertEqual(torch.nansum(x.to(torch.complex32), 0).item(),
                             1 + 1j)
        a = (draw(2, 3, 3) + 4 * torch.eye(3)).cuda()
        _, lower, upper = torch.linalg.lu(a, pivot=False)
        self.assertLess((lower @ upper - a).abs().max().item(), 1e-5)
        half = draw(8).half().cuda()
        self.assertIs(torch.fft.fft(half).dtype, torch.complex32)

    def test_what_the_cpu_has_and_cuda_has_not(self):
        whole = torch.arange(16, device="cuda").view(4, 4)
        image = whole[None, None]
        half, byte = whole.half(), image.to(torch.uint8)
        calls = {
            "addmm_cuda.* 'Int'": lambda: whole.int() @ whole.int(),
            "addmm_cuda.* 'Long'": lambda: F.linear(whole, whole),
            "addmm_cuda.* 'Bool'": lambda: torch.mm(whole > 1, whole > 1),
            "baddbmm_cuda.* 'Char'": lambda: torch.einsum(
                "bij,bjk->bik", *[whole[None].to(torch.int8)] * 2),
            "addmv_impl_cuda": lambda: whole.mv(whole[0]),
            "dot.* not impl": lambda: torch.dot(whole[0], whole[1]),
            "FromScalarType.* Long": lambda: F.conv2d(image, image),
            "avg_pool2d": lambda: F.avg_pool2d(image, 2),
            "max_pool2d": lambda: torch.nn.MaxPool2d(2)(image),
            "bilinear": lambda: F.interpolate(byte, scale_factor=2,
                                              mode="bilinear"),
            "igamma": lambda: torch.special.gammainc(half, half),
            "angle": half.angle, "histc": half.histc,
            "Could not run": lambda: torch.histogram(whole.float(), 3),
        }
        for message, call in calls.items():
            with self.subTest(message), self.assertRaisesRegex(
                    RuntimeError, message):
                call()
        self.assertEqual(torch.einsum("ij->ji", whole)[1, 0], 1)
        whole = whole.cpu()
        self.assertEqual((whole[None] @ whole).shape, (1, 4, 4))

    def test_what_neither_has(self):
        with self.assertRaisesRegex((RuntimeError, NotImplementedError),
                                    "not implemented"):
            torch.softmax(torch.ones(3, dtype=torch.int64, device="cuda"), 0)
        bits = torch.ones(3, dtype=torch.bool, device="cuda")
        for call in (lambda: bits - bits, bits.floor, bits.argmax,
                     lambda: bits.fmod(bits), lambda: bits.kthvalue(1)):
            with self.assertRaises((RuntimeError, NotImplementedError)):
                call()
        half = torch.eye(3, device="cuda").half()
        for call in (half.inverse, half.cholesky, half.qr, half.logdet,
                     lambda: torch.linalg.solve(half, half),
                     lambda: torch.linalg.svd(half),
                     lambda: torch.cdist(half, half)):
            with self.assertRaises(RuntimeError):
                call()
        self.assertTrue(torch.trace(bits.diag()).item())
        self.assertTrue(bits.abs().all().item())


class TF32(unittest.TestCase):
    """Products of fp32 whose operands have more digits than TF32."""
    TIE, ABOVE, LONG = 1024.5, 1025.5, 1024.75

    def setUp(self):
        before = torch.get_float32_matmul_precision()
        self.addCleanup(torch.set_float32_matmul_precision, before)

    def product(self, value, device="cuda"):
        x = torch.tensor([[value]], device=device)
        return (x @ torch.ones(1, 1, device=device)).item()

    def test_not_unless_it_is_allowed(self):
        torch.set_float32_matmul_precision("highest")
        self.assertEqual(self.product(self.LONG), self.LONG)

    def test_rounded_to_nearest_and_ties_to_even(self):
        torch.set_float32_matmul_precision("high")
        self.assertEqual([self.product(v) for v in (
            self.TIE, self.ABOVE, self.LONG, -self.LONG)],
            [1024.0, 1026.0, 1025.0, -1025.0])

    def test_ties_away_from_zero_before_hopper(self):
        torch.set_float32_matmul_precision("high")
        with mock.patch.object(device, "model",
                               lambda: device.MODELS["sm_86"]):
            self.assertEqual(self.product(self.TIE), 1025.0)

    def test_each_way_to_allow_it(self):
        for name, value, other in (("allow_tf32", True, False),
                                   ("fp32_precision", "tf32", "ieee")):
            matmul = torch.backends.cuda.matmul
            if name == "fp32_precision" and not hasattr(
                    torch._C, "_get_fp32_precision_getter"):
                continue  # PyTorch has it since 2.9
            setattr(matmul, name, value)
            try:
                self.assertEqual(self.product(self.LONG), 1025.0, name)
            finally:
                setattr(matmul, name, other)
            self.assertEqual(self.product(self.LONG), self.LONG, name)

    def test_what_is_added_is_not_rounded(self):
        torch.set_float32_matmul_precision("high")
        x = torch.tensor([[self.LONG]], device="cuda")
        one = torch.ones(1, 1, device="cuda")
        self.assertEqual(torch.addmm(x, x, one).item(), 1025.0 + self.LONG)
        self.assertEqual(torch.baddbmm(x[None], x[None], one[None]).item(),
                         1025.0 + self.LONG)

    def test_gradients(self):
        torch.set_float32_matmul_precision("high")
        x = torch.tensor([[self.LONG]], device="cuda")
        w = torch.ones(1, 1, device="cuda", requires_grad=True)
        (x @ w).sum().backward()
        self.assertEqual(w.grad.item(), 1025.0)

    def test_the_host_and_what_is_no_number(self):
        torch.set_float32_matmul_precision("high")
        self.assertEqual(self.product(self.LONG, "cpu"), self.LONG)
        self.assertEqual(self.product(float("inf")), float("inf"))
        self.assertNotEqual(self.product(float("nan")),
                            self.product(float("nan")))

if __name__ == "__main__":
    unittest.main()
