import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, T, H, D, BH, BD):
    x = make.floats((T, H, D))
    angle = make.random.uniform(-3, 3, (T, D // 2))
    return make.launch((T,), H=H, D=D, BH=BH, BD=BD, x_ptr=x,
                       cos_ptr=make.array(np.cos(angle), "fp32"),
                       sin_ptr=make.array(np.sin(angle), "fp32"),
                       z_ptr=make.output((T, H, D), terms=3))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(T=5, H=3, D=20), dict(T=1, H=1, D=2), dict(T=16, H=7, D=32)],
    blocks=[dict(BH=8, BD=16), dict(BH=16, BD=32)],
    lines=13,
    hints=[
        "Cut the task in two: a block of heads by half a head for the first "
        "halves, and another one for the second halves. Neither a gather nor "
        "a negated copy is needed.",
        "The offsets of the second halves are those of the first plus D // "
        "2. cos and sin depend on the token and the column alone: one row, "
        "that broadcasts over the heads.",
        "offs = t * H * D + heads[:, None] * D + cols[None, :]; a from "
        "x_ptr + offs, b from x_ptr + offs + half; store a * cos - b * sin "
        "and b * cos + a * sin to the same two places of z.",
    ],
    solution='''
@triton.jit
def rope(x_ptr, cos_ptr, sin_ptr, z_ptr, H, D, BH: tl.constexpr,
         BD: tl.constexpr):
    t = tl.program_id(0)
    half = D // 2
    heads = tl.arange(0, BH)
    cols = tl.arange(0, BD)
    c = tl.load(cos_ptr + t * half + cols, mask=cols < half)[None, :]
    s = tl.load(sin_ptr + t * half + cols, mask=cols < half)[None, :]
    offs = t * H * D + heads[:, None] * D + cols[None, :]
    mask = (heads < H)[:, None] & (cols < half)[None, :]
    a = tl.load(x_ptr + offs, mask=mask)
    b = tl.load(x_ptr + offs + half, mask=mask)
    tl.store(z_ptr + offs, a * c - b * s, mask=mask)
    tl.store(z_ptr + offs + half, b * c + a * s, mask=mask)
''',
    after="Two conventions live side by side: halves, as here, and "
          "neighbours (0 with 1, 2 with 3). Weights trained with one are "
          "noise with the other, and nothing crashes.",
    wrong=[
        Wrong("value", "the second half is turned backwards",
              [("b * c + a * s", "b * c - a * s")]),
        Wrong("race", "a half reaches to the end of the block, over the "
              "other half",
              [("(cols < half)[None, :]", "(cols < D)[None, :]"),
               ("cos_ptr + t * half + cols, mask=cols < half)",
                "cos_ptr + t * half + cols, mask=cols < half, other=1.0)"),
               ("sin_ptr + t * half + cols, mask=cols < half)",
                "sin_ptr + t * half + cols, mask=cols < half, other=0.0)")]),
        Wrong("out-of-bounds", "cos and sin are taken to be D wide",
              [("cos_ptr + t * half", "cos_ptr + t * D"),
               ("sin_ptr + t * half", "sin_ptr + t * D")]),
        Wrong("value", "neighbours are paired instead of halves",
              [("b = tl.load(x_ptr + offs + half, mask=mask)",
                "b = tl.load(x_ptr + offs + (half > 1), mask=mask)")]),
        Wrong("value", "every token is turned as the first one is",
              [("cos_ptr + t * half + cols", "cos_ptr + cols"),
               ("sin_ptr + t * half + cols", "sin_ptr + cols")]),
        Wrong("unwritten", "only the first head is turned",
              [("(heads < H)[:, None]", "(heads < 1)[:, None]")]),
    ],
)
