from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       w_ptr=make.ints(N, -2**31, 2**31),
                       z_ptr=make.output(8 * N, "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=50), dict(N=1), dict(N=300)],
    blocks=[dict(B=32), dict(B=64)],
    lines=7,
    regimes=("uniform", "special"),
    verdict=dict(kind=["lint-shift", "value"], line="top = w >> 28"),
    hints=[
        "A weight of 9 in the last place: write down the 32 bits of w, and "
        "what the last shift makes of them. What comes in from the left?",
        "int32 has a sign, which is its topmost bit, and a shift to the right "
        "repeats it. Where the last weight is 8 or more, w is negative.",
        "It is lint-shift. Keep the mask: top = (w >> 28) & 15; or shift a "
        "uint32, into which zeros come.",
    ],
    solution=[("top = w >> 28", "top = (w >> 28) & 15")],
    other='''
@triton.jit
def unpack(w_ptr, z_ptr, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    w = tl.load(w_ptr + i, mask=i < N, other=0)
    k = tl.arange(0, 8)[None, :]
    z = (w[:, None] >> (4 * k)) & 15
    tl.store(z_ptr + 8 * i[:, None] + k, z, mask=(i < N)[:, None])
''',
    after="Bits that are not a number had better be unsigned. Most packed "
          "formats come as int32, because PyTorch had nothing else.",
    wrong=[
        Wrong("value", "the mask is one bit too short",
              [("top = (w >> 28) & 15", "top = (w >> 28) & 7")]),
        Wrong("value", "the sign is taken away from the number, not from "
              "the bits", [("top = (w >> 28) & 15",
                            "top = tl.abs(w >> 28)")]),
        Wrong("value", "the mask comes before the shift",
              [("top = (w >> 28) & 15", "top = (w & 15) >> 28")]),
        Wrong("verdict", "there the mask is right",
              verdict=dict(line="low = (w >> (4 * k)) & 15")),
    ],
)
