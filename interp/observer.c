/* observer.c - who watches a run.
 */
#include <string.h>

#include "interp/schedule.h"

void tki_observe(tki *t, tki_observer *o) {
  tki_observer **at = &t->observers;
  for (; *at; at = &(*at)->next) TK_ASSERT(*at != o);
  o->next = NULL;
  *at = o;
  t->wants_insts |= o->before || o->after;
  t->wants_writes |= o->access != NULL;
  t->wants_loads |= o->access != NULL;
  t->wants_stmts |= o->stmt != NULL;
}

tki_watching tki_unwatch(tki *t) {
  tki_watching w = {t->observers, t->wants_insts, t->wants_writes,
                    t->wants_loads, t->wants_stmts};
  t->observers = NULL;
  t->wants_insts = t->wants_loads = t->wants_stmts = false;
  t->wants_writes = t->schedule && t->schedule->writers;
  return w;
}

void tki_rewatch(tki *t, const tki_watching *w) {
  t->observers = w->observers;
  t->wants_insts = w->wants_insts;
  t->wants_writes = w->wants_writes;
  t->wants_loads = w->wants_loads;
  t->wants_stmts = w->wants_stmts;
}

void tki_mark_stmt(tki *t, const tk_stmt *st) {
  if (!t->marked) t->marked = tk_calloc(t->env, t->program->nstmts + 1, 1);
  t->marked[st->id] = 1;
}

void tki_unmark_stmts(tki *t) {
  if (t->marked) memset(t->marked, 0, t->program->nstmts);
}
