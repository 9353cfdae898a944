"""d02: Fair shares

"I cut the gradients off at -1 and 1 with four programs, each of which takes
a quarter of them", writes the author of this kernel. "For three weeks a few
weights at the very end of the model have been drifting away, as if nobody
cut their gradients off at all. With 4,096 parameters everything is fine."

    z[i] = min(max(x[i], -1), 1)             for 0 <= i < N

    x_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    4 programs, whatever N is

Your job has two parts.

1. Write the verdict below, for N=99: which kind of fault it is
   (docs/findings.md lists them), the line with the mistake, and the index
   of the first element of z that suffers.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? index=?
import triton
import triton.language as tl


def reference(x):
    return np.clip(x, -1, 1)


@triton.jit
def clip(x_ptr, z_ptr, N, B: tl.constexpr):
    share = N // tl.num_programs(0)
    first = tl.program_id(0) * share
    last = first + share
    for start in range(first, last, B):
        offs = start + tl.arange(0, B)
        x = tl.load(x_ptr + offs, mask=offs < last)
        z = tl.minimum(tl.maximum(x, -1.0), 1.0)
        tl.store(z_ptr + offs, z, mask=offs < last)
