/* test_task.c - programs that pause, and what watches a run: observers see
 * every hook in order, programs on fibers give the results of a plain run. */
#include <stdio.h>
#include <string.h>

#include "interp/interp.h"
#include "support/suite.h"

static const char kernel[] = "import triton\n"
                             "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def add(x, y, n, B: tl.constexpr):\n"
                             "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
                             "    s = tl.zeros([B], tl.int32)\n"
                             "    for i in range(3):\n"
                             "        s += tl.load(x + o, mask=o < n) * i\n"
                             "    tl.store(y + o, s, mask=o < n)\n";

enum { TASKS = 4, N = 29 };

typedef struct watch {
  tki_observer observer;
  tki_driver driver;
  tki_task *tasks[TASKS];
  int programs, frames, stmts, trips, befores, afters, loads, stores;
  uint64_t trip;
  bool pauses;
} watch;

static void on_program(void *ud, tki *t, bool begins) {
  watch *w = ud;
  (void)t;
  w->programs += begins ? 100 : 1;
}

static void on_frame(void *ud, tki *t, bool begins) {
  watch *w = ud;
  ck_assert_ptr_nonnull(t->frame->func);
  w->frames += begins ? 1 : -1;
}

static void on_stmt(void *ud, tki *t, const tk_stmt *st) {
  watch *w = ud;
  ck_assert_ptr_eq(t->frame->stmt, st);
  w->stmts++;
  if (w->pauses) tki_task_pause(t);
}

static void on_trip(void *ud, tki *t, const tk_stmt *st) {
  watch *w = ud;
  ck_assert_ptr_eq(t->frame->loops->stmt, st);
  w->trip += t->frame->loops->trip;
  w->trips++;
}

static void on_before(void *ud, tki *t, const tk_inst *in,
                      const tki_val *args) {
  watch *w = ud;
  (void)args;
  ck_assert_ptr_eq(t->frame->inst, in);
  w->befores++;
}

static void on_after(void *ud, tki *t, const tk_inst *in, const tki_val *args) {
  watch *w = ud;
  (void)t;
  for (int i = 0; i < in->nargs; i++) ck_assert(tki_is_held(&args[i]));
  w->afters++;
}

static void on_access(void *ud, tki *t, const tki_access *a) {
  watch *w = ud;
  (void)t;
  for (size_t i = 0; i < a->n; i++)
    if (!a->mask || a->mask[i]) ck_assert_ptr_nonnull(tki_access_region(a, i));
  if (a->write)
    w->stores++;
  else
    w->loads++;
}

/* Every program by turns, a statement each. */
static void round_robin(void *ud, tki *t) {
  watch *w = ud;
  bool any = true;
  for (int i = 0; i < TASKS; i++) w->tasks[i] = tki_task_new(t, (uint64_t)i);
  while (any) {
    any = false;
    for (int i = 0; i < TASKS; i++)
      if (!w->tasks[i]->done) any |= tki_task_resume(w->tasks[i]);
  }
  for (int i = 0; i < TASKS; i++) {
    ck_assert_int_eq(w->tasks[i]->status, TK_OK);
    tki_task_free(w->tasks[i]);
  }
}

/* Half of them are dropped where they are; the rest run after that. */
static void drop_some(void *ud, tki *t) {
  watch *w = ud;
  for (int i = 0; i < TASKS; i++) {
    w->tasks[i] = tki_task_new(t, (uint64_t)i);
    for (int k = 0; k < 5; k++) ck_assert(tki_task_resume(w->tasks[i]));
  }
  for (int i = 0; i < TASKS; i++) tki_task_free(w->tasks[i]);
  tki_pool_reset(t);
  round_robin(ud, t);
}

static void begin(void *ud, struct tki *t) {
  watch *w = ud;
  w->observer.ud = w->driver.ud = w;
  tki_observe(t, &w->observer);
  if (w->driver.run) t->driver = &w->driver;
}

static void run_with(watch *w, int32_t *y) {
  tk_session *s = tk_session_new();
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_watcher watcher = {.ud = w, .begin = begin};
  int32_t x[N];
  for (int i = 0; i < N; i++) x[i] = i * i;
  memset(y, 0, N * sizeof *y);
  tk_tensor in = {
      .data = x, .dtype = TK_INT32, .rank = 1, .shape = {N}, .strides = {1}};
  tk_tensor out = in;
  out.data = y;
  ck_assert_int_eq(tk_module_open(s, "k.py", kernel, sizeof kernel - 1, &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, "add", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  tk_launch_grid(l, TASKS, 1, 1);
  tk_launch_tensor(l, "x", &in);
  tk_launch_tensor(l, "y", &out);
  ck_assert_int_eq(tk_launch_arg_text(l, "n=29"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(l, "B=8"), TK_OK);
  if (w) s->watchers = &watcher;
  tk_status st = tk_launch_run(l, NULL, NULL);
  if (st) fputs(tk_report(s, false), stderr);
  ck_assert_int_eq(st, TK_OK);
  s->watchers = NULL;
  tk_session_free(s);
}

static void check_same(watch *w) {
  int32_t want[N], got[N];
  run_with(NULL, want);
  run_with(w, got);
  ck_assert_mem_eq(want, got, sizeof want);
  ck_assert_int_eq(got[28], 28 * 28 * 3);
}

START_TEST(hooks_are_called) {
  watch w = {.observer = {.program = on_program,
                          .frame = on_frame,
                          .stmt = on_stmt,
                          .trip = on_trip,
                          .before = on_before,
                          .after = on_after,
                          .access = on_access}};
  check_same(&w);
  ck_assert_int_eq(w.programs, TASKS * 101);
  ck_assert_int_eq(w.frames, 0);
  ck_assert_int_eq(w.trips, TASKS * 3);
  ck_assert_uint_eq(w.trip, TASKS * (0 + 1 + 2));
  ck_assert_int_eq(w.loads, TASKS * 3);
  ck_assert_int_eq(w.stores, TASKS);
  ck_assert_int_eq(w.befores, w.afters);
  ck_assert_int_eq(w.stmts, TASKS * 7);
}
END_TEST

START_TEST(programs_by_turns) {
  watch w = {.observer = {.stmt = on_stmt},
             .driver = {.run = round_robin},
             .pauses = true};
  check_same(&w);
}
END_TEST

START_TEST(programs_dropped_and_run_again) {
  watch w = {.observer = {.stmt = on_stmt},
             .driver = {.run = drop_some},
             .pauses = true};
  check_same(&w);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("task");
  TCase *c = tcase_create("task");
  tcase_add_test(c, hooks_are_called);
  tcase_add_test(c, programs_by_turns);
  tcase_add_test(c, programs_dropped_and_run_again);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
