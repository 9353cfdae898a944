/* fiber.h - a function with a stack of its own, which can pause.
 *
 * A fiber belongs to whoever made it and must be freed by them; freeing one
 * that paused drops its stack without running anything more on it.  Fibers
 * nest: whoever resumes waits until the fiber yields or ends.  What is thrown
 * inside ends the fiber and is returned as its status.
 */
#ifndef TK_INTERP_FIBER_H
#define TK_INTERP_FIBER_H

#include "base/env.h"

typedef struct tki_fiber tki_fiber;

/* Makes a fiber for fn(e, ud), which does not run yet. */
tki_fiber *tki_fiber_new(tk_env *e, void (*fn)(tk_env *e, void *ud), void *ud);
/* Runs it until it yields, and returns true, or until it ends: false. */
bool tki_fiber_resume(tki_fiber *f);
/* The status that it ended with. */
tk_status tki_fiber_status(const tki_fiber *f);
/* Called on the fiber: goes back to whoever resumed it. */
void tki_fiber_yield(tki_fiber *f);
void tki_fiber_free(tki_fiber *f);

#endif
