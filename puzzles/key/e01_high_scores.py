import numpy as np

from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, P, B):
    return make.launch((cdiv(N, B),), N=N, B=B,
                       player_ptr=make.ints(N, 0, P),
                       score_ptr=make.ints(N, 0, 1_000_000),
                       best_ptr=make.updated(np.zeros(P, int), "int32"),
                       games_ptr=make.updated(np.zeros(P, int), "int32"))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100, P=7), dict(N=1, P=1), dict(N=500, P=40)],
    blocks=[dict(B=32), dict(B=64)],
    lines=6,
    regimes=("uniform", "special"),
    hints=[
        "Loaded numbers can be offsets, too: best_ptr + player is a block of "
        "pointers, in which the same one may occur more than once.",
        "tl.atomic_max(pointers, values, mask=...) and tl.atomic_add do for "
        "each lane what a load, an operation and a store would do, with "
        "nobody in between. Lanes that point to the same place are done one "
        "after the other.",
        "tl.atomic_max(best_ptr + player, score, mask=mask), and the same "
        "with tl.atomic_add(games_ptr + player, 1, mask=mask). Give the "
        "loads a mask as well.",
    ],
    solution='''
@triton.jit
def high_scores(player_ptr, score_ptr, best_ptr, games_ptr, N,
                B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    player = tl.load(player_ptr + offs, mask=mask)
    score = tl.load(score_ptr + offs, mask=mask)
    tl.atomic_max(best_ptr + player, score, mask=mask)
    tl.atomic_add(games_ptr + player, 1, mask=mask)
''',
    after="Maxima and sums of whole numbers come out the same in whatever "
          "order the atomics are done. Sums of floats do not: see e05.",
    wrong=[
        Wrong("race", "loaded, compared and stored, in three steps",
              [("tl.atomic_max(best_ptr + player, score, mask=mask)",
                "best = tl.load(best_ptr + player, mask=mask)\n"
                "    tl.store(best_ptr + player, tl.maximum(best, score), "
                "mask=mask)")]),
        Wrong("undef", "lanes without a game take part",
              [("    tl.atomic_add(games_ptr + player, 1, mask=mask)",
                "    tl.atomic_add(games_ptr + player, 1)")]),
        Wrong("value", "lanes without a game count for player 0",
              [("player = tl.load(player_ptr + offs, mask=mask)",
                "player = tl.load(player_ptr + offs, mask=mask, other=0)"),
               ("tl.atomic_add(games_ptr + player, 1, mask=mask)",
                "tl.atomic_add(games_ptr + player, 1)")]),
        Wrong("order", "the last score is kept, not the best",
              [("tl.atomic_max(best_ptr + player, score, mask=mask)",
                "tl.atomic_xchg(best_ptr + player, score, mask=mask)")]),
        Wrong("value", "scores are added up instead of counted",
              [("games_ptr + player, 1,", "games_ptr + player, score,")]),
    ],
)
