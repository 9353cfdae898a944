"""Scripts whose comparison fails, and what `tkdbg why` says of them."""
import textwrap

import planted
import support

KERNEL = """
    @triton.jit
    def scale(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, v * 3, mask=i < n)

    x = np.arange(1, 41, dtype="f4")
    y = np.zeros(40, "f4")
    scale[(3,)](x, y, 40, 16)
    ref = x * 2
"""
TORCH = """
    import torch
    @triton.jit
    def scale(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, v * 3, mask=i < n)

    x = torch.arange(1., 41, device="cuda")
    y = torch.empty_like(x)
    scale[(3,)](x, y, 40, 16)
    ref = x * 2
"""
HEAD = """
    import numpy as np
    import triton
    import triton.language as tl
"""


class Asked(support.ScriptCase):
    """Tests that ask why a script failed."""
    triton = "ours"  # they share one process, which imports it once

    def why(self, text, suspects="off"):
        if suspects == "on":
            from tkdbg import workers
            # others may be at work here: what is found depends on time of the
            # processor alone
            workers.SLOWEST = 100
        return planted.run([textwrap.dedent(HEAD) + textwrap.dedent(text)],
                           {"why": True, "suspects": suspects})
