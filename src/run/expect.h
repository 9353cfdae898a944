/* expect.h - comparing tensors with what they should hold, after a run.
 *
 * Before the run its memory is copied.  Where a tensor then differs, memory
 * is put back and the launch runs once more, unwatched, so that the first
 * wrong element can be explained.
 */
#ifndef TK_RUN_EXPECT_H
#define TK_RUN_EXPECT_H

#include "interp/explain/explain.h"
#include "interp/explain/writers.h"
#include "launch/session.h"
#include "run/judge.h"
#include "run/memory.h"
#include "run/watched.h"

typedef struct tkr_expecting {
  tk_launch *launch;
  tk_watcher watcher;
  tki *t; /* the run, once it has begun */
  tk_arena arena;
  tkr_memory memory;
  tke_writers *writers; /* by what is expected */
  size_t nwriters;
  const char **elements; /* ... the one to explain; NULL: none */
  /* Of what another engine left: how it is judged, from the expectation
   * first_judged on; NULL: it is not. */
  const tkr_judged *judged;
  size_t first_judged;
  bool differs; /* from what another engine left */
  /* The index, + 1, of a program whose elements do; 0: none wrote them. */
  uint32_t differing;
  size_t asked;        /* the second run: what it explains */
  const char *element; /* ... and the element; NULL: it is the first run */
  tke_explain *explain;
} tkr_expecting;

/* Watches the next run of the launch, if something is expected of it. */
tk_status tkr_expect_begin(tkr_expecting *x, tk_launch *l);
/* After the run, which ended with st: explains what differs and writes it to
 * the session's output, unless the run is silent. */
tk_status tkr_expect_end(tkr_expecting *x, tk_status st, tkr_run_fn run,
                         const tk_run_options *options);

#endif
