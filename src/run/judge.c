/* judge.c - how far another engine's results may be from the exact ones. */
#include "run/judge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/index.h"
#include "diff/diff.h"
#include "interp/check/twin.h"
#include "ir/inst.h"
#include "ir/lanes.h"
#include "ir/ir.h"

enum { RUNS = 4 }; /* that are disturbed */

/* A tensor while the runs go on. */
typedef struct sample {
  const tk_expected *expected;
  tk_dtype dtype;
  int rank;
  int64_t shape[TK_MAX_RANK];
  size_t n;
  /* By element: what the other engine left, what is exact, the largest error
   * so far and the sum of squares of all. */
  double *found, *exact, *most, *squares;
  uint8_t *same, *kept; /* ... the engine left the same; it is as it was */
  double own, largest;  /* mean squares of errors: the interpreter's, and the
                           largest of a disturbed run */
  double other;         /* ... and the engine's */
} sample;

typedef struct judging {
  tk_launch *launch;
  tk_arena *arena;
  const tkr_memory *before;
  tk_watcher watcher;
  sample *samples;
  size_t n;
  uint64_t seed; /* of this run; 0: the exact one */
  tkc_twin *twin;
  bool rounds;  /* the kernel has an operation that may round */
  bool differs; /* the other engine left something else */
} judging;

/* ---- kernels that leave no choice ---------------------------------------- */

/* Whether every engine gives the same bits: the result is one that the
 * operands hold, or is rounded to the nearest. */
static bool is_exact(const tk_inst *in) {
  static const tk_binary defined[] = {TK_B_ADD,    TK_B_SUB, TK_B_MUL,
                                      TK_B_MIN,    TK_B_MAX, TK_B_MIN_NAN,
                                      TK_B_MAX_NAN};
  tk_lanes lanes = tk_inst_lanes(in);
  if (in->op == TK_I_BINARY) {
    for (size_t i = 0; i < TK_COUNT(defined); i++)
      if (tk_binary_op(in) == defined[i]) return true;
    return false;
  }
  if (in->op == TK_I_UNARY)
    return tk_unary_op(in) == TK_U_NEG || tk_unary_op(in) == TK_U_ABS;
  return in->op != TK_I_EXTERN && in->op != TK_I_ASM && in->op != TK_I_ATOMIC &&
         (lanes == TK_LANES_SAME || lanes == TK_LANES_MOVES ||
          lanes == TK_LANES_NONE || lanes == TK_LANES_GATHERS ||
          lanes == TK_LANES_SORTS);
}

typedef struct rounding {
  bool approximate;
  bool multiplies, adds; /* which may be contracted */
} rounding;

static bool see_inst(void *ud, const tk_at *at, const tk_inst *in) {
  rounding *r = ud;
  (void)at;
  tk_dtype d = (tk_dtype)in->type.elem;
  bool atomic = in->op == TK_I_ATOMIC && tk_atomic_op(in) == TK_A_ADD;
  if (in->type.ptr || !tk_is_float(d) || (!in->nres && !atomic)) return true;
  r->approximate |= !is_exact(in);
  if (in->op != TK_I_BINARY) return true;
  r->multiplies |= tk_binary_op(in) == TK_B_MUL;
  r->adds |= tk_binary_op(in) == TK_B_ADD || tk_binary_op(in) == TK_B_SUB;
  return true;
}

static bool may_round(const tk_program *p) {
  rounding r = {false, false, false};
  tk_walk walk = {.ud = &r, .inst = see_inst};
  tk_walk_program(p, &walk);
  return r.approximate || (r.multiplies && r.adds);
}

/* ---- runs ---------------------------------------------------------------- */

static const tki_region *region_of(const tki *t, const char *name) {
  for (size_t i = 0; i < t->nregions; i++)
    if (t->regions[i].tensor && !strcmp(t->regions[i].name, name))
      return &t->regions[i];
  return NULL;
}

static double number_at(tk_dtype d, const char *at) {
  return tk_is_float(d) ? tk_lane_double(d, at) : (double)tk_lane_int(d, at);
}

/* What memory held before the run; NULL: that is not kept. */
static const char *before_of(const tkr_memory *m, const char *at) {
  for (size_t i = 0; i < m->n; i++) {
    const tkr_kept *k = &m->items[i];
    if (at >= k->at && at < k->at + k->n) return k->before + (at - k->at);
  }
  return NULL;
}

