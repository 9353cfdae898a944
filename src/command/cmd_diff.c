/* cmd_diff.c - diff: a value beside what it was a trip ago, is in another
 * program, or was when the launch began.
 *
 * The other value is had by running that program aside until it stands at
 * the same statement, in the same calls and trips of their loops.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/aside.h"
#include "command/cmd.h"
#include "command/look.h"
#include "command/operand.h"
#include "command/say.h"
#include "command/show.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/raise.h"
#include "debug/programs.h"
#include "interp/check/undefined.h"
#include "interp/grid.h"
#include "interp/describe.h"

/* ---- two values -------------------------------------------------------- */

typedef struct pair {
  tkt *d;
  const char *name;
  tkt_block now, then;
} pair;

enum { MOST_LANES = 8 };

typedef struct difference {
  int64_t lanes, first[MOST_LANES];
  double most; /* of the finite ones */
  int64_t at;  /* where, -1: nowhere */
} difference;

static bool is_undefined(const tkt_block *b, int64_t i) {
  return b->undefined && b->undefined[i];
}

/* What happens to be in an undefined lane is no difference to another. */
static bool is_same(const pair *p, int64_t i) {
  bool now = is_undefined(&p->now, i), then = is_undefined(&p->then, i);
  if (now || then) return now == then;
  return !memcmp(tkt_block_lane(&p->now, i), tkt_block_lane(&p->then, i),
                 tk_lane_size(&p->now.type));
}

static difference compare(const pair *p) {
  difference r = {.at = -1};
  int64_t n = tk_numel(&p->now.type);
  for (int64_t i = 0; i < n; i++) {
    if (is_same(p, i)) continue;
    if (r.lanes < MOST_LANES) r.first[r.lanes] = i;
    r.lanes++;
    if (is_undefined(&p->now, i) || is_undefined(&p->then, i)) continue;
    double by =
        fabs(tkt_lane_double(&p->now, i) - tkt_lane_double(&p->then, i));
    if (isfinite(by) && (r.at < 0 || by > r.most)) r.at = i, r.most = by;
  }
  return r;
}

static void put_change(const pair *p, int64_t i) {
  tkt *d = p->d;
  if (is_undefined(&p->then, i))
    tkt_say(d, "?");
  else
    tkt_put_lane(d, &p->now.type, tkt_block_lane(&p->then, i));
  tkt_say(d, " -> ");
  if (is_undefined(&p->now, i))
    tkt_say(d, "?");
  else
    tkt_put_lane(d, &p->now.type, tkt_block_lane(&p->now, i));
}

static void put_lanes(const pair *p, const difference *r) {
  tkt *d = p->d;
  for (int64_t k = 0; k < r->lanes && k < MOST_LANES; k++) {
    int64_t i = r->first[k];
    size_t from = d->out.n;
    tkt_say(d, "  ");
    tkt_lane_index(&d->out, &p->now.type, i);
    if (d->out.n - from < 14) tk_buf_pad(&d->out, ' ', 14 - (d->out.n - from));
    put_change(p, i);
    tkt_say(d, "\n");
  }
  if (r->lanes > MOST_LANES)
    tkt_say(d, "  (%lld more)\n", (long long)(r->lanes - MOST_LANES));
}

static void put_scalar(const pair *p, const difference *r) {
  tkt *d = p->d;
  tkt_say(d, "  ");
  put_change(p, 0);
  tkt_say(d, r->lanes ? "\n" : ", no difference\n");
}

static void put_pair(const pair *p, const char *what) {
  tkt *d = p->d;
  difference r = compare(p);
  int64_t n = tk_numel(&p->now.type);
  if (!p->now.type.rank) {
    put_scalar(p, &r);
    return;
  }
  if (!r.lanes) {
    tkt_say(d, "no difference in %lld %s%s\n", (long long)n, what,
            n == 1 ? "" : "s");
    return;
  }
  tkt_say(d, "%lld of %lld %s%s differ%s", (long long)r.lanes, (long long)n,
          what, n == 1 ? "" : "s", r.lanes == 1 ? "s" : "");
  bool truth = !p->now.type.ptr && p->now.type.elem == TK_INT1;
  if (r.at >= 0 && !truth) {
    tkt_say(d, ", by up to %g at ", r.most);
    tkt_lane_index(&d->out, &p->now.type, r.at);
  }
  tkt_say(d, "\n");
  put_lanes(p, &r);
}

