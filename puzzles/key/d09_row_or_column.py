from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, B):
    return make.launch((cdiv(M, B), cdiv(N, B)), M=M, N=N, B=B,
                       x_ptr=make.floats((M, N)), s_ptr=make.floats(M),
                       z_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=24), dict(M=7, N=1), dict(M=40, N=33)],
    blocks=[dict(B=16), dict(B=8)],
    lines=8,
    verdict=dict(line="z = x * s", index=(0, 1)),
    hints=[
        "What do the elements of the diagonal have, that no others have?",
        "A vector of B lanes can be laid along the rows of a block or along "
        "its columns, and both fit. Which factor does the element (0, 1) "
        "get?",
        "s[None, :] is one row, so that element (0, 1) gets s[1]. A factor "
        "for each row is a column: s[:, None].",
    ],
    solution=[("z = x * s[None, :]", "z = x * s[:, None]")],
    other='''
@triton.jit
def scale_rows(x_ptr, s_ptr, z_ptr, M, N, B: tl.constexpr):
    i = (tl.program_id(0) * B + tl.arange(0, B))[:, None]
    j = (tl.program_id(1) * B + tl.arange(0, B))[None, :]
    mask = (i < M) & (j < N)
    x = tl.load(x_ptr + i * N + j, mask=mask)
    s = tl.load(s_ptr + i, mask=i < M)
    tl.store(z_ptr + i * N + j, x * s, mask=mask)
''',
    after="As long as blocks are square, [:, None] and [None, :] both "
          "compile. Blocks of 16 by 32 would have told at once.",
    wrong=[
        Wrong("value", "the factors are loaded by columns instead",
              [("s_ptr + rows, mask=rows < M", "s_ptr + cols, mask=cols < M"),
               ("x * s[:, None]", "x * s[None, :]")]),
        Wrong("value", "a vector alone broadcasts as a row",
              [("x * s[:, None]", "x * s")]),
        Wrong("value", "every program takes the first factors",
              [("s_ptr + rows,", "s_ptr + tl.arange(0, B),")]),
        Wrong("verdict", "the first element is on the diagonal, and right",
              verdict=dict(index=(0, 0))),
    ],
)
