/* run.c - counting one run.
 *
 * An interval belongs to the instruction that began last, until it ends or
 * another one begins in it.  Time between two instructions of one function
 * belongs to none: the walk takes it, and the profiler itself.  Programs that
 * give way to each other do so between instructions.
 *
 * The clock is that of the wall: the thread's own costs too much to be read
 * for each instruction.  Only after a long interval are both read.  What the
 * thread's clock lacks since they were last read is time that the system took
 * away, and that was in this interval, because a shorter one has no room for a
 * pause of that length.
 */
#include "profile/run.h"

#include "base/clock.h"
#include "interp/tile.h"

uint64_t tkf_ticks(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_ia32_rdtsc();
#else
  return (uint64_t)(tk_clock_seconds() * 1e9);
#endif
}

uint64_t tkf_timer_ticks(void) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 1000; i++) {
    uint64_t at = tkf_ticks(), took = tkf_ticks() - at;
    if (took < least) least = took;
  }
  return least;
}

/* ---- pauses -------------------------------------------------------------- */

enum { LEAST_PAUSE = 1000 }; /* readings of the clock: some 20 microseconds */

/* The largest step of the thread's clock with which pauses can be told from its
 * roughness, and how long one is waited for, in seconds. */
static const double FINE_STEP = 5e-6, STEP_WAIT = 2e-4;

uint64_t tkf_least_pause(uint64_t timer) {
  double began = tk_clock_seconds(), at = tk_clock_thread_seconds(), step = 0;
  while (!(step > 0) && tk_clock_seconds() - began < STEP_WAIT)
    step = tk_clock_thread_seconds() - at;
  return step > 0 && step < FINE_STEP ? LEAST_PAUSE * (timer + 1) : UINT64_MAX;
}

/* Ticks that the system took away since this was last asked. */
static double ticks_taken(tkf_run *r) {
  double wall = tk_clock_seconds(), own = tk_clock_thread_seconds();
  double lost = (wall - r->wall) - (own - r->own);
  double tick = (wall - r->seconds) / (double)(tkf_ticks() - r->ticks);
  r->wall = wall;
  r->own = own;
  return lost > 0 && tick > 0 ? lost / tick : 0;
}

/* Ticks since r->last that the thread ran. */
static uint64_t ticks_run(tkf_run *r, uint64_t now) {
  uint64_t took = now - r->last;
  if (took < r->least) return took;
  double taken = ticks_taken(r);
  if (taken > (double)took) taken = (double)took;
  r->paused += taken;
  return took - (uint64_t)taken;
}

/* What was taken away before this belongs to no operation. */
static uint64_t interval_begins(tkf_run *r) {
  uint64_t now = tkf_ticks();
  if (now - r->last < r->least) return now;
  ticks_taken(r);
  return tkf_ticks();
}

/* ---- frames ------------------------------------------------------------- */

static tkf_node *node_of(const tki_frame *f) {
  return f->shadow[TKI_SHADOW_PROFILE];
}

typedef struct numbers {
  uint32_t first, last;
} numbers;

static bool widen_numbers(void *ud, const tk_at *at, const tk_inst *in) {
  numbers *n = ud;
  (void)at;
  if (in->id < n->first) n->first = in->id;
  if (in->id > n->last) n->last = in->id;
  return true;
}

static tkf_node *new_node(tkf_run *r, tkf_node *caller, const tki_frame *f) {
  tkf_node *n = TK_NEW(&r->arena, tkf_node);
  numbers of = {UINT32_MAX, 0};
  tk_walk_func(f->func, &(tk_walk){.ud = &of, .inst = widen_numbers});
  n->func = f->func;
  n->caller = caller;
  n->call = caller ? f->caller->inst : NULL;
  n->id = of.first;
  if (of.first <= of.last) n->ncounts = of.last - of.first + 1;
  n->counts = TK_NEWN(&r->arena, tkf_counts, n->ncounts + 1);
  tkf_node **list = caller ? &caller->first : &r->kernel;
  n->next = *list;
  return *list = n;
}

