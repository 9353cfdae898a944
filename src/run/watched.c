/* watched.c - running a launch once more for somebody's own ends. */
#include "run/watched.h"

#include "launch/internal.h"

tk_status tkr_run_watched(tk_launch *l, tkr_run_fn run,
                          const tk_run_options *options, tk_watcher *watcher) {
  tk_session *s = l->session;
  tk_watcher *watchers = s->watchers;
  tk_output_fn output = s->output;
  tk_run_options opt = {.size = sizeof opt,
                        .pids = options->pids,
                        .order = options->order,
                        .schedule = options->schedule,
                        .dot = options->dot,
                        .numerics = options->numerics,
                        .arch = options->arch,
                        .form = options->form,
                        .no_asserts = options->no_asserts};
  tk_summary unused = {0};
  s->watchers = watcher;
  s->output = NULL;
  tk_status st = run(l, &opt, &unused);
  TK_ASSERT(s->watchers == watcher); /* nobody else came or went */
  s->output = output;
  s->watchers = watchers;
  return st;
}
