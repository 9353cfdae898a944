/* observer.c - who watches a run.
 */
#include <string.h>

#include "interp/keep.h"
#include "interp/schedule.h"

static void run_measured(tki *t, const tki_op *op, tki_val *slots) {
  TKI_TELL(t, begins, t, op->in, slots);
  t->plain[op->in->id].run(t, op, slots);
  TKI_TELL(t, ends, t, op->in, slots);
}

/* The walk itself does not know of it: it finds other functions in its code. */
static void measure(tki *t) {
  size_t n = t->program->ninsts + 1;
  if (!t->measured) {
    t->plain = t->code;
    t->measured = tk_calloc(t->env, n, sizeof *t->measured);
    memcpy(t->measured, t->plain, n * sizeof *t->measured);
    for (size_t i = 0; i < n; i++) t->measured[i].run = run_measured;
  }
  t->code = t->measured;
}

void tki_observe(tki *t, tki_observer *o) {
  tki_observer **at = &t->observers;
  for (; *at; at = &(*at)->next) TK_ASSERT(*at != o);
  o->next = NULL;
  *at = o;
  t->wants_insts |= o->before || o->after;
  t->wants_before |= o->before != NULL;
  t->wants_writes |= o->access != NULL;
  t->wants_loads |= o->access != NULL;
  t->wants_stmts |= o->stmt != NULL;
  if (o->begins || o->ends) measure(t);
}

bool tki_skips_scans(const tki *t) {
  for (const tki_observer *o = t->observers; o; o = o->next)
    if (!o->skips_scans &&
        (o->frame || o->stmt || o->before || o->after || o->begins || o->ends))
      return false;
  return true;
}

bool tki_inst_is_idle(tki *t, const tk_inst *in) {
  uint8_t *x = &t->idle[in->id];
  bool idle = true;
  if (*x) return *x == TKI_IDLE;
  for (tki_observer *o = t->observers; o; o = o->next)
    if (o->before || (o->after && !(o->idle && o->idle(o->ud, t, in))))
      idle = false;
  *x = idle ? TKI_IDLE : TKI_BUSY;
  return idle;
}

static bool count_nothing(void *ud, tki *t, tk_diag_id id, size_t lanes) {
  (void)ud, (void)t, (void)id, (void)lanes;
  return false;
}

const tki_keeper tki_keep_quiet = {.count = count_nothing};

tki_watching tki_unwatch(tki *t) {
  tki_watching w = {t->observers,    t->wants_insts, t->wants_before,
                    t->wants_writes, t->wants_loads, t->wants_stmts,
                    t->keeper};
  if (t->keeper) t->keeper = &tki_keep_quiet;
  t->observers = NULL;
  t->settled_values = NULL;
  t->settled_told = t->idle = NULL;
  t->wants_insts = t->wants_before = t->wants_loads = t->wants_stmts = false;
  t->wants_writes = t->schedule && t->schedule->writers;
  return w;
}

void tki_rewatch(tki *t, const tki_watching *w) {
  t->observers = w->observers;
  t->wants_insts = w->wants_insts;
  t->wants_before = w->wants_before;
  t->wants_writes = w->wants_writes;
  t->wants_loads = w->wants_loads;
  t->wants_stmts = w->wants_stmts;
  t->keeper = w->keeper;
}

void tki_mark_stmt(tki *t, const tk_stmt *st) {
  if (!t->marked) t->marked = tk_calloc(t->env, t->program->nstmts + 1, 1);
  t->marked[st->id] = 1;
}

void tki_unmark_stmts(tki *t) {
  if (t->marked) memset(t->marked, 0, t->program->nstmts);
}
