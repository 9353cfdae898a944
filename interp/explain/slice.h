/* slice.h - where a value came from: backward slices of a traced program.
 *
 * tke_slice_operands says which lanes of which operands one lane was computed
 * from.  tke_slice_value follows these back, and makes of them the steps of an
 * explanation (tkdbg/results.h).
 */
#ifndef TK_EXPLAIN_SLICE_H
#define TK_EXPLAIN_SLICE_H

#include "interp/explain/trace.h"

/* A lane of an operand. */
typedef struct tke_operand {
  int arg;
  size_t lane;
  bool address; /* it says where the value was read, not what it is */
} tke_operand;

typedef struct tke_operands {
  tke_operand *items;
  size_t n, cap;
  size_t terms; /* so many of the last ones are terms of a long operation, */
  size_t each;  /* and each term consists of so many operands */
  bool odd;     /* the first of them is one that is not finite */
} tke_operands;

/* Gives the operands that a lane of a node's result was computed from; of a
 * STORE, those of what the lane writes.  Of a choice only the side that was
 * taken is given.  `out` is empty, or was used before with the same arena. */
void tke_slice_operands(tk_arena *a, const tke_node *n, int result, size_t lane,
                        tke_operands *out);

/* How many steps an explanation has at most, unless somebody asks for more. */
enum { TKE_SLICE_STEPS = 64 };

/* Makes the slice of one lane, of at most `most` steps, in an arena of the
 * caller's.  Sets the steps and the scope of the explanation. */
void tke_slice_value(tke_trace *x, tk_arena *a, tke_ref r, size_t lane,
                     size_t most, tk_explanation *out);
/* Makes the slice of what a lane of a store or atomic operation wrote, with its
 * mask and address.  Sets the place of the explanation as well. */
void tke_slice_store(tke_trace *x, tk_arena *a, tke_ref store, size_t lane,
                     size_t most, tk_explanation *out);

#endif
