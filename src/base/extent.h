/* extent.h - stretches of memory, and which of them belong together.
 */
#ifndef TK_BASE_EXTENT_H
#define TK_BASE_EXTENT_H

#include "env.h"

/* The bytes from lo to hi - 1. */
typedef struct tk_extent {
  uint64_t lo, hi;
} tk_extent;

/* Joins those of n extents that overlap, and empty ones at the same place,
 * until none do any more.  What is left stands at the front, in the order of
 * the first extent of each; group[i] says which of them extent i is part of.
 * The arena is for what it needs.  Returns how many are left. */
size_t tk_extents_join(tk_arena *a, tk_extent *x, size_t n, size_t *group);

#endif
