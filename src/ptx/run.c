/* run.c - runs a launch: its programs, their warps, instruction after
 * instruction.
 *
 * Programs run one after the other.  One that goes on to ask for what others
 * may change, and changes nothing in memory, waits for another: then the next
 * begins, and they take
 * turns. */
#include <stdlib.h>
#include <string.h>

#include "ptx/bulk.h"
#include "ptx/wait.h"

enum {
  WARP_TURN = 16,       /* instructions of a warp before the next goes on: few,
                           so that warps keep together as on a GPU */
  BLOCK_TURN = 1 << 13, /* ... of a program, before it is looked at */
  MAX_LIVE = 1024,      /* programs at a time */
};

typedef struct run_call {
  tkp_machine m;
  tkp_block **live;
  size_t nlive, live_cap;
  tkp_block *spare;
  uint64_t next, total; /* programs */
  uint64_t ended;
  tkp_moment then;
} run_call;

/* ---- warps --------------------------------------------------------------- */

/* Constants: once for the warps of many programs, since none is written. */
static void fill_constants(const tkp_kernel *k, tkp_warp *w) {
  for (size_t i = 0; i < k->constants.n; i++) {
    const tkp_constant *c = &k->constants.items[i];
    for (int lane = 0; lane < TKP_WARP; lane++)
      tkp_put(w, c->reg, lane, c->value);
  }
}

static uint64_t special_value(const tkp_warp *w, const tkp_special_use *u,
                              uint32_t lane) {
  const tkp_machine *m = w->b->m;
  const tkp_launch *l = m->launch;
  uint32_t thread = w->index * TKP_WARP + lane, bit = UINT32_C(1) << lane;
  uint32_t x = l->block[0], y = l->block[1];
  switch ((tkp_special)u->special) {
  case TKP_S_tid:
    return u->axis == 0   ? thread % x
           : u->axis == 1 ? thread / x % y
                          : thread / x / y;
  case TKP_S_ntid: return l->block[u->axis];
  case TKP_S_clusterid:
  case TKP_S_ctaid: return w->b->pid[u->axis];
  case TKP_S_nclusterid:
  case TKP_S_nctaid: return l->grid[u->axis];
  case TKP_S_laneid: return lane;
  case TKP_S_warpid: return w->index;
  case TKP_S_nwarpid: return m->nwarps;
  case TKP_S_nsmid:
  case TKP_S_cluster_nctaid:
  case TKP_S_cluster_nctarank: return 1;
  case TKP_S_lanemask_eq: return bit;
  case TKP_S_lanemask_lt: return bit - 1;
  case TKP_S_lanemask_le: return bit | (bit - 1);
  case TKP_S_lanemask_gt: return ~(bit | (bit - 1));
  case TKP_S_lanemask_ge: return ~(bit - 1);
  case TKP_S_dynamic_smem_size: return l->dynamic_shared;
  case TKP_S_total_smem_size: return m->shared;
  case TKP_S_smid:
  case TKP_S_gridid:
  case TKP_S_cluster_ctaid:
  case TKP_S_cluster_ctarank:
  case TKP_S_clock: /* from here on read when they are used */
  case TKP_S_clock_hi:
  case TKP_S_clock64:
  case TKP_S_globaltimer:
  case TKP_S_globaltimer_lo:
  case TKP_S_globaltimer_hi:
  case TKP_S_COUNT: break;
  }
  return 0;
}

