import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    lowest, highest = np.full(1, -2**31), np.full(1, 2**31 - 1)
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.ints(N, -1000, 1000),
                       best_ptr=make.updated(lowest, "int32"),
                       where_ptr=make.updated(highest, "int32"),
                       lock_ptr=make.scratch(np.zeros(1, int), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=150), dict(N=1), dict(N=400)],
    blocks=[dict(B=32), dict(B=16)],
    lines=13,
    regimes=("special", "uniform"),
    hints=[
        "A lock is a number that tells whether somebody is inside. Seeing that "
        "nobody is and going in must be one step.",
        "tl.atomic_cas(p, 0, 1) writes a 1 if there is a 0, and gives back "
        "what it found: whoever finds a 0 is in, and everybody else tries "
        "again. Before the lock is given back, all lanes must have stored, "
        "which a barrier sees to.",
        "while tl.atomic_cas(lock_ptr, 0, 1) == 1: pass. Then load best and "
        "where, replace them if value > best or (value == best and place < "
        "where), tl.debug_barrier(), tl.atomic_xchg(lock_ptr, 0). tl.argmax "
        "takes the first of equal lanes.",
    ],
    solution='''
@triton.jit
def champion(x_ptr, best_ptr, where_ptr, lock_ptr, N, B: tl.constexpr):
    start = tl.program_id(0) * B
    offs = start + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=-2147483648)
    value = tl.max(x, axis=0)
    place = start + tl.argmax(x, axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    best = tl.load(best_ptr)
    where = tl.load(where_ptr)
    if (value > best) | ((value == best) & (place < where)):
        tl.store(best_ptr, value)
        tl.store(where_ptr, place)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
''',
    after="A lock serialises: what can be done outside, such as a block's own "
          "maximum, is done outside. And a result that depends on who comes "
          "first is a wrong result, lock or no lock.",
    wrong=[
        Wrong("race", "there is no lock",
              [("    while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n"
                "        pass\n", ""),
               ("    tl.debug_barrier()\n    tl.atomic_xchg(lock_ptr, 0)\n",
                "")]),
        Wrong("value", "of equal numbers the one that comes first stays",
              [("    where = tl.load(where_ptr)\n", ""),
               ("(value > best) | ((value == best) & (place < where))",
                "value > best")]),
        Wrong("race", "looking and going in are two steps",
              [("while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n        pass\n",
                "while tl.load(lock_ptr) == 1:\n"
                "        pass\n    tl.store(lock_ptr, 1)\n")]),
        Wrong("deadlock", "only a program with a new record gives the lock "
                          "back",
              [("    tl.debug_barrier()\n    tl.atomic_xchg(lock_ptr, 0)",
                "        tl.debug_barrier()\n"
                "        tl.atomic_xchg(lock_ptr, 0)")]),
        Wrong("race", "the record is looked at before the lock is taken",
              [("    best = tl.load(best_ptr)\n"
                "    where = tl.load(where_ptr)\n", ""),
               ("    while tl.atomic_cas", "    best = tl.load(best_ptr)\n"
                "    where = tl.load(where_ptr)\n"
                "    while tl.atomic_cas")]),
        Wrong("value", "the place is counted from the beginning of the block",
              [("start + tl.argmax(x, axis=0)", "tl.argmax(x, axis=0)")]),
    ],
)
