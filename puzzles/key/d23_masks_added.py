from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.ints((M, N), 0, 256),
                       z_ptr=make.output((M, N), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=45), dict(M=1, N=1), dict(M=40, N=33)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=6,
    regimes=("uniform", "special"),
    verdict=dict(kind="lint-mask-sum", line="mask = (rows < M)"),
    hints=[
        "What is true plus true, with a single bit?",
        "Masks are int1, and a sum of two of them wraps: where both hold it "
        "is false, where one holds it is true. That is 'either, but not "
        "both'.",
        "lint-mask-sum. 'Both' is &: "
        "(rows < M)[:, None] & (cols < N)[None, :].",
    ],
    solution=[("(rows < M)[:, None] + (cols < N)", "(rows < M)[:, None] & "
               "(cols < N)")],
    after="&, | and ~ are for masks; + and - are for numbers. A product of "
          "masks would even work, and the next reader would wonder why.",
    wrong=[
        Wrong("out-of-bounds", "'or' lets through what only one of them "
              "allows", [("[:, None] & (cols", "[:, None] | (cols")]),
        Wrong("out-of-bounds", "exclusive or is what + did",
              [("[:, None] & (cols", "[:, None] ^ (cols")]),
        Wrong("out-of-bounds", "the rows alone: columns run on into the next "
              "row",
              [(" & (cols < N)[None, :]", " & (cols >= 0)[None, :]")]),
        Wrong("verdict", "that is what comes of it, not what the linter "
              "says", verdict=dict(kind="out-of-bounds")),
    ],
)
