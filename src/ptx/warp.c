/* warp.c - which lanes of a warp go next, and where they wait for others.
 */
#include <string.h>

#include "ptx/exec.h"

bool tkp_regroup(tkp_warp *w) {
  uint32_t least = UINT32_MAX, next = UINT32_MAX, chosen = 0;
  TKP_EACH(lane, w->active) w->pcs[lane] = w->pc;
  TKP_EACH(lane, w->alive & ~w->parked) {
    uint32_t pc = w->pcs[lane];
    if (pc < least) {
      next = least;
      least = pc;
      chosen = 0;
    } else if (pc > least && pc < next) {
      next = pc;
    }
    if (pc == least) chosen |= UINT32_C(1) << lane;
  }
  w->active = chosen;
  w->pc = least;
  w->rejoin = next;
  TK_ASSERT(!(w->parked & ~w->alive)); /* what has ended waits for nobody */
  TK_ASSERT(!chosen || least < next);
  return chosen != 0;
}

bool tkp_gather(tkp_warp *w, const tkp_inst *in, uint32_t *lanes,
                uint32_t members) {
  uint32_t here = w->pc - 1, arrived = *lanes;
  TK_ASSERT(in == &w->b->m->k->code.items[here]); /* it is what runs */
  TK_ASSERT(*lanes && !(*lanes & ~w->active));
  TKP_EACH(lane, w->parked)
  if (w->pcs[lane] == here) arrived |= UINT32_C(1) << lane;
  members &= w->alive;
  if ((arrived & members) != members) {
    w->pc = here;
    TKP_EACH(lane, *lanes) w->pcs[lane] = here;
    w->parked |= *lanes;
    w->active &= ~*lanes;
    /* Those whose predicate does not hold go on. */
    if (w->active) w->pc = here + 1;
    tkp_regroup(w);
    return false;
  }
  w->parked &= ~arrived;
  w->active |= arrived;
  *lanes = arrived;
  return true;
}

void tkp_warp_met(tkp_warp *w) {
  w->b->clocks[w->index * TKP_MAX_WARPS + w->index]++;
}

static void take_later(uint32_t *to, const uint32_t *from) {
  for (int i = 0; i < TKP_MAX_WARPS; i++)
    if (from[i] > to[i]) to[i] = from[i];
}

void tkp_tell(const tkp_warp *w, uint32_t *clocks, uint32_t *fenced) {
  take_later(clocks, &w->b->clocks[w->index * TKP_MAX_WARPS]);
  take_later(fenced, &w->b->fenced[w->index * TKP_MAX_WARPS]);
}

void tkp_learn(tkp_warp *w, const uint32_t *clocks, const uint32_t *fenced) {
  take_later(&w->b->clocks[w->index * TKP_MAX_WARPS], clocks);
  take_later(&w->b->fenced[w->index * TKP_MAX_WARPS], fenced);
  tkp_warp_met(w);
}

void tkp_release(tkp_block *b, unsigned barrier) {
  tkp_barrier *bar = &b->barriers[barrier];
  TK_ASSERT(barrier < TKP_BARRIERS && bar->arrived >= bar->expected);
  for (uint32_t i = 0; i < b->m->nwarps; i++) {
    tkp_warp *w = &b->warps[i];
    if (w->state != TKP_WAITS || w->barrier != barrier) continue;
    const tkp_inst *in = w->waits_in;
    uint32_t v = in->mode == 2 ? bar->count == bar->arrived : bar->count != 0;
    if (in->mode) TKP_EACH(lane, w->waits_for)
    tkp_put(w, in->d[0], (int)lane, in->mode == 1 ? bar->count : v);
    if (in->mode) tkp_mark(w, in->d[0], w->waits_for, UINT32_MAX);
    TK_ASSERT(in && w->waits_for); /* it came to the barrier with lanes */
    tkp_learn(w, bar->clocks, bar->fenced);
    w->state = TKP_RUNS;
  }
  memset(bar, 0, sizeof *bar);
}
