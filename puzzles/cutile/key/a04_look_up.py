from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, K, N, T):
    return make.launch((cdiv(N, T),), T=T, x=make.floats(K),
                       at=make.ints(N, -3, K + 3), z=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(K=30, N=100), dict(K=5, N=1), dict(K=77, N=500)],
    blocks=[dict(T=32), dict(T=64)],
    lines=4,
    hints=[
        "The tile of indices is a tile like any other: block i has tile i.",
        "Indices past the end of `at` are undetermined, and no address may "
        "be made of them: say what they are. What x[at[i]] is where there is "
        "none is the gather's own padding.",
        "j = ct.load(at, (i,), (T,), padding_mode=ct.PaddingMode.ZERO), "
        "v = ct.gather(x, j, padding_value=-1), and store v as tile i.",
    ],
    solution='''
@ct.kernel
def look_up(x, at, z, T: ct.Constant[int]):
    i = ct.bid(0)
    j = ct.load(at, (i,), (T,), padding_mode=ct.PaddingMode.ZERO)
    v = ct.gather(x, j, padding_value=-1)
    ct.store(z, (i,), v)
''',
    after="A gather checks each index against the array, below 0 too. "
          "check_bounds=False is faster, and a promise.",
    wrong=[
        Wrong("undef", "indices past the end are undetermined",
              [(", padding_mode=ct.PaddingMode.ZERO", "")]),
        Wrong("value", "what is not in x is 0", [(", padding_value=-1", "")]),
        Wrong("out-of-bounds", "indices are promised to be in x",
              [("padding_value=-1", "check_bounds=False")]),
        Wrong("value", "x is read in order",
              [("ct.gather(x, j, ", "ct.gather(x, i * T + ct.arange("
                "T, dtype=ct.int32), ")]),
    ],
)
