import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    x = make.floats((M, N))
    size = np.abs(x.values()).sum(1)
    return make.launch((cdiv(M, BM),), M=M, N=N, BM=BM, BN=BN, x_ptr=x,
                       z_ptr=make.output(M, terms=N, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=76), dict(M=1, N=4), dict(M=40, N=120)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=11,
    require={"make_tensor_descriptor": "this puzzle is about descriptors"},
    hints=[
        "Which of the three lists describe the tensor, and which the block? "
        "None of them knows about program_id: only where you load does.",
        "x has the shape [M, N] and the strides [N, 1]; its blocks have "
        "[BM, BN]. The first one starts in row program_id * BM, column 0. z "
        "has one axis, so every list has one member: [M].",
        "x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], "
        "[BM, BN]), likewise z with [M], [1] and [BM]; in the loop over "
        "start total += tl.sum(x_desc.load([row, start]), 1); at last "
        "z_desc.store([row], total).",
    ],
    solution='''
@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1],
                                       block_shape=[BM, BN])
    z_desc = tl.make_tensor_descriptor(z_ptr, shape=[M], strides=[1],
                                       block_shape=[BM])
    row = tl.program_id(0) * BM
    total = tl.zeros([BM], tl.float32)
    for start in range(0, N, BN):
        x = x_desc.load([row, start])
        total += tl.sum(x, 1)
    z_desc.store([row], total)
''',
    after="A descriptor carries shape and strides along, so that loads in a "
          "loop say only where. The price: you no longer see the address, "
          "and a wrong shape is as good as a forgotten mask.",
    wrong=[
        Wrong("twice", "places are counted in blocks, not in elements",
              [("row = tl.program_id(0) * BM", "row = tl.program_id(0)")]),
        Wrong("misaligned", "the loop counts trips, and loads at the trip's "
              "number", [("range(0, N, BN)", "range(0, tl.cdiv(N, BN))")]),
        Wrong("value", "the first block of the row is loaded again and again",
              [("[row, start]", "[row, 0]")]),
        Wrong("value", "x is loaded at [start, row] instead of [row, start]",
              [("[row, start]", "[start, row]")]),
        Wrong("out-of-bounds", "the shape of x is given the wrong way round",
              [("shape=[M, N]", "shape=[N, M]")]),
        Wrong("value", "rows of x are taken to be as long as a block",
              [("strides=[N, 1]", "strides=[BN, 1]")]),
        Wrong("value", "what lies outside is NaN",
              [("block_shape=[BM, BN]",
                'block_shape=[BM, BN], padding_option="nan"')]),
        Wrong("out-of-bounds", "z is taken to have as many elements as a row",
              [("shape=[M]", "shape=[N]")]),
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
