/* output.h - what the process writes, as output of the debuggee.
 *
 * Between dap_output_begin and dap_output_end standard output and error are
 * pipes, which a thread reads: it sends what arrives to the client.
 *
 * Ownership: a dap_output, zeroed at first, belongs to the caller; its wire
 * outlives dap_output_end.
 * Errors: there are none; where no pipe or thread can be made, the streams stay
 * what they
 * are. */
#ifndef GDBSTUB_DAP_OUTPUT_H
#define GDBSTUB_DAP_OUTPUT_H

#include <semaphore.h>

#include "gdbstub/dap/wire.h"

enum { DAP_KEPT = 4096 };

typedef struct dap_stream {
  int fd;       /* the pipe that the process writes to */
  int own;      /* what it was before */
  int pipe[2];  /* what it is now */
  char part[4]; /* the beginning of an incomplete character */
  size_t npart;
} dap_stream;

typedef struct dap_output {
  bool runs;
  dap_wire *wire;
  dap_stream streams[2];
  pthread_t thread;
  int ask[2]; /* a byte there: send all that was written now */
  sem_t done;
  char error[DAP_KEPT]; /* what was written to standard error at first */
  size_t nerror;
} dap_output;

void dap_output_begin(dap_output *o, dap_wire *wire);
/* When it returns, all that was written so far has been sent. */
void dap_output_sync(dap_output *o);
/* The streams are again what they were. */
void dap_output_end(dap_output *o);

#endif
