"""Histogram of uniform bins: counted in a block, then added by atomics.

tl.histogram counts a block of bin numbers; what lies outside the range, and
the lanes past the end, go to no bin.  Each program adds its counts to the
result, which must be zero before.

Checked against NumPy: exactly.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(x_ptr, count_ptr, n, low, high, n_bins,
                     BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # NaN lies in no bin, as it compares false.
    x = tl.load(x_ptr + i, mask=i < n, other=float('nan'))
    inside = (x >= low) & (x < high)
    scaled = tl.where(inside, (x - low) * n_bins / (high - low), 0.0)
    # A number just below the upper end may round up to it.
    which = tl.minimum(scaled.to(tl.int32), n_bins - 1)
    counts = tl.histogram(which, BINS, mask=inside)
    bins = tl.arange(0, BINS)
    tl.atomic_add(count_ptr + bins, counts,
                  mask=(bins < n_bins) & (counts > 0), sem='relaxed')


def histogram(x, n_bins, low, high):
    count = np.zeros(n_bins, dtype=np.int32)
    grid = lambda meta: (triton.cdiv(x.size, meta['BLOCK']), )
    histogram_kernel[grid](x, count, x.size, float(low), float(high), n_bins,
                           BINS=max(2, triton.next_power_of_2(n_bins)),
                           BLOCK=256)
    return count


def main():
    rng = np.random.default_rng(0)
    cases = [(n, bins) for n in (1, 256, 3000) for bins in (1, 16, 100)]
    for n, bins in cases:
        # Quarters are exact in every step; 1 of 9 lies outside, on average.
        x = (rng.integers(-4 * bins, 32 * bins, n) / 4).astype(np.float32)
        x[n // 2] = np.nan
        edges = np.arange(bins + 1) * 8.0
        want = [((x >= lo) & (x < hi)).sum()
                for lo, hi in zip(edges, edges[1:])]
        np.testing.assert_array_equal(histogram(x, bins, 0, 8 * bins), want)
    print('histogram: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
