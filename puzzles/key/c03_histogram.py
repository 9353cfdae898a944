from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, K, B, BK):
    return make.launch((cdiv(K, BK),), N=N, K=K, B=B, BK=BK,
                       x_ptr=make.ints(N, 0, K),
                       z_ptr=make.output(K, "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100, K=20), dict(N=1, K=1), dict(N=300, K=50)],
    blocks=[dict(B=32, BK=16), dict(B=64, BK=8)],
    lines=8,
    forbid={"atomic_add": "each counter has but one owner, who needs none",
            "atomic_xchg": "each counter has but one owner, who needs none"},
    hints=[
        "Begin with the program's own numbers, k = program_id * BK + a "
        "block of lanes, and with as many zeros. Then walk along x.",
        "x[:, None] == k[None, :] is a table of true and false, B by BK. "
        "What has to be added to the counters is its sum down the columns. "
        "A lane past the end of x must not look like any number that is "
        "counted; 0 is one of them.",
        "x is loaded with mask=i < N, other=-1; "
        "count += tl.sum((x[:, None] == k[None, :]).to(tl.int32), 0); store "
        "count to z_ptr + k, masked by k < K.",
    ],
    solution='''
@triton.jit
def histogram(x_ptr, z_ptr, N, K, B: tl.constexpr, BK: tl.constexpr):
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    count = tl.zeros([BK], tl.int32)
    for start in range(0, N, B):
        i = start + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < N, other=-1)
        hit = x[:, None] == k[None, :]
        count += tl.sum(hit.to(tl.int32), 0)
    tl.store(z_ptr + k, count, mask=k < K)
''',
    other='''
@triton.jit
def histogram(x_ptr, z_ptr, N, K, B: tl.constexpr, BK: tl.constexpr):
    # tl.histogram counts 0 to BK - 1: move the numbers there, and mask off
    # those that another program counts
    first = tl.program_id(0) * BK
    count = tl.zeros([BK], tl.int32)
    for start in range(0, N, B):
        i = start + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < N, other=-1) - first
        count += tl.histogram(x, BK, mask=(x >= 0) & (x < BK))
    k = first + tl.arange(0, BK)
    tl.store(z_ptr + k, count, mask=k < K)
''',
    after="Who owns the result decides who must be careful. If programs own "
          "counters, nothing is shared; the price is that all of them read all "
          "of x. Track e makes the opposite choice.",
    wrong=[
        Wrong("value", "lanes past the end are 0, and are counted as such",
              [("other=-1", "other=0")]),
        Wrong("undef", "lanes past the end are counted, but have no value",
              [(", other=-1", "")]),
        Wrong("twice", "every program counts the first numbers",
              [("tl.program_id(0) * BK + ", "")]),
        Wrong("value", "only the last block of x counts",
              [("count += ", "count = ")]),
        Wrong("shape", "the table is summed along its rows",
              [("hit.to(tl.int32), 0)", "hit.to(tl.int32), 1)")]),
        Wrong("value", "the loop leaves out the block that is not full",
              [("range(0, N, B)", "range(0, N // B * B, B)")]),
        Wrong("out-of-bounds", "the counters past K are stored as well",
              [(", mask=k < K", "")]),
        Wrong("forbidden", "programs share the counters", kernel='''
@triton.jit
def histogram(x_ptr, z_ptr, N, K, B: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < N)
    tl.atomic_add(z_ptr + x, 1, mask=i < N)
'''),
    ],
)
