/* apart.h - whether the programs of a launch cannot see each other.
 *
 * Then they may run at the same time, and again: no program reads what any of
 * them stores, none of their operations is atomic, and none waits.  An atomic
 * operation may be what they do last (tk_varying.atomics): then they may run at
 * the same time up to there.
 */
#ifndef TK_INTERP_APART_H
#define TK_INTERP_APART_H

#include "interp/schedule.h"
#include "ir/varying.h"

/* What varies between programs that are neighbours in the grid; NULL: they
 * might see each other, somebody watches them, or they are not to run in the
 * plain order. */
const tk_varying *tki_apart(tki *t, tki_mode mode);

#endif
