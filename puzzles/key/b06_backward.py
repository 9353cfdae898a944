from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats((M, N)), y_ptr=make.floats(N),
                       dz_ptr=make.floats((M, N)),
                       dx_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45), dict(M=1, N=50), dict(M=60, N=40)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=8,
    hints=[
        "The forward product is not given, but what it was made of is: "
        "compute it once more.",
        "x, dz and dx are tables and share one block of offsets and a mask; "
        "y is a row, with offsets and a mask of its own. Then a condition "
        "chooses in each lane between the gradient and 0.",
        "dx = tl.where(x * y > 0, y * dz, 0), with y loaded by the row j and "
        "the tables by i * N + j.",
    ],
    solution='''
@triton.jit
def backward(x_ptr, y_ptr, dz_ptr, dx_ptr, M, N, BM: tl.constexpr,
             BN: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    offs = i * N + j
    mask = (i < M) & (j < N)
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + j, mask=j < N)
    dz = tl.load(dz_ptr + offs, mask=mask)
    tl.store(dx_ptr + offs, tl.where(x * y > 0, y * dz, 0), mask=mask)
''',
    after="Computing the product again costs one load of x; keeping it from "
          "the forward pass would have cost a store and a load of a table of "
          "its own. Backward kernels often prefer to compute.",
    wrong=[
        Wrong("value", "at exactly 0 the gradient gets through",
              [("x * y > 0", "x * y >= 0")]),
        Wrong("value", "the condition is missing",
              [("tl.where(x * y > 0, y * dz, 0)", "y * dz")]),
        Wrong("value", "it asks for the sign of x instead of the product's",
              [("x * y > 0", "x > 0")]),
        Wrong("value", "the gradient itself is cut off at 0",
              [("tl.where(x * y > 0, y * dz, 0)",
                "tl.maximum(y * dz, 0)")]),
        Wrong("value", "it is the gradient for y, not for x",
              [("y * dz, 0", "x * dz, 0")]),
        Wrong("value", "y is indexed by the row",
              [("y_ptr + j, mask=j < N", "y_ptr + i, mask=i < M")]),
    ],
)
