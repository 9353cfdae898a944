/* pattern.c - what wrong elements have in common.
 *
 * Each finder says whether one pattern of pattern.def holds for (nearly) all
 * wrong elements, and with which numbers.  Two values are taken for the same
 * where the comparison would take them so, or where they differ by rounding
 * alone.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SORTED = 1 << 22, MOST_TRIED = 8 };

/* the share of wrong elements that a pattern must hold for */
static const double share = 0.95;
static const double same = 1e-4; /* relative error of rounding */

static bool agrees(const tk_diff *d, double found, double expected) {
  double room =
      d->tolerance.atol + fmax(d->tolerance.rtol, same) * fabs(expected);
  return found == expected || fabs(found - expected) <= room ||
         (isnan(found) && isnan(expected));
}

static bool is_most(size_t hits, size_t tried) {
  return tried > 0 && (double)hits >= share * (double)tried;
}

static size_t stride_of(const tk_diff *d, int axis) {
  size_t n = 1;
  for (int i = d->rank; i-- > axis + 1;) n *= (size_t)d->shape[i];
  return n;
}

static size_t index_along(const tk_diff *d, size_t element, int axis) {
  TK_ASSERT(axis < d->rank && element < d->n);
  return element / stride_of(d, axis) % (size_t)d->shape[axis];
}

/* ---- of the values ------------------------------------------------------- */

static bool find_unwritten(const tk_diff *d, tk_pattern *p) {
  (void)p;
  for (size_t i = 0; i < d->nwrong; i++)
    if (!d->writer || d->writer[d->list[i]]) return false;
  return true;
}

static bool find_not_finite(const tk_diff *d, tk_pattern *p) {
  size_t hits = 0;
  (void)p;
  for (size_t i = 0; i < d->nwrong; i++)
    hits += !isfinite(d->found[d->list[i]]);
  return is_most(hits, d->nwrong);
}

static bool find_constant(const tk_diff *d, tk_pattern *p) {
  p->least = d->found[d->list[0]];
  for (size_t i = 0; i < d->nwrong; i++)
    if (d->found[d->list[i]] != p->least) return false;
  return d->nwrong > 1;
}

static int by_value(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
  return (a > b) - (a < b);
}

/* The median of numbers, which it sorts. */
static double median_of(double *x, size_t n) {
  qsort(x, n, sizeof *x, by_value);
  return n ? x[n / 2] : 0;
}

/* found / expected of the wrong elements, where that says something; *n gets
 * how many. */
static double *factors(const tk_diff *d, size_t from, size_t to, size_t *n) {
  double *out = TK_NEWN(d->arena, double, to - from + 1);
  *n = 0;
  for (size_t i = from; i < to; i++) {
    size_t at = d->list[i];
    double r = d->found[at] / d->expected[at];
    if (fabs(d->expected[at]) > 16 * d->tolerance.atol && isfinite(r))
      out[(*n)++] = r;
  }
  return out;
}

/* How far a factor may be off; one that is this near to 1 is only rounding. */
static const double factor_slack = 1e-3;

static bool is_near_one(double factor) {
  return fabs(factor - 1) <= factor_slack;
}

static bool have_factor(const tk_diff *d, size_t from, size_t to,
                        double factor) {
  size_t hits = 0;
  for (size_t i = from; i < to; i++) {
    size_t at = d->list[i];
    double wanted = factor * d->expected[at];
    hits += agrees(d, d->found[at], wanted) ||
            fabs(d->found[at] - wanted) <= factor_slack * fabs(wanted);
  }
  return is_most(hits, to - from);
}

static bool find_scaled(const tk_diff *d, tk_pattern *p) {
  size_t n;
  double *r = factors(d, 0, d->nwrong, &n);
  p->least = median_of(r, n);
  return n >= 2 && p->least != 0 && !is_near_one(p->least) &&
         have_factor(d, 0, d->nwrong, p->least);
}

static bool find_offset(const tk_diff *d, tk_pattern *p) {
  double *r = TK_NEWN(d->arena, double, d->nwrong + 1);
  size_t hits = 0;
  for (size_t i = 0; i < d->nwrong; i++)
    r[i] = d->found[d->list[i]] - d->expected[d->list[i]];
  p->least = median_of(r, d->nwrong);
  for (size_t i = 0; i < d->nwrong; i++) {
    size_t at = d->list[i];
    hits += agrees(d, d->found[at], d->expected[at] + p->least);
  }
  return d->nwrong >= 2 && isfinite(p->least) && is_most(hits, d->nwrong);
}

