/* cmd_move.c - commands that go on, or back.
 */
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "interp/grid.h"

static uint64_t times(tkd *d, const char *text) {
  uint64_t n = tkd_number(d, text, 1);
  if (!n) tkd_fail(d, "A number from 1 on was expected.");
  return n;
}

/* ---- onwards ----------------------------------------------------------- */

void tkd_cmd_CONTINUE(tkd *d, tkd_args *a) {
  uint64_t n = times(d, a->text);
  if (n > 1) {
    tkd_point *p = (tkd_point *)d->stop.point;
    if (!p) tkd_fail(d, "No breakpoint stopped it here.");
    p->ignore = n - 1;
  }
  tkd_move(d, TKD_GO, 1);
}

void tkd_cmd_STEP(tkd *d, tkd_args *a) {
  tkd_move(d, TKD_STEP, times(d, a->text));
}

void tkd_cmd_NEXT(tkd *d, tkd_args *a) {
  tkd_move(d, TKD_NEXT, times(d, a->text));
}

void tkd_cmd_STEPI(tkd *d, tkd_args *a) {
  tkd_move(d, TKD_STEPI, times(d, a->text));
}

void tkd_cmd_FINISH(tkd *d, tkd_args *a) {
  (void)a;
  tkd_move(d, TKD_FINISH, 1);
}

static void set_temp(tkd *d, const char *where) {
  const char *file;
  if (!*where) tkd_fail(d, "Which line, function or 'op NAME'?");
  where = tkd_location(d, where, &file);
  tkd_drop_temp(d);
  size_t mark = d->nholds;
  tkd_point *p = tkd_hold(d, sizeof *p);
  p->kind = TKD_BREAK;
  p->enabled = true;
  p->where = tkd_hold_str(d, where);
  p->file = tkd_hold_str(d, file);
  tkd_keep(d, mark);
  d->temp = p;
  tkd_points_resolve(d);
}

void tkd_cmd_UNTIL(tkd *d, tkd_args *a) {
  if (*a->text) set_temp(d, a->text);
  tkd_move(d, *a->text ? TKD_FINISH : TKD_UNTIL, 1);
}

void tkd_cmd_ADVANCE(tkd *d, tkd_args *a) {
  set_temp(d, a->text);
  tkd_move(d, TKD_GO, 1);
}

/* The frame where the program stands, for what changes its course. */
static tki_frame *innermost(tkd *d) {
  tki_frame *f = tkd_top(d);
  if (d->sub || f != d->strand->task->frame)
    tkd_fail(d, "Only before a statement: 'next' goes to one.");
  tkd_select(d, 0);
  return f;
}

void tkd_cmd_RETURN(tkd *d, tkd_args *a) {
  (void)a;
  innermost(d);
  tkd_deed_new(d, TKD_LEAVE, NULL, 0);
  d->t->leave = true;
  tkd_move(d, TKD_STEP, 1);
}

static const tk_body *body_of(const tk_body *b, const tk_stmt *st) {
  for (size_t i = 0; i < b->n; i++) {
    const tk_stmt *x = b->items[i];
    if (x == st) return b;
    const tk_body *in = body_of(&x->body, st);
    if (!in) in = body_of(&x->orelse, st);
    if (in) return in;
  }
  return NULL;
}

void tkd_cmd_JUMP(tkd *d, tkd_args *a) {
  tki_frame *f = innermost(d);
  int line = (int)tkd_number(d, a->text, 0);
  if (!line) tkd_fail(d, "Jump to which line?");
  const tk_body *b = body_of(&f->func->body, f->stmt);
  const tk_stmt *to = NULL;
  for (size_t i = b ? b->n : 0; i-- > 0;)
    if (tk_source_line(f->func->src, b->items[i]->span.lo) == line)
      to = b->items[i];
  if (!to)
    tkd_fail(d, "Line %d is no statement of the body that line %d is in.", line,
             tkd_line_of(f));
  if (to == f->stmt) tkd_fail(d, "It stands there.");
  tkd_deed_new(d, TKD_JUMP, NULL, 0)->stmt = to;
  d->t->jump = to;
  tkd_move(d, TKD_STEP, 1);
}

/* ---- programs ---------------------------------------------------------- */

