from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, N, programs, B):
    return make.launch((programs,), N=N, B=B, x_ptr=make.floats(N),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=300, programs=3), dict(N=1, programs=4),
           dict(N=1000, programs=1)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    hints=[
        "Take the body of a02 and put a loop round it. What changes from one "
        "trip to the next is only where the block starts.",
        "The first block of program p starts at p * B. All programs together "
        "advance by tl.num_programs(0) * B elements in each trip.",
        "for start in range(tl.program_id(0) * B, N, tl.num_programs(0) * "
        "B): and in it offs = start + tl.arange(0, B), then load, square, "
        "store, masked by offs < N.",
    ],
    solution='''
@triton.jit
def square(x_ptr, z_ptr, N, B: tl.constexpr):
    step = tl.num_programs(0) * B
    for start in range(tl.program_id(0) * B, N, step):
        offs = start + tl.arange(0, B)
        x = tl.load(x_ptr + offs, mask=offs < N)
        tl.store(z_ptr + offs, x * x, mask=offs < N)
''',
    other='''
@triton.jit
def square(x_ptr, z_ptr, N, B: tl.constexpr):
    # each program has neighbouring blocks
    share = tl.cdiv(tl.cdiv(N, B), tl.num_programs(0)) * B
    first = tl.program_id(0) * share
    for start in range(first, min(first + share, N), B):
        offs = start + tl.arange(0, B)
        x = tl.load(x_ptr + offs, mask=offs < N)
        tl.store(z_ptr + offs, x * x, mask=offs < N)
''',
    after="This is called a grid-stride loop. The kernel is right for any "
          "number of programs; how many are fastest can be decided later.",
    wrong=[
        Wrong("unwritten", "a program stops after its first block",
              [("tl.program_id(0) * B, N, step",
                "tl.program_id(0) * B, tl.program_id(0) * B + 1, step")]),
        Wrong("twice", "a program goes on with the next block, which belongs "
                       "to another program", [("step = tl.num_programs(0) * B",
                                     "step = B")]),
        Wrong("twice", "the step is counted in programs, not in elements",
              [("step = tl.num_programs(0) * B",
                "step = tl.num_programs(0)")]),
        Wrong("unwritten", "the step is as many blocks as a block has lanes",
              [("step = tl.num_programs(0) * B", "step = B * B")]),
        Wrong("twice", "every program starts at the beginning",
              [("tl.program_id(0) * B, N", "0, N")]),
        Wrong("out-of-bounds", "the loop ends in time, but its last block is "
              "not masked", [("x_ptr + offs, mask=offs < N",
                              "x_ptr + offs")]),
    ],
)
