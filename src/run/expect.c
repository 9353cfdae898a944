/* expect.c - comparing tensors with what they should hold, after a run.
 */
#include "run/expect.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "diff/diff.h"
#include "interp/grid.h"
#include "launch/areas.h"
#include "launch/internal.h"
#include "report/report.h"

/* ---- the first run: who writes ------------------------------------------ */

static const tki_region *region_named(const tki *t, const char *name) {
  for (size_t i = 0; i < t->nregions; i++)
    if (t->regions[i].tensor && !strcmp(t->regions[i].name, name))
      return &t->regions[i];
  return NULL;
}

static void watch_writers(tkr_expecting *x, tki *t) {
  const tk_launch *l = x->launch;
  if (!x->writers) {
    x->writers = TK_NEWN(&x->arena, tke_writers, l->expected.n);
    x->elements = TK_NEWN(&x->arena, const char *, l->expected.n);
    for (; x->nwriters < l->expected.n; x->nwriters++)
      tke_writers_init(&x->writers[x->nwriters], t,
                       region_named(t, l->expected.items[x->nwriters].param));
  }
  for (size_t i = 0; i < x->nwriters; i++)
    tke_writers_attach(&x->writers[i], t);
}

static bool has_engine(const tk_launch *l) {
  return l->expected.n && l->expected.items[l->expected.n - 1].engine;
}

static void expecting_begins(void *ud, tki *t) {
  tkr_expecting *x = ud;
  x->t = t;
  if (!x->element) {
    watch_writers(x, t);
    return;
  }
  tke_explain_new(t, x->element, &x->explain);
  tke_explain_attach(x->explain);
}

/* ---- what differs ------------------------------------------------------- */

/* A tensor that is compared, with all that is known of it. */
typedef struct comparison {
  tki *t;
  tk_arena *answers;
  const tk_tensor *found, *expected;
  const tk_tensor *tensor; /* that the run wrote: one of the two, unless what
                              was found is a file's */
  const tke_writers *writers;
  tk_diff diff;
  tk_diff own;       /* found elsewhere: the same of what this run left */
  size_t at;         /* of the walk over wrong elements, or programs */
  uint8_t *programs; /* by index: 1 wrote something right, 2 something wrong */
} comparison;

static size_t position_of(const comparison *c, const int64_t *index) {
  const tki_region *r = c->writers->region;
  size_t at =
      (size_t)(tk_diff_at(c->tensor, index) - r->host) / c->writers->size;
  TK_ASSERT(at < c->writers->n);
  return at;
}

static const uint32_t *writers_by_element(comparison *c, tk_arena *a) {
  uint32_t *out = TK_NEWN(a, uint32_t, c->diff.n + 1);
  int64_t index[TK_MAX_RANK];
  for (size_t i = 0; i < c->diff.n; i++) {
    tk_check_step(a->env, i);
    tk_diff_index(&c->diff, i, index);
    out[i] = c->writers->program[position_of(c, index)];
  }
  return out;
}

static tk_lane lane_at(comparison *c, const tk_tensor *t,
                       const int64_t *index) {
  return tk_lane_shown(c->answers, &c->t->launch->text, t->dtype,
                       tk_diff_at(t, index));
}

/* What was expected, as the tensor's own type shows it. */
static tk_lane expected_at(comparison *c, const int64_t *index) {
  tk_dtype to = c->found->dtype, from = c->expected->dtype;
  if (to == TK_INT1) {
    char bit = tk_lane_double(from, tk_diff_at(c->expected, index)) != 0;
    return lane_at(c, &(tk_tensor){.data = &bit, .dtype = to}, index);
  }
  if (!tk_is_float(to) || !tk_is_float(from) || to == from)
    return lane_at(c, c->expected, index);
  char lane[8];
  tk_tensor rounded = {.data = lane, .dtype = to};
  tk_lane_set_double(to, lane,
                     tk_lane_double(from, tk_diff_at(c->expected, index)));
  return lane_at(c, &rounded, index);
}

static tk_mismatch mismatch_at(comparison *c, size_t element) {
  tk_mismatch m = {.error = tk_diff_error(&c->diff, element)};
  tk_diff_index(&c->diff, element, m.index);
  m.found = lane_at(c, c->found, m.index);
  m.expected = expected_at(c, m.index);
  uint32_t program = c->diff.writer[element];
  if (!program) return m;
  const tki_site_info *s =
      tki_site_at(c->t, c->writers->site[position_of(c, m.index)]);
  TK_ASSERT(s); /* the program that wrote it did so at a known place */
  m.written = true;
  tki_pid_of(c->t, program - 1, m.program);
  m.place = tk_place_of(s->func->src, s->inst->span);
  m.function = s->func->name;
  return m;
}

