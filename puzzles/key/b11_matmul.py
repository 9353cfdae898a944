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
    sizes=[dict(M=20, N=45, K=50), dict(M=1, N=1, K=1),
           dict(M=40, N=40, K=64)],
    blocks=[dict(BM=16, BN=32, BK=16), dict(BM=32, BN=16, BK=32)],
    lines=10,
    hints=[
        "It is b07 with two tables: rows of x and columns of y belong to "
        "the program and stay; what the loop moves is k, which is a column "
        "of x and a row of y.",
        "Three sets of offsets, i of BM, j of BN and k of BK lanes, of which "
        "two make each table: x needs i as a column and k as a row, y needs k "
        "as a column and j as a row. Past the end of K, both must hold 0. "
        "tl.dot takes the accumulator and returns the new one.",
        "acc = tl.zeros([BM, BN], tl.float32); in the loop x is loaded from "
        "x_ptr + i[:, None] * K + k[None, :], y from y_ptr + k[:, None] * N "
        "+ j[None, :], each with both of its masks and other=0; "
        "acc = tl.dot(x, y, acc).",
    ],
    solution='''
@triton.jit
def matmul(x_ptr, y_ptr, z_ptr, M, N, K, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        kx, ky = k[None, :], k[:, None]
        x = tl.load(x_ptr + i * K + kx, mask=(i < M) & (kx < K), other=0)
        y = tl.load(y_ptr + ky * N + j, mask=(ky < K) & (j < N), other=0)
        acc = tl.dot(x, y, acc)
    tl.store(z_ptr + i * N + j, acc, mask=(i < M) & (j < N))
''',
    other='''
@triton.jit
def matmul(x_ptr, y_ptr, z_ptr, M, N, K, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    # the pointers move along, and rows and columns past the end wrap: what
    # they compute is not stored
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x_ptrs = x_ptr + (i % M)[:, None] * K + k[None, :]
    y_ptrs = y_ptr + k[:, None] * N + (j % N)[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        left = k < K - start
        x = tl.load(x_ptrs, mask=left[None, :], other=0)
        y = tl.load(y_ptrs, mask=left[:, None], other=0)
        acc = tl.dot(x, y, acc)
        x_ptrs += BK
        y_ptrs += BK * N
    mask = (i < M)[:, None] & (j < N)[None, :]
    tl.store(z_ptr + i[:, None] * N + j[None, :], acc, mask=mask)
''',
    after="Rows past M may hold anything, because nobody stores them; columns "
          "past K may not, because they end up in every sum. The other way "
          "makes use of that.",
    wrong=[
        Wrong("out-of-bounds", "the ends of K are not masked",
              [("(i < M) & (kx < K)", "i < M"),
               ("(ky < K) & (j < N)", "j < N")]),
        Wrong("undef", "the lanes past K have no value",
              [("mask=(i < M) & (kx < K), other=0",
                "mask=(i < M) & (kx < K)"),
               ("mask=(ky < K) & (j < N), other=0",
                "mask=(ky < K) & (j < N)")]),
        Wrong("out-of-bounds", "rows of y are taken to be K long",
              [("ky * N + j", "ky * K + j")]),
        Wrong("value", "every trip loads the first block",
              [("k = start + tl.arange(0, BK)", "k = tl.arange(0, BK)")]),
        Wrong("value", "each trip begins a new sum",
              [("tl.dot(x, y, acc)", "tl.dot(x, y)")]),
        Wrong("value", "the sum is kept in halves", [
            ("acc = tl.dot(x, y, acc)",
             "acc += tl.dot(x, y, out_dtype=tl.float16)"),
            ("[BM, BN], tl.float32", "[BM, BN], tl.float16")]),
        Wrong("shape", "the blocks are multiplied lane by lane",
              [("acc = tl.dot(x, y, acc)", "acc += x * y")]),
        Wrong("value", "y is read as if it were transposed",
              [("ky * N + j", "ky + j * K")]),
    ],
)
