import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, M, K, B):
    readings = make.floats((M, K), low=0.0, high=1.0, large=5.0).values()
    noon = np.where(np.arange(K) < K // 8, 100.0, 0.1)
    return make.launch((M,), K=K, B=B,
                       x_ptr=make.array(readings * noon, "fp16"),
                       z_ptr=make.output(M, terms=K))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(M=2, K=3000), dict(M=2, K=1), dict(M=3, K=4000)],
    blocks=[dict(B=32), dict(B=16)],
    lines=6,
    verdict=dict(kind="precision",
                 line=["total += tl.load", "total = tl.zeros"]),
    hints=[
        "How far are the numbers of fp16 from each other near 1? And near "
        "600?",
        "The numbers that are added have few digits, and that is fine. But "
        "the sum has no more: near 600 fp16 knows only every half of a "
        "unit, and a small reading is rounded away.",
        "The running sum loses precision. Keep it in tl.float32: "
        "total = tl.zeros([B], tl.float32).",
    ],
    solution=[("tl.zeros([B], tl.float16)", "tl.zeros([B], tl.float32)")],
    after="Store in halves, add in floats. A sum of n numbers needs about "
          "log2(n) bits more than each of them has.",
    wrong=[
        Wrong("precision", "each reading is widened, the sum is not",
              [("tl.zeros([B], tl.float32)", "tl.zeros([B], tl.float16)"),
               ("total += tl.load(x_ptr + row * K + cols, mask=cols < K, "
                "other=0.0)",
                "x = tl.load(x_ptr + row * K + cols, mask=cols < K, "
                "other=0.0)\n        total = (total + x.to(tl.float32))"
                ".to(tl.float16)")]),
        Wrong("value", "bfloat16 reaches farther, with fewer digits",
              [("tl.zeros([B], tl.float32)", "tl.zeros([B], tl.bfloat16)"),
               ("mask=cols < K, other=0.0)",
                "mask=cols < K, other=0.0).to(tl.bfloat16)")]),
        Wrong("value", "the lanes are right, and their sum is rounded to "
              "half", [("total.to(tl.float32)", "total.to(tl.float16)")]),
        Wrong("verdict", "the last line rounds once, and not by much",
              verdict=dict(line="tl.store(z_ptr")),
    ],
)
