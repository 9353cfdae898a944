/* stopped.h - where the address came from that a program was stopped at.
 *
 * The program is known from a run before: a trace follows it, and when an
 * access of its stops the run, the lane that must not be touched is explained.
 */
#ifndef TK_EXPLAIN_STOPPED_H
#define TK_EXPLAIN_STOPPED_H

#include "interp/explain/trace.h"

typedef struct tke_stopped {
  tki *t; /* the run that is watched; NULL: none */
  tk_arena *arena;
  tke_trace trace;
  tki_observer observer;
  tk_explanation found; /* no steps: it has not been stopped by an access */
} tke_stopped;

/* Watches a run, of which a program that has begun by then is not seen.  pid:
 * the program; the explanation is made in the arena.  The stopped must be zero,
 * and be given to tke_stopped_end after the run. */
void tke_stopped_begin(tke_stopped *x, tki *t, const int64_t pid[3],
                       tk_arena *a);
/* x may have watched nothing; pool: whether the run's pool still exists. */
void tke_stopped_end(tke_stopped *x, bool pool);

#endif
