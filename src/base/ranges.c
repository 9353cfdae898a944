/* ranges.c - sets of indices as ranges.
 */
#include "ranges.h"

static int64_t next_on(const uint8_t *on, int64_t n, int64_t from) {
  while (from < n && !on[from]) from++;
  return from;
}

const tk_range *tk_fold_ranges(tk_arena *a, const uint8_t *on, int64_t n,
                               size_t *count) {
  TK_VEC(tk_range) ranges = {0};
  for (int64_t lo = next_on(on, n, 0), next; lo < n; lo = next) {
    next = next_on(on, n, lo + 1);
    tk_range r = {lo, lo, next - lo};
    while (next < n && next - r.last == r.step) {
      r.last = next;
      next = next_on(on, n, next + 1);
    }
    if (r.last == lo) r.step = 1;
    TK_PUSH(a, &ranges, r);
  }
  *count = ranges.n;
  return ranges.items;
}
