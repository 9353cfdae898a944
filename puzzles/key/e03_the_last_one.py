import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    programs = cdiv(N, B)
    return make.launch((programs,), N=N, B=B,
                       P=1 << (programs - 1).bit_length(),
                       x_ptr=make.floats(N),
                       z_ptr=make.output(1, terms=N),
                       part_ptr=make.scratch((programs,)),
                       count_ptr=make.scratch(np.zeros(1, int), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=150), dict(N=1), dict(N=800)],
    blocks=[dict(B=32), dict(B=64)],
    lines=11,
    hints=[
        "tl.num_programs(0) says how many there are. What does the counter "
        "give to the first that comes, and what to the last?",
        "The number that is taken is a message: 'my part is there'. It must "
        "not be sent before the part is stored: first the store, then a "
        "barrier, then the atomic operation, which releases what was "
        "stored, and acquires what others released.",
        "number = tl.atomic_add(count_ptr, 1); if number == "
        "tl.num_programs(0) - 1: load part_ptr + tl.arange(0, P), masked by "
        "the number of programs and with other=0.0, sum, tl.sqrt, store.",
    ],
    solution='''
@triton.jit
def length(x_ptr, z_ptr, part_ptr, count_ptr, N, B: tl.constexpr,
           P: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(x * x, axis=0))
    tl.debug_barrier()
    number = tl.atomic_add(count_ptr, 1)
    if number == tl.num_programs(0) - 1:
        ids = tl.arange(0, P)
        parts = tl.load(part_ptr + ids, mask=ids < tl.num_programs(0),
                        other=0.0)
        tl.store(z_ptr, tl.sqrt(tl.sum(parts, axis=0)))
''',
    after="The parts are added in the order of their places, not in that of "
          "their arrival: the result has the same bits every time. An atomic "
          "sum of floats could not promise that.",
    wrong=[
        Wrong("race", "the number is taken before the part is stored",
              [("    tl.store(part_ptr + tl.program_id(0), "
                "tl.sum(x * x, axis=0))\n    tl.debug_barrier()\n", ""),
               ("    if number", "    tl.store(part_ptr + tl.program_id(0), "
                "tl.sum(x * x, axis=0))\n    tl.debug_barrier()\n"
                "    if number")]),
        Wrong("race", "the counter is relaxed: it counts, and says nothing "
              "of the parts",
              [("tl.atomic_add(count_ptr, 1)",
                "tl.atomic_add(count_ptr, 1, sem='relaxed')")]),
        Wrong("order", "the program with the largest id is taken to be the "
              "last one", [("if number ==", "if tl.program_id(0) ==")]),
        Wrong("unwritten", "numbers begin at 0, so that nobody is the last",
              [("tl.num_programs(0) - 1:", "tl.num_programs(0):")]),
        Wrong("undef", "lanes beyond the programs are summed",
              [("mask=ids < tl.num_programs(0),\n                        "
                "other=0.0)", "mask=ids < tl.num_programs(0))")]),
        Wrong("value", "roots are added",
              [("tl.sqrt(tl.sum(parts, axis=0))",
                "tl.sum(tl.sqrt(parts), axis=0)")]),
    ],
)
