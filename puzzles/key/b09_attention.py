from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, T, BQ, BK):
    values, keys = make.floats(T), make.floats(T, large=4.0).values()
    if make.regime == "large":
        keys += 10  # all scores of a question have the same sign
    size = abs(values.values()).max()
    return make.launch((cdiv(T, BQ),), T=T, BQ=BQ, BK=BK,
                       q_ptr=make.floats(T, large=30.0),
                       k_ptr=make.array(keys, "fp32"), v_ptr=values,
                       z_ptr=make.output(T, terms=10 * T + 2000, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(T=75), dict(T=1), dict(T=130)],
    blocks=[dict(BQ=16, BK=32), dict(BQ=32, BK=16)],
    lines=18,
    hints=[
        "Start from b07: a block of rows, a loop over columns, something "
        "that is carried. Here three things of shape [BQ] are carried; write "
        "down what each of them must be after the first block only, and then "
        "after the second.",
        "With m the old maximum and m_new the larger of m and the block's: "
        "weights are exp(s - m_new), and what was summed before is worth "
        "exp(m - m_new) times as much as it was. Keys past the end need the "
        "score minus infinity; give it to them by tl.where after the "
        "product.",
        "alpha = tl.exp(m - m_new); p = tl.exp(s - m_new[:, None]); "
        "total = total * alpha + tl.sum(p, 1); acc = acc * alpha + "
        "tl.sum(p * v[None, :], 1); m = m_new. At the end z = acc / total.",
    ],
    solution='''
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, T, BQ: tl.constexpr,
              BK: tl.constexpr):
    i = tl.program_id(0) * BQ + tl.arange(0, BQ)
    q = tl.load(q_ptr + i, mask=i < T, other=0)
    m = tl.full([BQ], float("-inf"), tl.float32)
    total = tl.zeros([BQ], tl.float32)
    acc = tl.zeros([BQ], tl.float32)
    for start in range(0, T, BK):
        j = start + tl.arange(0, BK)
        k = tl.load(k_ptr + j, mask=j < T, other=0)
        v = tl.load(v_ptr + j, mask=j < T, other=0)
        s = q[:, None] * k[None, :]
        s = tl.where((j < T)[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new[:, None])
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha + tl.sum(p * v[None, :], 1)
        m = m_new
    tl.store(z_ptr + i, acc / total, mask=i < T)
''',
    after="Three numbers per question instead of T scores: that is why "
          "attention over a million tokens fits into a GPU at all. The same "
          "rescaling returns in every online algorithm.",
    wrong=[
        Wrong("value", "the weighted sum is not rescaled when the maximum "
              "grows", [("acc = acc * alpha + ", "acc = acc + ")]),
        Wrong("value", "the sum of the weights is not rescaled",
              [("total = total * alpha + ", "total = total + ")]),
        Wrong("nan", "the factor is upside down",
              [("tl.exp(m - m_new)", "tl.exp(m_new - m)")]),
        Wrong("value", "keys past the end have the score 0, and take part",
              [('        s = tl.where((j < T)[None, :], s, float("-inf"))\n',
                "")]),
        Wrong("inf", "no maximum is subtracted", kernel='''
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, T, BQ: tl.constexpr,
              BK: tl.constexpr):
    i = tl.program_id(0) * BQ + tl.arange(0, BQ)
    q = tl.load(q_ptr + i, mask=i < T, other=0)
    total = tl.zeros([BQ], tl.float32)
    acc = tl.zeros([BQ], tl.float32)
    for start in range(0, T, BK):
        j = start + tl.arange(0, BK)
        k = tl.load(k_ptr + j, mask=j < T, other=0)
        v = tl.load(v_ptr + j, mask=j < T, other=0)
        p = tl.exp(q[:, None] * k[None, :])
        p = tl.where((j < T)[None, :], p, 0)
        total += tl.sum(p, 1)
        acc += tl.sum(p * v[None, :], 1)
    tl.store(z_ptr + i, acc / total, mask=i < T)
'''),
        Wrong("nan", "the maximum is never below 0, so that all weights of "
              "very negative scores are 0",
              [("m = tl.full([BQ], float(\"-inf\"), tl.float32)",
                "m = tl.zeros([BQ], tl.float32)")]),
        Wrong("value", "the maximum is not carried on",
              [("        m = m_new\n", "")]),
        Wrong("undef", "values past the end are undefined, and 0 times them "
              "is as well", [("v = tl.load(v_ptr + j, mask=j < T, other=0)",
                              "v = tl.load(v_ptr + j, mask=j < T)")]),
        Wrong("value", "it averages the values, whatever the scores are",
              [("s = q[:, None] * k[None, :]",
                "s = q[:, None] * k[None, :] * 0")]),
    ],
)
