from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, T, D, BM, BN, BD):
    v = make.floats((T, D))
    return make.launch((cdiv(T, BM),), T=T, D=D, BM=BM, BN=BN, BD=BD,
                       scale=0.5, q_ptr=make.floats((T, D), large=4.0),
                       k_ptr=make.floats((T, D), large=4.0), v_ptr=v,
                       z_ptr=make.output((T, D), terms=T * D,
                                         scale=abs(v.values()).max()))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(T=45, D=10), dict(T=1, D=1), dict(T=70, D=16)],
    blocks=[dict(BM=16, BN=16, BD=16), dict(BM=16, BN=32, BD=32),
            dict(BM=32, BN=16, BD=16)],
    lines=28,
    hints=[
        "First think of one query: it is d17, with a vector of values in "
        "place of a number. A block of queries has a maximum, a sum and a "
        "shrinking factor for each row.",
        "Scores that a query may not see are minus infinity, before the "
        "maximum is taken; those of keys beyond T likewise. Key 0 is seen by "
        "every query, so that no row of the first block is empty.",
        "for start in range(0, tl.minimum(T, (pid + 1) * BM), BN): s = "
        "tl.dot(q, tl.trans(k)) * scale; s = tl.where(keys[None, :] <= "
        "rows[:, None], s, float('-inf')); then as in d17, with acc * "
        "shrink[:, None].",
    ],
    solution='''
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, scale, T, D, BM: tl.constexpr,
              BN: tl.constexpr, BD: tl.constexpr):
    pid = tl.program_id(0)
    rows = pid * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    offs = rows[:, None] * D + d[None, :]
    mask = (rows < T)[:, None] & (d < D)[None, :]
    q = tl.load(q_ptr + offs, mask=mask, other=0.0)
    largest = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BD], tl.float32)
    for start in range(0, tl.minimum(T, (pid + 1) * BM), BN):
        keys = start + tl.arange(0, BN)
        k_offs = keys[:, None] * D + d[None, :]
        k_mask = (keys < T)[:, None] & (d < D)[None, :]
        k = tl.load(k_ptr + k_offs, mask=k_mask, other=0.0)
        v = tl.load(v_ptr + k_offs, mask=k_mask, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (keys[None, :] <= rows[:, None]) & (keys < T)[None, :]
        s = tl.where(seen, s, float("-inf"))
        higher = tl.maximum(largest, tl.max(s, axis=1))
        shrink = tl.exp(largest - higher)
        w = tl.exp(s - higher[:, None])
        total = total * shrink + tl.sum(w, axis=1)
        acc = acc * shrink[:, None]
        acc = tl.dot(w, v, acc, input_precision="ieee")
        largest = higher
    tl.store(z_ptr + offs, acc / total[:, None], mask=mask)
''',
    after="This is the kernel that made long contexts affordable. What is left "
          "are refinements: blocks below the diagonal need no mask, exp2 is "
          "cheaper than exp, and products of halves are faster.",
    wrong=[
        Wrong("value", "everybody sees the future: only keys beyond T are "
              "masked",
              [("        s = tl.where(seen, s, float(\"-inf\"))\n", ""),
               ("        total = total * shrink",
                "        w = tl.where(keys[None, :] < T, w, 0.0)\n"
                "        total = total * shrink")]),
        Wrong("value", "nobody sees itself: the diagonal is masked off",
              [("keys[None, :] <= rows[:, None]",
                "keys[None, :] < tl.maximum(rows, 1)[:, None]")]),
        Wrong("value", "the weighted sum does not shrink",
              [("        acc = acc * shrink[:, None]\n", "")]),
        Wrong("value", "the loop ends before the block with the diagonal",
              [("tl.minimum(T, (pid + 1) * BM)",
                "tl.minimum(T, tl.maximum(pid * BM, 1))")]),
        Wrong("value", "scores are rounded to tf32 on their way in",
              [("tl.dot(q, tl.trans(k), input_precision=\"ieee\")",
                "tl.dot(q, tl.trans(k))")]),
        Wrong("nan", "scores are masked by infinity, not by minus infinity",
              [("tl.where(seen, s, float(\"-inf\"))",
                "tl.where(seen, s, float(\"inf\"))")]),
        Wrong("value", "the scale is applied twice",
              [("s - higher[:, None]", "scale * (s - higher[:, None])")]),
    ],
)
