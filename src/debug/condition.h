/* condition.h - conditions of points.  What is compiled belongs to a site.
 */
#ifndef TK_DEBUG_CONDITION_H
#define TK_DEBUG_CONDITION_H

#include "debug/points.h"

/* Whether it is true on a frame; one that cannot be evaluated there is, and
 * *bad says so: what was reported about it stays, to be dropped. */
bool tkd_condition_holds(tkd *d, const tki_eval *x, const tki_frame *f,
                         bool *bad);
/* On the main stack: tells the front end of a condition that cannot be
 * evaluated, and drops what was reported after the first `before`. */
void tkd_bad_condition(tkd *d, const tkd_point *p, size_t before);
/* On a program's fiber: whether the condition of a site's point holds; compiles
 * it the first time. */
bool tkd_site_condition(tkd *d, tkd_site *s);
/* Whether the front end says that it is hit, if it asks; on the main stack,
 * and on a program's fiber. */
bool tkd_front_agrees(tkd *d, const tkd_point *p);
bool tkd_front_agrees_here(tkd *d, const tkd_point *p);
/* Fails, with what was reported, when a condition can be evaluated at none of
 * the statements where its point is. */
void tkd_need_condition(tkd *d, const tkd_point *p);

#endif
