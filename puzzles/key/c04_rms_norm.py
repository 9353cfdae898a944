from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, N, B):
    x = make.floats((M, N), "fp16", low=-60.0, high=60.0, large=10.0)
    x = x.values()
    x[0] = 0
    return make.launch((M,), M=M, N=N, B=B, eps=0.001,
                       x_ptr=make.array(x, "fp16"),
                       w_ptr=make.floats(N, "fp16", large=10.0),
                       z_ptr=make.output((M, N), "fp16", terms=N),
                       r_ptr=make.output(M, terms=N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=5, N=100), dict(M=3, N=1), dict(M=8, N=200)],
    blocks=[dict(B=256), dict(B=512)],
    lines=8,
    hints=[
        "There is no loop: one row, one block, one sum. Where do lanes past "
        "the end matter, and what should they hold?",
        "Convert x right after the load, before anything is multiplied. "
        "Lanes past N hold 0, so that their squares do not count; then "
        "divide the sum by N, not by how many lanes there are.",
        "x = tl.load(..., other=0).to(tl.float32); "
        "r = tl.sqrt(tl.sum(x * x, 0) / N + eps); store x * w / r, and r.",
    ],
    solution='''
@triton.jit
def rms_norm(x_ptr, w_ptr, z_ptr, r_ptr, eps, M, N, B: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, B)
    mask = j < N
    x = tl.load(x_ptr + i * N + j, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + j, mask=mask).to(tl.float32)
    r = tl.sqrt(tl.sum(x * x, 0) / N + eps)
    tl.store(z_ptr + i * N + j, x * w / r, mask=mask)
    tl.store(r_ptr + i, r)
''',
    after="Load narrow, compute wide, store narrow: conversions cost next to "
          "nothing, because the kernel waits for memory anyway.",
    wrong=[
        Wrong("inf", "the squares are summed in halves",
              [("other=0).to(tl.float32)", "other=0)")]),
        Wrong("value", "the mean is taken over all lanes of the block",
              [("tl.sum(x * x, 0) / N", "tl.sum(x * x, 0) / B")]),
        Wrong("nan", "eps is left out: a row of zeros is divided by 0",
              [(" / N + eps", " / N")]),
        Wrong("value", "it divides by the mean square, without the root",
              [("tl.sqrt(tl.sum(x * x, 0) / N + eps)",
                "tl.sum(x * x, 0) / N + eps")]),
        Wrong("value", "the whole row is scaled by one weight",
              [("w_ptr + j, mask=mask", "w_ptr + i % N")]),
        Wrong("undef", "the lanes past the end are summed, but have no value",
              [("mask=mask, other=0)", "mask=mask)")]),
        Wrong("value", "the weights are left out",
              [("x * w / r", "x / r"),
               ("    w = tl.load(w_ptr + j, mask=mask).to(tl.float32)\n",
                "")]),
    ],
)
