from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, T):
    return make.launch((cdiv(N, T),), T=T,
                       x=make.scratch(make.floats(N).values()),
                       z=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=300)],
    blocks=[dict(T=32), dict(T=16)],
    lines=5,
    verdict=dict(kind="race", line="ct.scatter(x, at"),
    hints=[
        "Which elements of x does block 0 read that are not in its tile?",
        "Block 0 reads element 32, and block 1 writes it. Nothing orders the "
        "two.",
        "kind=race, and the line is that of ct.scatter(x, ...). Leave that "
        "line out: z alone is asked for.",
    ],
    solution=[("    ct.scatter(x, at, (here + next) / 2)\n", "")],
    after="In place is safe where each block reads nothing but what it "
          "writes. Half a tile too far, and the order of blocks decides.",
    wrong=[
        Wrong("race", "x is written, and z copied from it",
              [("    ct.scatter(z, at, (here + next) / 2)",
                "    ct.scatter(x, at, (here + next) / 2)\n"
                "    ct.scatter(z, at, ct.gather(x, at))")]),
        Wrong("value", "the neighbour on the left",
              [("ct.minimum(at + 1, x.shape[0] - 1)",
                "ct.maximum(at - 1, 0)")]),
        Wrong("value", "the last element is halved",
              [("ct.minimum(at + 1, x.shape[0] - 1)", "at + 1")]),
        Wrong("verdict", "the load comes first",
              verdict=dict(line="next = ct.gather")),
    ],
)
