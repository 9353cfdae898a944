"""The seven kernels that `make bench` runs, and a worker that times them.

    tkdbg run tests/bench/kernels.py tkdbg        under tkdbg
    TRITON_INTERPRET=1 python3 kernels.py triton  under Triton's interpreter
    python3 kernels.py torch                      one-thread PyTorch
    python3 kernels.py numpy                      NumPy

A worker reads the name of a case from each line of its input, runs that case
for a while and answers with a line: the best time in seconds, the largest
error against NumPy in double precision, the most memory that a launch took,
and the bytes of the case's tensors.  Under tkdbg the name may be followed by
`|` and the detectors that shall watch; the time is then that of the processor,
which does not depend on what else the machine does.
"""
import os
import sys
import time

import numpy as np

ENGINE = sys.argv[1] if len(sys.argv) > 1 else 'numpy'
LIBRARY = ENGINE in ('torch', 'numpy')

if LIBRARY:
    # The kernels below are then only text.
    class _Anything:
        def __getattr__(self, name):
            return lambda fn: fn

    triton, tl = _Anything(), _Anything()
else:
    import triton
    import triton.language as tl

try:
    if ENGINE == 'numpy':
        raise ImportError
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

constexpr = tl.constexpr


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK: constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_cols, BLOCK: constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_cols
    x = tl.load(x_ptr + row * n_cols + offsets, mask=mask,
                other=-float('inf'))
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * n_cols + offsets, y, mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: constexpr,
                  BLOCK_N: constexpr, BLOCK_K: constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * N + offs_n[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptrs, accumulator, mask=mask)


@triton.jit
def layer_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, n_cols, eps,
                      BLOCK: constexpr):
    row = tl.program_id(0)
    x_ptr += row * n_cols
    y_ptr += row * n_cols
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0)
    mean = tl.sum(total, axis=0) / n_cols
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0)
        x = tl.where(cols < n_cols, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, n_ctx, scale,
                     BLOCK: constexpr, D: constexpr):
    start = tl.program_id(0)
    base = tl.program_id(1) * n_ctx * D
    offs_m = start * BLOCK + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, D)
    rows = offs_m[:, None] * D + offs_d[None, :]
    q = tl.load(q_ptr + base + rows)
    best = tl.full([BLOCK], -float('inf'), dtype=tl.float32)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    acc = tl.zeros([BLOCK, D], dtype=tl.float32)
    # Blocks to the right of the diagonal are masked out whole: not visited.
    for block in range(0, start + 1):
        offs_n = block * BLOCK + tl.arange(0, BLOCK)
        at = offs_n[:, None] * D + offs_d[None, :]
        k = tl.load(k_ptr + base + at)
        v = tl.load(v_ptr + base + at)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(offs_m[:, None] >= offs_n[None, :], s, -float('inf'))
        new_best = tl.maximum(best, tl.max(s, axis=1))
        alpha = tl.exp(best - new_best)
        p = tl.exp(s - new_best[:, None])
        total = total * alpha + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        best = new_best
    tl.store(o_ptr + base + rows, acc / total[:, None])


