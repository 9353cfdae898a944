/* test_check.c - kernels with a bug, and without: which finding each gives,
 * or that it gives none.
 *
 * conflict.cases holds kernels whose programs touch the same memory,
 * flow.cases those with values that go wrong, precision.cases those whose
 * rounding errors grow, lint.cases those that look wrong before they run;
 * seeded.cases the bugs that kernels have had in the wild, by class, and
 * correct.cases kernels of which no detector may say a word.  A case is
 *
 *   == name
 *   launch: 2,1 x=f32[8]:arange BLOCK=4
 *   statements of a kernel k, indented by four blanks
 *   !!  lines that its report must contain, or
 *   --  for a kernel that gives no finding; what follows must be said still
 *
 * "!! KIND LINE (1, 0, 0)" wants a finding of that kind on that line that
 * names the program; "-" stands for no program in particular.  Parameters are
 * named by the launch line; capitals are constexpr.  The first statement stands
 * on line 5.  Tensors that no text of an argument describes lie one after the
 * other in a pool, filled by zeros:
 *
 *   x=lent:f32[3,4]       and strides, x=lent:f32[3,4]/8,1
 *   x=fixed:f32[8]        read-only
 *   x=address:y+16        an i64 tensor that holds the address of y[16]
 *
 * A line "class NAME" at the top of a file says that there must be a case
 * whose name starts with that word, "least N" that there are so many cases.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"
#include "support/launch_line.h"
#include "support/suite.h"

enum { MAX_TEXT = 1 << 13, MAX_CASES = 512, POOL = 1 << 14 };

typedef struct conflict_case {
  char *name, *launch;
  const char *file, *checks;
  char body[MAX_TEXT], want[MAX_TEXT];
  char expect[256]; /* findings: "KIND LINE PROGRAM", a line each */
  int finds;
  bool told; /* which of !! and -- it is */
} conflict_case;

/* What a file says of itself. */
typedef struct demand {
  const char *file;
  char class[32]; /* or "" */
  int least;
} demand;

static conflict_case *cases;
static demand demands[MAX_CASES];
static int ncases, ndemands;

static void add_line(char *text, const char *line) {
  if (strlen(text) + strlen(line) + 2 > MAX_TEXT) abort();
  strcat(strcat(text, line), "\n");
}

static conflict_case *new_case(const char *name, const char *file,
                               const char *checks) {
  if (ncases == MAX_CASES) abort();
  conflict_case *c = &cases[ncases++];
  c->name = strdup(name);
  c->file = file;
  c->checks = checks;
  return c;
}

/* "class d01 ..." or "least 60", before the first case of the file. */
static void read_demand(const char *line, const char *file) {
  demand *d = &demands[ndemands];
  d->file = file;
  d->class[0] = 0;
  if (sscanf(line, "class %31s", d->class) == 1 ||
      sscanf(line, "least %d", &d->least) == 1)
    ndemands++;
}

static void read_line(const char *line, int *in_want, const char *file,
                      const char *checks) {
  conflict_case *c = ncases ? &cases[ncases - 1] : NULL;
  if (c && c->file != file) c = NULL;
  if (!strncmp(line, "== ", 3)) {
    new_case(line + 3, file, checks);
    *in_want = 0;
  } else if (!c) {
    read_demand(line, file);
  } else if (!c->launch) {
    c->launch = strdup(line + strlen("launch: "));
  } else if (!strncmp(line, "!!", 2) || !strcmp(line, "--")) {
    c->finds = line[0] == '!';
    c->told = true;
    *in_want = 1;
    if (line[2]) strncat(strcat(c->expect, line + 3), "\n", 2);
  } else {
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
    read_line(line, &in_want, name, checks);
  }
  if (f) fclose(f);
}

static void put_source(char *text, const conflict_case *c) {
  strcpy(text, "import triton\nimport triton.language as tl\n");
  put_kernel(text, c->launch, c->body);
}

/* ---- tensors of the pool ----------------------------------------------- */

