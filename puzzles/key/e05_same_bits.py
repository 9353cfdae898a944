from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv

ATOMICS = {f"atomic_{name}": "its order, and so the last bits of the sum, "
           "would differ from night to night" for name in
           ("add", "cas", "xchg", "max", "min", "and", "or", "xor")}


def launch(make, M, N, R, B):
    x, programs, columns = make.floats((M, N)), cdiv(M, R), cdiv(N, B)
    part = make.scratch((programs, N))
    z = make.output(N, terms=M, scale=abs(x.values()).max())
    return [make.launch((programs, columns), "partial", x_ptr=x,
                        part_ptr=part, M=M, N=N, R=R, B=B),
            make.launch((columns,), "combine", part_ptr=part, z_ptr=z,
                        P=programs, N=N, B=B)]


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=23, N=45, R=8), dict(M=5, N=1, R=1),
           dict(M=60, N=100, R=16)],
    blocks=[dict(B=32), dict(B=16)],
    lines=14,
    forbid=ATOMICS,
    hints=[
        "The boundary between two launches is a barrier for everybody: what "
        "the first has written, the second may read.",
        "A loop over rows that carries a block of columns along adds in the "
        "order of the rows, always the same. Mind where the last program's "
        "rows end.",
        "In partial, for row in range(p * R, tl.minimum(p * R + R, M)): total "
        "+= tl.load(x_ptr + row * N + cols, mask=cols < N). In combine the "
        "same for row in range(P), from part_ptr.",
    ],
    solution='''
@triton.jit
def partial(x_ptr, part_ptr, M, N, R, B: tl.constexpr):
    p = tl.program_id(0)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for row in range(p * R, tl.minimum(p * R + R, M)):
        total += tl.load(x_ptr + row * N + cols, mask=cols < N)
    tl.store(part_ptr + p * N + cols, total, mask=cols < N)


@triton.jit
def combine(part_ptr, z_ptr, P, N, B: tl.constexpr):
    cols = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for p in range(P):
        total += tl.load(part_ptr + p * N + cols, mask=cols < N)
    tl.store(z_ptr + cols, total, mask=cols < N)
''',
    after="A second launch costs a few microseconds and buys two things: an "
          "order for everything, and results that can be compared bit by "
          "bit. That is what 'deterministic algorithms' switches do.",
    wrong=[
        Wrong("forbidden", "atomics do it in one launch, with other bits "
              "each night",
              [("tl.store(part_ptr + p * N + cols, total, mask=cols < N)",
                "tl.atomic_add(part_ptr + p * N + cols, total, "
                "mask=cols < N)")]),
        Wrong("out-of-bounds", "the last program goes on past the last row",
              [("tl.minimum(p * R + R, M)", "p * R + R")]),
        Wrong("unwritten", "whole groups of rows alone are summed and written",
              [("    tl.store(part_ptr", "    if p * R + R <= M:\n"
                "        tl.store(part_ptr")]),
        Wrong("value", "the last row of the workspace is left out",
              [("range(P)", "range(tl.maximum(P - 1, 1))")]),
        Wrong("race", "all programs write to the first row",
              [("tl.store(part_ptr + p * N + cols",
                "tl.store(part_ptr + cols")]),
        Wrong("value", "every program begins at row 0",
              [("range(p * R, tl", "range(0, tl")]),
    ],
)
