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

/* elements: as for tkc_blame_new.  Sets t->explain; freed by
 * tkc_explain_free, after the run. */
void tkc_explain_new(tki *t, const char *elements);
/* Begins to watch. */
void tkc_explain_attach(tkc_explain *x);
/* The answer for all of them, as lines of text; runs programs. */
void tkc_explain_text(tkc_explain *x, tk_buf *out);
void tkc_explain_free(tkc_explain *x);

#endif
