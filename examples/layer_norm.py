"""LayerNorm of each row; its backward pass sums over rows behind a lock.

Each program of the first backward kernel computes dx of one row and adds its
part of dw and db to one of GROUP partial sums.  Programs that share a partial
sum take turns: a spin lock for each, and a count that tells the first one to
store instead of add.  A second kernel adds the partial sums.

Checked against float64: |error| <= 1e-5 + 1e-4 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def layer_norm_forward(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr,
                       row_stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row.to(tl.int64) * row_stride
    y_ptr += row.to(tl.int64) * row_stride
    # Two passes over the row: mean first, so that the variance does not
    # cancel.
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
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        w = tl.load(w_ptr + cols, mask=mask, other=0.0)
        b = tl.load(b_ptr + cols, mask=mask, other=0.0)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def layer_norm_backward_rows(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr,
                             mean_ptr, rstd_ptr, lock_ptr, row_stride, n_cols,
                             GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    at = row.to(tl.int64) * row_stride + cols
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + at, mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    rstd = tl.load(rstd_ptr + row)
    x_hat = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    g = w * dy
    c1 = tl.sum(x_hat * g, axis=0) / n_cols
    c2 = tl.sum(g, axis=0) / n_cols
    tl.store(dx_ptr + at, (g - (x_hat * c1 + c2)) * rstd, mask=mask)

    partial_dw = dy * x_hat
    partial_db = dy
    # Locks come first in memory, the counts after them.
    group = row % GROUP
    lock_ptr += group
    count_ptr = lock_ptr + GROUP
    dw_ptrs = dw_ptr + group * n_cols + cols
    db_ptrs = db_ptr + group * n_cols + cols
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_dw += tl.load(dw_ptrs, mask=mask, other=0.0)
        partial_db += tl.load(db_ptrs, mask=mask, other=0.0)
    tl.store(dw_ptrs, partial_dw, mask=mask)
    tl.store(db_ptrs, partial_db, mask=mask)
    # Every thread must have stored before the lock opens.
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def layer_norm_backward_sums(partial_dw_ptr, partial_db_ptr, dw_ptr, db_ptr,
                             n_groups, n_cols, BLOCK_M: tl.constexpr,
                             BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    db = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, n_groups, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < n_groups) & (cols[None, :] < n_cols)
        at = rows[:, None] * n_cols + cols[None, :]
        dw += tl.load(partial_dw_ptr + at, mask=mask, other=0.0)
        db += tl.load(partial_db_ptr + at, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < n_cols)
    tl.store(db_ptr + cols, tl.sum(db, axis=0), mask=cols < n_cols)


def layer_norm(x, w, b, eps=1e-5):
    n_rows, n_cols = x.shape
    y = np.empty_like(x)
    mean, rstd = (np.empty(n_rows, dtype=np.float32) for _ in range(2))
    layer_norm_forward[(n_rows, )](x, w, b, y, mean, rstd, n_cols, n_cols,
                                   eps, BLOCK=128)
    return y, mean, rstd


def layer_norm_gradients(dy, x, w, mean, rstd, group=4):
    n_rows, n_cols = x.shape
    group = min(group, n_rows)
    dx = np.empty_like(x)
    locks = np.zeros(2 * group, dtype=np.int32)
    part_dw, part_db = (np.empty((group, n_cols), dtype=np.float32)
                        for _ in range(2))
    layer_norm_backward_rows[(n_rows, )](
        dx, dy, part_dw, part_db, x, w, mean, rstd, locks, n_cols, n_cols,
        GROUP=group, BLOCK=triton.next_power_of_2(n_cols))
    dw, db = np.empty_like(w), np.empty_like(w)
    layer_norm_backward_sums[(triton.cdiv(n_cols, 64), )](
        part_dw, part_db, dw, db, group, n_cols, BLOCK_M=2, BLOCK_N=64)
    return dx, dw, db


def reference(dy, x, w, b, eps=1e-5):
    dy, x, w, b = (a.astype(np.float64) for a in (dy, x, w, b))
    centred = x - x.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    x_hat, g = centred * rstd, dy * w
    dx = (g - x_hat * (g * x_hat).mean(axis=1, keepdims=True) -
          g.mean(axis=1, keepdims=True)) * rstd
    return x_hat * w + b, dx, (dy * x_hat).sum(axis=0), dy.sum(axis=0)


def main():
    rng = np.random.default_rng(0)
    shapes = (2, 8), (9, 128), (13, 300)
    for shape in shapes:
        x = (rng.standard_normal(shape) * 3 + 1).astype(np.float32)
        dy = rng.standard_normal(shape).astype(np.float32)
        w, b = rng.standard_normal((2, shape[1])).astype(np.float32)
        y, mean, rstd = layer_norm(x, w, b)
        gradients = layer_norm_gradients(dy, x, w, mean, rstd)
        for got, want in zip((y, *gradients), reference(dy, x, w, b)):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    print('layer_norm: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
