/* wire.h - messages of the Debug Adapter Protocol over a connection.
 *
 * Source: microsoft.github.io/debug-adapter-protocol, "Base Protocol": header
 * lines that end in CR LF, of which Content-Length counts, an empty line, and
 * that many bytes of JSON.
 *
 * Messages may be sent by any thread.  Everything else is for one of them.
 *
 * Ownership: a dap_wire belongs to the caller, and so does a message that has
 * arrived (json_decref); what is sent belongs to the call.
 * Errors: calls throw when memory is out.  A connection that is gone reads as
 * DAP_CLOSED, and takes what is sent to it without a
 * word. */
#ifndef GDBSTUB_DAP_WIRE_H
#define GDBSTUB_DAP_WIRE_H

#include <jansson.h>
#include <pthread.h>

#include "gdbstub/wire/line.h"

/* The longest message that is accepted. */
enum { DAP_LONGEST = 1 << 24 };

typedef enum dap_arrival {
  DAP_MESSAGE,
  DAP_DAMAGED, /* what has arrived is not a message: w->fault */
  DAP_NOTHING, /* nothing has arrived in time */
  DAP_CLOSED,
} dap_arrival;

typedef struct dap_wire {
  tk_env *env;
  gw_line line;
  _Atomic int watched; /* line.in, for other threads */
  tk_buf fault;
  pthread_mutex_t lock; /* of all that follows */
  json_int_t seq;       /* of the last message that was sent */
  /* the client has received these messages before, from the process that handed
   * the connection over */
  bool told;
} dap_wire;

void dap_wire_init(dap_wire *w, tk_env *e);
void dap_wire_free(dap_wire *w);
/* A client is there; in and out may be the same. */
void dap_wire_connect(dap_wire *w, int in, int out);
void dap_wire_close(dap_wire *w);

/* Waits for what arrives next, at most timeout milliseconds; -1: as long as
 * it takes, or until the session is interrupted. */
dap_arrival dap_wire_next(dap_wire *w, int timeout, json_t **message);
/* Gives a message its number and sends it; NULL, for want of memory, is not
 * sent. */
void dap_wire_send(dap_wire *w, json_t *message);
/* Sends an event; body may be NULL. */
void dap_wire_event(dap_wire *w, const char *name, json_t *body);
/* Text for the user: category is "console", "stdout", "stderr", ... */
void dap_wire_output(dap_wire *w, const char *category, const char *text,
                     size_t n);
/* A string of JSON, of bytes that need not be UTF-8. */
json_t *dap_text(const char *s, size_t n);

#endif
