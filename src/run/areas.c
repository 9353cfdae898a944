/* areas.c - the memory of a launch, each byte of it once. */
#include "run/areas.h"

/* Joins an area with those behind it that it overlaps, until none does. */
static void join_areas(tkr_areas *x, size_t i) {
  tkr_area *a = &x->items[i];
  for (size_t k = i + 1; k < x->n;) {
    tkr_area b = x->items[k];
    if (b.lo >= a->hi || a->lo >= b.hi) {
      k++;
      continue;
    }
    if (b.lo < a->lo) a->lo = b.lo;
    if (b.hi > a->hi) a->hi = b.hi;
    for (x->n--; k < x->n; k++) x->items[k] = x->items[k + 1];
    k = i + 1;
  }
}

tkr_areas tkr_areas_of(const tk_launch *l, tk_arena *a) {
  tkr_areas x = {0};
  tk_memory m;
  for (size_t i = 0; tk_memory_at(l, i, &m); i++) {
    tkr_area area = {m.name, m.host, m.host + (m.hi - m.lo)};
    if (m.tensor && m.hi > m.lo) TK_PUSH(a, &x, area);
  }
  for (size_t i = 0; i < x.n; i++) join_areas(&x, i);
  return x;
}

size_t tkr_area_at(const tkr_areas *x, const char *at) {
  size_t i = 0;
  while (i < x->n && !(x->items[i].lo <= at && at < x->items[i].hi)) i++;
  TK_ASSERT(i < x->n);
  return i;
}
