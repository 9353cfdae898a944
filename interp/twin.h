/* twin.h - a second interpreter of the same launch.
 *
 * It shares the typed form, the parameters and the tensors, and has a pool,
 * slots, frames and a place to fail of its own.
 */
#ifndef TK_INTERP_TWIN_H
#define TK_INTERP_TWIN_H

#include "interp/interp.h"

/* Whether somebody looks at the run: by hooks, in place of the walk, or since
 * it goes on after bad accesses.  Then there can be no twin. */
bool tki_is_watched(const tki *t);

/* Makes `own` one of t that has nothing yet, and that fails in e.  Nobody
 * watches it.  It is to be freed in any case. */
void tki_twin_new(tki *own, const tki *t, tk_env *e);
/* Gets what it needs to run programs; throws in its environment. */
void tki_twin_open(tki *own);
void tki_twin_free(tki *own);

#endif
