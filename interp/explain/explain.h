/* explain.h - where the value of an element came from.
 *
 * From before the run on, a tke_explain keeps the old contents of the memory
 * that programs change, and notes who writes the elements asked about.  After
 * the run it puts the old contents back and runs the launch once more, up to
 * the last write to an element, while a trace follows the program that makes
 * that write.  Afterwards memory is again what the run left.
 */
#ifndef TK_EXPLAIN_H
#define TK_EXPLAIN_H

#include "interp/explain/blame.h"

typedef struct tke_explain tke_explain;

/* Elements and *out are as for tke_blame_new; tke_explain_free frees it. */
void tke_explain_new(tki *t, const char *elements, tke_explain **out);
/* Begins to watch the run. */
void tke_explain_attach(tke_explain *x);
/* The elements that were asked about. */
const tke_target *tke_explain_targets(const tke_explain *x);
/* Explains one of them, in an arena of the caller's.  This runs programs, so
 * the run must not have been freed yet. */
tk_explanation tke_explain_found(tke_explain *x, tk_arena *a,
                                 const tke_target *target);
/* x may be NULL; the run may be over. */
void tke_explain_free(tk_env *e, tke_explain *x);

/* The first product whose fp32 operands are rounded to tf32; its line is 0 if
 * there is none. */
tk_place tke_explain_tf32(const tk_program *p);

#endif
