"""d08: Past two gigabytes

A server keeps its pages in one large file, and this kernel works out where
each of them begins. For months it has been right. Then the file grew past
two gigabytes, and since then some readers seek to a place before the
beginning of the file.

    z[i] = page[i] * page_bytes              for 0 <= i < N

    page_ptr    int32, N elements, from 0 to 999,999    given
    page_bytes  a whole number                          given
    z_ptr       int64, N elements                       to be written
    grid        ceil(N / B) programs

Your job has two parts.

1. Write the verdict below, for page_bytes=8192: which kind of fault it is
   (docs/findings.md lists them), the line that commits it, and the smallest
   number of a page (index) that is hit.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? index=?
import triton
import triton.language as tl


def reference(page, page_bytes):
    return page * page_bytes


@triton.jit
def page_offsets(page_ptr, z_ptr, page_bytes, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    page = tl.load(page_ptr + offs, mask=mask, other=0)
    begin = page * page_bytes
    tl.store(z_ptr + offs, begin.to(tl.int64), mask=mask)
