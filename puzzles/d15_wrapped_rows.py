"""d15: Wrapped rows

"I take the rows modulo M, so that no load needs a mask for them; I saw that
in a tutorial", says a colleague. Her kernel is right whenever it is tested.
But a profiler counts more bytes written than z has. And since somebody calls
it in place, with x and z the same tensor, the first rows are now and then
doubled twice.

    z[i, j] = 2 * x[i, j]                    for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written, each once
    grid    ceil(M / BM) programs

Your job has two parts.

1. Write the verdict below, for M=20, N=24 and BM=16: which kind of fault it
   is (docs/findings.md lists them), the line that commits it, the program
   with the wrapped rows, and the first element (row, column) of z that it
   should not write.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=? index=?
import triton
import triton.language as tl


def reference(x):
    return 2 * x


@triton.jit
def double_rows(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    mask = (cols < N)[None, :]
    offs = (rows % M)[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, 2 * x, mask=mask)
