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
  tki_schedule *s = d->programs.schedule;
  if (s) tki_schedule_restart(s, s->at, s->nahead);
  d->programs.task = NULL;
  d->at.frame = NULL;
  d->programs.deadlocked = false;
}

void tkd_switch(tkd *d, uint64_t index) {
  TK_ASSERT(!d->t->task);
  d->programs.task =
      tki_schedule_take_up(d->programs.schedule, d->programs.task, index);
}

void tkd_take_up(tkd *d, uint64_t index) {
  tkd_switch(d, index);
  memcpy(d->t->pid, d->programs.task->pid, sizeof d->t->pid);
  tkd_select(d, 0);
}

/* ---- deadlock ---------------------------------------------------------- */

/* Everything stays as it is, to be looked at; whoever changes what they wait
 * for may go on.  only: SERIAL, where no other can help. */
static void stop_at_deadlock(tkd *d, tki_task *only) {
  d->programs.reported = d->env->ndiags;
  tki_deadlock_report(d->programs.schedule, only);
  if (tkd_is_left_alone(d)) {
    d->launch.status = TK_FINDING;
    tkd_drop_programs(d);
    return;
  }
  d->programs.task = only ? only : tki_schedule_blocked(d->programs.schedule);
  TK_ASSERT(d->programs.task && tki_schedule_is_blocked(d->programs.task));
  d->programs.deadlocked = true;
  d->at.sub = TKD_LATE;
  d->at.stop = (tkd_stop){.reason = TK_STOP_FINDING, .text = "deadlock"};
}

/* The user went on at a deadlock.  That is the end of the launch, unless
 * memory is not what it was, or a program was taken up that can go on. */
static void go_on_from_deadlock(tkd *d) {
  tki_step x = tki_schedule_next(d->programs.schedule);
  d->programs.deadlocked = false;
  if (!tki_schedule_is_blocked(d->programs.task)) {
    tk_diag_truncate(d->env, d->programs.reported);
  } else if (x.kind == TKI_STUCK) {
    d->launch.status = TK_FINDING;
    tkd_drop_programs(d);
  } else {
    tk_diag_truncate(d->env, d->programs.reported);
    tkd_choose(d);
  }
}

/* ---- going on ---------------------------------------------------------- */

/* What the user did at a deadlock that now comes again may have ended it. */
static tki_step redo_at_deadlock(tkd *d, tki_step x) {
  tki_task *chosen = NULL;
  d->programs.task =
      x.task ? x.task : tki_schedule_blocked(d->programs.schedule);
  while (d->time.edit < d->time.nedits &&
         d->time.edits[d->time.edit].event == d->at.event) {
    if (d->time.edits[d->time.edit].kind == TKD_SWITCH) {
      tkd_switch(d, d->time.edits[d->time.edit++].index);
      chosen = d->programs.task;
    } else {
      tkd_redo_late(d);
    }
    x = tki_schedule_next(d->programs.schedule);
  }
  if (chosen && !tki_schedule_is_blocked(chosen))
    x = (tki_step){TKI_RESUME, chosen, 0};
  return x;
}

void tkd_choose(tkd *d) {
  tki_schedule *s = d->programs.schedule;
  tki_step x = tki_schedule_next(s);
  if (x.kind == TKI_STUCK && d->course.phase != TKD_RUNNING)
    x = redo_at_deadlock(d, x);
  switch (x.kind) {
  case TKI_BEGIN: d->programs.task = tki_schedule_begin(s, &x); break;
  case TKI_RESUME: d->programs.task = x.task; break;
  case TKI_STUCK: stop_at_deadlock(d, x.task); break;
  case TKI_FINISHED: d->programs.task = NULL; break;
  }
}

/* What a hook left to be done here, not on the program's fiber. */
static void do_work(tkd *d) {
  void (*work)(tkd *) = d->programs.work;
  d->programs.work = NULL;
  work(d);
  tk_temps_free(&d->mem);
}

void tkd_run_on(tkd *d) {
  tki *t = d->t;
  d->at.stop = (tkd_stop){0};
  d->at.frame = NULL;
  if (d->programs.deadlocked) go_on_from_deadlock(d);
  while (d->programs.task && d->at.stop.reason == TK_STOP_NONE) {
    tk_status st = TK_OK;
    bool alive =
        tki_schedule_resume(d->programs.schedule, d->programs.task, &st);
    if (st != TK_OK) {
      d->launch.status = st;
      tkd_drop_programs(d);
    } else if (!alive || d->programs.task->gave_way) {
      tkd_choose(d);
    }
    if (d->programs.task) memcpy(t->pid, d->programs.task->pid, sizeof t->pid);
    if (alive && d->programs.work) do_work(d);
  }
  d->launch.over = !d->programs.task;
  if (d->launch.over)
    d->at.sub = 0;
  else
    tkd_select(d, 0);
}