static bool is_same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

/* The square of an error; where there is no number, none is counted. */
static double square(double error) {
  return isfinite(error) ? error * error : 0;
}

/* The exact run tells what an element should be. */
static void see_exact(judging *x, sample *s, size_t i, const char *at,
                      const char *other, double error) {
  const char *before = before_of(x->before, at);
  double own = number_at(s->dtype, at);
  s->found[i] = number_at(s->dtype, other);
  s->exact[i] = own + error;
  s->same[i] = is_same(own, s->found[i]);
  s->kept[i] = before && !memcmp(before, at, tk_dtype_size(s->dtype));
  s->most[i] = isfinite(error) ? fabs(error) : 0;
  s->squares[i] = square(error);
  s->own += square(error) / (double)s->n;
  s->other += square(s->found[i] - s->exact[i]) / (double)s->n;
  x->differs |= !s->same[i];
}

/* A disturbed run tells how far it may be off; returns the square of that. */
static double see_disturbed(sample *s, size_t i, const char *at, double error) {
  double off = number_at(s->dtype, at) + error - s->exact[i];
  if (isfinite(off)) s->most[i] = fmax(s->most[i], fabs(off));
  s->squares[i] += square(off);
  return square(off);
}

/* Bytes that programs stored as numbers of a wider type, such as those of
 * tensors reached through memory, are seen as that type. */
static void see_bytes(judging *x, sample *s, const tki_region *r) {
  const tk_tensor *t = r->tensor;
  if (tk_dtype_size(s->dtype) != 1 || s->rank != 1 || t->strides[0] != 1)
    return;
  tk_dtype stored = tkc_twin_stored(x->twin, r->lo, r->hi);
  if (stored == TK_DTYPE_COUNT || s->n % tk_dtype_size(stored)) return;
  s->n /= tk_dtype_size(stored);
  s->shape[0] = (int64_t)s->n;
  s->dtype = stored;
}

static void see_tensor(judging *x, tki *t, sample *s) {
  const tki_region *r = region_of(t, s->expected->param);
  tk_tensor other = s->expected->lanes;
  int64_t index[TK_MAX_RANK];
  double sum = 0;
  TK_ASSERT(r); /* it is compared */
  if (!x->seed) see_bytes(x, s, r);
  tk_tensor own = *r->tensor;
  own.dtype = other.dtype = s->dtype;
  for (size_t i = 0; i < s->n; i++) {
    tk_check_step(x->arena->env, i);
    tk_split_index(s->shape, s->rank, i, index);
    const char *at = tk_diff_at(&own, index);
    double error = tkc_twin_error(x->twin, r->lo + (uint64_t)(at - r->host),
                                  tk_dtype_size(s->dtype));
    if (x->seed)
      sum += see_disturbed(s, i, at, error) / (double)s->n;
    else
      see_exact(x, s, i, at, tk_diff_at(&other, index), error);
  }
  s->largest = fmax(s->largest, sum);
}

static void run_begins(void *ud, tki *t) {
  judging *x = ud;
  x->rounds = may_round(t->program);
  x->twin = tkc_twin_new(x->arena, t, x->seed);
}

static void run_ends(void *ud, tki *t, tk_status st) {
  judging *x = ud;
  for (size_t i = 0; st == TK_OK && i < x->n; i++)
    see_tensor(x, t, &x->samples[i]);
}

static tk_status run_beside(judging *x, uint64_t seed, tkr_run_fn run,
                            const tk_run_options *options) {
  tk_env *e = &x->launch->session->env;
  size_t diags = e->ndiags;
  x->watcher = (tk_watcher){.ud = x, .begin = run_begins, .end = run_ends};
  x->seed = seed;
  x->twin = NULL;
  tk_status st = tkr_run_watched(x->launch, run, options, &x->watcher);
  if (x->twin) tkc_twin_free(x->twin);
  tkr_memory_put_back(x->before);
  if (st == TK_FINDING) tk_diag_truncate(e, diags);
  return st;
}

/* ---- what follows from them ---------------------------------------------- */

/* Mean squares of the errors of elements that have some. */
typedef struct mean {
  double sum;
  size_t n;
} mean;