static bool next_wrong(void *ud, int64_t *index) {
  comparison *c = ud;
  if (c->at == c->diff.nwrong) return false;
  tk_diff_index(&c->diff, c->diff.list[c->at++], index);
  return true;
}

static bool next_wrong_program(void *ud, int64_t *pid) {
  comparison *c = ud;
  size_t n = (size_t)(c->t->grid[0] * c->t->grid[1] * c->t->grid[2]);
  while (c->at < n && !(c->programs[c->at] & 2)) c->at++;
  if (c->at == n) return false;
  tki_pid_of(c->t, c->at++, pid);
  return true;
}

static void find_programs(comparison *c, tk_arena *a, tk_difference *d) {
  const tki *t = c->t;
  size_t n = (size_t)(t->grid[0] * t->grid[1] * t->grid[2]);
  if (n > TK_DIFF_MOST) return;
  c->programs = TK_NEWN(a, uint8_t, n + 1);
  for (size_t i = 0; i < c->diff.n; i++)
    if (c->diff.writer[i])
      c->programs[c->diff.writer[i] - 1] |= c->diff.wrong[i] ? 2 : 1;
  TK_ASSERT(c->diff.writer); /* describe found out who wrote what */
  d->programs_whole = true;
  for (size_t i = 0; i < n; i++) {
    d->programs += c->programs[i] != 0;
    d->wrong_programs += c->programs[i] >> 1;
    if (c->programs[i] == 3) d->programs_whole = false;
  }
  c->at = 0;
  d->programs_exact = tk_diff_fold(c->answers, 3, t->grid, next_wrong_program,
                                   c, d->program_ranges, d->nprogram_ranges);
}

static size_t worst_of(const tk_diff *d) {
  TK_ASSERT(d->nwrong);
  size_t worst = d->list[0];
  for (size_t i = 1; i < d->nwrong; i++)
    if (tk_diff_error(d, d->list[i]) > tk_diff_error(d, worst))
      worst = d->list[i];
  return worst;
}

/* What this run left in the elements that were wrong elsewhere. */
static void describe_here(comparison *c, tk_arena *a, tk_difference *d) {
  tk_diff same;
  tk_diff_make(&c->own, a, c->tensor, c->expected, c->diff.tolerance);
  tk_diff_make(&same, a, c->tensor, c->found, (tk_diff_tolerance){0, 0, 0});
  for (size_t i = 0; i < c->diff.nwrong; i++) {
    d->here_right += !c->own.wrong[c->diff.list[i]];
    d->here_same += !same.wrong[c->diff.list[i]];
  }
}

static void describe(comparison *c, tk_arena *a, tk_difference *d) {
  tk_diff *x = &c->diff;
  x->writer = writers_by_element(c, a);
  for (size_t i = 0; i < x->nwrong; i++) {
    d->unwritten += !x->writer[x->list[i]];
    d->not_finite += !isfinite(x->found[x->list[i]]);
  }
  c->at = 0;
  d->exact = tk_diff_fold(c->answers, x->rank, x->shape, next_wrong, c,
                          d->ranges, d->nranges);
  find_programs(c, a, d);
  size_t n;
  const tk_pattern *found = tk_diff_patterns(x, &n);
  tk_pattern *kept = TK_NEWN(c->answers, tk_pattern, n + 1);
  for (size_t i = 0; i < n; i++) {
    kept[i] = found[i];
    if (kept[i].kind == TK_PATTERN_ROUNDED)
      d->tf32 = tke_explain_tf32(c->t->program);
  }
  d->patterns = kept;
  d->npatterns = n;
  d->is_wrong = memcpy(TK_NEWN(c->answers, uint8_t, x->n), x->wrong, x->n);
  d->writer = memcpy(TK_NEWN(c->answers, uint32_t, x->n), x->writer,
                     x->n * sizeof *x->writer);
  memcpy(d->grid, c->t->grid, sizeof d->grid);
  TK_ASSERT(x->nwrong); /* only such differences are described */
  if (d->elsewhere) describe_here(c, a, d);
  d->first = mismatch_at(c, x->list[0]);
  d->worst = mismatch_at(c, worst_of(x));
}

/* The first wrong element; found elsewhere, the first that is wrong here
 * too. */
static size_t wrong_to_explain(const comparison *c, const tk_difference *d) {
  size_t i = 0;
  while (d->elsewhere && !c->own.wrong[c->diff.list[i]]) i++;
  return c->diff.list[i];
}

