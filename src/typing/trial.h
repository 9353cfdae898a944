/* trial.h - what a kernel is under other rules than those of its session:
 * specialised once more, to be compared and thrown away.
 *
 * A trial prints nothing, tells of nothing and is not kept with its function.
 */
#ifndef TK_TYPING_TRIAL_H
#define TK_TYPING_TRIAL_H

#include "typing/origin.h"

typedef struct tk_trial {
  tk_unit *unit; /* NULL: the kernel is refused */
  tk_diag *said; /* why, the reason last; NULL: nothing was said */
} tk_trial;

/* Throws what has nothing to do with the kernel: interruptions, memory. */
void tk_trial_make(tk_env *e, tk_launch *l, const tk_rules *rules,
                   tk_trial *out);
void tk_trial_free(tk_env *e, tk_trial *t);

/* The number of the version that a session follows. */
int tk_trial_version(const tk_session *s);
/* The number of a version that is followed, the oldest first; 0: there are no
 * more.  tk_triton_version_at has its name. */
int tk_version_number(size_t i);
/* The version that made a change; 0: there are no more.  tk_triton_change has
 * what it says. */
int tk_change_since(size_t i);

#endif
