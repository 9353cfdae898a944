/* inquiry.h - what a run is asked about in advance: elements to blame, values
 * to explain, a line whose accesses are drawn.
 *
 * An inquiry is a watcher of one run, as detectors are of all; it lies with
 * whoever runs the launch.  After the run its launch has the answers,
 * and the session's output their text.
 */
#ifndef TK_CHECK_INQUIRY_H
#define TK_CHECK_INQUIRY_H

#include "interp/check/explain.h"
#include "interp/check/touch.h"

typedef struct tkc_inquiry {
  tk_session *session;
  tk_launch *launch; /* gets the answers */
  tk_watcher watcher;
  const char *blame_elements, *explain_elements; /* NULL: nothing is asked */
  bool silent;         /* the session's output gets none */
  tki *t;              /* the run, once it has begun; else NULL */
  tkc_touches touches; /* of a line, when that is asked about */
  tki_observer toucher;
  tkc_blame *blame;
  tkc_explain *explain;
} tkc_inquiry;

/* Watches the launch's next run, before all others who do, if something is
 * asked; what the last run answered is forgotten.  The texts of the options
 * are elements as tkc_blame_new takes them, and must stay until the end. */
void tkc_inquiry_begin(tkc_inquiry *q, tk_launch *l,
                       const tk_run_options *options);
/* After the run: watches no longer and frees what it held. */
void tkc_inquiry_end(tkc_inquiry *q);

#endif
