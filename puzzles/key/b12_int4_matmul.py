import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, K, BM, BN, BK):
    x = make.floats((M, K))
    words = make.ints((K // 8, N), -2**31, 2**31)
    scale = make.floats((K // 8, N), low=0.1)
    size = 8 * np.abs(x.values()) @ np.repeat(np.abs(scale.values()), 8, 0)
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, K=K, BM=BM,
                       BN=BN, BK=BK, x_ptr=x, w_ptr=words, scale_ptr=scale,
                       z_ptr=make.output((M, N), terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45, K=40), dict(M=1, N=1, K=8),
           dict(M=40, N=40, K=64)],
    blocks=[dict(BM=16, BN=32, BK=16), dict(BM=32, BN=16, BK=32)],
    lines=14,
    hints=[
        "Leave the product of b11 as it is. Only where it loads y, a block "
        "of weights has to be made: of which words, and which bits of them?",
        "Let lane k of the block load the word k // 8 of its column, though "
        "eight lanes then load the same one. Each shifts it by another "
        "amount, a column of amounts for the whole block. The scale lies "
        "where the word lies. Past K the weights must be 0: give the scale "
        "other=0, and x as well.",
        "ky = k[:, None]; at = ky // 8 * N + j; w is loaded from w_ptr + at, "
        "scale from scale_ptr + at; q = ((w >> (4 * (ky % 8))) & 15) - 8; "
        "acc = tl.dot(x, q * scale, acc, input_precision=\"ieee\").",
    ],
    solution='''
@triton.jit
def matmul4(x_ptr, w_ptr, scale_ptr, z_ptr, M, N, K, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        kx, ky = k[None, :], k[:, None]
        x = tl.load(x_ptr + i * K + kx, mask=(i < M) & (kx < K), other=0)
        at = ky // 8 * N + j
        mask = (ky < K) & (j < N)
        w = tl.load(w_ptr + at, mask=mask, other=0)
        scale = tl.load(scale_ptr + at, mask=mask, other=0)
        q = ((w >> (4 * (ky % 8))) & 15) - 8
        acc = tl.dot(x, q * scale, acc, input_precision="ieee")
    tl.store(z_ptr + i * N + j, acc, mask=(i < M) & (j < N))
''',
    other='''
@triton.jit
def matmul4(x_ptr, w_ptr, scale_ptr, z_ptr, M, N, K, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr):
    # each word is loaded once and unfolded to eight rows
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    shift = 4 * tl.arange(0, 8)[None, :, None]
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        kx = (start + tl.arange(0, BK))[None, :]
        x = tl.load(x_ptr + i * K + kx, mask=(i < M) & (kx < K), other=0)
        r = (start // 8 + tl.arange(0, BK // 8))[:, None]
        mask = (r < K // 8) & (j < N)
        w = tl.load(w_ptr + r * N + j, mask=mask, other=0)
        scale = tl.load(scale_ptr + r * N + j, mask=mask, other=0)
        q = ((w[:, None, :] >> shift) & 15) - 8
        y = tl.reshape(q * scale[:, None, :], BK, BN)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(z_ptr + i * N + j, acc, mask=(i < M) & (j < N))
''',
    after="An eighth of the bytes, and in the other way they are all that is "
          "loaded. Unpacking costs arithmetic, of which there is plenty "
          "while the next words are on their way.",
    wrong=[
        Wrong("value", "the bits above the four are not cleared", [
            ("((w >> (4 * (ky % 8))) & 15) - 8",
             "(w >> (4 * (ky % 8))) - 8")]),
        Wrong("value", "8 is not subtracted again",
              [("((w >> (4 * (ky % 8))) & 15) - 8",
                "(w >> (4 * (ky % 8))) & 15")]),
        Wrong("value", "the first weight is taken from the highest bits",
              [("4 * (ky % 8)", "28 - 4 * (ky % 8)")]),
        Wrong("value", "it shifts by one bit per weight instead of four",
              [("4 * (ky % 8)", "ky % 8")]),
        Wrong("out-of-bounds", "every weight has a scale of its own",
              [("scale_ptr + at", "scale_ptr + ky * N + j")]),
        Wrong("value", "it multiplies in TF32",
              [(', input_precision="ieee"', "")]),
        Wrong("value", "all of K shares the first row of scales",
              [("scale_ptr + at", "scale_ptr + j")]),
        Wrong("undef", "the lanes past K have no scale",
              [("scale_ptr + at, mask=mask, other=0",
                "scale_ptr + at, mask=mask")]),
    ],
)
