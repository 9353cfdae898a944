/* eval.h - a debugger's expressions, run on a frame of a paused program.
 *
 * What tki_eval_new returns belongs to the caller.  The observers of a run are
 * not told of expressions, and these change neither variables nor memory.
 */
#ifndef TK_INTERP_EVAL_H
#define TK_INTERP_EVAL_H

#include "interp/interp.h"
#include "typing/eval.h"

typedef tk_eval tki_eval;

/* Compiles text in the scope of the statement that f is at; typing/eval.h says
 * what it may contain.  The value is cast and broadcast to `want`, unless that
 * is NULL.  If the text does not compile, this reports so with a caret into
 * the text and throws TK_USAGE. */
tki_eval *tki_eval_new(tki *t, const tki_frame *f, const char *text,
                       const tk_type *want);
void tki_eval_free(tki_eval *x);

/* Runs it on f, a frame of the function and at a statement with the scope
 * that it was compiled for.  out gets x->n values, to be released.  A finding
 * on the way (a load outside of its tensor) is reported and thrown. */
void tki_eval_run(tki *t, const tki_eval *x, const tki_frame *f, tki_val *out);
/* The same, but the observer o, and no other, is told of what happens. */
void tki_eval_observed(tki *t, const tki_eval *x, const tki_frame *f,
                       tki_val *out, tki_observer *o);

/* Gives the slots that hold a variable where f is (a tuple has several), the
 * first max of them, and returns how many it gave; 0: there is no such
 * variable, or its value is known at compile time. */
size_t tki_eval_slots(const tki_frame *f, const char *name, int *slots,
                      size_t max);
/* Whether a variable is one scalar or block, rather than a tuple, descriptor
 * or block pointer. */
bool tki_eval_is_plain(const tki_frame *f, const char *name);
/* The names of the variables that are known where f is, newest first and each
 * once: gives the first max of them and returns how many there are. */
size_t tki_eval_names(const tki_frame *f, const char **names, size_t max);

#endif
