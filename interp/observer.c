/* observer.c - who watches a run.
 */
#include <string.h>

#include "interp/schedule.h"

void tki_observe(tki *t, tki_observer *o) {
  tki_observer **at = &t->observers;
  for (; *at; at = &(*at)->next) TK_ASSERT(*at != o);
  o->next = NULL;
  *at = o;
  t->watched |= o->before || o->after;
  t->sensed |= o->access != NULL;
  t->reads |= o->access != NULL;
  t->each |= o->stmt != NULL;
}

tki_watching tki_unwatch(tki *t) {
  tki_watching w = {t->observers, t->watched, t->sensed, t->reads, t->each};
  t->observers = NULL;
  t->watched = t->reads = t->each = false;
  t->sensed = t->schedule && t->schedule->writers;
  return w;
}

void tki_rewatch(tki *t, const tki_watching *w) {
  t->observers = w->observers;
  t->watched = w->watched;
  t->sensed = w->sensed;
  t->reads = w->reads;
  t->each = w->each;
}

void tki_mark_stmt(tki *t, const tk_stmt *st) {
  if (!t->marked) t->marked = tk_calloc(t->env, t->program->nstmts + 1, 1);
  t->marked[st->id] = 1;
}

void tki_unmark_stmts(tki *t) {
  if (t->marked) memset(t->marked, 0, t->program->nstmts);
}
