from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(2 * N, B),), N=N, B=B,
                       x_ptr=make.floats(N, low=0.5, high=1.5),
                       z_ptr=make.output(2 * N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=50), dict(N=1), dict(N=300)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    verdict=dict(line="source = (i - 1) // 2", index=0),
    hints=[
        "Stop after the second line in program 0, and print 'source'. What "
        "would Python compute for its first lane?",
        "Python rounds // down, Triton rounds it towards zero, as C and the "
        "hardware do. The two agree as long as nothing is negative.",
        "-1 // 2 is -1 in Python and 0 here, so that lane 0 counts as known. "
        "Divide what is not negative: source = (i + 1) // 2 - 1.",
    ],
    solution=[("source = (i - 1) // 2", "source = (i + 1) // 2 - 1")],
    other='''
@triton.jit
def half_speed(x_ptr, z_ptr, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    known = (i > 0) & (i < 2 * N)
    x = tl.load(x_ptr + (i - 1) // 2, mask=known, other=0.0)
    tl.store(z_ptr + i, x, mask=i < 2 * N)
''',
    after="// and % of negative numbers are C's, not Python's. Shift the "
          "numbers above zero before you divide, or mask by what you divide, "
          "not by the quotient. (>> does round down.)",
    wrong=[
        Wrong("value", "shifted by a whole divisor, and not shifted back",
              [("(i + 1) // 2 - 1", "(i + 1) // 2")]),
        Wrong("value", "it begins one sample later",
              [("(i + 1) // 2 - 1", "(i + 0) // 2 - 1")]),
        Wrong("value", "the lane with -1 is let through as lane 0",
              [("(i + 1) // 2 - 1", "tl.maximum(i - 1, 0) // 2")]),
        Wrong("out-of-bounds", "the mask lets -1 through",
              [("(source >= 0) & ", "")]),
        Wrong("verdict", "-1 is what Python says",
              verdict=dict(index=-1)),
    ],
)
