/* dap.h - a server for the Debug Adapter Protocol, over the launches of a
 * session (docs/vscode.md).
 *
 * It is a front end of the engine in debugger.h, as the console is: a session
 * has one of them.  The programs of a launch are the threads that the editor
 * sees; a breakpoint, a finding or a step stops them, and the call that runs
 * the launch answers the editor until it says how to go on.
 *
 * An editor that is to say what to launch is received first, without a session
 * that runs anything (tk_dap_listen, tk_dap_accept, tk_dap_greet).  Its
 * connection is then handed to whoever runs that: the same process, or another
 * program that it becomes.
 *
 * Ownership: a server belongs to its session.  Text that is passed in is
 * copied; what is handed out lives as long as the server.
 */
#ifndef TKDBG_DAP_H
#define TKDBG_DAP_H

#include "tkdbg/tkdbg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_dap tk_dap;

typedef struct tk_dap_options {
  size_t size; /* sizeof(tk_dap_options) */
  /* "HOST:PORT", ":PORT", "unix:PATH", "-" for standard input and output, or
   * what tk_dap_handed gave; port 0 is any that is free. */
  const char *address;
  bool listen_anywhere;  /* HOST may be reached from other machines */
  bool script;           /* launches come one after the other */
  const char *port_file; /* gets the port, in decimal; NULL: none does */
  /* What the user should know: where it listens, who has connected. */
  void (*say)(void *ud, const char *line);
  void *ud;
} tk_dap_options;

/* ---- before it is known what to launch --------------------------------- */

/* Listens.  TK_USAGE with a report if the address is malformed or taken. */
tk_status tk_dap_listen(tk_session *s, const tk_dap_options *o, tk_dap **out);
/* Waits for an editor; false: the session was interrupted, or there will be
 * none. */
bool tk_dap_accept(tk_dap *p);
/* Closes the connection, which another process has. */
void tk_dap_drop(tk_dap *p);
/* Answers the editor until it asks for a launch: these words, as a command
 * line of `tkdbg dap`, say which.  False: it has left. */
bool tk_dap_greet(tk_dap *p, const char *const **words, size_t *n);
/* What goes on with the connection, in this process or a program that it
 * becomes: as tk_dap_options.address. */
const char *tk_dap_handed(tk_dap *p);
/* The launch cannot be made: the editor's user reads why. */
void tk_dap_refuse(tk_dap *p, const char *why);
/* The folder that the launch is to be made in, NULL: this one; and the i-th
 * variable that is to stand in its environment, NULL past the end.  NULL as
 * its value: it is to be taken out. */
const char *tk_dap_folder(tk_dap *p);
const char *tk_dap_variable(tk_dap *p, size_t i, const char **value);

/* ---- over a session that runs it --------------------------------------- */

/* Stands over the launches of the session.  TK_USAGE with a report: as
 * tk_dap_listen.  From now on, what the process writes to standard output and
 * error goes to an editor that has asked for the launch. */
tk_status tk_dap_new(tk_session *s, const tk_dap_options *o, tk_dap **out);
/* Waits until the editor has set its breakpoints; TK_INTERRUPTED: it has
 * left, or nobody waits any longer. */
tk_status tk_dap_configure(tk_dap *p);
/* While no launch runs, an editor may ask for something.  Waits until it
 * does, from any thread; false: it will not. */
bool tk_dap_wait(tk_dap *p);
/* Answers what it has asked for, by a thread that may use the session; false:
 * it wants the host program to end. */
bool tk_dap_attend(tk_dap *p);
/* The run is over and its exit status is code: tells the editor. */
void tk_dap_end(tk_dap *p, int code);
/* The debugger of the session; tk_debugger_has_quit says whether
 * the editor has ended the run. */
tk_debugger *tk_dap_debugger(tk_dap *p);

/* ---- the protocol ------------------------------------------------------ */

/* The i-th request that is answered, and one line about it; NULL past the
 * end. */
const char *tk_dap_request(size_t i);
const char *tk_dap_request_doc(size_t i);
/* The i-th attribute of a launch, its types in JSON, separated by '|', and one
 * line about it; NULL past the end. */
const char *tk_dap_attribute(size_t i);
const char *tk_dap_attribute_type(size_t i);
const char *tk_dap_attribute_doc(size_t i);

#ifdef __cplusplus
}
#endif
#endif
