"""Kernels with one bug each, which a page of their launch shows.

The first line of each docstring is a launch; docs/view.md says what to click.
"""
import triton
import triton.language as tl


@triton.jit
def stride(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """--grid 4 --arg x=f32[32,48]:arange --arg y=f32[32,48]:zeros --arg M=32
    --arg N=48 --arg BM=8 --arg BN=64

    A copy whose rows are as long as the tensor has rows."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    mask = (i[:, None] < M) & (j[None, :] < N)
    v = tl.load(x + i[:, None] * M + j[None, :], mask=mask)
    tl.store(y + i[:, None] * N + j[None, :], v, mask=mask)


@triton.jit
def axis(x, y, M: tl.constexpr, N: tl.constexpr):
    """--grid 1 --arg x=f32[16,32]:rand --arg y=f32[16]:zeros --arg M=16
    --arg N=32

    Sums of rows that are sums of columns."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + j[None, :])
    s = tl.sum(v, 0)
    tl.store(y + j, s, mask=j < M)


@triton.jit
def tail(x, y, n, B: tl.constexpr):
    """--grid 3 --arg x=f32[100]:arange --arg y=f32[100]:zeros --arg n=100
    --arg B=32

    A grid that was rounded down."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v * 2.0, mask=at < n)


@triton.jit
def race(x, bins, n, B: tl.constexpr):
    """--grid 4 --arg x=f32[128]:rand --arg bins=f32[16]:zeros --arg n=128
    --arg B=32

    Programs that add to the same numbers without an atomic operation."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    part = tl.sum(tl.reshape(v, (16, 2)), 1)
    to = bins + tl.arange(0, 16)
    tl.store(to, tl.load(to) + part)
