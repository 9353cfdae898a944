from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, K, B):
    x, y = make.floats((M, K)), make.floats(K)
    size = abs(x.values()).max() * abs(y.values()).max()
    return make.launch((M,), K=K, B=B, x_ptr=x, y_ptr=y,
                       z_ptr=make.output(M, terms=K, scale=size))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=3, K=75), dict(M=2, K=1), dict(M=20, K=100)],
    blocks=[dict(B=32), dict(B=16)],
    lines=8,
    verdict=dict(line="for step in range", index=64),
    hints=[
        "The masks are right indeed. But does a mask for the last columns "
        "ever come into play?",
        "75 // 32 is 2: two whole blocks. Count the columns that two blocks "
        "have.",
        "Columns 64 to 74 belong to a third, ragged trip of the loop: "
        "range(tl.cdiv(K, B)).",
    ],
    solution=[("range(K // B)", "range(tl.cdiv(K, B))")],
    other='''
@triton.jit
def matvec(x_ptr, y_ptr, z_ptr, K, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, K, B):
        cols = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * K + cols, mask=cols < K, other=0.0)
        y = tl.load(y_ptr + cols, mask=cols < K, other=0.0)
        total += x * y
    tl.store(z_ptr + row, tl.sum(total, axis=0))
''',
    after="The number of trips is a cdiv as well. A mask in a loop that never "
          "reaches the ragged block is a sign that somebody thought of it, "
          "and stopped halfway.",
    wrong=[
        Wrong("value", "trips are counted from 1, so that the first block is "
              "left out",
              [("range(tl.cdiv(K, B))", "range(1, tl.cdiv(K, B))")]),
        Wrong("value", "rounded up, and then one trip less",
              [("range(tl.cdiv(K, B))", "range((K + B - 1) // B - 1)")]),
        Wrong("out-of-bounds", "the last trip is there, the mask is gone",
              [("row * K + cols, mask=cols < K, other=0.0",
                "row * K + cols"),
               ("y_ptr + cols, mask=cols < K, other=0.0", "y_ptr + cols")]),
        Wrong("undef", "the last trip is there, and its lanes hold nothing",
              [("row * K + cols, mask=cols < K, other=0.0",
                "row * K + cols, mask=cols < K"),
               ("y_ptr + cols, mask=cols < K, other=0.0",
                "y_ptr + cols, mask=cols < K")]),
        Wrong("verdict", "column 75 does not exist",
              verdict=dict(index=75)),
    ],
)
