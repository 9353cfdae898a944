/* listen.h - where clients come from: a socket of this machine, a file, or
 * the process's own standard input and output.
 *
 * Ownership: a gs_listener belongs to the caller.
 * Errors: an address that is malformed, or cannot be listened at, is reported
 * and throws TK_USAGE.
 */
#ifndef GDBSTUB_LISTEN_H
#define GDBSTUB_LISTEN_H

#include "base/env.h"
#include "gdbstub/sockfile.h"

typedef struct gs_listener {
  int fd; /* -1: standard input and output, or closed */
  bool stdio, spent;
  int in, out;     /* of stdio */
  char shown[160]; /* as a client's command would have it */
  gs_sockfile file;
} gs_listener;

/* "HOST:PORT", ":PORT", "unix:PATH", or "-" for standard input and output.
 * Port 0 is any that is free.  Without anywhere, HOST must be this machine. */
void gs_listen(gs_listener *l, tk_env *e, const char *address, bool anywhere);
/* Writes the port, in decimal, to a file that is complete once it is there.
 * Throws TK_USAGE. */
void gs_listen_port_file(const gs_listener *l, tk_env *e, const char *path);
/* Waits for a client, at most timeout milliseconds (-1: as long as it takes);
 * false: none came.  Standard input and output are a client once. */
bool gs_listen_accept(gs_listener *l, int timeout, int *in, int *out);
void gs_listen_end(gs_listener *l);
/* Another process listens from now on, and this one no longer does. */
void gs_listen_leave(gs_listener *l);
/* ... and takes the socket over, which listens at this address; -1: nothing
 * listens any more. */
void gs_listen_take_over(gs_listener *l, const char *address, int fd);
/* Writes all of it to a socket or a file; false: it could not. */
bool gs_write_all(int fd, const void *bytes, size_t n);

#endif
