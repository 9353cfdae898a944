import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, S, L, D, P, BD):
    lengths = make.random.integers(1, L * P + 1, S)
    lengths[0] = min(lengths[0], max(L * P - 3, 1))
    pages = S * L + 2
    cache = make.floats((pages, P, D), large=4.0).values()
    values = make.floats((pages, P, D)).values()
    table = make.random.permutation(pages)[:S * L].reshape(S, L)
    for b, n in enumerate(lengths):
        used = cdiv(n, P)
        last = table[b, used - 1]
        cache[last, n - (used - 1) * P:] = np.nan
        values[last, n - (used - 1) * P:] = np.nan
        table[b, used:] = 10**8
    return make.launch((S,), L=L, D=D, P=P, BD=BD, scale=0.5,
                       q_ptr=make.floats((S, D), large=4.0),
                       k_ptr=make.array(cache, "fp32"),
                       v_ptr=make.array(values, "fp32"),
                       table_ptr=make.array(table, "int32"),
                       n_ptr=make.array(lengths, "int32"),
                       z_ptr=make.output((S, D), terms=L * P * D,
                                         scale=np.nanmax(abs(values))))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(S=4, L=3, D=10), dict(S=1, L=1, D=1),
           dict(S=8, L=5, D=16)],
    blocks=[dict(P=16, BD=16), dict(P=8, BD=32)],
    lines=24,
    hints=[
        "For each page there is one more load than you would expect: first "
        "the number of the page, then the page.",
        "Rows of a page that do not exist hold anything, NaN included, and "
        "zero times NaN is NaN. Mask the loads, with other=0.0, and the "
        "scores, with minus infinity.",
        "n = tl.load(n_ptr + b); for i in range(tl.cdiv(n, P)): page = "
        "tl.load(table_ptr + b * L + i); rows i * P + tl.arange(0, P) are "
        "valid below n; their offsets in the cache are (page * P + "
        "tl.arange(0, P))[:, None] * D + d[None, :].",
    ],
    solution='''
@triton.jit
def decode(q_ptr, k_ptr, v_ptr, table_ptr, n_ptr, z_ptr, scale, L, D,
           P: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, BD)
    n = tl.load(n_ptr + b)
    q = tl.load(q_ptr + b * D + d, mask=d < D, other=0.0)
    largest = float("-inf")
    total = 0.0
    acc = tl.zeros([BD], tl.float32)
    for i in range(tl.cdiv(n, P)):
        page = tl.load(table_ptr + b * L + i)
        slots = tl.arange(0, P)
        valid = i * P + slots < n
        offs = (page * P + slots)[:, None] * D + d[None, :]
        mask = valid[:, None] & (d < D)[None, :]
        k = tl.load(k_ptr + offs, mask=mask, other=0.0)
        v = tl.load(v_ptr + offs, mask=mask, other=0.0)
        s = tl.sum(k * q[None, :], axis=1) * scale
        s = tl.where(valid, s, float("-inf"))
        higher = tl.maximum(largest, tl.max(s, axis=0))
        shrink = tl.exp(largest - higher)
        w = tl.exp(s - higher)
        total = total * shrink + tl.sum(w, axis=0)
        acc = acc * shrink + tl.sum(w[:, None] * v, axis=0)
        largest = higher
    tl.store(z_ptr + b * D + d, acc / total, mask=d < D)
''',
    after="What a table of pages costs is one small load for each page. What "
          "it buys is that memory is never moved, and never reserved for "
          "text that is not written.",
    wrong=[
        Wrong("out-of-bounds",
              "every entry of the table is followed, even those behind the "
              "last page",
              [("range(tl.cdiv(n, P))", "range(L)"),
               ("        valid = i * P + slots < n\n",
                "        valid = slots < P\n")]),
        Wrong("value", "rows behind the last one are loaded: NaN times "
              "zero",
              [("mask = valid[:, None] & (d < D)[None, :]",
                "mask = (slots < P)[:, None] & (d < D)[None, :]")]),
        Wrong("value", "rows behind the last one have the score 0",
              [("        s = tl.where(valid, s, float(\"-inf\"))\n", "")]),
        Wrong("value", "pages are taken one after the other, without a "
              "table", [("page = tl.load(table_ptr + b * L + i)",
                         "page = b * L + i")]),
        Wrong("out-of-bounds", "the table's number is taken for a row",
              [("(page * P + slots)", "(page * P * D + slots)")]),
        Wrong("value", "the values do not shrink",
              [("acc * shrink + tl", "acc + tl")]),
    ],
)
