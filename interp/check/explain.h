/* explain.h - where an element's value came from.
 *
 * Before a run it starts to keep the memory that programs are about to
 * change, and who writes the elements asked for.  After the run memory is
 * put back and the launch runs once more, up to the last write of an element,
 * with its program traced; then memory is again what the run left.
 */
#ifndef TK_CHECK_EXPLAIN_H
#define TK_CHECK_EXPLAIN_H

#include "interp/check/blame.h"

typedef struct tkc_explain tkc_explain;

/* elements and out: as for tkc_blame_new; freed by tkc_explain_free. */
void tkc_explain_new(tki *t, const char *elements, tkc_explain **out);
/* Begins to watch. */
void tkc_explain_attach(tkc_explain *x);
/* The elements that were asked for. */
const tkc_target *tkc_explain_targets(const tkc_explain *x);
/* Finds out about one of them, in an arena of the caller's.  It runs programs,
 * so that the run must not be freed yet. */
tk_explanation tkc_explain_found(tkc_explain *x, tk_arena *a,
                                 const tkc_target *target);
/* x may be NULL; the run may be over. */
void tkc_explain_free(tk_env *e, tkc_explain *x);

/* The first product of fp32 operands that tf32 cuts off; line 0: there is none.
 */
tk_place tkc_explain_tf32(const tk_program *p);

#endif
