/* against.h - the same launch under another engine: what that leaves in memory
 * is what the run is compared with.
 */
#ifndef TK_RUN_AGAINST_H
#define TK_RUN_AGAINST_H

#include "launch/session.h"
#include "run/expect.h"

typedef struct tkr_against {
  tk_launch *launch;
  tk_arena arena;
  tkr_memory memory; /* before the run */
  size_t expected;   /* that the launch expected itself */
} tkr_against;

/* Runs the launch under an engine, unwatched and silent, puts memory back and
 * makes the next run expect what that engine left in each tensor that it may
 * write. */
tk_status tkr_against_begin(tkr_against *x, tk_launch *l, const char *engine,
                            tkr_run_fn run, const tk_run_options *options);
/* Runs the launch silently, and watched only by `watcher`, which may be
 * NULL. */
tk_status tkr_run_watched(tk_launch *l, tkr_run_fn run,
                          const tk_run_options *options, tk_watcher *watcher);
/* Behind the run: whether the engine leaves what memory holds once it may not
 * fuse products with sums.  Memory is then as it was. */
tk_status tkr_against_unfused(const tkr_against *x, tkr_run_fn run,
                              const tk_run_options *options, bool *same);
/* The launch expects no more than before. */
void tkr_against_end(tkr_against *x);

#endif
