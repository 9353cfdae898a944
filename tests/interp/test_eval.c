/* test_eval.c - expressions in a paused program: what they give, and what is
 * said about wrong ones. */
#include <stdio.h>
#include <string.h>

#include "interp/eval.h"
#include "support/suite.h"

static const char kernel[] = "import triton\n"
                             "import triton.language as tl\n"
                             "SCALE = tl.constexpr(3)\n"
                             "@triton.jit\n"
                             "def twice(v):\n"
                             "    w = v * 2\n"
                             "    return w\n"
                             "@triton.jit\n"
                             "def k(x, m, n, B: tl.constexpr):\n"
                             "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
                             "    pair = (o, n)\n"
                             "    s = tl.zeros([B], tl.float32)\n"
                             "    for i in range(3):\n"
                             "        s += tl.load(x + o, mask=o < n)\n"
                             "        t = tl.reshape(s, [2, B // 2])\n"
                             "        s = twice(s)\n"
                             "    tl.store(x + o, s, mask=o < n)\n";

typedef struct question {
  const char *text, *want;
  int line; /* of the statement to stop at */
} question;

typedef struct probe {
  const char *text, *want;
  int line;
  tki_observer observer;
  void (*stmt)(void *ud, tki *t, const tk_stmt *st);
  tki_eval *eval; /* of evaluate, which may throw */
  bool done;
  tk_buf out;
} probe;

static void add_lane(tk_buf *b, tk_dtype d, const void *lane) {
  if (tk_is_float(d))
    tk_buf_printf(b, "%g", tk_lane_double(d, lane));
  else
    tk_buf_printf(b, "%lld", (long long)tk_lane_int(d, lane));
}

static void add_value(tk_buf *b, const tk_type *type, tki_val *v) {
  size_t n = (size_t)tk_numel(type), size = tk_lane_size(type);
  for (int i = 0; i < type->rank; i++)
    tk_buf_printf(b, "%s%lld", i ? "x" : "", (long long)type->shape[i]);
  if (type->rank) tk_buf_putc(b, ':');
  for (size_t i = 0; i < n; i++) {
    if (i) tk_buf_putc(b, ' ');
    add_lane(b, (tk_dtype)type->elem, (char *)tki_lanes(v) + i * size);
  }
}

static void evaluate(tk_env *e, void *ud) {
  void **both = ud;
  probe *p = both[0];
  tki *t = both[1];
  tki_val out[64];
  (void)e;
  tki_eval *x = p->eval = tki_eval_new(t, t->frame, p->text, NULL);
  if (x->known) tk_buf_puts(&p->out, x->known);
  if (!x->known) tki_eval_run(t, x, t->frame, out);
  for (size_t i = 0; i < x->n; i++) {
    if (i) tk_buf_puts(&p->out, ", ");
    add_value(&p->out, &x->types[i], &out[i]);
    tki_release(t, &out[i]);
  }
}

static void on_stmt(void *ud, tki *t, const tk_stmt *st) {
  probe *p = ud;
  void *both[] = {p, t};
  if (p->done || tk_source_line(t->frame->func->src, st->span.lo) != p->line)
    return;
  p->done = true;
  tk_buf_init(&p->out, t->env);
  if (tk_protect(t->env, evaluate, both) != TK_OK) {
    tk_buf_clear(&p->out);
    tk_buf_puts(&p->out, tk_report(t->session, false));
    tk_report_clear(t->session);
  }
  tki_eval_free(p->eval);
}

static void begin(void *ud, struct tki *t) {
  probe *p = ud;
  p->observer = (tki_observer){.ud = p, .stmt = p->stmt ? p->stmt : on_stmt};
  tki_observe(t, &p->observer);
}

static void check(probe *p) {
  tk_session *s = tk_session_new();
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_watcher watcher = {.ud = p, .begin = begin};
  ck_assert_int_eq(tk_module_open(s, "k.py", kernel, sizeof kernel - 1, &m),
                   TK_OK);
  ck_assert_int_eq(tk_function_named(m, "k", &f), TK_OK);
  ck_assert_int_eq(tk_launch_new(s, f, &l), TK_OK);
  ck_assert_int_eq(tk_launch_grid(l, 2, 1, 1), TK_OK);
  static const char *const args[] = {"x=f32[16]:arange", "m=i32[3,4]:arange",
                                     "n=13", "B=8"};
  for (size_t i = 0; i < TK_COUNT(args); i++)
    ck_assert_int_eq(tk_launch_arg_text(l, args[i]), TK_OK);
  s->watchers = &watcher;
  if (tk_launch_run(l, NULL, NULL)) ck_abort_msg("%s", tk_report(s, false));
  ck_assert(p->done);
  if (!strstr(tk_buf_str(&p->out), p->want))
    ck_abort_msg("%s: expected %s, got %s", p->text, p->want,
                 tk_buf_str(&p->out));
  tk_buf_free(&p->out);
  s->watchers = NULL;
  tk_session_free(s);
}

