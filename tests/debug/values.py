"""Values of every kind, for the debugger to look at."""
import triton
import triton.language as tl


@triton.jit
def both(a, by: tl.constexpr):
    c = a * by
    return c, c + 1


@triton.jit
def values(x, y, n, B: tl.constexpr, NAME: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    f = tl.load(x + i, mask=i < n, other=0.0)
    two = f[:, None] + f[None, :]
    three = two[:, :, None] + tl.arange(0, 2)[None, None, :]
    pair = both(f, 2)
    mixed = (p, f, (B, n))
    desc = tl.make_tensor_descriptor(y, [n, 4], [4, 1], [2, 4])
    block = tl.make_block_ptr(y, (n, 4), (4, 1), (p, 0), (2, 4), (1, 0))
    small = f.to(tl.bfloat16)
    tiny = f.to(tl.float8e5)
    wide = i.to(tl.int64) * -1000000007
    where = x + i
    tl.store(y + i, f, mask=i < n)
