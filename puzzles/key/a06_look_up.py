from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, K, B):
    return make.launch((cdiv(N, B),), N=N, K=K, B=B,
                       index_ptr=make.ints(N, 0, K),
                       table_ptr=make.floats(K, infinities="+-"),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100, K=17), dict(N=1, K=1), dict(N=500, K=200)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    hints=[
        "Two loads, one after the other. What does the first one give, and "
        "what is that good for?",
        "table_ptr plus the block of indices is a block of pointers. Lanes "
        "past the end have no index: they must not look anything up.",
        "With offs and mask as ever: index = tl.load(index_ptr + offs, "
        "mask=mask), and then a load from table_ptr + index, with the same "
        "mask.",
    ],
    solution='''
@triton.jit
def look_up(index_ptr, table_ptr, z_ptr, N, K, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    index = tl.load(index_ptr + offs, mask=mask)
    entry = tl.load(table_ptr + index, mask=mask)
    tl.store(z_ptr + offs, entry, mask=mask)
''',
    after="Such a load is called a gather. A lane whose index was never "
          "loaded must not be an address: on a GPU it may point anywhere.",
    wrong=[
        Wrong("undef", "lanes without an index look something up",
              [("table_ptr + index, mask=mask", "table_ptr + index")]),
        Wrong("undef", "the second mask compares with the table's length",
              [("table_ptr + index, mask=mask",
                "table_ptr + index, mask=offs < K")]),
        Wrong("type", "a pointer is added to a pointer",
              [("table_ptr + index", "table_ptr + index_ptr")]),
        Wrong("shape", "one index is loaded for the whole block",
              [("index_ptr + offs, mask=mask",
                "index_ptr + tl.program_id(0) * B")]),
        Wrong("value", "it stores the index instead of the entry",
              [("z_ptr + offs, entry", "z_ptr + offs, index")]),
        Wrong("out-of-bounds", "entry i goes to z[index[i]], the other way "
              "round", [("table_ptr + index", "table_ptr + offs"),
                        ("z_ptr + offs, entry", "z_ptr + index, entry")]),
    ],
)
