/* test_profile.c - what a profile counts, which is exact for known kernels, and
 * that nothing runs otherwise because of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "launch/session.h"
#include "profile/run.h"
#include "support/assertions.h"
#include "support/suite.h"
#include "tkdbg/profile.h"

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "@triton.jit\n"
    "def scaled(v, by):\n"
    "    v = tl.exp(v)\n"
    "    return v * by\n"
    "\n"
    "@triton.jit\n"
    "def rows(x, y, n, B: tl.constexpr):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    mask = at < n\n"
    "    v = tl.load(x + at, mask=mask)\n"
    "    v = scaled(v, 2.0) + 1.0\n"
    "    for i in range(3):\n"
    "        v = v * v\n"
    "    tl.store(y + at, tl.softmax(v), mask=mask)\n"
    "\n"
    "@triton.jit\n"
    "def squares(x, y, n, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    a = tl.load(x + i[:, None] * B + i[None, :])\n"
    "    c = tl.dot(a, a, input_precision='ieee')\n"
    "    s = tl.sum(c, 1)\n"
    "    tl.atomic_add(y + i, s, mask=i < n)\n"
    "    j = tl.load(y + (i * i) % B)\n"
    "    tl.store(y + i, j)\n";

enum { N = 16 * 16 };

typedef struct fixture {
  tk_session *s;
  tk_module *m;
  tk_profile *p;
  float x[N], y[N];
} fixture;

static void begin(fixture *f, bool profiled) {
  *f = (fixture){.s = tk_session_new()};
  for (int i = 0; i < N; i++) f->x[i] = (float)(i % 7) * 0.125f;
  ck_assert_int_eq(
      tk_module_open(f->s, "k.py", source, sizeof source - 1, &f->m), TK_OK);
  if (profiled) ck_assert_int_eq(tk_profile_new(f->s, &f->p), TK_OK);
}

static void end(fixture *f) {
  tk_session_free(f->s);
}

static tk_status launch(fixture *f, const char *kernel, int grid, int elements,
                        int n, int block) {
  tk_function *fn;
  tk_launch *l;
  char text[64];
  tk_tensor t = {.data = f->x,
                 .dtype = TK_FP32,
                 .rank = 1,
                 .shape = {elements},
                 .strides = {1}};
  ck_assert_int_eq(tk_function_named(f->m, kernel, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(l, "x", &t), TK_OK);
  t.data = f->y;
  ck_assert_int_eq(tk_launch_tensor(l, "y", &t), TK_OK);
  snprintf(text, sizeof text, "n=%d", n);
  ck_assert_int_eq(tk_launch_arg_text(l, text), TK_OK);
  snprintf(text, sizeof text, "B=%d", block);
  ck_assert_int_eq(tk_launch_arg_text(l, text), TK_OK);
  ck_assert_int_eq(tk_launch_grid(l, grid, 1, 1), TK_OK);
  return tk_launch_run(l, NULL, NULL);
}

static const tk_profile_data *data_of(fixture *f) {
  const tk_profile_data *d;
  ck_assert_int_eq(tk_profile_read(f->p, &d), TK_OK);
  return d;
}

static const tk_profile_function *function_of(const tk_profile_data *d,
                                              const char *name) {
  for (size_t i = 0; i < d->nfunctions; i++)
    if (!strcmp(d->functions[i].name, name)) return &d->functions[i];
  ck_abort_msg("no function %s", name);
}

static const tk_profile_line *line_of(const tk_profile_function *f, int line) {
  for (size_t i = 0; i < f->nlines; i++)
    if (f->lines[i].place.line == line) return &f->lines[i];
  ck_abort_msg("no line %d in %s", line, f->name);
}

static const tk_profile_op *op_of(const tk_profile_line *l, const char *name) {
  for (size_t i = 0; i < l->nops; i++)
    if (!strcmp(l->ops[i].name, name)) return &l->ops[i];
  ck_abort_msg("no %s on line %d", name, l->place.line);
}

/* ---- counts -------------------------------------------------------------- */

