/* watched.h - running a launch once more for somebody's own ends.
 */
#ifndef TK_RUN_WATCHED_H
#define TK_RUN_WATCHED_H

#include "launch/session.h"

typedef tk_status (*tkr_run_fn)(tk_launch *l, const tk_run_options *options,
                                tk_summary *summary);

/* Runs the launch silently, and watched only by `watcher`, which may be
 * NULL. */
tk_status tkr_run_watched(tk_launch *l, tkr_run_fn run,
                          const tk_run_options *options, tk_watcher *watcher);
#endif