static void begin_warp(tkp_warp *w) {
  const tkp_kernel *k = w->b->m->k;
  TK_ASSERT(w->index * TKP_WARP < w->b->m->threads);
  uint32_t threads = w->b->m->threads - w->index * TKP_WARP;
  memset(w->set, 0, k->nregs * sizeof *w->set);
  if (w->partly) memset(w->known, 0, k->nregs * sizeof *w->known);
  w->partly = false;
  for (size_t i = 0; i < k->constants.n; i++)
    w->set[k->constants.items[i].reg.id] = UINT32_MAX;
  if (k->local)
    memset(w->local_set, 0, (k->local / 4 + 1) * sizeof *w->local_set);
  for (size_t i = 0; i < k->specials.n; i++) {
    const tkp_special_use *u = &k->specials.items[i];
    for (uint32_t lane = 0; lane < TKP_WARP; lane++)
      tkp_put(w, u->reg, (int)lane, special_value(w, u, lane));
    w->set[u->reg.id] = UINT32_MAX;
  }
  w->alive = threads >= TKP_WARP ? UINT32_MAX : (UINT32_C(1) << threads) - 1;
  w->born = w->active = w->alive;
  w->rejoin = UINT32_MAX;
  w->pc = w->parked = w->carry = w->tried = 0;
  w->state = TKP_RUNS;
  w->ncopies = 0;
  w->group = 1;
  w->range = NULL;
  for (int lane = 0; lane < TKP_WARP; lane++) w->bulk_groups[lane] = 1;
  if (w->flight) tkp_begin_flight(w);
}

/* Deals with a warp of which every lane has ended, or waits for others that do
 * not arrive. */
static void idle_warp(tkp_warp *w) {
  const tkp_machine *m = w->b->m;
  uint32_t least = UINT32_MAX, chosen = 0;
  if (!w->alive) {
    w->state = TKP_ENDED;
    return;
  }
  TK_ASSERT(w->parked == w->alive); /* else some could go on */
  TKP_EACH(lane, w->parked) if (w->pcs[lane] < least) least = w->pcs[lane];
  TKP_EACH(lane, w->parked)
  if (w->pcs[lane] == least) chosen |= UINT32_C(1) << lane;
  if (w->tried != w->alive) { /* the lanes that it waits for may have ended */
    w->tried = w->alive;
    w->parked &= ~chosen;
    w->active = chosen;
    w->pc = least;
    return;
  }
  const tkp_inst *in = &m->k->code.items[least];
  uint32_t others = w->alive & ~chosen;
  tk_diag *d = tkp_report(w, in, __builtin_ctz(chosen), TK_D_DEADLOCK,
                          "%d of the warp's threads wait here for others that "
                          "do not come",
                          __builtin_popcount(chosen));
  if (others) {
    const tkp_inst *at = &m->k->code.items[w->pcs[__builtin_ctz(others)]];
    tk_diag_note(m->env, d, m->p->src, at->span, "others wait here");
    tkp_report_place(w, d, at, "in the kernel");
  }
  tk_diag_help(m->env, d,
               "all threads of a warp must come to a barrier, and those that "
               "a mask names to a shuffle");
  tkp_stop(w);
}

/* Lanes that are behind go first; now and then others do, since they may
 * hold what the first wait for. */
static void let_others_go(tkp_warp *w) {
  uint32_t pc = w->rejoin, group = 0;
  if (pc == UINT32_MAX) return;
  TKP_EACH(lane, w->active) w->pcs[lane] = w->pc;
  TKP_EACH(lane, w->alive & ~w->parked)
  if (w->pcs[lane] == pc) group |= UINT32_C(1) << lane;
  if (!group) return;
  TK_ASSERT(!(group & w->active)); /* these are elsewhere */
  w->active = group;
  w->pc = pc;
  w->rejoin = UINT32_MAX;
}

static void mark_pure(tkp_warp *w, const tkp_inst *in, uint32_t lanes) {
  uint32_t all = UINT32_MAX;
  for (int k = 0; k < in->ns; k++) all &= w->set[in->s[k].id];
  if (TK_UNLIKELY(lanes & ~all)) tkp_mark_partly(w, in, lanes & ~all);
  for (int k = 0; k < in->nd; k++) tkp_mark(w, in->d[k], lanes & all, all);
}

