import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv

LOW = 0, 0x8000, 0x7fff, 0x8001, 0xffff, 1  # lower halves that are ties, ...


def launch(make, N, B):
    x = make.floats(N, infinities="+-").values().astype(np.float32)
    bits = x.view(np.uint32)
    low = make.random.choice(LOW, N).astype(np.uint32)
    tie = np.isfinite(x) & (x != 0) & (make.random.uniform(size=N) < 0.7)
    x = np.where(tie, bits & 0xffff0000 | low, bits).astype(np.uint32)
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.array(x.view(np.float32), "fp32"),
                       z_ptr=make.output(N, "uint16"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=500)],
    blocks=[dict(B=32), dict(B=64)],
    lines=6,
    forbid={"bfloat16": "that conversion is what you are to write"},
    hints=[
        "Write four lower halves on paper, 0x7fff, 0x8000, 0x8001 and "
        "0xffff, and for each whether the upper half has to grow by one.",
        "0x7fff carries into the upper half for everything above one half, "
        "but not for one half itself. There it has to be 0x8000 if the "
        "upper half is odd: add the lowest bit that is kept.",
        "bits = x.to(tl.uint32, bitcast=True); odd = (bits >> 16) & 1; the "
        "result is (bits + 0x7FFF + odd) >> 16, as tl.uint16.",
    ],
    solution='''
@triton.jit
def to_bfloat16(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N)
    bits = x.to(tl.uint32, bitcast=True)
    odd = (bits >> 16) & 1
    z = (bits + 0x7FFF + odd) >> 16
    tl.store(z_ptr + offs, z.to(tl.uint16), mask=offs < N)
''',
    other='''
@triton.jit
def to_bfloat16(x_ptr, z_ptr, N, B: tl.constexpr):
    # as on paper: cut, then look at what was cut off
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N)
    bits = x.to(tl.uint32, bitcast=True)
    upper = bits >> 16
    lower = bits & 0xFFFF
    up = (lower > 0x8000) | ((lower == 0x8000) & ((upper & 1) == 1))
    z = upper + up.to(tl.uint32)
    tl.store(z_ptr + offs, z.to(tl.uint16), mask=offs < N)
''',
    after="If the carry runs through all seven bits, it raises the exponent, "
          "which is just right: the next power of two. Formats of floats are "
          "made so that their bits can be counted like whole numbers.",
    wrong=[
        Wrong("value", "the lower half is cut off",
              [("(bits + 0x7FFF + odd) >> 16", "bits >> 16"),
               ("    odd = (bits >> 16) & 1\n", "")]),
        Wrong("value", "ties are rounded up",
              [("bits + 0x7FFF + odd", "bits + 0x8000"),
               ("    odd = (bits >> 16) & 1\n", "")]),
        Wrong("value", "ties are rounded down",
              [("bits + 0x7FFF + odd", "bits + 0x7FFF"),
               ("    odd = (bits >> 16) & 1\n", "")]),
        Wrong("value", "ties are rounded to odd",
              [("bits + 0x7FFF + odd", "bits + 0x8000 - odd")]),
        Wrong("value", "the number itself is converted instead of its bits",
              [("x.to(tl.uint32, bitcast=True)", "x.to(tl.int32)")]),
        Wrong("value", "it asks for the lowest bit of the half that is cut "
              "off", [("(bits >> 16) & 1", "bits & 1")]),
        Wrong("forbidden", "Triton's own conversion",
              [("z = (bits + 0x7FFF + odd) >> 16",
                "z = x.to(tl.bfloat16).to(tl.uint16, bitcast=True)")]),
    ],
)
