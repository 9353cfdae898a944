"""d23: Masks added

"Both conditions must hold, so I add the masks", writes somebody who has come
from NumPy, where that works. In his notebook it works, too. Compiled, the
kernel leaves the whole picture grey, but writes along its edges, and once
into the picture beside it.

    z[i, j] = 255 - x[i, j]                  for 0 <= i < M, 0 <= j < N

    x_ptr   int32, M by N, row-major         given
    z_ptr   int32, M by N, row-major         to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

Your job has two parts.

1. Write the verdict below: the kind of fault that a linter has a name for
   (docs/findings.md lists them), and the line with it.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import triton
import triton.language as tl


def reference(x):
    return 255 - x


@triton.jit
def negative(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows < M)[:, None] + (cols < N)[None, :]
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, 255 - x, mask=mask)
