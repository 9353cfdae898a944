from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.floats(N, infinities="+-"),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=1000)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    hints=[
        "tl.program_id(0) tells which program this is. All programs run the "
        "same text: only that number makes them different.",
        "Think of a block as a vector of numbers, one for each lane: "
        "tl.arange(0, B) counts 0 to B-1. Shift it to where this program's "
        "block begins; compared with N, it gives the mask.",
        "offs = tl.program_id(0) * B + tl.arange(0, B); then a tl.load from "
        "x_ptr + offs and a tl.store to z_ptr + offs, both with "
        "mask=offs < N.",
    ],
    solution='''
@triton.jit
def copy(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, x, mask=mask)
''',
    after="Every kernel of this kind begins with these two lines: offsets "
          "from the program's number, and a mask from the offsets.",
    wrong=[
        Wrong("out-of-bounds", "nothing is masked",
              [(", mask=mask)\n    tl.store", ")\n    tl.store"),
               ("x, mask=mask)", "x)"), ("    mask = offs < N\n", "")]),
        Wrong("twice", "every program takes the first block",
              [("tl.program_id(0) * B + ", "")]),
        Wrong("unwritten", "blocks are one element apart",
              [("tl.program_id(0) * B", "tl.program_id(0)")]),
        Wrong("unwritten", "the last element is masked off",
              [("offs < N", "offs < N - 1")]),
        Wrong("value", "it stores where it read from, not what",
              [("z_ptr + offs, x,", "z_ptr + offs, x + offs,")]),
    ],
)
