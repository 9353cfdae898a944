import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, H, W, KH, KW, BH, BW):
    x, w = make.floats((H, W)), make.floats((KH, KW))
    size = np.abs(x.values()).max() * np.abs(w.values()).sum()
    return make.launch((cdiv(H, BH), cdiv(W, BW)), H=H, W=W, KH=KH, KW=KW,
                       BH=BH, BW=BW, x_ptr=x, w_ptr=w,
                       z_ptr=make.output((H, W), terms=KH * KW, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(H=20, W=13, KH=3, KW=5), dict(H=1, W=1, KH=1, KW=1),
           dict(H=25, W=30, KH=5, KW=3)],
    blocks=[dict(BH=16, BW=8), dict(BH=8, BW=32)],
    lines=12,
    hints=[
        "Two loops, one in the other, over a and b. What is the same in all "
        "trips, and what is different?",
        "In trip (a, b) the lane of pixel (i, j) reads the pixel "
        "(i + a - KH // 2, j + b - KW // 2), if that lies in the picture: "
        "two comparisons in each direction. A missing pixel is 0. The "
        "weight is a single number for the whole tile.",
        "r = i + a - KH // 2; c = j + b - KW // 2; load from x_ptr + r * W + "
        "c with mask=(r >= 0) & (r < H) & (c >= 0) & (c < W), other=0; add "
        "tl.load(w_ptr + a * KW + b) times that to a tile of zeros.",
    ],
    solution='''
@triton.jit
def convolve(x_ptr, w_ptr, z_ptr, H, W, KH, KW, BH: tl.constexpr,
             BW: tl.constexpr):
    i = (tl.program_id(0) * BH + tl.arange(0, BH))[:, None]
    j = (tl.program_id(1) * BW + tl.arange(0, BW))[None, :]
    z = tl.zeros([BH, BW], tl.float32)
    for a in range(0, KH):
        r = i + a - KH // 2
        for b in range(0, KW):
            c = j + b - KW // 2
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W)
            x = tl.load(x_ptr + r * W + c, mask=inside, other=0)
            w = tl.load(w_ptr + a * KW + b)
            z += w * x
    tl.store(z_ptr + i * W + j, z, mask=(i < H) & (j < W))
''',
    after="Each pixel is loaded once for every weight, but all but the first "
          "of these loads come from a cache. Where a tile may stick out on "
          "every side, the mask needs four comparisons: count them.",
    wrong=[
        Wrong("out-of-bounds", "left of the picture lies the end of the row "
              "above",
              [(" & (c >= 0)", "")]),
        Wrong("out-of-bounds", "right of the picture lies the next row",
              [(" & (c < W)\n", "\n")]),
        Wrong("out-of-bounds", "above the picture nothing is masked",
              [("(r >= 0) & ", "")]),
        Wrong("value", "the window begins at the pixel instead of lying "
              "around it", [("i + a - KH // 2", "i + a"),
                            ("j + b - KW // 2", "j + b")]),
        Wrong("value", "the window is turned round, as in a textbook's "
              "convolution", [("w_ptr + a * KW + b",
                               "w_ptr + (KH - 1 - a) * KW + KW - 1 - b")]),
        Wrong("value", "rows of the window are taken to be KH long",
              [("a * KW + b", "a * KH + b")]),
        Wrong("undef", "pixels outside have no value",
              [("mask=inside, other=0", "mask=inside")]),
    ],
)
