/* inquiry.h - what a run is asked in advance: who writes certain elements,
 * where their values come from, what the accesses of a line touch.
 *
 * An inquiry watches one run, where detectors watch all of them; whoever runs
 * the launch owns it.  After the run the launch has the answers, and the
 * session's output has their text.
 */
#ifndef TK_EXPLAIN_INQUIRY_H
#define TK_EXPLAIN_INQUIRY_H

#include "interp/explain/access_log.h"
#include "interp/explain/explain.h"
#include "interp/explain/stopped.h"
#include "interp/explain/touch.h"

typedef struct tke_inquiry {
  tk_session *session;
  tk_launch *launch; /* gets the answers */
  tk_watcher watcher;
  const char *blame_elements, *explain_elements; /* NULL: nothing is asked */
  bool silent;         /* the answers are not written to the session's output */
  tki *t;              /* the run, once it has begun */
  tke_touches touches; /* of the line, if one is asked about */
  tki_observer toucher;
  bool logs; /* every access is logged */
  tke_access_log log;
  tki_observer logger;
  tke_blame *blame;
  tke_explain *explain;
  const int64_t *stop_pid; /* of a program that stops; NULL: none is asked */
  tke_stopped stopped;
} tke_inquiry;

/* Watches the next run of the launch, before everybody else, if the options ask
 * anything; the answers of the run before are forgotten.  The elements in the
 * options are as tke_blame_new takes them, and their text must stay valid until
 * tke_inquiry_end. */
void tke_inquiry_begin(tke_inquiry *q, tk_launch *l,
                       const tk_run_options *options);
/* Stops watching and frees what it holds, after the run. */
void tke_inquiry_end(tke_inquiry *q);

#endif
