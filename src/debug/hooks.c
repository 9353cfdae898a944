/* hooks.c - whether a program stops.
 *
 * All of this runs on the fiber of a program.  The two functions that decide
 * are stop_before, before a statement, and step_ends, which that asks about
 * the step that is being
 * taken. */
#include "debug/hooks.h"

#include "debug/condition.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/points.h"
#include "debug/programs.h"
#include "debug/stop.h"
#include "debug/value.h"

/* Other programs may run while the one that is stepped waits. */
static bool is_other_program(const tkd *d) {
  return !d->course.steps.ended && d->t->task->index != d->course.steps.program;
}

/* Whether the step may end before the next statement of a call.  One that
 * looks back ends wherever it might have begun. */
static bool step_ends(const tkd *d, const tki_frame *f) {
  const tkd_steps *s = &d->course.steps;
  bool other = is_other_program(d);
  switch (s->kind) {
  case TK_RESUME_BACK_STEP:
  case TK_RESUME_BACK_OPERATION: return true;
  case TK_RESUME_BACK_NEXT:
    return tkd_depth(f) <= s->depth || d->programs.fresh;
  case TK_RESUME_BACK_FINISH: return tkd_depth(f) < s->depth;
  case TK_RESUME_NEXT_PROGRAM: return s->ended || other;
  case TK_RESUME_STEP:
  case TK_RESUME_OPERATION: return !other;
  case TK_RESUME_NEXT: return !other && (s->ended || tkd_depth(f) <= s->depth);
  case TK_RESUME_FINISH: return !other && (s->ended || tkd_depth(f) < s->depth);
  case TK_RESUME_UNTIL: {
    int depth = tkd_depth(f);
    return !other && (s->ended || depth < s->depth ||
                      (depth == s->depth && tkd_line_of(f) > s->line));
  }
  default: return false;
  }
}

/* Ends the step, or counts it; what is left of it is of the program that goes
 * on. */
static void end_step(tkd *d, const tki_frame *f) {
  tkd_steps *s = &d->course.steps;
  tk_resume_kind kind = s->kind;
  if (d->course.phase == TKD_SEARCHING) {
    tkd_stop_here(d, TK_STOP_STEP, NULL, "");
    return;
  }
  if (--s->count > 0 && kind != TK_RESUME_FINISH) {
    if (!s->ended && kind != TK_RESUME_NEXT_PROGRAM) return;
    s->program = d->t->task->index;
    s->ended = false;
    s->depth = tkd_depth(f);
    return;
  }
  if (kind == TK_RESUME_FINISH)
    tkd_stop_here(d, TK_STOP_FINISH, NULL, "");
  else if (kind == TK_RESUME_NEXT_PROGRAM)
    tkd_stop_here(d, TK_STOP_PROGRAM, NULL, "");
  else
    tkd_stop_here(d, TK_STOP_STEP, NULL,
                  s->ended ? "The program before ended" : "");
}

/* Everything that may stop a program before a statement; the first reason
 * counts.  A search has no use for those without a place. */
static void stop_before(tkd *d, tki *t, const tk_stmt *st) {
  bool running = d->course.phase == TKD_RUNNING;
  TK_ASSERT(d->course.phase != TKD_REPLAYING);
  if (d->points.has_watch && tkd_watches_look(d, st, false)) {
    d->programs.fresh = false;
    return;
  }
  if (t->frame->func->library) return;
  if (running && d->armed.interrupted) {
    d->armed.interrupted = false;
    tkd_stop_here(d, TK_STOP_INTERRUPT, NULL, "");
  } else if (running && d->programs.fresh && d->armed.start) {
    const tkd_point *p = d->armed.caught_launch ? d->points.catch_launch : NULL;
    const char *failure = d->launches.failure;
    tk_stop_reason plain = p ? TK_STOP_CATCH : TK_STOP_START;
    d->armed.start = d->armed.caught_launch = false;
    d->launches.failure = NULL;
    tkd_stop_here(d, failure ? TK_STOP_RAISED : plain, failure ? NULL : p,
                  failure ? failure : "");
  } else if (running && d->programs.fresh && d->points.catch_program) {
    d->points.catch_program->hits++;
    tkd_stop_here(d, TK_STOP_CATCH, d->points.catch_program, "");
  } else if (!(tkd_is_site(d, st) && tkd_points_hit(d, st)) &&
             step_ends(d, t->frame)) {
    end_step(d, t->frame);
  }
  d->programs.fresh = false;
}

