"""e01: High scores

Games end all over the world, and each adds one line to a long list: who
played, and with what score. Make a table of it with each player's best score
and number of games. Many lines of one block, and of many blocks, are about
the same player, so it is not enough to load, change and store: an atomic
operation does the three as one.

    best[p] = the largest score[i] with player[i] = p, and 0 if there is none
    games[p] = how many i there are with player[i] = p

    player_ptr  int32, N elements, from 0 to P-1             given
    score_ptr   int32, N elements, at least 0                given
    best_ptr    int32, P elements, holding 0                 to be updated
    games_ptr   int32, P elements, holding 0                 to be updated
    grid        ceil(N / B) programs

About 6 lines.
"""
import triton
import triton.language as tl


def reference(player, score, best, games):
    np.maximum.at(best, player, score)
    np.add.at(games, player, 1)
    return best, games


@triton.jit
def high_scores(player_ptr, score_ptr, best_ptr, games_ptr, N,
                B: tl.constexpr):
    # TODO: which atomic operation keeps the larger of two numbers?
    pass
