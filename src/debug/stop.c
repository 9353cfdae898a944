/* stop.c - stopping a program.
 *
 * The interpreter counts statements; the hook before a statement is called
 * only when something may be due (`alarm`, `quick`, a site).  Whatever decides
 * to stop does it by tkd_stop_here, on the program's fiber; tkd_run_on, on the
 * main stack, then returns to the loop that calls the front end.
 */
#include "debug/stop.h"

#include <stdio.h>

#include "debug/history.h"

/* A search comes here at every statement: an empty text costs nothing. */
static void set_stop(tkd_stop *s, tk_stop_reason r, const tkd_point *p,
                     const char *text) {
  s->reason = r;
  s->point = p;
  s->text[0] = '\0';
  if (*text) snprintf(s->text, sizeof s->text, "%s", text);
}

void tkd_stop_here(tkd *d, tk_stop_reason r, const tkd_point *p,
                   const char *text) {
  TK_ASSERT(r != TK_STOP_NONE);
  TK_ASSERT(d->phase != TKD_REPLAYING || r == TK_STOP_EVENT);
  if (d->phase == TKD_SEARCHING) {
    tkd_replay *x = &d->replay;
    if (d->sub == TKD_LATE && d->event >= x->now) return;
    TK_ASSERT(d->event >= x->hit);
    x->hit = d->event;
    x->hit_sub = d->sub == TKD_LATE ? 0 : d->sub;
    set_stop(&x->stop, r, p, text);
    return;
  }
  set_stop(&d->stop, r, p, text);
  tki_task_pause(d->t);
}

void tkd_on_main(tkd *d, void (*work)(tkd *d)) {
  TK_ASSERT(d->t->task && !d->work);
  d->work = work;
  tki_task_pause(d->t);
}

void tkd_arm(tkd *d) {
  tki *t = d->t;
  TK_ASSERT(d->edit <= d->nedits);
  d->quick = d->steps.kind != TK_RESUME_CONTINUE || d->points.has_watch ||
             d->interrupted || d->want_start || d->points.catch_program;
  if (d->phase == TKD_REPLAYING) d->quick = false;
  d->alarm = d->replay.target;
  if (d->edit < d->nedits && d->phase != TKD_RUNNING) {
    uint64_t due = d->edits[d->edit].event;
    if (!d->alarm || due < d->alarm) d->alarm = due;
  }
  if (d->muted && (!d->alarm || d->furthest < d->alarm)) d->alarm = d->furthest;
  if (!t) return;
  t->wants_insts = d->others.watch || d->fine || t->unassigned;
  t->wants_loads = d->others.read || d->points.has_memory_watch;
  t->wants_stmts = d->others.each || d->quick || d->fine || d->sub;
  t->wanted_event = d->alarm;
}

/* A replay ends at the next statement, wherever that is. */
void tkd_ctrl_c(tkd *d) {
  if (d->phase != TKD_RUNNING) {
    d->replay.cut = true;
    d->phase = TKD_REPLAYING;
    d->steps.kind = TK_RESUME_CONTINUE;
    d->replay.target = d->event + 1;
    d->replay.target_sub = 0;
  } else {
    d->interrupted = true;
  }
  tkd_arm(d);
}

bool tkd_is_leaving(const tkd *d) {
  tk_stop_reason r = d->stop.reason;
  return d->sub == TKD_LATE && (r == TK_STOP_RETURN || r == TK_STOP_EXIT);
}

const tk_finding *const *tkd_findings_from(tkd *d, size_t first, size_t *n) {
  *n = d->env->ndiags > first ? d->env->ndiags - first : 0;
  const tk_finding **list =
      TK_NEWN(&d->answers.arena, const tk_finding *, *n + 1);
  size_t i = 0;
  for (const tk_diag *x = d->env->diags; x; x = x->next, i++)
    if (i >= first) list[i - first] = &x->f;
  return list;
}

void tkd_notice(tkd *d, const tk_notice *notice) {
  if (d->front.noticed) d->front.noticed(d->front.ud, d, notice);
}
