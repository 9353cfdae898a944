from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    return make.launch((M,), N=N, B=B, x_ptr=make.floats((M, N)),
                       z_ptr=make.output(M, terms=N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=4, N=45), dict(M=2, N=1), dict(M=20, N=100)],
    blocks=[dict(B=32), dict(B=16)],
    lines=9,
    verdict=dict(kind="out-of-bounds", line="x = tl.load(x_ptr", program=3,
                 index=180),
    hints=[
        "What is masked in the first trip, and what in the second? Stop at "
        "the load twice, and print the mask and the columns.",
        "The columns move on. The mask was made from them once, before the "
        "loop, and knows only where they began.",
        "In its second trip program 3 reads from 4 * 45 = 180 on, which is "
        "out-of-bounds; programs before it read their neighbour's row. "
        "Write mask=cols < N at the load, or make the mask anew in the "
        "loop.",
    ],
    solution=[("row * N + cols, mask=mask,", "row * N + cols, mask=cols < N,")
              ],
    after="A mask is a value, not a rule: it does not follow what it was "
          "made from. And mind the three rows that nothing stopped: reading "
          "a neighbour's row is wrong, and in bounds.",
    wrong=[
        Wrong("out-of-bounds", "the mask is renewed after the last load "
              "that needed it",
              [("mask=cols < N,", "mask=mask,"),
               ("    tl.store(", "    mask = cols < N\n    tl.store(")]),
        Wrong("value", "the columns stand still as well",
              [("        cols += B\n", "")]),
        Wrong("value", "the mask asks for the end of the table, not of the "
              "row", [("mask=cols < N,", "mask=row * N + cols < N * "
                       "tl.num_programs(0),")]),
        Wrong("value", "the columns move on before the load",
              [("        cols += B\n", ""),
               ("        x = tl.load", "        cols += B\n"
                "        x = tl.load")]),
        Wrong("verdict", "program 0 reads its neighbour's row, which is not "
              "what stops the kernel", verdict=dict(program=0)),
    ],
)
