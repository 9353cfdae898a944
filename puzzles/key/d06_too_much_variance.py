from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N), low=0.0, high=2.0)
    return make.launch((M,), N=N, B=B, x_ptr=x,
                       z_ptr=make.output(M, terms=N,
                                         scale=(x.values() ** 2).max()))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=45), dict(M=2, N=1), dict(M=20, N=50)],
    blocks=[dict(B=64), dict(B=128)],
    lines=7,
    verdict=dict(kind="neutral", line="total = tl.sum"),
    hints=[
        "Zero does not change a sum. Are the masked lanes still zero when "
        "the second sum is taken?",
        "After the mean has been subtracted, a masked lane holds 0 - mean, "
        "and its square is added 19 times in every row.",
        "The second sum has lanes that are not neutral. Write "
        "d = tl.where(cols < N, x - mean, 0.0).",
    ],
    solution=[("d = x - mean", "d = tl.where(cols < N, x - mean, 0.0)")],
    after="What other= filled is neutral for the first thing that happens to "
          "it. After that, look again: x - mean, exp(x) and 1 / x all turn a "
          "zero into something that counts.",
    wrong=[
        Wrong("neutral", "the sum of the squares is divided by B, as if "
              "that made up for it",
              [("tl.where(cols < N, x - mean, 0.0)", "x - mean"),
               ("total / N)", "total / B)")]),
        Wrong("value", "zeros among the data are taken for masked lanes",
              [("tl.where(cols < N,", "tl.where(x != 0.0,")]),
        Wrong("value", "the condition is the wrong way round",
              [("tl.where(cols < N,", "tl.where(cols >= N,")]),
        Wrong("value", "the mean of all lanes is subtracted",
              [("tl.sum(x, axis=0) / N", "tl.sum(x, axis=0) / B")]),
        Wrong("verdict", "the first sum is right",
              verdict=dict(line="mean = tl.sum")),
    ],
)
