"""d22: In the mirror

Each program flips one square tile over its diagonal. It stores the tile to a
workspace of its own, and loads it from there in the other order. Under the
interpreter, and with num_warps=1 on the card, it is right. With four warps
some tiles come out as a patchwork of new and old.

    z[t, i, j] = x[t, j, i]                  for 0 <= t < T, 0 <= i, j < B

    x_ptr     float32, T by B by B           given
    z_ptr     float32, T by B by B           to be written
    work_ptr  float32, T by B by B           a workspace
    grid      T programs

Your job has two parts.

1. Write the verdict below: which kind of fault it is (docs/findings.md lists
   them), and the line that comes too early.
2. Repair the kernel, and change no more than you must. It must still use its
   workspace.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import triton
import triton.language as tl


def reference(x):
    return x.transpose(0, 2, 1)


@triton.jit
def mirror(x_ptr, z_ptr, work_ptr, B: tl.constexpr):
    tile = tl.program_id(0) * B * B
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + tile + i * B + j)
    tl.store(work_ptr + tile + i * B + j, x)
    turned = tl.load(work_ptr + tile + j * B + i)
    tl.store(z_ptr + tile + i * B + j, turned)
