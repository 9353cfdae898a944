/* test_run.c - running a launch: engines by name, and what a run is asked
 * about in advance.
 */
#include <string.h>

#include "device/device.h"
#include "launch/session.h"
#include "support/assertions.h"
#include "support/suite.h"

static const char kernel[] = "import triton.language as tl\n"
                             "\n"
                             "@triton.jit\n"
                             "def twice(x, n, B: tl.constexpr):\n"
                             "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
                             "    v = tl.load(x + at, mask=at < n, other=0.0)\n"
                             "    tl.store(x + at, v + v, mask=at < n)\n";

typedef struct fixture {
  tk_session *s;
  tk_launch *l;
  float x[10];
  char out[2048];
} fixture;

static void hear(void *ud, const char *text, size_t len) {
  fixture *f = ud;
  strncat(f->out, text, len);
}

static void begin(fixture *f) {
  tk_module *m;
  tk_function *fn;
  *f = (fixture){.s = tk_session_new()};
  for (int i = 0; i < 10; i++) f->x[i] = (float)i;
  tk_tensor t = {
      .data = f->x, .dtype = TK_FP32, .rank = 1, .shape = {10}, .strides = {1}};
  tk_session_output(f->s, hear, f);
  tk_module_open(f->s, "k.py", kernel, sizeof kernel - 1, &m);
  ck_assert_int_eq(tk_function_named(m, NULL, &fn), TK_OK);
  ck_assert_int_eq(tk_launch_new(f->s, fn, &f->l), TK_OK);
  ck_assert_int_eq(tk_launch_tensor(f->l, "x", &t), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(f->l, "n=10"), TK_OK);
  ck_assert_int_eq(tk_launch_arg_text(f->l, "B=4"), TK_OK);
  ck_assert_int_eq(tk_launch_grid(f->l, 3, 1, 1), TK_OK);
}

static void end(fixture *f) {
  tk_session_free(f->s);
}

static tk_status run(fixture *f, const tk_run_options *o) {
  tk_run_options opt = *o;
  opt.size = sizeof opt;
  f->out[0] = '\0';
  tk_status st = tk_launch_run(f->l, &opt, NULL);
  if (st == TK_FINDING) ck_abort_msg("%s", tk_report(f->s, false));
  return st;
}

static void reports(fixture *f, const char *part) {
  const char *report = tk_report(f->s, false);
  if (!strstr(report, part))
    ck_abort_msg("'%s' is not in the report:\n%s", part, report);
  tk_report_clear(f->s);
}

/* ---- engines ------------------------------------------------------------ */

START_TEST(engines_have_names) {
  const char *why = NULL;
  ck_assert_str_eq(tk_engine_name(0), "interp");
  ck_assert(tk_engine_available(0, &why));
  ck_assert_str_eq(why, "");
  for (size_t i = 0; tk_engine_name(i); i++)
    ck_assert_ptr_nonnull(tk_engine_doc(i));
  ck_assert_ptr_null(tk_engine_name(1000));
  ck_assert_ptr_null(tk_engine_doc(1000));
  ck_assert(!tk_engine_available(1000, &why));
  ck_assert_ptr_nonnull(strstr(why, "no such engine"));
  ck_assert(!tk_engine_available(1000, NULL));
}
END_TEST

START_TEST(every_engine_runs_a_launch) {
  for (size_t i = 0; tk_engine_name(i); i++) {
    fixture f;
    tk_summary sum = {0};
    tk_run_options o = {.size = sizeof o, .engine = tk_engine_name(i)};
    if (!tk_engine_available(i, NULL)) continue;
    begin(&f);
    ck_assert_int_eq(tk_launch_run(f.l, &o, &sum), TK_OK);
    ck_assert_uint_eq(sum.programs, 3);
    ck_assert_str_eq(sum.kernel, "twice");
    ck_assert_str_eq(sum.engine, o.engine);
    ck_assert(sum.grid[0] == 3 && sum.grid[1] == 1 && sum.grid[2] == 1);
    ck_assert_uint_eq(sum.errors + sum.warnings + sum.notes, 0);
    ck_assert(f.x[3] == 6 && f.x[9] == 18);
    end(&f);
  }
}
END_TEST

