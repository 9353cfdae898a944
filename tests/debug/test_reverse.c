/* test_reverse.c - going back restores everything, on random kernels.
 *
 * Each kernel is first stepped through, statement by statement and then
 * operation by operation: that is the truth about every point in time.  Then
 * random moves, backwards and forwards, from random points must arrive where
 * the truth says that they do, with every variable of every frame and every
 * byte of every tensor as they were there.  What `set`, `jump`, `return` and
 * `program` change must be gone, or there again, in the same way.
 *
 * TKDBG_REVERSE_KERNELS says how many kernels, TKDBG_REVERSE_SEED the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/frames.h"
#include "debug/programs.h"
#include "launch/session.h"
#include "support/env_number.h"
#include "support/random_kernel.h"
#include "support/suite.h"

enum { KERNELS = 1000, MOVES = 24, MOST_POINTS = 6000 };

/* ---- what a point in time is -------------------------------------------- */

typedef struct point {
  uint64_t event, sub, hash, index;
  int depth;
  bool over;
} point;

typedef struct points {
  point *items;
  size_t n, cap;
} points;

typedef enum phase {
  STEPPING,
  AGAIN,
  OPERATIONS,
  MOVING,
  CHANGED,   /* something was changed, steps follow */
  RETURNING, /* the same steps back */
  DONE,
} phase;

typedef struct play {
  uint64_t seed, state;
  tk_debugger *d;
  char text[RANDOM_TEXT];
  char command[64];   /* carried out last */
  char log[100 * 80]; /* every move */
  size_t logged;
  phase phase;
  points stmts, ops; /* the truth */
  points trail;      /* since something was changed */
  point want;        /* where the command must arrive */
  bool exact;        /* want is known */
  int moves;         /* that are left */
} play;

static void add(points *p, point x) {
  if (p->n == p->cap) {
    p->cap = p->cap ? p->cap * 2 : 256;
    p->items = realloc(p->items, p->cap * sizeof *p->items);
    ck_assert_ptr_nonnull(p->items);
  }
  p->items[p->n++] = x;
}

static bool before(const point *a, const point *b) {
  if (a->over || b->over) return b->over && !a->over;
  return a->event < b->event || (a->event == b->event && a->sub < b->sub);
}

static void mix(uint64_t *h, const void *bytes, size_t n) {
  const unsigned char *s = bytes;
  for (size_t i = 0; i < n; i++) *h = (*h ^ s[i]) * 0x100000001B3u;
}

static void mix_slot(uint64_t *h, const tk_type *type, tki_val *v) {
  size_t n = tki_lane_count(v, type);
  bool there = tki_has_value(v, type);
  mix(h, &there, sizeof there);
  if (there) mix(h, tki_lanes(v), n * tk_lane_size(type));
}

static void mix_frame(uint64_t *h, const tki_frame *f) {
  mix(h, &f->func, sizeof f->func);
  mix(h, &f->stmt, sizeof f->stmt);
  for (const tki_loop *l = f->loops; l; l = l->outer)
    mix(h, &l->trip, sizeof l->trip);
  for (size_t i = 0; i < f->func->nslots; i++)
    mix_slot(h, &f->func->slots[i].type, &f->slots[i]);
}

/* Every byte of every tensor, every slot of every frame. */
static uint64_t hash_of(const tkd *d) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < d->t->nregions; i++) {
    const tki_region *r = &d->t->regions[i];
    if (r->host) mix(&h, r->host, r->hi - r->lo);
  }
  for (const tki_task *k = d->t->schedule->tasks; k; k = k->next) {
    mix(&h, k->pid, sizeof k->pid);
    for (tki_frame *f = k->frame; f; f = f->caller) mix_frame(&h, f);
  }
  return h;
}

static point now(const play *p) {
  const tkd *d = tk_debugger_engine(p->d);
  point x = {.event = d->at.event, .sub = d->at.sub, .over = d->launch.over};
  x.hash = hash_of(d);
  if (d->launch.over) return x;
  x.index = d->programs.task->index;
  x.depth = tkd_depth(d->programs.task->frame);
  return x;
}

/* ---- the truth ---------------------------------------------------------- */

static bool same_place(const point *a, const point *b) {
  if (a->over || b->over) return a->over && b->over;
  return a->event == b->event && a->sub == b->sub;
}

