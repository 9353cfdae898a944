"""A sort of keys with values by digits: the digits of each block are counted,
the counts summed up, and the pairs moved, from one pair of buffers to another
and back."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _digit(key, shift, BITS: tl.constexpr):
    return (key >> shift) & ((1 << BITS) - 1)


@triton.jit
def flip(Keys, Out, n, B: tl.constexpr):
    """Signed numbers as keys whose order without a sign is the same."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(Keys + at, mask=at < n, other=0)
    tl.store(Out + at, x.to(tl.uint32, bitcast=True) ^ 0x80000000,
             mask=at < n)


@triton.jit
def unflip(Keys, Out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(Keys + at, mask=at < n, other=0) ^ 0x80000000
    tl.store(Out + at, x.to(tl.int32, bitcast=True), mask=at < n)


@triton.jit
def count_digits(Keys, Counts, n, blocks, shift, BITS: tl.constexpr,
                 B: tl.constexpr):
    """Counts[digit, block]."""
    block = tl.program_id(0)
    at = block * B + tl.arange(0, B)
    digit = _digit(tl.load(Keys + at, mask=at < n, other=0), shift, BITS)
    for d in range(1 << BITS):
        mine = (digit == d) & (at < n)
        tl.store(Counts + d * blocks + block, tl.sum(mine.to(tl.int32), 0))


@triton.jit
def scan_counts(Counts, Starts, size, B: tl.constexpr):
    """Sums of all that stand before."""
    before = 0
    for base in range(0, size, B):
        at = base + tl.arange(0, B)
        c = tl.load(Counts + at, mask=at < size, other=0)
        tl.store(Starts + at, before + tl.cumsum(c, 0) - c, mask=at < size)
        before += tl.sum(c, 0)


@triton.jit
def _rank(digit, there, BITS: tl.constexpr, B: tl.constexpr):
    """How many of the same digit stand before each."""
    digits = tl.arange(0, 1 << BITS)
    one = (digit[:, None] == digits[None, :]) & there[:, None]
    one = one.to(tl.int32)
    before = tl.cumsum(one, 0) - one
    return tl.sum(before * one, 1)


@triton.jit
def move(Keys, Values, OutKeys, OutValues, Starts, n, blocks, shift,
         BITS: tl.constexpr, B: tl.constexpr):
    block = tl.program_id(0)
    at = block * B + tl.arange(0, B)
    there = at < n
    key = tl.load(Keys + at, mask=there, other=0)
    value = tl.load(Values + at, mask=there, other=0)
    digit = _digit(key, shift, BITS).to(tl.int32)
    start = tl.load(Starts + digit * blocks + block, mask=there, other=0)
    to = start + _rank(digit, there, BITS, B)
    tl.store(OutKeys + to, key, mask=there)
    tl.store(OutValues + to, value, mask=there)


def sort(keys, values, bits=4, used=16, B=32):
    n = keys.size
    blocks = triton.cdiv(n, B)
    ours, other = np.empty((2, n), np.uint32)
    vals, other_vals = values.copy(), np.empty_like(values)
    counts, starts = np.empty((2, 1 << bits, blocks), np.int32)
    flip[(blocks,)](keys, ours, n, B=B)
    for shift in [*range(0, used, bits), 28]:
        count_digits[(blocks,)](ours, counts, n, blocks, shift, BITS=bits,
                                B=B)
        scan_counts[(1,)](counts, starts, counts.size, B=32)
        move[(blocks,)](ours, vals, other, other_vals, starts, n, blocks,
                        shift, BITS=bits, B=B)
        ours, other = other, ours
        vals, other_vals = other_vals, vals
    out = np.empty_like(keys)
    unflip[(blocks,)](ours, out, n, B=B)
    return out, vals


def main():
    rng = np.random.default_rng(12)
    keys = rng.integers(-20000, 20000, 200).astype(np.int32)
    keys[::7] = keys[3]
    values = np.arange(200, dtype=np.int32)
    out, vals = sort(keys, values)
    order = np.argsort(keys, kind='stable')
    np.testing.assert_array_equal(out, keys[order])
    np.testing.assert_array_equal(vals, order)
    print('ok')


if __name__ == '__main__':
    main()
