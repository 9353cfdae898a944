/* test_explain.c - where elements came from: what is said, line for line.
 *
 * A case of explain.cases is
 *
 *   == name
 *   launch: 2,1 x=f32[8]:arange BLOCK=4
 *   explain: y[3] y[4]
 *   |lines that stand before the kernel, such as functions that it calls
 *   statements of a kernel k, indented by four blanks
 *   !!
 *   what is to be said
 *
 * Without functions the first statement stands on line 5.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/check/slice.h"
#include "support/launch_line.h"
#include "support/suite.h"

enum { MAX_TEXT = 1 << 13, MAX_CASES = 64 };

typedef struct explain_case {
  char name[1024], launch[1024], explain[1024];
  char before[MAX_TEXT], body[MAX_TEXT], want[MAX_TEXT];
  int part; /* lines read, or 3: what is to be said */
} explain_case;

static explain_case *cases;
static int ncases;

static void add_line(char *text, const char *line) {
  if (strlen(text) + strlen(line) + 2 > MAX_TEXT) abort();
  strcat(strcat(text, line), "\n");
}

static void read_line(char *line) {
  explain_case *c = ncases ? &cases[ncases - 1] : NULL;
  if (!strncmp(line, "== ", 3)) {
    if (ncases == MAX_CASES) abort();
    snprintf(cases[ncases++].name, sizeof c->name, "%s", line + 3);
  } else if (c->part == 0) {
    snprintf(c->launch, sizeof c->launch, "%s", line + strlen("launch: "));
    c->part = 1;
  } else if (c->part == 1) {
    snprintf(c->explain, sizeof c->explain, "%s", line + strlen("explain: "));
    for (char *p = c->explain; *p; p++)
      if (*p == ' ') *p = '\n';
    c->part = 2;
  } else if (!strcmp(line, "!!")) {
    c->part = 3;
  } else if (c->part == 3) {
    add_line(c->want, line);
  } else {
    add_line(*line == '|' ? c->before : c->body, line + (*line == '|'));
  }
}

static void read_cases(void) {
  char line[1024], path[2048];
  snprintf(path, sizeof path - 64, "%s", __FILE__);
  strcpy(strrchr(path, '/') + 1, "explain.cases");
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    read_line(line);
  }
  if (f) fclose(f);
}

/* ---- running ------------------------------------------------------------- */

static void put_source(char *text, const explain_case *c) {
  strcpy(text, "import triton\nimport triton.language as tl\n");
  strcat(text, c->before);
  put_kernel(text, c->launch, c->body);
}

static tk_launch *make_launch(tk_session *s, const explain_case *c) {
  char *src = calloc(3, MAX_TEXT);
  tk_module *m;
  tk_function *f;
  tk_launch *l = NULL;
  put_source(src, c);
  tk_status st = tk_module_open(s, "k.py", src, strlen(src), &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  if (st == TK_OK) st = give_args(l, c->launch);
  ck_assert_msg(st == TK_OK, "%s: %s", c->name, tk_report(s, false));
  free(src);
  return l;
}

static void on_output(void *ud, const char *text, size_t n) {
  char *out = ud;
  if (strlen(out) + n + 1 > MAX_TEXT) abort();
  strncat(out, text, n);
}

static void same_text(const char *name, const char *got, const char *want) {
  ck_assert_msg(!strcmp(got, want), "%s:\n--- got\n%s--- want\n%s", name, got,
                want);
}

START_TEST(one_case) {
  const explain_case *c = &cases[_i];
  char out[MAX_TEXT] = "", memory[2][MAX_TEXT] = {"", ""};
  for (int explains = 0; explains < 2; explains++) {
    tk_session *s = tk_session_new();
    tk_launch *l = make_launch(s, c);
    tk_run_options o = {.size = sizeof o};
    o.explain = explains ? c->explain : NULL;
    tk_session_output(s, on_output, out);
    ck_assert_int_eq(tk_launch_run(l, &o, NULL), TK_OK);
    tk_session_output(s, on_output, memory[explains]);
    ck_assert_int_eq(tk_launch_print(l, "y"), TK_OK);
    tk_session_free(s);
  }
  same_text(c->name, out, c->want);
  same_text(c->name, memory[1], memory[0]); /* it is put back */
}
END_TEST

/* ---- bad questions ------------------------------------------------------- */

static const struct bad {
  const char *explain, *why;
} bads[] = {
    {"y", "an index for each axis is needed"},
    {"y[1", "']' was expected behind the last index"},
    {"y[1,2]", "there are more indices than axes"},
    {"y[8]", "the index is out of range"},
    {"y[a]", "an index is a number"},
    {"z[0]", "no tensor of this launch is called so"},
    {"", NULL},
};

START_TEST(one_bad) {
  const struct bad *b = &bads[_i];
  static const explain_case c = {.name = "bad",
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
  tkc_trace trace;
  tk_buf text;
} traced;

static void begin(void *ud, tki *t) {
  traced *x = ud;
  tkc_trace_init(&x->trace, t, 0, 1 << 16);
  tki_observe(t, &x->trace.observer);
}

static void end_trace(void *ud, tki *t, tk_status st) {
  traced *x = ud;
  (void)st;
  tk_buf_init(&x->text, t->env);
  tkc_slice_store(&x->trace, &x->text, x->trace.last, 0, 0, TKC_SLICE_LINES);
  ck_assert_uint_le(x->trace.bytes, 1 << 18);
  tkc_trace_end(&x->trace, true);
}

START_TEST(bounded) {
  static const explain_case c = {
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
  cases = calloc(MAX_CASES, sizeof *cases);
  read_cases();
  Suite *suite = suite_create("explain");
  TCase *t = tcase_create("explain");
  tcase_add_loop_test(t, one_case, 0, ncases);
  tcase_add_loop_test(t, one_bad, 0, (int)TK_COUNT(bads));
  tcase_add_test(t, bounded);
  suite_add_tcase(suite, t);
  int failed = run_suite(suite);
  free(cases);
  return failed != 0 || ncases == 0;
}
