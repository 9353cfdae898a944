/* launches.h - the launches of a script: how many there were, and the last of
 * them, recorded so that they can be run again.
 */
#ifndef TK_DEBUG_LAUNCHES_H
#define TK_DEBUG_LAUNCHES_H

#include "debug/debug.h"

/* Most bytes of recorded launches, unless the user says otherwise. */
#define TKD_LAUNCHES ((uint64_t)256 << 20)

/* A launch of the host begins: counts and records it.  One that runs again is
 * set up as it was then. */
void tkd_launch_counted(tkd *d);
/* The number that `launch` of a resume stands for; fails if it cannot be
 * reached. */
uint64_t tkd_launch_wanted(tkd *d, uint64_t number);
void tkd_launches_free(tkd *d);

#endif
