from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, T, N, B):
    x = make.floats((T, N))
    return make.launch((cdiv(N, B),), T=T, N=N, B=B, x_ptr=x,
                       z_ptr=make.output(N, terms=T,
                                         scale=abs(x.values()).max()))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(T=5, N=45), dict(T=1, N=1), dict(T=12, N=200)],
    blocks=[dict(B=32), dict(B=64)],
    lines=6,
    verdict=dict(kind=["undef", "idempotence"],
                 line=["total = tl.load", "tl.store(z_ptr"]),
    hints=[
        "What does memory hold that has just been allocated? On most days, "
        "in a new process, it happens to be zero.",
        "The sum begins with what lies in z. Nobody has written it: the kernel "
        "itself must say where its sums begin.",
        "The load from z is the first to read it, and finds undef. Begin "
        "with total = tl.zeros([B], tl.float32).",
    ],
    solution=[("total = tl.load(z_ptr + offs, mask=mask, other=0.0)",
               "total = tl.zeros([B], tl.float32)")],
    after="A kernel whose second run gives another result than its first is "
          "not finished. Mind autotuners, too: they run a kernel a hundred "
          "times on the same output.",
    wrong=[
        Wrong("undef", "multiplied by zero; but NaN times zero is NaN",
              [("tl.zeros([B], tl.float32)",
                "tl.load(z_ptr + offs, mask=mask, other=0.0) * 0.0")]),
        Wrong("rewritten", "z is cleared in memory, and then written again",
              [("total = tl.zeros([B], tl.float32)",
                "tl.store(z_ptr + offs, 0.0, mask=mask)\n"
                "    total = tl.load(z_ptr + offs, mask=mask, other=0.0)")]),
        Wrong("value", "the first step is counted twice",
              [("tl.zeros([B], tl.float32)",
                "tl.load(x_ptr + offs, mask=mask, other=0.0)")]),
        Wrong("value", "the sum begins, and stays, in bfloat16",
              [("total = tl.zeros([B], tl.float32)",
                "total = tl.zeros([B], tl.bfloat16)"),
               ("mask=mask, other=0.0)\n",
                "mask=mask, other=0.0).to(tl.bfloat16)\n")]),
        Wrong("verdict", "x is complete",
              verdict=dict(line="total += tl.load")),
    ],
)
