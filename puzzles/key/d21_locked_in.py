import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.ints(N, -1000, 1000),
                       z_ptr=make.updated(np.full(1, 500), "int32"),
                       lock_ptr=make.scratch(np.zeros(1, int), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=400)],
    blocks=[dict(B=32), dict(B=64)],
    lines=9,
    regimes=("uniform", "special"),
    verdict=dict(kind="deadlock", line="while tl.atomic_cas", program=0),
    hints=[
        "Follow one program that has nothing new to say, from the moment it "
        "takes the lock.",
        "Only the branch that writes a record gives the lock back. Whoever "
        "has no record leaves with it.",
        "A deadlock, and the first program without a record, number 0 here, "
        "keeps the lock. Move tl.debug_barrier() and tl.atomic_xchg("
        "lock_ptr, 0) out of the if.",
    ],
    solution=[("        tl.debug_barrier()\n        tl.atomic_xchg",
               "    tl.debug_barrier()\n    tl.atomic_xchg")],
    after="Every path that takes a lock gives it back. And where the whole "
          "matter is one maximum, tl.atomic_max needs no lock at all.",
    other='''
@triton.jit
def record(x_ptr, z_ptr, lock_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=-2147483648)
    tl.atomic_max(z_ptr, tl.max(x, axis=0))
''',
    wrong=[
        Wrong("deadlock", "only a program without a record gives the lock back",
              [("    tl.debug_barrier()\n    tl.atomic_xchg(lock_ptr, 0)",
                "    else:\n        tl.atomic_xchg(lock_ptr, 0)")]),
        Wrong("race", "the lock is given back before the record is written",
              [("    if largest > tl.load(z_ptr):\n"
                "        tl.store(z_ptr, largest)\n", ""),
               ("    tl.atomic_xchg(lock_ptr, 0)",
                "    tl.atomic_xchg(lock_ptr, 0)\n"
                "    if largest > tl.load(z_ptr):\n"
                "        tl.store(z_ptr, largest)")]),
        Wrong("race", "nobody waits: a program that "
                      "finds it locked goes on all the "
                      "same", [("while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n"
                        "        pass\n", "tl.atomic_cas(lock_ptr, 0, 1)\n")
                       ]),
        Wrong("race", "the lock orders nothing: relaxed, it is a number "
              "like any other",
              [("tl.atomic_xchg(lock_ptr, 0)",
                "tl.atomic_xchg(lock_ptr, 0, sem='relaxed')")]),
        Wrong("verdict", "the others only wait for it",
              verdict=dict(program=1)),
    ],
)