/* Seven programs of 32 lanes on 200 elements, two launches. */
START_TEST(counts_are_exact) {
  fixture f;
  begin(&f, true);
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(launch(&f, "rows", 7, 200, 200, 32), TK_OK);
  const tk_profile_data *d = data_of(&f);
  ck_assert_uint_eq(d->launches, 2);
  ck_assert_uint_eq(d->programs, 14);
  ck_assert_uint_eq(d->nfunctions, 2);
  const tk_profile_function *rows = function_of(d, "rows");
  ck_assert(rows == &d->functions[0] && rows->kernel);
  ck_assert_uint_eq(rows->calls, 14);
  ck_assert_uint_eq(rows->launches, 2);
  ck_assert_int_eq(rows->place.line, 10);
  ck_assert_int_eq(rows->last_line, 17);
  const tk_profile_op *load = op_of(line_of(rows, 13), "load");
  ck_assert_str_eq(load->type, "fp32[32]");
  ck_assert_uint_eq(load->counts.calls, 14);
  ck_assert_uint_eq(load->counts.lanes, 14 * 32);
  ck_assert_uint_eq(load->counts.off, 2 * (7 * 32 - 200));
  ck_assert_uint_eq(load->counts.read, 2 * 200 * 4);
  ck_assert_uint_eq(load->counts.written, 0);
  ck_assert_uint_eq(load->counts.rows, 14);
  const tk_profile_op *mul = op_of(line_of(rows, 16), "binary mul");
  ck_assert_uint_eq(mul->counts.calls, 14 * 3);
  ck_assert_uint_eq(mul->counts.flops, 14 * 3 * 32);
  ck_assert_uint_eq(mul->counts.known, 0);
  const tk_profile_op *less = op_of(line_of(rows, 12), "compare lt");
  ck_assert_str_eq(less->type, "int32[32]");
  ck_assert_uint_eq(less->counts.known, 14);
  ck_assert_uint_eq(less->counts.blocks, 14);
  ck_assert_uint_eq(line_of(rows, 12)->counts.flops, 0);
  const tk_profile_op *store = op_of(line_of(rows, 17), "store");
  ck_assert_uint_eq(store->counts.written, 2 * 200 * 4);
  ck_assert_uint_eq(store->counts.read, 0);
  end(&f);
}
END_TEST

/* What tl.softmax does stands on the line that calls it: a maximum and a sum
 * of 32 lanes, and a difference, an exponential and a quotient of each. */
START_TEST(own_functions_stand_on_the_line) {
  fixture f;
  begin(&f, true);
  ck_assert_int_eq(launch(&f, "rows", 1, 32, 32, 32), TK_OK);
  const tk_profile_line *l = line_of(function_of(data_of(&f), "rows"), 17);
  ck_assert_uint_eq(l->counts.flops, 31 + 31 + 3 * 32);
  ck_assert_str_eq(op_of(l, "reduce max")->function, "softmax");
  ck_assert_str_eq(op_of(l, "reduce max")->type, "fp32[32]");
  ck_assert_ptr_null(op_of(l, "store")->function);
  end(&f);
}
END_TEST

START_TEST(calls_have_two_times) {
  fixture f;
  begin(&f, true);
  ck_assert_int_eq(launch(&f, "rows", 7, 200, 200, 32), TK_OK);
  const tk_profile_data *d = data_of(&f);
  const tk_profile_function *rows = function_of(d, "rows");
  const tk_profile_function *scaled = function_of(d, "scaled");
  ck_assert(!scaled->kernel && scaled->calls == 7);
  ck_assert_uint_eq(line_of(scaled, 6)->counts.flops, 7 * 32);
  const tk_profile_line *l = line_of(rows, 14);
  ck_assert_double_eq_tol(l->total, l->counts.seconds + scaled->seconds, 1e-9);
  ck_assert(l->total > l->counts.seconds);
  ck_assert_double_eq_tol(rows->total, rows->seconds + scaled->total, 1e-9);
  ck_assert_double_eq_tol(d->counts.seconds, rows->total, 1e-9);
  ck_assert_double_lt(d->counts.seconds, d->seconds);
  end(&f);
}
END_TEST

/* A product of 16 x 16 matrices, a sum of each row, atomic additions of which a
 * mask turns off 6, and a load that is no tile. */
START_TEST(products_sums_and_atomics) {
  fixture f;
  begin(&f, true);
  ck_assert_int_eq(launch(&f, "squares", 1, N, 10, 16), TK_OK);
  const tk_profile_function *k = function_of(data_of(&f), "squares");
  ck_assert_uint_eq(op_of(line_of(k, 23), "dot ieee")->counts.flops,
                    2 * 16 * 16 * 16);
  ck_assert_uint_eq(line_of(k, 24)->counts.flops, 16 * 15);
  const tk_profile_op *add = op_of(line_of(k, 25), "atomic_add");
  ck_assert_uint_eq(add->counts.flops, 10);
  ck_assert_uint_eq(add->counts.read, 10 * 4);
  ck_assert_uint_eq(add->counts.written, 10 * 4);
  ck_assert_uint_eq(add->counts.off, 6);
  ck_assert_uint_eq(op_of(line_of(k, 22), "load")->counts.rows, 1);
  ck_assert_uint_eq(op_of(line_of(k, 26), "load")->counts.rows, 0);
  end(&f);
}
END_TEST

/* Each stands behind the one that it is part of, and is as long as its parts.
 */