/* A GPU has the memory at low addresses elsewhere. */
START_TEST(addresses_that_were_moved) {
  uint64_t heap = 24240736, stack = (uint64_t)0x7ffd << 32;
  ck_assert_uint_eq(tkg_launch_address(((uint64_t)5 << 44) + heap), heap);
  ck_assert_uint_eq(tkg_launch_address(heap), heap);
  ck_assert_uint_eq(tkg_launch_address(stack), stack);
  ck_assert_uint_eq(tkg_launch_address(((uint64_t)5 << 44) - 1),
                    ((uint64_t)5 << 44) - 1);
}
END_TEST

START_TEST(unknown_engine_names_those_known) {
  fixture f;
  begin(&f);
  ck_assert_int_eq(run(&f, &(tk_run_options){.engine = "intrep"}), TK_USAGE);
  reports(&f, "no engine is called 'intrep'");
  ck_assert_int_eq(run(&f, &(tk_run_options){.engine = "intrep"}), TK_USAGE);
  reports(&f, "did you mean 'interp'? (engines: interp");
  ck_assert_int_eq(run(&f, &(tk_run_options){.engine = ""}), TK_USAGE);
  reports(&f, "engines: interp");
  ck_assert(f.x[3] == 3);
  end(&f);
}
END_TEST

/* A caller that was compiled before the option existed. */
START_TEST(older_options_run_the_first_engine) {
  fixture f;
  begin(&f);
  tk_run_options o = {.size = offsetof(tk_run_options, engine),
                      .engine = "not read"};
  ck_assert_int_eq(tk_launch_run(f.l, &o, NULL), TK_OK);
  ck_assert(f.x[3] == 6);
  end(&f);
}
END_TEST

/* ---- what is asked in advance ------------------------------------------- */

START_TEST(blame_and_explain_watch_one_run) {
  fixture f;
  begin(&f);
  tk_run_options o = {.blame = "x[5]", .explain = "x[9]"};
  ck_assert_int_eq(run(&f, &o), TK_OK);
  ck_assert_ptr_nonnull(strstr(f.out, "x[5] = 10.0: written once\n"
                                      "  program (1, 0, 0): value 10.0"));
  ck_assert_ptr_nonnull(strstr(f.out, "x[9] = 18.0: written once\n"));
  ck_assert_ptr_nonnull(strstr(f.out, "what its value was made of\n"));
  ck_assert(f.x[9] == 18);
  ck_assert_ptr_null(f.s->watchers);
  ck_assert_int_eq(run(&f, &(tk_run_options){0}), TK_OK);
  ck_assert_str_eq(f.out, "");
  end(&f);
}
END_TEST

START_TEST(bad_element_refuses_the_run) {
  fixture f;
  begin(&f);
  ck_assert_int_eq(run(&f, &(tk_run_options){.blame = "x[10]"}), TK_USAGE);
  reports(&f, "--blame x[10]: the index is out of range");
  ck_assert_int_eq(run(&f, &(tk_run_options){.explain = "y[1]"}), TK_USAGE);
  reports(&f, "--explain y[1]: no tensor of this launch has this name");
  ck_assert_str_eq(f.out, "");
  ck_assert_ptr_null(f.s->watchers);
  ck_assert(f.x[3] == 3);
  end(&f);
}
END_TEST

/* Detectors that have seen one run are not told of the end of another that
 * never began. */
START_TEST(refused_run_after_a_checked_one) {
  fixture f;
  begin(&f);
  ck_assert_int_eq(tk_session_check(f.s, "all", NULL), TK_OK);
  ck_assert_int_eq(run(&f, &(tk_run_options){0}), TK_OK);
  tk_run_options bad = {.order = "sideways", .blame = "x[0]"};
  ck_assert_int_eq(run(&f, &bad), TK_USAGE);
  reports(&f, "sideways");
  ck_assert_str_eq(f.out, "");
  ck_assert_int_eq(run(&f, &(tk_run_options){.blame = "x[0]"}), TK_OK);
  ck_assert_ptr_nonnull(strstr(f.out, "x[0] = 0.0: written once"));
  end(&f);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("run");
  TCase *c = tcase_create("run");
  tcase_add_test(c, engines_have_names);
  tcase_add_test(c, every_engine_runs_a_launch);
  tcase_add_test(c, addresses_that_were_moved);
  tcase_add_test(c, unknown_engine_names_those_known);
  tcase_add_test(c, older_options_run_the_first_engine);
  tcase_add_test(c, blame_and_explain_watch_one_run);
  tcase_add_test(c, bad_element_refuses_the_run);
  tcase_add_test(c, refused_run_after_a_checked_one);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  return run_suite(suite()) != 0;
}
