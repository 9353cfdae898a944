/* resume.c - how to go on.
 *
 * What can be refused is refused when it is said; so that carrying it out
 * fails only for want of memory.
 */
#include "debug/resume.h"

#include <stdio.h>
#include <string.h>

#include "debug/describe.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "interp/grid.h"
#include "debug/stop.h"

/* ---- what cannot be ---------------------------------------------------- */

void tkd_need_statement(tkd *d) {
  const tki_frame *f = tkd_top(d);
  if (d->at.sub || !f || f != d->programs.task->frame)
    tkd_raise(d, "Only before a statement: 'next' goes to one.");
}

/* The statement of the body where it stands that the line begins, or that has
 * the number; fails. */
static const tk_stmt *jump_target(tkd *d, const tk_resume *r) {
  const tki_frame *f = tkd_top(d);
  int line = r->line;
  const tk_body *b = tkd_body_of(f->func, f->stmt);
  const tk_stmt *to = NULL;
  for (size_t i = b ? b->n : 0; i-- > 0;)
    if (line ? tk_source_line(f->func->src, b->items[i]->span.lo) == line
             : b->items[i]->id == r->statement)
      to = b->items[i];
  if (!to && !line)
    tkd_raise(d, "Statement %zu is none of the body that line %d is in.",
              r->statement, tkd_line_of(f));
  if (!to)
    tkd_raise(d, "Line %d is no statement of the body that line %d is in.",
              line, tkd_line_of(f));
  if (to == f->stmt) tkd_raise(d, "It stands there.");
  return to;
}

static void need_program(tkd *d, uint64_t index) {
  int64_t pid[3];
  char name[80];
  if (d->launch.over)
    tkd_raise(d, "The launch has ended: 'goto 1' and then 'program' works.");
  if (d->at.sub) tkd_raise(d, "Only before a statement: 'next' goes to one.");
  if (tki_schedule_task(d->programs.schedule, index) ||
      !tki_schedule_has_begun(d->programs.schedule, index))
    return;
  tki_pid_of(d->t, index, pid);
  int n = snprintf(name, sizeof name, "%lld", (long long)pid[0]);
  for (int i = 1; i < 3 && (pid[i] || pid[2]); i++)
    n +=
        snprintf(name + n, sizeof name - (size_t)n, ",%lld", (long long)pid[i]);
  tkd_raise(d,
            "That program has run. 'goto 1', then 'program %s', comes "
            "before it.",
            name);
}

static bool counts_operations_anew(const tkd *d) {
  return !d->armed.instructions && !d->launch.over && d->at.sub != TKD_LATE;
}

/* Steps need a program that has not ended. */
static void need_not_over(tkd *d) {
  if (d->launch.over)
    tkd_raise(d, "The launch has ended: 'reverse-step' goes back into it, "
                 "'run' runs it again,\n'continue' leaves it.");
}

static void check_intent(tkd *d, const tk_resume *r) {
  const char *file;
  if (r->kind != TK_RESUME_QUIT && !d->t) tkd_raise(d, "No launch is running.");
  switch (r->kind) {
  case TK_RESUME_CONTINUE:
    if (r->count > 1 && !d->at.stop.point)
      tkd_raise(d, "No breakpoint stopped it here.");
    break;
  case TK_RESUME_OPERATION:
    if (counts_operations_anew(d)) tkd_need_event(d, d->at.event, 0);
    /* fall through */
  case TK_RESUME_STEP:
  case TK_RESUME_NEXT:
  case TK_RESUME_UNTIL:
  case TK_RESUME_FINISH:
  case TK_RESUME_NEXT_PROGRAM: need_not_over(d); break;
  case TK_RESUME_PROGRAM: need_program(d, r->program); break;
  case TK_RESUME_JUMP:
    tkd_need_statement(d);
    jump_target(d, r);
    break;
  case TK_RESUME_RETURN: tkd_need_statement(d); break;
  case TK_RESUME_BACK_FINISH:
    if (d->at.frame && tkd_depth(d->at.frame) < 2)
      tkd_raise(d, "The kernel itself was not called: 'reverse-continue' goes "
                   "back to the last stop.");
    /* fall through */
  case TK_RESUME_BACK:
  case TK_RESUME_BACK_STEP:
  case TK_RESUME_BACK_NEXT:
  case TK_RESUME_BACK_OPERATION: tkd_need_past(d); break;
  case TK_RESUME_EVENT: tkd_need_event(d, r->event, r->operation); break;
  case TK_RESUME_START: tkd_need_event(d, 1, 0); break;
  case TK_RESUME_AGAIN: tkd_need_beginning(d); break;
  default: break;
  }
  if (r->location) tkd_location(d, r->location, &file);
}

