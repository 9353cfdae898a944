import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, N, P, B, BP):
    x, y = make.floats(N), make.floats(N)
    size = np.abs(x.values()) @ np.abs(y.values())
    part = make.scratch((P,))
    z = make.output(1, terms=N, scale=size)
    return [make.launch((P,), "partial", N=N, B=B, x_ptr=x, y_ptr=y,
                        part_ptr=part),
            make.launch((1,), "finish", P=P, BP=BP, part_ptr=part, z_ptr=z)]


ORDER = "the order of the additions would be another one in each run"
PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=500, P=5), dict(N=1, P=3), dict(N=1500, P=7)],
    blocks=[dict(B=32, BP=8), dict(B=64, BP=16)],
    lines=11,
    forbid={"atomic_add": ORDER, "atomic_cas": ORDER, "atomic_xchg": ORDER},
    hints=[
        "Two short kernels that you have written before: a07 with a sum in "
        "place of the store, and b01 with a sum in place of the addition. A "
        "program that has no block still has a part.",
        "partial keeps a block of sums in its loop, adds its lanes at the "
        "end, and stores a single number through the single pointer "
        "part_ptr + program_id. In finish the lanes past P must hold 0.",
        "acc += x * y in the loop over range(tl.program_id(0) * B, N, "
        "tl.num_programs(0) * B), both loads with other=0; store "
        "tl.sum(acc, 0). Then in finish: load part with mask=p < P and "
        "other=0, store its tl.sum to z_ptr.",
    ],
    solution='''
@triton.jit
def partial(x_ptr, y_ptr, part_ptr, N, B: tl.constexpr):
    acc = tl.zeros([B], tl.float32)
    step = tl.num_programs(0) * B
    for start in range(tl.program_id(0) * B, N, step):
        i = start + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < N, other=0)
        y = tl.load(y_ptr + i, mask=i < N, other=0)
        acc += x * y
    tl.store(part_ptr + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def finish(part_ptr, z_ptr, P, BP: tl.constexpr):
    p = tl.arange(0, BP)
    part = tl.load(part_ptr + p, mask=p < P, other=0)
    tl.store(z_ptr, tl.sum(part, 0))
''',
    after="Between two launches everything that the first one wrote is "
          "there: the end of a kernel is the one barrier for all programs "
          "that costs nothing to get right. Splitting K of a matrix product "
          "works alike.",
    wrong=[
        Wrong("value", "every program sums the whole vector",
              [("range(tl.program_id(0) * B, N, step)", "range(0, N, B)"),
               ("    step = tl.num_programs(0) * B\n", "")]),
        Wrong("value", "each program takes one block and no more",
              [("tl.program_id(0) * B, N, step",
                "tl.program_id(0) * B, tl.minimum(N, tl.program_id(0) * B "
                "+ 1), step")]),
        Wrong("race", "all parts go to the same place",
              [("part_ptr + tl.program_id(0), tl", "part_ptr, tl")]),
        Wrong("undef", "lanes past P are summed, but have no value",
              [("mask=p < P, other=0", "mask=p < P")]),
        Wrong("out-of-bounds", "the block of parts is not masked",
              [("part_ptr + p, mask=p < P, other=0", "part_ptr + p")]),
        Wrong("value", "it stores the first part instead of the sum of all",
              [("    p = tl.arange(0, BP)\n", ""),
               ("tl.load(part_ptr + p, mask=p < P, other=0)",
                "tl.load(part_ptr)"),
               ("tl.sum(part, 0)", "part")]),
        Wrong("forbidden", "the parts are added up by atomics", [
            ("tl.store(part_ptr + tl.program_id(0), tl.sum(acc, 0))",
             "tl.atomic_add(part_ptr, tl.sum(acc, 0))")]),
    ],
)
