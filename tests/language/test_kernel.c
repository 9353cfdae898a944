/* test_kernel.c - kernels as plain text: what they print, or why they are
 * refused.
 *
 * Reads every *.case file beside it.  A case is
 *
 *   == name
 *   launch: 2,1 x=f32[8]:arange BLOCK=4
 *   statements of a kernel k, indented by four blanks, or whole functions
 *   -- (what it prints, exactly)  or  !! (lines its report must contain)
 *   text
 *
 * Parameters are named by the launch line; capitals are constexpr.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"
#include "support/launch_line.h"
#include "support/suite.h"

enum { MAX_TEXT = 1 << 16, MAX_CASES = 1024 };

typedef struct test_case {
  char *name, *launch, *body, *want;
  int fails; /* `want` is part of a report */
} test_case;

static test_case cases[MAX_CASES];
static int ncases;

typedef struct text {
  char s[MAX_TEXT];
  size_t n;
} text;

static void add(text *t, const char *s, size_t n) {
  ck_assert_uint_lt(t->n + n, MAX_TEXT);
  memcpy(t->s + t->n, s, n);
  t->s[t->n += n] = 0;
}

static void put(text *t, const char *s) {
  add(t, s, strlen(s));
}

static void collect(void *ud, const char *s, size_t n) {
  add(ud, s, n);
}

/* ---- reading ----------------------------------------------------------- */

static char *line_of(char **at) {
  char *s = *at, *end = strchr(s, '\n');
  if (!end) return NULL;
  *end = 0;
  *at = end + 1;
  return s;
}

static char *append(char *old, const char *line) {
  size_t n = old ? strlen(old) : 0;
  char *s = realloc(old, n + strlen(line) + 2);
  memcpy(s + n, line, strlen(line));
  strcpy(s + n + strlen(line), "\n");
  return s;
}

static void read_case_file(char *s) {
  test_case *c = NULL;
  int in_want = 0;
  for (char *line; (line = line_of(&s));) {
    if (!strncmp(line, "== ", 3)) {
      c = &cases[ncases++];
      c->name = strdup(line + 3);
      in_want = 0;
    } else if (c && !in_want && !strncmp(line, "launch: ", 8)) {
      c->launch = strdup(line + 8);
    } else if (c && (!strcmp(line, "--") || !strcmp(line, "!!"))) {
      in_want = 1;
      c->fails = line[0] == '!';
      c->want = strdup("");
    } else if (c && in_want) {
      c->want = append(c->want, line);
    } else if (c) {
      c->body = append(c->body, line);
    }
  }
}

static char *slurp(const char *path) {
  FILE *f = fopen(path, "rb");
  char *s = calloc(1, 1 << 20);
  size_t n = f ? fread(s, 1, (1 << 20) - 2, f) : 0;
  if (f) fclose(f);
  if (n && s[n - 1] != '\n') s[n] = '\n';
  return s;
}

static void read_cases(const char *dir) {
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[2048];
    const char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".case")) continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    char *s = slurp(path);
    read_case_file(s);
    free(s);
  }
  if (d) closedir(d);
}

/* ---- running ----------------------------------------------------------- */

/* "def k(x, BLOCK: tl.constexpr):" from the names in the launch line. */
static void put_header(text *t, const char *launch) {
  const char *p = strchr(launch, ' ');
  put(t, "import triton\nimport triton.language as tl\n");
  put(t, "@triton.jit\ndef k(");
  for (int first = 1; p; first = 0) {
    while (*p == ' ') p++;
    size_t n = strcspn(p, "=");
    if (!p[n]) break;
    if (!first) put(t, ", ");
    add(t, p, n);
    if (p[0] >= 'A' && p[0] <= 'Z') put(t, ": tl.constexpr");
    p = strchr(p, ' ');
  }
  put(t, "):\n");
}

/* A case without functions of its own is the body of k. */
static void build_source(text *src, const test_case *c) {
  if (strncmp(c->body, "    ", 4) == 0)
    put_header(src, c->launch);
  else
    put(src, "import triton\nimport triton.language as tl\n");
  put(src, c->body);
}

static tk_status run_case(tk_session *s, const test_case *c, text *src) {
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  tk_run_options opt = {.size = sizeof opt, .dot = "exact"};
  tk_status st = tk_module_open(s, "k.py", src->s, src->n, &m);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  if (st == TK_OK) st = give_args(l, c->launch);
  return st == TK_OK ? tk_launch_run(l, &opt, NULL) : st;
}

static void check_report(const char *report, const char *want) {
  char *copy = strdup(want), *save = NULL;
  for (char *line = strtok_r(copy, "\n", &save); line;
       line = strtok_r(NULL, "\n", &save))
    ck_assert_msg(strstr(report, line) != NULL,
                  "expected in the report: %s\nreport:\n%s", line, report);
  free(copy);
}

START_TEST(one_case) {
  const test_case *c = &cases[_i];
  text *src = calloc(1, sizeof *src), *out = calloc(1, sizeof *out);
  tk_session *s = tk_session_new();
  tk_session_output(s, collect, out);
  build_source(src, c);
  tk_status st = run_case(s, c, src);
  const char *report = tk_report(s, false);
  if (c->fails) {
    ck_assert_msg(st == TK_FINDING, "%s: status %d, printed %s%s", c->name, st,
                  out->s, report);
    check_report(report, c->want);
  } else {
    ck_assert_msg(st == TK_OK, "%s: %s", c->name, report);
    ck_assert_msg(!strcmp(out->s, c->want), "%s printed\n%sand not\n%s",
                  c->name, out->s, c->want);
  }
  tk_session_free(s);
  free(src);
  free(out);
}
END_TEST

static void free_cases(void) {
  for (int i = 0; i < ncases; i++) {
    free(cases[i].name);
    free(cases[i].launch);
    free(cases[i].body);
    free(cases[i].want);
  }
}

int main(void) {
  char dir[1024];
  snprintf(dir, sizeof dir, "%s", __FILE__);
  char *slash = strrchr(dir, '/');
  if (slash) *slash = 0;
  read_cases(slash ? dir : ".");
  if (!ncases) {
    fprintf(stderr, "no *.case file in %s\n", dir);
    return 1;
  }
  Suite *suite = suite_create("kernels");
  TCase *tc = tcase_create("cases");
  tcase_add_loop_test(tc, one_case, 0, ncases);
  suite_add_tcase(suite, tc);
  int failed = run_suite(suite);
  free_cases();
  return failed ? 1 : 0;
}