static void add_to(mean *m, double squares) {
  if (squares == 0) return;
  m->sum += squares / (RUNS + 1);
  m->n++;
}

static double root_of(const mean *m) {
  return m->n ? sqrt(m->sum / (double)m->n) : 0;
}

/* Errors by row, by column, of all, and by the size of the number: an element
 * that was lucky in each run is judged by those like it. */
typedef struct pool {
  size_t columns;
  mean *row, *column, all;
  mean size[DBL_MAX_EXP - DBL_MIN_EXP + 2];
} pool;

static size_t size_class(double x) {
  int e = DBL_MIN_EXP;
  if (isfinite(x)) frexp(x, &e);
  if (x == 0 || e < DBL_MIN_EXP) e = DBL_MIN_EXP;
  return (size_t)(e - DBL_MIN_EXP);
}

static pool *pool_of(const sample *s, tk_arena *a) {
  pool *p = TK_NEW(a, pool);
  memset(p, 0, sizeof *p);
  p->columns = s->rank ? (size_t)s->shape[s->rank - 1] : 1;
  size_t rows = p->columns ? s->n / p->columns : 0;
  p->row = TK_NEWN(a, mean, rows + 1);
  p->column = TK_NEWN(a, mean, p->columns + 1);
  for (size_t i = 0; i < s->n; i++) {
    tk_check_step(a->env, i);
    double x = s->squares[i];
    add_to(&p->row[i / p->columns], x);
    add_to(&p->column[i % p->columns], x);
    add_to(&p->all, x);
    add_to(&p->size[size_class(s->exact[i])], x);
  }
  return p;
}

/* No element is so lucky that each of its errors is that many times smaller
 * than those around it. */
#define LUCK 30

/* The error that is usual where an element lies.  In a product of matrices the
 * errors grow with the row's size times the column's. */
static double usual_error(const pool *p, const sample *s, size_t i) {
  double size = root_of(&p->size[size_class(s->exact[i])]);
  double row = root_of(&p->row[i / p->columns]);
  double column = root_of(&p->column[i % p->columns]), all = root_of(&p->all);
  if (all == 0 || p->columns == 1 || p->columns == s->n) return size;
  double around = fmin(fmax(row, column), row * column / all);
  return fmax(size, fmin(around, LUCK * s->most[i]));
}

/* A unit of the tensor's own type, or the next integer. */
static double least_error(const sample *s, size_t i) {
  if (!tk_is_float(s->dtype)) return 1;
  double smallest = s->dtype == TK_FP64 ? DBL_MIN : FLT_MIN;
  return ldexp(fabs(s->exact[i]), -tk_float_digits(s->dtype)) + smallest;
}

/* The largest of several errors is about that many times the usual one. */
#define LARGEST 1.5

static double *allowed_of(const sample *s, tk_arena *a) {
  double *allowed = TK_NEWN(a, double, s->n + 1);
  const pool *p = pool_of(s, a);
  bool whole = !tk_is_float(s->dtype);
  for (size_t i = 0; i < s->n; i++) {
    if (s->kept[i] && s->most[i] == 0) continue;
    double usual = whole ? 0 : fmax(s->most[i] / LARGEST, usual_error(p, s, i));
    allowed[i] = least_error(s, i) + (whole ? s->most[i] : TKR_FACTOR * usual);
  }
  return allowed;
}

static double root_mean_square(tk_arena *a, const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    tk_check_step(a->env, i);
    if (isfinite(x[i])) sum += x[i] * x[i];
  }
  return n ? sqrt(sum / (double)n) : 0;
}

/* The root of the mean square of errors may be twice that of a run, and more
 * where there are few elements.  A few integers may be off by one whatever the
 * runs show. */
static double bound_of(const sample *s, double size) {
  double n = (double)s->n, most = sqrt(fmax(s->own, s->largest));
  if (s->n == 0) return 0;
  double bound = most * (2 + (TKR_FACTOR - 2) / sqrt(n));
  if (!tk_is_float(s->dtype)) return hypot(bound, sqrt((3 + n / 1000) / n));
  return bound + ldexp(size, -3 - tk_float_digits(s->dtype)) + FLT_MIN;
}

/* Whether an element is wrong: it is off by more than it may be.  Numbers that
 * are not finite must be the same. */
