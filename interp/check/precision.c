/* precision.c - the float64 run's tables and frames.
 *
 * A frame's table has an entry for each slot; a frame of a program that is
 * not run in float64 has none.  Functions that a reduction or scan calls have
 * none either: what they return counts as exact.
 */
#include "interp/check/precision.h"

#include "base/extent.h"
#include "interp/check/points_to.h"

#include <string.h>

/* ---- tables -------------------------------------------------------------- */

/* A table has one more entry, before those of the slots, which is marked as
 * present; in the empty table that stands for one not yet made, it is not. */
static tkc_prec_shadow *tkc_prec_table(const tki_frame *f) {
  tkc_prec_shadow *table = f->shadow[TKI_SHADOW_PRECISION];
  return table && table->present ? table + 1 : NULL;
}

tkc_prec_shadow *tkc_prec_of(const tki *t, int slot) {
  tkc_prec_shadow *table = tkc_prec_table(t->frame);
  return table && table[slot].present ? &table[slot] : NULL;
}

void tkc_prec_drop(tki *t, tkc_prec_shadow *s) {
  tki_release(t, &s->exact);
  tki_release(t, &s->marks);
  memset(s, 0, sizeof *s);
}

tkc_prec_shadow tkc_prec_share(const tkc_prec_shadow *s) {
  tkc_prec_shadow r = *s;
  r.exact = tki_share(&s->exact);
  r.marks = tki_share(&s->marks);
  return r;
}

void tkc_prec_clear(tki *t, int slot) {
  tkc_prec_shadow *s = tkc_prec_of(t, slot);
  if (s) tkc_prec_drop(t, s);
}

void tkc_prec_set(tki *t, int slot, tkc_prec_shadow s) {
  tkc_prec_shadow *table = tkc_prec_table(t->frame);
  if (!table) {
    table = tki_scratch_zero(t, (t->frame->func->nslots + 1) * sizeof s);
    table->present = true;
    t->frame->shadow[TKI_SHADOW_PRECISION] = table++;
  }
  tkc_prec_drop(t, &table[slot]);
  table[slot] = s;
}

/* ---- frames -------------------------------------------------------------- */

/* In a sampled run, the first FIRST programs and then every EVERY-th one are
 * run in float64. */
enum { FIRST = 2, EVERY = 8 };

static bool is_chosen(tkc_prec *p) {
  uint64_t i = p->programs++;
  return !p->sampled || i < FIRST || i % EVERY == 0;
}

static void enter_exact(tkc_prec *p, tki *t) {
  tki_frame *f = t->frame, *from = f->caller;
  if (!from) {
    f->shadow[TKI_SHADOW_PRECISION] = is_chosen(p) ? &p->none : NULL;
    return;
  }
  const tk_inst *call = tki_call_of(f);
  if (!call || !from->shadow[TKI_SHADOW_PRECISION]) return;
  f->shadow[TKI_SHADOW_PRECISION] = &p->none;
  tkc_prec_shadow *table = tkc_prec_table(from);
  for (size_t i = 0; table && i < f->func->nparams && i < call->nargs; i++) {
    tkc_prec_shadow *s = &table[call->args[i]];
    if (s->present) tkc_prec_set(t, f->func->params[i], tkc_prec_share(s));
  }
}

static void drop_returned(tkc_prec *p, tki *t) {
  for (size_t i = 0; i < p->nreturned; i++) tkc_prec_drop(t, &p->returned[i]);
  p->nreturned = 0;
}

static void keep_returned(tkc_prec *p, tki *t, const tkc_prec_shadow *table) {
  const tk_stmt *st = t->frame->stmt;
  size_t n = st && st->kind == TK_S_RETURN ? st->nresults : 0;
  while (p->cap_returned < n)
    p->returned = tk_arena_grow(&p->c->run, p->returned, sizeof *p->returned,
                                &p->cap_returned);
  for (size_t i = 0; i < n; i++)
    p->returned[i] = tkc_prec_share(&table[st->results[i]]);
  p->nreturned = n;
}

static void leave_exact(tkc_prec *p, tki *t) {
  tkc_prec_shadow *table = tkc_prec_table(t->frame);
  drop_returned(p, t);
  t->frame->shadow[TKI_SHADOW_PRECISION] = NULL;
  if (!table) return;
  keep_returned(p, t, table);
  for (size_t i = 0; i < t->frame->func->nslots; i++)
    if (table[i].present) tkc_prec_drop(t, &table[i]);
  tki_scratch_free(t, table - 1);
}

