"""Running sum in one kernel: each block looks back at those before it.

A program publishes one 64-bit word: a flag above, the bits of a float below.
First the sum of its block (flag 1), then, when it knows the sum of all blocks
before, the sum up to its end (flag 2).  It walks back over its predecessors
until one of them has flag 2; a word whose flag is 0 is read again.  Flag and
value travel in one word, so that they cannot be torn apart.

Blocks are taken from a counter rather than from program_id, so that a block
waits only for blocks that have begun (decoupled look-back, Merrill and Garland
2016).

Checked against float64: |error| <= 1e-3 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def pack(flag, value):
    bits = value.to(tl.uint32, bitcast=True).to(tl.int64)
    return (flag.to(tl.int64) << 32) | bits


@triton.jit
def unpack(word):
    value = (word & 0xFFFFFFFF).to(tl.uint32).to(tl.float32, bitcast=True)
    return (word >> 32).to(tl.int32), value


@triton.jit
def lookback_scan_kernel(x_ptr, y_ptr, word_ptr, next_ptr, n,
                         BLOCK: tl.constexpr):
    block = tl.atomic_add(next_ptr, 1, sem='relaxed')
    i = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    total = tl.sum(x, axis=0)
    before = total * 0
    if block > 0:
        tl.atomic_xchg(word_ptr + block, pack(block * 0 + 1, total),
                       sem='release')
        at = block - 1
        while at >= 0:
            # An atomic that changes nothing reads what others wrote.
            word = tl.atomic_add(word_ptr + at, 0, sem='acquire')
            flag, value = unpack(word)
            if flag > 0:
                before += value
                at -= 1
            if flag == 2:
                at = -1
    tl.atomic_xchg(word_ptr + block, pack(block * 0 + 2, before + total),
                   sem='release')
    tl.store(y_ptr + i, tl.cumsum(x, axis=0) + before, mask=i < n)


def lookback_scan(x, block=64):
    y = np.empty_like(x)
    programs = triton.cdiv(x.size, block)
    words = np.zeros(programs, dtype=np.int64)
    counter = np.zeros(1, dtype=np.int32)
    lookback_scan_kernel[(programs, )](x, y, words, counter, x.size,
                                       BLOCK=block)
    return y


def main():
    rng = np.random.default_rng(0)
    sizes = 1, 64, 65, 3000
    for n in sizes:
        x = rng.standard_normal(n).astype(np.float32)
        np.testing.assert_allclose(lookback_scan(x),
                                   x.cumsum(dtype=np.float64), rtol=1e-5,
                                   atol=1e-3)
    print('lookback_scan: OK,', len(sizes), 'sizes')


if __name__ == '__main__':
    main()