void tkd_intend(tkd *d, const tk_resume *how) {
  TK_ASSERT(how->kind != TK_RESUME_NONE);
  check_intent(d, how);
  tk_text_set(d->env, &d->course.location, how->location);
  d->course.intent = *how;
  d->course.intent.location = d->course.location;
  if (!d->course.intent.count) d->course.intent.count = 1;
}

bool tkd_has_intent(const tkd *d) {
  return d->course.intent.kind != TK_RESUME_NONE;
}

void tkd_drop_intent(tkd *d) {
  d->course.intent = (tk_resume){.kind = TK_RESUME_NONE};
}

/* ---- onwards ----------------------------------------------------------- */

/* A step of the program that stands here, or (CONTINUE) none. */
static void begin_steps(tkd *d, tk_resume_kind kind, uint64_t count) {
  const tki_frame *f = d->at.frame;
  if (kind == TK_RESUME_OPERATION && counts_operations_anew(d)) {
    d->armed.instructions = true;
    tkd_goto(d, d->at.event, 0);
    d->at.stop = (tkd_stop){.reason = TK_STOP_NONE};
    f = d->at.frame;
  }
  d->at.gone = false;
  d->course.steps =
      (tkd_steps){.kind = kind,
                  .count = count,
                  .depth = f ? tkd_depth(f) : 0,
                  .line = f ? tkd_line_of(f) : 0,
                  .program = d->programs.task ? d->programs.task->index
                                              : TK_DEBUG_NO_PROGRAM,
                  .ended = !d->programs.task};
  d->programs.fresh = false;
  if (kind != TK_RESUME_FINISH || !tkd_is_leaving(d)) d->returned.n = 0;
}

/* Goes on with a program that was left before a statement. */
static void take_up(tkd *d, uint64_t index) {
  tkd_edit_new(d, TKD_SWITCH, NULL, 0)->index = index;
  tkd_switch(d, index);
  memcpy(d->t->pid, d->programs.task->pid, sizeof d->t->pid);
  tkd_select(d, 0);
  d->at.gone = true;
}

/* Takes up another program, or begins it; true: it stands there. */
static bool go_to_program(tkd *d, uint64_t index) {
  uint64_t from = d->programs.task->index;
  if (tki_schedule_task(d->programs.schedule, index)) {
    if (index != from) take_up(d, index);
    d->at.stop = (tkd_stop){.reason = TK_STOP_SWITCH};
    return true;
  }
  tkd_edit_new(d, TKD_SWITCH, NULL, 0)->index = index;
  tkd_switch(d, index);
  begin_steps(d, TK_RESUME_NEXT_PROGRAM, 1);
  d->course.steps.program = from;
  return false;
}

static void leave_alone(tkd *d) {
  d->launch.detached = true;
  for (tkd_point *p = d->points.first; p; p = p->next) p->enabled = false;
  tkd_points_resolve(d);
}

/* ---- in time ----------------------------------------------------------- */

/* Several times, up to the beginning, Ctrl-C or a breakpoint that is passed;
 * the front end hears of each place on the way. */
static void go_back_often(tkd *d, tk_resume_kind kind, uint64_t count) {
  for (uint64_t left = count; left; left--) {
    if (left < count)
      tkd_notice(d, &(tk_notice){.kind = TK_NOTICE_PASSED,
                                 .stop = tkd_describe_stop(d)});
    tkd_go_back(d, kind);
    tk_stop_reason r = d->at.stop.reason;
    bool more =
        r == TK_STOP_STEP || (kind == TK_RESUME_BACK && r != TK_STOP_HISTORY);
    if (d->course.replay.cut || !more) break;
  }
}

static void go_to_event(tkd *d, const tk_resume *r) {
  tkd_goto(d, r->event, r->operation);
  /* There the user had taken up another program, without a statement of
   * it. */
  bool other = d->programs.task && r->program != TK_DEBUG_NO_PROGRAM &&
               d->programs.task->index != r->program;
  if (other && tki_schedule_task(d->programs.schedule, r->program))
    take_up(d, r->program);
}

