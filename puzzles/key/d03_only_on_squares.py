from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats((M, N)), y_ptr=make.floats(N),
                       z_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45), dict(M=1, N=7), dict(M=70, N=33)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=7,
    verdict=dict(kind="out-of-bounds", line="x = tl.load", program=(1, 0),
                 index=900),
    hints=[
        "What is the same in a square, and differs in every other table?",
        "Follow the mask for the rows 16 to 31: which of them does it let "
        "through, and how many rows are there?",
        "The mask compares rows with N and columns with M. Program (1, 0) "
        "reads row 20, which begins at 20 * 45 = 900 and is not there; "
        "(rows < M)[:, None] & (cols < N)[None, :] is right.",
    ],
    solution=[("(rows < N)[:, None] & (cols < M)[None, :]",
               "(rows < M)[:, None] & (cols < N)[None, :]")],
    after="A test on a square proves nothing about axes. Choose sizes that "
          "differ from each other, and that no block divides.",
    wrong=[
        Wrong("unwritten", "the rows are right, the columns are still "
              "compared with M", [("(cols < N)[None, :]",
                                   "(cols < M)[None, :]")]),
        Wrong("out-of-bounds", "the columns are right, the rows are still "
              "compared with N", [("(rows < M)[:, None]",
                                   "(rows < N)[:, None]")]),
        Wrong("race", "the mask is only the length of the whole: columns "
              "run on into the next row",
              [("(rows < M)[:, None] & (cols < N)[None, :]",
                "offs < M * N")]),
        Wrong("race", "the rows are taken to be M long",
              [("rows[:, None] * N", "rows[:, None] * M")]),
        Wrong("verdict", "the first program is innocent",
              verdict=dict(program=(0, 0))),
    ],
)
