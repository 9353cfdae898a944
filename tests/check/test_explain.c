/* test_explain.c - where elements came from: what is said, line for line, of
 * the elements that a case of explain.case names ("explain: y[3] y[4]").
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/explain/slice.h"
#include "report/report.h"
#include "support/assertions.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MAX_TEXT = 1 << 13 };

static case_file *file;

static tk_launch *make_launch(tk_session *s, const test_case *c) {
  tk_launch *l = NULL;
  tk_status st = case_launch(s, c, &l);
  if (st == TK_OK) st = case_arguments(l, c, NULL, NULL);
  ck_assert_msg(st == TK_OK, "%s:%d: %s: %s", c->file, c->line, c->name,
                tk_report(s, false));
  return l;
}

static void on_output(void *ud, const char *text, size_t n) {
  char *out = ud;
  if (strlen(out) + n + 1 > MAX_TEXT) abort();
  strncat(out, text, n);
}

static void same_text(const test_case *c, const char *got, const char *want) {
  ck_assert_msg(!strcmp(got, want), "%s:%d: %s:\n--- got\n%s--- want\n%s",
                c->file, c->line, c->name, got, want);
}

/* The elements that are asked about, a line each. */
static const char *elements(const test_case *c, char *room) {
  ck_assert_msg(c->explain && c->nwants == 1 && c->wants[0].mark == '-',
                "%s:%d: a case here has explain: and --", c->file, c->line);
  snprintf(room, MAX_TEXT, "%s", c->explain);
  for (char *p = room; *p; p++)
    if (*p == ' ') *p = '\n';
  return room;
}

START_TEST(one_case) {
  const test_case *c = &file->cases[_i];
  char asked[MAX_TEXT], out[MAX_TEXT] = "", memory[2][MAX_TEXT] = {"", ""};
  for (int explains = 0; explains < 2; explains++) {
    tk_session *s = tk_session_new();
    tk_launch *l = make_launch(s, c);
    tk_run_options o = {.size = sizeof o};
    o.explain = explains ? elements(c, asked) : NULL;
    tk_session_output(s, on_output, out);
    ck_assert_int_eq(tk_launch_run(l, &o, NULL), TK_OK);
    tk_session_output(s, on_output, memory[explains]);
    ck_assert_int_eq(tk_launch_print(l, "y"), TK_OK);
    tk_session_free(s);
  }
  same_text(c, out, c->wants[0].text);
  same_text(c, memory[1], memory[0]); /* it is put back */
}
END_TEST

/* ---- bad questions ------------------------------------------------------- */

static const struct bad {
  const char *explain, *why;
} bads[] = {
    {"y", "an index for each axis is needed"},
    {"y[1", "']' was expected after the last index"},
    {"y[1,2]", "there are more indices than axes"},
    {"y[8]", "the index is out of range"},
    {"y[a]", "an index must be a number"},
    {"z[0]", "no tensor of this launch has this name"},
    {"", NULL},
};

START_TEST(one_bad) {
  const struct bad *b = &bads[_i];
  static const test_case c = {.name = "bad",
                              .launch = "1 x=f32[8]:arange y=f32[8]:zeros",
                              .body = "    tl.store(y, tl.load(x))\n"};
  for (int explains = 0; explains < 2; explains++) {
    tk_session *s = tk_session_new();
    tk_launch *l = make_launch(s, &c);
    tk_run_options o = {.size = sizeof o};
    *(explains ? &o.explain : &o.blame) = b->explain;
    tk_status st = tk_launch_run(l, &o, NULL);
    const char *report = tk_report(s, false);
    ck_assert_int_eq(st, b->why ? TK_USAGE : TK_OK);
    ck_assert_msg(!b->why || strstr(report, b->why), "%s", report);
    ck_assert_msg(!b->why || strstr(report, explains ? "--explain" : "--blame"),
                  "%s", report);
    tk_session_free(s);
  }
}
END_TEST

/* ---- a trace that is too long -------------------------------------------- */

typedef struct traced {
  tk_watcher watcher;
  tke_trace trace;
  tk_buf text;
} traced;

static void begin(void *ud, tki *t) {
  traced *x = ud;
  tke_trace_init(&x->trace, t, 0, 1 << 16);
  tki_observe(t, &x->trace.observer);
}

static void end_trace(void *ud, tki *t, tk_status st) {
  traced *x = ud;
  (void)st;
  tk_buf_init(&x->text, t->env);
  tk_explanation found = {.scope = -1};
  tke_slice_store(&x->trace, &x->trace.arena, x->trace.last, 0, TKE_SLICE_STEPS,
                  &found);
  tk_report_steps(&x->text, &found, 0);
  ck_assert_uint_le(x->trace.bytes, 1 << 18);
  tke_trace_end(&x->trace, true);
}

START_TEST(bounded) {
  static const test_case c = {
      .name = "bounded",
      .launch = "1 x=f32[4096]:ones y=f32[8]:zeros",
      .body = "    s = tl.load(x)\n    for k in range(0, 4096):\n"
              "        s += tl.load(x + k)\n    tl.store(y, s)\n"};
  tk_session *s = tk_session_new();
  tk_launch *l = make_launch(s, &c);
  traced x = {.watcher = {.begin = begin, .end = end_trace}};
  x.watcher.ud = &x;
  s->watchers = &x.watcher;
  ck_assert_int_eq(tk_launch_run(l, NULL, NULL), TK_OK);
  const char *text = tk_buf_str(&x.text);
  ck_assert_msg(strstr(text, "s = 4097.0: s += tl.load(x + k)") != NULL, "%s",
                text);
  ck_assert_msg(strstr(text, "its history is not kept") != NULL, "%s", text);
  tk_buf_free(&x.text);
  s->watchers = NULL;
  tk_session_free(s);
}
END_TEST

int main(void) {
  file = case_file_read(__FILE__, "explain.case");
  Suite *suite = suite_create("explain");
  TCase *t = tcase_create("explain");
  tcase_add_loop_test(t, one_case, 0, file->ncases);
  tcase_add_loop_test(t, one_bad, 0, (int)TK_COUNT(bads));
  tcase_add_test(t, bounded);
  suite_add_tcase(suite, t);
  int failed = run_suite(suite);
  case_file_free(file);
  return failed != 0;
}
