/* batch.h - several programs of a launch at once.
 *
 * Small programs take less time than the walk over their statements.  Where
 * nothing lets programs see each other, the form for some neighbours at once
 * (ir/batch.h) runs in their place.  Tensors then hold the bits of the serial
 * run.  If a batch fails, for whatever reason, its programs and all after it
 * run one by one, so that what is reported is that of the serial run; tensors
 * may then also hold what programs after the one that failed have stored.
 */
#ifndef TK_INTERP_BATCH_H
#define TK_INTERP_BATCH_H

#include "interp/schedule.h"

/* Runs every program of the launch in its order: in batches where that can be,
 * else one by one. */
void tki_batch_run(tki *t, tki_mode mode);

#endif
