from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.ints(N, 0, 256, "uint8"),
                       y_ptr=make.ints(N, 0, 256, "uint8"),
                       z_ptr=make.output(N, "uint8"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=600)],
    blocks=[dict(B=32), dict(B=64)],
    lines=6,
    verdict=dict(line="both = x + y", index=256),
    hints=[
        "Take two bright pixels, 200 and 100, and do by hand what the kernel "
        "does, with eight bits.",
        "The sum of two uint8 is a uint8 again: 300 becomes 44, before it is "
        "divided. NumPy would do the same; Python would not.",
        "The sum wraps from 256 on. Widen one operand first: "
        "both = x.to(tl.int32) + y.",
    ],
    solution=[("both = x + y", "both = x.to(tl.int32) + y")],
    after="Operations on small integers stay small. Widen before you add or "
          "multiply, and let the store narrow again.",
    wrong=[
        Wrong("value", "the sum is widened when it has wrapped already",
              [("x.to(tl.int32) + y", "(x + y).to(tl.int32)")]),
        Wrong("value", "halved before they are added: two odd pixels lose "
              "one", [("both = x.to(tl.int32) + y", "both = x // 2 + y // 2"),
                      ("both // 2,", "both,")]),
        Wrong("value", "int8 is not wider",
              [("x.to(tl.int32) + y", "x.to(tl.int8) + y")]),
        Wrong("verdict", "255 still fits into eight bits",
              verdict=dict(index=255)),
        Wrong("verdict", "the division is right",
              verdict=dict(line="tl.store(z_ptr")),
    ],
)
