/* aside.h - programs run aside, for a look (aside.c).  Afterwards everything is
 * as it was.
 */
#ifndef TK_DEBUG_ASIDE_H
#define TK_DEBUG_ASIDE_H

#include "debug/debug.h"

/* Where a program is: its calls, innermost first, each at a statement in
 * trips of its loops, innermost first. */
enum { TKD_LOOPS = 16 };
typedef struct tkd_position {
  const tk_func *func;
  const tk_stmt *stmt;
  uint64_t trips[TKD_LOOPS];
  int loops;
} tkd_position;

typedef struct tkd_place {
  tkd_position positions[TKD_LEVELS];
  int n;
} tkd_place;

tkd_place tkd_place_of(const tki_frame *f);
bool tkd_is_there(const tkd_place *p, const tki_frame *f);
/* The innermost call that is in a loop; NULL: none is. */
tkd_position *tkd_innermost_loop(tkd_place *p);

#define TKD_ALL_PROGRAMS UINT64_MAX

typedef struct tkd_aside {
  tki_observer *observer; /* of the programs; may throw TK_INTERRUPTED */
  uint64_t program;       /* those from it on, or before it; or all */
  uint64_t from;          /* out: place in the order of the first that ran */
  tk_status status;       /* out */
  bool full;              /* out: ended for the bound of the history */
  const char *why;        /* out: the finding that ended it; NULL: none did */
} tkd_aside;
/* Runs programs as if the user had changed nothing, from a point where memory
 * is known; afterwards everything is as it was.  Fails without a history. */
void tkd_run_aside(tkd *d, tkd_aside *x);
/* What is to be said of it; `ended` and others by what came of it. */
tk_debug_aside tkd_describe_aside(tkd *d, const tkd_aside *x);
/* Calls fn while memory is as it was before the first program that is known;
 * gives its place in the order. */
uint64_t tkd_with_first_memory(tkd *d, void (*fn)(void *ud), void *ud);

#endif
