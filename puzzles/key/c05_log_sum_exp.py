import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N), infinities="-", large=200.0).values()
    if make.regime == "special":
        x[0] = -np.inf
        x[1, :B] = -np.inf
    return make.launch((M,), M=M, N=N, B=B, x_ptr=make.array(x, "fp32"),
                       z_ptr=make.output(M, terms=N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=5, N=75), dict(M=4, N=1), dict(M=10, N=150)],
    blocks=[dict(B=32), dict(B=16)],
    lines=11,
    hints=[
        "Take the loop of b09 and leave out all that has to do with values "
        "and with several rows. Then go through it with a first block that "
        "is minus infinity everywhere.",
        "Two differences can be minus infinity minus minus infinity: the old "
        "maximum minus the new one, and x minus it. Subtract a number that "
        "is never infinite: the new maximum, or 0 while there is none.",
        "base = tl.where(m_new == float(\"-inf\"), 0.0, m_new); "
        "total = total * tl.exp(m - base) + tl.sum(tl.exp(x - base), 0); at "
        "the end the result is m + tl.log(total).",
    ],
    solution='''
@triton.jit
def log_sum_exp(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    m = float("-inf")
    total = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        base = tl.where(m_new == float("-inf"), 0.0, m_new)
        total = total * tl.exp(m - base) + tl.sum(tl.exp(x - base), 0)
        m = m_new
    tl.store(z_ptr + row, m + tl.log(total))
''',
    other='''
@triton.jit
def log_sum_exp(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # begin with a very small number in place of minus infinity
    row = tl.program_id(0)
    m = -1e30
    total = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    tl.store(z_ptr + row, m + tl.log(total))
''',
    after="A row that is masked out as a whole has brought down more than "
          "one attention kernel: padding is all it takes. Try your "
          "reductions on nothing but neutral elements.",
    wrong=[
        Wrong("inf", "no maximum is subtracted", kernel='''
@triton.jit
def log_sum_exp(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=float("-inf"))
        total += tl.sum(tl.exp(x), 0)
    tl.store(z_ptr + row, tl.log(total))
'''),
        Wrong("nan", "minus infinity is subtracted from minus infinity",
              [('base = tl.where(m_new == float("-inf"), 0.0, m_new)',
                "base = m_new")]),
        Wrong("value", "the sum is not rescaled when the maximum grows",
              [("total * tl.exp(m - base) +", "total +")]),
        Wrong("value", "the maximum is not added again",
              [("m + tl.log(total)", "tl.log(total)")]),
        Wrong("value", "it is the logarithm to base 2",
              [("tl.log(total)", "tl.log2(total)")]),
        Wrong("neutral", "the lanes past the end are 0, and count exp(0)",
              [('other=float("-inf")', "other=0.0")]),
        Wrong("value", "each block is summed relative to its own maximum",
              [("tl.exp(x - base)", "tl.exp(x - tl.max(x, 0))")]),
    ],
)
