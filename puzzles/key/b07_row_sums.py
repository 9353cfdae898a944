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
    lines=8,
    hints=[
        "What has to survive from one trip of the loop to the next? Make it "
        "before the loop, with the shape that the result has.",
        "range(0, N, BN) gives the first column of each block. In the loop: "
        "offsets, a mask for rows and columns, a load whose other lanes are "
        "0, and a sum along the rows. The store comes after the loop.",
        "total = tl.zeros([BM], tl.float32) before the loop; in it "
        "total += tl.sum(x, 1), where x was loaded with "
        "mask=(i < M) & (j < N), other=0; at last store total for rows "
        "below M.",
    ],
    solution='''
@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    i = rows[:, None]
    total = tl.zeros([BM], tl.float32)
    for start in range(0, N, BN):
        j = (start + tl.arange(0, BN))[None, :]
        x = tl.load(x_ptr + i * N + j, mask=(i < M) & (j < N), other=0)
        total += tl.sum(x, 1)
    tl.store(z_ptr + rows, total, mask=rows < M)
''',
    other='''
@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # lanes add up on their own, and meet once, after the loop
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    i = rows[:, None]
    total = tl.zeros([BM, BN], tl.float32)
    for start in range(0, N, BN):
        j = (start + tl.arange(0, BN))[None, :]
        total += tl.load(x_ptr + i * N + j, mask=(i < M) & (j < N), other=0)
    tl.store(z_ptr + rows, tl.sum(total, 1), mask=rows < M)
''',
    after="Adding lanes to each other costs more than adding block to block. "
          "The other way does it once instead of once per trip.",
    wrong=[
        Wrong("undef", "the lanes left out are summed, but have no value",
              [("mask=(i < M) & (j < N), other=0",
                "mask=(i < M) & (j < N)")]),
        Wrong("value", "only the last block counts",
              [("total += tl.sum", "total = tl.sum")]),
        Wrong("value", "every trip loads the first block",
              [("start + tl.arange", "tl.arange")]),
        Wrong("value", "the loop leaves out the block that is not full",
              [("range(0, N, BN)", "range(0, N // BN * BN, BN)")]),
        Wrong("value", "the sum goes over all rows of the block at once",
              [("tl.sum(x, 1)", "tl.sum(x)")]),
        Wrong("shape", "the sum goes down the columns",
              [("tl.sum(x, 1)", "tl.sum(x, 0)")]),
        Wrong("neutral", "the lanes left out count as 1",
              [("other=0", "other=1")]),
    ],
)
