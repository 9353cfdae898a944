from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, N, B):
    return make.launch((4,), N=N, B=B,
                       x_ptr=make.floats(N, low=-2.0, high=2.0,
                                         infinities="+-"),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=99), dict(N=1), dict(N=1002)],
    blocks=[dict(B=16), dict(B=64)],
    lines=8,
    verdict=dict(kind="unwritten", line="share = N // tl", index=96),
    hints=[
        "4,096 can be divided by 4, and 99 cannot. Add up what the four "
        "programs do.",
        "The shares are rounded down, so that together they are too short. "
        "Round up instead; but mind what the last program's share then "
        "reaches.",
        "24 elements for each of 4 programs are 96: element 96 is the first "
        "that is unwritten. share = tl.cdiv(N, tl.num_programs(0)), and "
        "last = tl.minimum(first + share, N).",
    ],
    solution=[
        ("share = N // tl.num_programs(0)",
         "share = tl.cdiv(N, tl.num_programs(0))"),
        ("last = first + share", "last = tl.minimum(first + share, N)"),
    ],
    after="Whatever is shared out is rounded up, and the last one's share is "
          "cut off. The same holds for a grid: triton.cdiv(N, B), never "
          "N // B.",
    wrong=[
        Wrong("out-of-bounds", "rounded up, but the last share is not cut "
              "off", [("last = tl.minimum(first + share, N)",
                       "last = first + share")]),
        Wrong("unwritten", "cut off, but still rounded down",
              [("share = tl.cdiv(N, tl.num_programs(0))",
                "share = N // tl.num_programs(0)")]),
        Wrong("twice", "every program goes on to the end",
              [("last = tl.minimum(first + share, N)", "last = N")]),
        Wrong("verdict", "99 is the length, not the first element that is "
              "left out", verdict=dict(index=99)),
        Wrong("verdict", "nothing is touched out of bounds",
              verdict=dict(kind="out-of-bounds")),
    ],
)