/* ---- an expression, here and there ------------------------------------- */

typedef struct seeing {
  tkt *d;
  const char *text;
  tkd_place place;
  uint64_t program; /* TKD_ALL_PROGRAMS: this one, a trip before */
  tki_eval *x;
  tkt_block now, then;    /* without data: not had yet */
  tkc_undefined *follows; /* the run aside; or NULL */
  tk_status status;       /* of evaluating it there */
} seeing;

static tkt_block value_there(seeing *s, const tki_frame *f) {
  tkd_value v = tkd_evaluate_compiled(s->d->e, f, s->x, s->text,
                                      "not one value that can differ");
  tkt_block b = tkt_block_of(&v.type, v.bytes);
  b.undefined = v.undefined;
  return b;
}

static void then_body(tk_env *e, void *ud) {
  seeing *s = ud;
  (void)e;
  s->then = value_there(s, s->d->e->t->frame);
}

static void look_for_place(void *ud, tki *t, const tk_stmt *st) {
  seeing *s = ud;
  if (st != s->place.positions[0].stmt || t->frame->func->library) return;
  if (tki_program_index(t) != s->program || !tkd_is_there(&s->place, t->frame))
    return;
  s->status = tk_protect(t->env, then_body, s);
  tk_throw(t->env, TK_INTERRUPTED);
}

/* The programs behind it have nothing to say. */
static void end_after_program(void *ud, tki *t, bool begins) {
  seeing *s = ud;
  if (!begins && tki_program_index(t) == s->program)
    tk_throw(t->env, TK_INTERRUPTED);
}

static void put_where(seeing *s) {
  tkt *d = s->d;
  int64_t pid[3];
  tki_pid_of(d->e->t, s->program, pid);
  tkt_say(d, "program ");
  tkt_put_pid(&d->out, pid, NULL);
  const tkd_position *at = tkd_innermost_loop(&s->place);
  if (at) tkt_say(d, ", trip %llu", (unsigned long long)at->trips[0]);
}

static void not_there(seeing *s, const tkd_aside *w) TK_NORETURN;
static void not_there(seeing *s, const tkd_aside *w) {
  tkt *d = s->d;
  put_where(s);
  if (w->full) tkt_fail(d, ": it is too far for the history ('set history').");
  if (*w->why) tkt_fail(d, " is not reached: %s comes before it.", w->why);
  tkt_fail(d, " does not come to line %d.",
           tk_source_line(s->place.positions[0].func->src,
                          s->place.positions[0].stmt->span.lo));
}

static void put_values(seeing *s) {
  tkt *d = s->d;
  pair p = {d, s->text, s->now, s->then};
  tkt_say(d, "%s: ", s->text);
  put_where(s);
  tkt_say(d, " -> here\n");
  put_pair(&p, "lane");
  tkt_say_untouched(d);
}

/* Makes of the place the one a trip before. */
static void a_trip_before(tkt *d, tkd_place *p) {
  tkd_position *at = tkd_innermost_loop(p);
  if (!at)
    tkt_fail(d, "This is in no loop: 'diff EXPR program X' compares programs, "
                "'diff BUFFER'\nmemory with what it was.");
  if (!at->trips[0]--)
    tkt_fail(d, "This is trip 0: there is none before. 'diff EXPR program "
                "X' compares programs.");
}

/* What is undefined is only known of a launch from its beginning. */
static tkd_aside run_there(seeing *s) {
  tki_observer o = {
      .ud = s, .stmt = look_for_place, .program = end_after_program};
  tkd_aside w = {.observer = &o, .program = s->program};
  s->follows = tkc_undefined_new(s->d->e->t);
  if (s->follows) {
    w.program = TKD_ALL_PROGRAMS;
    o.next = tkc_undefined_observer(s->follows);
  }
  tkd_run_aside(s->d->e, &w);
  w.observer = NULL;
  return w;
}

