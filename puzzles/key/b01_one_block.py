from tkdbg.puzzles.manifest import Puzzle, Wrong


def launch(make, N, B):
    return make.launch((1,), N=N, B=B, c=2.5,
                       x_ptr=make.floats(N, infinities="+-"),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=500)],
    blocks=[dict(B=512), dict(B=1024)],
    lines=3,
    hints=[
        "The block has B lanes, whatever N is. What keeps the lanes behind "
        "N quiet?",
        "tl.arange(0, B) counts all lanes, and needs no program_id: there is "
        "only one program. Lanes that are not below N take no part in either "
        "access. A plain number such as c goes to every lane.",
        "offs = tl.arange(0, B); x is a load from x_ptr + offs with "
        "mask=offs < N; store x + c to z_ptr + offs with the same mask.",
    ],
    solution='''
@triton.jit
def add_constant(x_ptr, z_ptr, c, N, B: tl.constexpr):
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N)
    tl.store(z_ptr + offs, x + c, mask=offs < N)
''',
    after="Block sizes are chosen before a kernel is compiled, sizes of "
          "data when it runs. The mask is what joins the two; "
          "triton.next_power_of_2(N) is how the host usually finds such a B.",
    wrong=[
        Wrong("type", "the block is made as long as the vector, which no "
              "compiler can know",
              [("tl.arange(0, B)", "tl.arange(0, N)")]),
        Wrong("out-of-bounds", "the store alone is masked",
              [("x_ptr + offs, mask=offs < N", "x_ptr + offs")]),
        Wrong("out-of-bounds", "the mask lets one lane too many through",
              [("x_ptr + offs, mask=offs < N", "x_ptr + offs, "
                "mask=offs <= N")]),
        Wrong("value", "it adds c to one element and stores that everywhere",
              [("tl.load(x_ptr + offs, mask=offs < N)", "tl.load(x_ptr)")]),
        Wrong("type", "c is added to the pointer instead of the value",
              [("z_ptr + offs, x + c", "z_ptr + offs + c, x")]),
    ],
)
