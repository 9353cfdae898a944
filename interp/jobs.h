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
#include "typing/origin.h"

/* What threads run. */
typedef struct tki_shares {
  size_t jobs;   /* threads, the launch's own among them */
  uint64_t from; /* the first program, or place in the order, that is left */
  bool apart;    /* programs cannot see each other (apart.h), and run in the
                    order of the grid */
  const tk_batched *form; /* if they are apart: for batches, or NULL */
} tki_shares;

/* Whether the programs may run at the same time with the bits of the serial
 * run; if not, a note in the report says why.  `unordered`: atomic operations
 * are not a reason, as the user said that their order does not matter. */
bool tki_jobs_possible(tki *t, tki_mode mode, bool unordered);
/* Whether what the launch computes with serves one program at a time. */
bool tki_jobs_need_one(const tki *t);
/* Runs every program that is left once.  Returns false if programs that are
 * apart ran, and two threads may have stored to one element: what is left runs
 * again, in its order, and then memory is what the serial run leaves. */
bool tki_jobs_run(tki *t, const tki_shares *shares);

#endif
