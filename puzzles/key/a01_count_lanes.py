from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, first, step, B):
    return make.launch((1,), first=first, step=step, B=B,
                       z_ptr=make.output(B, "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(first=100, step=7), dict(first=0, step=1),
           dict(first=-5000, step=-321)],
    blocks=[dict(B=32), dict(B=8)],
    lines=2,
    forbid={"for": "one block holds all the marks",
            "while": "one block holds all the marks"},
    hints=[
        "You need two blocks: where each lane writes, and what it writes. "
        "Both are made from the lane's number.",
        "Give tl.arange(0, B) a name. Times step, plus first, it is the "
        "values; added to z_ptr, it is the pointers.",
        "lanes = tl.arange(0, B); then a tl.store to z_ptr + lanes of "
        "first + step * lanes.",
    ],
    solution='''
@triton.jit
def ruler(z_ptr, first, step, B: tl.constexpr):
    lanes = tl.arange(0, B)
    tl.store(z_ptr + lanes, first + step * lanes)
''',
    after="No loop: the block is the loop. Whatever you write for one lane "
          "happens in all of them.",
    wrong=[
        Wrong("value", "the step is left out",
              [("first + step * lanes", "first + lanes")]),
        Wrong("value", "first is multiplied by the lane as well",
              [("first + step * lanes", "(first + step) * lanes")]),
        Wrong("value", "every lane stores the first mark",
              [("first + step * lanes", "first")]),
        Wrong("out-of-bounds", "lanes are counted from 1",
              [("tl.arange(0, B)", "tl.arange(1, B + 1)")]),
        Wrong("out-of-bounds", "the step stretches the places as well",
              [("z_ptr + lanes", "z_ptr + step * lanes")]),
        Wrong("forbidden", "it counts one number at a time", kernel='''
@triton.jit
def ruler(z_ptr, first, step, B: tl.constexpr):
    for i in range(B):
        tl.store(z_ptr + i, first + step * i)
'''),
        Wrong("shape", "a block is stored through a single pointer",
              [("z_ptr + lanes", "z_ptr")]),
    ],
)
