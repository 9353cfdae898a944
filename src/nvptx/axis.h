/* axis.h - what is known of integers and pointers along each axis of a block,
 * before a kernel runs.
 *
 * As in Triton (include/triton/Analysis/AxisInfo.h), of each axis:
 *   contiguity    that many neighbours, counted from multiples of it, go up by
 *                 one (pointers: by one element)
 *   constancy     that many neighbours, likewise, are equal
 *   divisibility  the first of each group of `contiguity` neighbours is a
 *                 multiple of it (pointers: in bytes)
 * All are powers of two.  A scalar has one axis of one lane.  It is assumed, as
 * Triton does, that sums and conversions of indices do not wrap around, and
 * that divisors are positive.
 *
 * Facts belong to the arena that they are made
 * in. */
#ifndef TK_NVPTX_AXIS_H
#define TK_NVPTX_AXIS_H

#include "ir/ir.h"

/* The largest divisor that is kept; the divisor of 0. */
#define TKV_MOST_DIVISIBLE ((int64_t)1 << 40)

typedef struct tkv_fact {
  bool known; /* the walk came to it */
  bool at_least_0;
  bool is_const; /* every lane is `value` */
  int64_t value;
  int64_t contiguity[TK_MAX_RANK], constancy[TK_MAX_RANK],
      divisibility[TK_MAX_RANK];
} tkv_fact;

/* Indexed by the function's number, then by slot. */
typedef struct tkv_facts {
  tkv_fact **of;
} tkv_facts;

/* Works out the facts of a program in single assignment. */
tkv_facts tkv_find_facts(tk_arena *a, const tk_program *p);
/* Prints the program, with what is known of each integer and pointer. */
void tkv_print_facts(tk_buf *out, const tk_program *p);

#endif
