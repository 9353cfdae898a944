import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N), infinities="-", low=-3.0, high=-1.0).values()
    if make.regime == "special":
        x[0] = -np.inf
    return make.launch((M,), M=M, N=N, B=B, x_ptr=make.array(x, "fp32"),
                       z_ptr=make.output(M, "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=6, N=75), dict(M=4, N=1), dict(M=10, N=150)],
    blocks=[dict(B=32), dict(B=16)],
    lines=10,
    hints=[
        "Two things are carried: the largest value so far and its column. "
        "When exactly may a block replace them?",
        "The lane's number counts from the block's start. A block that only "
        "equals the best so far comes later in the row, so it must not "
        "win. tl.where chooses between single numbers as well.",
        "v, lane = tl.max(x, 0, return_indices=True); "
        "at = tl.where(v > best, start + lane, at); "
        "best = tl.maximum(best, v); start from best = float(\"-inf\") and "
        "at = 0.",
    ],
    solution='''
@triton.jit
def argmax(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    best = float("-inf")
    at = 0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        v, lane = tl.max(x, 0, return_indices=True)
        at = tl.where(v > best, start + lane, at)
        best = tl.maximum(best, v)
    tl.store(z_ptr + row, at)
''',
    other='''
@triton.jit
def argmax(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # each lane keeps its own best; of the best lanes, the smallest column
    row = tl.program_id(0)
    best = tl.full([B], float("-inf"), tl.float32)
    at = tl.arange(0, B)
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        at = tl.where(x > best, j, at)
        best = tl.maximum(best, x)
    first = tl.where(best == tl.max(best, 0), at, N)
    tl.store(z_ptr + row, tl.min(first, 0))
''',
    after="`>` keeps the first of equals, `>=` the last. With random numbers "
          "you would never see the difference; with scores in halves, or "
          "after a ReLU, ties are everywhere.",
    wrong=[
        Wrong("value", "of equals in two blocks the later one wins",
              [("v > best", "v >= best")]),
        Wrong("value", "the column is counted from the block's start",
              [("start + lane", "lane")]),
        Wrong("neutral", "the lanes past the end are 0, and win against "
              "negative scores", [('other=float("-inf")', "other=0")]),
        Wrong("value", "the column is right only if the last block has the "
              "largest", [("tl.where(v > best, start + lane, at)",
                           "start + lane")]),
        Wrong("value", "the best so far is not kept",
              [("best = tl.maximum(best, v)", "best = v")]),
        Wrong("value", "it stores the value instead of its place",
              [("z_ptr + row, at", "z_ptr + row, best")]),
    ],
)
