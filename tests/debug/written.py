"""A kernel as a program writes it, with the lines that it was made of."""
import triton
import triton.language as tl


@triton.jit
def _helion_halves(x, out, n, B: tl.constexpr):
    # src[halves.py:9]: for tile in hl.tile(n):
    at = tl.program_id(0) * B + tl.arange(0, B)
    # src[halves.py:10]: y = torch.where(
    # src[halves.py:11]:     x[tile] > 0,
    # src[halves.py:12]:     x[tile], 0)
    v = tl.load(x + at, mask=at < n)
    y = tl.where(v > 0, v, 0)
    for _ in range(2):
        # src[halves.py:15]: y = y // 2
        y = y // 2
        # src[halves.py:12]:     x[tile], 0)
        y = y * 1
    # src[halves.py:17]: out[tile] = y
    tl.store(out + at, y, mask=at < n)