typedef struct pool {
  _Alignas(16) char bytes[POOL];
  size_t used;
} pool;

/* "3,4" */
static int read_ints(const char *text, int64_t *out) {
  int n = 0;
  do out[n++] = strtoll(text, (char **)&text, 10);
  while (*text++ == ',');
  return n;
}

/* "f32[3,4]/8,1" as the next tensor of the pool. */
static tk_tensor lend(pool *p, const char *text, unsigned flags) {
  const char *dims = strchr(text, '['), *strides = strchr(text, '/');
  size_t size = (size_t)atoi(text + 1) / 8, last = 0;
  tk_tensor x = {.data = p->bytes + p->used, .flags = flags};
  x.dtype = text[0] == 'f' ? TK_FP32 : size == 8 ? TK_INT64 : TK_INT32;
  x.rank = read_ints(dims + 1, x.shape);
  for (int64_t i = x.rank - 1, step = 1; i >= 0; step *= x.shape[i--])
    x.strides[i] = step;
  if (strides) read_ints(strides + 1, x.strides);
  for (int i = 0; i < x.rank; i++)
    last += (size_t)((x.shape[i] - 1) * x.strides[i]);
  p->used += (last + 1) * size;
  if (p->used > POOL || size != tk_dtype_size(x.dtype)) abort();
  return x;
}

/* "y+16": where the tensor has the element. */
static tk_tensor address_of(tk_launch *l, pool *p, const char *text) {
  char name[32];
  int64_t at = 0;
  p->used = (p->used + 7) / 8 * 8;
  tk_tensor x = lend(p, "i64[1]", 0);
  if (sscanf(text, "%31[^+]+%ld", name, &at) < 1) abort();
  const tk_tensor *y = tk_launch_get_tensor(l, name);
  if (!y) abort();
  int64_t base = (int64_t)y->device_address;
  if (!base) base = (int64_t)(intptr_t)y->data;
  *(int64_t *)x.data = base + at * (int64_t)tk_dtype_size(y->dtype);
  return x;
}

static tk_status give_arg(tk_launch *l, pool *p, char *arg) {
  char *value = strchr(arg, '=') + 1, *kind = value + strcspn(value, ":");
  tk_tensor x;
  if (!strncmp(value, "lent:", 5))
    x = lend(p, kind + 1, 0);
  else if (!strncmp(value, "fixed:", 6))
    x = lend(p, kind + 1, TK_TENSOR_READONLY);
  else if (!strncmp(value, "address:", 8))
    x = address_of(l, p, kind + 1);
  else
    return tk_launch_arg_text(l, arg);
  value[-1] = 0;
  return tk_launch_tensor(l, arg, &x);
}

static tk_status give_all(tk_launch *l, pool *p, const char *launch) {
  char copy[1024], *save = NULL;
  snprintf(copy, sizeof copy, "%s", launch);
  tk_status st = tk_launch_grid_text(l, strtok_r(copy, " ", &save));
  for (char *a; st == TK_OK && (a = strtok_r(NULL, " ", &save));)
    st = give_arg(l, p, a);
  return st;
}

static tk_status run_case(tk_session *s, const conflict_case *c, char *src) {
  tk_module *m;
  tk_function *f;
  tk_launch *l;
  pool p = {.used = 0};
  tk_status st = tk_module_open(s, "k.py", src, strlen(src), &m);
  if (st == TK_OK) st = tk_session_check(s, c->checks, NULL);
  if (st == TK_OK) st = tk_function_named(m, "k", &f);
  if (st == TK_OK) st = tk_launch_new(s, f, &l);
  if (st == TK_OK) st = give_all(l, &p, c->launch);
  return st == TK_OK ? tk_launch_run(l, NULL, NULL) : st;
}

/* ---- what is expected --------------------------------------------------- */

/* The next finding of a report: its first line and all that belongs to it,
 * up to the result. */
