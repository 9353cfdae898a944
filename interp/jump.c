/* jump.c - a debugger's user goes on at another statement of a body.
 *
 * Variables that only the skipped statements would have assigned have no
 * lanes yet, and what comes next may read them: they get zeros, and are
 * marked as unassigned in their frame until something is assigned to them.
 * Until then, or until the frame ends, an observer of ours sees every
 * instruction; a run in which nobody jumps has none.
 */
#include <string.h>

#include "interp/interp.h"

/* ---- marks ------------------------------------------------------------- */

bool tki_is_unassigned(const tki_frame *f, int slot) {
  return f->unassigned && f->unassigned[slot];
}

void tki_is_assigned(const tki_frame *f, int slot) {
  TK_ASSERT((size_t)slot < f->func->nslots);
  if (f->unassigned) f->unassigned[slot] = 0;
}

static void unassigned_after(void *ud, tki *t, const tk_inst *in,
                             const tki_val *args) {
  (void)ud, (void)args;
  for (int k = 0; k < in->nres; k++) tki_is_assigned(t->frame, in->res[k]);
}

static void unassigned_frame(void *ud, tki *t, bool begins) {
  tki_frame *f = t->frame;
  (void)ud;
  if (begins || !f->unassigned) return;
  TK_ASSERT(t->unassigned);
  tki_scratch_free(t, f->unassigned);
  f->unassigned = NULL;
  t->unassigned--;
}

static void mark_unassigned(tki *t, int slot) {
  tki_frame *f = t->frame;
  if (!f->unassigned) {
    f->unassigned = tki_scratch_zero(t, f->func->nslots + 1);
    t->unassigned++;
  }
  f->unassigned[slot] = 1;
  const tki_observer *o = t->observers;
  while (o && o != &t->jumps) o = o->next;
  if (o) return;
  t->jumps =
      (tki_observer){.after = unassigned_after, .frame = unassigned_frame};
  tki_observe(t, &t->jumps);
}

/* ---- statements that are skipped --------------------------------------- */

/* A slot that was ever assigned has lanes, or a region: a frame begins
 * with neither. */
static bool was_assigned(const tk_type *type, const tki_val *v) {
  return type->rank ? tki_has_value(v, type)
                    : v->region != 0 || !tki_is_zero(v);
}

/* Leaves a slot unassigned that `in` would have assigned for the first time. */
static void skip_slot(tki *t, const tk_inst *in, int slot) {
  tki_frame *f = t->frame;
  const tk_slot *s = &f->func->slots[slot];
  if (!s->name || was_assigned(&s->type, &f->slots[slot])) return;
  size_t n = (size_t)tk_numel(&s->type);
  f->slots[slot] = tki_val_zero(t, &s->type, n);
  mark_unassigned(t, slot);
  const tk_inst *at = f->inst;
  f->inst = in;
  TKI_TELL(t, unassigned, t, slot);
  f->inst = at;
}

static bool skip_inst(void *ud, const tk_at *at, const tk_inst *in) {
  (void)at;
  for (int k = 0; k < in->nres; k++) skip_slot(ud, in, in->res[k]);
  return true;
}

/* The variable of a loop that is skipped need not be marked: it is not known
 * after the loop. */
size_t tki_jump(tki *t, const tk_body *b, size_t from) {
  size_t to = from;
  TK_ASSERT(t->jump && from <= b->n);
  for (size_t k = 0; k < b->n; k++)
    if (b->items[k] == t->jump) to = k;
  t->jump = NULL;
  for (size_t i = from; i < to; i++)
    tk_walk_stmt(t->frame->func, b->items[i],
                 &(tk_walk){.ud = t, .inst = skip_inst});
  return to;
}
