/* raced.c - where lanes or programs of a launch race: what the detector says,
 * apart from the detectors that the session has chosen itself.
 */
#include "run/raced.h"

#include "interp/check/check.h"
#include "run/against.h"

static void choose_race(tk_env *e, void *ud) {
  (void)e;
  tkc_choose(ud, "race");
}

/* The session's own watchers see none of it. */
static void run_under_detector(tk_launch *l, tkr_run_fn own,
                               const tk_run_options *options) {
  tk_session *s = l->session;
  tk_watcher *watchers = s->watchers;
  s->watchers = NULL;
  if (tk_session_guard(s, choose_race, s) == TK_OK)
    tkr_run_watched(l, own, options, s->watchers);
  if (s->watchers) s->watchers->free(&s->env, s->watchers->ud);
  s->watchers = watchers;
}

bool tkr_find_race(tk_launch *l, tkr_run_fn own, const tk_run_options *options,
                   tk_arena *a, tk_place *place, const char **message) {
  tk_env *e = &l->session->env;
  size_t i = 0, before = e->ndiags;
  const tk_diag *race = NULL;
  run_under_detector(l, own, options);
  for (const tk_diag *d = e->diags; d && !race; d = d->next)
    if (i++ >= before && d->f.kind == TK_D_RACE && d->src) race = d;
  if (race) {
    *place = tk_place_of(race->src, race->span);
    *message = tk_arena_strdup(a, race->f.message);
  }
  tk_diag_truncate(e, before);
  return race != NULL;
}
