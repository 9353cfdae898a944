/* test_kernel.c - kernels as plain text: what they print, or why they are
 * refused.  Runs every case file (support/cases.h) beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"
#include "support/axis_watch.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MAX_TEXT = 1 << 16 };

static const test_case **cases;

typedef struct printed {
  char s[MAX_TEXT];
  size_t n;
} printed;

static void collect(void *ud, const char *s, size_t n) {
  printed *t = ud;
  ck_assert_uint_lt(t->n + n, MAX_TEXT);
  memcpy(t->s + t->n, s, n);
  t->s[t->n += n] = 0;
}

static tk_status run_case(tk_session *s, const test_case *c, case_way way) {
  tk_launch *l;
  tk_run_options opt = {.size = sizeof opt, .dot = "exact"};
  tk_status st = case_launch(s, c, &l);
  if (st == TK_OK) st = case_arguments(l, c, NULL, NULL);
  if (st == TK_OK && way != CASE_SPECIALISED) {
    st = case_launch_by(s, way, &l);
    if (way == CASE_BY_PASSES) axis_watch(s);
    if (st == TK_OK) st = case_arguments(l, c, NULL, NULL);
  }
  return st == TK_OK ? tk_launch_run(l, &opt, NULL) : st;
}

/* Each case in every way. */
START_TEST(one_case) {
  const test_case *c = cases[_i / CASE_WAYS];
  printed *out = calloc(1, sizeof *out);
  tk_session *s = tk_session_new();
  tk_session_output(s, collect, out);
  case_way way = (case_way)(_i % CASE_WAYS);
  tk_status st = run_case(s, c, way);
  const char *report = tk_report(s, false), *want = c->wants[0].text;
  ck_assert_msg(c->nwants == 1 && c->wants[0].mark != '+',
                "%s:%d: a kernel has one --, or one !!", c->file, c->line);
  /* What fails, and is needed by nobody, is gone after the passes. */
  bool gone = way == CASE_BY_PASSES && st == TK_OK;
  if (c->wants[0].mark == '!' && !gone) {
    ck_assert_msg(st == TK_FINDING, "%s:%d: %s: status %d, printed %s%s",
                  c->file, c->line, c->name, st, out->s, report);
    case_expects_lines(c, report, want);
  } else if (c->wants[0].mark != '!') {
    ck_assert_msg(st == TK_OK, "%s:%d: %s: %s", c->file, c->line, c->name,
                  report);
    ck_assert_msg(!strcmp(out->s, want), "%s:%d: %s printed\n%sand not\n%s",
                  c->file, c->line, c->name, out->s, want);
  }
  tk_session_free(s);
  free(out);
}
END_TEST

int main(void) {
  case_file **files;
  int ncases, nfiles = case_files_read(__FILE__, NULL, &files, &cases, &ncases);
  Suite *suite = suite_create("kernels");
  TCase *tc = tcase_create("cases");
  tcase_add_loop_test(tc, one_case, 0, CASE_WAYS * ncases);
  suite_add_tcase(suite, tc);
  int failed = run_suite(suite);
  case_files_free(files, nfiles, cases);
  return failed || !ncases;
}
