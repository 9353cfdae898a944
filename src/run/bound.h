/* bound.h - how far two engines may be apart on the same kernel.
 */
#ifndef TK_RUN_BOUND_H
#define TK_RUN_BOUND_H

#include "diff/diff.h"
#include "ir/ir.h"

/* What was seen of a run. */
typedef struct tkr_run_facts {
  uint64_t trips; /* of a program's loops, at most */
  uint32_t added; /* to an element by atomic operations, at most */
  double largest; /* float that was loaded */
} tkr_run_facts;

/* Both may round each float operation in their own way, and sum in their own
 * order: so an element may be off by n units of roundoff, n being the
 * operations that it may come from (Higham, Accuracy and Stability of Numerical
 * Algorithms, section 3.1: gamma_n), of the narrowest type that is computed
 * with.
 *
 * Zero, if every operation is one that has a single right answer: the bits
 * must be the same.  Integers that come of floats may be off by one.  The
 * absolute bound is a part of the largest value, since terms may cancel each
 * other. */
tk_tolerance tkr_bound(const tk_program *p, tk_dtype result,
                       const tkr_run_facts *seen);

#endif
