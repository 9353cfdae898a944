from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, T):
    x = make.floats((M, N))
    return make.launch((M,), T=T, x=x, z=make.output(
        M, terms=N, scale=abs(x.values()).sum(1)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=5, N=50), dict(M=1, N=1), dict(M=40, N=60)],
    blocks=[dict(T=64), dict(T=128)],
    lines=3,
    hints=[
        "What has to be added for an element that is not there?",
        "ct.PaddingMode lists what padding may be. The sum of a tile along "
        "axis 1 has one element for each row.",
        "t = ct.load(x, (i, 0), (1, T), padding_mode=ct.PaddingMode.ZERO), "
        "then ct.store(z, (i,), ct.sum(t, 1)).",
    ],
    solution='''
@ct.kernel
def row_sums(x, z, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (1, T), padding_mode=ct.PaddingMode.ZERO)
    ct.store(z, (i,), ct.sum(t, 1))
''',
    after="Undetermined is what padding is when nobody asks. On one GPU it is "
          "0 today, and a sum looks right for years.",
    wrong=[
        Wrong("undef", "the padding is undetermined",
              [(", padding_mode=ct.PaddingMode.ZERO", "")]),
        Wrong("value", "the padding is minus infinity, as for a maximum",
              [("PaddingMode.ZERO", "PaddingMode.NEG_INF")]),
        Wrong("value", "the greatest element in place of the sum",
              [("ct.sum(t, 1)", "ct.max(t, 1)")]),
        Wrong("twice", "every block has row 0", [("i = ct.bid(0)", "i = 0")]),
    ],
)
