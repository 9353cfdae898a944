from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, T):
    return make.launch((cdiv(N, T),), T=T, x=make.floats(N),
                       y=make.floats(N), z=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=1000)],
    blocks=[dict(T=32), dict(T=64)],
    lines=4,
    hints=[
        "A tile's index counts tiles, not elements.",
        "The index of ct.load is a tuple with a number for each axis, and so "
        "is the shape. Both arrays have the same tile.",
        "i = ct.bid(0); a = ct.load(x, (i,), (T,)); the same of y; then "
        "ct.store(z, (i,), a + b).",
    ],
    solution='''
@ct.kernel
def add(x, y, z, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, (i,), (T,))
    b = ct.load(y, (i,), (T,))
    ct.store(z, (i,), a + b)
''',
    after="No mask was needed: a tile knows the array that it is cut from, "
          "and stores stop at its end.",
    wrong=[
        Wrong("outside", "the index counts elements",
              [("a = ct.load(x, (i,), (T,))", "a = ct.load(x, (i * T,), (T,))")
               ]),
        Wrong("twice", "every block has tile 0", [("i = ct.bid(0)", "i = 0")]),
        Wrong("value", "y is subtracted", [("a + b", "a - b")]),
        Wrong("unwritten", "the first tile is left out",
              [("i = ct.bid(0)", "i = ct.bid(0) + 1")]),
    ],
)
