from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N), low=-2.0, high=2.0).values()
    if make.regime == "large":
        x[-1] -= 500  # exp(x) is 0 in all of this row
    return make.launch((M,), M=M, N=N, B=B, x_ptr=make.array(x, "fp32"),
                       z_ptr=make.output((M, N), terms=2 * N + 500))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=75), dict(M=2, N=1), dict(M=8, N=200)],
    blocks=[dict(B=32), dict(B=16)],
    lines=16,
    hints=[
        "Write the three loops first, with what each one carries: a maximum, "
        "a sum, nothing. Then ask of every load what a lane past the end "
        "should be worth.",
        "A lane that holds minus infinity loses every maximum, and exp makes "
        "0 of it, which does not count in a sum. So one value of other= "
        "serves the first two loops. The third only stores, and a mask is "
        "enough.",
        "First loop: m = tl.maximum(m, tl.max(x, 0)), from m = "
        "float(\"-inf\"), with other=float(\"-inf\") in the load. Second: "
        "total += tl.sum(tl.exp(x - m), 0). Third: store "
        "tl.exp(x - m) / total.",
    ],
    solution='''
@triton.jit
def softmax(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0) * N
    lanes = tl.arange(0, B)
    m = float("-inf")
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
        m = tl.maximum(m, tl.max(x, 0))
    total = 0.0
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
        total += tl.sum(tl.exp(x - m), 0)
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N)
        tl.store(z_ptr + row + j, tl.exp(x - m) / total, mask=j < N)
''',
    other='''
@triton.jit
def softmax(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # each lane finds the maximum of its own columns, and a sum that fits
    # to it; lanes are brought together once, after the loop
    row = tl.program_id(0) * N
    lanes = tl.arange(0, B)
    m = tl.full([B], float("-inf"), tl.float32)
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
        m = tl.maximum(m, x)
    top = tl.max(m, 0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
        total += tl.exp(x - top)
    scale = 1 / tl.sum(total, 0)
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N)
        tl.store(z_ptr + row + j, tl.exp(x - top) * scale, mask=j < N)
''',
    after="There are published answers to exercises like this one that are "
          "10 % off: their missing lanes hold 0, and each adds exp(0 - m) to "
          "the sum. A wrong sum in every row looks like nothing at all.",
    wrong=[
        Wrong("inf", "the maximum is not subtracted", kernel='''
@triton.jit
def softmax(x_ptr, z_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0) * N
    lanes = tl.arange(0, B)
    total = 0.0
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
        total += tl.sum(tl.exp(x), 0)
    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N)
        tl.store(z_ptr + row + j, tl.exp(x) / total, mask=j < N)
'''),
        Wrong("undef", "the lanes past the end have no value", [
            ('x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))\n'
             '        total', 'x = tl.load(x_ptr + row + j, mask=j < N)\n'
             '        total')]),
        Wrong("neutral", "the lanes past the end are 0, and are summed as "
              "exp(-m)", [
                  ('mask=j < N, other=float("-inf"))\n        total',
                   'mask=j < N, other=0)\n        total')]),
        Wrong("nan", "the lanes past the end are 0, which is more than "
              "a negative score", [
                  ('mask=j < N, other=float("-inf"))\n        m =',
                   'mask=j < N, other=0)\n        m =')]),
        Wrong("nan", "the maximum is never below 0, so that exp of a very "
              "negative row is 0",
              [("m = float(\"-inf\")", "m = 0.0")]),
        Wrong("value", "the sum is that of the last block",
              [("total += tl.sum", "total = tl.sum")]),
        Wrong("inf", "the maximum is that of the last block",
              [("m = tl.maximum(m, tl.max(x, 0))", "m = tl.max(x, 0)")]),
        Wrong("value", "the weights are not divided by their sum",
              [("tl.exp(x - m) / total", "tl.exp(x - m)"),
               ("    total = 0.0\n", ""),
               ('''    for start in range(0, N, B):
        j = start + lanes
        x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
        total += tl.sum(tl.exp(x - m), 0)
''', "")]),
        Wrong("twice", "every program takes row 0",
              [("row = tl.program_id(0) * N", "row = 0")]),
    ],
)
