/* kept.h - an allocator in front of malloc's that keeps large blocks.
 *
 * Each launch frees the memory of its lanes, and the next one wants the same
 * sizes.  malloc gives such memory back to the system, which then clears and
 * maps every page again: half of the time of a small launch.  So a session
 * keeps some of it, and the next block of exactly that size is one of these.
 * Not for several threads at once.
 */
#ifndef TK_BASE_KEPT_H
#define TK_BASE_KEPT_H

#include <stddef.h>

enum { TK_KEPT_BINS = 12 };

typedef struct tk_kept {
  struct tk_kept_block *bins[TK_KEPT_BINS]; /* in each, blocks of one size */
  size_t bytes;                             /* of all of them */
} tk_kept;

/* A tk_alloc_fn whose ud is a tk_kept; all zero, it keeps nothing yet. */
void *tk_kept_alloc(void *ud, void *p, size_t old, size_t size);
/* Frees what is kept. */
void tk_kept_free(tk_kept *k);

#endif