static void profile_frame(void *ud, tki *t, bool begins) {
  tkf_run *r = ud;
  tki_frame *f = t->frame;
  if (!begins) return;
  tkf_node *caller = f->caller ? node_of(f->caller) : NULL;
  tkf_node *n = caller ? caller->first : r->kernel;
  while (n && (n->func != f->func || (caller && n->call != f->caller->inst)))
    n = n->next;
  if (!n) n = new_node(r, caller, f);
  n->calls++;
  f->shadow[TKI_SHADOW_PROFILE] = n;
}

/* ---- instructions ------------------------------------------------------- */

/* Lanes that a mask lets through; it stays symbolic if it is. */
static size_t count_active_lanes(const tk_inst *in, const tki_val *mask) {
  const uint8_t *one = mask ? tki_one_lane(mask) : NULL;
  const tki_sym *s = mask ? tki_symbol(mask) : NULL;
  size_t n = (size_t)in->n, active = 0;
  if (!mask || one) return !mask || *one ? n : 0;
  if (s && tki_sym_kind_of(s) == TKI_SYM_BOX) {
    active = 1;
    for (int k = 0; k < tki_sym_rank(s); k++)
      active *= tki_sym_hi(s, k) - tki_sym_lo(s, k);
    TK_ASSERT(active <= n); /* the box lies in the block */
    return active;
  }
  const uint8_t *lanes = tki_lanes(mask);
  for (size_t i = 0; i < n; i++) active += lanes[i] != 0;
  return active;
}

static void look_at_access(tkf_run *r, const tki *t, const tk_inst *in,
                           const tki_val *slots) {
  int k = tk_inst_mask(in);
  const tki_val *mask = k < 0 ? NULL : &slots[in->args[k]];
  bool moves = in->op == TK_I_LOAD || in->op == TK_I_STORE;
  tki_tile tile;
  r->active = count_active_lanes(in, mask);
  r->rows = moves && tki_tile_of(&tile, t, in, &slots[in->args[0]], mask);
}

static void profile_begins(void *ud, tki *t, const tk_inst *in,
                           const tki_val *slots) {
  tkf_run *r = ud;
  tkf_node *n = node_of(t->frame);
  if (r->open) r->open->ticks += ticks_run(r, tkf_ticks());
  TK_ASSERT(in->id >= n->id && in->id - n->id < n->ncounts);
  tkf_counts *c = &n->counts[in->id - n->id];
  TK_ASSERT(!c->in || c->in == in); /* a number is of one instruction */
  if (!c->in) {
    c->in = in;
    c->access = tk_inst_accesses(in);
    c->block = in->nres && in->type.rank && tk_inst_is_pure(in);
  }
  if (c->access) look_at_access(r, t, in, slots);
  r->open = c;
  r->last = interval_begins(r);
}

static void profile_ends(void *ud, tki *t, const tk_inst *in,
                         const tki_val *slots) {
  tkf_run *r = ud;
  uint64_t now = tkf_ticks(), ran = ticks_run(r, now);
  tkf_node *n = node_of(t->frame);
  tkf_counts *c = &n->counts[in->id - n->id];
  TK_ASSERT(c->in == in && (!r->open || r->open == c)); /* calls are nested */
  c->calls++;
  c->ticks += ran;
  if (c->access) {
    c->active += r->active;
    c->rows += r->rows;
  }
  if (c->block) {
    const tki_val *v = &slots[in->res[0]];
    c->known += tki_symbol(v) || tki_part_of(v);
  }
  r->open = NULL;
  r->last = now - r->last < r->least ? now : tkf_ticks(); /* that cost */
}

static void profile_program(void *ud, tki *t, bool begins) {
  tkf_run *r = ud;
  (void)t;
  r->programs += !begins;
}

void tkf_run_begin(tkf_run *r, tki *t, uint64_t least) {
  tk_arena_free(&r->arena);
  tk_arena_init(&r->arena, t->env);
  *r = (tkf_run){.t = t, .arena = r->arena, .least = least};
  r->observer = (tki_observer){.ud = r,
                               .program = profile_program,
                               .frame = profile_frame,
                               .begins = profile_begins,
                               .ends = profile_ends};
  tki_observe(t, &r->observer);
  r->own = tk_clock_thread_seconds();
  r->wall = r->seconds = tk_clock_seconds();
  r->last = r->ticks = tkf_ticks();
}
