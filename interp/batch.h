/* batch.h - several programs of a launch at once.
 *
 * Small programs take less time than the walk over their statements.  Where
 * nothing lets programs see each other, the form for some neighbours at once
 * (ir/batch.h) runs in their place.  Tensors then hold the bits of the serial
 * run.  If a batch fails, for whatever reason, its programs and all after it
 * run one by one, so that what is reported is that of the serial run; tensors
 * may then also hold what programs after the one that failed have stored.  A
 * batch in which stores of two programs may have changed places (reach.h)
 * counts as failed; its programs store the same again, in their order.
 */
#ifndef TK_INTERP_BATCH_H
#define TK_INTERP_BATCH_H

#include "interp/interp.h"
#include "interp/reach.h"
#include "ir/varying.h"

/* Who runs ranges of a launch's programs; a thread has one of its own. */
typedef struct tki_batch {
  tki *t;                 /* runs single programs */
  tki own;                /* runs batches, once it is open */
  tki_reach reach;        /* of the programs of the last one */
  const tk_batched *form; /* NULL: they run one by one */
  bool open, failed;      /* a batch failed */
  uint64_t at;            /* the first program that has not run */
} tki_batch;

/* The form for programs that are apart (apart.h), which neighbours share; NULL:
 * it cannot be made, or is not worth it. */
const tk_batched *tki_batch_form(tki *t, const tk_varying *v);

/* Makes x one that has nothing yet, and that fails in t's environment.  It is
 * to be ended in any case. */
void tki_batch_begin(tki_batch *x, tki *t, const tk_batched *form);
/* Runs the programs from .. to - 1 of the grid.  A failure is that of the
 * program x->at. */
void tki_batch_run(tki_batch *x, uint64_t from, uint64_t to);
void tki_batch_end(tki_batch *x);

#endif
