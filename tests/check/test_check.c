/* test_check.c - kernels with a bug, and without: which finding each gives,
 * or that it gives none.
 *
 * conflict.case holds kernels whose programs touch the same memory, flow.case
 * those with values that go wrong, precision.case those whose rounding errors
 * grow, lint.case those that look wrong before they run; seeded.case the bugs
 * that kernels have had in the wild, by class, and correct.case kernels of
 * which no detector may say a word.  support/cases.h says how a case is
 * written; explain.case is read by test_explain.c.  At the top of a file stand
 *
 *   checks: LIST     the detectors that run
 *   least: N         there must be so many cases
 *   class: WORD ...  there must be a case whose name starts with that word
 *
 * Tensors that no text of an argument describes lie one after the other in a
 * pool, filled by zeros:
 *
 *   x=lent:f32[3,4]       and strides, x=lent:f32[3,4]/8,1
 *   x=fixed:f32[8]        read-only
 *   x=address:y+16        an i64 tensor that holds the address of y[16]
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkdbg/tkdbg.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MAX_TEXT = 1 << 13, POOL = 1 << 14 };

static case_file **files;
static int nfiles;
static const test_case **cases;

static const case_file *file_of(const test_case *c) {
  for (int i = 0; i < nfiles; i++)
    if (files[i]->name == c->file) return files[i];
  abort();
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

static bool give_arg(void *ud, tk_launch *l, const char *name,
                     const char *value, tk_status *st) {
  tk_tensor x;
  if (!strncmp(value, "lent:", 5))
    x = lend(ud, value + 5, 0);
  else if (!strncmp(value, "fixed:", 6))
    x = lend(ud, value + 6, TK_TENSOR_READONLY);
  else if (!strncmp(value, "address:", 8))
    x = address_of(l, ud, value + 8);
  else
    return false;
  *st = tk_launch_tensor(l, name, &x);
  return true;
}

static tk_status run_case(tk_session *s, const test_case *c) {
  tk_launch *l;
  pool p = {.used = 0};
  const char *checks = case_file_key(file_of(c), "checks");
  ck_assert_msg(checks != NULL, "%s: no checks:", c->file);
  tk_status st = tk_session_check(s, checks, NULL);
  if (st == TK_OK) st = case_launch(s, c, &l);
  if (st == TK_OK) st = case_arguments(l, c, give_arg, &p);
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

/* "KIND LINE PROGRAM" */
static void expects_finding(const test_case *c, const char *report,
                            const char *want) {
  char kind[32], program[64];
  int line, n = sscanf(want, "%31s %d %63[^\n]", kind, &line, program);
  ck_assert_msg(n == 3, "%s:%d: cannot read '%s'", c->file, c->line, want);
  ck_assert_msg(has_finding(report, kind, line, program),
                "%s:%d: %s: expected [%s] on line %d, program %s\nreport:\n%s",
                c->file, c->line, c->name, kind, line, program, report);
}

START_TEST(one_case) {
  const test_case *c = cases[_i];
  bool finds = c->wants[0].mark == '!', silent = c->wants[0].mark == '-';
  tk_session *s = tk_session_new();
  tk_status st = run_case(s, c);
  const char *report = tk_report(s, false);
  ck_assert_msg(st == (finds ? TK_FINDING : TK_OK), "%s:%d: %s: status %d\n%s",
                c->file, c->line, c->name, st, report);
  for (int i = 0; i < c->nwants; i++) {
    const case_want *want = &c->wants[i];
    ck_assert_msg(want->mark == c->wants[0].mark && (!silent || !*want->text),
                  "%s:%d: %s: what is said stands below ++ or !!", c->file,
                  c->line, c->name);
    if (*want->about) expects_finding(c, report, want->about);
    case_expects_lines(c, report, want->text);
  }
  if (silent)
    ck_assert_msg(!*report, "%s:%d: %s: %s", c->file, c->line, c->name, report);
  tk_session_free(s);
}
END_TEST

/* The files hold as many cases, and of as many classes, as they say. */
static void check_demand(const case_file *f, const char *key,
                         const char *value) {
  size_t n = strcspn(value, " ");
  int found = 0;
  bool class = !strcmp(key, "class");
  for (int i = 0; i < f->ncases; i++) {
    const char *name = f->cases[i].name;
    found += !class || (!strncmp(name, value, n) && strchr(" :", name[n]));
  }
  int least = class ? 1 : atoi(value);
  ck_assert_msg(found >= least, "%s: %d cases of '%s: %s'", f->name, found, key,
                value);
}

/* The file and key of demand i, counted over all files; false behind the
 * last. */
static bool demand(int i, const case_file **f, int *key) {
  for (int n = 0; n < nfiles; n++)
    for (int k = 0; k < files[n]->nkeys; k++) {
      *f = files[n], *key = k;
      if (strcmp((*f)->keys[k].key, "checks") != 0 && i-- == 0) return true;
    }
  return false;
}

START_TEST(enough_cases) {
  const case_file *f;
  int k;
  ck_assert(demand(_i, &f, &k));
  check_demand(f, f->keys[k].key, f->keys[k].value);
}
END_TEST

int main(void) {
  const case_file *f;
  int ncases, ndemands = 0, key;
  nfiles = case_files_read(__FILE__, "explain.case", &files, &cases, &ncases);
  while (demand(ndemands, &f, &key)) ndemands++;
  Suite *suite = suite_create("check");
  TCase *t = tcase_create("check");
  tcase_add_loop_test(t, one_case, 0, ncases);
  tcase_add_loop_test(t, enough_cases, 0, ndemands);
  suite_add_tcase(suite, t);
  int failed = run_suite(suite);
  case_files_free(files, nfiles, cases);
  return failed != 0 || ncases == 0;
}
