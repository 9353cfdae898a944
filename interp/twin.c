/* twin.c - a second interpreter of the same launch. */
#include "interp/twin.h"

#include "interp/schedule.h"

bool tki_is_watched(const tki *t) {
  const tk_watcher *w = t->session->watchers;
  while (w && !w->wants_interp) w = w->next;
  return w || t->observers || t->driver || t->keeper;
}

void tki_twin_new(tki *own, const tki *t, tk_env *e) {
  *own = *t;
  own->env = e;
  own->pool = tki_pool_empty();
  own->schedule = NULL;
  own->slots = NULL;
  own->settled_values = NULL;
  own->sites = NULL;
  own->event = &own->events;
  own->ops = own->done = 0;
  tk_buf_init(&own->printed, e);
  tk_buf_init(&own->element, e);
}

void tki_twin_open(tki *own) {
  TK_ASSERT(!own->observers); /* nobody watches it */
  own->nslots = own->program->kernel->nslots;
  own->slots = tk_calloc(own->env, own->nslots + 1, sizeof *own->slots);
  tki_schedule_new(own, TKI_SERIAL);
  tki_settle(own);
}

void tki_twin_free(tki *own) {
  tk_env *e = own->env;
  tki_schedule_free(own);
  tki_pool_free(own);
  tk_buf_free(&own->printed);
  tk_buf_free(&own->element);
  if (own->sites)
    tk_free(e, own->sites, (own->program->ninsts + 1) * sizeof *own->sites);
  if (own->slots)
    tk_free(e, own->slots, (own->nslots + 1) * sizeof *own->slots);
}
