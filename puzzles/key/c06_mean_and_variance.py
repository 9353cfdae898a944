from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    return make.launch((M,), M=M, N=N, B=B,
                       x_ptr=make.floats((M, N), low=999.0, high=1001.0),
                       mean_ptr=make.output(M, terms=N),
                       var_ptr=make.output(M, terms=100 * N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=5, N=75), dict(M=3, N=1), dict(M=8, N=140)],
    blocks=[dict(B=32), dict(B=16)],
    lines=16,
    hints=[
        "First write what a single block needs, as if a row were one block. "
        "How many elements does the last block of a row have?",
        "The mean of a block is its sum by its own count, which is B or what "
        "is left of N. Lanes past the end add 0 to the sum; but their "
        "distance from the mean is not 0, so tl.where has to make it so. "
        "Then join by the four lines of the text, from n = mean = dist = 0.",
        "nb = tl.minimum(N - start, B); mb = tl.sum(x, 0) / nb; "
        "e = tl.where(j < N, x - mb, 0); d = mb - mean; dist += "
        "tl.sum(e * e, 0) + d * d * start * nb / (start + nb); "
        "mean += d * nb / (start + nb): start is how many came before.",
    ],
    solution='''
@triton.jit
def moments(x_ptr, mean_ptr, var_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    mean = 0.0
    dist = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=0)
        na = start.to(tl.float32)
        nb = tl.minimum(N - start, B).to(tl.float32)
        mb = tl.sum(x, 0) / nb
        e = tl.where(j < N, x - mb, 0)
        d = mb - mean
        n = na + nb
        dist += tl.sum(e * e, 0) + d * d * (na * nb / n)
        mean += d * (nb / n)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, dist / N)
''',
    other='''
@triton.jit
def moments(x_ptr, mean_ptr, var_ptr, M, N, B: tl.constexpr):
    # read twice: simple, and hard to get wrong
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=0)
        total += tl.sum(x, 0)
    mean = total / N
    dist = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N)
        e = tl.where(j < N, x - mean, 0)
        dist += tl.sum(e * e, 0)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, dist / N)
''',
    after="With blocks of one element this is Welford's method; that any two "
          "parts can be joined, in any grouping, is what makes it fit for "
          "blocks, for programs and for whole machines.",
    wrong=[
        Wrong("precision", "the mean of the squares minus the squared mean",
              kernel='''
@triton.jit
def moments(x_ptr, mean_ptr, var_ptr, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    squares = 0.0
    for start in range(0, N, B):
        j = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * N + j, mask=j < N, other=0)
        total += tl.sum(x, 0)
        squares += tl.sum(x * x, 0)
    mean = total / N
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, squares / N - mean * mean)
'''),
        Wrong("neutral", "lanes past the end are as far from the mean as 0",
              [("tl.where(j < N, x - mb, 0)", "x - mb")]),
        Wrong("value", "the last block is taken to be full",
              [("tl.minimum(N - start, B).to(tl.float32)", "B * 1.0")]),
        Wrong("value", "the distances between the blocks' means are left out",
              [("tl.sum(e * e, 0) + d * d * (na * nb / n)",
                "tl.sum(e * e, 0)")]),
        Wrong("value", "it divides by N - 1 instead of N",
              [("dist / N", "dist / tl.maximum(N - 1, 1)")]),
        Wrong("value", "the mean is the mean of the blocks' means",
              [("mean += d * (nb / n)", "mean += d * (B / (start + B))")]),
        Wrong("value", "the standard deviation is stored",
              [("dist / N", "tl.sqrt(dist / N)")]),
    ],
)
