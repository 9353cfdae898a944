"""d10: The total that shrinks

A dashboard shows the total of a month's sales. Under the interpreter that
the team tests with it is right to the cent. On the GPU it is always too
small, by a different amount each time. "We lose money", says the boss, "but
only on Fridays, when there is a lot to add up."

    z[0] = x[0] + ... + x[N-1]

    x_ptr   int32, N elements                given
    z_ptr   int32, 1 element, holding 0      to be added to
    grid    ceil(N / B) programs

Your job has two parts.

1. Write the verdict below, for N=100 and B=32: which kind of fault it is
   (docs/findings.md lists them), a line that takes part in it, and the
   first program (by number) that can lose what another program has added.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=?
import triton
import triton.language as tl


def reference(x):
    return x.sum(keepdims=True)


@triton.jit
def total(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=0)
    part = tl.sum(x, axis=0)
    so_far = tl.load(z_ptr)
    tl.store(z_ptr, so_far + part)