static void unmute(tkd *d) {
  d->course.muted = false;
  tkd_arm(d);
}

/* The event at which something was due; true: it was what running again was
 * to come to.  What programs printed so far reaches us when one pauses. */
static bool arrive(tkd *d) {
  if (d->course.muted && d->at.event >= d->at.furthest &&
      d->course.replay.target != d->at.event)
    tkd_on_main(d, unmute);
  bool here = d->course.replay.target == d->at.event &&
              d->course.replay.target_sub == d->at.sub;
  if (here) {
    if (d->course.steps.kind == TK_RESUME_BACK && d->points.has_watch &&
        !d->at.sub && d->course.phase == TKD_SEARCHING)
      tkd_watches_look(d, NULL, false);
    d->course.phase = TKD_REPLAYING;
    d->course.replay.target = 0;
    tkd_stop_here(d, TK_STOP_EVENT, NULL, "");
  }
  tkd_arm(d);
  return here;
}

/* ---- hooks ------------------------------------------------------------- */

static void statement_hook(void *ud, tki *t, const tk_stmt *st) {
  tkd *d = ud;
  TK_ASSERT(t->event == &d->at.event && t->frame->stmt == st);
  if (d->at.sub && !d->armed.instructions) d->at.sub = 0, tkd_arm(d);
  d->at.sub = d->armed.counted = 0;
  if (TK_UNLIKELY(d->at.event == d->clock.due)) tkd_clock_look(d);
  if (TK_LIKELY(d->at.event != d->armed.event && !d->armed.statements &&
                !tkd_is_site(d, st)))
    return;
  if (d->at.event == d->armed.event && arrive(d)) return;
  if (d->course.phase != TKD_REPLAYING) stop_before(d, t, st);
  /* What the user did here came after the stop, if there was one. */
  if (d->course.phase != TKD_RUNNING) tkd_redo(d);
}

static void program_hook(void *ud, tki *t, bool begins) {
  tkd *d = ud;
  if (begins) {
    d->programs.fresh = true;
    if (!d->programs.schedule->tasks->next)
      tkd_begin_checkpoint(d, d->programs.task->index);
    return;
  }
  if (d->points.has_watch && d->course.phase != TKD_REPLAYING)
    tkd_watches_look(d, NULL, true);
  d->course.steps.ended |= t->task->index == d->course.steps.program;
}

static void operation_hook(void *ud, tki *t, const tk_inst *in,
                           const tki_val *args) {
  tkd *d = ud;
  (void)in, (void)args;
  if (!d->armed.instructions || t->frame->func->library) return;
  d->at.sub = d->armed.counted++;
  if (!d->at.sub) return;
  tk_resume_kind kind = d->course.steps.kind;
  if (d->course.replay.target == d->at.event &&
      d->course.replay.target_sub == d->at.sub) {
    arrive(d);
  } else if (kind == TK_RESUME_OPERATION && d->course.phase == TKD_RUNNING &&
             !is_other_program(d) && --d->course.steps.count == 0) {
    tkd_stop_here(d, TK_STOP_STEP, NULL, "");
  } else if (kind == TK_RESUME_BACK_OPERATION &&
             d->course.phase == TKD_SEARCHING) {
    tkd_stop_here(d, TK_STOP_STEP, NULL, "");
  }
  if (d->course.phase != TKD_RUNNING) tkd_redo(d);
}

static void access_hook(void *ud, tki *t, const tki_access *a) {
  tkd *d = ud;
  (void)t;
  if (a->write && d->time.limit) tkd_journal_access(d->time.journal, a);
  if (d->points.has_memory_watch) tkd_watches_access(d, a);
}

/* In the middle of a statement: does again what the user did there. */
static void stop_late(tkd *d, tk_stop_reason r, const tkd_point *p,
                      const char *text) {
  if (tkd_is_left_alone(d)) return;
  d->at.sub = TKD_LATE;
  d->t->wants_stmts = true; /* until the next statement */
  if (d->course.phase != TKD_REPLAYING) tkd_stop_here(d, r, p, text);
  if (d->course.phase != TKD_RUNNING) tkd_redo(d);
}

