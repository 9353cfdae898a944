from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.floats(N, infinities="+-"),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=700)],
    blocks=[dict(B=32), dict(B=64)],
    lines=4,
    hints=[
        "Begin with the copy of a02. Only one of its two accesses has to "
        "change.",
        "The lane that writes z[i] reads x[N - 1 - i]: compute the second "
        "offset from the first. If i is past the end, N - 1 - i is below 0: "
        "the same lanes are to be masked off in both.",
        "With offs and mask as in a02, load from x_ptr + (N - 1 - offs) with "
        "mask=mask, and store to z_ptr + offs with mask=mask.",
    ],
    solution='''
@triton.jit
def reverse(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    x = tl.load(x_ptr + (N - 1 - offs), mask=mask)
    tl.store(z_ptr + offs, x, mask=mask)
''',
    other='''
@triton.jit
def reverse(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N)
    tl.store(z_ptr + N - 1 - offs, x, mask=offs < N)
''',
    after="Reading backwards or writing backwards comes to the same. What "
          "counts is that every element is written by exactly one lane.",
    wrong=[
        Wrong("out-of-bounds", "it counts from N, which is one too far",
              [("N - 1 - offs", "N - offs")]),
        Wrong("out-of-bounds", "the load is not masked: its last lanes lie "
              "before the start", [("(N - 1 - offs), mask=mask",
                                    "(N - 1 - offs)")]),
        Wrong("out-of-bounds", "the mask looks at the end, where the turned "
              "offsets never are",
              [("offs < N", "N - 1 - offs < N")]),
        Wrong("value", "each block is turned round where it stands",
              kernel='''
@triton.jit
def reverse(x_ptr, z_ptr, N, B: tl.constexpr):
    start = tl.program_id(0) * B
    offs = start + tl.arange(0, B)
    back = start + B - 1 - tl.arange(0, B)
    x = tl.load(x_ptr + back, mask=back < N, other=0)
    tl.store(z_ptr + offs, x, mask=offs < N)
'''),
        Wrong("value", "it reads and writes backwards, which makes a copy",
              [("z_ptr + offs", "z_ptr + (N - 1 - offs)")]),
    ],
)
