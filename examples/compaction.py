"""The elements that pass a test, packed together (stream compaction).

Each program counts what passes in its block and takes that many places from a
counter; a running sum gives each element its place.  Within a block the order
is kept, among blocks it is that of the counter.  The kept numbers come with
the positions they had.

Checked against NumPy: the same pairs, exactly; in order when sorted.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def compact_kernel(x_ptr, value_ptr, position_ptr, count_ptr, n, threshold,
                   BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    keep = (i < n) & (x > threshold)
    rank = tl.cumsum(keep.to(tl.int32), axis=0) - 1
    first = tl.atomic_add(count_ptr, tl.sum(keep.to(tl.int32), axis=0),
                          sem='relaxed')
    tl.store(value_ptr + first + rank, x, mask=keep)
    tl.store(position_ptr + first + rank, i, mask=keep)


def compact(x, threshold):
    value = np.empty_like(x)
    position = np.empty(x.size, dtype=np.int32)
    count = np.zeros(1, dtype=np.int32)
    grid = lambda meta: (triton.cdiv(x.size, meta['BLOCK']), )
    compact_kernel[grid](x, value, position, count, x.size, threshold,
                         BLOCK=128)
    return value[:count[0]], position[:count[0]]


def main():
    rng = np.random.default_rng(0)
    cases = [(n, threshold) for n in (1, 128, 3000)
             for threshold in (-10.0, 0.5, 10.0)]
    for n, threshold in cases:
        x = rng.standard_normal(n).astype(np.float32)
        value, position = compact(x, threshold)
        want = np.flatnonzero(x > threshold)
        np.testing.assert_array_equal(np.sort(position), want)
        np.testing.assert_array_equal(value, x[position])
    print('compaction: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
