from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    wide = make.floats((M, 3 * N))
    return make.launch((M,), N=N, B=B, stride_x=3 * N, stride_z=N,
                       x_ptr=make.view(wide, slice(None), slice(0, N)),
                       z_ptr=make.output((M, N)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=5, N=40), dict(M=3, N=1), dict(M=40, N=64)],
    blocks=[dict(B=64), dict(B=128)],
    lines=5,
    verdict=dict(kind="out-of-bounds", line="x = tl.load", program=1),
    hints=[
        "Each row of the slice is followed by something that is not the "
        "queries. Does the kernel step over it?",
        "Two strides are passed, and a look at which of them is used where "
        "is enough. What lies in x at 40, where program 1 begins to read?",
        "Program 1 reads at 1 * stride_z = 40: these are keys, between the "
        "rows of the slice, and to read them is out-of-bounds. The load "
        "needs row * stride_x.",
    ],
    solution=[("x_ptr + row * stride_z", "x_ptr + row * stride_x")],
    after="Each tensor has its own strides. Where x and z happen to be laid "
          "out alike, the wrong one is as good as the right one, until "
          "somebody passes a slice.",
    wrong=[
        Wrong("out-of-bounds", "the row's length is taken for its stride",
              [("row * stride_x", "row * N")]),
        Wrong("out-of-bounds", "both strides are changed: now z is wrong",
              [("z_ptr + row * stride_z", "z_ptr + row * stride_x")]),
        Wrong("out-of-bounds", "the stride goes to the columns",
              [("row * stride_x + cols", "row + cols * stride_x")]),
        Wrong("verdict", "the store is right",
              verdict=dict(line="tl.store(z_ptr")),
        Wrong("verdict", "program 0 reads the right row, by luck",
              verdict=dict(program=0)),
    ],
)
