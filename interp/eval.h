/* eval.h - a debugger's expressions, run on a frame of a paused program.
 *
 * What tki_eval_new returns belongs to the caller.  Nothing here tells
 * a run's observers, and no variable or memory changes.
 */
#ifndef TK_INTERP_EVAL_H
#define TK_INTERP_EVAL_H

#include "interp/interp.h"
#include "spec/eval.h"

typedef tk_eval tki_eval;

/* Compiles text in the scope of the statement at which f stands; see
 * ir/eval.h for what it may say.  want: the value is cast and broadcast to
 * that type; NULL leaves it as it is.  Reports with a caret into the text and
 * throws TK_USAGE. */
tki_eval *tki_eval_new(tki *t, const tki_frame *f, const char *text,
                       const tk_type *want);
void tki_eval_free(tki_eval *x);

/* Runs it on f, a frame of the function and at a statement with the scope
 * that it was compiled for.  out gets x->n values, to be released.  A finding
 * on the way (a load outside of its tensor) is reported and thrown. */
void tki_eval_run(tki *t, const tki_eval *x, const tki_frame *f, tki_val *out);
/* The same; o alone is told of it. */
void tki_eval_observed(tki *t, const tki_eval *x, const tki_frame *f,
                       tki_val *out, tki_observer *o);

/* The slots that hold a variable where f stands (a tuple has several); how
 * many were found, 0: no such variable, or it is known at compile time. */
size_t tki_eval_slots(const tki_frame *f, const char *name, int *slots,
                      size_t max);
/* Whether it is one scalar or block: no tuple, descriptor or block pointer. */
bool tki_eval_is_plain(const tki_frame *f, const char *name);
/* The i-th variable known where f stands, newest first, each name once; NULL
 * at the end. */
const char *tki_eval_name(const tki_frame *f, size_t i);

#endif
