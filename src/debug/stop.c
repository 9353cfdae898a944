/* stop.c - stopping a program.
 *
 * The interpreter counts statements; it calls the hook before a statement only
 * where something may be due: at every statement (`armed.statements`), at one
 * event (`armed.event`), at a site.  Whatever decides to stop calls
 * tkd_stop_here, on the program's fiber; tkd_run_on, on the main stack, then
 * returns to the loop that calls the front end.
 */
#include "debug/stop.h"

#include <stdio.h>

#include "base/clock.h"
#include "debug/history.h"
#include "debug/points.h"

void tkd_stop_here(tkd *d, tk_stop_reason r, const tkd_point *p,
                   const char *text) {
  tkd_stop stop = {.reason = r, .point = p ? p->number : 0, .text = text};
  TK_ASSERT(r != TK_STOP_NONE);
  TK_ASSERT(d->course.phase != TKD_REPLAYING || r == TK_STOP_EVENT);
  if (d->course.phase == TKD_SEARCHING) {
    tkd_replay *x = &d->course.replay;
    if (d->at.sub == TKD_LATE && d->at.event >= x->now) return;
    TK_ASSERT(d->at.event >= x->hit);
    x->hit = d->at.event;
    x->hit_sub = tkd_operation(d);
    x->stop = stop;
    return;
  }
  d->at.stop = stop;
  tki_task_pause(d->t);
}

void tkd_on_main(tkd *d, void (*work)(tkd *d)) {
  TK_ASSERT(d->t->task && !d->programs.work);
  d->programs.work = work;
  tki_task_pause(d->t);
}

void tkd_arm(tkd *d) {
  tki *t = d->t;
  TK_ASSERT(d->time.edit <= d->time.nedits);
  d->armed.statements = d->course.steps.kind != TK_RESUME_CONTINUE ||
                        d->points.has_watch || d->armed.interrupted ||
                        d->armed.start || d->points.catch_program;
  if (d->course.phase == TKD_REPLAYING) d->armed.statements = false;
  d->armed.event = d->course.replay.target;
  if (d->time.edit < d->time.nedits && d->course.phase != TKD_RUNNING) {
    uint64_t due = d->time.edits[d->time.edit].event;
    if (!d->armed.event || due < d->armed.event) d->armed.event = due;
  }
  if (d->course.muted && (!d->armed.event || d->at.furthest < d->armed.event))
    d->armed.event = d->at.furthest;
  if (!t) return;
  t->wants_insts =
      d->launch.others.watch || d->armed.instructions || t->unassigned;
  t->wants_loads = d->launch.others.read || d->points.has_memory_watch;
  t->wants_stmts = d->launch.others.each || d->armed.statements ||
                   d->armed.instructions || d->at.sub;
  tkd_clock *c = &d->clock;
  if (c->due && c->due <= d->at.event) c->due = d->at.event + c->stride;
  bool first = c->due && (!d->armed.event || c->due < d->armed.event);
  t->wanted_event = first ? c->due : d->armed.event;
}

/* ---- what takes long ----------------------------------------------------- */

tkd_clock tkd_clock_from(const tkd *d, uint64_t event) {
  if (!d->front.progressed) return (tkd_clock){.due = 0};
  double now = tk_clock_seconds();
  return (tkd_clock){
      .began = now, .looked = now, .stride = 64, .due = event + 64};
}

/* Some fifty times a second, however long statements take. */
bool tkd_clock_tells(tkd_clock *c, uint64_t event) {
  double now = tk_clock_seconds(), took = now - c->looked;
  if (took < 0.01 && c->stride < 1 << 24) c->stride *= 2;
  if (took > 0.04 && c->stride > 1) c->stride /= 2;
  c->looked = now;
  c->due = event + c->stride;
  bool tells = now - c->began > 1 && now - c->told > 0.2;
  if (tells) c->told = now;
  return tells;
}

static void tell_progress(tkd *d) {
  d->front.progressed(d->front.ud, d);
}

void tkd_clock_look(tkd *d) {
  if (tkd_clock_tells(&d->clock, d->at.event)) tkd_on_main(d, tell_progress);
  tkd_arm(d);
}

/* A replay ends at the next statement, wherever that is. */
void tkd_ctrl_c(tkd *d) {
  if (d->course.phase != TKD_RUNNING) {
    d->course.replay.cut = true;
    d->course.phase = TKD_REPLAYING;
    d->course.steps.kind = TK_RESUME_CONTINUE;
    d->course.replay.target = d->at.event + 1;
    d->course.replay.target_sub = 0;
  } else {
    d->armed.interrupted = true;
  }
  tkd_arm(d);
}

bool tkd_is_leaving(const tkd *d) {
  tk_stop_reason r = d->at.stop.reason;
  return d->at.sub == TKD_LATE && (r == TK_STOP_RETURN || r == TK_STOP_EXIT);
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
