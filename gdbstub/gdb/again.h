/* again.h - a run that begins again: the process becomes the command that it
 * was begun as, and what it becomes goes on with the connection.
 *
 * Ownership: a gs_again belongs to the
 * caller. */
#ifndef GDBSTUB_GDB_AGAIN_H
#define GDBSTUB_GDB_AGAIN_H

#include <sys/types.h>

#include "gdbstub/wire/listen.h"

typedef struct gs_again {
  /* How the process was begun; each text has a NUL after it. */
  tk_buf words, variables;
  const char *folder;
  /* how many of the last words a client may replace; -1: none */
  int replaceable;
  /* the process that was started again beside this one; 0: none */
  pid_t copy;
} gs_again;

/* What one process passes on to the other. */
typedef struct gs_handed {
  int in, out, listener; /* file descriptors; listener -1: none */
  int acks, swbreak;
  uint64_t symbols; /* that the client has read */
} gs_handed;

/* Notes how the process was begun, and that it was in this folder. */
void gs_again_init(gs_again *a, tk_env *e, const char *folder, int replaceable);
void gs_again_free(gs_again *a);
/* Takes a connection that was handed to this process; returns false if there is
 * none. */
bool gs_again_take(gs_handed *h);
/* Begins again, with other words in place of the last ones: NUL-terminated
 * texts.  A copy of the process does so if this one is to go on.  False: it
 * cannot be done. */
bool gs_again_begin(gs_again *a, const gs_handed *h, const tk_buf *words,
                    bool in_a_copy, tk_arena *scratch);
/* Waits until the copy, if there is one, has ended. */
void gs_again_wait(const gs_again *a);

#endif
