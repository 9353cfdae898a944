from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, M, N, K, B, BK):
    a, b = make.floats((M, K), "fp16"), make.floats((K, N), "fp16")
    size = abs(a.values()).max() * abs(b.values()).max()
    return make.launch((cdiv(M, B), cdiv(N, B)), M=M, N=N, K=K, B=B, BK=BK,
                       a_ptr=a, b_ptr=b,
                       z_ptr=make.output((M, N), terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=20, N=24, K=40), dict(M=3, N=5, K=1),
           dict(M=40, N=33, K=50)],
    blocks=[dict(B=16, BK=16), dict(B=32, BK=16)],
    lines=16,
    verdict=dict(line="b = tl.load(b_ptrs", index=16),
    hints=[
        "K=16 is one trip of the loop. Look at what the second trip loads: "
        "the picture shows it, or a breakpoint and 'print'.",
        "In each trip a block of a meets a block of b, and both have to "
        "move on: a by BK columns, b by BK rows. How many elements are "
        "BK rows?",
        "b is loaded at the same place in every trip, so that row 16 is "
        "never read. After a_ptrs += BK comes b_ptrs += BK * N.",
    ],
    solution=[("        a_ptrs += BK\n",
               "        a_ptrs += BK\n        b_ptrs += BK * N\n")],
    other='''
@triton.jit
def matmul(a_ptr, b_ptr, z_ptr, M, N, K, B: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * B + tl.arange(0, B))[:, None]
    cols = (tl.program_id(1) * B + tl.arange(0, B))[None, :]
    z = tl.zeros([B, B], tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        ak, bk = ks[None, :], ks[:, None]
        a = tl.load(a_ptr + rows * K + ak, (rows < M) & (ak < K), other=0.0)
        b = tl.load(b_ptr + bk * N + cols, (bk < K) & (cols < N), other=0.0)
        z = tl.dot(a, b, z)
    tl.store(z_ptr + rows * N + cols, z, (rows < M) & (cols < N))
''',
    after="Pointers that move are state, and state can be forgotten. "
          "Offsets that are computed from the loop's variable cannot: "
          "compilers turn them into moving pointers all the same.",
    wrong=[
        Wrong("value", "b moves on by BK elements, not by BK rows",
              [("b_ptrs += BK * N", "b_ptrs += BK")]),
        Wrong("value", "b moves on by the rows of a",
              [("b_ptrs += BK * N", "b_ptrs += BK * M")]),
        Wrong("out-of-bounds", "a moves on by the step of b as well",
              [("b_ptrs += BK * N", "b_ptrs += BK * N\n"
                "        a_ptrs += BK * N")]),
        Wrong("verdict", "row 15 is the last one that is read",
              verdict=dict(index=15)),
        Wrong("verdict", "a is read as it should be",
              verdict=dict(line="a = tl.load(a_ptrs")),
    ],
)