static void run_warp(tkp_warp *w) {
  const tkp_inst *code = w->b->m->k->code.items;
  uint64_t threads = 0;
  const bool witnessed = tkp_is_witnessed(w);
  if (w->active && w->active != (w->alive & ~w->parked)) {
    tkp_regroup(w);
    if (w->turns++ % (2 * TKP_OTHERS_TURN) > TKP_OTHERS_TURN) let_others_go(w);
  }
  int left = WARP_TURN;
  for (; left && w->state == TKP_RUNS; left--) {
    if (TK_UNLIKELY(!w->active) && !tkp_regroup(w)) {
      idle_warp(w);
      continue;
    }
    TK_ASSERT(w->pc < w->b->m->k->code.n); /* a kernel ends with an exit */
    TK_ASSERT(w->pc < w->rejoin);
    const tkp_inst *in = &code[w->pc++];
    uint32_t lanes = w->active;
    TK_ASSERT(!(lanes & ~w->alive) && !(lanes & w->parked));
    if (in->guarded) {
      tkp_need_set(w, in, in->guard, lanes, "a predicate");
      uint32_t p = *tkp_r32(w, in->guard);
      lanes &= in->guard_not ? ~p : p;
    }
    if (lanes) {
      threads +=
          lanes == UINT32_MAX ? TKP_WARP : (unsigned)__builtin_popcount(lanes);
      if (TK_UNLIKELY(w->flight && w->b->shadow && in->run != tkp_run_wgmma))
        tkp_watch_registers(w, in, lanes);
      if (in->pure) mark_pure(w, in, lanes);
      if (TK_UNLIKELY(witnessed)) tkp_witness_before(w, in, lanes);
      in->run(w, in, lanes);
      if (TK_UNLIKELY(witnessed)) tkp_witness_after(w, lanes);
    }
    if (TK_UNLIKELY(w->pc >= w->rejoin)) tkp_regroup(w);
  }
  w->steps += (uint64_t)(WARP_TURN - left);
  w->b->m->steps += threads;
}

/* ---- programs ------------------------------------------------------------ */

static size_t rounded(size_t n) {
  return (n + 63) & ~(size_t)63;
}

/* All that a program needs, in one piece. */
static size_t lay_out(const tkp_machine *m, tkp_block *b, uint8_t *at) {
  const tkp_kernel *k = m->k;
  size_t words = m->shared / 4 + 4, used = rounded(sizeof *b);
#define PIECE(to, size)                                                        \
  do {                                                                         \
    if (at) (to) = (void *)(at + used);                                        \
    used += rounded(size);                                                     \
  } while (0)
  tkp_block none = {0};
  if (!b) b = &none;
  PIECE(b->warps, m->nwarps * sizeof *b->warps);
  PIECE(b->clocks, sizeof(uint32_t) * TKP_MAX_WARPS * TKP_MAX_WARPS);
  PIECE(b->fenced, sizeof(uint32_t) * TKP_MAX_WARPS * TKP_MAX_WARPS);
  PIECE(b->shared, m->shared + 16);
  if (!m->launch->unchecked) PIECE(b->shadow, words * sizeof *b->shadow);
  for (uint32_t i = 0; i < m->nwarps; i++) {
    tkp_warp unused, *w = at ? &b->warps[i] : &unused;
    PIECE(w->file, k->file_bytes);
    PIECE(w->set, k->nregs * sizeof *w->set);
    PIECE(w->known, k->nregs * sizeof *w->known);
    PIECE(w->local, k->local * TKP_WARP);
    PIECE(w->local_set, (k->local / 4 + 2) * sizeof *w->local_set);
    if (!k->wgmma) continue;
    tkp_flight none_yet, *f = &none_yet;
    PIECE(w->flight, sizeof *w->flight);
    if (at) f = w->flight;
    PIECE(f->result_of, k->nregs * sizeof *f->result_of);
    PIECE(f->read_by, k->nregs * sizeof *f->read_by);
    PIECE(f->computed, k->nregs * sizeof *f->computed);
  }
#undef PIECE
  return used;
}

static tkp_block *new_block(run_call *c) {
  tkp_machine *m = &c->m;
  tkp_block *b = c->spare;
  c->spare = NULL;
  if (b) return b;
  size_t size = lay_out(m, NULL, NULL);
  uint8_t *at = tk_calloc(m->env, 1, size);
  b = (tkp_block *)(void *)at;
  b->size = size;
  b->m = m;
  size_t used = lay_out(m, b, at);
  TK_ASSERT(used == size); /* there is nothing after what was allocated */
  (void)used;
  for (uint32_t i = 0; i < m->nwarps; i++) fill_constants(m->k, &b->warps[i]);
  return b;
}

