from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    return make.launch((M,), N=N, B=B, eps=1e-5,
                       x_ptr=make.floats((M, N), "fp16", large=200.0),
                       res_ptr=make.floats((M, N), "fp16", large=200.0),
                       w_ptr=make.floats(N, "fp16", large=2.0),
                       r_ptr=make.output((M, N), "fp16"),
                       z_ptr=make.output((M, N), "fp16", terms=4))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, N=90), dict(M=2, N=1), dict(M=12, N=128)],
    blocks=[dict(B=32), dict(B=64)],
    lines=18,
    hints=[
        "The scale of a row is known only after its last element has been "
        "seen. What can be stored in the first pass already?",
        "Widen right after loading, .to(tl.float32), and let the store round "
        "again. Collect squares lane by lane, and sum the lanes once, after "
        "the loop.",
        "First loop: r = x + res in float32, store r, total += r * r. Then "
        "scale = tl.rsqrt(tl.sum(total, axis=0) / N + eps). Second loop: "
        "load x and res again, store (x + res) * scale * w.",
    ],
    solution='''
@triton.jit
def add_norm(x_ptr, res_ptr, w_ptr, r_ptr, z_ptr, N, eps, B: tl.constexpr):
    row = tl.program_id(0) * N
    total = tl.zeros([B], tl.float32)
    for start in range(0, N, B):
        cols = start + tl.arange(0, B)
        mask = cols < N
        x = tl.load(x_ptr + row + cols, mask=mask, other=0.0)
        res = tl.load(res_ptr + row + cols, mask=mask, other=0.0)
        r = x.to(tl.float32) + res.to(tl.float32)
        tl.store(r_ptr + row + cols, r, mask=mask)
        total += r * r
    scale = tl.rsqrt(tl.sum(total, axis=0) / N + eps)
    for start in range(0, N, B):
        cols = start + tl.arange(0, B)
        mask = cols < N
        x = tl.load(x_ptr + row + cols, mask=mask, other=0.0)
        res = tl.load(res_ptr + row + cols, mask=mask, other=0.0)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0)
        r = x.to(tl.float32) + res.to(tl.float32)
        tl.store(z_ptr + row + cols, r * scale * w, mask=mask)
''',
    after="Fusing is about traffic: the sum is not read again from memory by "
          "another kernel. Rounding r to halves before it is squared would "
          "be a little cheaper still, and a little different: say in the "
          "docstring which one it is.",
    wrong=[
        Wrong("value", "squares are kept in halves: they lose digits, and 300 "
              "squared does not fit",
              [("total = tl.zeros([B], tl.float32)",
                "total = tl.zeros([B], tl.float16)"),
               ("total += r * r",
                "total += r.to(tl.float16) * r.to(tl.float16)")]),
        Wrong("value", "the mean is that of whole blocks",
              [("tl.sum(total, axis=0) / N",
                "tl.sum(total, axis=0) / (tl.cdiv(N, B) * B)")]),
        Wrong("undef", "masked lanes are squared, too",
              [("        x = tl.load(x_ptr + row + cols, mask=mask, "
                "other=0.0)\n        res = tl.load(res_ptr + row + cols, "
                "mask=mask, other=0.0)\n        r = ",
                "        x = tl.load(x_ptr + row + cols, mask=mask)\n"
                "        res = tl.load(res_ptr + row + cols, mask=mask)\n"
                "        r = ")]),
        Wrong("value", "the residual is stored, and forgotten in the result",
              [("        w = tl.load(w_ptr + cols, mask=mask, other=0.0)\n"
                "        r = x.to(tl.float32) + res.to(tl.float32)\n",
                "        w = tl.load(w_ptr + cols, mask=mask, other=0.0)\n"
                "        r = x.to(tl.float32) + 0 * res.to(tl.float32)\n")]),
        Wrong("value", "only the last block's squares count",
              [("total += r * r", "total = r * r")]),
        Wrong("value", "the mean is subtracted first, as LayerNorm does",
              [("r * scale * w", "(r - tl.sum(r, axis=0) / N) * scale * w")
               ]),
    ],
)
