/* lanes.h - which lanes of its operands a lane of a result is made of.
 *
 * inst.def says of what kind an instruction is (tk_lanes); here are the lanes
 * themselves, by arithmetic on indices alone.  Where the values decide (a
 * choice, a gather, a sort, a mask), the answer is the lanes that they choose
 * from.  Whoever follows lanes asks here, or switches over tk_inst_lanes: an
 * instruction of an existing kind is then followed as the others are.
 *
 * Nothing here owns anything.  Operands are those of a function f, whose
 * slots have their types.
 */
#ifndef TK_IR_LANES_H
#define TK_IR_LANES_H

#include <stddef.h>

#include "ir/ir.h"

/* ---- one lane ------------------------------------------------------------ */

/* Lanes of one operand: first, first + step, ..., n of them. */
typedef struct tk_lane_set {
  int arg; /* an index in args */
  size_t first, n;
  ptrdiff_t step;
} tk_lane_set;

static inline size_t tk_lane_set_at(const tk_lane_set *s, size_t i) {
  TK_ASSERT(i < s->n);
  return (size_t)((ptrdiff_t)s->first + (ptrdiff_t)i * s->step);
}

/* The sets that a lane of result number `result` is made of, in the order of
 * operands; returns how many they are, at most in->nargs:
 *   SAME     of each operand the lane at the same place
 *   MOVES    one lane
 *   GATHERS  the lanes along the axis; the lane of the second operand whose
 *            value says which of them it is, counted from the first
 *   REDUCES  of each operand the lanes along the axis
 *   SCANS    the same up to its own place, in the order of the scan
 *   SORTS    the lanes along the axis, of which it is one
 *   PRODUCT  a row, a column, and the lane of the addend if there is one
 *   COUNTS   every lane
 *   SCALES   a lane, and the scale of its group if there are scales
 *   GROUPS   of each operand the group of lanes that it belongs to
 * of NONE and CALLS there are none. */
size_t tk_lanes_of(const tk_func *f, const tk_inst *in, int result, size_t lane,
                   tk_lane_set *out);

/* The lane of operand k at the same place: an operand of one lane stands for
 * every lane. */
size_t tk_lanes_own(const tk_func *f, const tk_inst *in, int k, size_t lane);

/* Whether a lane is computed from those at the same place: it is neither
 * chosen among them nor read from memory. */
bool tk_lanes_computed(const tk_inst *in);
/* Whether a result has the operand's lanes, all of them and in their order. */
bool tk_lanes_kept(const tk_inst *in);

/* ---- lines along an axis ------------------------------------------------- */

/* The lanes of a block as lines along one of its axes. */
typedef struct tk_lines {
  size_t count; /* lines */
  size_t n;     /* lanes of each */
  size_t step;  /* from one lane of a line to the next */
} tk_lines;

tk_lines tk_lines_along(const tk_type *t, int axis);
/* Of an instruction with an axis: the lines of its first operand, and those
 * of its result.  Line i of the result is made of line i of the operand; a
 * reduction's has one lane. */
tk_lines tk_lines_read(const tk_inst *in);
tk_lines tk_lines_made(const tk_inst *in);

/* The first lane of line i. */
static inline size_t tk_line_first(const tk_lines *l, size_t i) {
  return i / l->step * l->n * l->step + i % l->step;
}
/* The line that a lane is in, and its place there. */
static inline size_t tk_line_of(const tk_lines *l, size_t lane) {
  return lane / (l->n * l->step) * l->step + lane % l->step;
}
static inline size_t tk_line_place(const tk_lines *l, size_t lane) {
  return lane / l->step % l->n;
}

/* ---- products ------------------------------------------------------------ */

/* `batch` products of an m x k and a k x n matrix. */
typedef struct tk_product {
  size_t batch, m, n, k;
} tk_product;

tk_product tk_product_of(const tk_inst *in);

#endif
