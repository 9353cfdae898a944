/* bound.h - how far two engines may be apart on the same kernel.
 */
#ifndef TK_RUN_BOUND_H
#define TK_RUN_BOUND_H

#include "diff/diff.h"
#include "ir/ir.h"

/* Both may round each float operation in their own way, and sum in their own
 * order: so an element may be off by n units of roundoff, n being the
 * operations that it may come from (Higham, Accuracy and Stability of Numerical
 * Algorithms, section 3.1: gamma_n), of the narrowest type that is computed
 * with.  `trips` is how often a loop's body may run in a program.
 *
 * Zero, if every operation is one that has a single right answer: the bits
 * must be the same.  Integers that come of floats may be off by one.  The
 * absolute bound is a part of the largest value, `largest`, since terms may
 * cancel each other. */
tk_tolerance tkr_bound(const tk_program *p, tk_dtype result, uint64_t trips,
                       double largest);

#endif
