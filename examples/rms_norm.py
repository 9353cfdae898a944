"""RMSNorm of each row, forward and backward, in half precision.

y = x / sqrt(mean(x * x) + eps) * w.  The sums are kept in fp32.  The backward
kernel gives one program a run of rows, so that the gradient of the weights
needs a short second sum on the host only.

Checked against float64: |error| <= 2e-3 + 2e-3 |reference| (fp16 results).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def rms_norm_forward(x_ptr, w_ptr, y_ptr, rstd_ptr, row_stride, n_cols, eps,
                     BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row.to(tl.int64) * row_stride
    y_ptr += row.to(tl.int64) * row_stride
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(rstd_ptr + row, rstd)
    y = x * rstd * w
    tl.store(y_ptr + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def rms_norm_backward(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr,
                      row_stride, n_rows, n_cols, rows_per_program,
                      BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    first = pid * rows_per_program
    last = min(first + rows_per_program, n_rows)
    for row in range(first, last):
        at = row.to(tl.int64) * row_stride + cols
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x_hat = x * rstd
        g = dy * w
        dx = (g - x_hat * (tl.sum(g * x_hat, axis=0) / n_cols)) * rstd
        tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        dw += dy * x_hat
    tl.store(dw_ptr + pid * n_cols + cols, dw, mask=mask)


def rms_norm(x, w, eps=1e-6):
    n_rows, n_cols = x.shape
    y = np.empty_like(x)
    rstd = np.empty(n_rows, dtype=np.float32)
    rms_norm_forward[(n_rows, )](x, w, y, rstd, n_cols, n_cols, eps,
                                 BLOCK=triton.next_power_of_2(n_cols))
    return y, rstd


def rms_norm_gradients(dy, x, w, rstd, programs=4):
    n_rows, n_cols = x.shape
    dx = np.empty_like(x)
    dw = np.empty((programs, n_cols), dtype=np.float32)
    rms_norm_backward[(programs, )](
        dy, x, w, rstd, dx, dw, n_cols, n_rows, n_cols,
        triton.cdiv(n_rows, programs), BLOCK=triton.next_power_of_2(n_cols))
    return dx, dw.sum(axis=0)


def reference(dy, x, w, eps=1e-6):
    dy, x, w = (a.astype(np.float64) for a in (dy, x, w))
    rstd = 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps)
    x_hat, g = x * rstd, dy * w
    dx = (g - x_hat * (g * x_hat).mean(axis=1, keepdims=True)) * rstd
    return x_hat * w, dx, (dy * x_hat).sum(axis=0)


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1), (3, 64), (5, 100), (7, 1000)
    for shape in shapes:
        x, dy = (rng.standard_normal(shape).astype(np.float16)
                 for _ in range(2))
        w = rng.uniform(0.5, 1.5, shape[1]).astype(np.float16)
        y, rstd = rms_norm(x, w)
        dx, dw = rms_norm_gradients(dy, x, w, rstd)
        for got, want in zip((y, dx, dw), reference(dy, x, w)):
            np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)
    print('rms_norm: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