static void wrong(const play *p, const point *got, const point *want,
                  const char *what) {
  ck_abort_msg("seed %llu, '%s': %s\nat event %llu.%llu%s, expected event "
               "%llu.%llu%s\n%s%s",
               (unsigned long long)p->seed, p->command, what,
               (unsigned long long)got->event, (unsigned long long)got->sub,
               got->over ? " (end)" : "", (unsigned long long)want->event,
               (unsigned long long)want->sub, want->over ? " (end)" : "",
               p->log, p->text);
}

static void must_be(const play *p, const point *got, const point *want) {
  if (got->over != want->over || got->sub != want->sub ||
      (!got->over && got->event != want->event))
    wrong(p, got, want, "it stands elsewhere");
  if (got->hash != want->hash) wrong(p, got, want, "something is different");
}

/* The first point of a list that is not before x. */
static size_t place(const points *l, const point *x) {
  size_t lo = 0, hi = l->n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (before(&l->items[mid], x))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Another program began at the i-th point. */
static bool begins(const points *l, size_t i) {
  return i == 0 || l->items[i].over ||
         l->items[i].index != l->items[i - 1].index;
}

/* The next point behind x in a function no deeper than most. */
static point forwards(const points *l, const point *x, int most) {
  size_t i = place(l, x);
  if (i < l->n && same_place(&l->items[i], x)) i++;
  while (i < l->n - 1 && !begins(l, i) && l->items[i].depth > most) i++;
  return l->items[i < l->n ? i : l->n - 1];
}

/* The last point before x in a function no deeper than most; the beginning
 * when there is none. */
static point backwards(const points *l, const point *x, int most,
                       bool crosses) {
  size_t i = place(l, x);
  while (i-- > 0)
    if (l->items[i].depth <= most || (crosses && begins(l, i)))
      return l->items[i];
  return l->items[0];
}

/* ---- moves -------------------------------------------------------------- */

enum { ANY = 1 << 20 };

static const char *choose(play *p, const point *at) {
  const points *s = &p->stmts;
  int depth = at->over ? 1 : at->depth;
  p->exact = true;
  switch (random_below(&p->state, at->over ? 3 : 9)) {
  case 0: p->want = backwards(s, at, ANY, true); return "reverse-step";
  case 1: p->want = backwards(s, at, depth, true); return "reverse-next";
  case 2: p->want = backwards(&p->ops, at, ANY, true); return "reverse-stepi";
  case 3: p->want = forwards(s, at, ANY); return "step";
  case 4: p->want = forwards(s, at, depth); return "next";
  case 5: p->want = forwards(&p->ops, at, ANY); return "stepi";
  case 6:
    if (depth < 2) break;
    p->want = backwards(s, at, depth - 1, false);
    return "reverse-finish";
  case 7:
    if (depth < 2) break;
    p->want = forwards(s, at, depth - 1);
    return "finish";
  default: break;
  }
  p->want = s->items[random_below(&p->state, (int)s->n - 1)];
  snprintf(p->command, sizeof p->command, "goto %llu",
           (unsigned long long)p->want.event);
  return p->command;
}

/* Something that changes the course of things; the rest is compared with
 * itself. */
static const char *deviate(play *p) {
  static const char *const forms[] = {
      "set var s%d = %d", "set var i%d = i0 * %d",
      "set x[%d] = %d",   "return",
      "jump 2%d",         "program %d"};
  int a = random_below(&p->state, 3), b = random_below(&p->state, 50);
  snprintf(p->command, sizeof p->command,
           forms[random_below(&p->state, sizeof forms / sizeof *forms)], a, b);
  return p->command;
}

/* ---- the play ----------------------------------------------------------- */

static const char *say(play *p, const char *text) {
  if (text != p->command) snprintf(p->command, sizeof p->command, "%s", text);
  return p->command;
}

/* Steps behind a change, and the same ones back to before it. */
static const char *on_trail(play *p, const point *at) {
  enum { STEPS = 4 };
  points *l = &p->trail;
  if (p->phase == RETURNING) {
    l->n--;
    must_be(p, at, &l->items[l->n - 1]);
  } else if (!same_place(at, &l->items[l->n - 1])) {
    add(l, *at);
  }
  if (p->phase == CHANGED && l->n <= STEPS && !at->over) return say(p, "step");
  p->phase = l->n > 1 ? RETURNING : MOVING;
  return l->n > 1 ? say(p, "reverse-step") : NULL;
}

static const char *start_trail(play *p, const point *at) {
  p->trail.n = 0;
  add(&p->trail, *at);
  p->phase = CHANGED;
  p->exact = false;
  return deviate(p);
}

static const char *next_move(play *p, const point *at) {
  if (p->exact) must_be(p, at, &p->want);
  p->exact = false;
  if (p->moves-- <= 0) {
    p->phase = DONE;
    return say(p, "quit");
  }
  if (!at->over && !at->sub && !random_below(&p->state, 4))
    return start_trail(p, at);
  return say(p, choose(p, at));
}

static const char *trail_or_move(play *p, const point *at) {
  const char *text = p->phase == MOVING ? NULL : on_trail(p, at);
  return text ? text : next_move(p, at);
}

static const char *play_on(play *p) {
  point at = now(p);
  if (p->phase >= MOVING && p->logged + 100 < sizeof p->log)
    p->logged +=
        (size_t)sprintf(p->log + p->logged, "%s: %llu.%llu%s\n", p->command,
                        (unsigned long long)at.event,
                        (unsigned long long)at.sub, at.over ? " (end)" : "");
  switch (p->phase) {
  case STEPPING:
    add(&p->stmts, at);
    if (p->stmts.n > MOST_POINTS) ck_abort_msg("too long:\n%s", p->text);
    if (!at.over) return say(p, "step");
    p->phase = AGAIN;
    return say(p, "start");
  case AGAIN:
    must_be(p, &at, &p->stmts.items[0]);
    p->phase = OPERATIONS;
    /* fall through */
  case OPERATIONS:
    if (!at.sub) {
      size_t i = place(&p->stmts, &at);
      must_be(p, &at, &p->stmts.items[i]);
    }
    add(&p->ops, at);
    if (!at.over) return say(p, "stepi");
    p->phase = MOVING;
    p->moves = MOVES;
    return say(p, choose(p, &at));
  default: return trail_or_move(p, &at);
  }
}

static const char *read_command(void *ud, const char *prompt) {
  (void)prompt;
  return play_on(ud);
}

static void no_text(void *ud, const char *text, size_t len) {
  (void)ud, (void)text, (void)len;
}

/* ---- a launch ----------------------------------------------------------- */

static void launch(play *p, tk_session *s) {
  static const char *const args[] = {"x=i32[64]:arange", "y=f32[64]:arange",
                                     "n=29"};
  static const char *const orders[] = {"serial", "reverse", "shuffle:3"};
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  ck_assert_int_eq(tk_module_open(s, "k.py", p->text, strlen(p->text), &m), 0);
  ck_assert_int_eq(tk_function_named(m, "k", &f), 0);
  ck_assert_int_eq(tk_launch_new(s, f, &l), 0);
  for (size_t i = 0; i < TK_COUNT(args); i++)
    ck_assert_int_eq(tk_launch_arg_text(l, args[i]), 0);
  tk_launch_grid(l, 1 + random_below(&p->state, 3), 1, 1);
  tk_run_options o = {.size = sizeof o,
                      .dot = "exact",
                      .order = orders[random_below(&p->state, 3)]};
  tk_status st = tk_launch_run(l, &o, NULL);
  /* TK_OK: it quits where the launch has ended. */
  if ((st != TK_OK && st != TK_INTERRUPTED) || p->phase != DONE)
    ck_abort_msg("seed %llu: status %d\n%s%s", (unsigned long long)p->seed, st,
                 tk_report(s, false), p->text);
}

static void play_kernel(uint64_t seed) {
  static play p;
  p = (play){.seed = seed};
  p.state = 88172645463325252u + seed * 0x9E3779B97F4A7C15u;
  random_kernel(&p.state, p.text);
  tk_session *s = tk_session_new();
  tk_debugger_options o = {.size = sizeof o,
                           .ud = &p,
                           .read = read_command,
                           .write = no_text,
                           .stop_at_start = true,
                           .stop_at_end = true};
  ck_assert_int_eq(tk_debugger_new(s, &o, &p.d), TK_OK);
  tk_session_output(s, no_text, NULL);
  launch(&p, s);
  tk_session_free(s);
  free(p.stmts.items);
  free(p.ops.items);
  free(p.trail.items);
}

START_TEST(random_kernels) {
  uint64_t seed = env_number("TKDBG_REVERSE_SEED", 1);
  uint64_t n = env_number("TKDBG_REVERSE_KERNELS", KERNELS);
  for (uint64_t i = 0; i < n; i++) play_kernel(seed + i);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("reverse");
  TCase *c = tcase_create("reverse");
  tcase_set_timeout(c, 3600);
  tcase_add_test(c, random_kernels);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
