/* listen.h - where clients come from: a socket of this machine, a file, or
 * the process's own standard input and output.
 *
 * Ownership: a gw_listener belongs to the caller.
 * Errors: an address that is malformed, or cannot be listened at, is reported
 * and throws
 * TK_USAGE. */
#ifndef GDBSTUB_WIRE_LISTEN_H
#define GDBSTUB_WIRE_LISTEN_H

#include "base/env.h"
#include "gdbstub/wire/sockfile.h"

typedef struct gw_listener {
  int fd; /* -1: standard input and output, or closed */
  bool stdio, spent;
  int in, out;     /* of stdio */
  char shown[160]; /* the address, as a client's command takes it */
  gw_sockfile file;
} gw_listener;

/* "HOST:PORT", ":PORT", "unix:PATH", or "-" for standard input and output.
 * Port 0 is any that is free.  Without anywhere, HOST must be this machine. */
void gw_listen(gw_listener *l, tk_env *e, const char *address, bool anywhere);
/* Writes the port, in decimal, to a file that is complete once it is there.
 * Throws TK_USAGE. */
void gw_listen_port_file(const gw_listener *l, tk_env *e, const char *path);
/* Waits for a client, for at most timeout milliseconds (-1: forever); returns
 * whether one came.  Standard input and output count as a client once. */
bool gw_listen_accept(gw_listener *l, int timeout, int *in, int *out);
void gw_listen_end(gw_listener *l);
/* Stops listening without removing the socket's file: another process has
 * taken it over. */
void gw_listen_leave(gw_listener *l);
/* Takes over a socket that another process has left, which listens at this
 * address; fd -1: nobody listens any more. */
void gw_listen_take_over(gw_listener *l, const char *address, int fd);
/* Writes all the bytes to a socket or a file; returns whether it could. */
bool gw_write_all(int fd, const void *bytes, size_t n);

#endif
