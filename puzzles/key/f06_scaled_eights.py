from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, K, G, BM, BN):
    a = make.floats((M, K), "fp8e4nv", low=-2.0, high=2.0)
    b = make.floats((K, N), "fp8e4nv", low=-2.0, high=2.0)
    sa = make.floats((M, cdiv(K, G)), low=0.1, high=2.0, large=3.0)
    sb = make.floats((cdiv(K, G), cdiv(N, G)), low=0.1, high=2.0, large=3.0)
    size = 1.0
    for x in (a, b, sa, sb):
        size *= abs(x.values()).max()
    return make.launch((cdiv(M, BM), cdiv(N, BN)), M=M, N=N, K=K, G=G, BM=BM,
                       BN=BN, a_ptr=a, sa_ptr=sa, b_ptr=b, sb_ptr=sb,
                       z_ptr=make.output((M, N), terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=70, K=80, G=32), dict(M=3, N=1, K=5, G=32),
           dict(M=40, N=33, K=96, G=32)],
    blocks=[dict(BM=16, BN=64), dict(BM=32, BN=16)],
    lines=22,
    hints=[
        "If the scales were the same for all of K, they could wait until "
        "after the loop. What is the longest stretch over which they are?",
        "One trip of the loop is one group: tl.dot of a block of G columns "
        "of a and G rows of b, then a column of scales times a row of "
        "scales. Columns of one block may belong to several groups: the row "
        "of scales is loaded by cols // G.",
        "for g in range(tl.cdiv(K, G)): ... z += tl.dot(a, b) * sa[:, None] "
        "* sb[None, :], where sa comes from sa_ptr + rows * KG + g and sb "
        "from sb_ptr + g * NG + cols // G.",
    ],
    solution='''
@triton.jit
def scaled_matmul(a_ptr, sa_ptr, b_ptr, sb_ptr, z_ptr, M, N, K,
                  G: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    groups = tl.cdiv(K, G)
    col_groups = tl.cdiv(N, G)
    z = tl.zeros([BM, BN], tl.float32)
    for g in range(groups):
        ks = g * G + tl.arange(0, G)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows < M)[:, None] & (ks < K)[None, :], other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                    mask=(ks < K)[:, None] & (cols < N)[None, :], other=0.0)
        sa = tl.load(sa_ptr + rows * groups + g, mask=rows < M, other=0.0)
        sb = tl.load(sb_ptr + g * col_groups + cols // G, mask=cols < N,
                     other=0.0)
        z += tl.dot(a, b) * sa[:, None] * sb[None, :]
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(z_ptr + rows[:, None] * N + cols[None, :], z, mask=mask)
''',
    after="Tensor cores add float8 products with fewer bits than float32 "
          "has; to take the sum out of them after every group, as here, is "
          "not only needed for the scales, it also keeps the digits.",
    wrong=[
        Wrong("value", "the first group's scales are used for all",
              [("sa_ptr + rows * groups + g", "sa_ptr + rows * groups")]),
        Wrong("value", "the scales wait for the end of the sum",
              [("z += tl.dot(a, b) * sa[:, None] * sb[None, :]",
                "z = (z + tl.dot(a, b)) * sa[:, None] * sb[None, :]")]),
        Wrong("value", "a block of columns has one scale, which holds for "
              "blocks as wide as a group",
              [("cols // G, mask=cols < N,",
                "tl.program_id(1) * BN // G + cols * 0, mask=cols < N,")]),
        Wrong("out-of-bounds", "the scales of b have a row for each column",
              [("g * col_groups + cols // G", "g * N + cols")]),
        Wrong("value", "the scaled operands are rounded to eight bits again",
              [("z += tl.dot(a, b) * sa[:, None] * sb[None, :]",
                "a = (a.to(tl.float32) * sa[:, None]).to(tl.float8e4nv)\n"
                "        z += tl.dot(a, b) * sb[None, :]")]),
        Wrong("value", "groups that are not whole are left out",
              [("for g in range(groups)", "for g in range(K // G)")]),
    ],
)
