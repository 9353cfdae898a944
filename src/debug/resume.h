/* resume.h - how to go on: a value, said at a stop and carried out when the
 * front end has returned.
 */
#ifndef TK_DEBUG_RESUME_H
#define TK_DEBUG_RESUME_H

#include "debug/debug.h"

/* Notes how to go on; fails, and notes nothing, when that cannot be. */
void tkd_intend(tkd *d, const tk_resume *how);
bool tkd_has_intent(const tkd *d);
void tkd_drop_intent(tkd *d);
/* Carries out what was noted.  True: it has arrived already, at another point
 * in time or in another program; false: programs must run. */
bool tkd_carry_out(tkd *d);
/* When something failed on the way to another point in time: as at the end of
 * the launch, from where all others can be reached. */
void tkd_recover(tkd *d);
/* Calls fn while the debugger is at the first statement of a program;
 * then everything is as it was.  False: it has no statement. */
bool tkd_visit(tkd *d, uint64_t program, void (*fn)(void *ud), void *ud);

#endif
