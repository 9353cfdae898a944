from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B, x_ptr=make.floats(N),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=1000)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    verdict=dict(kind="out-of-bounds", line="x = tl.load", program=3,
                 index=100),
    hints=[
        "100 is not a multiple of 32. What does the last program do with "
        "the lanes that are left over?",
        "Without a mask every lane loads and stores. Count which elements "
        "program 3 touches: its lanes begin at 3 * 32.",
        "Elements 96 to 127 are touched, and x ends at 99: the load of "
        "program 3 is out-of-bounds from index 100 on, and the store after "
        "it, too. Both need mask=offs < N.",
    ],
    solution=[
        ("x_ptr + offs)", "x_ptr + offs, mask=offs < N)"),
        ("z_ptr + offs, 2 * x)", "z_ptr + offs, 2 * x, mask=offs < N)"),
    ],
    after="Memory behind a tensor belongs to somebody. A GPU says nothing "
          "when you touch it; the mask is your part of the contract.",
    wrong=[
        Wrong("out-of-bounds", "the store alone is masked",
              [("x_ptr + offs, mask=offs < N)", "x_ptr + offs)")]),
        Wrong("out-of-bounds", "the load alone is masked",
              [("2 * x, mask=offs < N)", "2 * x)")]),
        Wrong("unwritten", "the tail is left out",
              [("2 * x, mask=offs < N)", "2 * x, mask=offs < N // B * B)")]),
        Wrong("verdict", "the store comes second",
              verdict=dict(line="tl.store(z_ptr")),
        Wrong("verdict", "nobody has the number 4",
              verdict=dict(program=4)),
    ],
)