/* ---- of values that stand elsewhere -------------------------------------- */

/* Whether a value is expected in so many places that it says nothing to find
 * it in one: it stands in one of a few others that are picked evenly. */
static bool is_common(const tk_diff *d, double value, size_t but) {
  enum { PICKED = 6 };
  for (size_t k = 0; k < PICKED; k++) {
    size_t at = (but + (2 * k + 1) * d->n / (2 * PICKED)) % d->n;
    if (at != but && agrees(d, value, d->expected[at])) return true;
  }
  return false;
}

/* Whether each wrong element holds the value that was expected of the element
 * that `from` names, and few others; `from` gives no element if its result is
 * not below d->n. */
static bool come_from(const tk_diff *d, const tk_pattern *p,
                      size_t (*from)(const tk_diff *d, const tk_pattern *p,
                                     size_t element)) {
  size_t hits = 0, tried = 0;
  size_t misses = (size_t)((1 - share) * (double)d->nwrong);
  for (size_t i = 0; i < d->nwrong && tried - hits <= misses; i++) {
    size_t at = d->list[i], other = from(d, p, at);
    if (other >= d->n || is_common(d, d->found[at], other)) continue;
    tried++;
    hits += agrees(d, d->found[at], d->expected[other]);
  }
  return tried >= 2 && 2 * tried >= d->nwrong && is_most(hits, tried);
}

/* The last two axes were stored in the other order. */
static size_t from_transposed(const tk_diff *d, const tk_pattern *p,
                              size_t element) {
  size_t rows = (size_t)d->shape[d->rank - 2];
  size_t columns = (size_t)d->shape[d->rank - 1];
  size_t plane = element / (rows * columns) * (rows * columns);
  size_t k = element - plane;
  (void)p;
  return plane + k % rows * columns + k / rows;
}

static bool find_transposed(const tk_diff *d, tk_pattern *p) {
  return d->rank >= 2 && come_from(d, p, from_transposed);
}

static size_t from_reversed(const tk_diff *d, const tk_pattern *p,
                            size_t element) {
  size_t at = index_along(d, element, p->axis);
  size_t last = (size_t)d->shape[p->axis] - 1;
  return element + (last - at) * stride_of(d, p->axis) -
         at * stride_of(d, p->axis);
}

static bool find_reversed(const tk_diff *d, tk_pattern *p) {
  for (p->axis = d->rank; p->axis-- > 0;)
    if (d->shape[p->axis] > 2 && come_from(d, p, from_reversed)) return true;
  return false;
}

static size_t from_shifted(const tk_diff *d, const tk_pattern *p,
                           size_t element) {
  int64_t to = (int64_t)index_along(d, element, p->axis) + p->distance;
  if (to < 0 || to >= d->shape[p->axis]) return d->n;
  return element + (size_t)p->distance * stride_of(d, p->axis);
}

static size_t from_repeated(const tk_diff *d, const tk_pattern *p,
                            size_t element) {
  size_t at = index_along(d, element, p->axis);
  return element + ((size_t)p->distance - at) * stride_of(d, p->axis);
}

/* Tries distances at which a wrong value would be right: those of the first
 * few wrong elements. */
static bool find_elsewhere(const tk_diff *d, tk_pattern *p, bool shifted) {
  for (p->axis = d->rank; p->axis-- > 0;) {
    size_t step = stride_of(d, p->axis);
    size_t most = d->nwrong < MOST_TRIED ? d->nwrong : MOST_TRIED;
    for (size_t i = 0; i < most; i++) {
      size_t at = d->list[i * (d->nwrong / most)];
      int64_t here = (int64_t)index_along(d, at, p->axis);
      for (int64_t k = 0; k < d->shape[p->axis]; k++) {
        size_t other = at + (size_t)(k - here) * step;
        if (k == here || !agrees(d, d->found[at], d->expected[other])) continue;
        p->distance = shifted ? k - here : k;
        if (come_from(d, p, shifted ? from_shifted : from_repeated))
          return true;
      }
    }
  }
  return false;
}

