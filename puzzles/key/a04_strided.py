from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, stride, B):
    table = make.floats((N, stride), infinities="+-")
    return make.launch((cdiv(N, B),), N=N, stride=stride, B=B,
                       x_ptr=make.view(table, slice(None), 0),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100, stride=3), dict(N=50, stride=1),
           dict(N=300, stride=8)],
    blocks=[dict(B=32), dict(B=64)],
    lines=4,
    hints=[
        "i says which element; the mask is about i. Where that element lies "
        "in memory is another question.",
        "Element i of x is at x_ptr plus stride times i, element i of z at "
        "z_ptr plus i. The stride belongs to the whole index, not to the "
        "lane or to the block's start alone.",
        "With offs and mask as in a02, load from x_ptr + offs * stride and "
        "store to z_ptr + offs.",
    ],
    solution='''
@triton.jit
def gather_column(x_ptr, z_ptr, stride, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    x = tl.load(x_ptr + offs * stride, mask=mask)
    tl.store(z_ptr + offs, x, mask=mask)
''',
    after="Index first, address last: think, and mask, in indices, and let "
          "strides come in only where the pointer is made.",
    wrong=[
        Wrong("out-of-bounds", "the stride is not used",
              [("offs * stride", "offs")]),
        Wrong("out-of-bounds", "the stride is used for z as well",
              [("z_ptr + offs", "z_ptr + offs * stride")]),
        Wrong("unwritten", "the mask compares an address with a length",
              [("offs < N", "offs * stride < N")]),
        Wrong("out-of-bounds", "only the block's start is multiplied by the "
              "stride", [("offs * stride", "tl.program_id(0) * B * stride + "
                          "tl.arange(0, B)")]),
        Wrong("out-of-bounds", "only the lane is multiplied by the stride",
              [("offs * stride", "tl.program_id(0) * B + "
                "tl.arange(0, B) * stride")]),
    ],
)
