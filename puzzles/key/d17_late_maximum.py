from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    v = make.floats(N)
    return make.launch((M,), N=N, B=B, x_ptr=make.floats((M, N)), v_ptr=v,
                       z_ptr=make.output(M, terms=4 * N,
                                         scale=abs(v.values()).max()))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=4, N=75), dict(M=2, N=1), dict(M=20, N=100)],
    blocks=[dict(B=32), dict(B=16)],
    lines=16,
    verdict=dict(line="acc = acc + tl.sum", index=1),
    hints=[
        "Stop in the loop and watch 'largest'. When it changes, what of "
        "everything that was computed before is still right?",
        "Weights are relative to the largest score so far. When a larger one "
        "comes, all that has been summed with the old one must shrink by "
        "the same factor.",
        "The total shrinks, and acc does not: acc = acc * shrink + "
        "tl.sum(w * v, axis=0). In trip 0 acc is still zero; trip 1 is the "
        "first that can spoil it.",
    ],
    solution=[("acc = acc + tl.sum", "acc = acc * shrink + tl.sum")],
    after="Everything that was computed with the old maximum is in the old "
          "unit. When the unit changes, all of it changes. No detector sees "
          "a wrong formula with good numbers: test with data whose maximum "
          "comes late.",
    wrong=[
        Wrong("value", "it shrinks what is new, not what is old",
              [("acc * shrink + tl.sum(w * v, axis=0)",
                "acc + shrink * tl.sum(w * v, axis=0)")]),
        Wrong("value", "the maximum is replaced before it is compared",
              [("shrink = tl.exp(largest - higher)",
                "largest = higher\n"
                "        shrink = tl.exp(largest - higher)")]),
        Wrong("value", "it grows instead",
              [("acc * shrink + tl.sum(w * v, axis=0)",
                "acc / tl.maximum(shrink, 1e-30) + "
                "tl.sum(w * v, axis=0)")]),
        Wrong("nan", "the first maximum is plus infinity, which nothing "
              "exceeds",
              [('    largest = float("-inf")\n', "    largest = "
                'float("inf")\n')]),
        Wrong("verdict", "in trip 0 there is nothing to shrink",
              verdict=dict(index=0)),
    ],
)
