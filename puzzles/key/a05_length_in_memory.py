import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, real, B):
    x = make.floats(N).values()
    rubbish = np.where(np.arange(N) < real, x, np.nan)
    return make.launch((cdiv(N, B),), N=N, B=B,
                       x_ptr=make.array(rubbish, "fp32"),
                       n_ptr=make.array([real], "int32"),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100, real=70), dict(N=1, real=1), dict(N=300, real=0)],
    blocks=[dict(B=32), dict(B=64)],
    lines=4,
    hints=[
        "There are two lengths here, and two accesses to blocks. Which "
        "length is the limit of which access?",
        "Load n once, as a single number. Lanes below n read x; the others "
        "get other=0 and touch nothing. But lanes up to N write.",
        "n = tl.load(n_ptr); load x with mask=offs < n and other=0; store it "
        "with mask=offs < N.",
    ],
    solution='''
@triton.jit
def clear_padding(x_ptr, n_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.load(n_ptr)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(z_ptr + offs, x, mask=offs < N)
''',
    other='''
@triton.jit
def clear_padding(x_ptr, n_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N)
    z = tl.where(offs < tl.load(n_ptr), x, 0)
    tl.store(z_ptr + offs, z, mask=offs < N)
''',
    after="A mask belongs to one access, not to the kernel: a load and a "
          "store may well have different ones. And other= is how a masked "
          "load says what the missing lanes are worth.",
    wrong=[
        Wrong("undef", "the lanes left out by the load have no value",
              [("mask=offs < n, other=0", "mask=offs < n")]),
        Wrong("unwritten", "the padding is left alone instead of cleared",
              [("x, mask=offs < N", "x, mask=offs < n")]),
        Wrong("out-of-bounds", "every lane loads a length of its own",
              [("tl.load(n_ptr)", "tl.load(n_ptr + offs)")]),
        Wrong("value", "0 times NaN is not 0",
              [("mask=offs < n, other=0)", "mask=offs < N, other=0) * "
                "(offs < n)")]),
        Wrong("value", "the padding is copied, because the load is masked by N",
              [("mask=offs < n, other=0", "mask=offs < N, other=0")]),
    ],
)