static void see_body(tk_env *e, void *ud) {
  seeing *s = ud;
  tkt *d = s->d;
  (void)e;
  s->x = tkd_compile(d->e, d->e->frame, s->text);
  if (!s->x) tk_throw(d->env, TK_USAGE);
  s->now = value_there(s, d->e->frame);
  if (s->program == TKD_ALL_PROGRAMS) {
    s->program = d->e->task->index;
    a_trip_before(d, &s->place);
  }
  tkd_aside w = run_there(s);
  if (!s->then.data) not_there(s, &w);
  put_values(s);
}

static void see(seeing *s) {
  tkt *d = s->d;
  tk_status st = tk_protect(d->env, see_body, s);
  tkc_undefined_free(d->e->t, s->follows);
  tki_eval_free(s->x);
  if (st != TK_OK) tk_throw(d->env, TK_USAGE);
}

/* ---- a tensor ---------------------------------------------------------- */

typedef struct memory {
  tkt *d;
  const tki_region *r;
  char *now;
  size_t n;
} memory;

static void compare_memory(void *ud) {
  memory *m = ud;
  tkt_block then = tkt_block_tensor(m->r->tensor), now = then;
  /* Older history was dropped: nobody knows what was written by then. */
  if (m->d->e->checkpoints[0].next == 1)
    then.undefined = tkt_unwritten(m->d, m->r, &then, tkc_undefined_before);
  now.undefined = tkt_unwritten(m->d, m->r, &then, tkc_undefined_memory);
  now.data = m->now + ((const char *)now.data - m->r->host);
  pair p = {m->d, m->r->name, now, then};
  tkt_say(m->d, "%s: before the launch -> now\n", m->r->name);
  put_pair(&p, "element");
}

static void memory_body(tk_env *e, void *ud) {
  memory *m = ud;
  (void)e;
  uint64_t from = tkd_with_first_memory(m->d->e, compare_memory, m);
  if (from)
    tkt_say(m->d,
            "(before all but the first %llu programs: older history was "
            "dropped)\n",
            (unsigned long long)from);
}

static void diff_memory(tkt *d, const tki_region *r) {
  memory m = {d, r, NULL, (size_t)(r->hi - r->lo)};
  m.now = tk_temp_bytes(&d->mem, m.n);
  memcpy(m.now, r->host, m.n);
  tk_status st = tk_protect(d->env, memory_body, &m);
  if (st != TK_OK) tk_throw(d->env, st);
}

/* ---- the command ------------------------------------------------------- */

/* Where " program " stands, to compare with another; NULL: nowhere. */
static const char *other(const char *text) {
  const char *found = NULL;
  for (const char *s = text; (s = strstr(s, " program")); s++)
    if (s[8] == ' ' || !s[8]) found = s;
  return found;
}

static void diff_value(tkt *d, const char *text, size_t n,
                       const char *program) {
  seeing s = {.d = d, .place = tkd_place_of(d->e->frame)};
  s.program = program ? tkt_program_index(d, program) : TKD_ALL_PROGRAMS;
  if (program && s.program == d->e->task->index)
    tkt_fail(d, "This is that program.");
  s.text = tk_temp(&d->mem, text, n);
  see(&s);
}

void tkt_cmd_DIFF(tkt *d, tkt_args *a) {
  const char *with = other(a->text);
  size_t n = with ? (size_t)(with - a->text) : strlen(a->text);
  if (!n)
    tkt_fail(d, "Compare what? diff EXPR, diff EXPR program X, diff "
                "BUFFER.");
  const tki_region *r = tkd_region(d->e, a->text, n);
  if (r && with)
    tkt_fail(d,
             "All programs have the same memory: 'diff %s' compares it "
             "with what it was.",
             r->name);
  if (r) {
    diff_memory(d, r);
    return;
  }
  if (!d->e->frame) tkt_fail(d, "No program is stopped: the launch has ended.");
  diff_value(d, a->text, n, with ? with + 8 + strspn(with + 8, " ") : NULL);
}
