/* run.c - counting one run.
 *
 * An interval belongs to the instruction that began last, until it ends or
 * another one begins in it.  Time between two instructions of one function
 * belongs to none: the walk takes it, and the profiler itself.  Programs that
 * give way to each other do so between instructions.
 */
#include "profile/run.h"

#include "base/clock.h"
#include "interp/tile.h"

uint64_t tkp_ticks(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_ia32_rdtsc();
#else
  return (uint64_t)(tk_clock_seconds() * 1e9);
#endif
}

uint64_t tkp_timer_ticks(void) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 1000; i++) {
    uint64_t at = tkp_ticks(), took = tkp_ticks() - at;
    if (took < least) least = took;
  }
  return least;
}

/* ---- frames ------------------------------------------------------------- */

static tkp_node *node_of(const tki_frame *f) {
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

static tkp_node *new_node(tkp_run *r, tkp_node *caller, const tki_frame *f) {
  tkp_node *n = TK_NEW(&r->arena, tkp_node);
  numbers of = {UINT32_MAX, 0};
  tk_walk_func(f->func, &(tk_walk){.ud = &of, .inst = widen_numbers});
  n->func = f->func;
  n->caller = caller;
  n->call = caller ? f->caller->inst : NULL;
  n->id = of.first;
  if (of.first <= of.last) n->ncounts = of.last - of.first + 1;
  n->counts = TK_NEWN(&r->arena, tkp_counts, n->ncounts + 1);
  tkp_node **list = caller ? &caller->first : &r->kernel;
  n->next = *list;
  return *list = n;
}

static void profile_frame(void *ud, tki *t, bool begins) {
  tkp_run *r = ud;
  tki_frame *f = t->frame;
  if (!begins) return;
  tkp_node *caller = f->caller ? node_of(f->caller) : NULL;
  tkp_node *n = caller ? caller->first : r->kernel;
  while (n && (n->func != f->func || (caller && n->call != f->caller->inst)))
    n = n->next;
  if (!n) n = new_node(r, caller, f);
  n->calls++;
  f->shadow[TKI_SHADOW_PROFILE] = n;
}

/* ---- instructions ------------------------------------------------------- */

static bool is_access(const tk_inst *in) {
  return in->op == TK_I_LOAD || in->op == TK_I_STORE || in->op == TK_I_ATOMIC ||
         in->op == TK_I_CAS;
}

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
    return active;
  }
  const uint8_t *lanes = tki_lanes(mask);
  for (size_t i = 0; i < n; i++) active += lanes[i] != 0;
  return active;
}

static void look_at_access(tkp_run *r, const tki *t, const tk_inst *in,
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
  tkp_run *r = ud;
  tkp_node *n = node_of(t->frame);
  if (r->open) r->open->ticks += tkp_ticks() - r->last;
  tkp_counts *c = &n->counts[in->id - n->id];
  if (!c->in) {
    c->in = in;
    c->access = is_access(in);
    c->block = in->nres && in->type.rank && tk_inst_is_pure(in);
  }
  if (c->access) look_at_access(r, t, in, slots);
  r->open = c;
  r->last = tkp_ticks();
}

static void profile_ends(void *ud, tki *t, const tk_inst *in,
                         const tki_val *slots) {
  tkp_run *r = ud;
  uint64_t now = tkp_ticks();
  tkp_node *n = node_of(t->frame);
  tkp_counts *c = &n->counts[in->id - n->id];
  c->calls++;
  c->ticks += now - r->last;
  if (c->access) {
    c->active += r->active;
    c->rows += r->rows;
  }
  if (c->block) {
    const tki_val *v = &slots[in->res[0]];
    c->known += tki_symbol(v) || tki_part_of(v);
  }
  r->open = NULL;
  r->last = now;
}

static void profile_program(void *ud, tki *t, bool begins) {
  tkp_run *r = ud;
  (void)t;
  r->programs += !begins;
}

void tkp_run_begin(tkp_run *r, tki *t) {
  tk_arena_free(&r->arena);
  tk_arena_init(&r->arena, t->env);
  *r = (tkp_run){.t = t, .arena = r->arena};
  r->observer = (tki_observer){.ud = r,
                               .program = profile_program,
                               .frame = profile_frame,
                               .begins = profile_begins,
                               .ends = profile_ends};
  tki_observe(t, &r->observer);
  r->seconds = tk_clock_seconds();
  r->ticks = tkp_ticks();
}
