/* test_judge.c - what another engine may leave: what is right passes, and what
 * is wrong does not.
 *
 *     test_judge               kernels of judged.py
 *     test_judge LAUNCH-FILE...
 *
 * The other engine runs the kernel and has then its results changed.  Of launch
 * files a line is printed for each change: what it is, and whether it was
 * found.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "device/device.h"
#include "interp/engine.h"
#include "interp/explain/inquiry.h"
#include "launch/areas.h"
#include "nvptx/nvptx.h"
#include "run/against.h"
#include "run/judge.h"
#include "support/assertions.h"
#include "support/suite.h"

/* What is done to each tensor that a launch writes. */
typedef enum change {
  NOTHING,
  ZEROS,
  SIGNS,
  SCALED,
  ROWS,
  LOST,
  CHANGES
} change;

static const char *const names[CHANGES] = {
    "nothing",    "all zero",         "one sign in a hundred",
    "times 1.01", "two rows swapped", "one trip lost"};

/* ---- the other engine ---------------------------------------------------- */

static change chosen;
static bool changed; /* some number */
static bool weak;    /* a bound of the last comparison */

typedef struct view {
  const tk_tensor *t;
  size_t n, size;
} view;

static double get(const view *v, size_t i) {
  const char *at = (const char *)v->t->data + i * v->size;
  return tk_is_float(v->t->dtype) ? tk_lane_double(v->t->dtype, at)
                                  : (double)tk_lane_int(v->t->dtype, at);
}

static void set(const view *v, size_t i, double x) {
  char *at = (char *)v->t->data + i * v->size;
  double before = get(v, i);
  if (tk_is_float(v->t->dtype)) {
    tk_lane_set_double(v->t->dtype, at, x);
  } else {
    int64_t whole = (int64_t)x;
    memcpy(at, &whole, v->size);
  }
  changed |= get(v, i) != before; /* zeros of both signs are the same */
}

static void flip_signs(const view *v) {
  for (size_t i = v->n / 2 < 50 ? v->n / 2 : 50; i < v->n; i += 100)
    set(v, i, -get(v, i));
}

static void swap_rows(const view *v) {
  size_t row = (size_t)v->t->shape[v->t->rank - 1];
  size_t a = v->n / row / 3 * row, b = v->n - row;
  for (size_t i = 0; i < row; i++) {
    double x = get(v, a + i);
    set(v, a + i, get(v, b + i));
    set(v, b + i, x);
  }
}

static void change_tensor(const view *v) {
  if (chosen == SIGNS) flip_signs(v);
  if (chosen == ROWS && v->t->rank > 1) swap_rows(v);
  for (size_t i = 0; i < v->n; i++) {
    if (chosen == ZEROS) set(v, i, 0);
    if (chosen == SCALED) set(v, i, get(v, i) * 1.01);
  }
}

static tk_status engine(tk_launch *l, const tk_run_options *o, tk_summary *s) {
  tk_run_options opt = *o;
  const char *why;
  if (tkv_plugin_is_there(&why)) return tkg_launch_run(l, &opt, s);
  return tki_launch_run(l, &opt, s);
}

/* Runs the launch and changes what it wrote. */
static tk_status changed_engine(tk_launch *l, const tk_run_options *o,
                                tk_summary *s) {
  tk_arena a;
  tkr_memory before = {.n = 0};
  tk_arena_init(&a, &l->session->env);
  tkr_memory_keep(&before, l, &a);
  if (chosen == LOST) tk_launch_arg_text(l, "skip=32");
  tk_status st = engine(l, o, s);
  if (chosen == LOST) tk_launch_arg_text(l, "skip=0");
  if (chosen == LOST) changed = true;
  tk_memory m;
  for (size_t i = 0; st == TK_OK && tk_memory_at(l, i, &m); i++) {
    if (!m.tensor || m.readonly || m.lo == m.hi) continue;
    view v = {m.tensor, 1, tk_dtype_size(m.tensor->dtype)};
    for (int k = 0; k < m.tensor->rank; k++) v.n *= (size_t)m.tensor->shape[k];
    bool wrote = false;
    for (size_t k = 0; k < before.n; k++)
      wrote |= before.items[k].at == m.host &&
               memcmp(m.host, before.items[k].before, before.items[k].n);
    if (wrote) change_tensor(&v);
  }
  tk_arena_free(&a);
  return st;
}

/* ---- a comparison -------------------------------------------------------- */

