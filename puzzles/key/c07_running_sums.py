import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N))
    size = np.abs(x.values()).sum(1, keepdims=True)
    return make.launch((M,), M=M, N=N, B=B, x_ptr=x,
                       z_ptr=make.output((M, N), terms=N, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=5, N=75), dict(M=3, N=1), dict(M=8, N=140)],
    blocks=[dict(B=32), dict(B=16)],
    lines=7,
    hints=[
        "All lanes of the second block lack the same number. Which?",
        "Carry one number through the loop: the sum of all blocks so far, 0 "
        "at first. It is added to every lane of the block's own running "
        "sums; only then it grows, by the sum of the block.",
        "Store carry + tl.cumsum(x, 0), and after that carry += "
        "tl.sum(x, 0); x was loaded with mask=j < N, other=0.",
    ],
    solution='''
@triton.jit
def running_sums(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0) * N
    carry = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row + j, mask=j < N, other=0)
        tl.store(z_ptr + row + j, carry + tl.cumsum(x, 0), mask=j < N)
        carry += tl.sum(x, 0)
''',
    after="A scan is a reduction that shows its work. What is carried from "
          "block to block is the same in both; tl.associative_scan does it "
          "for functions other than +.",
    wrong=[
        Wrong("value", "each block begins at 0 again",
              [("carry + tl.cumsum", "tl.cumsum"),
               ("    carry = 0.0\n", ""),
               ("        carry += tl.sum(x, 0)\n", "")]),
        Wrong("value", "only the block just before is carried over",
              [("carry += tl.sum", "carry = tl.sum")]),
        Wrong("value", "the block's own sum is added before it is stored", [
            ("        tl.store(z_ptr + row + j, carry + tl.cumsum(x, 0), "
             "mask=j < N)\n        carry += tl.sum(x, 0)\n",
             "        carry += tl.sum(x, 0)\n"
             "        tl.store(z_ptr + row + j, carry + tl.cumsum(x, 0), "
             "mask=j < N)\n")]),
        Wrong("value", "the element itself is left out of its sum",
              [("tl.cumsum(x, 0)", "tl.cumsum(x, 0) - x")]),
        Wrong("value", "the largest running sum is carried over, which is "
              "the last one only if nothing is negative",
              [("carry += tl.sum(x, 0)",
                "carry += tl.max(tl.cumsum(x, 0), 0)")]),
        Wrong("value", "the sums run from the end",
              [("tl.cumsum(x, 0)", "tl.cumsum(x, 0, reverse=True)")]),
        Wrong("value", "the first element of the block is carried over",
              [("carry += tl.sum(x, 0)",
                "carry += tl.load(x_ptr + row + start)")]),
    ],
)
