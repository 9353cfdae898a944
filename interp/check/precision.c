/* precision.c - the float64 run's tables and frames.
 *
 * A frame's table has an entry for each slot; a frame of a program that is
 * not run in float64 has none.  Functions that a reduction or scan calls have
 * none either: what they return counts as exact.
 */
#include "interp/check/precision.h"

#include "interp/check/points_to.h"

#include <string.h>

/* ---- tables -------------------------------------------------------------- */

/* A table has one more entry, before those of the slots, which is marked as
 * present; in the empty table that stands for one not yet made, it is not. */
static prec_shadow *prec_table(const tki_frame *f) {
  prec_shadow *table = f->shadow[TKI_SHADOW_PRECISION];
  return table && table->present ? table + 1 : NULL;
}

prec_shadow *prec_of(const tki *t, int slot) {
  prec_shadow *table = prec_table(t->frame);
  return table && table[slot].present ? &table[slot] : NULL;
}

void prec_drop(tki *t, prec_shadow *s) {
  tki_release(t, &s->exact);
  tki_release(t, &s->marks);
  memset(s, 0, sizeof *s);
}

prec_shadow prec_share(const prec_shadow *s) {
  prec_shadow r = *s;
  r.exact = tki_share(&s->exact);
  r.marks = tki_share(&s->marks);
  return r;
}

void prec_clear(tki *t, int slot) {
  prec_shadow *s = prec_of(t, slot);
  if (s) prec_drop(t, s);
}

void prec_set(tki *t, int slot, prec_shadow s) {
  prec_shadow *table = prec_table(t->frame);
  if (!table) {
    table = tki_scratch_zero(t, (t->frame->func->nslots + 1) * sizeof s);
    table->present = true;
    t->frame->shadow[TKI_SHADOW_PRECISION] = table++;
  }
  prec_drop(t, &table[slot]);
  table[slot] = s;
}

/* ---- frames -------------------------------------------------------------- */

/* In a sampled run, the first FIRST programs and then every EVERY-th one are
 * run in float64. */
enum { FIRST = 2, EVERY = 8 };

static bool is_chosen(prec *p) {
  uint64_t i = p->programs++;
  return !p->sampled || i < FIRST || i % EVERY == 0;
}

static void enter_exact(prec *p, tki *t) {
  tki_frame *f = t->frame, *from = f->caller;
  if (!from) {
    f->shadow[TKI_SHADOW_PRECISION] = is_chosen(p) ? &p->none : NULL;
    return;
  }
  const tk_inst *call = tki_call_of(f);
  if (!call || !from->shadow[TKI_SHADOW_PRECISION]) return;
  f->shadow[TKI_SHADOW_PRECISION] = &p->none;
  prec_shadow *table = prec_table(from);
  for (size_t i = 0; table && i < f->func->nparams && i < call->nargs; i++) {
    prec_shadow *s = &table[call->args[i]];
    if (s->present) prec_set(t, f->func->params[i], prec_share(s));
  }
}

static void drop_returned(prec *p, tki *t) {
  for (size_t i = 0; i < p->nreturned; i++) prec_drop(t, &p->returned[i]);
  p->nreturned = 0;
}

static void keep_returned(prec *p, tki *t, const prec_shadow *table) {
  const tk_stmt *st = t->frame->stmt;
  size_t n = st && st->kind == TK_S_RETURN ? st->nresults : 0;
  while (p->cap_returned < n)
    p->returned = tk_arena_grow(&p->c->run, p->returned, sizeof *p->returned,
                                &p->cap_returned);
  for (size_t i = 0; i < n; i++)
    p->returned[i] = prec_share(&table[st->results[i]]);
  p->nreturned = n;
}

static void leave_exact(prec *p, tki *t) {
  prec_shadow *table = prec_table(t->frame);
  drop_returned(p, t);
  t->frame->shadow[TKI_SHADOW_PRECISION] = NULL;
  if (!table) return;
  keep_returned(p, t, table);
  for (size_t i = 0; i < t->frame->func->nslots; i++)
    if (table[i].present) prec_drop(t, &table[i]);
  tki_scratch_free(t, table - 1);
}

static void exact_frame(void *ud, tki *t, bool begins) {
  if (begins)
    enter_exact(ud, t);
  else
    leave_exact(ud, t);
}