static void catch_return(tkd *d, tkd_point *p) {
  bool exits = p->caught == TKD_CATCH_EXIT;
  if (!tkd_front_agrees_here(d, p)) return;
  if (d->course.phase == TKD_RUNNING) {
    p->hits++;
    if (p->ignore) {
      p->ignore--;
      return;
    }
  }
  stop_late(d, exits ? TK_STOP_EXIT : TK_STOP_RETURN, p, "");
}

/* Keeps what the function returns that finish leaves, or that is caught. */
static void frame_hook(void *ud, tki *t, bool begins) {
  tkd *d = ud;
  const tki_frame *f = t->frame;
  if (begins || f->func->library || d->course.phase == TKD_REPLAYING) return;
  tkd_point *p = tkd_catch_for_return(d);
  bool finishes = d->course.steps.kind == TK_RESUME_FINISH &&
                  d->course.phase == TKD_RUNNING && !is_other_program(d) &&
                  tkd_depth(f) == d->course.steps.depth;
  if (p || finishes) tkd_keep_results(d, f);
  if (p) catch_return(d, p);
}

/* breakpoint() in a kernel. */
static void breakpoint_hook(void *ud, tki *t, const tk_inst *in) {
  (void)t, (void)in;
  stop_late(ud, TK_STOP_CALL, NULL, "");
}

/* The catchpoint for what was reported last; NULL: there is none. */
static tkd_point *catch_for_report(tkd *d) {
  const tk_diag *last = d->env->last_diag;
  for (tkd_point *p = d->points.first; p; p = p->next) {
    if (p->kind != TK_POINT_CATCH || !p->enabled) continue;
    if (p->programs && !tk_pids_match(&p->pids, d->t->pid)) continue;
    if (p->caught == TKD_CATCH_FINDING) return p;
    if (p->caught == TKD_CATCH_ASSERT && last && last->f.kind == TK_D_ASSERT)
      return p;
  }
  return NULL;
}

static void stop_reported(tkd *d, tkd_point *p) {
  const tk_diag *last = d->env->last_diag;
  if (p && d->course.phase == TKD_RUNNING) p->hits++;
  stop_late(d, p ? TK_STOP_CATCH : TK_STOP_FINDING, p,
            last ? tk_finding_kind_name(last->f.kind) : "");
}

static void stop_hook(void *ud, tki *t) {
  stop_reported(ud, catch_for_report(ud));
  (void)t;
}

/* The program goes on after it. */
static void finding_hook(void *ud, tki *t, bool stops) {
  tkd *d = ud;
  if (tkd_is_left_alone(d) && stops) tki_stop(t);
  tkd_point *p = catch_for_report(d);
  bool passes = p && p->ignore && d->course.phase == TKD_RUNNING;
  if (passes) p->ignore--, p->hits++;
  bool again = d->course.phase == TKD_REPLAYING;
  if (again || (!passes && (p || stops))) stop_reported(d, p);
}

/* Lets the front end answer on the main stack; it counts as a call of its own,
 * as in tkd_front_agrees. */
static void answer_call(tkd *d) {
  d->mem.calls++;
  tkd_select(d, 0);
  if (d->front.called) d->front.called(d->front.ud, d);
  d->at.frame = NULL;
  d->mem.calls--;
}

static bool interrupt_hook(void *ud, tki *t) {
  tkd *d = ud;
  bool called = d->launch.called && t->task == d->programs.task;
  if (d->launch.detached) return false;
  if (d->launch.leaves) d->launches.wanted = 0;
  d->launch.leaves = false;
  t->env->interrupted = 0;
  if (called) {
    d->launch.called = false;
    tkd_on_main(d, answer_call);
    return true;
  }
  tkd_ctrl_c(d);
  return true;
}

tki_observer tkd_observer(tkd *d) {
  return (tki_observer){.ud = d,
                        .program = program_hook,
                        .frame = frame_hook,
                        .stmt = statement_hook,
                        .before = operation_hook,
                        .access = access_hook,
                        .rows = true,
                        .breakpoint = breakpoint_hook,
                        .stop = stop_hook,
                        .finding = finding_hook,
                        .interrupt = interrupt_hook};
}