static bool is_wrong(const sample *s, size_t i, double allowed) {
  if (s->same[i]) return false;
  double off = fabs(s->found[i] - s->exact[i]);
  return !isfinite(off) || off > allowed;
}

/* Elements as the tensor has them: bytes, where those were seen as numbers. */
static const uint8_t *by_element(const sample *s, const uint8_t *wrong,
                                 tk_arena *a) {
  const tk_tensor *t = &s->expected->lanes;
  size_t size = tk_dtype_size(s->dtype);
  if (t->dtype == s->dtype) return wrong;
  uint8_t *bytes = TK_NEWN(a, uint8_t, s->n * size + 1);
  for (size_t i = 0; i < s->n; i++) memset(bytes + i * size, wrong[i], size);
  return bytes;
}

static tkr_judged judged_of(const sample *s, tk_arena *a) {
  tkr_judged j = {.own = sqrt(s->own), .other = sqrt(s->other)};
  double *allowed = allowed_of(s, a);
  uint8_t *wrong = TK_NEWN(a, uint8_t, s->n + 1);
  j.size = root_mean_square(a, s->exact, s->n);
  j.bound = bound_of(s, j.size);
  j.all_wrong = j.other > j.bound;
  for (size_t i = 0; i < s->n; i++) {
    tk_check_step(a->env, i);
    double most = j.all_wrong ? fmin(allowed[i], j.bound) : allowed[i];
    wrong[i] = is_wrong(s, i, most);
  }
  j.wrong = by_element(s, wrong, a);
  double most = root_mean_square(a, allowed, s->n);
  j.weak = tk_is_float(s->dtype) && most > TKR_WEAK * j.size;
  return j;
}

/* ---- the whole ----------------------------------------------------------- */

static void find_samples(judging *x, size_t first) {
  const tk_launch *l = x->launch;
  x->n = l->expected.n - first;
  x->samples = TK_NEWN(x->arena, sample, x->n + 1);
  for (size_t i = 0; i < x->n; i++) {
    sample *s = &x->samples[i];
    s->expected = &l->expected.items[first + i];
    const tk_tensor *t = &s->expected->lanes;
    s->dtype = t->dtype;
    s->rank = t->rank;
    memcpy(s->shape, t->shape, sizeof s->shape);
    s->n = 1;
    for (int k = 0; k < s->rank; k++) s->n *= (size_t)s->shape[k];
    s->found = TK_NEWN(x->arena, double, s->n + 1);
    s->exact = TK_NEWN(x->arena, double, s->n + 1);
    s->most = TK_NEWN(x->arena, double, s->n + 1);
    s->same = TK_NEWN(x->arena, uint8_t, s->n + 1);
    s->squares = TK_NEWN(x->arena, double, s->n + 1);
    s->kept = TK_NEWN(x->arena, uint8_t, s->n + 1);
  }
}

typedef struct asking {
  judging *judging;
  size_t first;
  tkr_judged *out;
} asking;

static void begin_judging(tk_env *e, void *ud) {
  asking *q = ud;
  (void)e;
  find_samples(q->judging, q->first);
}

static void end_judging(tk_env *e, void *ud) {
  asking *q = ud;
  judging *x = q->judging;
  (void)e;
  q->out = TK_NEWN(x->arena, tkr_judged, x->n + 1);
  for (size_t i = 0; i < x->n; i++)
    q->out[i] = judged_of(&x->samples[i], x->arena);
}

tk_status tkr_judge(tk_launch *l, size_t first, const tkr_memory *before,
                    tk_arena *a, tkr_run_fn run, const tk_run_options *options,
                    const tkr_judged **out) {
  judging x = {.launch = l, .arena = a, .before = before};
  asking q = {&x, first, NULL};
  *out = NULL;
  tk_status st = tk_session_guard(l->session, begin_judging, &q);
  if (st == TK_OK) st = run_beside(&x, 0, run, options);
  /* What fails here fails once more, where it is reported. */
  if (st == TK_FINDING) return TK_OK;
  if (st != TK_OK || !x.rounds || !x.differs) return st;
  for (uint64_t seed = 1; seed <= RUNS && st == TK_OK; seed++)
    st = run_beside(&x, seed, run, options);
  if (st == TK_OK) st = tk_session_guard(l->session, end_judging, &q);
  *out = q.out;
  return st;
}
