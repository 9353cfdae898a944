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

/* The launch that has the stages of a program. */
typedef struct tkw_staged {
  uint64_t hash; /* of its form */
  size_t launch;
} tkw_staged;

struct tk_view {
  tk_session *session;
  tk_watcher watcher;
  size_t limit; /* bytes of the page */
  bool many;    /* launches share it */
  /* of a launch that is paused: the program where it stands */
  bool aside;
  uint64_t stands;
  uint64_t keeps; /* the program whose steps are kept in any case */
  bool ignoring;  /* launches that begin now are left out */
  bool triton;    /* Triton's stages are wanted, too */
  /* the last finding of the launch before: detectors may find some as a run
   * begins, before the view is told; NULL: there was none */
  const struct tk_diag *told;
  size_t skipped;  /* launches for which there was no room */
  size_t n;        /* launches */
  tk_buf launches; /* their objects, with commas between them */
  tk_buf one;      /* ... of the one that is being written; scratch */
  tk_buf form;     /* the text of the program of the last launch */
  tk_buf staged;   /* tkw_staged of programs whose stages are in the page */
  tk_buf parts;    /* members that stand beside the launches */
  tkw_run run;
  tk_buf json, html; /* of the last reading */
};

/* view.c: a launch that is paused, run aside once more to be looked at: the
 * observer that tkw_look_begin gives is to see that run.  Findings after `told`
 * are the launch's. */
typedef struct tkw_look {
  uint64_t stands; /* TKW_NO_PROGRAM: in none */
  const struct tk_diag *told;
  const char *path; /* of the page */
} tkw_look;
tk_view *tkw_look_new(tk_session *s, const tkw_look *look);
tki_observer *tkw_look_begin(tk_view *v, tki *t);
void tkw_look_save(tk_view *v, tki *t, const tkw_look *look);
void tkw_look_free(tk_view *v);

/* launch.c: adds the object of a run that has ended. */
void tkw_put_launch(tk_buf *out, tk_view *v, tki *t, tk_status st);

/* stages.c: the member "stages" of the launch that is being written. */
void tkw_put_stages(tk_buf *out, tk_view *v, const tki *t);

#endif
