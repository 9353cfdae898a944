from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, B):
    x = make.floats((M, N), low=0.1, high=0.9).values()
    for i in {0, M // 2}:
        x[i] = 20_000_000 * make.random.uniform(1, 1.5, N)
    return make.launch((cdiv(N, B),), M=M, N=N, B=B,
                       x_ptr=make.array(x, "fp32"),
                       z_ptr=make.output(N, work="fp64"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=100, N=40), dict(M=1, N=1), dict(M=300, N=20)],
    blocks=[dict(B=32), dict(B=16)],
    lines=10,
    forbid={"float64": "with it the sum would be easy, and slow"},
    allow=("precision",),
    hints=[
        "Two blocks are carried from row to row, one number for each column "
        "in both. The loop is over single rows, range(M).",
        "The four lines of the text go inside the loop, with x a row of B "
        "columns. Mind their order: lost is computed from the old total, so "
        "total itself changes last.",
        "for i in range(M): x = a load from x_ptr + i * N + j with mask and "
        "other=0; y = x - lost; t = total + y; lost = (t - total) - y; "
        "total = t.",
    ],
    solution='''
@triton.jit
def ledger(x_ptr, z_ptr, M, N, B: tl.constexpr):
    j = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    lost = tl.zeros([B], tl.float32)
    for i in range(M):
        x = tl.load(x_ptr + i * N + j, mask=j < N, other=0)
        y = x - lost
        t = total + y
        lost = (t - total) - y
        total = t
    tl.store(z_ptr + j, total, mask=j < N)
''',
    other='''
@triton.jit
def ledger(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # Neumaier: collect the losses, and add them once, at the end; this
    # holds for huge entries further down as well
    j = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    rest = tl.zeros([B], tl.float32)
    for i in range(M):
        x = tl.load(x_ptr + i * N + j, mask=j < N, other=0)
        t = total + x
        large = tl.where(tl.abs(total) >= tl.abs(x), total, x)
        small = tl.where(tl.abs(total) >= tl.abs(x), x, total)
        rest += (large - t) + small
        total = t
    tl.store(z_ptr + j, total + rest, mask=j < N)
''',
    after="A compiler that treats floating-point numbers as if they were "
          "real ones would remove all of this. Triton does not; and now you "
          "know why people ask.",
    wrong=[
        Wrong("value", "the plain sum", kernel='''
@triton.jit
def ledger(x_ptr, z_ptr, M, N, B: tl.constexpr):
    j = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for i in range(M):
        total += tl.load(x_ptr + i * N + j, mask=j < N, other=0)
    tl.store(z_ptr + j, total, mask=j < N)
'''),
        Wrong("value", "the first row is left for the end, as if it alone "
              "were huge", kernel='''
@triton.jit
def ledger(x_ptr, z_ptr, M, N, B: tl.constexpr):
    j = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for i in range(1, M):
        total += tl.load(x_ptr + i * N + j, mask=j < N, other=0)
    total += tl.load(x_ptr + j, mask=j < N, other=0)
    tl.store(z_ptr + j, total, mask=j < N)
'''),
        Wrong("value", "what was lost is added where it should be taken off",
              [("y = x - lost", "y = x + lost")]),
        Wrong("value", "total is assigned before lost is computed", [
            ("        lost = (t - total) - y\n        total = t\n",
             "        total = t\n        lost = (t - total) - y\n")]),
        Wrong("value", "what was lost is computed and not used",
              [("y = x - lost", "y = x")]),
        Wrong("value", "what was lost is summed up, though it has been taken "
              "off already", [("lost = (t", "lost += (t")]),
        Wrong("forbidden", "it sums in float64", [
            ("total = tl.zeros([B], tl.float32)",
             "total = tl.zeros([B], tl.float64)"),
            ("lost = tl.zeros([B], tl.float32)",
             "lost = tl.zeros([B], tl.float64)")]),
        Wrong("out-of-bounds", "the columns past the end are loaded",
              [("x_ptr + i * N + j, mask=j < N, other=0",
                "x_ptr + i * N + j")]),
    ],
)
