from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, T):
    return make.launch((cdiv(M, T), cdiv(N, T)), T=T,
                       x=make.floats((M, N)), z=make.output((N, M)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=50), dict(M=1, N=7), dict(M=64, N=100)],
    blocks=[dict(T=16), dict(T=32)],
    lines=3,
    hints=[
        "A tile of T by T is loaded as it lies in x.",
        "ct.transpose exchanges the axes of a tile. What was in row i of "
        "tiles is in column i of tiles afterwards.",
        "t = ct.load(x, (ct.bid(0), ct.bid(1)), (T, T)), and then "
        "ct.store(z, (ct.bid(1), ct.bid(0)), ct.transpose(t)).",
    ],
    solution='''
@ct.kernel
def transpose(x, z, T: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    t = ct.load(x, (i, j), (T, T))
    ct.store(z, (j, i), ct.transpose(t))
''',
    other='''
@ct.kernel
def transpose(x, z, T: ct.Constant[int]):
    # order="F" cuts x into tiles whose axes are the array's in reverse
    i, j = ct.bid(0), ct.bid(1)
    ct.store(z, (j, i), ct.load(x, (j, i), (T, T), order="F"))
''',
    after="A kernel that is only tried on square matrices may exchange one "
          "of the two alone, and nobody notices until the first that is not.",
    wrong=[
        Wrong("outside", "the tile stays in its place",
              [("ct.store(z, (j, i)", "ct.store(z, (i, j)")]),
        Wrong("undef", "the elements stay in their places",
              [("ct.transpose(t)", "t")]),
        Wrong("outside", "rows and columns of tiles are confused",
              [("i, j = ct.bid(0), ct.bid(1)", "j, i = ct.bid(0), ct.bid(1)")
               ]),
    ],
)