static void free_block(tkp_block *b) {
  if (!b) return;
  tk_env *e = b->m->env;
  tkp_bulk_free(b);
  tk_free(e, b->bulks, b->bulks_cap * sizeof *b->bulks);
  tk_free(e, b->mbarriers, b->mbarriers_cap * sizeof *b->mbarriers);
  for (uint32_t i = 0; i < b->m->nwarps; i++) {
    const tkp_warp *w = &b->warps[i];
    tk_free(e, w->copies, w->copies_cap * sizeof *w->copies);
    if (w->flight) tkp_free_flight(w);
  }
  tk_free(e, b, b->size);
}

/* All that programs before did in this memory is known to all warps. */
static void begin_clocks(tkp_block *b) {
  uint32_t *own = b->clocks;
  for (uint32_t i = 0; i < b->m->nwarps; i++, own += TKP_MAX_WARPS + 1)
    if (*own > b->start) b->start = *own;
  for (uint32_t i = 0; i < TKP_MAX_WARPS * TKP_MAX_WARPS; i++)
    b->clocks[i] = b->start + (i % (TKP_MAX_WARPS + 1) == 0);
  for (uint32_t i = 0; i < TKP_MAX_WARPS * TKP_MAX_WARPS; i++)
    b->fenced[i] = b->start;
}

static void begin_block(run_call *c, tkp_block *b, uint64_t n) {
  const tkp_machine *m = &c->m;
  const uint32_t *grid = m->launch->grid;
  b->index = n;
  b->pid[0] = (uint32_t)(n % grid[0]);
  b->pid[1] = (uint32_t)(n / grid[0] % grid[1]);
  b->pid[2] = (uint32_t)(n / grid[0] / grid[1]);
  TK_ASSERT(b->pid[2] < grid[2]);
  memset(b->shared, 0, m->shared);
  memset(b->barriers, 0, sizeof b->barriers);
  b->poll = (tkp_poll){0};
  b->nmbarriers = 0;
  begin_clocks(b);
  for (uint32_t i = 0; i < m->nwarps; i++) {
    tkp_warp *w = &b->warps[i];
    w->b = b;
    w->index = i;
    w->steps = w->turns = 0;
    begin_warp(w);
  }
}

/* No warp can go on, and some have not ended. */
static void stuck_block(tkp_block *b) {
  const tkp_machine *m = b->m;
  tk_diag *d = NULL;
  const tkp_warp *first = NULL;
  for (uint32_t i = 0; i < m->nwarps; i++) {
    const tkp_warp *w = &b->warps[i];
    if (w->state != TKP_WAITS) continue;
    if (!d) {
      first = w;
      d = tkp_report(w, w->waits_in, __builtin_ctz(w->waits_for), TK_D_DEADLOCK,
                     "warp %u waits at barrier %u for %u threads, of which %u "
                     "came",
                     i, w->barrier, b->barriers[w->barrier].expected,
                     b->barriers[w->barrier].arrived);
    } else if (w->waits_in != first->waits_in) {
      tk_diag_note(m->env, d, m->p->src, w->waits_in->span,
                   "warp %u waits at barrier %u here", i, w->barrier);
    }
  }
  TK_ASSERT(d); /* a warp that has not ended and does not run waits */
  for (uint32_t i = 0; i < m->nwarps && d; i++)
    if (b->warps[i].state == TKP_ENDED) {
      tk_diag_note(m->env, d, NULL, (tk_span){0, 0},
                   "warp %u has left the program", i);
      break;
    }
  if (d)
    tk_diag_help(m->env, d,
                 "every warp of the program must come to each barrier");
  tk_throw(m->env, TK_FINDING);
}

static void check_steps(run_call *c) {
  const tkp_machine *m = &c->m;
  if (!m->launch->steps || m->steps <= m->launch->steps) return;
  const tkp_warp *w = &c->live[0]->warps[0];
  uint32_t pc = w->pc < m->k->code.n ? w->pc : 0;
  tkp_report(w, &m->k->code.items[pc], -1, TK_D_RUNAWAY,
             "the launch has not ended after its threads ran %llu instructions",
             (unsigned long long)m->launch->steps);
  tk_throw(m->env, TK_FINDING);
}