static bool find_shifted(const tk_diff *d, tk_pattern *p) {
  return find_elsewhere(d, p, true);
}

static bool find_repeated(const tk_diff *d, tk_pattern *p) {
  return find_elsewhere(d, p, false);
}

/* All elements are there, in another order; where most values are like the
 * next larger one, any values would seem to be. */
static bool find_permuted(const tk_diff *d, tk_pattern *p) {
  size_t n = d->nwrong, hits = 0, distinct = 1;
  (void)p;
  if (n > MOST_SORTED || n < 3) return false;
  double *x = TK_NEWN(d->arena, double, n), *y = TK_NEWN(d->arena, double, n);
  for (size_t i = 0; i < n; i++) {
    x[i] = d->found[d->list[i]];
    y[i] = d->expected[d->list[i]];
  }
  qsort(x, n, sizeof *x, by_value);
  qsort(y, n, sizeof *y, by_value);
  for (size_t i = 0; i < n; i++) hits += agrees(d, x[i], y[i]);
  for (size_t i = 1; i < n; i++) distinct += !agrees(d, y[i - 1], y[i]);
  return hits == n && 2 * distinct >= n && x[0] != x[n - 1];
}

/* ---- of rows ------------------------------------------------------------- */

/* Each row along the last axis is off by a factor of its own. */
static bool find_scaled_rows(const tk_diff *d, tk_pattern *p) {
  p->axis = d->rank - 1;
  size_t columns = d->rank ? (size_t)d->shape[p->axis] : 1, rows = 0;
  for (size_t i = 0, end; i < d->nwrong; i = end) {
    size_t n, row = d->list[i] / columns;
    for (end = i; end < d->nwrong && d->list[end] / columns == row;) end++;
    double *r = factors(d, i, end, &n), factor = median_of(r, n);
    if (n < 3 || factor == 0 || !have_factor(d, i, end, factor)) return false;
    if (!rows || factor < p->least) p->least = factor;
    if (!rows || factor > p->most) p->most = factor;
    rows++;
  }
  return rows > 1 && !(is_near_one(p->least) && is_near_one(p->most));
}

/* Where wrong elements lie among the last two axes. */
typedef struct corner {
  int64_t low[2], high[2]; /* rows and columns */
} corner;

static void corner_widen(corner *c, const int64_t *at) {
  for (int i = 0; i < 2; i++) {
    if (at[i] < c->low[i]) c->low[i] = at[i];
    if (at[i] > c->high[i]) c->high[i] = at[i];
  }
}

/* Whether a good part of the rectangle around wrong elements lies on the other
 * side of the diagonal: otherwise it is a block that happens to lie there. */
static bool cuts(const corner *c, int side) {
  double all = 0, others = 0;
  for (int64_t row = c->low[0]; row <= c->high[0]; row++) {
    int64_t from = c->low[1], to = c->high[1], split = row + (side > 0);
    int64_t before = split < from ? 0
                     : split > to ? to - from + 1
                                  : split - from;
    all += (double)(to - from + 1);
    others += (double)(side > 0 ? before : to - from + 1 - before);
  }
  return 4 * others >= all;
}

static bool find_diagonal(const tk_diff *d, int side) {
  enum { FEWEST = 10, FEWEST_ON = 3 }; /* that chance seldom puts there */
  int64_t index[TK_MAX_RANK];
  corner c = {{INT64_MAX, INT64_MAX}, {0, 0}};
  if (d->rank < 2 || d->nwrong < (side ? FEWEST : FEWEST_ON)) return false;
  for (size_t i = 0; i < d->nwrong; i++) {
    tk_diff_index(d, d->list[i], index);
    const int64_t *at = index + d->rank - 2;
    if ((at[1] > at[0]) - (at[1] < at[0]) != side) return false;
    corner_widen(&c, at);
  }
  return !side || cuts(&c, side);
}

static bool find_above_diagonal(const tk_diff *d, tk_pattern *p) {
  (void)p;
  return find_diagonal(d, 1);
}

static bool find_below_diagonal(const tk_diff *d, tk_pattern *p) {
  (void)p;
  return find_diagonal(d, -1);
}

static bool find_on_diagonal(const tk_diff *d, tk_pattern *p) {
  (void)p;
  return find_diagonal(d, 0);
}

