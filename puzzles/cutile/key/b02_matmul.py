from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, K, T):
    x = make.floats((M, K), "fp16", large=8.0)
    y = make.floats((K, N), "fp16", large=8.0)
    return make.launch(
        (cdiv(M, T), cdiv(N, T)), T=T, x=x, y=y,
        z=make.output((M, N), "fp16", terms=K,
                      scale=abs(x.values()) @ abs(y.values())))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=40, K=50), dict(M=1, N=3, K=7),
           dict(M=64, N=48, K=80)],
    blocks=[dict(T=16), dict(T=32)],
    lines=7,
    hints=[
        "The last tiles along k stick out of both matrices, and a product "
        "sums over k.",
        "A for loop over range(ct.num_tiles(...)) carries acc. Zeros do no "
        "harm to a sum. ct.astype makes halves of it in the end.",
        "for k in range(ct.num_tiles(x, 1, (T, T))): load (i, k) of x and "
        "(k, j) of y with PaddingMode.ZERO, acc = ct.mma(a, b, acc); then "
        "ct.store(z, (i, j), ct.astype(acc, z.dtype)).",
    ],
    solution='''
@ct.kernel
def matmul(x, y, z, T: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    zero = ct.PaddingMode.ZERO
    acc = ct.full((T, T), 0, ct.float32)
    for k in range(ct.num_tiles(x, 1, (T, T))):
        a = ct.load(x, (i, k), (T, T), padding_mode=zero)
        b = ct.load(y, (k, j), (T, T), padding_mode=zero)
        acc = ct.mma(a, b, acc)
    ct.store(z, (i, j), ct.astype(acc, z.dtype))
''',
    after="x @ y of two tiles of halves keeps its sum in halves. ct.mma with "
          "an accumulator of float32 is what you want, nearly always.",
    wrong=[
        Wrong("undef", "the padding of x is undetermined",
              [("ct.load(x, (i, k), (T, T), padding_mode=zero)",
                "ct.load(x, (i, k), (T, T))")]),
        Wrong("value", "the sum begins anew with each tile",
              [("acc = ct.mma(a, b, acc)",
                "acc = ct.mma(a, b, ct.full((T, T), 0, ct.float32))")]),
        Wrong("value", "only the first tile along k",
              [("range(ct.num_tiles(x, 1, (T, T)))", "range(1)")]),
        Wrong("outside", "tiles of y are taken by rows",
              [("ct.load(y, (k, j)", "ct.load(y, (j, k)")]),
        Wrong("value", "the tiles are counted along the other axis",
              [("ct.num_tiles(x, 1,", "ct.num_tiles(y, 1,")]),
    ],
)
