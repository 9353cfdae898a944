import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    programs = cdiv(N, B)
    return make.launch((programs,), N=N, B=B,
                       P=1 << (programs - 1).bit_length(),
                       x_ptr=make.floats(N, low=0.5, high=2.0),
                       z_ptr=make.output(N, terms=N),
                       part_ptr=make.scratch((programs,)),
                       count_ptr=make.scratch(np.zeros(1, int), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=150), dict(N=1), dict(N=400)],
    blocks=[dict(B=32), dict(B=64)],
    lines=12,
    hints=[
        "It begins as e03 does. What is different is that nobody may leave "
        "before the last one has come.",
        "A program that arrives releases its part: a store, a barrier for the "
        "lanes, an atomic that counts. A program that waits looks at the "
        "counter again and again, by an atomic that acquires; to look, add 0.",
        "tl.atomic_add(count_ptr, 1), then while tl.atomic_add(count_ptr, 0) "
        "< tl.num_programs(0): pass, then the sum of the parts, masked by "
        "the number of programs and with other=0.0.",
    ],
    solution='''
@triton.jit
def shares(x_ptr, z_ptr, part_ptr, count_ptr, N, B: tl.constexpr,
           P: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(x, axis=0))
    tl.debug_barrier()
    tl.atomic_add(count_ptr, 1)
    while tl.atomic_add(count_ptr, 0) < tl.num_programs(0):
        pass
    ids = tl.arange(0, P)
    parts = tl.load(part_ptr + ids, mask=ids < tl.num_programs(0), other=0.0)
    tl.store(z_ptr + offs, x / tl.sum(parts, axis=0), mask=offs < N)
''',
    after="Everybody adds the same parts in the same order, so that all "
          "divide by the same bits. A grid barrier hangs as soon as one "
          "program does not fit on the device beside the others: production "
          "code launches no more programs than there are processors.",
    wrong=[
        Wrong("race", "nobody waits",
              [("    while tl.atomic_add(count_ptr, 0) < tl.num_programs(0):"
                "\n        pass\n", "")]),
        Wrong("race", "they wait for all but one",
              [("< tl.num_programs(0):", "< tl.num_programs(0) - 1:")]),
        Wrong("deadlock", "they wait for one more than there are",
              [("< tl.num_programs(0):", "<= tl.num_programs(0):")]),
        Wrong("race", "each counts itself before its part is stored",
              [("    tl.atomic_add(count_ptr, 1)\n", ""),
               ("    tl.store(part_ptr", "    tl.atomic_add(count_ptr, 1)\n"
                "    tl.store(part_ptr")]),
        Wrong("race", "the wait acquires nothing",
              [("tl.atomic_add(count_ptr, 0)",
                "tl.atomic_add(count_ptr, 0, sem='relaxed')")]),
        Wrong("value", "each divides by its own block's sum",
              [("x / tl.sum(parts, axis=0)",
                "x / tl.sum(x + 0 * tl.sum(parts, axis=0), axis=0)")]),
    ],
)
