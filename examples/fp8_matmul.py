"""Matrix product of fp8 blocks with scales, after quantising to them.

Activations get a scale for each row and GROUP columns, weights one for each
GROUP x GROUP block.  The product of each group along K is scaled before it is
added, so that the sum stays in fp32.  An fp8 number travels as a byte: NumPy
has no such type, and neither have older frameworks.

Checked against float64: the product of the quantised numbers to
1e-5 + 1e-5 |reference|, their rounding to half a step of e4m3 (1/16).
"""
import numpy as np
import triton
import triton.language as tl

GROUP: tl.constexpr = tl.constexpr(32)
LARGEST: tl.constexpr = tl.constexpr(448.0)  # of float8e4nv


@triton.jit
def quantize_kernel(x_ptr, q_ptr, scale_ptr, n_rows, n_cols,
                    ROWS: tl.constexpr):
    """One scale for each ROWS x GROUP block."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * GROUP + tl.arange(0, GROUP)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    largest = tl.max(tl.max(tl.abs(x), axis=1), axis=0)
    # A block of zeros must not divide by zero.
    scale = tl.where(largest > 0, largest / LARGEST, 1.0)
    q = tl.clamp(x / scale, -LARGEST, LARGEST).to(tl.float8e4nv)
    tl.store(q_ptr + at, q.to(tl.uint8, bitcast=True), mask=mask)
    tl.store(scale_ptr + tl.program_id(0) * tl.num_programs(1) +
             tl.program_id(1), scale)


@triton.jit
def fp8_matmul_kernel(a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, M, N, K,
                      BLOCK_M: tl.constexpr):
    """C = A @ B.T; A is [M, K], B is [N, K], blocks are GROUP wide."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = pid_n * GROUP + tl.arange(0, GROUP)
    acc = tl.zeros([BLOCK_M, GROUP], dtype=tl.float32)
    n_groups = tl.cdiv(K, GROUP)
    for group in range(0, n_groups):
        ks = group * GROUP + tl.arange(0, GROUP)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0)
        b = tl.load(b_ptr + cols[None, :] * K + ks[:, None],
                    mask=(cols[None, :] < N) & (ks[:, None] < K), other=0)
        a_scale = tl.load(a_scale_ptr + rows * n_groups + group,
                          mask=rows < M, other=0.0)
        b_scale = tl.load(b_scale_ptr + pid_n * n_groups + group)
        product = tl.dot(a.to(tl.float8e4nv, bitcast=True),
                         b.to(tl.float8e4nv, bitcast=True))
        acc += product * a_scale[:, None] * b_scale
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc,
             mask=(rows[:, None] < M) & (cols[None, :] < N))


def quantize(x, rows):
    n_rows, n_cols = x.shape
    grid = triton.cdiv(n_rows, rows), triton.cdiv(n_cols, 32)
    q = np.empty(x.shape, dtype=np.uint8)
    scale = np.empty(grid, dtype=np.float32)
    quantize_kernel[grid](x, q, scale, n_rows, n_cols, ROWS=rows)
    return q, scale


def fp8_matmul(a, a_scale, b, b_scale):
    (M, K), N = a.shape, b.shape[0]
    c = np.empty((M, N), dtype=np.float32)
    grid = triton.cdiv(M, 16), triton.cdiv(N, 32)
    fp8_matmul_kernel[grid](a, b, c, a_scale, b_scale, M, N, K, BLOCK_M=16)
    return c


def decode(q):
    """e4m3 bytes as float64."""
    q = q.astype(np.int64)
    sign, exponent, fraction = q >> 7, (q >> 3) & 15, q & 7
    value = np.where(exponent > 0, (8 + fraction) * 2.0**(exponent - 10.0),
                     fraction * 2.0**-9)
    return np.where(sign == 1, -value, value)


def dequantize(q, scale, rows):
    wide = np.repeat(np.repeat(scale, rows, axis=0), 32, axis=1)
    return decode(q) * wide[:q.shape[0], :q.shape[1]]


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1), (16, 32, 64), (37, 45, 100)
    for M, N, K in shapes:
        a = rng.standard_normal((M, K)).astype(np.float16)
        b = rng.standard_normal((N, K)).astype(np.float16)
        a_q, a_scale = quantize(a, 1)
        b_q, b_scale = quantize(b, 32)
        a_back, b_back = (dequantize(a_q, a_scale, 1),
                          dequantize(b_q, b_scale, 32))
        for x, back, step in (a, a_back, a_scale), (b, b_back, b_scale):
            # Numbers below the normal range of e4m3 have a fixed step.
            np.testing.assert_allclose(back, x.astype(np.float64),
                                       rtol=1 / 16, atol=step.max() * 2**-9)
        np.testing.assert_allclose(fp8_matmul(a_q, a_scale, b_q, b_scale),
                                   a_back @ b_back.T, rtol=1e-5, atol=1e-5)
    print('fp8_matmul: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
