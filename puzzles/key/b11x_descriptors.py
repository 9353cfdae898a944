import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, K, BM, BN, BK):
    x, y = make.floats((M, K), "fp16"), make.floats((K, N), "fp16")
    size = np.abs(x.values()) @ np.abs(y.values())
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, K=K, BM=BM,
                       BN=BN, BK=BK, x_ptr=x, y_ptr=y,
                       z_ptr=make.output((M, N), terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=40, K=56), dict(M=1, N=8, K=8),
           dict(M=40, N=48, K=64)],
    blocks=[dict(BM=16, BN=32, BK=16), dict(BM=32, BN=16, BK=32)],
    lines=14,
    require={"make_tensor_descriptor": "this puzzle is about descriptors"},
    forbid={"make_block_ptr": "use a descriptor instead",
            "arange": "a descriptor makes its own offsets"},
    hints=[
        "One descriptor for each of the three tensors, made before the "
        "loop. They never change: only where you load does.",
        "The shape and the strides are the tensor's; block_shape is that of "
        "the tile. What load and store get is the first row and the first "
        "column of the tile, in elements.",
        "x_desc = tl.make_tensor_descriptor(x_ptr, [M, K], [K, 1], "
        "[BM, BK]), likewise y and z; in the loop acc = tl.dot(x_desc.load("
        "[row, k]), y_desc.load([k, col]), acc); at last z_desc.store("
        "[row, col], acc).",
    ],
    solution='''
@triton.jit
def matmul(x_ptr, y_ptr, z_ptr, M, N, K, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, shape=[M, K], strides=[K, 1],
                                       block_shape=[BM, BK])
    y_desc = tl.make_tensor_descriptor(y_ptr, shape=[K, N], strides=[N, 1],
                                       block_shape=[BK, BN])
    z_desc = tl.make_tensor_descriptor(z_ptr, shape=[M, N], strides=[N, 1],
                                       block_shape=[BM, BN])
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        x = x_desc.load([row, k])
        y = y_desc.load([k, col])
        acc = tl.dot(x, y, acc)
    z_desc.store([row, col], acc)
''',
    after="On such GPUs one thread asks for a tile, and the others compute "
          "meanwhile. The kernel has also become shorter, and has no mask "
          "that could be wrong.",
    wrong=[
        Wrong("twice", "places are counted in blocks, not in elements",
              [("row = tl.program_id(0) * BM", "row = tl.program_id(0)"),
               ("col = tl.program_id(1) * BN", "col = tl.program_id(1)")]),
        Wrong("value", "x is loaded at [k, row] instead of [row, k]",
              [("x_desc.load([row, k])", "x_desc.load([k, row])")]),
        Wrong("type", "the tiles of y are as wide as those of x",
              [("block_shape=[BK, BN]", "block_shape=[BM, BK]")]),
        Wrong("misaligned", "the loop counts trips, and loads at the trip's "
              "number", [("range(0, K, BK)", "range(0, tl.cdiv(K, BK))")]),
        Wrong("out-of-bounds", "the shape of z is given the wrong way round",
              [("z_ptr, shape=[M, N]", "z_ptr, shape=[N, M]")]),
        Wrong("out-of-bounds", "rows of y are taken to be K long",
              [("shape=[K, N], strides=[N, 1]",
                "shape=[K, N], strides=[K, 1]")]),
    ],
)
