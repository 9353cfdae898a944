from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats(M), y_ptr=make.floats(N),
                       z_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45), dict(M=1, N=1), dict(M=60, N=50)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=6,
    hints=[
        "Everything but two symbols is in b03. What is new happens to the "
        "table, lane by lane, before it is stored.",
        "Of two blocks, or of a block and a number, tl.maximum takes the "
        "larger in each lane; tl.where(condition, a, b) chooses. (tl.max is "
        "something else: the largest of a whole block.)",
        "With i, j and a mask as in b03, z = tl.maximum(x * y, 0), where x "
        "was loaded by the column i and y by the row j.",
    ],
    solution='''
@triton.jit
def outer_relu(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr,
               BN: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    x = tl.load(x_ptr + i, mask=i < M)
    y = tl.load(y_ptr + j, mask=j < N)
    z = tl.maximum(x * y, 0)
    tl.store(z_ptr + i * N + j, z, mask=(i < M) & (j < N))
''',
    other='''
@triton.jit
def outer_relu(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr,
               BN: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    x = tl.load(x_ptr + i, mask=i < M)
    y = tl.load(y_ptr + j, mask=j < N)
    product = x * y
    z = tl.where(product > 0, product, 0)
    tl.store(z_ptr + i * N + j, z, mask=(i < M) & (j < N))
''',
    after="Two kernels would have written the table and read it again: three "
          "times the traffic for the same result. Fusing is why people write "
          "kernels by hand.",
    wrong=[
        Wrong("value", "the negative products stay",
              [("tl.maximum(x * y, 0)", "x * y")]),
        Wrong("value", "the factors are cut off instead of the product",
              [("tl.maximum(x * y, 0)",
                "tl.maximum(x, 0) * tl.maximum(y, 0)")]),
        Wrong("value", "the positive products are cut off",
              [("tl.maximum", "tl.minimum")]),
        Wrong("value", "the sign is dropped, where 0 was asked for",
              [("tl.maximum(x * y, 0)", "tl.abs(x * y)")]),
        Wrong("lint-mask-sum", "the masks are added",
              [("(i < M) & (j < N)", "(i < M) + (j < N)")]),
        Wrong("out-of-bounds", "the store is masked by rows alone",
              [("mask=(i < M) & (j < N)", "mask=i < M")]),
    ],
)
