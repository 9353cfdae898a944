from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats(M, infinities="+"),
                       y_ptr=make.floats(N, infinities="+"),
                       z_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45), dict(M=1, N=1), dict(M=100, N=90)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=7,
    hints=[
        "Start as in one dimension, twice: offsets and a mask for the rows "
        "from program_id(0), others for the columns from program_id(1).",
        "A block of shape [BM] becomes one column by [:, None], a block of "
        "shape [BN] one row by [None, :]. Added, they broadcast to "
        "[BM, BN]; that holds for values, for offsets and, with &, for "
        "masks.",
        "Offsets into z are rows[:, None] * N + cols[None, :], the mask is "
        "(rows < M)[:, None] & (cols < N)[None, :].",
    ],
    solution='''
@triton.jit
def outer_add(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + rows, mask=rows < M)
    y = tl.load(y_ptr + cols, mask=cols < N)
    z = x[:, None] + y[None, :]
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(z_ptr + rows[:, None] * N + cols[None, :], z, mask=mask)
''',
    other='''
@triton.jit
def outer_add(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    z = tl.load(x_ptr + i, i < M) + tl.load(y_ptr + j, j < N)
    tl.store(z_ptr + i * N + j, z, (i < M) & (j < N))
''',
    after="A table of pointers is made as a table of values is: a column and "
          "a row that broadcast. That is all there is to two dimensions.",
    wrong=[
        Wrong("race", "rows are M elements long, which holds for squares "
              "alone", [("rows[:, None] * N", "rows[:, None] * M")]),
        Wrong("race", "the columns are not masked: they reach into the next "
              "row", [("(rows < M)[:, None] & (cols < N)[None, :]",
                       "(rows < M)[:, None]")]),
        Wrong("out-of-bounds", "the rows are not masked",
              [("(rows < M)[:, None] & (cols < N)[None, :]",
                "(cols < N)[None, :]")]),
        Wrong("shape", "x and y change places: x becomes the row",
              [("z = x[:, None] + y[None, :]", "z = x[None, :] + y[:, None]")
               ]),
        Wrong("value", "it multiplies, as an outer product does",
              [("z = x[:, None] + y[None, :]", "z = x[:, None] * y[None, :]")
               ]),
    ],
)
