/* stop.h - stopping a program, and what the interpreter is to tell for it.
 */
#ifndef TK_DEBUG_STOP_H
#define TK_DEBUG_STOP_H

#include "debug/debug.h"

/* On the fiber of a program: it pauses here; when searching, the place is
 * noted instead. */
void tkd_stop_here(tkd *d, tk_stop_reason r, const tkd_point *p,
                   const char *text);
/* Does work on the main stack, from the fiber of a program. */
void tkd_on_main(tkd *d, void (*work)(tkd *d));
/* The clock of a move or a run aside that begins at an event: the front end
 * hears of it if it takes long. */
tkd_clock tkd_clock_from(const tkd *d, uint64_t event);
/* At the event that is due: returns whether it is time to say how far it is. */
bool tkd_clock_tells(tkd_clock *c, uint64_t event);
/* The same for the move that is on its way; tells the front end. */
void tkd_clock_look(tkd *d);
/* The number of the operation before which the program stands; 0: it stands
 * before its statement, or after the operations that were counted. */
static inline uint64_t tkd_operation(const tkd *d) {
  return d->at.sub == TKD_LATE ? 0 : d->at.sub;
}
/* Whether programs are not to be stopped, for the rest of the launch. */
static inline bool tkd_is_left_alone(const tkd *d) {
  return d->launch.detached || d->launch.leaves;
}
/* Makes the interpreter call the hooks wherever something may have to be done:
 * to be called whenever that may have changed. */
void tkd_arm(tkd *d);
void tkd_ctrl_c(tkd *d); /* while programs run */
/* Whether the program stands where a function is about to return. */
bool tkd_is_leaving(const tkd *d);
/* What was reported, from number `first` on, to be handed out. */
const tk_finding *const *tkd_findings_from(tkd *d, size_t first, size_t *n);
void tkd_notice(tkd *d, const tk_notice *notice);

#endif