START_TEST(tree_adds_up) {
  fixture f;
  begin(&f, true);
  ck_assert_int_eq(launch(&f, "rows", 7, 200, 200, 32), TK_OK);
  ck_assert_int_eq(launch(&f, "squares", 1, N, 10, 16), TK_OK);
  const tk_profile_data *d = data_of(&f);
  double whole = 0;
  int functions = 0, below = 0;
  for (size_t i = 0; i < d->nnodes; i++) {
    const tk_profile_node *n = &d->nodes[i];
    ck_assert_int_lt(n->parent, (int)i);
    double parts = 0;
    bool any = false;
    for (size_t k = i + 1; k < d->nnodes; k++) {
      if (d->nodes[k].parent != (int)i) continue;
      ck_assert_int_eq(d->nodes[k].depth, n->depth + 1);
      parts += d->nodes[k].total;
      any = true;
    }
    if (any) ck_assert_double_eq_tol(parts, n->total, 1e-9);
    if (n->parent < 0) whole += n->total;
    functions += n->kind == TK_PROFILE_FUNCTION;
    below += n->kind == TK_PROFILE_FUNCTION && n->depth == 1;
  }
  ck_assert_int_eq(functions, 3);
  ck_assert_int_eq(below, 1);
  ck_assert_double_eq_tol(whole, d->counts.seconds, 1e-9);
  end(&f);
}
END_TEST

/* ---- runs ---------------------------------------------------------------- */

START_TEST(results_are_the_same_bits) {
  fixture f, g;
  begin(&f, false);
  begin(&g, true);
  ck_assert_int_eq(launch(&f, "rows", 7, 200, 200, 32), TK_OK);
  ck_assert_int_eq(launch(&g, "rows", 7, 200, 200, 32), TK_OK);
  ck_assert_mem_eq(f.y, g.y, sizeof f.y);
  ck_assert_int_eq(launch(&f, "squares", 1, N, 10, 16), TK_OK);
  ck_assert_int_eq(launch(&g, "squares", 1, N, 10, 16), TK_OK);
  ck_assert_mem_eq(f.y, g.y, sizeof f.y);
  end(&f);
  end(&g);
}
END_TEST

/* ---- pauses -------------------------------------------------------------- */

enum { MILLISECONDS = 40 };

/* Lets the first load of each run take long: asleep, or at work. */
typedef struct delay {
  tk_watcher watcher;
  tki_observer observer;
  bool asleep, done;
} delay;

static void delay_load(void *ud, tki *t, const tk_inst *in,
                       const tki_val *slots) {
  delay *d = ud;
  (void)t, (void)slots;
  if (in->op != TK_I_LOAD || d->done) return;
  d->done = true;
  if (d->asleep) {
    nanosleep(&(struct timespec){.tv_nsec = MILLISECONDS * 1000000}, NULL);
    return;
  }
  double until = tk_clock_thread_seconds() + MILLISECONDS * 1e-3;
  while (tk_clock_thread_seconds() < until) continue;
}

static void delay_begins(void *ud, tki *t) {
  delay *d = ud;
  d->observer = (tki_observer){.ud = d, .begins = delay_load};
  tki_observe(t, &d->observer);
}

static void delay_ends(void *ud, tki *t, tk_status st) {
  (void)ud, (void)t, (void)st;
}

static void delay_free(tk_env *e, void *ud) {
  (void)e, (void)ud;
}

/* Profiles a launch one load of which takes long. */
static const tk_profile_data *delayed(fixture *f, delay *d, bool asleep) {
  begin(f, true);
  *d = (delay){.asleep = asleep};
  d->watcher = (tk_watcher){.ud = d,
                            .begin = delay_begins,
                            .end = delay_ends,
                            .free = delay_free,
                            .wants_interp = true};
  tk_session_watch(f->s, &d->watcher);
  ck_assert_int_eq(launch(f, "rows", 7, 200, 200, 32), TK_OK);
  ck_assert(d->done);
  return data_of(f);
}

static double load_seconds(const tk_profile_data *d) {
  return op_of(line_of(function_of(d, "rows"), 13), "load")->counts.seconds;
}

/* What the system does meanwhile is no line's; the thread's own work is. */
START_TEST(a_pause_is_charged_to_no_line) {
  fixture f;
  delay d;
  const char *text;
  if (tkf_least_pause(tkf_timer_ticks()) == UINT64_MAX) return;
  const tk_profile_data *data = delayed(&f, &d, true);
  ck_assert_double_lt(load_seconds(data), MILLISECONDS * 0.5e-3);
  ck_assert_double_ge(data->paused, MILLISECONDS * 0.95e-3);
  ck_assert_double_ge(data->seconds, MILLISECONDS * 1e-3);
  ck_assert_int_eq(tk_profile_text(f.p, false, &text), TK_OK);
  ck_assert_ptr_nonnull(strstr(text, "\ninterrupted by the system: "));
  end(&f);
}
END_TEST

