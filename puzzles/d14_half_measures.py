"""d14: Half measures

A kernel adds up a day of power readings, one row for each house. The
readings are fp16, "and that is precise enough for a reading", says the
owner. The test with an hour of them passes. But by the kernel's account all
houses go to sleep in the afternoon, when they only use a little: from then on
their totals do not move.

    z[i] = x[i, 0] + ... + x[i, K-1]         for 0 <= i < M

    x_ptr   float16, M by K, row-major       given
    z_ptr   float32, M elements              to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below: which kind of fault it is (docs/findings.md
   lists them), and the line in which digits are lost, time and again.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import triton
import triton.language as tl


def reference(x):
    return x.sum(axis=1)


@triton.jit
def daily_use(x_ptr, z_ptr, K, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float16)
    for start in range(0, K, B):
        cols = start + tl.arange(0, B)
        total += tl.load(x_ptr + row * K + cols, mask=cols < K, other=0.0)
    tl.store(z_ptr + row, tl.sum(total.to(tl.float32), axis=0))
