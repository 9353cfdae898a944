"""d17: The late maximum

An attention kernel reads its keys in blocks and keeps a running maximum, so
that exp never overflows. A new model trains with it, but its loss curve
stays a little above that of the old kernel, for no reason that anybody can
find. All tests pass: each of them happens to have its largest score in the
first block.

    w[i, j] = exp(x[i, j]) / (exp(x[i, 0]) + ... + exp(x[i, N-1]))
    z[i] = w[i, 0] * v[0] + ... + w[i, N-1] * v[N-1]     for 0 <= i < M

    x_ptr   float32, M by N, row-major       given
    v_ptr   float32, N elements              given
    z_ptr   float32, M elements              to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below: the line with the mistake, and the first trip of
   the loop (index, counted from 0) in which it can do harm.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: line=? index=?
import triton
import triton.language as tl


def reference(x, v):
    w = np.exp(x - x.max(axis=1, keepdims=True))
    return w @ v / w.sum(axis=1)


@triton.jit
def weighted_mean(x_ptr, v_ptr, z_ptr, N, B: tl.constexpr):
    row = tl.program_id(0)
    largest = float("-inf")
    total = 0.0
    acc = 0.0
    for start in range(0, N, B):
        cols = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N,
                    other=float("-inf"))
        v = tl.load(v_ptr + cols, mask=cols < N, other=0.0)
        higher = tl.maximum(largest, tl.max(x, axis=0))
        shrink = tl.exp(largest - higher)
        w = tl.exp(x - higher)
        total = total * shrink + tl.sum(w, axis=0)
        acc = acc + tl.sum(w * v, axis=0)
        largest = higher
    tl.store(z_ptr + row, acc / total)
