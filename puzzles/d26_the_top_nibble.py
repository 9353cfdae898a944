"""d26: The top nibble

Eight weights of four bits lie in one int32, the first in its lowest bits.
An engineer has noticed that the last one needs no mask: "there is nothing
above it that could get in". Since then a model with such weights talks
nonsense, but only in the layers where some weights are large.

    z[8 * i + k] = (w[i] >> (4 * k)) % 16    for 0 <= i < N, 0 <= k < 8

    w_ptr   int32, N elements                given
    z_ptr   int32, 8 * N elements            to be written
    grid    ceil(N / B) programs

Your job has two parts.

1. Write the verdict below: which kind of fault it is (docs/findings.md lists
   them), and the line that commits it.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import triton
import triton.language as tl


def reference(w):
    return ((w[:, None] >> (4 * np.arange(8))) % 16).reshape(-1)


@triton.jit
def unpack(w_ptr, z_ptr, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    w = tl.load(w_ptr + i, mask=i < N, other=0)
    for k in range(7):
        low = (w >> (4 * k)) & 15
        tl.store(z_ptr + 8 * i + k, low, mask=i < N)
    top = w >> 28
    tl.store(z_ptr + 8 * i + 7, top, mask=i < N)
