import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N), infinities="+-", low=-3.0, high=-1.0).values()
    x[1::2, make.random.integers(N)] = np.nan
    return make.launch((M,), M=M, N=N, B=B, x_ptr=make.array(x, "fp32"),
                       z_ptr=make.output(M))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=6, N=75), dict(M=4, N=1), dict(M=10, N=150)],
    blocks=[dict(B=32), dict(B=16)],
    lines=10,
    hints=[
        "The maximum alone cannot tell: tl.max has already dropped the NaN. "
        "Let a second thing say whether there was one.",
        "x != x is a block of int1, true where x is NaN. As whole numbers "
        "these can be counted by tl.sum, or be reduced by tl.max; the lanes "
        "behind the end must neither be NaN nor win the maximum.",
        "In the loop: m = tl.maximum(m, tl.max(x, 0)) and "
        "bad += tl.sum((x != x).to(tl.int32), 0); at the end store "
        "tl.where(bad > 0, float(\"nan\"), m).",
    ],
    solution='''
@triton.jit
def nan_max(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    m = float("-inf")
    bad = 0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        m = tl.maximum(m, tl.max(x, 0))
        bad += tl.sum((x != x).to(tl.int32), 0)
    z = tl.where(bad > 0, float("nan"), m)
    tl.store(z_ptr + row, z)
''',
    other='''
@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def nan_max(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    m = tl.full([B], float("-inf"), tl.float32)
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        m = larger(m, x)
    tl.store(z_ptr + row, tl.reduce(m, 0, larger))
''',
    after="tl.reduce takes any function of two numbers, as the other way "
          "shows. It must not matter to the function in which order and in "
          "which groups it gets them.",
    wrong=[
        Wrong("value", "NaN is never looked for",
              [("tl.where(bad > 0, float(\"nan\"), m)", "m"),
               ("    bad = 0\n", ""),
               ("        bad += tl.sum((x != x).to(tl.int32), 0)\n", "")]),
        Wrong("value", "it asks whether x equals NaN, which nothing does",
              [("x != x", "x == float(\"nan\")")]),
        Wrong("value", "only the last block is searched for NaN",
              [("bad += tl.sum", "bad = tl.sum")]),
        Wrong("neutral", "the lanes past the end are 0, and win against "
              "negative numbers", [('other=float("-inf")', "other=0")]),
        Wrong("value", "the lanes past the end are NaN, and found",
              [('other=float("-inf")', 'other=float("nan")')]),
        Wrong("undef", "the lanes past the end have no value",
              [(', other=float("-inf")', "")]),
    ],
)