START_TEST(work_of_the_thread_is_charged) {
  fixture f;
  delay d;
  const tk_profile_data *data = delayed(&f, &d, false);
  ck_assert_double_ge(load_seconds(data), MILLISECONDS * 0.95e-3);
  end(&f);
}
END_TEST

/* The load that fails is not counted, what was before it is. */
START_TEST(a_finding_leaves_a_profile) {
  fixture f;
  begin(&f, true);
  ck_assert_int_eq(launch(&f, "rows", 7, 200, 201, 32), TK_FINDING);
  const tk_profile_data *d = data_of(&f);
  ck_assert_uint_eq(d->programs, 6);
  const tk_profile_function *rows = function_of(d, "rows");
  ck_assert_uint_eq(op_of(line_of(rows, 13), "load")->counts.calls, 6);
  ck_assert_uint_eq(op_of(line_of(rows, 12), "compare lt")->counts.calls, 7);
  end(&f);
}
END_TEST

/* What is said of a kernel stands in all that is written of it, once. */
START_TEST(remarks_stand_with_the_kernel) {
  fixture f;
  tk_function *fn;
  const char *text;
  begin(&f, true);
  ck_assert_int_eq(tk_function_named(f.m, "rows", &fn), TK_OK);
  ck_assert_int_eq(tk_function_remark(fn, "of model.py:4: y = x * 2"), TK_OK);
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(launch(&f, "rows", 7, 200, 200, 32), TK_OK);
  const tk_profile_function *rows = function_of(data_of(&f), "rows");
  ck_assert_uint_eq(rows->nremarks, 1);
  ck_assert_str_eq(rows->remarks[0], "of model.py:4: y = x * 2");
  ck_assert_int_eq(tk_profile_text(f.p, false, &text), TK_OK);
  ck_assert_ptr_nonnull(strstr(text, "\n  of model.py:4: y = x * 2\n"));
  ck_assert_int_eq(tk_profile_json(f.p, &text), TK_OK);
  ck_assert_ptr_nonnull(strstr(text, "\"of model.py:4: y = x * 2\""));
  ck_assert_int_eq(tk_profile_html(f.p, &text), TK_OK);
  ck_assert_ptr_nonnull(strstr(text, "id=\"data\">"));
  end(&f);
}
END_TEST

START_TEST(nothing_launched) {
  fixture f;
  const char *text;
  begin(&f, true);
  const tk_profile_data *d = data_of(&f);
  ck_assert(!d->launches && !d->nfunctions && !d->nnodes);
  ck_assert_int_eq(tk_profile_text(f.p, false, &text), TK_OK);
  ck_assert_ptr_nonnull(strstr(text, "no kernel was launched"));
  ck_assert_int_eq(tk_profile_json(f.p, &text), TK_OK);
  ck_assert_int_eq(tk_profile_html(f.p, &text), TK_OK);
  ck_assert_ptr_nonnull(strstr(text, "</html>"));
  end(&f);
}
END_TEST

START_TEST(roof_is_the_nearer_one) {
  tk_profile_ceilings most = {.bandwidth = 1e9, .flops = 4e9};
  tk_profile_counts c = {.seconds = 1, .read = 250000000, .flops = 1000};
  ck_assert_double_eq_tol(tk_profile_reached(&c, &most), 0.25, 1e-9);
  c.flops = 2000000000;
  ck_assert_double_eq_tol(tk_profile_reached(&c, &most), 0.5, 1e-9);
  ck_assert_double_eq_tol(tk_profile_intensity(&c), 8, 1e-9);
  c.flops = c.read = 0;
  ck_assert_double_lt(tk_profile_reached(&c, &most), 0);
  c.flops = 1;
  most.flops = 0;
  ck_assert_double_lt(tk_profile_reached(&c, &most), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("profile");
  TCase *c = tcase_create("profile");
  tcase_add_test(c, counts_are_exact);
  tcase_add_test(c, own_functions_stand_on_the_line);
  tcase_add_test(c, calls_have_two_times);
  tcase_add_test(c, products_sums_and_atomics);
  tcase_add_test(c, tree_adds_up);
  tcase_add_test(c, results_are_the_same_bits);
  tcase_add_test(c, a_finding_leaves_a_profile);
  tcase_add_test(c, remarks_stand_with_the_kernel);
  tcase_add_test(c, nothing_launched);
  tcase_add_test(c, roof_is_the_nearer_one);
  tcase_add_test(c, a_pause_is_charged_to_no_line);
  tcase_add_test(c, work_of_the_thread_is_charged);
  suite_add_tcase(suite, c);
  return run_suite(suite) ? EXIT_FAILURE : EXIT_SUCCESS;
}
