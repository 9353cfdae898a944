import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    batons = 1 + cdiv(N, B)
    first = np.eye(1, batons, dtype=int)[0]
    return make.launch((batons - 1,), N=N, B=B,
                       x_ptr=make.ints(N, -1000, 1000),
                       z_ptr=make.output(N, "int32"),
                       next_ptr=make.updated(np.zeros(1, int), "int32"),
                       carry_ptr=make.scratch(np.where(first, 0, 10**6),
                                              "int32"),
                       flag_ptr=make.scratch(first, "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=150), dict(N=1), dict(N=400)],
    blocks=[dict(B=32), dict(B=16)],
    lines=13,
    regimes=("uniform", "special"),
    hints=[
        "Two programs, two numbers: a carry and a flag. In which order does "
        "the one write them, and in which does the other read them?",
        "The flag is a message about the carry. Whoever sends it has stored "
        "the carry before, then a barrier, then an atomic that releases. "
        "Whoever waits reads the flag by an atomic that acquires, and the "
        "carry after that. To read by an atomic, add 0.",
        "number = tl.atomic_add(next_ptr, 1); while tl.atomic_add(flag_ptr + "
        "number, 0) == 0: pass; carry = tl.load(carry_ptr + number); store "
        "carry + the block's sum to carry_ptr + number + 1; "
        "tl.debug_barrier(); tl.atomic_xchg(flag_ptr + number + 1, 1).",
    ],
    solution='''
@triton.jit
def running_sum(x_ptr, z_ptr, next_ptr, carry_ptr, flag_ptr, N,
                B: tl.constexpr):
    number = tl.atomic_add(next_ptr, 1)
    offs = number * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=0)
    own = tl.cumsum(x, axis=0)
    total = tl.sum(x, axis=0)
    while tl.atomic_add(flag_ptr + number, 0) == 0:
        pass
    carry = tl.load(carry_ptr + number)
    tl.store(carry_ptr + number + 1, carry + total)
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + number + 1, 1)
    tl.store(z_ptr + offs, carry + own, mask=offs < N)
''',
    after="All that can be done before the wait is done before it, and the "
          "baton is handed on before the result is stored: the others wait "
          "for nothing but the addition. The fastest scans also look back "
          "past programs that are not ready; that is the next step.",
    wrong=[
        Wrong("race", "nobody waits",
              [("    while tl.atomic_add(flag_ptr + number, 0) == 0:\n"
                "        pass\n", "")]),
        Wrong("race", "the flag is sent before the carry",
              [("    tl.store(carry_ptr + number + 1, carry + total)\n"
                "    tl.debug_barrier()\n"
                "    tl.atomic_xchg(flag_ptr + number + 1, 1)\n",
                "    tl.atomic_xchg(flag_ptr + number + 1, 1)\n"
                "    tl.debug_barrier()\n"
                "    tl.store(carry_ptr + number + 1, carry + total)\n")]),
        Wrong("race", "the program that waits sees the flag, but acquires "
                      "nothing",
              [("tl.atomic_add(flag_ptr + number, 0)",
                "tl.atomic_add(flag_ptr + number, 0, sem='relaxed')")]),
        Wrong("unwritten", "blocks are taken by program id, which may wait for "
              "one that never gets its turn",
              [("number = tl.atomic_add(next_ptr, 1)",
                "number = tl.program_id(0)")]),
        Wrong("value", "the carry is the sum of one block, not of all",
              [("carry + total)", "total)")]),
        Wrong("deadlock", "a program waits for its own baton",
              [("while tl.atomic_add(flag_ptr + number, 0)",
                "while tl.atomic_add(flag_ptr + number + 1, 0)")]),
    ],
)
