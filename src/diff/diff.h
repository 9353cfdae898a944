/* diff.h - two tensors beside each other: which elements differ, and what
 * those that do have in
 * common. */
#ifndef TK_DIFF_DIFF_H
#define TK_DIFF_DIFF_H

#include "base/dtype.h"

typedef struct tk_diff_tolerance {
  double rtol, atol;
  uint64_t ulp; /* or units in the last place, of lanes of one type */
} tk_diff_tolerance;

/* What is usual for an element type: torch.testing.assert_close's. */
tk_diff_tolerance tk_diff_usual_tolerance(tk_dtype d);

/* Elements in row-major order, as doubles; all of it lies in the arena. */
typedef struct tk_diff {
  tk_arena *arena;
  int rank;
  int64_t shape[TK_MAX_RANK];
  size_t n, nwrong;
  const double *found, *expected;
  uint8_t *wrong;         /* by element */
  const size_t *list;     /* the wrong ones, ascending */
  const uint32_t *writer; /* by element: who wrote it last, 0: none; may be
                             NULL */
  tk_diff_tolerance tolerance;
} tk_diff;

/* Compares tensors of one shape, of at most TK_DIFF_MOST elements. */
enum { TK_DIFF_MOST = 1 << 24 };
void tk_diff_make(tk_diff *d, tk_arena *a, const tk_tensor *found,
                  const tk_tensor *expected, tk_diff_tolerance tolerance);
/* The same, of elements that the caller has judged, in row-major order. */
void tk_diff_judged(tk_diff *d, tk_arena *a, const tk_tensor *found,
                    const tk_tensor *expected, const uint8_t *wrong);
/* The address of an element. */
char *tk_diff_at(const tk_tensor *t, const int64_t *index);
void tk_diff_index(const tk_diff *d, size_t element, int64_t *index);
/* How far an element is off. */
double tk_diff_error(const tk_diff *d, size_t element);
/* Whether it holds what was expected, to the bit but for the sign of zero and
 * the payload of NaN. */
bool tk_diff_is_equal(const tk_diff *d, size_t element);
/* How far it is off, in steps of the element type that both tensors have. */
uint64_t tk_diff_distance(const tk_diff *d, const tk_tensor *found,
                          const tk_tensor *expected, size_t element);

/* Which of the patterns of pattern.def hold for the wrong elements; *n gets
 * how many. */
const tk_pattern *tk_diff_patterns(const tk_diff *d, size_t *n);

/* Folds points of a grid by axis: ranges of indices that occur; returns
 * whether their product has no other points.  next gives the points one after
 * the other, false at the end. */
bool tk_diff_fold(tk_arena *a, int rank, const int64_t *shape,
                  bool (*next)(void *ud, int64_t *index), void *ud,
                  const tk_range **ranges, size_t *nranges);

#endif