/* Whether something is wrong; -1: nothing was changed, or it cannot run. */
static int is_found(tk_launch *l, change what) {
  tk_run_options opt = {.size = sizeof opt, .silent_answers = true};
  tkr_other other = {"changed", changed_engine, tki_launch_run};
  tkr_against against;
  tkr_expecting x = {.launch = l};
  tk_summary sum = {0};
  tke_inquiry q; /* which clears what the last run was asked */
  chosen = what;
  changed = false;
  tke_inquiry_begin(&q, l, &opt);
  tk_status st = tkr_against_begin(&against, l, &other, &opt);
  if (st == TK_OK) {
    st = tkr_expect_begin(&x, l);
    x.judged = against.judged;
    x.first_judged = against.expected;
    if (st == TK_OK) st = tki_launch_run(l, &opt, &sum);
    st = tkr_expect_end(&x, st, tki_launch_run, &opt);
  }
  int wrong = 0;
  weak = false;
  const tk_difference *d;
  for (size_t i = 0; (d = tk_launch_difference(l, i)) != NULL; i++) {
    wrong |= d->wrong > 0;
    weak |= d->weak;
    if (getenv("SHOW") && d->unequal)
      printf("  %s: own %.3g other %.3g bound %.3g of %.3g, %d wrong of %d%s\n",
             d->tensor, d->own_error, d->engine_error, d->error_bound, d->size,
             (int)d->wrong, (int)d->total, d->weak ? ", weak" : "");
  }
  tkr_memory_put_back(&against.memory);
  tkr_against_end(&against);
  tke_inquiry_end(&q);
  if (st != TK_OK) printf("%s\n", tk_report(l->session, false));
  return st != TK_OK || (what && !changed) ? -1 : wrong;
}

/* ---- kernels ------------------------------------------------------------- */

typedef struct kernel_case {
  const char *name, *kernel, *grid;
  const char *args[12];
} kernel_case;

#define PRODUCT(in, out, precision)                                            \
  {                                                                            \
    "product " in " " out " " precision, "product", "2,2", {                   \
      "a=" in "[64,256]:randn(1)", "b=" in "[256,64]:randn(2)",                \
          "c=" out "[64,64]:zeros", "M=64", "N=64", "K=256", "skip=0",         \
          "P='" precision "'", "B=32"                                          \
    }                                                                          \
  }
#define ATTENTION(in, out)                                                     \
  {                                                                            \
    "attention " in " " out, "attention", "2", {                               \
      "q=" in "[64,32]:randn(1)", "k=" in "[128,32]:randn(2)",                 \
          "v=" in "[128,32]:randn(3)", "o=" out "[64,32]:zeros", "N=128",      \
          "skip=0", "scale=0.25", "D=32"                                       \
    }                                                                          \
  }
#define ROWS_OF(kernel, in, out)                                               \
  {                                                                            \
    kernel " " in " " out, kernel, "32", {                                     \
      "x=" in "[32,128]:randn(1)", "y=" out "[32,128]:zeros", "N=128",         \
          "skip=0", "B=32"                                                     \
    }                                                                          \
  }
#define NORM(in, out)                                                          \
  {                                                                            \
    "layer_norm " in " " out, "layer_norm", "32", {                            \
      "x=" in "[32,128]:randn(1)", "w=" in "[128]:rand(2)",                    \
          "y=" out "[32,128]:zeros", "N=128", "skip=0", "eps=1e-5", "B=32"     \
    }                                                                          \
  }
#define SUMS(kernel, out)                                                      \
  {                                                                            \
    kernel " " out, kernel, "128", {                                           \
      "x=f32[128,128]:randn(1)", "y=" out "[128]:zeros", "N=128", "skip=0",    \
          "B=32"                                                               \
    }                                                                          \
  }

