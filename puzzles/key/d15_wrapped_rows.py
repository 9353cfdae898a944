from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM),), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats((M, N)),
                       z_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=24), dict(M=1, N=5), dict(M=50, N=32)],
    blocks=[dict(BM=16, BN=32), dict(BM=32, BN=64)],
    lines=6,
    verdict=dict(kind="twice", line="tl.store(z_ptr", program=1,
                 index=(0, 0)),
    hints=[
        "20 rows, and two programs that take 16 each. Which rows does the "
        "second one write?",
        "Loading a row twice does no harm. Storing it twice does: two programs "
        "then write the same element, and nobody notices only as long as they "
        "write the same value.",
        "Rows 20 to 31 wrap around to 0 to 11, and are written twice. The "
        "store has to leave them out: mask=mask & (rows < M)[:, None].",
    ],
    solution=[("2 * x, mask=mask)", "2 * x, mask=mask & (rows < M)[:, None])")
              ],
    after="The tutorial that takes rows modulo M masks its store by the rows "
          "as they were. What wraps around is good for loads alone.",
    wrong=[
        Wrong("race", "the load is masked instead of the store: zeros are "
              "written to the first rows",
              [("x_ptr + offs, mask=mask)",
                "x_ptr + offs, mask=mask & (rows < M)[:, None], other=0.0)"),
               ("2 * x, mask=mask & (rows < M)[:, None])",
                "2 * x, mask=mask)")]),
        Wrong("twice", "the mask asks the rows after they have wrapped",
              [("(rows < M)[:, None]", "(rows % M < M)[:, None]")]),
        Wrong("out-of-bounds", "nothing wraps, and nothing is masked",
              [("(rows % M)[:, None]", "rows[:, None]"),
               (" & (rows < M)[:, None]", "")]),
        Wrong("unwritten", "the last row is masked off as well",
              [("(rows < M)[:, None]", "(rows < M - 1)[:, None]")]),
        Wrong("verdict", "its own rows begin at 16, and are right",
              verdict=dict(index=(16, 0))),
    ],
)
