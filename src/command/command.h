/* command.h - the text front end: command lines over the debugger's engine.
 *
 * It reads command lines, carries them out on the engine, and prints.  A
 * tk_debugger belongs to its session; everything in it is its own.  A command
 * may end anywhere by a throw: what it needs only for itself is
 * temporary memory
 * (base/scratch.h). */
#ifndef TK_COMMAND_COMMAND_H
#define TK_COMMAND_COMMAND_H

#include <stdio.h>

#include "base/scratch.h"
#include "launch/session.h"
#include "tkdbg/debugger.h"

typedef struct tk_debugger tkt;

/* A command as typed: print/x a + b is {print, "/x" without the slash,
 * "a + b"}.  All are NUL-terminated and live until the command returns. */
typedef struct tkt_args {
  const char *fmt;
  const char *text;
} tkt_args;

enum { TKT_LEVELS = 16 };

/* What a variable held at the last stop, as a hash. */
typedef struct tkt_seen {
  const char *name;
  uint64_t hash;
} tkt_seen;
typedef struct tkt_seen_frame {
  bool valid;
  size_t function;
  uint64_t index; /* of the program */
  size_t n, cap;
  tkt_seen *items;
} tkt_seen_frame;

typedef struct tkt_named { /* alias, define, document */
  struct tkt_named *next;
  char *name, *text, *doc;
  bool alias;
} tkt_named;

typedef struct tkt_line { /* input that waits */
  struct tkt_line *next;
  char *text;
  char *origin; /* "FILE:LINE"; NULL: it is of no file */
} tkt_line;

typedef struct tkt_display {
  struct tkt_display *next;
  int number;
  char *fmt, *text;
} tkt_display;

typedef struct tkt_script { /* lines run when a point stops */
  struct tkt_script *next;
  int point;
  char *lines;
} tkt_script;

typedef struct tkt_settings {
  uint64_t elements; /* lanes shown */
  uint64_t listing;  /* lines of list */
  uint64_t width;
  bool changes;
  char *safe_path; /* NULL: not set */
} tkt_settings;

/* What was listed last, since a call was selected. */
typedef struct tkt_listing {
  int first, next; /* lines; 0: nothing */
} tkt_listing;

struct tk_debugger {
  tk_debugger_options opt;
  tk_debug *e;
  tk_env *env;
  tk_scratch mem;
  tk_watcher watcher;

  /* output */
  tk_buf out; /* that waits */
  FILE *transcript;
  size_t refused; /* allocations, when this was last reported */
  bool busy;      /* a line says how far a long move is */

  /* input */
  tkt_line *lines;
  tk_buf input;  /* a line that waited */
  tk_buf origin; /* where the line came from that is read last; "": typed */
  char *last;    /* command, for the empty line */
  int depth_of_source;

  /* the user's */
  tkt_settings set;
  tkt_named *named;
  tkt_display *displays;
  int last_display;
  tkt_script *scripts;

  /* what was shown last */
  tkt_seen_frame seen[TKT_LEVELS];
  tkt_listing list;
  uint64_t x_next;
  tk_dtype x_dtype;
  tk_buf scratch; /* what the public API returned last; a word */
};

#endif
