from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, T, B):
    return make.launch((T,), B=B, x_ptr=make.floats((T, B, B)),
                       z_ptr=make.output((T, B, B)),
                       work_ptr=make.scratch((T, B, B)))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(T=3), dict(T=1), dict(T=12)],
    blocks=[dict(B=16), dict(B=8)],
    lines=8,
    forbid={"trans": "the workspace is the point here",
            "T": "the workspace is the point here",
            "permute": "the workspace is the point here"},
    verdict=dict(kind="race", line="turned = tl.load"),
    hints=[
        "Programs do not meet: each has a workspace of its own. Who else "
        "runs side by side?",
        "A block is stored by many threads, each a few of its lanes. What a "
        "thread loads afterwards was stored by another one, and perhaps has "
        "not been yet.",
        "A race between the lanes of one program. Put tl.debug_barrier() "
        "between the store to the workspace and the load from it.",
    ],
    solution=[("work_ptr + tile + i * B + j, x)\n",
               "work_ptr + tile + i * B + j, x)\n    tl.debug_barrier()\n")],
    after="Within one block of values all lanes agree; Triton sees to that. It "
          "orders nothing that goes through memory: there you need a barrier.",
    wrong=[
        Wrong("race", "the barrier stands before the store",
              [("    tl.debug_barrier()\n", ""),
               ("    tl.store(work_ptr", "    tl.debug_barrier()\n"
                "    tl.store(work_ptr")]),
        Wrong("race", "the barrier stands after the load",
              [("    tl.debug_barrier()\n", ""),
               ("    tl.store(z_ptr", "    tl.debug_barrier()\n"
                "    tl.store(z_ptr")]),
        Wrong("value", "without transposing there is no race",
              [("work_ptr + tile + j * B + i", "work_ptr + tile + i * B + j")
               ]),
        Wrong("race", "all programs share one workspace",
              [("work_ptr + tile + i * B + j", "work_ptr + i * B + j"),
               ("work_ptr + tile + j * B + i", "work_ptr + j * B + i")]),
        Wrong("verdict", "that load reads what nobody writes",
              verdict=dict(line="x = tl.load(x_ptr")),
    ],
)
