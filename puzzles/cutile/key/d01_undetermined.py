from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, T):
    x = make.floats((M, N), low=-9.0, high=-1.0).values()
    return make.launch((M,), T=T, x=make.array(-abs(x) - 1, "fp32"),
                       z=make.output(M))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=50), dict(M=2, N=1), dict(M=20, N=60)],
    blocks=[dict(T=64), dict(T=128)],
    lines=4,
    verdict=dict(kind="undef", line="m = ct.max"),
    hints=[
        "What is in elements 50 to 63 of the tile?",
        "The load says nothing of its padding, so that nobody knows. That is "
        "no fault until somebody uses it.",
        "The maximum uses it: kind=undef, in the line of ct.max. The load "
        "needs padding_mode=ct.PaddingMode.NEG_INF.",
    ],
    solution=[("(1, T))", "(1, T), padding_mode=ct.PaddingMode.NEG_INF)")],
    after="Zeros as padding would have hidden it from nobody but the people "
          "whose numbers are positive.",
    wrong=[
        Wrong("neutral", "the padding is 0, more than every temperature",
              [("PaddingMode.NEG_INF", "PaddingMode.ZERO")]),
        Wrong("undef", "the padding is left as it was",
              [(", padding_mode=ct.PaddingMode.NEG_INF", "")]),
        Wrong("verdict", "the load, where the value comes from",
              verdict=dict(line="t = ct.load")),
        Wrong("verdict", "it is not out of bounds",
              verdict=dict(kind="out-of-bounds")),
    ],
)
