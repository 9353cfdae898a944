"""Models and functions under torch.compile, on the virtual device: what
PyTorch's compiler makes must compute what eager PyTorch does.

    tkdbg run --torch-compile inductor tests/compiled/models.py [NAME...]

`make compiled-models` runs all.  Each case makes a function or a module and its
arguments; with gradients, those of all parameters and arguments that want one
are compared as well.  Bounds are torch.testing's for the dtype, or wider by
WIDE where a sum is long: both orders of a sum are right.
"""
import sys
import time
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F

CASES = {}
HALVES = (torch.float16, torch.bfloat16)


def case(make):
    CASES[make.__name__] = make
    return make


def randn(*shape, **kwargs):
    return torch.randn(*shape, device="cuda", **kwargs)


def randint(high, *shape):
    return torch.randint(0, high, shape, device="cuda")


class Attention(nn.Module):
    def __init__(self, d=32, heads=4, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(
            2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(a.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.attention = Attention(d)
        self.first, self.second = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(),
                                 nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6
                               ) * self.weight


class Rope(nn.Module):
    def __init__(self, d):
        super().__init__()
        steps = 1 / 10000 ** (torch.arange(0, d, 2) / d)
        self.register_buffer("steps", steps)

    def forward(self, x):
        at = torch.arange(x.shape[-2], device=x.device)[:, None] * self.steps
        a, b = x.chunk(2, -1)
        return torch.cat((a * at.cos() - b * at.sin(),
                          b * at.cos() + a * at.sin()), -1)


class Experts(nn.Module):
    def __init__(self, d=16, n=4, chosen=2):
        super().__init__()
        self.gate, self.chosen = nn.Linear(d, n), chosen
        self.up = nn.Parameter(torch.randn(n, d, 2 * d) * .1)
        self.down = nn.Parameter(torch.randn(n, 2 * d, d) * .1)

    def forward(self, x):
        weights, which = self.gate(x).softmax(-1).topk(self.chosen)
        up = torch.einsum("td,tkdh->tkh", x, self.up[which]).relu()
        down = torch.einsum("tkh,tkhd->tkd", up, self.down[which])
        return (down * weights[..., None]).sum(1)


class SwiGLU(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate, self.up = nn.Linear(d, 2 * d), nn.Linear(d, 2 * d)
        self.down = nn.Linear(2 * d, d)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Residual(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(2, c), nn.SiLU(),
            nn.Conv2d(c, c, 3, padding=1))

    def forward(self, x):
        return x + self.body(x)


@case
def perceptron():
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)), (
        randn(16, 32),)


@case
def perceptron_without_bias():
    return nn.Sequential(nn.Linear(33, 7, bias=False), nn.Tanh()), (
        randn(5, 33),)


@case
def attention():
    return Attention(), (randn(2, 24, 32),)


@case
def attention_that_is_not_causal():
    return Attention(causal=False), (randn(1, 17, 32),)


@case
def transformer_block():
    return Block(), (randn(2, 16, 32),)


@case
def two_blocks():
    return nn.Sequential(Block(), Block()), (randn(1, 12, 32),)


@case
def rms_norm_and_rope():
    return nn.Sequential(RMSNorm(32), Rope(32), SwiGLU(32)), (
        randn(2, 10, 32),)


@case
def mixture_of_experts():
    return Experts(), (randn(20, 16),)


@case
def convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(8 * 49, 5)), (randn(4, 3, 16, 16),)


@case
def residual_convolutions():
    return Residual(), (randn(2, 8, 9, 9),)


@case
def batch_norm_in_evaluation():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval(), (
        randn(2, 3, 8, 8),)


@case
def transposed_convolution():
    return nn.ConvTranspose2d(3, 4, 3, stride=2), (randn(2, 3, 5, 5),)


@case
def gru():
    module = nn.GRU(8, 16, batch_first=True)
    return module, (randn(2, 5, 8),)


@case
def lstm_cell():
    return nn.LSTMCell(8, 16), (randn(3, 8),)


@case
def embedding_and_norm():
    return nn.Sequential(nn.Embedding(50, 16), nn.LayerNorm(16)), (
        randint(50, 6, 4),)


@case
def cross_entropy():
    y = randint(100, 16)
    return lambda x: F.cross_entropy(x, y, label_smoothing=.1), (
        randn(16, 100, requires_grad=True),)


@case
def binary_cross_entropy():
    y = randint(2, 40).float()
    return lambda x: F.binary_cross_entropy_with_logits(x, y), (
        randn(40, requires_grad=True),)


@case
def kl_divergence():
    y = randn(8, 50).softmax(-1)
    return lambda x: F.kl_div(x.log_softmax(-1), y, reduction="batchmean"), (
        randn(8, 50, requires_grad=True),)


@case
def huber_and_cosine():
    y = randn(9, 20)
    return lambda x: F.huber_loss(x, y) + F.cosine_similarity(x, y).sum(), (
        randn(9, 20, requires_grad=True),)


@case
def softmax_of_a_sum():
    return lambda x, y: torch.softmax(x + y.sin(), -1) * 2, (
        randn(64, 128), randn(64, 128))


