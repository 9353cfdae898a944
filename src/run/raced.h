/* raced.h - where lanes or programs of a launch race.
 */
#ifndef TK_RUN_RACED_H
#define TK_RUN_RACED_H

#include "run/expect.h"

/* The first race that the detector finds in the launch, which it watches while
 * `own`, the interpreter, runs it on memory as it is.  What it is said of
 * belongs to the arena.  False: there is none. */
bool tkr_find_race(tk_launch *l, tkr_run_fn own, const tk_run_options *options,
                   tk_arena *a, tk_place *place, const char **message);

#endif
