import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.ints(N, 0, 10_000),
                       z_ptr=make.updated(np.zeros(1, int), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=1000)],
    blocks=[dict(B=32), dict(B=64)],
    lines=4,
    regimes=("uniform", "special"),
    verdict=dict(kind="race", line=["so_far = tl.load", "tl.store(z_ptr,"],
                 program=[1, 0]),
    hints=[
        "An interpreter runs one program after the other. What does a GPU "
        "do?",
        "Two programs may both load the same total before either has stored "
        "its own: then one of the two parts is gone. To load, to add and to "
        "store must be one step that nobody can come between.",
        "A race, of programs 1 and 0 for a start. Replace the load and the "
        "store by tl.atomic_add(z_ptr, part).",
    ],
    solution=[("    so_far = tl.load(z_ptr)\n", ""),
              ("tl.store(z_ptr, so_far + part)",
               "tl.atomic_add(z_ptr, part)")],
    after="An interpreter that runs programs in turn can never show this "
          "bug, however often you test. A detector that knows what is "
          "ordered, and what is not, finds it in one run.",
    wrong=[
        Wrong("race", "the load is atomic, and the store is not",
              [("tl.atomic_add(z_ptr, part)",
                "tl.store(z_ptr, tl.atomic_add(z_ptr, 0) + part)")]),
        Wrong("race", "a barrier keeps the lanes of one program together, "
              "not the programs",
              [("tl.atomic_add(z_ptr, part)",
                "so_far = tl.load(z_ptr)\n    tl.debug_barrier()\n"
                "    tl.store(z_ptr, so_far + part)")]),
        Wrong("race", "it is atomic for the threads of one program alone",
              [("tl.atomic_add(z_ptr, part)",
                "tl.atomic_add(z_ptr, part, scope='cta')")]),
        Wrong("value", "the last one wins", [("tl.atomic_add(z_ptr, part)",
                                              "tl.atomic_xchg(z_ptr, part)")]
              ),
        Wrong("verdict", "the elements of x are each read once",
              verdict=dict(line="x = tl.load")),
    ],
)
