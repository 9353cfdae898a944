/* edit.c - set var, set BUFFER[...]: changes of values and memory. */
#include "debug/edit.h"

#include "debug/frames.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/value.h"
#include "debug/watch.h"

/* The slot of a variable that can be changed; fails. */
static int slot_to_change(tkd *d, const char *name) {
  int slots[2];
  if (!d->at.frame) tkd_raise(d, NO_PROGRAM);
  size_t n = tki_eval_slots(d->at.frame, name, slots, 2);
  if (n == 0) tkd_raise(d, NOT_VARIABLE, name);
  if (n > 1) tkd_raise(d, TUPLE, name);
  if (d->at.frame->func->slots[slots[0]].type.ptr)
    tkd_raise_about(d, name, POINTER, name);
  return slots[0];
}

static void change_slot(tkd *d, int slot, const char *lanes, size_t n) {
  tkd_put_slot(d, d->at.frame, slot, lanes, n);
  tkd_edit *x = tkd_edit_new(d, TKD_SET, lanes, n);
  x->level = d->at.level;
  x->slot = slot;
  tkd_watches_refresh(d);
}

void tkd_assign(tkd *d, const char *name, const char *text) {
  int slot = slot_to_change(d, name);
  tk_type type = d->at.frame->func->slots[slot].type;
  tkd_value v = tkd_evaluate_one(d, d->at.frame, text, &type, "no value");
  change_slot(d, slot, v.bytes, v.n);
}

void tkd_assign_lanes(tkd *d, const char *name, const char *lanes, size_t n) {
  int slot = slot_to_change(d, name);
  const tk_type *type = &d->at.frame->func->slots[slot].type;
  size_t size = (size_t)tk_numel(type) * tk_lane_size(type);
  if (n != size) tkd_raise(d, BYTES, name, size, n);
  change_slot(d, slot, lanes, n);
}

enum { MOST_SET = 1 << 16 };

void tkd_assign_elements(tkd *d, const tki_region *r, const char *index,
                         const char *text) {
  tkd_part part = tkd_part_of(d, r, index);
  tkd_view v;
  if (!tkd_view_of(r->tensor, &part, &v) || tk_numel(&v.type) > MOST_SET)
    tkd_raise(d, SET_MOST, MOST_SET);
  tkd_value x = tkd_evaluate_one(d, d->at.frame, text, &v.type, "no value");
  size_t size = tk_lane_size(&v.type), n = (size_t)tk_numel(&v.type);
  TK_ASSERT(x.n == n * size);
  for (size_t i = 0; i < n; i++) {
    char *host = (char *)tkd_view_lane(&v, i);
    tkd_poke(d, host, x.bytes + i * size, size);
    tkd_edit_new(d, TKD_POKE, x.bytes + i * size, size)->host = host;
  }
  tkd_watches_refresh(d);
}

void tkd_write_memory(tkd *d, char *host, const char *bytes, size_t n) {
  tkd_poke(d, host, bytes, n);
  tkd_edit_new(d, TKD_POKE, bytes, n)->host = host;
  tkd_watches_refresh(d);
}
