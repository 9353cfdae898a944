/* gdbserver.h - a server for gdb's remote serial protocol, over the launches
 * of a session (docs/gdb.md).
 *
 * It is a front end of the engine in debugger.h, as the console is: a session
 * has one of them, or the console lends it a stop.  Every launch looks to the
 * client like a process of this machine whose threads are the programs; the
 * first one waits for a client before its first statement.
 *
 * Ownership: a server belongs to its session.  Text that is passed in is
 * copied.
 */
#ifndef TKDBG_GDBSERVER_H
#define TKDBG_GDBSERVER_H

#include "tkdbg/debugger.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_gdbserver tk_gdbserver;

typedef struct tk_gdbserver_options {
  size_t size; /* sizeof(tk_gdbserver_options) */
  /* "HOST:PORT", ":PORT", "unix:PATH", or "-" for standard input and output;
   * port 0 is any that is free. */
  const char *address;
  bool listen_anywhere; /* HOST may be reached from other machines */
  bool once;            /* serve the first client alone */
  bool multi;           /* stay when the client has detached or killed */
  bool script;          /* launches come one after the other */
  /* The process is there for this run alone: a client may begin it again
   * (target extended-remote), whereupon the process becomes the command that
   * it was begun as, with other words in place of the last ones.  replaceable:
   * so many; -1: with the same words alone. */
  bool restarts;
  int replaceable;
  const char *port_file; /* gets the port, in decimal; NULL: none does */
  /* Gets the symbols of each launch, before its first stop; NULL: none does. */
  const char *write_elf;
  const char *machine; /* that launches look like; NULL: this one */
  /* What the user should know: where it listens, who has connected. */
  void (*say)(void *ud, const char *line);
  void *ud;
} tk_gdbserver_options;

/* Listens.  TK_USAGE with a report if the address is malformed or taken. */
tk_status tk_gdbserver_new(tk_session *s, const tk_gdbserver_options *o,
                           tk_gdbserver **out);
/* The run is over and its exit status is code: tells the client. */
void tk_gdbserver_end(tk_gdbserver *g, int code);
/* A server for stops that another front end of the engine lends; it listens
 * when it gets one.  Of the options, say and ud count. */
tk_status tk_gdbserver_over(tk_debug *d, const tk_gdbserver_options *o,
                            tk_gdbserver **out);
/* To be called in the front end's `stopped`: serves one client at an address
 * of this machine from this stop on, and takes those that follow.  The front
 * end gets them back, and its `stopped` is called, where the client leaves,
 * where the launch ends, or when the session is interrupted.  When nobody has
 * said how to go on at this stop, nothing has changed. */
tk_status tk_gdbserver_lend(tk_gdbserver *g, const char *address);
/* The debugger that `monitor` gives commands to; tk_debugger_has_quit says
 * whether the client has ended the run. */
tk_debugger *tk_gdbserver_debugger(tk_gdbserver *g);

#ifdef __cplusplus
}
#endif
#endif