/* Returns whether the program has ended. */
static bool run_block(run_call *c, tkp_block *b) {
  const tkp_machine *m = &c->m;
  for (uint32_t turn = 0; turn < BLOCK_TURN / WARP_TURN; turn++) {
    uint32_t ran = 0, ended = 0;
    tk_check_interrupt(m->env);
    for (uint32_t i = 0; i < m->nwarps; i++) {
      tkp_warp *w = &b->warps[i];
      if (w->state == TKP_RUNS) {
        run_warp(w);
        ran++;
      }
      ended += w->state == TKP_ENDED;
    }
    if (ended == m->nwarps) return true;
    if (!ran) stuck_block(b);
  }
  check_steps(c);
  return false;
}

static void add_block(run_call *c) {
  if (c->nlive == c->live_cap) {
    size_t cap = c->live_cap ? 2 * c->live_cap : 16;
    c->live = tk_realloc(c->m.env, c->live, c->live_cap * sizeof *c->live,
                         cap * sizeof *c->live);
    c->live_cap = cap;
  }
  TK_ASSERT(c->next < c->total);
  tkp_block *b = new_block(c);
  c->live[c->nlive++] = b;
  begin_block(c, b, c->next++);
}

static void end_block(run_call *c, size_t i) {
  TK_ASSERT(i < c->nlive);
  tkp_block *b = c->live[i];
  if (b->nbulks) tkp_bulk_left(b);
  memmove(&c->live[i], &c->live[i + 1], (--c->nlive - i) * sizeof *c->live);
  if (c->spare)
    free_block(b);
  else
    c->spare = b;
  c->ended++;
}

/* Lets as many begin as have begun and wait: a barrier of a whole grid is
 * complete after a few rounds. */
static void add_blocks(run_call *c) {
  for (size_t n = c->nlive; n && c->next < c->total && c->nlive < MAX_LIVE; n--)
    add_block(c);
}

static void run_programs(tk_env *e, void *ud) {
  run_call *c = ud;
  (void)e;
  while (c->nlive || c->next < c->total) {
    uint64_t changes = c->m.changes, ended = c->ended, polls = c->m.polls;
    if (!c->nlive) add_block(c);
    for (size_t i = 0; i < c->nlive;)
      if (run_block(c, c->live[i]))
        end_block(c, i);
      else
        i++;
    if (changes != c->m.changes || ended != c->ended) continue;
    if (polls != c->m.polls && c->next < c->total && c->nlive < MAX_LIVE)
      add_blocks(c);
    else
      tkp_look_for_end(&c->then, &(tkp_crowd){&c->m, c->live, c->nlive, c->next,
                                              c->ended, c->total});
  }
}

/* ---- launches ------------------------------------------------------------ */

static int range_order(const void *a, const void *b) {
  const tkp_range *x = a, *y = b;
  return x->base < y->base ? -1 : x->base > y->base;
}

/* Whether no two ranges, in the order of their addresses, overlap. */
static bool ranges_are_apart(const tkp_machine *m) {
  for (size_t i = 1; i < m->nranges; i++)
    if (m->ranges[i].base - m->ranges[i - 1].base < m->ranges[i - 1].size)
      return false;
  return true;
}

static void set_ranges(tkp_machine *m, const tkp_launch *l) {
  size_t own = m->p->ranges.n;
  m->nranges = own + l->nranges;
  m->ranges = tk_calloc(m->env, m->nranges + 1, sizeof *m->ranges);
  if (own) memcpy(m->ranges, m->p->ranges.items, own * sizeof *m->ranges);
  if (l->nranges)
    memcpy(m->ranges + own, l->ranges, l->nranges * sizeof *m->ranges);
  qsort(m->ranges, m->nranges, sizeof *m->ranges, range_order);
  TK_ASSERT(ranges_are_apart(m)); /* a search finds one by its beginning */
}