/* The element to explain, as text: the first wrong one, or if no program wrote
 * that, the nearest one that a program did; NULL: there is none. */
static const char *element_to_explain(const comparison *c, tk_arena *a,
                                      tk_difference *d) {
  const uint32_t *writer = c->diff.writer;
  TK_ASSERT(writer && c->diff.nwrong);
  size_t wrong = wrong_to_explain(c, d), at = wrong, up = wrong;
  while (at && !writer[at]) at--;
  while (!writer[at] && up < c->diff.n && !writer[up]) up++;
  if (!writer[at]) at = up;
  if (at == c->diff.n) return NULL;
  d->explained_nearest = at != wrong;
  int64_t index[TK_MAX_RANK];
  char *text = tk_arena_strdup(a, d->tensor);
  tk_diff_index(&c->diff, at, index);
  for (int i = 0; i < d->rank; i++)
    text = tk_arena_printf(a, "%s%s%" PRId64, text, i ? "," : "[", index[i]);
  return d->rank ? tk_arena_printf(a, "%s]", text) : text;
}

/* How far apart the lanes are, whatever is tolerated. */
static void measure_errors(const comparison *c, tk_difference *d) {
  const tk_diff *x = &c->diff;
  double squares = 0;
  for (size_t i = 0; i < x->n; i++) {
    tk_check_step(x->arena->env, i);
    double error = tk_diff_error(x, i), size = fabs(x->expected[i]);
    if (isfinite(size)) squares += size * size;
    if (tk_diff_is_equal(x, i)) continue;
    uint64_t ulp = tk_diff_distance(x, c->found, c->expected, i);
    d->unequal++;
    if (error > d->absolute) d->absolute = error, d->ulp_of_most = ulp;
    if (size > 0 && error / size > d->relative) d->relative = error / size;
    if (ulp > d->ulp) d->ulp = ulp;
  }
  d->size = x->n ? sqrt(squares / (double)x->n) : 0;
}

/* 1 + the index of the program that wrote the first element that differs, if
 * possible a wrong one; 0 if no program did. */
static uint32_t differing_of(const comparison *c) {
  const tk_diff *x = &c->diff;
  int64_t index[TK_MAX_RANK];
  size_t first = x->nwrong ? x->list[0] : 0;
  while (!x->nwrong && first + 1 < x->n && tk_diff_is_equal(x, first)) first++;
  tk_diff_index(x, first, index);
  return c->writers->program[position_of(c, index)];
}

static tk_diff_tolerance tolerate(const tk_expected *e, tk_dtype type,
                                  tk_difference *d) {
  tk_diff_tolerance t = tk_diff_usual_tolerance(type);
  d->given = e->rtol >= 0 || e->atol >= 0 || e->ulp > 0;
  if (e->engine) t = (tk_diff_tolerance){0, 0, 0};
  if (e->ulp > 0) t.ulp = (uint64_t)e->ulp;
  if (e->rtol >= 0) t.rtol = e->rtol;
  if (e->atol >= 0) t.atol = e->atol;
  d->rtol = t.rtol;
  d->atol = t.atol;
  d->ulps = t.ulp;
  return t;
}

/* What another engine left is judged by what is exact, if the kernel may
 * round. */
static void judge(tkr_expecting *x, comparison *c, const tkr_judged *by,
                  tk_difference *d) {
  tk_diff_judged(&c->diff, &x->arena, c->found, c->expected, by->wrong);
  d->judged = true;
  d->weak = by->weak;
  d->own_error = by->own;
  d->error_bound = by->bound;
  d->engine_error = by->other;
  d->all_wrong = by->all_wrong;
}

/* What another engine left is what may be wrong: it is looked at beside what
 * this run left. */
