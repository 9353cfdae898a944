from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B, page_bytes=8192,
                       page_ptr=make.ints(N, 0, 1_000_000),
                       z_ptr=make.output(N, "int64"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=1000)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    regimes=("uniform", "special"),
    verdict=dict(kind="overflow", line="begin = page * page_bytes",
                 index=262144),
    hints=[
        "Two gigabytes are 2,147,483,648 bytes. Which type has just no room "
        "for that number?",
        "Both factors are int32, so the product is one too: what the cast to "
        "int64 then gets has wrapped already.",
        "An overflow, from page 2**31 / 8192 = 262144 on. "
        "begin = page.to(tl.int64) * page_bytes; the store's cast is then "
        "not needed, but does no harm.",
    ],
    solution=[("begin = page * page_bytes",
               "begin = page.to(tl.int64) * page_bytes")],
    after="The type of a product is that of its factors, whatever is done "
          "with it later. row * stride is the same trap: cast the row, or "
          "the program's number, before it is multiplied.",
    wrong=[
        Wrong("overflow", "the product is cast once more",
              [("page.to(tl.int64) * page_bytes",
                "(page * page_bytes).to(tl.int64)")]),
        Wrong("value", "unsigned numbers double the limit, no more",
              [("page.to(tl.int64) * page_bytes",
                "page.to(tl.uint32) * page_bytes")]),
        Wrong("value", "the product is right, and narrowed again for the "
              "store", [("begin.to(tl.int64)", "begin.to(tl.int32)")]),
        Wrong("verdict", "page 262143 is the last good one",
              verdict=dict(index=262143)),
        Wrong("verdict", "the cast comes too late, but does not wrap",
              verdict=dict(line="begin.to(tl.int64)")),
    ],
)