@triton.jit
def abs_max_kernel(x_ptr, out_ptr, n, BLOCK: constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_max(out_ptr, tl.max(tl.abs(x), axis=0))


def array(x):
    """x for the engine: a tensor where PyTorch is, else x itself."""
    return torch.from_numpy(x) if torch else x


def numpy(x):
    return x.numpy() if torch else x


class Case:
    """Inputs once; run() launches, or calls the library; result() is what
    is compared with expected()."""
    shape = ()

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.setup()

    def normal(self, *shape, dtype=np.float32):
        return array(self.rng.standard_normal(shape).astype(dtype))

    def empty(self, *shape, dtype=np.float32):
        return array(np.zeros(shape, dtype))

    def run(self):
        if LIBRARY:
            self.out = self.torch() if torch else self.numpy()
        else:
            self.launch()

    def tensor_bytes(self):
        arrays = (numpy(x) for x in vars(self).values() if hasattr(x, 'shape'))
        return sum(x.nbytes for x in arrays)

    def error(self):
        want = self.expected()
        got = numpy(self.out).astype(np.float64)
        return float(np.abs(got.reshape(want.shape) - want).max())


class VectorAdd(Case):
    def setup(self):
        self.n = 98432
        self.x, self.y = self.normal(self.n), self.normal(self.n)
        self.out = self.empty(self.n)

    def launch(self):
        add_kernel[(triton.cdiv(self.n, 1024), )](
            self.x, self.y, self.out, self.n, BLOCK=1024)

    def torch(self):
        return torch.add(self.x, self.y)

    def numpy(self):
        return self.x + self.y

    def expected(self):
        x, y = numpy(self.x), numpy(self.y)
        return x.astype(np.float64) + y


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Softmax(Case):
    def setup(self):
        self.x = self.normal(1823, 781)
        self.out = self.empty(1823, 781)

    def launch(self):
        softmax_kernel[(1823, )](self.x, self.out, 781, BLOCK=1024)

    def torch(self):
        return torch.softmax(self.x, 1)

    def numpy(self):
        return softmax(self.x)

    def expected(self):
        return softmax(numpy(self.x).astype(np.float64))


class Matmul(Case):
    n, tiles = 512, (64, 64, 32)

    def setup(self):
        n = self.n
        self.a = self.normal(n, n, dtype=np.float16)
        self.b = self.normal(n, n, dtype=np.float16)
        self.out = self.empty(n, n)
        if ENGINE == 'torch':  # whose product of fp16 is not the fast one
            self.wide = self.a.float(), self.b.float()

    def launch(self):
        n, (m, k, j) = self.n, self.tiles
        matmul_kernel[(triton.cdiv(n, m), triton.cdiv(n, k))](
            self.a, self.b, self.out, n, n, n, BLOCK_M=m, BLOCK_N=k,
            BLOCK_K=j)

    def torch(self):
        return torch.mm(*self.wide)

    def numpy(self):
        return self.a.astype(np.float32) @ self.b.astype(np.float32)

    def expected(self):
        a, b = numpy(self.a), numpy(self.b)
        return a.astype(np.float64) @ b.astype(np.float64)


class SmallMatmul(Matmul):
    n, tiles = 128, (16, 16, 16)


class LayerNorm(Case):
    rows, cols = 256, 3000

    def setup(self):
        self.x = self.normal(self.rows, self.cols)
        self.w, self.b = self.normal(self.cols), self.normal(self.cols)
        self.out = self.empty(self.rows, self.cols)

    def launch(self):
        layer_norm_kernel[(self.rows, )](self.x, self.out, self.w, self.b,
                                         self.cols, 1e-5, BLOCK=1024)

    def torch(self):
        return torch.nn.functional.layer_norm(self.x, (self.cols, ), self.w,
                                              self.b, 1e-5)

    def numpy(self, dtype=np.float32):
        x, w, b = (numpy(v).astype(dtype) for v in (self.x, self.w, self.b))
        mean = x.mean(axis=1, keepdims=True)
        var = ((x - mean)**2).mean(axis=1, keepdims=True)
        return (x - mean) / np.sqrt(var + dtype(1e-5)) * w + b

    def expected(self):
        return self.numpy(np.float64)


class Attention(Case):
    heads, n, d = 4, 512, 64

    def setup(self):
        shape = self.heads, self.n, self.d
        self.q, self.k, self.v = (self.normal(*shape) for _ in range(3))
        self.out = self.empty(*shape)

    def launch(self):
        attention_kernel[(self.n // 64, self.heads)](
            self.q, self.k, self.v, self.out, self.n, self.d**-0.5,
            BLOCK=64, D=self.d)

    def torch(self):
        return torch.nn.functional.scaled_dot_product_attention(
            self.q, self.k, self.v, is_causal=True)

    def numpy(self, dtype=np.float32):
        q, k, v = (numpy(x).astype(dtype) for x in (self.q, self.k, self.v))
        s = q @ k.transpose(0, 2, 1) * dtype(self.d**-0.5)
        s = np.where(np.tri(self.n, dtype=bool), s, -np.inf)
        return softmax(s).astype(dtype) @ v

    def expected(self):
        return self.numpy(np.float64)


class AbsMax(Case):
    def setup(self):
        self.n = 1 << 20
        self.x = self.normal(self.n)
        self.out = self.empty(1)

    def launch(self):
        abs_max_kernel[(self.n // 1024, )](self.x, self.out, self.n,
                                           BLOCK=1024)

    def torch(self):
        return self.x.abs().max().reshape(1)

    def numpy(self):
        return np.abs(self.x).max(keepdims=True)

    def expected(self):
        return np.abs(numpy(self.x).astype(np.float64)).max(keepdims=True)


# Name, case, largest error that is accepted: PyTorch rounds the product to half
# precision, and tl.dot of fp32 rounds its operands to tf32.
CASES = {
    'vector add 98432': (VectorAdd, 1e-6),
    'softmax 1823x781': (Softmax, 1e-6),
    'matmul 512^3 f16': (Matmul, 0.1),
    'matmul 128^3 in 16^3': (SmallMatmul, 0.1),
    'layer norm 256x3000': (LayerNorm, 1e-4),
    'causal attention': (Attention, 5e-3),
    'abs-max 2^20': (AbsMax, 1e-6),
}
FOR_SECONDS = 0.15


def best_time(case, clock):
    """The best of as many runs as fit in FOR_SECONDS, at least one."""
    best, end = float('inf'), clock() + FOR_SECONDS
    while best == float('inf') or clock() < end:
        start = clock()
        case.run()
        best = min(best, clock() - start)
    return best


def mend_interpreter():
    """Triton 3.6's interpreter takes an array of one element for an int,
    which NumPy 2.4 no longer allows."""
    from triton.runtime import interpreter
    patch = interpreter._patch_lang_tensor

    def patch_more(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, '__index__',
                       lambda self: self.handle.data.item())

    interpreter._patch_lang_tensor = patch_more


class Tkdbg:
    """The session that this worker runs in."""

    def __init__(self):
        from tkdbg import session
        self.session = session.current()
        self.checks = ''

    def set_checks(self, checks):
        if checks != self.checks:
            s = self.session
            s.check(s.lib.tk_session_check(s.ptr, checks.encode() or None,
                                           None))
        self.checks = checks

    def take_peak(self):
        totals = self.session.runs.totals
        peak, totals['peak'] = totals['peak'], 0
        return peak


def work():
    if ENGINE == 'triton':
        mend_interpreter()
    if ENGINE == 'torch' and not torch:
        sys.exit('no PyTorch')
    from large import LARGE
    known = {**CASES, **LARGE}
    print('ready', flush=True)
    cases = {}
    tkdbg = Tkdbg() if ENGINE == 'tkdbg' else None
    for line in sys.stdin:
        name, bar, checks = line.strip().partition('|')
        if name not in cases:
            cases[name] = known[name][0]()
        case = cases[name]
        if tkdbg:
            tkdbg.set_checks(checks)
            tkdbg.take_peak()
        clock = time.process_time if bar else time.perf_counter
        seconds = best_time(case, clock)
        peak = tkdbg.take_peak() if tkdbg else 0
        print(seconds, case.error(), peak, case.tensor_bytes(), flush=True)


if __name__ == '__main__':
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    work()