static void compare(tkr_expecting *x, size_t i) {
  tk_launch *l = x->launch;
  const tk_expected *e = &l->expected.items[i];
  const tk_tensor *tensor = x->writers[i].region->tensor;
  tk_difference d = {.tensor = e->param,
                     .rank = tensor->rank,
                     .engine = e->engine,
                     .elsewhere = e->where};
  memcpy(d.shape, tensor->shape, sizeof d.shape);
  comparison c = {.t = x->t,
                  .answers = &l->answers,
                  .tensor = tensor,
                  .found = e->engine  ? &e->lanes
                           : e->where ? &e->got
                                      : tensor,
                  .expected = e->engine ? tensor : &e->lanes,
                  .writers = &x->writers[i]};
  tk_diff_tolerance tolerance = tolerate(e, tensor->dtype, &d);
  for (size_t k = 0; k < x->writers[i].n; k++)
    d.written += x->writers[i].program[k] != 0;
  if (e->engine && x->judged)
    judge(x, &c, &x->judged[i - x->first_judged], &d);
  else
    tk_diff_make(&c.diff, &x->arena, c.found, c.expected, tolerance);
  d.total = c.diff.n;
  d.wrong = c.diff.nwrong;
  if (c.found->dtype == c.expected->dtype) measure_errors(&c, &d);
  if (d.unequal && e->engine) {
    x->differs = true;
    if (!x->differing) x->differing = differing_of(&c);
  }
  x->elements[i] = NULL;
  if (d.wrong) {
    describe(&c, &x->arena, &d);
    if (d.here_right < d.wrong)
      x->elements[i] = element_to_explain(&c, &x->arena, &d);
  }
  TK_PUSH(&l->answers, &l->differences, d);
}

static void expecting_ends(void *ud, tki *t, tk_status st) {
  tkr_expecting *x = ud;
  if (x->t != t || st != TK_OK) return;
  if (!x->element) {
    for (size_t i = 0; i < x->nwriters; i++) compare(x, i);
    return;
  }
  tk_launch *l = x->launch;
  const tke_target *target = tke_explain_targets(x->explain);
  TK_ASSERT(target && x->asked < l->differences.n);
  tk_explanation *found = TK_NEW(&l->answers, tk_explanation);
  *found = tke_explain_found(x->explain, &l->answers, target);
  l->differences.items[x->asked].explanation = found;
}

/* ---- the second run: why ------------------------------------------------ */

/* Runs the launch as before, but watched by nobody else. */
static tk_status run_again(tkr_expecting *x, tkr_run_fn run,
                           const tk_run_options *options) {
  tk_session *s = x->launch->session;
  tk_watcher *others = s->watchers;
  tk_output_fn output = s->output;
  size_t diags = s->env.ndiags;
  tk_run_options again = *options;
  tk_summary unused = {0};
  again.progress = NULL;
  x->watcher.next = NULL;
  s->watchers = &x->watcher;
  s->output = NULL;
  x->t = NULL;
  tk_status st = run(x->launch, &again, &unused);
  s->output = output;
  s->watchers = others;
  tke_explain_free(&s->env, x->explain);
  x->explain = NULL;
  if (st == TK_FINDING) tk_diag_truncate(&s->env, diags);
  return st == TK_FINDING ? TK_OK : st;
}

static void write_differences(tk_env *e, void *ud) {
  const tk_launch *l = ud;
  tk_session *s = l->session;
  tk_buf b;
  tk_buf_init(&b, e);
  if (has_engine(l))
    tk_buf_printf(&b,
                  "%s, grid (%" PRId64 ", %" PRId64 ", %" PRId64
                  "): '%s' beside the interpreter\n",
                  l->fn->item->name, l->grid[0], l->grid[1], l->grid[2],
                  l->expected.items[l->expected.n - 1].engine);
  for (size_t i = 0; i < l->differences.n; i++)
    tk_report_difference(&b, &l->differences.items[i], TK_REPORT_LINES);
  if (b.n) s->output(s->output_ud, b.s, b.n);
  tk_buf_free(&b);
}

tk_status tkr_expect_begin(tkr_expecting *x, tk_launch *l) {
  tk_session *s = l->session;
  *x = (tkr_expecting){.launch = l};
  tk_arena_init(&x->arena, &s->env);
  if (!l->expected.n) return TK_OK;
  x->watcher = (tk_watcher){.next = s->watchers,
                            .ud = x,
                            .begin = expecting_begins,
                            .end = expecting_ends};
  s->watchers = &x->watcher;
  return tkr_memory_keep(&x->memory, l, &x->arena);
}

tk_status tkr_expect_end(tkr_expecting *x, tk_status st, tkr_run_fn run,
                         const tk_run_options *options) {
  tk_launch *l = x->launch;
  tk_session *s = l->session;
  if (!l->expected.n) return st;
  s->watchers = x->watcher.next;
  for (size_t i = 0; i < l->differences.n && st == TK_OK; i++) {
    x->asked = i;
    x->element = x->elements[i];
    if (!x->element) continue;
    tkr_memory_put_back(&x->memory);
    st = run_again(x, run, options);
  }
  if (st == TK_OK && l->differences.n && s->output && !options->silent_answers)
    st = tk_session_guard(s, write_differences, l);
  for (size_t i = 0; i < x->nwriters; i++) tke_writers_free(&x->writers[i]);
  tk_arena_free(&x->arena);
  return st;
}
