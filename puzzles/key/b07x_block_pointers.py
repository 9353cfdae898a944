import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    x = make.floats((M, N))
    size = np.abs(x.values()).sum(1)
    return make.launch((cdiv(M, BM),), M=M, N=N, BM=BM, BN=BN, x_ptr=x,
                       z_ptr=make.output(M, terms=N, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=75), dict(M=3, N=1), dict(M=40, N=120)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=13,
    require={"make_block_ptr": "this puzzle is about block pointers"},
    hints=[
        "Which of the four tuples describe the tensor, and which the block? "
        "Only one of them knows about program_id.",
        "x has the shape (M, N) and the strides (N, 1); the block has "
        "(BM, BN) and starts in row program_id * BM, column 0. z has one "
        "axis, so every tuple has one member: (M,).",
        "x = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (row, 0), (BM, BN), "
        "(1, 0)); in the loop total += tl.sum(tl.load(x, boundary_check="
        "(0, 1), padding_option=\"zero\"), 1) and then x = tl.advance(x, "
        "(0, BN)).",
    ],
    solution='''
@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    x_block = tl.make_block_ptr(x_ptr, shape=(M, N), strides=(N, 1),
                                offsets=(row, 0), block_shape=(BM, BN),
                                order=(1, 0))
    z_block = tl.make_block_ptr(z_ptr, shape=(M,), strides=(1,),
                                offsets=(row,), block_shape=(BM,),
                                order=(0,))
    total = tl.zeros([BM], tl.float32)
    for _ in range(0, N, BN):
        x = tl.load(x_block, boundary_check=(0, 1), padding_option="zero")
        total += tl.sum(x, 1)
        x_block = tl.advance(x_block, (0, BN))
    tl.store(z_block, total, boundary_check=(0,))
''',
    after="A block pointer carries shape, strides and place along, so that "
          "loads in a loop say only how far to go. The price: you no longer "
          "see the address, and a forgotten boundary_check is silent.",
    wrong=[
        Wrong("out-of-bounds", "the columns are not checked: a row reads on "
              "in the next one", [("boundary_check=(0, 1)",
                                   "boundary_check=(0,)")]),
        Wrong("undef", "what lies outside has no value",
              [(', padding_option="zero"', "")]),
        Wrong("value", "what lies outside is NaN",
              [('padding_option="zero"', 'padding_option="nan"')]),
        Wrong("out-of-bounds", "the store does not check its rows",
              [("total, boundary_check=(0,)", "total")]),
        Wrong("value", "the block never advances",
              [("        x_block = tl.advance(x_block, (0, BN))\n", "")]),
        Wrong("value", "it advances one column instead of one block",
              [("(x_block, (0, BN))", "(x_block, (0, 1))")]),
        Wrong("value", "the offsets count blocks, not elements",
              [("offsets=(row, 0)", "offsets=(tl.program_id(0), 0)")]),
        Wrong("value", "the strides are those of a column-major table",
              [("strides=(N, 1)", "strides=(1, M)")]),
        Wrong("required", "it keeps to the pointers of b07", kernel='''
@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    i = rows[:, None]
    total = tl.zeros([BM], tl.float32)
    for start in range(0, N, BN):
        j = (start + tl.arange(0, BN))[None, :]
        x = tl.load(x_ptr + i * N + j, (i < M) & (j < N), 0)
        total += tl.sum(x, 1)
    tl.store(z_ptr + rows, total, rows < M)
'''),
    ],
)
