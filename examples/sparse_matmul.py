"""A sparse matrix (compressed rows) times a dense one.

A row's entries are walked in blocks; the rows of the dense matrix that they
name are gathered.  Rows may be empty or of any length.

Checked against float64: |error| <= 1e-5 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def sparse_matmul_kernel(row_ptr, col_ptr, value_ptr, b_ptr, c_ptr, N,
                         ENTRIES: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    first = tl.load(row_ptr + row)
    last = tl.load(row_ptr + row + 1)
    acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    for start in range(first, last, ENTRIES):
        entry = start + tl.arange(0, ENTRIES)
        mask = entry < last
        k = tl.load(col_ptr + entry, mask=mask, other=0)
        value = tl.load(value_ptr + entry, mask=mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + cols[None, :],
                    mask=mask[:, None] & (cols[None, :] < N), other=0.0)
        acc += tl.sum(value[:, None] * b, axis=0)
    tl.store(c_ptr + row.to(tl.int64) * N + cols, acc, mask=cols < N)


def sparse_matmul(row_starts, columns, values, b):
    n_rows, N = row_starts.size - 1, b.shape[1]
    c = np.empty((n_rows, N), dtype=np.float32)
    grid = lambda meta: (n_rows, triton.cdiv(N, meta['BLOCK_N']))
    sparse_matmul_kernel[grid](row_starts, columns, values, b, c, N,
                               ENTRIES=8, BLOCK_N=32)
    return c


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1), (20, 32, 64), (33, 70, 45)
    for M, K, N in shapes:
        dense = rng.standard_normal((M, K)) * (rng.random((M, K)) < 0.2)
        dense[M // 2] = 0  # an empty row
        dense[0] = 1  # a full one
        rows, columns = np.nonzero(dense)
        values = dense[rows, columns].astype(np.float32)
        row_starts = np.searchsorted(rows, np.arange(M + 1)).astype(np.int32)
        b = rng.standard_normal((K, N)).astype(np.float32)
        got = sparse_matmul(row_starts, columns.astype(np.int32), values, b)
        np.testing.assert_allclose(got, dense @ b.astype(np.float64),
                                   rtol=1e-5, atol=1e-5)
    print('sparse_matmul: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
