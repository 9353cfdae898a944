/* resume.c - how to go on.
 *
 * What cannot be done is refused when it is asked for, so that carrying it out
 * fails only for want of memory.
 */
#include "debug/resume.h"

#include <stdio.h>
#include <string.h>

#include "debug/describe.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/launches.h"
#include "debug/locate.h"
#include "debug/raise.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "interp/grid.h"
#include "debug/stop.h"

/* ---- what cannot be done ----------------------------------------------- */

/* Raises unless the program is before a statement of the user's: only there can
 * its course be changed. */
static void need_statement(tkd *d) {
  const tki_frame *f = tkd_top(d);
  if (d->at.sub || !f || f != d->programs.task->frame)
    tkd_raise(d, NO_STATEMENT);
}

/* Returns the statement that a jump goes to: of the body that the program
 * stands in, the one that begins the line, or that has the number.  Raises if
 * there is none. */
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
    tkd_raise(d, STATEMENT_ELSEWHERE, r->statement, tkd_line_of(f));
  if (!to) tkd_raise(d, LINE_ELSEWHERE, line, tkd_line_of(f));
  if (to == f->stmt) tkd_raise(d, LINE_HERE);
  return to;
}

static void need_program(tkd *d, uint64_t index) {
  int64_t pid[3];
  char name[80];
  if (d->launch.over) tkd_raise(d, ENDED_PROGRAM);
  if (d->at.sub) tkd_raise(d, NO_STATEMENT);
  if (tki_schedule_task(d->programs.schedule, index) ||
      !tki_schedule_has_begun(d->programs.schedule, index))
    return;
  tki_pid_of(d->t, index, pid);
  int n = snprintf(name, sizeof name, "%lld", (long long)pid[0]);
  for (int i = 1; i < 3 && (pid[i] || pid[2]); i++)
    n +=
        snprintf(name + n, sizeof name - (size_t)n, ",%lld", (long long)pid[i]);
  tkd_raise_about(d, name, PROGRAM_ENDED);
}

static bool counts_operations_anew(const tkd *d) {
  return !d->armed.instructions && !d->launch.over && d->at.sub != TKD_LATE;
}

/* Steps need a program that has not ended. */
static void need_not_over(tkd *d) {
  if (d->launch.over) tkd_raise(d, ENDED_MOVE);
}

static void check_intent(tkd *d, const tk_resume *r) {
  const char *file;
  bool leaves = r->kind == TK_RESUME_CONTINUE || r->kind == TK_RESUME_DETACH ||
                r->kind == TK_RESUME_LAUNCH;
  if (r->kind != TK_RESUME_QUIT && !d->t && !(leaves && d->launches.raised))
    tkd_raise(d, NO_LAUNCH);
  switch (r->kind) {
  case TK_RESUME_CONTINUE:
    if (r->count > 1 && !tkd_point_that_stopped(d))
      tkd_raise(d, NO_STOPPING_POINT);
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
    need_statement(d);
    jump_target(d, r);
    break;
  case TK_RESUME_RETURN: need_statement(d); break;
  case TK_RESUME_BACK_FINISH:
    if (d->at.frame && tkd_depth(d->at.frame) < 2) tkd_raise(d, NOT_CALLED);
    /* fall through */
  case TK_RESUME_BACK:
  case TK_RESUME_BACK_STEP:
  case TK_RESUME_BACK_NEXT:
  case TK_RESUME_BACK_OPERATION: tkd_need_past(d); break;
  case TK_RESUME_EVENT: tkd_need_event(d, r->event, r->operation); break;
  case TK_RESUME_LAUNCH:
    if (tkd_launch_wanted(d, r->launch) != d->launch.number || !d->t) break;
    /* fall through */
  case TK_RESUME_START: tkd_need_event(d, 1, 0); break;
  case TK_RESUME_AGAIN: tkd_need_beginning(d); break;
  default: break;
  }
  if (r->location && d->t) tkd_location(d, r->location, false, &file);
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

/* Begins `count` steps of the program that is here; CONTINUE is not a step. */
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
  tkd_take_up(d, index);
  d->at.gone = true;
}

/* Takes up another program, or begins it.  Returns true if it is already at a
 * place where it was left; otherwise it must run to its first statement. */
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
  begin_steps(d, TK_RESUME_CONTINUE, 1);
}

/* ---- in time ----------------------------------------------------------- */

/* Goes back `count` times, or until the beginning, Ctrl-C or a breakpoint ends
 * it; the front end hears of each place on the way. */
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

static void go_to_start(tkd *d) {
  tkd_goto(d, 1, 0);
  d->at.stop.reason = TK_STOP_START;
}

/* A launch that has run runs again when this one has ended; this one ends at
 * once if it, too, is one that runs again.  Returns true if the launch is this
 * one, whose start has been gone to. */
static bool go_to_launch(tkd *d, uint64_t number) {
  uint64_t n = tkd_launch_wanted(d, number);
  if (n == d->launch.number) {
    go_to_start(d);
    return true;
  }
  bool ran = n <= d->launches.count;
  if (ran) d->launches.wanted = n;
  if (!ran) d->armed.launch = n;
  d->launch.leaves = ran || d->launches.again;
  begin_steps(d, TK_RESUME_CONTINUE, 1);
  return false;
}

/* ---- carrying it out ---------------------------------------------------- */

/* Goes on until something stops it; the point that stopped it here lets pass
 * the count - 1 hits that follow. */
