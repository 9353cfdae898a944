from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats((M, N), infinities="+-"),
                       z_ptr=make.output((N, M)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45), dict(M=1, N=50), dict(M=60, N=60)],
    blocks=[dict(BM=16, BN=32), dict(BM=32, BN=8)],
    lines=5,
    hints=[
        "Nothing has to be moved inside the block. It is enough that each lane "
        "writes to a different place from where it reads.",
        "The lane of row i and column j reads from i * N + j, which is a "
        "column of rows times N plus a row of columns. Where z[j, i] is, "
        "follows from how long a row of z is.",
        "With i = rows[:, None] and j = cols[None, :]: load from "
        "x_ptr + i * N + j, store to z_ptr + j * M + i, both masked by "
        "(i < M) & (j < N).",
    ],
    solution='''
@triton.jit
def transpose(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    mask = (i < M) & (j < N)
    x = tl.load(x_ptr + i * N + j, mask=mask)
    tl.store(z_ptr + j * M + i, x, mask=mask)
''',
    other='''
@triton.jit
def transpose(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    i, j = rows[:, None], cols[None, :]
    x = tl.load(x_ptr + i * N + j, mask=(i < M) & (j < N))
    j, i = cols[:, None], rows[None, :]
    tl.store(z_ptr + j * M + i, tl.trans(x), mask=(j < N) & (i < M))
''',
    after="A GPU likes neighbouring lanes to touch neighbouring memory. One "
          "of the two accesses here cannot have that, unless the block is "
          "turned in between: that is what tl.trans in the other way is for.",
    wrong=[
        Wrong("out-of-bounds", "rows of z are taken to be as long as rows "
              "of x, which holds for squares alone",
              [("j * M + i", "j * N + i")]),
        Wrong("value", "it reads and writes in the same order: a copy",
              [("j * M + i", "i * N + j")]),
        Wrong("out-of-bounds", "the columns are not masked",
              [("(i < M) & (j < N)", "i < M")]),
        Wrong("unwritten", "the block sizes change places",
              [("tl.program_id(0) * BM", "tl.program_id(0) * BN"),
               ("tl.program_id(1) * BN", "tl.program_id(1) * BM")]),
        Wrong("shape", "the block is turned, but not its pointers",
              [("j * M + i, x, ", "j * M + i, tl.trans(x), ")]),
    ],
)
