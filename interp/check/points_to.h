/* points_to.h - what memory the programs of a launch can get at, known before
 * the first runs.
 *
 * A pointer belongs to the tensor that it came from, so the typed form tells
 * which tensors a kernel may load from and store to.  Where it does not (a
 * pointer made from an integer, or loaded) every tensor may be meant.
 */
#ifndef TK_CHECK_POINTS_TO_H
#define TK_CHECK_POINTS_TO_H

#include "interp/interp.h"

/* By region: what an access may do to it. */
enum { TKC_LOADS = 1, TKC_STORES = 2, TKC_ATOMICS = 4 };

typedef struct tkc_points_to {
  uint8_t *region;
  /* Every atomic operation is the same, and leaves the same whatever the
   * order: sums of integers, the largest, ... */
  bool commutes;
  bool results; /* of atomic operations are used */
} tkc_points_to;

tkc_points_to tkc_points_to_find(tk_arena *a, const tki *t);

#endif
