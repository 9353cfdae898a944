"""The K largest of each row and where they are, by a bitonic network.

Value and column become one 64-bit key: above, the bits of the float in an
order-preserving form; below, the column counted backwards, so that of equal
values the first wins.  The network compares each lane with its partner, whose
number differs in one bit.  NaN counts as largest.

Checked against NumPy: values and columns exactly.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def ordered_bits(x):
    """int32 in the order of the floats x; -0 just below +0."""
    bits = x.to(tl.int32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


@triton.jit
def bitonic_sort(key, LOG: tl.constexpr):
    """The 2 ** LOG lanes of key, largest first."""
    lane = tl.arange(0, 1 << LOG)
    for stage in tl.static_range(1, LOG + 1):
        for bit in tl.static_range(stage - 1, -1, -1):
            partner = tl.gather(key, lane ^ (1 << bit), axis=0)
            low = (lane >> bit) & 1 == 0
            downward = (lane >> stage) & 1 == 0
            key = tl.where(low == downward, tl.maximum(key, partner),
                           tl.minimum(key, partner))
    return key


@triton.jit
def topk_kernel(x_ptr, value_ptr, index_ptr, n_cols, k, LOG: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, 1 << LOG)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    low = ((1 << LOG) - 1 - cols).to(tl.int64)
    key = (ordered_bits(x).to(tl.int64) << 32) | low
    key = tl.where(mask, key, -0x7FFFFFFFFFFFFFFF - 1)  # past every number
    key = bitonic_sort(key, LOG)
    index = (1 << LOG) - 1 - (key & 0xFFFFFFFF).to(tl.int32)
    # Undo ordered_bits, which is its own inverse.
    bits = (key >> 32).to(tl.int32)
    bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    out = row * k + cols
    tl.store(value_ptr + out, bits.to(tl.float32, bitcast=True),
             mask=cols < k)
    tl.store(index_ptr + out, index, mask=cols < k)


def topk(x, k):
    n_rows, n_cols = x.shape
    value = np.empty((n_rows, k), dtype=np.float32)
    index = np.empty((n_rows, k), dtype=np.int32)
    topk_kernel[(n_rows, )](x, value, index, n_cols, k,
                            LOG=(n_cols - 1).bit_length())
    return value, index


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1), (3, 64, 8), (4, 100, 100), (2, 300, 7)
    for n_rows, n_cols, k in shapes:
        x = rng.standard_normal((n_rows, n_cols)).astype(np.float32)
        x[:, ::3] = np.round(x[:, ::3])  # ties
        x[:, n_cols // 2] = -np.inf
        x += np.float32(0)  # -0, which NumPy holds equal to 0, becomes 0
        value, index = topk(x, k)
        # A stable sort of the negated numbers keeps the first of equals
        # first.
        want = np.argsort(-x.astype(np.float64), axis=1, kind='stable')
        want = want[:, :k]
        np.testing.assert_array_equal(index, want)
        np.testing.assert_array_equal(
            value, np.take_along_axis(x, want, axis=1))
    print('topk: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
