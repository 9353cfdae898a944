/* child.h - work that is done in a process of its own, since it may end the
 * process, or is another program's. */
#ifndef TK_NVPTX_CHILD_H
#define TK_NVPTX_CHILD_H

#include "base/diag.h"

/* Writes all of it, or as much as somebody reads. */
void tkv_write_all(int fd, const char *s, size_t n);

/* Runs `work` in a child, which may write to the descriptor, and need not
 * return; what it wrote is added to `out`, and how it ended is returned, as
 * waitpid has it.  Throws when interrupted, once the child is ended. */
int tkv_run_child(tk_env *e, void (*work)(int fd, void *ud), void *ud,
                  tk_buf *out);

/* Reports a failure that is nobody's line; help may be NULL. */
void TK_NORETURN tkv_report_failure(tk_env *e, const char *fmt, const char *why,
                                    const char *help);

#endif
