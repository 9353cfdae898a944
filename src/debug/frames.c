/* frames.c - calls, their variables, and the tensors that these stand for. */
#include "debug/frames.h"

#include <string.h>

#include "debug/raise.h"
#include "debug/programs.h"
#include "interp/check/undefined.h"

const tki_frame *tkd_user_frame(const tki_frame *f) {
  while (f && f->func->library) f = f->caller;
  return f;
}

int tkd_depth(const tki_frame *f) {
  int n = 0;
  for (; f; f = f->caller) n += !f->func->library;
  return n;
}

int tkd_line_of(const tki_frame *f) {
  tk_span at = f->stmt ? f->stmt->span : f->func->span;
  return tk_source_line(f->func->src, at.lo);
}

tki_frame *tkd_top(const tkd *d) {
  if (!d->programs.task) return NULL;
  return (tki_frame *)tkd_user_frame(d->programs.task->frame);
}

void tkd_select(tkd *d, int level) {
  tki_frame *f = tkd_top(d);
  for (int i = 0; f && i < level; i++)
    f = (tki_frame *)tkd_user_frame(f->caller);
  TK_ASSERT(level >= 0 && (f || !level));
  d->at.frame = f;
  d->at.level = level;
  d->at.elsewhere = false;
  d->at.selected++;
}

tki_frame *tkd_need_frame(tkd *d) {
  if (!d->t) tkd_raise(d, NO_LAUNCH);
  if (!d->at.frame) tkd_raise(d, NO_PROGRAM_LEFT);
  return d->at.frame;
}

tki_frame tkd_frame_before(tkd *d, const tk_func *f, const tk_stmt *st) {
  tki *t = d->t;
  tki_frame x = {.func = f, .stmt = st};
  x.slots = tk_temp_bytes(&d->mem, f->nslots * sizeof *x.slots);
  for (size_t i = 0; i < f->nslots; i++) x.slots[i].region = TKI_ANY;
  if (f == t->program->kernel)
    for (size_t i = 0; i < f->nparams; i++)
      x.slots[f->params[i]] = t->params[i];
  return x;
}

void tkd_put_slot(tkd *d, tki_frame *f, int slot, const char *bytes, size_t n) {
  TK_ASSERT(slot >= 0 && (size_t)slot < f->func->nslots);
  const tk_type *type = &f->func->slots[slot].type;
  TK_ASSERT(n == (size_t)tk_numel(type) * tk_lane_size(type));
  tki_val v = tki_val_new(d->t, type, (size_t)tk_numel(type));
  memcpy(tki_writable(&v), bytes, n);
  tki_set(d->t, &f->slots[slot], v); /* others may hold the old block */
  tkc_defined_slot(d->t, f, slot);
}

const tki_region *tkd_region(tkd *d, const char *text, size_t n) {
  const tki_frame *f = d->at.frame;
  char *name = tk_temp(&d->mem, text, n);
  const tki_region *found = NULL;
  int slot = -1;
  if (f && tki_eval_slots(f, name, &slot, 1)) {
    const tki_val *v = &f->slots[slot];
    const tk_type *type = &f->func->slots[slot].type;
    if (type->ptr && !type->rank && v->region >= 0 &&
        (size_t)v->region < d->t->nregions)
      found = &d->t->regions[v->region];
  } else {
    for (size_t i = 0; i < d->t->nregions; i++)
      if (d->t->regions[i].name && !strcmp(d->t->regions[i].name, name))
        found = &d->t->regions[i];
  }
  return found && found->tensor ? found : NULL;
}
