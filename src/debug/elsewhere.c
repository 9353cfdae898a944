/* elsewhere.c - a value beside what it was a trip ago or is in another program,
 * and memory as it was when the launch began.
 *
 * The other value is had by running that program aside until it stands at the
 * same statement, in the same calls and trips of their loops.
 */
#include <stdio.h>
#include <string.h>

#include "debug/api.h"
#include "debug/aside.h"
#include "debug/describe.h"
#include "debug/frames.h"
#include "debug/history.h"
#include "debug/part.h"
#include "debug/programs.h"
#include "debug/raise.h"
#include "interp/check/undefined.h"
#include "interp/grid.h"

/* ---- an expression, here and there ------------------------------------- */

typedef struct seeing {
  tkd *d;
  const char *text;
  tkd_place place;
  uint64_t program;
  tki_eval *x;
  tkc_undefined *follows; /* the run aside; or NULL */
  tk_status status;       /* of evaluating it there */
  bool there;
  tk_debug_pair *out;
} seeing;

static tk_debug_value value_in(seeing *s, const tki_frame *f) {
  tkd_value v = tkd_evaluate_compiled(s->d, f, s->x, s->text,
                                      "not one value that can differ");
  return tkd_describe_value(s->d, s->text, &v);
}

static void see_there(tk_env *e, void *ud) {
  seeing *s = ud;
  (void)e;
  s->out->then = value_in(s, s->d->t->frame);
  s->there = true;
}

static void look_for_same_place(void *ud, tki *t, const tk_stmt *st) {
  seeing *s = ud;
  if (st != s->place.positions[0].stmt || t->frame->func->library) return;
  if (tki_program_index(t) != s->program || !tkd_is_there(&s->place, t->frame))
    return;
  s->status = tk_protect(t->env, see_there, s);
  tk_throw(t->env, TK_INTERRUPTED);
}

/* The programs after it have nothing to say. */
static void end_after_program(void *ud, tki *t, bool begins) {
  seeing *s = ud;
  if (!begins && tki_program_index(t) == s->program)
    tk_throw(t->env, TK_INTERRUPTED);
}

static void not_there(seeing *s, const tkd_aside *w) TK_NORETURN;
static void not_there(seeing *s, const tkd_aside *w) {
  const tk_debug_pair *p = s->out;
  const tkd_position *at = &s->place.positions[0];
  char where[120];
  int n = snprintf(where, sizeof where, "program (%lld, %lld, %lld)",
                   (long long)p->pid[0], (long long)p->pid[1],
                   (long long)p->pid[2]);
  if (p->in_loop)
    snprintf(where + n, sizeof where - (size_t)n, ", trip %llu",
             (unsigned long long)p->trip);
  if (w->full) tkd_raise(s->d, PLACE_TOO_FAR, where);
  if (w->why) tkd_raise(s->d, PLACE_NOT_REACHED, where, w->why);
  tkd_raise(s->d, PLACE_LEFT_OUT, where,
            tk_source_line(at->func->src, at->stmt->span.lo));
}

/* Makes of the place the one a trip before. */
static void a_trip_before(tkd *d, tkd_place *p) {
  tkd_position *at = tkd_innermost_loop(p);
  if (!at) tkd_raise(d, NOT_IN_LOOP);
  if (!at->trips[0]--) tkd_raise(d, FIRST_TRIP);
}

/* What is undefined is only known of a launch from its beginning. */
static tkd_aside run_there(seeing *s) {
  tki_observer o = {
      .ud = s, .stmt = look_for_same_place, .program = end_after_program};
  tkd_aside w = {.observer = &o, .program = s->program};
  s->follows = tkc_undefined_new(s->d->t);
  if (s->follows) {
    w.program = TKD_ALL_PROGRAMS;
    o.next = tkc_undefined_observer(s->follows);
  }
  tkd_run_aside(s->d, &w);
  w.observer = NULL;
  return w;
}

static void run_seeing(tk_env *e, void *ud) {
  seeing *s = ud;
  tkd *d = s->d;
  tk_debug_pair *out = s->out;
  s->x = tkd_compile(d, d->at.frame, s->text);
  if (!s->x) tk_throw(e, TK_USAGE);
  out->now = value_in(s, d->at.frame);
  if (s->program == TK_DEBUG_NO_PROGRAM) {
    s->program = d->programs.task->index;
    a_trip_before(d, &s->place);
  }
  const tkd_position *loop = tkd_innermost_loop(&s->place);
  tki_pid_of(d->t, s->program, out->pid);
  out->in_loop = loop != NULL;
  out->trip = loop ? loop->trips[0] : 0;
  tkd_aside w = run_there(s);
  if (!s->there) not_there(s, &w);
  out->aside = tkd_describe_aside(d, &w);
}

static void compare_values(tkd *d, void *ud) {
  seeing *s = ud;
  s->d = d;
  s->place = tkd_place_of(tkd_need_frame(d));
  if (s->program == d->programs.task->index) tkd_raise(d, CURRENT_PROGRAM);
  tk_status st = tk_protect(d->env, run_seeing, s);
  tkc_undefined_free(d->t, s->follows);
  tki_eval_free(s->x);
  if (st != TK_OK) tk_throw(d->env, st);
}

tk_status tk_debug_compare(tk_debug *d, const char *text, uint64_t program,
                           tk_debug_pair *out) {
  seeing s = {.text = text, .program = program, .out = out};
  *out = (tk_debug_pair){.trip = 0};
  return tkd_guard(d, compare_values, &s);
}

/* ---- a tensor ---------------------------------------------------------- */

typedef struct past {
  tkd *d;
  const char *name;
  const tki_region *r;
  tk_debug_past *out;
} past;

static const unsigned char *undefined_before(tkd *d, const tki_region *r) {
  tkd_part whole = {0};
  tkd_view v;
  if (!tkc_undefined_before(d->t, r, r->host, r->hi - r->lo)) return NULL;
  if (!tkd_view_of(r->tensor, &whole, &v)) return NULL;
  size_t n = (size_t)tk_numel(&v.type), size = tk_lane_size(&v.type);
  unsigned char *list = tk_arena_alloc(&d->answers.arena, n + 1);
  for (size_t i = 0; i < n; i++)
    list[i] = tkc_undefined_before(d->t, r, tkd_view_lane(&v, i), size);
  return list;
}

/* Older history was dropped: nobody knows what was written by then. */
static void copy_past(void *ud) {
  past *p = ud;
  tkd *d = p->d;
  size_t n = (size_t)(p->r->hi - p->r->lo);
  char *copy = tk_arena_alloc(&d->answers.arena, n + 1);
  memcpy(copy, p->r->host, n);
  p->out->data = copy + ((char *)p->r->tensor->data - p->r->host);
  if (d->time.checkpoints[0].next == 1)
    p->out->undefined = undefined_before(d, p->r);
}

static void find_past(tkd *d, void *ud) {
  past *p = ud;
  p->d = d;
  p->r = d->t ? tkd_region(d, p->name, strlen(p->name)) : NULL;
  if (!p->r) tkd_raise(d, NO_TENSOR, p->name);
  p->out->aside.left_out = tkd_with_first_memory(d, copy_past, p);
}

tk_status tk_debug_first_memory(tk_debug *d, const char *name,
                                tk_debug_past *out) {
  past p = {.name = name, .out = out};
  *out = (tk_debug_past){.data = NULL};
  return tkd_guard(d, find_past, &p);
}
