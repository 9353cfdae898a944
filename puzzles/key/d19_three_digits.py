from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, K, B, BK):
    a, b = make.floats((M, K)), make.floats((K, N))
    size = abs(a.values()).max() * abs(b.values()).max()
    return make.launch((cdiv(M, B), cdiv(N, B)), M=M, N=N, K=K, B=B, BK=BK,
                       a_ptr=a, b_ptr=b,
                       z_ptr=make.output((M, N), terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=24, K=40), dict(M=3, N=5, K=1),
           dict(M=40, N=33, K=50)],
    blocks=[dict(B=16, BK=16), dict(B=32, BK=16)],
    lines=13,
    verdict=dict(line="z = tl.dot(a, b, z)", index=10),
    hints=[
        "Which of these operations is done by a unit of its own in the GPU, "
        "one that was built for speed?",
        "Tensor cores take float32 operands, and by default round them to "
        "tf32 on the way in: the range of float32, the fraction of fp16. "
        "The product can be asked for something better.",
        "tf32 keeps 10 bits. Write z = tl.dot(a, b, z, "
        "input_precision=\"ieee\").",
    ],
    solution=[("tl.dot(a, b, z)", 'tl.dot(a, b, z, input_precision="ieee")')],
    other='''
@triton.jit
def matmul(a_ptr, b_ptr, z_ptr, M, N, K, B: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    z = tl.zeros([B, B], tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows < M)[:, None] & (ks < K)[None, :], other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                    mask=(ks < K)[:, None] & (cols < N)[None, :], other=0.0)
        z = tl.dot(a, b, z, input_precision="tf32x3")
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(z_ptr + rows[:, None] * N + cols[None, :], z, mask=mask)
''',
    after="tf32 is the default for float32 in tl.dot: ten times as fast, and "
          "good for three digits. \"tf32x3\" lies between: three products "
          "instead of one, and nearly all digits back.",
    wrong=[
        Wrong("value", "tf32 is asked for by its name",
              [('input_precision="ieee"', 'input_precision="tf32"')]),
        Wrong("value", "the operands are cut down to fp16 first",
              [('tl.dot(a, b, z, input_precision="ieee")',
                'tl.dot(a.to(tl.float16), b.to(tl.float16), z)')]),
        Wrong("value", "a better accumulator does not bring operands back",
              [('z = tl.dot(a, b, z, input_precision="ieee")',
                'z = z + tl.dot(a, b).to(tl.float32)')]),
        Wrong("verdict", "23 bits are what float32 has",
              verdict=dict(index=23)),
    ],
)