static void exact_frame(void *ud, tki *t, bool begins) {
  if (begins)
    enter_exact(ud, t);
  else
    leave_exact(ud, t);
}

static void take_returned_exact(tkc_prec *p, tki *t, const tk_inst *in) {
  for (size_t i = 0; i < in->nres; i++) {
    tkc_prec_clear(t, in->res[i]);
    if (i < p->nreturned && p->returned[i].present)
      tkc_prec_set(t, in->res[i], tkc_prec_share(&p->returned[i]));
  }
  drop_returned(p, t);
}

/* ---- hooks --------------------------------------------------------------- */

/* Temporaries that end with the instruction. */
static void end_operands(tki *t, const tk_inst *in) {
  for (uint32_t k = 0, bits = in->kill; bits; k++, bits >>= 1) {
    bool lives = !(bits & 1);
    for (int i = 0; i < in->nres; i++) lives |= in->res[i] == in->args[k];
    if (!lives) tkc_prec_clear(t, in->args[k]);
  }
}

static void exact_after(void *ud, tki *t, const tk_inst *in,
                        const tki_val *args) {
  tkc_prec *p = ud;
  bool watched = t->frame->shadow[TKI_SHADOW_PRECISION] != NULL;
  if (in->op == TK_I_STORE)
    tkc_prec_store(p, t, in, args, watched);
  else if (in->op == TK_I_ATOMIC || in->op == TK_I_CAS)
    tkc_prec_atomic(p, t, in, args, watched);
  else if (watched && in->op == TK_I_CALL)
    take_returned_exact(p, t, in);
  else if (watched)
    tkc_prec_pass(p, t, in, args);
  if (watched && in->kill) end_operands(t, in);
}

/* Only programs that also run in float64 know the errors. */
static bool exact_settled(void *ud, tki *t, const tk_inst *in) {
  (void)ud;
  bool watched = t->frame->shadow[TKI_SHADOW_PRECISION] != NULL;
  for (int k = 0; k < in->nres; k++) watched &= !tkc_prec_of(t, in->res[k]);
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
  tkc_prec *p = ud;
  if (!begins || t->task || !p->sources.n) return;
  memset(p->last, 0, (t->program->ninsts + 1) * sizeof *p->last);
  p->sources.n = 0;
}

static void exact_trip(void *ud, tki *t, const tk_stmt *st) {
  (void)ud;
  if (st->kind == TK_S_FOR) tkc_prec_clear(t, st->iv);
}

/* Which regions hold what is read, or touch one that does.  A debugger's user
 * may make pointers into tensors that the kernel's pointers do not reach. */
static bool *find_kept(tkc *c, const tki *t, bool all) {
  size_t n = t->nregions;
  tkc_points_to to = tkc_points_to_find(&c->run, t);
  tk_extent *x = TK_NEWN(&c->run, tk_extent, n + 1);
  size_t *group = TK_NEWN(&c->run, size_t, n + 1);
  bool *read = TK_NEWN(&c->run, bool, n + 1),
       *kept = TK_NEWN(&c->run, bool, n + 1);
  for (size_t i = 0; i < n; i++)
    x[i] = (tk_extent){t->regions[i].lo, t->regions[i].hi};
  tk_extents_join(&c->run, x, n, group);
  for (size_t i = 0; i < n; i++)
    read[group[i]] |=
        all || t->driver || to.region[i] & (TKC_LOADS | TKC_ATOMICS);
  for (size_t i = 0; i < n; i++) kept[i] = read[group[i]];
  return kept;
}

tkc_prec *tkc_prec_begin(tkc *c, tki *t, bool twin) {
  tkc_prec *p = TK_NEW(&c->run, tkc_prec);
  memset(p, 0, sizeof *p);
  p->c = c;
  p->twin = twin;
  p->sampled = c->all;
  p->last = TK_NEWN(&c->run, tkc_prec_id, t->program->ninsts + 1);
  p->kept = find_kept(c, t, twin);
  p->paged = TK_NEWN(&c->run, bool, t->nregions + 1);
  p->stalls = TK_NEWN(&c->run, tkc_prec_stall *, t->program->ninsts + 1);
  p->sizes = TK_NEWN(&c->run, tkc_prec_sizes *, t->program->ninsts + 1);
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

void *tkc_PRECISION_begin(tkc *c, tki *t) {
  return tkc_prec_begin(c, t, false);
}

void tkc_PRECISION_end(tkc *c, void *ud, tki *t, tk_status st) {
  (void)c, (void)t, (void)st;
  tkc_prec_conclude(ud);
}