/* "3", "3,1" or "(3, 1, 0)" as an index in the grid. */
uint64_t tkd_program_index(tkd *d, const char *text) {
  int64_t pid[3] = {0, 0, 0}, *grid = d->t->grid;
  const char *s = text + strspn(text, "( ");
  for (int i = 0; i < 3; i++) {
    char *end;
    pid[i] = strtoll(s, &end, 10);
    if (end == s) tkd_fail(d, "A program was expected: X, X,Y or X,Y,Z.");
    s = end + strspn(end, " ");
    if (*s != ',') break;
    s++;
  }
  if (s[strspn(s, ") ")])
    tkd_fail(d, "A program was expected: X, X,Y or X,Y,Z, not '%s'.", text);
  for (int i = 0; i < 3; i++)
    if (pid[i] < 0 || pid[i] >= grid[i])
      tkd_fail(d, "Axis %d of the grid has %lld programs: there is no %lld.", i,
               (long long)grid[i], (long long)pid[i]);
  return (uint64_t)(pid[0] + grid[0] * (pid[1] + grid[1] * pid[2]));
}

static void say_current(tkd *d) {
  if (!d->frame) tkd_fail(d, "The launch has ended.");
  tkd_say(d, "program ");
  tkd_put_pid(&d->out, d->t->pid, d->t->grid);
  tkd_say(d, "\n");
}

/* Goes on with a program that was left before a statement. */
static void take_up(tkd *d, uint64_t index) {
  tkd_deed_new(d, TKD_SWITCH, NULL, 0)->index = index;
  tkd_switch(d, index);
  memcpy(d->t->pid, d->strand->task->pid, sizeof d->t->pid);
  tkd_select(d, 0);
  d->moves = d->gone = true;
}

void tkd_cmd_PROGRAM(tkd *d, tkd_args *a) {
  if (!*a->text) {
    say_current(d);
    return;
  }
  uint64_t index = tkd_program_index(d, a->text);
  if (d->over)
    tkd_fail(d, "The launch has ended: 'goto 1' and then 'program' works.");
  if (index == d->strand->task->index) {
    say_current(d);
    return;
  }
  if (d->sub) tkd_fail(d, "Only before a statement: 'next' goes to one.");
  bool paused = tkd_strand_of(d, index) != NULL;
  if (!paused && tkd_is_done(d, index))
    tkd_fail(d,
             "That program has run. 'goto 1', then 'program %s', comes "
             "before it.",
             a->text);
  uint64_t from = d->strand->task->index;
  if (paused) {
    take_up(d, index);
    d->stop = (tkd_stop){.reason = TKD_R_SWITCH};
    return;
  }
  tkd_deed_new(d, TKD_SWITCH, NULL, 0)->index = index;
  tkd_switch(d, index);
  tkd_move(d, TKD_TO_PROGRAM, 1);
  d->from_index = from;
}

void tkd_cmd_NEXT_PROGRAM(tkd *d, tkd_args *a) {
  (void)a;
  tkd_move(d, TKD_TO_PROGRAM, 1);
}

void tkd_cmd_LAUNCH(tkd *d, tkd_args *a) {
  (void)a;
  d->want_launch = true;
  tkd_move(d, TKD_GO, 1);
}

static const char *state_of(tkd *d, uint64_t index, uint64_t place) {
  const tkd_strand *s = tkd_strand_of(d, index);
  if (s && s == d->strand) return "current";
  if (s) return tkd_is_blocked(s) ? "blocked" : "paused";
  if (place < d->next) return "done";
  for (size_t i = 0; i < d->nahead; i++)
    if (d->ahead[i] == index) return "done";
  return "waiting";
}

static void say_range(tkd *d, uint64_t from, uint64_t to, uint64_t n,
                      const char *state) {
  int64_t a[3], b[3];
  size_t start = d->out.n;
  tki_pid_of(d->t, from, a);
  tki_pid_of(d->t, to, b);
  tkd_put_pid(&d->out, a, NULL);
  if (n > 1) {
    tkd_say(d, " .. ");
    tkd_put_pid(&d->out, b, NULL);
  }
  tkd_say(d, "  %llu %s\n", (unsigned long long)n, state);
  tkd_fold(d, start);
}

enum { MOST_PROGRAMS = 1 << 22, MOST_RANGES = 40 };

void tkd_cmd_PROGRAMS(tkd *d, tkd_args *a) {
  uint64_t from = 0, to = 0, n = 0, index;
  const char *state = "";
  int ranges = 0;
  (void)a;
  for (uint64_t i = 0; i < tki_programs(d->t) && i < MOST_PROGRAMS; i++) {
    if (!tki_program_at(d->t, i, &index)) continue;
    const char *s = state_of(d, index, i);
    if (n && s == state) {
      to = index;
      n++;
      continue;
    }
    if (n && ranges++ < MOST_RANGES) say_range(d, from, to, n, state);
    from = to = index;
    n = 1;
    state = s;
  }
  if (n) say_range(d, from, to, n, state);
}

