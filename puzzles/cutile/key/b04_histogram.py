import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, K, T):
    return make.launch((cdiv(N, T),), T=T, x=make.ints(N, 0, K),
                       h=make.updated(np.zeros(K), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100, K=7), dict(N=1, K=3), dict(N=700, K=20)],
    blocks=[dict(T=32), dict(T=64)],
    lines=4,
    hints=[
        "ct.load has a padding mode of 0, and 0 is a class that counts.",
        "ct.gather(x, i) takes indices of elements, and padding_value= may "
        "be any number: one that is not in h is counted nowhere.",
        "i = ct.bid(0) * T + ct.arange(T, dtype=ct.int32), "
        "c = ct.gather(x, i, padding_value=-1), ct.atomic_add(h, c, 1).",
    ],
    solution='''
@ct.kernel
def histogram(x, h, T: ct.Constant[int]):
    i = ct.bid(0) * T + ct.arange(T, dtype=ct.int32)
    c = ct.gather(x, i, padding_value=-1)
    ct.atomic_add(h, c, 1)
''',
    other='''
@ct.kernel
def histogram(x, h, T: ct.Constant[int]):
    # a tile, whose tail is led out of h
    i = ct.bid(0)
    c = ct.load(x, (i,), (T,), padding_mode=ct.PaddingMode.ZERO)
    inside = i * T + ct.arange(T, dtype=ct.int32) < x.shape[0]
    ct.atomic_add(h, ct.where(inside, c, -1), 1)
''',
    after="Whole numbers come out the same in every order. Sums of floats "
          "that are added so differ from run to run.",
    wrong=[
        Wrong("value", "the padding is counted as class 0",
              [(", padding_value=-1", "")]),
        Wrong("race", "what is there is read, and written back plus 1",
              [("ct.atomic_add(h, c, 1)",
                "ct.scatter(h, c, ct.gather(h, c) + 1)")]),
        Wrong("value", "every block has the first tile",
              [("ct.bid(0) * T", "0 * T")]),
    ],
)