static const kernel_case cases[] = {
    PRODUCT("f16", "f16", "ieee"),
    PRODUCT("f16", "f32", "ieee"),
    PRODUCT("bf16", "bf16", "ieee"),
    PRODUCT("bf16", "f32", "ieee"),
    PRODUCT("f32", "f32", "ieee"),
    PRODUCT("f32", "f32", "tf32"),
    PRODUCT("f32", "f16", "tf32"),
    PRODUCT("f32", "f32", "tf32x3"),
    PRODUCT("fp8e4nv", "f32", "ieee"),
    PRODUCT("fp8e5", "f16", "ieee"),
    PRODUCT("fp8e5", "bf16", "ieee"),
    ATTENTION("f16", "f16"),
    ATTENTION("f16", "f32"),
    ATTENTION("bf16", "bf16"),
    ATTENTION("f32", "f32"),
    ROWS_OF("softmax", "f32", "f32"),
    ROWS_OF("softmax", "f16", "f16"),
    ROWS_OF("softmax", "bf16", "bf16"),
    ROWS_OF("softmax", "bf16", "f32"),
    ROWS_OF("gelu", "f32", "f32"),
    ROWS_OF("gelu", "f16", "f16"),
    ROWS_OF("gelu", "bf16", "bf16"),
    ROWS_OF("quantised", "f32", "i8"),
    ROWS_OF("quantised", "f16", "i8"),
    NORM("f32", "f32"),
    NORM("f16", "f16"),
    NORM("bf16", "bf16"),
    SUMS("sums", "f32"),
    SUMS("sums", "f16"),
    SUMS("sums", "bf16"),
    {"added",
     "added",
     "128",
     {"x=f32[128,128]:randn(1)", "y=f32[16]:zeros", "N=128", "skip=0", "B=32"}},
    {"variance",
     "variance",
     "128",
     {"x=f32[128,128]:randn(1)", "y=f32[128]:zeros", "N=128", "skip=0",
      "B=128"}},
    {"recurrence f32",
     "recurrence",
     "32",
     {"x=f32[32,128]:randn(1)", "y=f32[32,128]:zeros", "N=128", "skip=0",
      "B=128"}},
    {"recurrence bf16",
     "recurrence",
     "32",
     {"x=bf16[32,128]:randn(1)", "y=bf16[32,128]:zeros", "N=128", "skip=0",
      "B=128"}},
};

static char *text_of(const char *path) {
  FILE *f = fopen(path, "r");
  size_t n = 0;
  char *text = calloc(1, 1 << 16);
  if (f) n = fread(text, 1, (1 << 16) - 1, f);
  if (f) fclose(f);
  if (!n) ck_abort_msg("%s cannot be read", path);
  return text;
}

static tk_launch *launch_of(tk_session *s, const kernel_case *c) {
  tk_module *m;
  tk_function *fn;
  tk_launch *l;
  char *text = text_of("tests/run/judged.py");
  ck_assert_int_eq(tk_module_open(s, "judged.py", text, strlen(text), &m),
                   TK_OK);
  free(text);
  ck_assert_int_eq(tk_function_named(m, c->kernel, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, fn, &l), TK_OK);
  for (size_t i = 0; c->args[i]; i++)
    if (tk_launch_arg_text(l, c->args[i]) != TK_OK)
      ck_abort_msg("%s", tk_report(s, false));
  ck_assert_int_eq(tk_launch_grid_text(l, c->grid), TK_OK);
  return l;
}

/* fp8 has two or three digits, of which 1 % changes none; a kernel without a
 * sum loses no trip. */
static bool applies(const kernel_case *c, change what) {
  return what != LOST ||
         (strcmp(c->kernel, "gelu") && strcmp(c->kernel, "variance") &&
          strcmp(c->kernel, "recurrence"));
}

START_TEST(what_is_wrong_is_found) {
  const kernel_case *c = &cases[_i];
  tk_session *s = tk_session_new();
  tk_launch *l = launch_of(s, c);
  for (change what = NOTHING; what < CHANGES; what++) {
    if (!applies(c, what)) continue;
    if (getenv("SHOW")) printf("%s, %s\n", c->name, names[what]);
    int found = is_found(l, what);
    if (found >= 0 && found != (what != NOTHING))
      ck_abort_msg("%s: %s is %s", c->name, names[what],
                   found ? "found wrong" : "not found");
    if (found < 0 && what != ROWS && what != SCALED)
      ck_abort_msg("%s: %s could not be tried", c->name, names[what]);
  }
  tk_session_free(s);
}
END_TEST

/* ---- launch files -------------------------------------------------------- */

static int try_file(const char *path) {
  int missed = 0;
  for (change what = NOTHING; what < LOST; what++) {
    tk_session *s = tk_session_new();
    tk_launch *l = NULL;
    if (tk_launch_replay(s, path, &l) != TK_OK) {
      printf("%s: %s\n", path, tk_report(s, false));
      tk_session_free(s);
      return 1;
    }
    int found = is_found(l, what);
    bool right = found < 0 || found == (what != NOTHING) || (!found && weak);
    printf("%s: %s: %s\n", path, names[what],
           found < 0 ? "nothing is changed"
           : found   ? "found"
           : weak    ? "passes, by a bound that is called weak"
                     : "passes");
    missed += !right;
    tk_session_free(s);
  }
  return missed;
}

int main(int argc, char **argv) {
  int missed = 0;
  for (int i = 1; i < argc; i++) missed += try_file(argv[i]);
  if (argc > 1) return missed > 0;
  Suite *suite = suite_create("judge");
  TCase *tc = tcase_create("judge");
  tcase_set_timeout(tc, 300);
  tcase_add_loop_test(tc, what_is_wrong_is_found, 0, (int)TK_COUNT(cases));
  suite_add_tcase(suite, tc);
  return run_suite(suite) != 0;
}
