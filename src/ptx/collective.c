/* collective.c - what lanes of a warp, or warps of a program, do together.
 */
#include <string.h>

#include "ptx/exec.h"
#include "ptx/number.h"

/* The lanes that a mask names for these; each must name itself. */
static bool meet(tkp_warp *w, const tkp_inst *in, tkp_reg mask,
                 uint32_t *lanes) {
  uint32_t members = 0;
  TKP_EACH(lane, *lanes) members |= (uint32_t)tkp_get(w, mask, (int)lane);
  if (!tkp_gather(w, in, lanes, members)) return false;
  if (members & w->born & ~w->alive)
    tkp_report(w, in, __builtin_ctz(*lanes), TK_D_DEADLOCK,
               "the mask 0x%08x names threads that have ended", members);
  if (*lanes & ~members) {
    tkp_report(w, in, __builtin_ctz(*lanes & ~members), TK_D_DEADLOCK,
               "a thread is not in its own mask, 0x%08x", members);
    tkp_stop(w);
  }
  return true;
}

/* ---- barriers ------------------------------------------------------------ */

/* The warp's barrier number, and how many threads it is for. */
static unsigned barrier_of(tkp_warp *w, const tkp_inst *in, uint32_t lanes,
                           uint32_t *threads) {
  int lane = __builtin_ctz(lanes);
  uint64_t n = tkp_get(w, in->s[0], lane);
  bool counted = in->ns > 1 + (in->mode != 0);
  *threads = counted ? (uint32_t)tkp_get(w, in->s[1], lane)
                     : w->b->m->nwarps * TKP_WARP;
  if (n >= TKP_BARRIERS || !*threads || *threads % TKP_WARP) {
    tkp_report(w, in, lane, TK_D_VALUE,
               n >= TKP_BARRIERS ? "there are 16 barriers"
                                 : "a barrier is for whole warps");
    tkp_stop(w);
  }
  return (unsigned)n;
}

static void arrive(tkp_warp *w, const tkp_inst *in, uint32_t lanes,
                   bool waits) {
  uint32_t threads;
  unsigned n = barrier_of(w, in, lanes, &threads);
  tkp_barrier *b = &w->b->barriers[n];
  if (b->arrived && b->expected != threads) {
    tkp_report(w, in, __builtin_ctz(lanes), TK_D_DEADLOCK,
               "barrier %u is for %u threads here, but others wait for %u", n,
               threads, b->expected);
    tkp_stop(w);
  }
  TK_ASSERT(b->arrived < threads); /* else it would have been released */
  b->expected = threads;
  b->arrived += TKP_WARP;
  tkp_tell(w, b->clocks, b->fenced);
  if (in->mode)
    b->count +=
        (uint32_t)__builtin_popcount(tkp_pred(w, in->s[in->ns - 1]) & lanes);
  if (waits) {
    w->state = TKP_WAITS;
    w->barrier = (uint8_t)n;
    w->waits_in = in;
    w->waits_for = lanes;
  } else {
    tkp_warp_met(w);
  }
  if (b->arrived >= b->expected) tkp_release(w->b, n);
}

void tkp_run_barrier(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!tkp_gather(w, in, &lanes, w->alive)) return;
  if (lanes != w->born)
    tkp_report(w, in, __builtin_ctz(lanes), TK_D_DEADLOCK,
               "the warp waits at a barrier without %d of its threads, which "
               "have ended",
               __builtin_popcount(w->born & ~lanes));
  arrive(w, in, lanes, true);
}

void tkp_run_arrive(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (tkp_gather(w, in, &lanes, w->alive)) arrive(w, in, lanes, false);
}

void tkp_run_warp_barrier(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (meet(w, in, in->s[0], &lanes)) tkp_warp_met(w);
}

/* ---- lanes --------------------------------------------------------------- */

/* PTX ISA, shfl.sync: c has the bound and, from bit 8, a mask of segments. */
int tkp_shfl_lane(const tkp_warp *w, const tkp_inst *in, int lane, bool *ok) {
  int b = (int)tkp_get(w, in->s[1], lane) & 31;
  uint32_t c = (uint32_t)tkp_get(w, in->s[2], lane);
  uint32_t segment = c >> 8 & 31, bound = c & 31;
  int least = (int)((uint32_t)lane & segment);
  int most = least | (int)(bound & ~segment);
  int at = in->mode == 0   ? lane - b
           : in->mode == 1 ? lane + b
           : in->mode == 2 ? lane ^ b
                           : least | (b & (int)~segment);
  *ok = in->mode == 0 ? at >= most : at <= most;
  return (*ok ? at : lane) & 31;
}

