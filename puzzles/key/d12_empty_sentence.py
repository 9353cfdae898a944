import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    lengths = make.random.integers(0, N + 1, M)
    lengths[:4] = np.minimum([45, 0, 7, 1], N)[:M]
    return make.launch((M,), N=N, B=B, x_ptr=make.floats((M, N), large=200.0),
                       n_ptr=make.array(lengths, "int32"),
                       z_ptr=make.output((M, N), terms=N, scale=1.0))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=4, N=45), dict(M=3, N=1), dict(M=20, N=64)],
    blocks=[dict(B=64), dict(B=128)],
    lines=9,
    verdict=dict(kind="nan", line="e = tl.exp(x - largest)", program=1),
    hints=[
        "Work through the kernel with length 0. What is the maximum of "
        "nothing?",
        "Every lane is minus infinity, and so is the maximum. Infinity minus "
        "infinity is not a number; and if it were, the sum would be zero, "
        "and something would be divided by it.",
        "In program 1, x - largest is nan. Subtract 0 instead where largest "
        "is -inf, with tl.where(largest == float('-inf'), 0.0, largest), and "
        "divide by tl.where(length > 0, total, 1.0).",
    ],
    solution=[
        ("largest = tl.max(x, axis=0)\n",
         "largest = tl.max(x, axis=0)\n"
         "    largest = tl.where(length > 0, largest, 0.0)\n"),
        ("e / total", "e / tl.where(length > 0, total, 1.0)"),
    ],
    after="A row of which everything is masked is not an exotic case: "
          "padding, causal blocks and empty experts all make it. Ask of each "
          "reduction what it gives for nothing at all.",
    wrong=[
        Wrong("nan", "the maximum is mended, and 0 is divided by 0",
              [("e / tl.where(length > 0, total, 1.0)", "e / total")]),
        Wrong("nan", "the division is mended, and the maximum is not",
              [("    largest = tl.where(length > 0, largest, 0.0)\n", "")]),
        Wrong("unwritten", "an empty row is left as it is",
              [("    largest = tl.where(length > 0, largest, 0.0)\n",
                "    if length == 0:\n        return\n")]),
        Wrong("neutral", "zeros in place of -inf: each takes its share",
              [('float("-inf")', "0.0")]),
        Wrong("inf", "no maximum, no trouble, as long as scores are small",
              [("x - largest)", "x)")]),
        Wrong("verdict", "that row has a sentence of one word, which is "
              "enough", verdict=dict(program=3)),
    ],
)
