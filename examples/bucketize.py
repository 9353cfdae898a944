"""The bucket of each number among sorted boundaries, by binary search.

All lanes search together; a while loop runs as long as some lane's interval
is not empty.  RIGHT says to which side a number equal to a boundary goes.

Checked against NumPy: exactly.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def bucketize_kernel(x_ptr, boundary_ptr, out_ptr, n, n_boundaries,
                     RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0)
    # The answer lies in low .. high; full covers the lanes past the end too.
    low = tl.zeros([BLOCK], dtype=tl.int32)
    high = tl.zeros([BLOCK], dtype=tl.int32) + n_boundaries
    width = n_boundaries + 1
    while width > 1:
        middle = (low + high) // 2
        busy = low < high
        b = tl.load(boundary_ptr + middle, mask=busy, other=0.0)
        if RIGHT:
            above = x >= b
        else:
            above = x > b
        low = tl.where(busy & above, middle + 1, low)
        high = tl.where(busy & ~above, middle, high)
        width = tl.max(high - low, axis=0) + 1
    tl.store(out_ptr + i, low, mask=mask)


def bucketize(x, boundaries, right):
    out = np.empty(x.size, dtype=np.int32)
    grid = lambda meta: (triton.cdiv(x.size, meta['BLOCK']), )
    bucketize_kernel[grid](x, boundaries, out, x.size, boundaries.size,
                           RIGHT=right, BLOCK=64)
    return out


def main():
    rng = np.random.default_rng(0)
    cases = [(n, m, right) for n in (1, 64, 500) for m in (1, 7, 100)
             for right in (False, True)]
    for n, m, right in cases:
        boundaries = np.sort(rng.integers(0, 60, m)).astype(np.float32)
        x = rng.integers(-5, 65, n).astype(np.float32)
        want = np.searchsorted(boundaries, x, 'right' if right else 'left')
        np.testing.assert_array_equal(bucketize(x, boundaries, right), want)
    print('bucketize: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