static const char *next_finding(const char *report, char *head, char *all) {
  size_t n = strcspn(report, "\n");
  snprintf(head, MAX_TEXT, "%.*s", (int)n, report);
  const char *end = report + n + (report[n] == '\n');
  while (*end && (*end == ' ' || *end == '\n'))
    end += strcspn(end, "\n"), end += *end == '\n';
  snprintf(all, MAX_TEXT, "%.*s", (int)(end - report), report);
  return end;
}

static bool has_finding(const char *report, const char *kind, int line,
                        const char *program) {
  char head[MAX_TEXT], all[MAX_TEXT], bracket[64], place[64];
  snprintf(bracket, sizeof bracket, " [%s]", kind);
  snprintf(place, sizeof place, "k.py:%d:", line);
  while (*report) {
    report = next_finding(report, head, all);
    bool named = *program == '-' || strstr(all, program);
    if (strstr(head, bracket) && !strncmp(head, place, strlen(place)) && named)
      return true;
  }
  return false;
}

static void check_expected(const conflict_case *c, const char *report) {
  char kind[32], program[64];
  int line;
  for (const char *p = c->expect; *p; p = strchr(p, '\n') + 1) {
    int n = sscanf(p, "%31s %d %63[^\n]", kind, &line, program);
    ck_assert_msg(n == 3, "%s: cannot read '%s'", c->name, p);
    ck_assert_msg(has_finding(report, kind, line, program),
                  "%s: expected [%s] on line %d, program %s\nreport:\n%s",
                  c->name, kind, line, program, report);
  }
}

static void check_want(const conflict_case *c, const char *report) {
  char want[MAX_TEXT], *save = NULL;
  strcpy(want, c->want);
  for (char *line = strtok_r(want, "\n", &save); line;
       line = strtok_r(NULL, "\n", &save))
    ck_assert_msg(strstr(report, line) != NULL,
                  "%s: expected in the report: %s\nreport:\n%s", c->name, line,
                  report);
}

START_TEST(one_case) {
  const conflict_case *c = &cases[_i];
  ck_assert_msg(c->told, "%s: %s: the case has no line of -- or !!", c->file,
                c->name);
  char *src = calloc(2, MAX_TEXT);
  tk_session *s = tk_session_new();
  put_source(src, c);
  tk_status st = run_case(s, c, src);
  const char *report = tk_report(s, false);
  ck_assert_msg(st == (c->finds ? TK_FINDING : TK_OK), "%s: status %d\n%s\n%s",
                c->name, st, src, report);
  check_expected(c, report);
  check_want(c, report);
  if (!c->finds && !*c->want)
    ck_assert_msg(!*report, "%s: %s", c->name, report);
  tk_session_free(s);
  free(src);
}
END_TEST

/* The files hold as many cases, and of as many classes, as they say. */
START_TEST(enough_cases) {
  const demand *d = &demands[_i];
  size_t n = strlen(d->class);
  int found = 0;
  for (int i = 0; i < ncases; i++)
    found += cases[i].file == d->file && !strncmp(cases[i].name, d->class, n) &&
             (!n || strchr(" :", cases[i].name[n]));
  ck_assert_msg(found >= (n ? 1 : d->least), "%s: %d cases of '%s'", d->file,
                found, d->class);
}
END_TEST

int main(void) {
  cases = calloc(MAX_CASES, sizeof *cases);
  read_cases("conflict.cases", "race,twice,unwritten,order,idempotence");
  read_cases("flow.cases", "all");
  read_cases("precision.cases", "precision");
  read_cases("lint.cases", "lint");
  read_cases("seeded.cases", "all");
  read_cases("correct.cases", "all");
  Suite *suite = suite_create("check");
  TCase *t = tcase_create("check");
  tcase_add_loop_test(t, one_case, 0, ncases);
  tcase_add_loop_test(t, enough_cases, 0, ndemands);
  suite_add_tcase(suite, t);
  int failed = run_suite(suite);
  for (int i = 0; i < ncases; i++) free(cases[i].name), free(cases[i].launch);
  free(cases);
  return failed != 0 || ncases == 0;
}