void tkp_run_shfl(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t from[TKP_WARP], out[TKP_WARP], set = 0, inside = 0;
  uint64_t known[TKP_WARP];
  if (!meet(w, in, in->s[3], &lanes)) return;
  TK_ASSERT(in->ns == 4 && in->mode < 4);
  for (int k = 1; k < 4; k++)
    tkp_need_set(w, in, in->s[k], lanes, "a shuffle's lane");
  memcpy(from, tkp_r32(w, in->s[0]), sizeof from);
  TKP_EACH(lane, lanes) {
    bool ok;
    int at = tkp_shfl_lane(w, in, (int)lane, &ok);
    out[lane] = from[at];
    inside |= (uint32_t)ok << lane;
    known[lane] = lanes >> at & 1 ? tkp_known_bits(w, in->s[0], at) : 0;
    set |= (uint32_t)(known[lane] == UINT32_MAX) << lane;
  }
  TKP_EACH(lane, lanes) tkp_r32(w, in->d[0])[lane] = out[lane];
  tkp_mark(w, in->d[0], lanes, set);
  TKP_EACH(lane, lanes & ~set)
  tkp_mark_bits(w, in->d[0], (int)lane, known[lane]);
  if (in->nd > 1) {
    TKP_EACH(lane, lanes) tkp_put(w, in->d[1], (int)lane, inside >> lane & 1);
    tkp_mark(w, in->d[1], lanes, lanes);
  }
  tkp_warp_met(w);
}

void tkp_run_vote(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!meet(w, in, in->s[1], &lanes)) return;
  tkp_need_set(w, in, in->s[0], lanes, "a vote");
  uint32_t yes = tkp_pred(w, in->s[0]) & lanes;
  TK_ASSERT(in->mode < 4);
  bool v = in->mode == 0   ? yes == lanes
           : in->mode == 1 ? yes != 0
                           : yes == lanes || !yes;
  TKP_EACH(lane, lanes)
  tkp_put(w, in->d[0], (int)lane, in->mode == 3 ? yes : v);
  tkp_mark(w, in->d[0], lanes, lanes);
  tkp_warp_met(w);
}

void tkp_run_match(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!meet(w, in, in->s[1], &lanes)) return;
  tkp_need_set(w, in, in->s[0], lanes, "a match");
  uint32_t same[TKP_WARP];
  TKP_EACH(lane, lanes) {
    uint64_t v = tkp_get(w, in->s[0], (int)lane);
    same[lane] = 0;
    TKP_EACH(other, lanes)
    same[lane] |= (uint32_t)(tkp_get(w, in->s[0], (int)other) == v) << other;
    TK_ASSERT(same[lane] >> lane & 1); /* it matches itself */
  }
  TKP_EACH(lane, lanes) {
    bool all = same[lane] == lanes;
    tkp_put(w, in->d[0], (int)lane, in->mode && !all ? 0 : same[lane]);
    if (in->nd > 1) tkp_put(w, in->d[1], (int)lane, all);
  }
  for (int k = 0; k < in->nd; k++) tkp_mark(w, in->d[k], lanes, lanes);
  tkp_warp_met(w);
}

void tkp_run_redux(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!meet(w, in, in->s[1], &lanes)) return;
  TK_ASSERT(in->math && lanes); /* the lanes that met are not empty */
  uint32_t rest = lanes;
  tkp_step s = {.in = in->math, .type = in->math->type, .n = 2};
  bool carry = false;
  s.carry = &carry;
  s.v[0] = tkp_get(w, in->s[0], tkp_next_lane(&rest));
  while (rest) {
    s.v[1] = tkp_get(w, in->s[0], tkp_next_lane(&rest));
    s.v[0] = tkp_result(&s) & UINT32_MAX;
  }
  TKP_EACH(lane, lanes) tkp_put(w, in->d[0], (int)lane, s.v[0]);
  uint32_t set = (w->set[in->s[0].id] & lanes) == lanes ? lanes : 0;
  tkp_mark(w, in->d[0], lanes, set);
  tkp_warp_met(w);
}

void tkp_run_elect(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  if (!meet(w, in, in->s[0], &lanes)) return;
  uint32_t leader = (uint32_t)__builtin_ctz(lanes);
  TKP_EACH(lane, lanes) {
    tkp_put(w, in->d[0], (int)lane, leader);
    if (in->nd > 1) tkp_put(w, in->d[1], (int)lane, lane == leader);
  }
  for (int k = 0; k < in->nd; k++) tkp_mark(w, in->d[k], lanes, lanes);
}

void tkp_run_activemask(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  TKP_EACH(lane, lanes) tkp_put(w, in->d[0], (int)lane, lanes);
  tkp_mark(w, in->d[0], lanes, lanes);
}
