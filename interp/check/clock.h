/* clock.h - vector clocks that share what they have in common.
 *
 * A clock maps programs to counts; NULL maps all to 0.  Clocks never change:
 * what makes a new one shares the rest with the old, so that a chain of n
 * programs that wait for each other costs O(n log n) and not O(n * n).
 */
#ifndef TK_CHECK_CLOCK_H
#define TK_CHECK_CLOCK_H

#include "base/env.h"

typedef struct tkc_clock tkc_clock;

typedef struct tkc_clocks {
  tk_arena *arena;
  int depth; /* levels below the root */
} tkc_clocks;

tkc_clocks tkc_clocks_for(tk_arena *a, uint64_t programs);
uint32_t tkc_clock_get(const tkc_clocks *c, const tkc_clock *k,
                       uint64_t program);
const tkc_clock *tkc_clock_set(const tkc_clocks *c, const tkc_clock *k,
                               uint64_t program, uint32_t count);
/* The larger count of each program. */
const tkc_clock *tkc_clock_join(const tkc_clocks *c, const tkc_clock *a,
                                const tkc_clock *b);

#endif
