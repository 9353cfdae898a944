/* slice.h - where a value came from: backward slices of a traced program.
 *
 * tkc_slice_operands says which lanes of which operands a lane was made of;
 * tkc_slice_value follows them and makes the steps of an explanation
 * (tkdbg/results.h).
 */
#ifndef TK_CHECK_SLICE_H
#define TK_CHECK_SLICE_H

#include "interp/check/trace.h"

/* A lane of an operand. */
typedef struct tkc_operand {
  int arg;
  size_t lane;
  bool address; /* it says where the lane lies, not what it is */
} tkc_operand;

typedef struct tkc_operands {
  tkc_operand *items;
  size_t n, cap;
  size_t terms; /* the last ones, by `each`, are terms of a long operation */
  size_t each;
} tkc_operands;

/* Gives the operands that a lane of a node's result was made of, or a lane of
 * what it writes if it is a STORE.  Of a choice, that is the side which was
 * taken.  `out` is empty, or was used before with the same arena. */
void tkc_slice_operands(tk_arena *a, const tkc_node *n, int result, size_t lane,
                        tkc_operands *out);

enum { TKC_SLICE_STEPS = 64 };

/* Makes the slice of a lane: the steps, at most `most` of them, and the scope
 * of an explanation, in an arena of the caller's. */
void tkc_slice_value(tkc_trace *x, tk_arena *a, tkc_ref r, size_t lane,
                     size_t most, tk_explanation *out);
/* Makes the slice of what a store or atomic operation wrote to a lane, with
 * its mask and address; sets the place as well. */
void tkc_slice_store(tkc_trace *x, tk_arena *a, tkc_ref store, size_t lane,
                     size_t most, tk_explanation *out);

#endif
