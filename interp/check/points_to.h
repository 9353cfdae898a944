/* points_to.h - which tensors the programs of a launch can access, found before
 * the first one runs.
 *
 * A pointer belongs to the tensor that it came from, so the typed form tells
 * which tensors a kernel may load from and store to.  Where it does not (a
 * pointer was made from an integer, or loaded) every tensor may be meant.
 */
#ifndef TK_CHECK_POINTS_TO_H
#define TK_CHECK_POINTS_TO_H

#include "interp/interp.h"

/* What accesses may do to a region, or-ed. */
enum { TKC_LOADS = 1, TKC_STORES = 2, TKC_ATOMICS = 4 };

typedef struct tkc_points_to {
  uint8_t *region; /* by region: what may be done to it */
  /* All atomic operations are of one kind that gives the same in every order,
   * such as sums of integers, or maxima. */
  bool commutes;
  bool results; /* the program uses what atomic operations return */
} tkc_points_to;

tkc_points_to tkc_points_to_find(tk_arena *a, const tki *t);

#endif
