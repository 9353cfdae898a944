from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, T):
    x = make.floats((M, N))
    return make.launch((M,), T=T, x=x, z=make.output(
        (M, N), terms=N, scale=abs(x.values()).sum(1, keepdims=True)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=75), dict(M=2, N=1), dict(M=6, N=200)],
    blocks=[dict(T=32), dict(T=16)],
    lines=6,
    hints=[
        "Each tile's running sums lack one number: all that came before the "
        "tile.",
        "Carry a tile of (1, 1). It grows by the sum of each tile, in which "
        "padding must not count.",
        "carry = ct.full((1, 1), 0.0, ct.float32); in the loop store "
        "carry + ct.cumsum(t, 1), then carry += ct.sum(t, 1, keepdims=True).",
    ],
    solution='''
@ct.kernel
def running_sums(x, z, T: ct.Constant[int]):
    i = ct.bid(0)
    carry = ct.full((1, 1), 0.0, ct.float32)
    for k in range(ct.num_tiles(x, 1, (1, T))):
        t = ct.load(x, (i, k), (1, T), padding_mode=ct.PaddingMode.ZERO)
        ct.store(z, (i, k), carry + ct.cumsum(t, 1))
        carry = carry + ct.sum(t, 1, keepdims=True)
''',
    after="Rows are independent, so that one block a row is enough. One long "
          "row needs blocks that wait for each other.",
    wrong=[
        Wrong("value", "nothing is carried",
              [("carry + ct.cumsum(t, 1)", "ct.cumsum(t, 1)")]),
        Wrong("value", "the carry grows before the tile is stored", [
            ("        ct.store(z, (i, k), carry + ct.cumsum(t, 1))\n", ""),
            ("carry = carry + ct.sum(t, 1, keepdims=True)",
             "carry = carry + ct.sum(t, 1, keepdims=True)\n"
             "        ct.store(z, (i, k), carry + ct.cumsum(t, 1))")]),
        Wrong("unwritten", "only the first tile of a row",
              [("range(ct.num_tiles(x, 1, (1, T)))", "range(1)")]),
    ],
)
