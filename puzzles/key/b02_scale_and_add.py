from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B, s=-1.5,
                       x_ptr=make.floats(N), y_ptr=make.floats(N),
                       z_ptr=make.output(N, terms=2))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=700)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    hints=[
        "It is the copy of a02 with one more load, and with arithmetic "
        "between the loads and the store.",
        "x, y and z are indexed alike, so one block of offsets and one mask "
        "serve all three. The numbers of two loads are in the same lanes.",
        "Load x from x_ptr + offs and y from y_ptr + offs, both with "
        "mask=offs < N; store s * x + y to z_ptr + offs, masked as well.",
    ],
    solution='''
@triton.jit
def scale_and_add(x_ptr, y_ptr, z_ptr, s, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, s * x + y, mask=mask)
''',
    after="Every number is loaded once and stored once: such a kernel is as "
          "fast as memory is. What is between the load and the store costs "
          "nothing.",
    wrong=[
        Wrong("out-of-bounds", "the second load has no mask",
              [("y_ptr + offs, mask=mask", "y_ptr + offs")]),
        Wrong("value", "the other vector is scaled", [("s * x + y",
                                                       "s * y + x")]),
        Wrong("value", "the sum is scaled", [("s * x + y", "s * (x + y)")]),
        Wrong("value", "every program takes the first block of y",
              [("y_ptr + offs", "y_ptr + tl.arange(0, B)")]),
        Wrong("unwritten", "blocks are N apart instead of B",
              [("tl.program_id(0) * B", "tl.program_id(0) * N")]),
        Wrong("type", "the pointers are added instead of what they point to",
              [("s * x + y", "s * x_ptr + y_ptr")]),
    ],
)
