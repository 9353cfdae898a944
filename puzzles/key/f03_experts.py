import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, T, E, K, N, BM, BN, BK):
    x, w = make.floats((T, K), "fp16"), make.floats((E, K, N), "fp16")
    start = np.sort(make.random.integers(0, T + 1, E - 1))
    start = np.concatenate([[0], start, [T]])
    if E > 2:
        start[2] = start[1]  # an expert without tokens
    size = abs(x.values()).max() * abs(w.values()).max()
    return make.launch((E, cdiv(N, BN)), K=K, N=N, BM=BM, BN=BN, BK=BK,
                       x_ptr=x, w_ptr=w,
                       start_ptr=make.array(start, "int32"),
                       z_ptr=make.output((T, N), terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(T=45, E=4, K=20, N=24), dict(T=1, E=1, K=1, N=5),
           dict(T=60, E=6, K=40, N=33)],
    blocks=[dict(BM=16, BN=16, BK=16), dict(BM=32, BN=32, BK=16)],
    lines=20,
    hints=[
        "Two loads tell where the expert's rows begin and end. A range can "
        "begin and end at loaded numbers.",
        "Inside the loop over blocks of rows is the matrix product that you "
        "know: a loop over K with two loads and a tl.dot. The mask for rows "
        "compares with where this expert's rows end, not with T.",
        "for first in range(begin, end, BM): rows = first + tl.arange(0, BM); "
        "the mask of rows is rows < end; w begins at w_ptr + e * K * N.",
    ],
    solution='''
@triton.jit
def experts(x_ptr, w_ptr, start_ptr, z_ptr, K, N, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr):
    e = tl.program_id(0)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    begin = tl.load(start_ptr + e)
    end = tl.load(start_ptr + e + 1)
    for first in range(begin, end, BM):
        rows = first + tl.arange(0, BM)
        z = tl.zeros([BM, BN], tl.float32)
        for k in range(0, K, BK):
            ks = k + tl.arange(0, BK)
            x = tl.load(x_ptr + rows[:, None] * K + ks[None, :],
                        mask=(rows < end)[:, None] & (ks < K)[None, :],
                        other=0.0)
            w = tl.load(w_ptr + e * K * N + ks[:, None] * N + cols[None, :],
                        mask=(ks < K)[:, None] & (cols < N)[None, :],
                        other=0.0)
            z = tl.dot(x, w, z)
        tl.store(z_ptr + rows[:, None] * N + cols[None, :], z,
                 mask=(rows < end)[:, None] & (cols < N)[None, :])
''',
    after="One program for each expert is fair when experts have equal work. "
          "It is not equal: production kernels number the tiles of all experts "
          "and hand them out evenly, with the same loops inside.",
    wrong=[
        Wrong("race", "the store's rows are compared with T: the last block "
              "writes the next expert's, too",
              [("        tl.store(z_ptr + rows[:, None] * N + cols[None, :], "
                "z,\n                 mask=(rows < end)[:, None]",
                "        tl.store(z_ptr + rows[:, None] * N + cols[None, :], "
                "z,\n                 mask=(rows < tl.load(start_ptr + "
                "tl.num_programs(0)))[:, None]")]),
        Wrong("value", "all use the first expert's matrix",
              [("w_ptr + e * K * N + ks", "w_ptr + ks")]),
        Wrong("unwritten", "one block of rows for each expert, and no more",
              [("range(begin, end, BM)",
                "range(begin, tl.minimum(end, begin + BM), BM)")]),
        Wrong("value", "the accumulator goes on from block to block",
              [("        z = tl.zeros([BM, BN], tl.float32)\n", ""),
               ("    for first in", "    z = tl.zeros([BM, BN], tl.float32)"
                "\n    for first in")]),
        Wrong("value", "the matrices are taken to be N by K",
              [("e * K * N + ks[:, None] * N + cols[None, :]",
                "e * K * N + ks[:, None] + cols[None, :] * K")]),
        Wrong("undef", "lanes beyond K are multiplied",
              [("(ks < K)[None, :],\n                        other=0.0)",
                "(ks < K)[None, :])")]),
    ],
)
