from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N))
    return make.launch((M,), N=N, B=B, x_ptr=x,
                       z_ptr=make.output(M, terms=N,
                                         scale=abs(x.values()).max()))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=45), dict(M=2, N=1), dict(M=20, N=50)],
    blocks=[dict(B=64), dict(B=128)],
    lines=5,
    verdict=dict(kind=["undef", "lint-other"],
                 line=["total = tl.sum", "x = tl.load"], index=45),
    hints=[
        "A row has 45 elements, a block has 64 lanes. What is in the others?",
        "Lanes that are masked off are not zero: Triton promises nothing "
        "about them, and each machine, each night, may put something else "
        "there. A sum takes in every lane.",
        "Lane 45 is the first that is undef, and the sum reads it. The load "
        "needs other=0.0, which adds nothing.",
    ],
    solution=[("mask=cols < N)", "mask=cols < N, other=0.0)")],
    other='''
@triton.jit
def row_mean(x_ptr, z_ptr, N, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N)
    total = tl.sum(tl.where(cols < N, x, 0.0), axis=0)
    tl.store(z_ptr + row, total / N)
''',
    after="A load with a mask and without other= is a promise to keep its "
          "masked lanes out of everything: reductions, products, neighbours. "
          "It is easy to forget one of them.",
    wrong=[
        Wrong("neutral", "filled with ones, which count",
              [("other=0.0", "other=1.0")]),
        Wrong("out-of-bounds", "no mask, no masked lanes",
              [(", mask=cols < N, other=0.0", "")]),
        Wrong("value", "the mean of all lanes",
              [("total / N", "total / B")]),
        Wrong("undef", "the sum is masked after it has been taken",
              [(", other=0.0", ""),
               ("tl.sum(x, axis=0)", "tl.where(N > 0, tl.sum(x, axis=0), 0)"
                )]),
        Wrong("verdict", "lane 44 holds the last element of the row",
              verdict=dict(index=44)),
    ],
)
