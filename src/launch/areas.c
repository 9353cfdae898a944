/* areas.c - the memory that a launch may touch.
 */
#include "launch/areas.h"

#include "internal.h"

tk_memory tk_memory_of(const char *name, const tk_tensor *x) {
  tk_memory r = {
      .name = name, .tensor = x, .readonly = x->flags & TK_TENSOR_READONLY};
  int64_t before, after;
  tkn_tensor_extent(x, &before, &after); /* was checked when it was set */
  if (x->storage) {
    before = (char *)x->data - (char *)x->storage;
    after = (int64_t)x->storage_bytes - before;
  }
  uint64_t base = tk_tensor_address(x);
  r.lo = base - (uint64_t)before;
  r.hi = base + (uint64_t)after;
  r.host = (char *)x->data - before;
  TK_ASSERT(r.lo <= r.hi);
  return r;
}

bool tk_memory_at(const tk_launch *l, size_t i, tk_memory *out) {
  if (i >= l->nargs + l->extras.n) return false;
  const tk_arg *a = i < l->nargs ? &l->args[i] : &l->extras.items[i - l->nargs];
  *out = (tk_memory){.name = a->name};
  if (a->kind == TK_ARG_TENSOR) *out = tk_memory_of(a->name, &a->tensor);
  return true;
}

/* Empty ones are one if they are at the same place. */
static bool areas_meet(const tk_area *a, const tk_area *b) {
  return (a->lo < b->hi && b->lo < a->hi) || (a->lo == b->lo && a->hi == b->hi);
}

/* Joins an area with those behind it that it overlaps, until none does. */
static void join_areas(tk_areas *x, size_t i) {
  tk_area *a = &x->items[i];
  for (size_t k = i + 1; k < x->n;) {
    tk_area b = x->items[k];
    if (!areas_meet(a, &b)) {
      k++;
      continue;
    }
    if (b.lo < a->lo) a->lo = b.lo;
    if (b.hi > a->hi) a->hi = b.hi;
    a->tensors += b.tensors;
    a->writable |= b.writable;
    for (x->n--; k < x->n; k++) x->items[k] = x->items[k + 1];
    k = i + 1;
  }
}

tk_areas tk_areas_of(const tk_launch *l, tk_arena *a) {
  tk_areas x = {0};
  tk_memory m;
  for (size_t i = 0; tk_memory_at(l, i, &m); i++) {
    tk_area area = {m, m.host, m.host + (m.hi - m.lo), 1, !m.readonly};
    if (m.tensor) TK_PUSH(a, &x, area);
  }
  for (size_t i = 0; i < x.n; i++) join_areas(&x, i);
  return x;
}

size_t tk_area_at(const tk_areas *x, const char *at, size_t n) {
  size_t i = 0;
  while (i < x->n && !(x->items[i].lo <= at && at + n <= x->items[i].hi)) i++;
  TK_ASSERT(i < x->n);
  return i;
}

uint64_t tk_area_address(const tk_area *x) {
  return x->first.lo - (uint64_t)(x->first.host - x->lo);
}