static void take_returned_exact(prec *p, tki *t, const tk_inst *in) {
  for (size_t i = 0; i < in->nres; i++) {
    prec_clear(t, in->res[i]);
    if (i < p->nreturned && p->returned[i].present)
      prec_set(t, in->res[i], prec_share(&p->returned[i]));
  }
  drop_returned(p, t);
}

/* ---- hooks --------------------------------------------------------------- */

/* Temporaries that end with the instruction. */
static void end_operands(tki *t, const tk_inst *in) {
  for (uint32_t k = 0, bits = in->kill; bits; k++, bits >>= 1) {
    bool lives = !(bits & 1);
    for (int i = 0; i < in->nres; i++) lives |= in->res[i] == in->args[k];
    if (!lives) prec_clear(t, in->args[k]);
  }
}

static void exact_after(void *ud, tki *t, const tk_inst *in,
                        const tki_val *args) {
  prec *p = ud;
  bool watched = t->frame->shadow[TKI_SHADOW_PRECISION] != NULL;
  if (in->op == TK_I_STORE)
    prec_store(p, t, in, args, watched);
  else if (in->op == TK_I_ATOMIC || in->op == TK_I_CAS)
    prec_atomic(p, t, in, args, watched);
  else if (watched && in->op == TK_I_CALL)
    take_returned_exact(p, t, in);
  else if (watched)
    prec_pass(p, t, in, args);
  if (watched && in->kill) end_operands(t, in);
}

/* Only programs that also run in float64 know the errors. */
static bool exact_settled(void *ud, tki *t, const tk_inst *in) {
  (void)ud;
  bool watched = t->frame->shadow[TKI_SHADOW_PRECISION] != NULL;
  for (int k = 0; k < in->nres; k++) watched &= !prec_of(t, in->res[k]);
  return watched;
}

/* Only programs that also run in float64 keep anything in their frames. */
static bool exact_idle(void *ud, tki *t, const tk_inst *in) {
  (void)ud, (void)t;
  return in->op != TK_I_STORE && in->op != TK_I_ATOMIC && in->op != TK_I_CAS;
}

/* Marks belong to one program; programs that take turns share the table of
 * them. */
static void exact_program(void *ud, tki *t, bool begins) {
  prec *p = ud;
  if (!begins || t->task || !p->sources.n) return;
  for (size_t i = 0; i < p->sources.n; i++)
    p->last[p->sources.items[i].in->id] = 0;
  p->sources.n = 0;
}

static void exact_trip(void *ud, tki *t, const tk_stmt *st) {
  (void)ud;
  if (st->kind == TK_S_FOR) prec_clear(t, st->iv);
}

/* A debugger's user may make pointers into tensors that the kernel's pointers
 * do not reach. */
static bool *find_kept(tkc *c, const tki *t) {
  tkc_points_to to = tkc_points_to_find(&c->run, t);
  bool *kept = TK_NEWN(&c->run, bool, t->nregions + 1);
  for (size_t i = 0; i < t->nregions; i++)
    for (size_t j = 0; j < t->nregions; j++) {
      const tki_region *a = &t->regions[i], *b = &t->regions[j];
      bool read = t->driver || to.region[j] & (TKC_LOADS | TKC_ATOMICS);
      kept[i] |= read && a->lo < b->hi && b->lo < a->hi;
    }
  return kept;
}

void *tkc_PRECISION_begin(tkc *c, tki *t) {
  prec *p = TK_NEW(&c->run, prec);
  memset(p, 0, sizeof *p);
  p->c = c;
  p->sampled = c->on == ((uint32_t)1 << TKC_COUNT) - 1;
  p->last = TK_NEWN(&c->run, prec_id, t->program->ninsts + 1);
  p->kept = find_kept(c, t);
  p->paged = TK_NEWN(&c->run, bool, t->nregions + 1);
  p->stalls = TK_NEWN(&c->run, prec_stall *, t->program->ninsts + 1);
  p->sizes = TK_NEWN(&c->run, prec_sizes *, t->program->ninsts + 1);
  p->observer = (tki_observer){.ud = p,
                               .program = exact_program,
                               .frame = exact_frame,
                               .trip = exact_trip,
                               .after = exact_after,
                               .settled = exact_settled,
                               .idle = exact_idle,
                               .skips_scans = true};
  tki_observe(t, &p->observer);
  return p;
}

/* Nothing is left to do: every finding was reported where it happened. */
void tkc_PRECISION_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)c, (void)ud, (void)t, (void)st;
}
