/* atomic.c - what atomic operations leave in memory, a lane at a time.
 */
#include <math.h>
#include <string.h>

#include "interp/interp.h"
#include "interp/kernels.h"

static void atomic_int(tk_atomic mode, tk_dtype d, char *p, const char *v) {
  int64_t m = tk_lane_int(d, p), x = tk_lane_int(d, v);
  bool big = d == TK_UINT64, less = big ? (uint64_t)x < (uint64_t)m : x < m;
  switch (mode) {
  case TK_A_ADD: m = (int64_t)((uint64_t)m + (uint64_t)x); break;
  case TK_A_MAX: m = less ? m : x; break;
  case TK_A_MIN: m = less ? x : m; break;
  case TK_A_AND: m &= x; break;
  case TK_A_OR: m |= x; break;
  default: m ^= x;
  }
  tk_lane_set_int(d, p, m);
}

/* Triton compares the bits of floats as integers with a sign, so that -0 < +0,
 * and a NaN lies beyond the infinity of its sign (language/semantic.py,
 * atomic_max). */
static int64_t rank_of_bits(tk_dtype d, const char *p) {
  int64_t bits =
      d == TK_FP32 ? tk_lane_int(TK_INT32, p) : tk_lane_int(TK_INT64, p);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

static void take_extreme(tk_dtype d, char *p, const char *v, bool max) {
  int64_t m = rank_of_bits(d, p), x = rank_of_bits(d, v);
  if (max ? x > m : x < m) memcpy(p, v, tk_dtype_size(d));
}

/* Halves occur in stores by descriptors alone: there a NaN gives way to a
 * number. */
static double pick(double m, double x, bool max) {
  if (m != m) return x;
  if (x != x) return m;
  if (m == x) return (signbit(m) != 0) == max ? x : m;
  return (m > x) == max ? m : x;
}

static void atomic_float(tk_atomic mode, tk_dtype d, char *p, const char *v) {
  if (mode == TK_A_ADD && d == TK_FP32) {
    float m, x;
    memcpy(&m, p, 4), memcpy(&x, v, 4);
    m += x;
    memcpy(p, &m, 4);
    return;
  }
  if (mode != TK_A_ADD && (d == TK_FP32 || d == TK_FP64)) {
    take_extreme(d, p, v, mode == TK_A_MAX);
    return;
  }
  double m = tk_lane_double(d, p), x = tk_lane_double(d, v);
  m = mode == TK_A_ADD ? m + x : pick(m, x, mode == TK_A_MAX);
  tk_lane_set_double(d, p, m);
}

void tki_atomic_lane(tk_atomic mode, tk_dtype d, char *p, const char *v,
                     size_t size) {
  if (mode == TK_A_XCHG)
    memcpy(p, v, size);
  else if (tk_is_float(d))
    atomic_float(mode, d, p, v);
  else
    atomic_int(mode, d, p, v);
}
