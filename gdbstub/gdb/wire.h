/* wire.h - packets of the remote serial protocol over a connection.
 *
 * Source: "Debugging with GDB", appendix E.1, Overview: $DATA#SUM, each
 * acknowledged by + until the client asks for none; } escapes a byte; 0x03
 * outside of a packet asks for an interruption.
 *
 * Ownership: a gs_wire belongs to the caller, as do the file descriptors.
 * Errors: calls throw when memory is out.  A connection that is gone reads as
 * GS_CLOSED, and takes what is sent to it without a
 * word. */
#ifndef GDBSTUB_GDB_WIRE_H
#define GDBSTUB_GDB_WIRE_H

#include "gdbstub/wire/line.h"

/* The longest packet that is taken, and that clients are told of. */
enum { GS_PACKET_SIZE = 0x20000 };

typedef enum gs_arrival {
  GS_PACKET,  /* its contents are in w->packet */
  GS_BREAK,   /* the client wants the program to stop */
  GS_DAMAGED, /* a packet that was too long, or whose checksum was wrong */
  GS_NOTHING, /* nothing has arrived in time */
  GS_CLOSED,
} gs_arrival;

typedef struct gs_wire {
  tk_env *env;
  gw_line line;
  bool acks;
  tk_buf packet; /* what arrived last, without its escapes */
  tk_buf sent;   /* the last packet, which may have to be sent again */
} gs_wire;

void gs_wire_init(gs_wire *w, tk_env *e);
void gs_wire_free(gs_wire *w);
/* A client is there; in and out may be the same. */
void gs_wire_connect(gs_wire *w, int in, int out);
/* Closes the connection. */
void gs_wire_close(gs_wire *w);

/* Waits for what arrives next, at most timeout milliseconds; -1: as long as
 * it takes, or until the session is interrupted. */
gs_arrival gs_wire_next(gs_wire *w, int timeout);
/* Sends a packet; data is escaped as it must be. */
void gs_wire_send(gs_wire *w, const void *data, size_t n);

#endif
