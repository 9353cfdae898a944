"""d11: Yesterday's numbers

A kernel adds up the gradients of T steps. The first time that it is called
in a process, the result is right. From the second time on it is right only
now and then, and what is added to it looks familiar: yesterday's gradients.
The caller makes the output with torch.empty, "because the kernel writes all
of it anyhow".

    z[i] = x[0, i] + ... + x[T-1, i]         for 0 <= i < N

    x_ptr   float32, T by N, row-major       given
    z_ptr   float32, N elements, not cleared    to be written, each once
    grid    ceil(N / B) programs

Your job has two parts.

1. Write the verdict below: which kind of fault it is (docs/findings.md
   lists them), and the line in which what nobody wrote gets in.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import triton
import triton.language as tl


def reference(x):
    return x.sum(axis=0)


@triton.jit
def add_steps(x_ptr, z_ptr, T, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    total = tl.load(z_ptr + offs, mask=mask, other=0.0)
    for t in range(T):
        total += tl.load(x_ptr + t * N + offs, mask=mask, other=0.0)
    tl.store(z_ptr + offs, total, mask=mask)
