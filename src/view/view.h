/* view.h - inside the view: what it keeps of the launches of its session.
 *
 * While a launch runs, a tkw_run (run.h) watches it.  When it ends, all that is
 * known of it becomes a JSON object, and the run is forgotten: tensors may be
 * gone by the time that the page is written.
 */
#ifndef TK_VIEW_VIEW_H
#define TK_VIEW_VIEW_H

#include "launch/session.h"
#include "tkdbg/view.h"
#include "view/run.h"

enum { TKW_VERSION = 1 }; /* of the data; docs/view.md */

struct tk_view {
  tk_session *session;
  tk_watcher watcher;
  size_t limit;  /* bytes of the page */
  bool many;     /* launches share it */
  bool ignoring; /* launches that begin now are left out */
  /* the last finding of the launch before: detectors may find some as a run
   * begins, before the view is told; NULL: there was none */
  const struct tk_diag *told;
  size_t skipped;  /* launches for which there was no room */
  size_t n;        /* launches */
  tk_buf launches; /* their objects, with commas between them */
  tk_buf one;      /* ... of the one that is being written */
  tkw_run run;
  tk_buf json, html; /* of the last reading */
};

/* launch.c: adds the object of a run that has ended. */
void tkw_put_launch(tk_buf *out, tk_view *v, tki *t, tk_status st);

/* page.c */
void tkw_put_json(tk_buf *out, const tk_view *v);
void tkw_put_html(tk_buf *out, const tk_buf *data);
/* What the page takes besides its data. */
size_t tkw_page_bytes(void);

#endif