/* ---- of errors ----------------------------------------------------------- */

static bool find_truncated(const tk_diff *d, tk_pattern *p) {
  size_t whole = 0;
  (void)p;
  for (size_t i = 0; i < d->nwrong; i++) {
    double found = d->found[d->list[i]], expected = d->expected[d->list[i]];
    if (found != trunc(expected) && found != floor(expected)) return false;
    whole += expected == trunc(expected);
  }
  return d->nwrong > 1 && !whole;
}

/* Whether no format as narrow as bf16 would have changed what is expected. */
static bool is_small_integer(double expected, double found) {
  return fabs(expected) <= 256 && expected == trunc(expected) &&
         found == trunc(found);
}

/* Errors of rounding have either sign as often, whatever was expected: sums of
 * independent ones are seldom further from 0 than three times their spread. */
static bool is_without_bias(const tk_diff *d) {
  double sum = 0, spread = 0, along = 0, along_spread = 0;
  for (size_t i = 0; i < d->nwrong; i++) {
    double expected = d->expected[d->list[i]];
    double e = d->found[d->list[i]] - expected;
    sum += e;
    spread += e * e;
    along += e * expected;
    along_spread += e * e * expected * expected;
  }
  return sum * sum <= 9 * spread && along * along <= 9 * along_spread;
}

/* A few elements alone, and small integers, are wrong for another reason; so
 * are those that are all off to the same side. */
static bool find_rounded(const tk_diff *d, tk_pattern *p) {
  enum { FEWEST = 8 };
  double scale = 0, error = 0;
  size_t integers = 0;
  for (size_t i = 0; i < d->nwrong; i++)
    integers += is_small_integer(d->expected[d->list[i]], d->found[d->list[i]]);
  if (integers == d->nwrong || d->nwrong < FEWEST || !is_without_bias(d))
    return false;
  for (size_t i = 0; i < d->n; i++)
    if (isfinite(d->expected[i])) scale = fmax(scale, fabs(d->expected[i]));
  for (size_t i = 0; i < d->nwrong; i++)
    error = fmax(error, tk_diff_error(d, d->list[i]));
  p->least = error / scale;
  return scale > 0 && p->least < 0x1p-6;
}

static bool find_magnitude(const tk_diff *d, tk_pattern *p) {
  size_t n;
  double *r = factors(d, 0, d->nwrong, &n);
  for (size_t i = 0; i < n; i++) r[i] = fabs(r[i]);
  p->least = median_of(r, n);
  return n > 1 && p->least > 0 && (p->least > 3 || p->least < 1.0 / 3);
}

/* ---- all of them --------------------------------------------------------- */

static const struct finder {
  const char *name;
  bool (*find)(const tk_diff *d, tk_pattern *p);
} finders[TK_PATTERN_KINDS] = {
#define PATTERN(id, name, find) {name, find},
#include "tkdbg/pattern.def"
#undef PATTERN
};

const char *tk_pattern_name(tk_pattern_kind k) {
  return k < TK_PATTERN_KINDS ? finders[k].name : "?";
}

/* Kinds that say which elements are wrong; of the others, which say what they
 * hold, the first that holds says it all. */
static bool is_where(tk_pattern_kind k) {
  return k <= TK_PATTERN_ON_DIAGONAL;
}

/* Whether memory that no program wrote is so much of what is wrong that what
 * it holds says nothing of the kernel. */
static bool is_unwritten(const tk_diff *d) {
  size_t unwritten = 0;
  for (size_t i = 0; i < d->nwrong && d->writer; i++)
    unwritten += !d->writer[d->list[i]];
  return d->nwrong && unwritten > (1 - share) * (double)d->nwrong;
}

const tk_pattern *tk_diff_patterns(const tk_diff *d, size_t *n) {
  TK_VEC(tk_pattern) found = {0};
  bool said = !d->nwrong || is_unwritten(d);
  for (int k = 0; k < TK_PATTERN_KINDS && d->nwrong; k++) {
    tk_pattern p = {.kind = (tk_pattern_kind)k};
    tk_check_interrupt(d->arena->env);
    if ((said && !is_where(p.kind)) || !finders[k].find(d, &p)) continue;
    TK_PUSH(d->arena, &found, p);
    said |= !is_where(p.kind);
  }
  *n = found.n;
  return found.items;
}
