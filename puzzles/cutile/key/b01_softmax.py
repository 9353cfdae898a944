from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, T):
    x = make.floats((M, N), low=-2.0, high=2.0).values()
    if make.regime == "large":
        x[-1] -= 500
    return make.launch((M,), T=T, x=make.array(x, "fp32"),
                       z=make.output((M, N), terms=2 * N + 500))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=50), dict(M=2, N=1), dict(M=8, N=60)],
    blocks=[dict(T=64), dict(T=128)],
    lines=4,
    hints=[
        "Two reductions see the padding. One number serves both.",
        "Minus infinity loses every maximum, and exp makes 0 of it. "
        "keepdims=True keeps an axis of length 1, so that a row can be "
        "divided by its sum.",
        "Load with padding_mode=ct.PaddingMode.NEG_INF, "
        "e = ct.exp(t - ct.max(t, 1, keepdims=True)), store "
        "e / ct.sum(e, 1, keepdims=True).",
    ],
    solution='''
@ct.kernel
def softmax(x, z, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (1, T), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(t - ct.max(t, 1, keepdims=True))
    ct.store(z, (i, 0), e / ct.sum(e, 1, keepdims=True))
''',
    after="With zeros as padding all weights of a row are too small by the "
          "same factor: a wrong result that looks like a right one.",
    wrong=[
        Wrong("undef", "the padding is undetermined",
              [(", padding_mode=ct.PaddingMode.NEG_INF", "")]),
        Wrong("neutral", "the padding is 0, and exp(-m) is added",
              [("PaddingMode.NEG_INF", "PaddingMode.ZERO")]),
        Wrong("inf", "the maximum is not subtracted",
              [(" - ct.max(t, 1, keepdims=True)", "")]),
        Wrong("value", "the weights are not divided by their sum",
              [(" / ct.sum(e, 1, keepdims=True)", "")]),
    ],
)
