/* part.h - the parts of a tensor that a user names: BUFFER[I, J], and
 * BUFFER[A:B:C, J], which is a view of it.  They are plain values.
 */
#ifndef TK_DEBUG_PART_H
#define TK_DEBUG_PART_H

#include "debug/debug.h"

/* Indices of an axis: n from `from` on, each `step` after the one before. */
typedef struct tkd_range {
  int64_t from, n, step;
  bool one; /* an index, which takes the axis away */
  bool all;
} tkd_range;

/* BUFFER[...]: what is said of its first n axes; the others are whole. */
typedef struct tkd_part {
  int n;
  tkd_range ranges[TK_MAX_RANK];
} tkd_part;

/* The elements of a part of a tensor. */
typedef struct tkd_view {
  char *host; /* the first one */
  tk_type type;
  int64_t strides[TK_MAX_RANK]; /* in bytes */
  int64_t before, size;         /* bytes that it spans before host; from it */
} tkd_view;

/* Where "[I, J]" of it is; "" is its start.  Fails. */
char *tkd_element(tkd *d, const tki_region *r, const char *index,
                  int *rank_left);
/* The lane that "[I, J]" of a block is; "" is that of a scalar.  Fails. */
size_t tkd_lane(tkd *d, const char *name, const tk_type *type,
                const char *index);
/* What "[I, A:B:C]" or "" of it is.  Fails. */
tkd_part tkd_part_of(tkd *d, const tki_region *r, const char *index);
/* False: the tensor has no such part, or one of 2^31 elements or more. */
bool tkd_view_of(const tk_tensor *x, const tkd_part *part, tkd_view *v);
const char *tkd_view_lane(const tkd_view *v, size_t lane);
bool tkd_view_is_dense(const tkd_view *v); /* and in row-major order */

#endif