bool tkd_carry_out(tkd *d) {
  tk_resume r = d->course.intent;
  tki *t = d->t;
  TK_ASSERT(d->course.phase == TKD_RUNNING && !t->task);
  if (r.kind == TK_RESUME_NONE) r.kind = TK_RESUME_CONTINUE;
  tkd_drop_intent(d);
  d->at.gone = false;
  if (r.location) tkd_set_temp(d, r.location);
  switch (r.kind) {
  case TK_RESUME_CONTINUE:
    if (r.count > 1 && d->at.stop.point)
      ((tkd_point *)d->at.stop.point)->ignore = r.count - 1;
    begin_steps(d, r.kind, 1);
    return false;
  case TK_RESUME_JUMP: {
    const tk_stmt *to = jump_target(d, &r);
    tkd_select(d, 0);
    tkd_edit_new(d, TKD_JUMP, NULL, 0)->stmt = to;
    t->jump = to;
    begin_steps(d, TK_RESUME_STEP, 1);
    return false;
  }
  case TK_RESUME_RETURN:
    tkd_select(d, 0);
    tkd_edit_new(d, TKD_LEAVE, NULL, 0);
    t->leave = true;
    begin_steps(d, TK_RESUME_STEP, 1);
    return false;
  case TK_RESUME_PROGRAM: return go_to_program(d, r.program);
  case TK_RESUME_BACK_OPERATION:
    d->armed.instructions = true; /* fall through */
  case TK_RESUME_BACK:
  case TK_RESUME_BACK_STEP:
  case TK_RESUME_BACK_NEXT:
  case TK_RESUME_BACK_FINISH: go_back_often(d, r.kind, r.count); return true;
  case TK_RESUME_EVENT: go_to_event(d, &r); return true;
  case TK_RESUME_START:
    tkd_goto(d, 1, 0);
    d->at.stop.reason = TK_STOP_START;
    return true;
  case TK_RESUME_AGAIN:
    tkd_rewind(d);
    d->armed.caught_launch = d->armed.start = d->points.catch_launch != NULL;
    if (d->armed.caught_launch) d->points.catch_launch->hits++;
    begin_steps(d, TK_RESUME_CONTINUE, 1);
    return false;
  case TK_RESUME_NEXT_LAUNCH:
    d->armed.next_launch = true;
    begin_steps(d, TK_RESUME_CONTINUE, 1);
    return false;
  case TK_RESUME_DETACH:
    leave_alone(d);
    begin_steps(d, TK_RESUME_CONTINUE, 1);
    return false;
  case TK_RESUME_QUIT: d->launch.quit = true; return false;
  default: begin_steps(d, r.kind, r.count); return false;
  }
}

void tkd_recover(tkd *d) {
  if (!d->t || d->launch.over || (d->programs.task && d->at.frame)) return;
  tkd_drop_programs(d);
  d->launch.over = true;
  d->at.sub = 0;
  d->course.phase = TKD_RUNNING;
  d->course.steps.kind = TK_RESUME_CONTINUE;
  d->course.replay.target = 0;
}

/* ---- visits ------------------------------------------------------------ */

void tkd_need_visits(tkd *d) {
  if (d->launch.over || !d->at.frame) tkd_raise(d, "The launch has ended.");
  if (d->time.nedits || d->programs.schedule->tasks->next)
    tkd_raise(d, "After 'set', 'jump', 'return' or 'program' other programs "
                 "cannot be visited:\ngo back before it.");
}

/* Goes to the first statement of a program; false: it has none. */
static bool go_visiting(tkd *d, uint64_t index) {
  for (size_t i = 0; i < d->time.ncheckpoints; i++)
    if (d->time.checkpoints[i].index == index) {
      tkd_goto(d, d->time.checkpoints[i].event + 1, 0);
      return d->at.frame != NULL;
    }
  tkd_edit_new(d, TKD_SWITCH, NULL, 0)->index = index;
  tkd_switch(d, index);
  d->course.steps = (tkd_steps){
      .kind = TK_RESUME_STEP, .count = 1, .program = index, .ended = true};
  tkd_arm(d);
  tkd_run_on(d);
  d->course.steps.kind = TK_RESUME_CONTINUE;
  return d->at.frame != NULL;
}

bool tkd_visit(tkd *d, uint64_t program, void (*fn)(void *ud), void *ud) {
  tkd_need_visits(d);
  uint64_t event = d->at.event, sub = d->at.sub == TKD_LATE ? 0 : d->at.sub;
  if (program == d->programs.task->index) {
    fn(ud);
    return true;
  }
  bool there = go_visiting(d, program);
  if (there) fn(ud);
  tkd_goto(d, event, sub);
  d->at.gone = false;
  return there;
}
