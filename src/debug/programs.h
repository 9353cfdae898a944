/* programs.h - programs that are half done, each on a fiber of its own.  They
 * belong to the schedule of the launch (interp/schedule.h).
 */
#ifndef TK_DEBUG_PROGRAMS_H
#define TK_DEBUG_PROGRAMS_H

#include "debug/debug.h"

/* Runs the program that is current until something stops it. */
void tkd_run_on(tkd *d);
/* The program that the schedule names is current; NULL task: all are done. */
void tkd_choose(tkd *d);
void tkd_drop_programs(tkd *d);
/* Makes a program current; begins it if it has not begun. */
void tkd_switch(tkd *d, uint64_t index);
/* ... to one that was left before a statement, and looks at it. */
void tkd_take_up(tkd *d, uint64_t index);
/* How many programs the user began out of their order. */
static inline size_t tkd_ahead(const tkd *d) {
  return d->programs.schedule->nahead;
}

#endif
