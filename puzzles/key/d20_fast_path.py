from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B, x_ptr=make.floats(N),
                       y_ptr=make.floats(N), z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=512)],
    blocks=[dict(B=32), dict(B=64)],
    lines=10,
    verdict=dict(kind="out-of-bounds", line="if B % 16 == 0", index=100),
    hints=[
        "Stop at the first statement and step. Into which branch does the "
        "kernel go when N is 100? And when it is 1?",
        "The condition is made of constants alone, so that the compiler "
        "decides it once and for all, and never sees the other branch. "
        "What should it have asked about?",
        "Out-of-bounds from element 100 on. Whether there is a ragged block "
        "depends on N: if N % B == 0.",
    ],
    solution=[("if B % 16 == 0:", "if N % B == 0:")],
    other='''
@triton.jit
def add(x_ptr, y_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, x + y, mask=mask)
''',
    after="An if on a tl.constexpr is decided while compiling: only one of its "
          "branches is in the kernel at all. That is useful when the question "
          "can be answered by then.",
    wrong=[
        Wrong("out-of-bounds", "a multiple of 4 is not a whole block",
              [("if N % B == 0:", "if N % 4 == 0:")]),
        Wrong("out-of-bounds", "the condition is the wrong way round",
              [("if N % B == 0:", "if N % B != 0:")]),
        Wrong("out-of-bounds", "it asks whether there is more than one "
              "block", [("if N % B == 0:", "if N >= B:")]),
        Wrong("unwritten", "the other path masks off the ragged block as a "
              "whole",
              [("if N % B == 0:", "if tl.program_id(0) * B + B <= N:"),
               ("offs < N", "offs < N // B * B")]),
        Wrong("verdict", "the last block begins at 96, and x ends at 99",
              verdict=dict(index=96)),
    ],
)
