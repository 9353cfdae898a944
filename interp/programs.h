/* programs.h - all programs of a launch that nobody drives.
 *
 * Programs that cannot see each other (apart.h) run in batches (batch.h) and,
 * if there is enough to do, on threads (jobs.h); all others run one after the
 * other, as the schedule says.  Tensors and reports are those of the serial
 * run in any case.
 */
#ifndef TK_INTERP_PROGRAMS_H
#define TK_INTERP_PROGRAMS_H

#include "interp/schedule.h"

/* Runs every program of the launch.  jobs: threads, which are possible
 * (jobs.h); 1: none but this; 0: as many as there are processors for this
 * process, if that is safe and takes less time. */
void tki_programs_run(tki *t, tki_mode mode, size_t jobs);

#endif
