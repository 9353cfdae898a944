/* against.h - the same launch under another engine: what that leaves in memory
 * is what the run is compared with.
 */
#ifndef TK_RUN_AGAINST_H
#define TK_RUN_AGAINST_H

#include "launch/session.h"
#include "run/expect.h"
#include "run/watched.h"

typedef struct tkr_against {
  tk_launch *launch;
  tk_arena arena;
  tkr_memory memory;        /* before the run */
  size_t expected;          /* that the launch expected itself */
  const tkr_judged *judged; /* of the others; NULL: nothing is rounded, or the
                               caller gave a bound */
} tkr_against;

/* An engine that the run, by `own`, is compared with. */
typedef struct tkr_other {
  const char *name;
  tkr_run_fn run, own;
} tkr_other;

/* Runs the launch under an engine, unwatched and silent, puts memory back and
 * makes the next run expect what that engine left in each tensor that it may
 * write. */
tk_status tkr_against_begin(tkr_against *x, tk_launch *l,
                            const tkr_other *other,
                            const tk_run_options *options);
/* Behind the run: whether the engine leaves what memory holds once it may not
 * fuse products with sums.  Memory is then as it was. */
tk_status tkr_against_unfused(const tkr_against *x, tkr_run_fn run,
                              const tk_run_options *options, bool *same);
/* The launch expects no more than before. */
void tkr_against_end(tkr_against *x);

#endif
