/* jobs.h - programs of a launch that run at the same time, on threads.
 *
 * Every thread has an interpreter of its own: pool, slots, frames, a place to
 * fail.  They share the typed form, the parameters and the tensors.  Threads
 * take programs in the order of the launch, a few at a time.  When one fails,
 * those before it in the order still run, so that the finding reported is that
 * of the serial run; tensors then also hold what some programs after it have
 * stored.
 */
#ifndef TK_INTERP_JOBS_H
#define TK_INTERP_JOBS_H

#include "interp/schedule.h"

/* Whether the programs may run at the same time with the bits of the serial
 * run; if not, a note in the report says why.  `unordered`: atomic operations
 * are not a reason, as the user said that their order does not matter. */
bool tki_jobs_possible(tki *t, tki_mode mode, bool unordered);
/* Runs every program of the grid once, on `jobs` threads. */
void tki_jobs_run(tki *t, size_t jobs);

/* Enclose what two programs must not do at the same time. */
void tki_jobs_lock(tki *t);
void tki_jobs_unlock(tki *t);

#endif
