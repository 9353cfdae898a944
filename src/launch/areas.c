/* areas.c - the memory that a launch may touch.
 */
#include "launch/areas.h"

#include "base/extent.h"
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

/* Gives areas the extents that those of single tensors were joined to. */
static void join_areas(tk_areas *x, tk_arena *a) {
  size_t n = x->n, *group = TK_NEWN(a, size_t, n + 1);
  tk_extent *extents = TK_NEWN(a, tk_extent, n + 1);
  for (size_t i = 0; i < n; i++)
    extents[i] =
        (tk_extent){(uintptr_t)x->items[i].lo, (uintptr_t)x->items[i].hi};
  x->n = tk_extents_join(a, extents, n, group);
  for (size_t i = 0, begun = 0; i < n; i++) {
    tk_area own = x->items[i], *to = &x->items[group[i]];
    TK_ASSERT(group[i] <= begun); /* groups go by their first tensors */
    if (group[i] == begun) {      /* the first tensor of its area */
      *to = own;
      begun++;
      continue;
    }
    if (own.lo < to->lo) to->lo = own.lo;
    if (own.hi > to->hi) to->hi = own.hi;
    to->tensors += own.tensors;
    to->writable |= own.writable;
  }
}

tk_areas tk_areas_of(const tk_launch *l, tk_arena *a) {
  tk_areas x = {0};
  tk_memory m;
  for (size_t i = 0; tk_memory_at(l, i, &m); i++) {
    tk_area area = {m, m.host, m.host + (m.hi - m.lo), 1, !m.readonly};
    if (m.tensor) TK_PUSH(a, &x, area);
  }
  join_areas(&x, a);
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
