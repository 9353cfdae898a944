/* child.h - work that is done in a process of its own, since it may end the
 * process, or is another program's.
 */
#ifndef TK_BASE_CHILD_H
#define TK_BASE_CHILD_H

#include "base/env.h"

/* Writes all of it, or as much as the other side reads. */
void tk_write_all(int fd, const char *s, size_t n);

/* Runs `work` in a child, which may write to the descriptor, and need not
 * return; what it wrote is added to `out`, and how it ended is returned, as
 * waitpid has it.  Throws when interrupted, once the child is ended. */
int tk_run_child(tk_env *e, void (*work)(int fd, void *ud), void *ud,
                 tk_buf *out);

/* The same of another program, by its path or name; what it writes to standard
 * output and standard error is added to `out`.  After `seconds` (0: never)
 * SIGALRM ends it. */
int tk_run_program(tk_env *e, const char *const *argv, double seconds,
                   tk_buf *out);
/* Whether a program, which is silenced, ends with status 0. */
bool tk_program_succeeds(const char *const *argv);

#endif
