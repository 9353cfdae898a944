/* compare.c - which elements of a tensor are not what was expected.
 */
#include "diff.h"

#include <math.h>
#include <string.h>

#include "base/ranges.h"
#include "base/index.h"

tk_diff_tolerance tk_diff_usual_tolerance(tk_dtype d) {
  if (!tk_is_float(d)) return (tk_diff_tolerance){0, 0, 0};
  if (tk_dtypes[d].bits == 8) return (tk_diff_tolerance){0.25, 1e-5, 0};
  switch ((int)d) {
  case TK_FP64: return (tk_diff_tolerance){1e-7, 1e-7, 0};
  case TK_FP32: return (tk_diff_tolerance){1.3e-6, 1e-5, 0};
  case TK_FP16: return (tk_diff_tolerance){1e-3, 1e-5, 0};
  default: return (tk_diff_tolerance){1.6e-2, 1e-5, 0};
  }
}

/* ---- elements ------------------------------------------------------------ */

char *tk_diff_at(const tk_tensor *t, const int64_t *index) {
  int64_t off = 0;
  for (int i = 0; i < t->rank; i++) off += index[i] * t->strides[i];
  return (char *)t->data + off * (int64_t)tk_dtype_size(t->dtype);
}

void tk_diff_index(const tk_diff *d, size_t element, int64_t *index) {
  tk_split_index(d->shape, d->rank, element, index);
}

/* Moves to the next element in row-major order. */
static void step_index(int rank, const int64_t *shape, int64_t *index) {
  for (int i = rank; i-- > 0;) {
    if (++index[i] < shape[i]) return;
    index[i] = 0;
  }
}

static double *lanes_of(tk_diff *d, const tk_tensor *t) {
  double *out = TK_NEWN(d->arena, double, d->n + 1);
  int64_t index[TK_MAX_RANK] = {0};
  for (size_t i = 0; i < d->n; i++, step_index(d->rank, d->shape, index)) {
    tk_check_step(d->arena->env, i);
    const char *at = tk_diff_at(t, index);
    out[i] = tk_is_float(t->dtype) ? tk_lane_double(t->dtype, at)
                                   : (double)tk_lane_int(t->dtype, at);
  }
  return out;
}

double tk_diff_error(const tk_diff *d, size_t element) {
  double error = fabs(d->found[element] - d->expected[element]);
  return isfinite(error) ? error : INFINITY;
}

bool tk_diff_is_equal(const tk_diff *d, size_t element) {
  double found = d->found[element], expected = d->expected[element];
  return found == expected || (isnan(found) && isnan(expected));
}

static bool is_wrong(const tk_diff *d, size_t i) {
  double found = d->found[i], expected = d->expected[i];
  if (!isfinite(expected) || !isfinite(found)) return !tk_diff_is_equal(d, i);
  return fabs(found - expected) >
         d->tolerance.atol + d->tolerance.rtol * fabs(expected);
}

uint64_t tk_diff_distance(const tk_diff *d, const tk_tensor *found,
                          const tk_tensor *expected, size_t element) {
  int64_t index[TK_MAX_RANK];
  tk_diff_index(d, element, index);
  return tk_lane_distance(found->dtype, tk_diff_at(found, index),
                          tk_diff_at(expected, index));
}

static void read_tensors(tk_diff *d, tk_arena *a, const tk_tensor *found,
                         const tk_tensor *expected) {
  *d = (tk_diff){.arena = a, .rank = found->rank, .n = 1};
  memcpy(d->shape, found->shape, sizeof d->shape);
  for (int i = 0; i < d->rank; i++) d->n *= (size_t)d->shape[i];
  TK_ASSERT(d->n <= TK_DIFF_MOST);
  d->found = lanes_of(d, found);
  d->expected = lanes_of(d, expected);
  d->wrong = TK_NEWN(a, uint8_t, d->n + 1);
}

static void list_wrong(tk_diff *d) {
  for (size_t i = 0; i < d->n; i++) d->nwrong += d->wrong[i];
  size_t *list = TK_NEWN(d->arena, size_t, d->nwrong + 1), n = 0;
  for (size_t i = 0; i < d->n; i++)
    if (d->wrong[i]) list[n++] = i;
  d->list = list;
}

void tk_diff_make(tk_diff *d, tk_arena *a, const tk_tensor *found,
                  const tk_tensor *expected, tk_diff_tolerance tolerance) {
  read_tensors(d, a, found, expected);
  d->tolerance = tolerance;
  bool ulp = tolerance.ulp && found->dtype == expected->dtype;
  for (size_t i = 0; i < d->n; i++) {
    tk_check_step(a->env, i);
    d->wrong[i] = is_wrong(d, i);
    if (ulp && d->wrong[i])
      d->wrong[i] = tk_diff_distance(d, found, expected, i) > tolerance.ulp;
  }
  list_wrong(d);
}

void tk_diff_judged(tk_diff *d, tk_arena *a, const tk_tensor *found,
                    const tk_tensor *expected, const uint8_t *wrong) {
  read_tensors(d, a, found, expected);
  for (size_t i = 0; i < d->n; i++)
    d->wrong[i] = wrong[i] && !tk_diff_is_equal(d, i);
  list_wrong(d);
}

/* ---- where --------------------------------------------------------------- */

bool tk_diff_fold(tk_arena *a, int rank, const int64_t *shape,
                  bool (*next)(void *ud, int64_t *index), void *ud,
                  const tk_range **ranges, size_t *nranges) {
  uint8_t *on[TK_MAX_RANK];
  int64_t index[TK_MAX_RANK] = {0};
  uint64_t points = 0, box = 1;
  for (int i = 0; i < rank; i++)
    on[i] = TK_NEWN(a, uint8_t, (size_t)shape[i] + 1);
  for (; next(ud, index); points++) {
    tk_check_step(a->env, points);
    for (int i = 0; i < rank; i++) {
      TK_ASSERT(index[i] >= 0 && index[i] < shape[i]);
      on[i][index[i]] = 1;
    }
  }
  for (int i = 0; i < rank; i++) {
    uint64_t count = 0;
    for (int64_t k = 0; k < shape[i]; k++) count += on[i][k];
    box *= count;
    ranges[i] = tk_fold_ranges(a, on[i], shape[i], &nranges[i]);
  }
  return box == points;
}