static void go_on(tkd *d, uint64_t count) {
  tkd_point *stopped = tkd_point_that_stopped(d);
  if (count > 1 && stopped) stopped->ignore = count - 1;
  begin_steps(d, TK_RESUME_CONTINUE, 1);
}

/* Goes on at another statement of the body. */
static void jump_to(tkd *d, const tk_stmt *to) {
  tkd_select(d, 0);
  tkd_edit_new(d, TKD_JUMP, NULL, 0)->stmt = to;
  d->t->jump = to;
  begin_steps(d, TK_RESUME_STEP, 1);
}

static void return_now(tkd *d) {
  tkd_select(d, 0);
  tkd_edit_new(d, TKD_LEAVE, NULL, 0);
  d->t->leave = true;
  begin_steps(d, TK_RESUME_STEP, 1);
}

static void run_launch_again(tkd *d) {
  tkd_rewind(d);
  d->armed.caught_launch = d->armed.start = d->points.catch_launch != NULL;
  if (d->armed.caught_launch) d->points.catch_launch->hits++;
  begin_steps(d, TK_RESUME_CONTINUE, 1);
}

bool tkd_carry_out(tkd *d) {
  tk_resume r = d->course.intent;
  TK_ASSERT(d->course.phase == TKD_RUNNING && !d->t->task);
  if (r.kind == TK_RESUME_NONE) r.kind = TK_RESUME_CONTINUE;
  tkd_drop_intent(d);
  d->at.gone = false;
  if (r.location) tkd_set_temp(d, r.location);
  switch (r.kind) {
  case TK_RESUME_CONTINUE: go_on(d, r.count); return false;
  case TK_RESUME_JUMP: jump_to(d, jump_target(d, &r)); return false;
  case TK_RESUME_RETURN: return_now(d); return false;
  case TK_RESUME_PROGRAM: return go_to_program(d, r.program);
  case TK_RESUME_BACK_OPERATION:
    d->armed.instructions = true; /* fall through */
  case TK_RESUME_BACK:
  case TK_RESUME_BACK_STEP:
  case TK_RESUME_BACK_NEXT:
  case TK_RESUME_BACK_FINISH: go_back_often(d, r.kind, r.count); return true;
  case TK_RESUME_EVENT: go_to_event(d, &r); return true;
  case TK_RESUME_START: go_to_start(d); return true;
  case TK_RESUME_AGAIN: run_launch_again(d); return false;
  case TK_RESUME_LAUNCH: return go_to_launch(d, r.launch);
  case TK_RESUME_DETACH: leave_alone(d); return false;
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

typedef struct visiting {
  tkd *d;
  uint64_t program;
  void (*fn)(void *ud);
  void *ud;
  bool there;
} visiting;

/* The checkpoint at which a program begins; NULL: there is none. */
static const tkd_checkpoint *checkpoint_of(const tkd *d, uint64_t program) {
  for (size_t i = 0; i < d->time.ncheckpoints; i++)
    if (d->time.checkpoints[i].index == program) return &d->time.checkpoints[i];
  return NULL;
}

/* Goes to the first statement of a program that is not half done, and calls fn
 * there. */
static void visit_first(void *ud) {
  visiting *v = ud;
  tkd *d = v->d;
  const tkd_checkpoint *begins = checkpoint_of(d, v->program);
  if (begins) {
    tkd_goto(d, begins->event + 1, 0);
  } else {
    tkd_edit_new(d, TKD_SWITCH, NULL, 0)->index = v->program;
    tkd_switch(d, v->program);
    d->course.steps = (tkd_steps){.kind = TK_RESUME_STEP,
                                  .count = 1,
                                  .program = v->program,
                                  .ended = true};
    tkd_arm(d);
    tkd_run_on(d);
    d->course.steps.kind = TK_RESUME_CONTINUE;
  }
  v->there = d->at.frame != NULL;
  if (v->there) v->fn(v->ud);
}

/* Calls fn where a program is paused; the one that runs next stays. */
static void visit_paused(const visiting *v, const tki_task *k) {
  tkd *d = v->d;
  tkd_where at = d->at;
  d->at.frame = (tki_frame *)tkd_user_frame(k->frame);
  d->at.level = 0;
  d->at.elsewhere = k != d->programs.task;
  memcpy(d->t->pid, k->pid, sizeof d->t->pid);
  v->fn(v->ud);
  memcpy(d->t->pid, d->programs.task->pid, sizeof d->t->pid);
  d->at.frame = at.frame;
  d->at.level = at.level;
  d->at.elsewhere = at.elsewhere;
}

bool tkd_visit(tkd *d, uint64_t program, void (*fn)(void *ud), void *ud) {
  visiting v = {d, program, fn, ud, true};
  if (d->launch.over || !d->at.frame) tkd_raise(d, ENDED);
  if (d->at.visiting) tkd_raise(d, VISITING_TWICE);
  d->at.visiting = true;
  const tki_task *k = tki_schedule_task(d->programs.schedule, program);
  if (k) {
    v.there = tkd_user_frame(k->frame) != NULL;
    if (v.there) visit_paused(&v, k);
    return v.there;
  }
  if (tki_schedule_has_begun(d->programs.schedule, program) &&
      !checkpoint_of(d, program))
    tkd_raise(d, VISITING_OVERLAP);
  tkd_and_back(d, visit_first, &v);
  return v.there;
}
