/* cmd_move.c - commands that go on, or back. */
#include "command/cmd.h"
#include "command/operand.h"
#include "command/say.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/programs.h"
#include "debug/resume.h"
#include "interp/grid.h"

static void resume(tkt *d, tk_resume_kind kind, uint64_t count) {
  tkd_intend(d->e, &(tk_resume){.kind = kind, .count = count});
}

/* As often as the argument says. */
static void resume_times(tkt *d, tk_resume_kind kind, const tkt_args *a) {
  uint64_t n = tkt_number(d, a->text, 1);
  if (!n) tkt_fail(d, "A number from 1 on was expected.");
  resume(d, kind, n);
}

/* ---- onwards ----------------------------------------------------------- */

void tkt_cmd_CONTINUE(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_CONTINUE, a);
}

void tkt_cmd_STEP(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_STEP, a);
}

void tkt_cmd_NEXT(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_NEXT, a);
}

void tkt_cmd_STEPI(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_OPERATION, a);
}

void tkt_cmd_FINISH(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_FINISH, 1);
}

void tkt_cmd_UNTIL(tkt *d, tkt_args *a) {
  if (!*a->text) {
    resume(d, TK_RESUME_UNTIL, 1);
    return;
  }
  tkd_intend(d->e, &(tk_resume){.kind = TK_RESUME_FINISH, .location = a->text});
}

void tkt_cmd_ADVANCE(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "Which line, function or 'op NAME'?");
  tkd_intend(d->e,
             &(tk_resume){.kind = TK_RESUME_CONTINUE, .location = a->text});
}

void tkt_cmd_RETURN(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_RETURN, 1);
}

void tkt_cmd_JUMP(tkt *d, tkt_args *a) {
  tk_resume r = {.kind = TK_RESUME_JUMP};
  tkd_need_statement(d->e);
  r.line = (int)tkt_number(d, a->text, 0);
  if (!r.line) tkt_fail(d, "Jump to which line?");
  tkd_intend(d->e, &r);
}

/* ---- programs ---------------------------------------------------------- */

static void say_current(tkt *d) {
  if (!d->e->frame) tkt_fail(d, "The launch has ended.");
  tkt_say(d, "program ");
  tkt_put_pid(&d->out, d->e->t->pid, d->e->t->grid);
  tkt_say(d, "\n");
}

void tkt_cmd_PROGRAM(tkt *d, tkt_args *a) {
  uint64_t index = *a->text ? tkt_program_index(d, a->text) : 0;
  bool current = !*a->text || (!d->e->over && index == d->e->task->index);
  if (current)
    say_current(d);
  else
    tkd_intend(d->e, &(tk_resume){.kind = TK_RESUME_PROGRAM, .program = index});
}

void tkt_cmd_NEXT_PROGRAM(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_NEXT_PROGRAM, 1);
}

void tkt_cmd_LAUNCH(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_NEXT_LAUNCH, 1);
}

/* Programs in the same state, which follow each other in the order. */
typedef struct program_run {
  tk_debug_program first, last;
  uint64_t n;
} program_run;

static void say_run(tkt *d, const program_run *r) {
  static const char *const states[] = {"waiting", "current", "paused",
                                       "blocked", "done"};
  size_t start = d->out.n;
  tkt_put_pid(&d->out, r->first.pid, NULL);
  if (r->n > 1) {
    tkt_say(d, " .. ");
    tkt_put_pid(&d->out, r->last.pid, NULL);
  }
  tkt_say(d, "  %llu %s\n", (unsigned long long)r->n, states[r->first.state]);
  tkt_fold(d, start);
}

enum { MOST_PROGRAMS = 1 << 22, MOST_RANGES = 40 };

void tkt_cmd_PROGRAMS(tkt *d, tkt_args *a) {
  tk_debug_program page[64];
  program_run r = {.n = 0};
  uint64_t at = 0;
  int said = 0;
  size_t n;
  (void)a;
  while (at < MOST_PROGRAMS &&
         (n = tk_debug_programs(d->e, &at, page, TK_COUNT(page)))) {
    for (size_t i = 0; i < n; i++) {
      if (r.n && page[i].state != r.first.state) {
        if (said++ < MOST_RANGES) say_run(d, &r);
        r.n = 0;
      }
      if (!r.n++) r.first = page[i];
      r.last = page[i];
    }
  }
  if (r.n) say_run(d, &r);
}

/* ---- back -------------------------------------------------------------- */

void tkt_cmd_RUN(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_AGAIN, 1);
}

void tkt_cmd_START(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_START, 1);
}

void tkt_cmd_REVERSE_STEP(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_BACK_STEP, a);
}

void tkt_cmd_REVERSE_NEXT(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_BACK_NEXT, a);
}

void tkt_cmd_REVERSE_CONTINUE(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_BACK, a);
}

void tkt_cmd_REVERSE_FINISH(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_BACK_FINISH, 1);
}

void tkt_cmd_REVERSE_STEPI(tkt *d, tkt_args *a) {
  resume_times(d, TK_RESUME_BACK_OPERATION, a);
}

void tkt_cmd_GOTO(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "Go to which event? 'when' says which this is.");
  tkd_intend(d->e, &(tk_resume){.kind = TK_RESUME_EVENT,
                                .event = tkt_number(d, a->text, 1),
                                .program = TK_DEBUG_NO_PROGRAM});
}

void tkt_cmd_WHEN(tkt *d, tkt_args *a) {
  tk_debug_time now;
  (void)a;
  tk_debug_when(d->e, &now);
  tkt_say(d, "event %llu", (unsigned long long)now.event);
  if (now.operation)
    tkt_say(d, ", operation %llu", (unsigned long long)now.operation);
  if (now.over) tkt_say(d, ", the end");
  if (now.first)
    tkt_say(d, "; history from event %llu on\n", (unsigned long long)now.first);
  else
    tkt_say(d, "; no history\n");
}

void tkt_cmd_CHECKPOINT(tkt *d, tkt_args *a) {
  (void)a;
  tkd_mark_new(d->e);
  const tkd_mark *m = &d->e->marks[d->e->nmarks - 1];
  tkt_say(d, "Checkpoint %d: event %llu\n", m->number,
          (unsigned long long)m->event);
}

void tkt_cmd_RESTART(tkt *d, tkt_args *a) {
  uint64_t n = tkt_number(d, a->text, 0);
  if (!n || n > d->e->nmarks)
    tkt_fail(d, "Which checkpoint? There are %zu.", d->e->nmarks);
  const tkd_mark *m = &d->e->marks[n - 1];
  tkd_intend(d->e, &(tk_resume){.kind = TK_RESUME_EVENT,
                                .event = m->event,
                                .operation = m->sub,
                                .program = m->index});
}

void tkt_cmd_DETACH(tkt *d, tkt_args *a) {
  (void)a;
  resume(d, TK_RESUME_DETACH, 1);
}

void tkt_cmd_QUIT(tkt *d, tkt_args *a) {
  (void)a;
  tk_debug_quit(d->e);
}
