/* test_check.c - kernels with a bug, and without: which finding each gives,
 * or that it gives none.
 *
 * conflict.cases holds kernels whose programs touch the same memory,
 * flow.cases those with values that go wrong.  A case is
 *
 *   == name
 *   launch: 2,1 x=f32[8]:arange BLOCK=4
 *   statements of a kernel k, indented by four blanks
 *   !!  lines that its report must contain, or
 *   --  for a kernel that gives no finding; what follows must be said still
 *
 * Parameters are named by the launch line; capitals are constexpr.  The first
 * statement stands on line 5.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"

enum { MAX_TEXT = 1 << 15, MAX_CASES = 256 };

typedef struct conflict_case {
  char *name, *launch;
  const char *checks;
  char body[MAX_TEXT], want[MAX_TEXT];
  int finds;
} conflict_case;

static conflict_case *cases;
static int ncases;

static void add_line(char *text, const char *line) {
  if (strlen(text) + strlen(line) + 2 > MAX_TEXT) abort();
  strcat(strcat(text, line), "\n");
}

static void read_line(const char *line, int *in_want, const char *checks) {
  conflict_case *c = ncases ? &cases[ncases - 1] : NULL;
  if (!strncmp(line, "== ", 3)) {
    if (ncases == MAX_CASES) abort();
    cases[ncases].checks = checks;
    cases[ncases++].name = strdup(line + 3);
    *in_want = 0;
  } else if (c && !c->launch) {
    c->launch = strdup(line + strlen("launch: "));
  } else if (!strcmp(line, "!!") || !strcmp(line, "--")) {
    c->finds = line[0] == '!';
    *in_want = 1;
  } else if (c) {
    add_line(*in_want ? c->want : c->body, line);
  }
}

/* A file beside this one. */
static void read_cases(const char *name, const char *checks) {
  char line[1024], path[2048];
  int in_want = 0;
  snprintf(path, sizeof path - 64, "%s", __FILE__);
  strcpy(strrchr(path, '/') + 1, name);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    read_line(line, &in_want, checks);
  }
  if (f) fclose(f);
}

/* "def k(x, BLOCK: tl.constexpr):" from the names in the launch line. */
static void put_source(char *text, const conflict_case *c) {
  const char *p = strchr(c->launch, ' ');
  strcpy(text, "import triton\nimport triton.language as tl\n"
               "@triton.jit\ndef k(");
  for (int first = 1; p; first = 0, p = strchr(p, ' ')) {
    size_t n = strcspn(++p, "=");
    if (!first) strcat(text, ", ");
    strncat(text, p, n);
    if (p[0] >= 'A' && p[0] <= 'Z') strcat(text, ": tl.constexpr");
  }
  strcat(strcat(text, "):\n"), c->body);
}

static tk_status give_args(tk_launch *l, const char *launch) {
  char copy[1024], *save = NULL;
  snprintf(copy, sizeof copy, "%s", launch);
  tk_status st = tk_launch_grid_text(l, strtok_r(copy, " ", &save));
  for (char *a; st == TK_OK && (a = strtok_r(NULL, " ", &save));)
    st = tk_launch_arg_text(l, a);
  return st;
}

static tk_status run_case(tk_session *s, const conflict_case *c, char *src) {
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_status st = tk_module_open(s, "k.py", src, strlen(src), &m);
  if (st == TK_OK) st = tk_session_check(s, c->checks, NULL);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  if (st == TK_OK) st = give_args(l, c->launch);
  return st == TK_OK ? tk_launch_run(l, NULL, NULL) : st;
}

START_TEST(one_case) {
  const conflict_case *c = &cases[_i];
  char *src = calloc(2, MAX_TEXT), want[MAX_TEXT], *save = NULL;
  tk_session *s = tk_session_new();
  put_source(src, c);
  tk_status st = run_case(s, c, src);
  const char *report = tk_report(s, false);
  ck_assert_msg(st == (c->finds ? TK_FINDING : TK_OK), "%s: status %d\n%s\n%s",
                c->name, st, src, report);
  strcpy(want, c->want);
  for (char *line = strtok_r(want, "\n", &save); line;
       line = strtok_r(NULL, "\n", &save))
    ck_assert_msg(strstr(report, line) != NULL,
                  "%s: expected in the report: %s\nreport:\n%s", c->name, line,
                  report);
  if (!c->finds && !*c->want)
    ck_assert_msg(!*report, "%s: %s", c->name, report);
  tk_session_free(s);
  free(src);
}
END_TEST

int main(void) {
  cases = calloc(MAX_CASES, sizeof *cases);
  read_cases("conflict.cases", "race,twice,unwritten,order,idempotence");
  read_cases("flow.cases", "all");
  Suite *suite = suite_create("check");
  TCase *t = tcase_create("check");
  tcase_add_loop_test(t, one_case, 0, ncases);
  suite_add_tcase(suite, t);
  SRunner *r = srunner_create(suite);
  srunner_set_fork_status(r, CK_NOFORK);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  for (int i = 0; i < ncases; i++) free(cases[i].name), free(cases[i].launch);
  free(cases);
  return failed != 0 || ncases == 0;
}
