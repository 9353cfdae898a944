/* ptx_case.c - runs a kernel by its source and by its PTX, and compares. */
#include "support/ptx_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "launch/internal.h"
#include "support/assertions.h"

enum { MOST = 32 };

typedef struct side {
  tk_session *s;
  tk_launch *l;
} side;

char *read_whole_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s is missing", path);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(*size + 1);
  ck_assert_uint_eq(fread(text, 1, *size, f), *size);
  text[*size] = '\0';
  fclose(f);
  return text;
}

static void check_status(const side *x, tk_status st, const char *what) {
  if (st != TK_OK) ck_abort_msg("%s: %s", what, tk_report(x->s, false));
}

static void add_args(const side *x, const char *args) {
  char *copy = strdup(args), *rest = copy, *word;
  while ((word = strsep(&rest, " ")))
    if (*word) check_status(x, tk_launch_arg_text(x->l, word), word);
  free(copy);
}

static side make_side(const ptx_case *c) {
  side x = {.s = tk_session_new()};
  tk_module *m;
  tk_function *f;
  size_t size;
  char *text = read_whole_file(c->source, &size);
  check_status(&x, tk_module_open(x.s, c->source, text, size, &m), "open");
  check_status(&x, tk_function_named(m, c->kernel, &f), c->kernel);
  check_status(&x, tk_launch_new(x.s, f, &x.l), "launch");
  add_args(&x, c->args);
  add_args(&x, c->consts);
  check_status(&x, tk_launch_grid_text(x.l, c->grid), c->grid);
  free(text);
  return x;
}

static size_t bytes_of(const tk_tensor *t) {
  size_t n = tk_dtypes[t->dtype].size;
  for (int i = 0; i < t->rank; i++) n *= (size_t)t->shape[i];
  return n;
}

/* The PTX's parameters, in the order of the arguments. */
typedef struct params {
  uint64_t values[MOST];
  const void *pointers[MOST];
  tkp_range ranges[MOST];
  char names[MOST][64];
  size_t n, nranges;
} params;

static void add_param(params *p, const side *x, char *word) {
  char *value = strchr(word, '=');
  snprintf(p->names[p->n], sizeof p->names[0], "%.*s", (int)(value - word),
           word);
  const tk_tensor *t = tk_launch_get_tensor(x->l, p->names[p->n]);
  if (t) {
    p->values[p->n] = (uint64_t)(uintptr_t)t->data;
    p->ranges[p->nranges++] =
        (tkp_range){p->values[p->n], bytes_of(t), p->names[p->n], true, NULL};
  } else if (strchr(value, '.')) {
    float f = strtof(value + 1, NULL);
    memcpy(&p->values[p->n], &f, sizeof f);
  } else {
    p->values[p->n] = (uint64_t)strtoll(value + 1, NULL, 0);
  }
  p->pointers[p->n] = &p->values[p->n];
  p->n++;
}

static void gather_params(params *p, const ptx_case *c, const side *x) {
  char *copy = strdup(c->args), *rest = copy, *word;
  memset(p, 0, sizeof *p);
  while ((word = strsep(&rest, " ")))
    if (*word) add_param(p, x, word);
  free(copy);
  for (int i = 0; i < c->extra; i++, p->n++)
    p->pointers[p->n] = &p->values[p->n];
}

static void run_ptx(tk_arena *a, const ptx_case *c, const side *x,
                    tkp_summary *sum) {
  size_t size;
  char *text = read_whole_file(c->ptx, &size);
  tkp_program *p = tkp_parse(a, c->ptx, text, size);
  tkp_entry_info info;
  params ps;
  free(text);
  ck_assert(tkp_entry(p, 0, &info));
  gather_params(&ps, c, x);
  tkp_launch l = {.params = ps.pointers,
                  .nparams = ps.n,
                  .ranges = ps.ranges,
                  .nranges = ps.nranges,
                  .dynamic_shared = c->shared,
                  .unchecked = getenv("PTX_UNCHECKED") != NULL,
                  .steps = UINT64_C(4000000000)};
  unsigned grid[3] = {1, 1, 1};
  sscanf(c->grid, "%u,%u,%u", &grid[0], &grid[1], &grid[2]);
  for (int i = 0; i < 3; i++) {
    l.grid[i] = grid[i];
    l.block[i] = info.threads[i] ? info.threads[i] : 1;
  }
  tkp_run(p, &l, sum);
}

typedef struct protected_run {
  tk_arena *a;
  const ptx_case *c;
  const side *x;
  tkp_summary *sum;
} protected_run;

static void run_protected(tk_env *e, void *ud) {
  const protected_run *r = ud;
  (void)e;
  run_ptx(r->a, r->c, r->x, r->sum);
}

static void compare(const ptx_case *c, const tk_tensor *want,
                    const tk_tensor *got, const char *name) {
  size_t each = tk_dtypes[want->dtype].size, n = bytes_of(want) / each;
  const char *a = want->data, *b = got->data;
  double most = 0;
  for (size_t i = 0; i < n && tk_is_float(want->dtype); i++) {
    double v = fabs(tk_lane_double(want->dtype, a + i * each));
    if (isfinite(v) && v > most) most = v;
  }
  for (size_t i = 0; i < n; i++) {
    if (!memcmp(a + i * each, b + i * each, each)) continue;
    double x = tk_lane_double(want->dtype, a + i * each);
    double y = tk_lane_double(want->dtype, b + i * each);
    bool nan = x != x && y != y;
    if (!nan && !(fabs(x - y) <= c->tolerance * most))
      ck_abort_msg("%s: %s[%zu] is %.9g by the PTX, not %.9g", c->kernel, name,
                   i, y, x);
  }
}

char *run_ptx_case(const ptx_case *c, tkp_summary *sum) {
  side ours = make_side(c), theirs = make_side(c);
  tk_run_options options = {.size = sizeof options};
  tk_summary unused;
  tk_arena arena;
  params ps;
  check_status(&ours, tk_launch_run(ours.l, &options, &unused), "run");
  tk_arena_init(&arena, &theirs.s->env);
  protected_run r = {&arena, c, &theirs, sum};
  tk_protect(&theirs.s->env, run_protected, &r);
  char *report =
      strdup(tk_report_count(theirs.s) ? tk_report(theirs.s, false) : "");
  gather_params(&ps, c, &ours);
  for (size_t i = 0; i < ps.n && !*report; i++)
    if (*ps.names[i] && tk_launch_get_tensor(ours.l, ps.names[i]))
      compare(c, tk_launch_get_tensor(ours.l, ps.names[i]),
              tk_launch_get_tensor(theirs.l, ps.names[i]), ps.names[i]);
  tk_report_clear(theirs.s);
  tk_arena_free(&arena);
  tk_session_free(ours.s);
  tk_session_free(theirs.s);
  return report;
}
