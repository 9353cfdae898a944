from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, BM, BN):
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, BM=BM, BN=BN,
                       x_ptr=make.floats((M, N), low=-20.0, high=40.0,
                                         large=4.0),
                       z_ptr=make.output((M, N), terms=2, scale=100.0))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=70), dict(M=1, N=1), dict(M=80, N=30)],
    blocks=[dict(BM=16, BN=32), dict(BM=8, BN=16)],
    lines=6,
    verdict=dict(kind="unwritten", line="rows = tl.program_id(1)",
                 index=(0, 64)),
    hints=[
        "How many programs does the grid have along each axis for 20 by 60, "
        "and how many for 20 by 70? 'info' in the debugger shows it, and so "
        "does the picture.",
        "The task says that axis 0 of the grid counts blocks of rows. Which "
        "axis does the kernel take its rows from?",
        "2 by 3 programs: axis 0 has only two, so that columns from 64 on are "
        "unwritten. Rows come from tl.program_id(0), columns from "
        "tl.program_id(1).",
    ],
    solution=[("rows = tl.program_id(1)", "rows = tl.program_id(0)"),
              ("cols = tl.program_id(0)", "cols = tl.program_id(1)")],
    after="Whoever launches and whoever writes the kernel must mean the same "
          "by 'axis 0'. A grid that happens to be square forgives a mistake; "
          "the mask then hides it.",
    wrong=[
        Wrong("twice", "both from axis 0",
              [("cols = tl.program_id(1)", "cols = tl.program_id(0)")]),
        Wrong("twice", "both from axis 1",
              [("rows = tl.program_id(0)", "rows = tl.program_id(1)")]),
        Wrong("unwritten", "the block sizes are exchanged, not the axes",
              [("rows = tl.program_id(0) * BM", "rows = tl.program_id(1) * BM"
                ), ("cols = tl.program_id(1) * BN",
                    "cols = tl.program_id(0) * BM")]),
        Wrong("value", "the formula is turned round, to be safe",
              [("1.8 * x + 32", "(x + 32) * 1.8")]),
        Wrong("verdict", "column 63 is the last of the second block",
              verdict=dict(index=(0, 63))),
    ],
)