@case
def log_sum_exp():
    return lambda x: torch.logsumexp(x * 3, 0), (
        randn(70, 33, requires_grad=True),)


@case
def variance_of_columns():
    return lambda x: torch.var_mean(x, 0), (randn(300, 17),)


@case
def long_sums():
    return lambda x: x.sum() + x.square().mean(), (randn(40000),)


@case
def scans():
    return lambda x: x.cumsum(-1) + (x * .1).cumprod(-1), (randn(8, 300),)


@case
def sorted_and_chosen():
    return lambda x: (*x.sort(-1), *x.topk(5)), (randn(6, 64),)


@case
def argmax_and_gather():
    return lambda x: x.gather(1, x.argmax(1, keepdim=True)), (randn(9, 50),)


@case
def scattered_sums():
    i = randint(10, 50)
    return lambda x: torch.zeros(10, 4, device=x.device).index_add(0, i, x), (
        randn(50, 4),)


@case
def masked_and_filled():
    return lambda x: torch.where(x > 0, x, 0.).masked_fill(x > 1, 7.), (
        randn(33, 5),)


@case
def concatenated_views():
    return lambda x, y: torch.cat((x.t(), y[:, ::2]), 1).flip(0), (
        randn(6, 9), randn(9, 8))


@case
def padded_and_rolled():
    return lambda x: F.pad(x, (1, 2, 0, 3)).roll(2, 1), (randn(5, 7),)


@case
def interpolated():
    return lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), (
        randn(1, 3, 6, 6),)


@case
def triangles():
    return lambda x: x.tril() @ x.triu(), (randn(20, 20),)


@case
def batched_products():
    return lambda x, y: torch.einsum("bij,bkj->bik", x, y).relu(), (
        randn(3, 9, 16), randn(3, 11, 16))


@case
def products_of_halves():
    return lambda x, y: (x @ y).relu().sum(-1), (
        randn(32, 64, dtype=torch.half), randn(64, 48, dtype=torch.half))


@case
def norms_of_bfloat16():
    return lambda x: F.layer_norm(x, (64,)) * 2 + x, (
        randn(12, 64, dtype=torch.bfloat16),)


@case
def mixed_types():
    return lambda x, i: x.double() * i - (i // 3) % 5 + (i > 2), (
        randn(40), randint(9, 40))


@case
def integers_and_bits():
    return lambda i, j: ((i << 2) ^ j) & ~(i | 1), (
        randint(100, 64), randint(100, 64))


@case
def special_functions():
    return lambda x: torch.erf(x) + torch.lgamma(x.abs() + 1) + x.atan(), (
        randn(50),)


@case
def written_in_place():
    def function(x):
        y = x.clone()
        y[:, 1:].add_(x[:, :-1]).clamp_(min=-1)
        return y
    return function, (randn(6, 12),)


@case
def broken_graph():
    def function(x):
        y = x * 2
        if y.sum() > 0:
            y = y + 1
        return y.relu()
    return function, (randn(64),)


@case
def scalars_and_sizes():
    return lambda x: x / x.shape[0] + x.numel() * .5, (randn(7, 3),)


@case
def flexible_attention():
    from torch.nn.attention.flex_attention import flex_attention

    def causal(score, b, h, i, j):
        return torch.where(i >= j, score, -float("inf"))

    def function(q, k, v):
        if not torch.compiler.is_compiling():
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return flex_attention(q, k, v, score_mod=causal)
    return function, tuple(randn(1, 2, 128, 32) for _ in range(3))


def gradients(model, args):
    found = [p for p in (*(model.parameters() if isinstance(
        model, nn.Module) else ()), *args) if p.requires_grad]
    got = [p.grad for p in found]
    for p in found:
        p.grad = None
    return got


def tensors(result):
    return [r for part in (result if isinstance(result, tuple) else (result,))
            for r in (tensors(part) if isinstance(part, tuple) else (part,))]


def compare(got, want):
    assert got.device == want.device, (got.device, want.device)
    wide = {}
    if got.dtype in HALVES:
        wide = {"rtol": 2e-2, "atol": 2e-2}
    elif got.dtype.is_floating_point:
        wide = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(got, want, **wide)


def run(make):
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, args = make()
    if isinstance(model, nn.Module):
        model = model.cuda()
    found = []
    for function in model, torch.compile(model):
        results = [r for r in tensors(function(*args))]
        total = sum(r.float().square().sum() for r in results
                    if r.is_floating_point())
        if getattr(total, "requires_grad", False):
            total.backward()
        found.append(results + [g for g in gradients(model, args)
                                if g is not None])
    assert len(found[0]) == len(found[1]), [len(f) for f in found]
    for want, got in zip(*found):
        compare(got, want)


def main():
    names = sys.argv[1:] or list(CASES)
    failed = []
    for name in names:
        start = time.perf_counter()
        try:
            run(CASES[name])
            word = "ok    "
        except Exception:
            word = "not ok"
            failed.append(name)
            traceback.print_exc()
        print(word, name, f"{time.perf_counter() - start:.1f} s", flush=True)
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
