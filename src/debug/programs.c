/* programs.c - the debugger's loop over the programs of a launch.
 *
 * Who goes on is the schedule's to say (interp/schedule.h), as in a run
 * without a debugger.  What is left here is what a user adds: a program stands
 * still at a stop, another may be taken up in its place, and a deadlock is a
 * stop like others, behind which somebody may be able to go on after all.
 */
#include "debug/programs.h"

#include <string.h>

#include "base/assert.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/stop.h"

void tkd_drop_programs(tkd *d) {
  tki_schedule *s = d->schedule;
  if (s) tki_schedule_restart(s, s->at, s->nahead);
  d->task = NULL;
  d->frame = NULL;
  d->deadlocked = false;
}

void tkd_switch(tkd *d, uint64_t index) {
  TK_ASSERT(!d->t->task);
  d->task = tki_schedule_take_up(d->schedule, d->task, index);
}

/* ---- deadlock ---------------------------------------------------------- */

/* Everything stays as it is, to be looked at; whoever changes what they wait
 * for may go on.  only: SERIAL, where no other can help. */
static void stop_at_deadlock(tkd *d, tki_task *only) {
  d->before_deadlock = d->env->ndiags;
  tki_deadlock_report(d->schedule, only);
  if (d->detached) {
    d->status = TK_FINDING;
    tkd_drop_programs(d);
    return;
  }
  d->task = only ? only : tki_schedule_blocked(d->schedule);
  TK_ASSERT(d->task && tki_schedule_is_blocked(d->task));
  d->deadlocked = true;
  d->sub = TKD_LATE;
  d->stop = (tkd_stop){.reason = TK_STOP_FINDING};
  strcpy(d->stop.text, "deadlock");
}

/* The user went on at a deadlock.  That is the end of the launch, unless
 * memory is not what it was, or a program was taken up that can go on. */
static void go_on_from_deadlock(tkd *d) {
  tki_step x = tki_schedule_next(d->schedule);
  d->deadlocked = false;
  if (!tki_schedule_is_blocked(d->task)) {
    tk_diag_truncate(d->env, d->before_deadlock);
  } else if (x.kind == TKI_STUCK) {
    d->status = TK_FINDING;
    tkd_drop_programs(d);
  } else {
    tk_diag_truncate(d->env, d->before_deadlock);
    tkd_choose(d);
  }
}

/* ---- going on ---------------------------------------------------------- */

/* What the user did at a deadlock that now comes again may have ended it. */
static tki_step redo_at_deadlock(tkd *d, tki_step x) {
  tki_task *chosen = NULL;
  d->task = x.task ? x.task : tki_schedule_blocked(d->schedule);
  while (d->edit < d->nedits && d->edits[d->edit].event == d->event) {
    if (d->edits[d->edit].kind == TKD_SWITCH) {
      tkd_switch(d, d->edits[d->edit++].index);
      chosen = d->task;
    } else {
      tkd_redo_late(d);
    }
    x = tki_schedule_next(d->schedule);
  }
  if (chosen && !tki_schedule_is_blocked(chosen))
    x = (tki_step){TKI_RESUME, chosen, 0};
  return x;
}

void tkd_choose(tkd *d) {
  tki_schedule *s = d->schedule;
  tki_step x = tki_schedule_next(s);
  if (x.kind == TKI_STUCK && d->phase != TKD_RUNNING)
    x = redo_at_deadlock(d, x);
  switch (x.kind) {
  case TKI_BEGIN: d->task = tki_schedule_begin(s, &x); break;
  case TKI_RESUME: d->task = x.task; break;
  case TKI_STUCK: stop_at_deadlock(d, x.task); break;
  case TKI_FINISHED: d->task = NULL; break;
  }
}

/* What a hook left to be done here, not on the program's fiber. */
static void do_work(tkd *d) {
  void (*work)(tkd *) = d->work;
  d->work = NULL;
  work(d);
  tk_temps_free(&d->mem);
}

void tkd_run_on(tkd *d) {
  tki *t = d->t;
  d->stop = (tkd_stop){0};
  d->frame = NULL;
  if (d->deadlocked) go_on_from_deadlock(d);
  while (d->task && d->stop.reason == TK_STOP_NONE) {
    tk_status st = TK_OK;
    bool alive = tki_schedule_resume(d->schedule, d->task, &st);
    if (st != TK_OK) {
      d->status = st;
      tkd_drop_programs(d);
    } else if (!alive || d->task->gave_way) {
      tkd_choose(d);
    }
    if (d->task) memcpy(t->pid, d->task->pid, sizeof t->pid);
    if (alive && d->work) do_work(d);
  }
  d->over = !d->task;
  if (d->over)
    d->sub = 0;
  else
    tkd_select(d, 0);
}