/* ---- back -------------------------------------------------------------- */

void tkd_cmd_RUN(tkd *d, tkd_args *a) {
  (void)a;
  tkd_rewind(d);
  d->caught_launch = d->want_start = d->catch_launch != NULL;
  if (d->caught_launch) d->catch_launch->hits++;
  tkd_move(d, TKD_GO, 1);
}

void tkd_cmd_START(tkd *d, tkd_args *a) {
  (void)a;
  tkd_goto(d, 1, 0);
  d->stop.reason = TKD_R_START;
}

/* N times, up to the beginning, Ctrl-C or a breakpoint that is passed. */
static void go_back(tkd *d, const tkd_args *a, tkd_back how) {
  uint64_t n = times(d, a->text);
  for (bool more = true; n-- && more;) {
    tkd_go_back(d, how);
    tkd_reason r = d->stop.reason;
    more = !d->cut &&
           (r == TKD_R_STEP || (how == TKD_BACK_HIT && r != TKD_R_HISTORY));
  }
}

void tkd_cmd_REVERSE_STEP(tkd *d, tkd_args *a) {
  go_back(d, a, TKD_BACK_STEP);
}

void tkd_cmd_REVERSE_NEXT(tkd *d, tkd_args *a) {
  go_back(d, a, TKD_BACK_NEXT);
}

void tkd_cmd_REVERSE_CONTINUE(tkd *d, tkd_args *a) {
  go_back(d, a, TKD_BACK_HIT);
}

void tkd_cmd_REVERSE_FINISH(tkd *d, tkd_args *a) {
  (void)a;
  if (tkd_depth(d->frame) < 2)
    tkd_fail(d, "The kernel itself was not called: 'reverse-continue' goes "
                "back to the last stop.");
  tkd_go_back(d, TKD_BACK_FINISH);
}

void tkd_cmd_REVERSE_STEPI(tkd *d, tkd_args *a) {
  d->fine = true;
  go_back(d, a, TKD_BACK_STEPI);
}

void tkd_cmd_GOTO(tkd *d, tkd_args *a) {
  if (!*a->text) tkd_fail(d, "Go to which event? 'when' says which this is.");
  tkd_goto(d, tkd_number(d, a->text, 1), 0);
}

void tkd_cmd_WHEN(tkd *d, tkd_args *a) {
  (void)a;
  tkd_say(d, "event %llu", (unsigned long long)d->event);
  if (d->sub && d->sub != TKD_LATE)
    tkd_say(d, ", operation %llu", (unsigned long long)d->sub);
  if (d->over) tkd_say(d, ", the end");
  if (d->nbases)
    tkd_say(d, "; history from event %llu on\n",
            (unsigned long long)d->bases[0].event + 1);
  else
    tkd_say(d, "; no history\n");
}

void tkd_cmd_CHECKPOINT(tkd *d, tkd_args *a) {
  (void)a;
  if (d->nmarks == d->cap_marks) {
    size_t cap = d->cap_marks ? d->cap_marks * 2 : 8;
    d->marks = tk_realloc(d->env, d->marks, d->cap_marks * sizeof *d->marks,
                          cap * sizeof *d->marks);
    d->cap_marks = cap;
  }
  uint64_t sub = d->sub == TKD_LATE ? 0 : d->sub;
  tkd_mark m = {(int)d->nmarks + 1, d->event, sub, TKD_ALL_PROGRAMS};
  if (d->strand) m.index = d->strand->task->index;
  d->marks[d->nmarks++] = m;
  tkd_say(d, "Checkpoint %d: event %llu\n", m.number,
          (unsigned long long)m.event);
}

void tkd_cmd_RESTART(tkd *d, tkd_args *a) {
  uint64_t n = tkd_number(d, a->text, 0);
  if (!n || n > d->nmarks)
    tkd_fail(d, "Which checkpoint? There are %zu.", d->nmarks);
  tkd_mark m = d->marks[n - 1];
  tkd_goto(d, m.event, m.sub);
  /* There the user had taken up another program, without a statement of it. */
  if (d->strand && d->strand->task->index != m.index &&
      tkd_strand_of(d, m.index))
    take_up(d, m.index);
}

void tkd_cmd_DETACH(tkd *d, tkd_args *a) {
  (void)a;
  d->detached = d->moves = true;
  for (tkd_point *p = d->points; p; p = p->next) p->enabled = false;
  tkd_points_resolve(d);
}

void tkd_cmd_QUIT(tkd *d, tkd_args *a) {
  (void)a;
  d->quit = d->moves = true;
}
