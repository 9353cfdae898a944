/* cmd_move.c - commands that go on, or back. */
#include "command/cmd.h"
#include "command/operand.h"
#include "command/say.h"

static void resume(tkt *d, tk_resume r) {
  tkt_need(d, tk_debug_resume(d->e, &r));
}

/* ---- moves ------------------------------------------------------------- */

static uint64_t count_of(tkt *d, const tkt_args *a) {
  uint64_t n = tkt_number(d, a->text, 1);
  if (!n) tkt_fail(d, "A number of at least 1 was expected.");
  return n;
}

/* Commands that only resume, forwards or backwards; those whose row in
 * command.def has no operand do so once. */
#define MOVE(id, way)                                                          \
  void tkt_cmd_##id(tkt *d, tkt_args *a) {                                     \
    resume(d, (tk_resume){.kind = TK_RESUME_##way, .count = count_of(d, a)});  \
  }
MOVE(CONTINUE, CONTINUE)
MOVE(STEP, STEP)
MOVE(NEXT, NEXT)
MOVE(STEPI, OPERATION)
MOVE(RETURN, RETURN)
MOVE(NEXT_PROGRAM, NEXT_PROGRAM)
MOVE(RUN, AGAIN)
MOVE(START, START)
MOVE(DETACH, DETACH)
MOVE(REVERSE_CONTINUE, BACK)
MOVE(REVERSE_STEP, BACK_STEP)
MOVE(REVERSE_NEXT, BACK_NEXT)
MOVE(REVERSE_STEPI, BACK_OPERATION)
MOVE(REVERSE_FINISH, BACK_FINISH)

void tkt_cmd_FINISH(tkt *d, tkt_args *a) {
  tk_debug_frame f;
  (void)a;
  if (tk_debug_selected(d->e, &f) && !f.depth)
    tkt_fail(d, "'finish' is not meaningful in the outermost frame: "
                "'next-program' runs this program to its end.");
  resume(d, (tk_resume){.kind = TK_RESUME_FINISH});
}

void tkt_cmd_UNTIL(tkt *d, tkt_args *a) {
  if (*a->text)
    resume(d, (tk_resume){.kind = TK_RESUME_FINISH, .location = a->text});
  else
    resume(d, (tk_resume){.kind = TK_RESUME_UNTIL});
}

void tkt_cmd_ADVANCE(tkt *d, tkt_args *a) {
  if (!*a->text) tkt_fail(d, "Which line, function or 'op NAME'?");
  resume(d, (tk_resume){.kind = TK_RESUME_CONTINUE, .location = a->text});
}

void tkt_cmd_LAUNCH(tkt *d, tkt_args *a) {
  uint64_t n = tkt_number(d, a->text, 0);
  if (*a->text && !n) tkt_fail(d, "Launches are counted from 1.");
  resume(d, (tk_resume){.kind = TK_RESUME_LAUNCH, .launch = n});
}

void tkt_cmd_JUMP(tkt *d, tkt_args *a) {
  int line = (int)tkt_number(d, a->text, 0);
  if (!line) tkt_fail(d, "Jump to which line?");
  resume(d, (tk_resume){.kind = TK_RESUME_JUMP, .line = line});
}

/* ---- programs ---------------------------------------------------------- */

void tkt_cmd_PROGRAM(tkt *d, tkt_args *a) {
  const tk_debug_stop *s = tkt_stand(d);
  uint64_t index = *a->text ? tkt_program_index(d, a->text) : s->program;
  if (index != s->program || (*a->text && s->over)) {
    resume(d, (tk_resume){.kind = TK_RESUME_PROGRAM, .program = index});
    return;
  }
  if (s->over) tkt_fail(d, "The launch has ended.");
  tkt_say(d, "program ");
  tkt_put_pid(&d->out, s->pid, s->grid);
  tkt_say(d, "\n");
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

/* ---- time -------------------------------------------------------------- */

void tkt_cmd_GOTO(tkt *d, tkt_args *a) {
  if (!*a->text)
    tkt_fail(d, "Go to which event? 'when' says which one this "
                "is.");
  resume(d, (tk_resume){.kind = TK_RESUME_EVENT,
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
  int number;
  tk_resume back;
  (void)a;
  tkt_need(d, tk_debug_mark(d->e, &number));
  tkt_need(d, tk_debug_mark_at(d->e, number, &back));
  tkt_say(d, "Checkpoint %d: event %llu\n", number,
          (unsigned long long)back.event);
}

void tkt_cmd_RESTART(tkt *d, tkt_args *a) {
  uint64_t n = tkt_number(d, a->text, 0);
  tk_resume back;
  tkt_need(d, tk_debug_mark_at(d->e, n > INT32_MAX ? 0 : (int)n, &back));
  resume(d, back);
}

void tkt_cmd_QUIT(tkt *d, tkt_args *a) {
  (void)a;
  tk_debug_quit(d->e);
}