static void launch_fault(tk_env *e, const tkp_program *p, tk_span at,
                         const char *what) TK_NORETURN;
static void launch_fault(tk_env *e, const tkp_program *p, tk_span at,
                         const char *what) {
  tk_diag_add(e, TK_D_LAUNCH, p->src, at, "%s", what);
  tk_throw(e, TK_USAGE);
}

static const tkp_kernel *kernel_named(tk_env *e, const tkp_program *p,
                                      const char *name) {
  const tkp_kernel *k = p->kernels.items[0];
  if (!name && p->kernels.n > 1)
    launch_fault(e, p, k->span, "the file has several kernels: name one");
  for (size_t i = 0; name && i < p->kernels.n; i++)
    if (!strcmp(p->kernels.items[i]->name, name)) return p->kernels.items[i];
  if (name) {
    tk_diag *d = tk_diag_add(e, TK_D_LAUNCH, p->src, k->span,
                             "there is no kernel called %s", name);
    tk_diag_help(e, d, "the first is %s", k->name);
    tk_throw(e, TK_USAGE);
  }
  return k;
}

static void set_params(tkp_machine *m, const tkp_launch *l) {
  const tkp_kernel *k = m->k;
  if (l->nparams != k->params.n)
    launch_fault(m->env, m->p, k->span,
                 "the launch has a different number of parameters");
  for (size_t i = 0; i < k->params.n; i++)
    memcpy(k->params.items[i].host, l->params[i], k->params.items[i].size);
}

static void check_shape(tkp_machine *m, const tkp_launch *l) {
  const tkp_kernel *k = m->k;
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    threads *= l->block[i];
    if (k->reqntid[0] && k->reqntid[i] != l->block[i])
      launch_fault(m->env, m->p, k->span,
                   "the launch has a different number of threads than .reqntid "
                   "asks for");
    if (l->block[i] > 1024) threads = 0;
  }
  if (!threads || threads > TKP_MAX_WARPS * TKP_WARP)
    launch_fault(m->env, m->p, k->span, "a program has 1 to 1024 threads");
  m->threads = (uint32_t)threads;
  m->nwarps = (m->threads + TKP_WARP - 1) / TKP_WARP;
  TK_ASSERT(m->nwarps && m->nwarps <= TKP_MAX_WARPS);
  m->fixed = (k->shared + 15) & ~(size_t)15;
  m->shared = m->fixed + l->dynamic_shared;
  if (l->dynamic_shared > TKP_DYNAMIC_SHARED)
    launch_fault(m->env, m->p, k->span,
                 "it needs more shared memory than there is");
}

static void run_launch(tk_env *e, void *ud) {
  run_call *c = ud;
  tkp_machine *m = &c->m;
  const tkp_launch *l = m->launch;
  m->k = kernel_named(e, m->p, l->entry);
  check_shape(m, l);
  set_params(m, l);
  set_ranges(m, l);
  tkp_watch_changes(m);
  if (m->k->wgmma)
    m->products = tk_calloc(e, tkp_products_size(), sizeof *m->products);
  c->total = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  run_programs(e, c);
}

tk_status tkp_run(tkp_program *p, const tkp_launch *launch, tkp_summary *sum) {
  tk_env *e = p->arena->env;
  run_call c = {.m = {.env = e, .p = p, .launch = launch}};
  tk_status st = tk_protect(e, run_launch, &c);
  TK_ASSERT(st != TK_OK || (!c.nlive && c.ended == c.total));
  for (size_t i = 0; i < c.nlive; i++) free_block(c.live[i]);
  free_block(c.spare);
  tk_free(e, c.live, c.live_cap * sizeof *c.live);
  tkp_free_writers(&c.m);
  if (c.m.products)
    tk_free(e, c.m.products, tkp_products_size() * sizeof *c.m.products);
  tk_free(e, c.m.ranges, (c.m.nranges + 1) * sizeof *c.m.ranges);
  if (sum) *sum = (tkp_summary){c.m.steps, c.ended};
  return st == TK_OK && c.m.findings ? TK_FINDING : st;
}
