/* extent.c - stretches of memory, and which of them belong
 * together. */
#include "extent.h"

#include <stdlib.h>

typedef struct numbered {
  tk_extent x;
  size_t number;
} numbered;

/* Empty ones come before the others that begin there. */
static int compare_extents(const void *va, const void *vb) {
  const numbered *a = va, *b = vb;
  if (a->x.lo != b->x.lo) return a->x.lo < b->x.lo ? -1 : 1;
  if (a->x.hi != b->x.hi) return a->x.hi < b->x.hi ? -1 : 1;
  return a->number < b->number ? -1 : 1;
}

static bool extents_meet(tk_extent a, tk_extent b) {
  return (a.lo < b.hi && b.lo < a.hi) || (a.lo == b.lo && a.hi == b.hi);
}

/* Joins n sorted extents to those before them that they meet, and numbers what
 * is left in their order; returns how many are left. */
static size_t join_sorted(const numbered *sorted, size_t n, tk_extent *joined,
                          size_t *group) {
  size_t left = 0;
  for (size_t i = 0; i < n; i++) {
    tk_extent x = sorted[i].x;
    if (!left || !extents_meet(joined[left - 1], x))
      joined[left++] = x;
    else if (x.hi > joined[left - 1].hi)
      joined[left - 1].hi = x.hi;
    group[sorted[i].number] = left - 1;
  }
  return left;
}

size_t tk_extents_join(tk_arena *a, tk_extent *x, size_t n, size_t *group) {
  numbered *sorted = TK_NEWN(a, numbered, n + 1);
  tk_extent *joined = TK_NEWN(a, tk_extent, n + 1);
  for (size_t i = 0; i < n; i++) sorted[i] = (numbered){x[i], i};
  qsort(sorted, n, sizeof *sorted, compare_extents);
  size_t left = join_sorted(sorted, n, joined, group), met = 0;
  size_t *order = TK_NEWN(a, size_t, left + 1); /* 0: it was not met yet */
  for (size_t i = 0; i < n; i++) {
    size_t *at = &order[group[i]];
    if (!*at) {
      x[met] = joined[group[i]];
      *at = ++met;
    }
    group[i] = *at - 1;
  }
  TK_ASSERT(met == left);
  return left;
}
