/* inquiry.h - what a run is asked about in advance: elements to blame, values
 * to explain, a line whose accesses are to be drawn.
 *
 * An inquiry is a watcher of one run, as detectors are of all; it lies with
 * whoever runs the launch.  After the run its launch has the answers,
 * and the session's output their text.
 */
#ifndef TK_CHECK_INQUIRY_H
#define TK_CHECK_INQUIRY_H

#include "interp/check/access_log.h"
#include "interp/check/explain.h"
#include "interp/check/touch.h"

typedef struct tkc_inquiry {
  tk_session *session;
  tk_launch *launch; /* gets the answers */
  tk_watcher watcher;
  const char *blame_elements, *explain_elements; /* NULL: nothing is asked */
  bool silent;         /* the answers are not written to the session's output */
  tki *t;              /* the run, once it has begun; NULL before */
  tkc_touches touches; /* of the line, if one is asked about */
  tki_observer toucher;
  bool logs; /* every access */
  tkc_access_log log;
  tki_observer logger;
  tkc_blame *blame;
  tkc_explain *explain;
} tkc_inquiry;

/* Watches the launch's next run if something is asked, before all others that
 * watch it; the answers of the last run are forgotten.  The texts of the
 * options are elements as tkc_blame_new takes them, and must stay valid until
 * tkc_inquiry_end. */
void tkc_inquiry_begin(tkc_inquiry *q, tk_launch *l,
                       const tk_run_options *options);
/* Stops watching and frees what it holds, after the run. */
void tkc_inquiry_end(tkc_inquiry *q);

#endif