static const question questions[] = {
    {"1 + 2", "3", 14},
    {"B", "8", 14},
    {"SCALE * B", "24", 14},
    {"o.shape", "(8,)", 14},
    {"s.dtype", "fp32", 14},
    {"o", "8:0 1 2 3 4 5 6 7", 14},
    {"o + 1", "8:1 2 3 4 5 6 7 8", 14},
    {"o[3]", "3", 14},
    {"o[-1]", "7", 14},
    {"o[2:5]", "3:2 3 4", 14},
    {"o[::-3]", "3:7 4 1", 14},
    {"o[:, None].shape", "(8, 1)", 14},
    {"t[1, 0:2]", "2:4 5", 16},
    {"t[:, 1]", "2:1 5", 16},
    {"tl.sum(o[1:4])", "6", 14},
    {"tl.max(s, 0)", "7", 16},
    {"n", "13", 14},
    {"pair", "8:0 1 2 3 4 5 6 7, 13", 13},
    {"pair[1]", "13", 13},
    {"x[2]", "2", 14},
    {"x[n - 1]", "12", 14},
    {"x[2:8:2]", "3:2 4 6", 14},
    {"m[1, 2]", "6", 14},
    {"m[:, 1]", "3:1 5 9", 14},
    {"m[1:, 2:]", "2x2:6 7 10 11", 14},
    {"m[pid_0, 0]", "0", 14},
    {"tl.load(x + o)[5]", "5", 14},
    {"any(o > 6)", "1", 14},
    {"all(o > 6)", "0", 14},
    {"any(o[0:3] > 1) and n > 3", "1", 14},
    {"isnan(s)", "8:0 0 0 0 0 0 0 0", 14},
    {"pid", "0, 0, 0", 14},
    {"grid", "(2, 1, 1)", 14},
    {"grid[0]", "2", 14},
    {"trip", "0", 14},
    {"i", "0", 14},
    {"twice(o)[7]", "14", 14},
    {"v[1]", "1", 6},
    {"x[3]", "3", 6}, /* the launch's tensor, from inside a call */
    {"o if n > 20 else o + 1", "8:1 2 3 4 5 6 7 8", 14},
    {"nn", "did you mean n?", 14},
    {"o +", "unexpected end", 14},
    {"tl.store(x + o, s)", "may not write memory", 14},
    {"o[8]", "index 8 is outside of an axis of 8", 14},
    {"o[0, 0]", "2 indices were given, for 1 axis", 14},
    {"o[s]", "whole numbers and slices, not", 14},
    {"x[99]", "index 99 is outside of an axis of 16", 14},
    {"x[n + 3]", "past the end of x", 14},
    {"s + m", "error", 14},
    {"'a' + 1", "error", 14},
    {"w", "w is not defined", 14},
};

START_TEST(expressions) {
  const question *q = &questions[_i];
  probe p = {.text = q->text, .want = q->want, .line = q->line};
  check(&p);
}
END_TEST

static void on_names(void *ud, tki *t, const tk_stmt *st) {
  probe *p = ud;
  int slots[4];
  const char *newest = NULL;
  if (p->done || tk_source_line(t->frame->func->src, st->span.lo) != p->line)
    return;
  p->done = true;
  ck_assert_uint_gt(tki_eval_names(t->frame, &newest, 1), 1);
  ck_assert_str_eq(newest, "i");
  ck_assert_uint_eq(tki_eval_slots(t->frame, "pair", slots, 4), 2);
  ck_assert_uint_eq(tki_eval_slots(t->frame, "B", slots, 4), 0);
  ck_assert_uint_eq(tki_eval_slots(t->frame, "absent", slots, 4), 0);
  ck_assert_uint_eq(tki_eval_slots(t->frame, "s", slots, 4), 1);
  ck_assert_int_eq(t->frame->func->slots[slots[0]].type.elem, TK_FP32);
  tk_type want = t->frame->func->slots[slots[0]].type;
  tki_eval *x = tki_eval_new(t, t->frame, "n", &want);
  tki_val v;
  tki_eval_run(t, x, t->frame, &v);
  ck_assert_float_eq(((float *)tki_lanes(&v))[7], 13);
  tki_release(t, &v);
  tki_eval_free(x);
  tk_buf_init(&p->out, t->env);
}

START_TEST(variables_by_name) {
  probe p = {.text = "", .want = "", .line = 14, .stmt = on_names};
  check(&p);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("eval");
  TCase *c = tcase_create("eval");
  tcase_add_loop_test(c, expressions, 0, TK_COUNT(questions));
  tcase_add_test(c, variables_by_name);
  suite_add_tcase(suite, c);
  return run_suite(suite) != 0;
}
