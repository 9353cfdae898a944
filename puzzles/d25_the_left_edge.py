"""d25: The left edge

A sound is played at half speed: every sample twice, one step later, and
silence before the first one. The index was tried out in Python, line by
line, and is right. In the kernel the very first sample is there at once,
where silence should be, and only there.

    z[i] = x[floor((i - 1) / 2)]             for 1 <= i < 2 * N
    z[0] = 0

    x_ptr   float32, N elements              given
    z_ptr   float32, 2 * N elements          to be written
    grid    ceil(2 * N / B) programs

Your job has two parts.

1. Write the verdict below: the line whose result differs from Python's, and
   what (i - 1) // 2 is in Triton where i is 0 (index).
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: line=? index=?
import triton
import triton.language as tl


def reference(x):
    z = np.zeros(2 * len(x))
    z[1:] = x[(np.arange(1, 2 * len(x)) - 1) // 2]
    return z


@triton.jit
def half_speed(x_ptr, z_ptr, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    source = (i - 1) // 2
    known = (source >= 0) & (source < N)
    x = tl.load(x_ptr + source, mask=known, other=0.0)
    tl.store(z_ptr + i, x, mask=i < 2 * N)
