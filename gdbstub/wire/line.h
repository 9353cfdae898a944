/* line.h - the connection to one client: bytes that arrive are kept until the
 * protocol has taken them, and bytes are sent.
 *
 * Ownership: a gw_line belongs to the caller; gw_line_close closes its file
 * descriptors.
 * Errors: calls throw when memory is out.  A connection that is gone is
 * noticed by whoever reads from it; what is written to it is lost.
 */
#ifndef GDBSTUB_WIRE_LINE_H
#define GDBSTUB_WIRE_LINE_H

#include "base/env.h"

typedef enum gw_read {
  GW_READ, /* there may be more bytes than before */
  GW_LATE, /* the time is over */
  GW_GONE, /* the client has closed the connection */
} gw_read;

typedef struct gw_line {
  int in, out; /* -1: nobody is connected */
  tk_buf
      input; /* bytes that have arrived; those before `taken` are done with */
  size_t taken;
  bool keeps; /* what is done with stays in input nevertheless */
} gw_line;

void gw_line_init(gw_line *l, tk_env *e);
void gw_line_free(gw_line *l);
/* A client has connected; in and out may be the same. */
void gw_line_connect(gw_line *l, int in, int out);
void gw_line_close(gw_line *l);

/* Waits a moment for bytes, at most until *timeout milliseconds are over, from
 * which it subtracts the time that it has waited; -1: they never are. */
gw_read gw_line_read(gw_line *l, int *timeout);
void gw_line_write(const gw_line *l, const char *s, size_t n);

#endif
