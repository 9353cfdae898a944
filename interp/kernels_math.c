/* kernels_math.c - lane loops of functions of one number.
 *
 * fp32 functions are computed in double (trans.h) and rounded once; the
 * compiler makes vector loops of them, which give the same bits at every
 * width.  fp64 functions are the C library's.
 */
#include <math.h>

#include "base/trans.h"
#include "interp/kernels.h"
#include "interp/lanes.h"
#include "ptx/approximate.h"

#define MATH(name)                                                             \
  TKI_LOOP1(name##_f32, float, float, tkm_##name##f(a))                        \
  TKI_LOOP1(name##_f64, double, double, name(a))
MATH(exp)
MATH(exp2)
MATH(log)
MATH(log2)
TKI_LOOP1(erf_f32, float, float, tkm_erff(a))
TKI_LOOP1(erf_f64, double, double, tkm_erf(a))

/* Sines of large numbers are rare, and need more digits of pi. */
static bool all_small(const float *a, size_t n) {
  int large = 0;
  for (size_t i = 0; i < n; i++) large |= fabsf(a[i]) > TKM_REDUCE_MAX;
  return !large;
}

#define SINE(name)                                                             \
  TKI_LOOP1(name##_small, float, float, tkm_##name##f(a))                      \
  TKI_LOOP1(name##_any, float, float, tkm_##name##f_any(a))                    \
  TKI_LOOP1(name##_f64, double, double, name(a))                               \
  static void name##_f32(void *d, const void *a, size_t n) {                   \
    (all_small(a, n) ? name##_small : name##_any)(d, a, n);                    \
  }
SINE(sin)
SINE(cos)

/* Triton negates by subtracting from zero: -(+0) is +0. */
TKI_LOOP1(neg_f32, float, float, -a)
TKI_LOOP1(neg_f64, double, double, -a)
TKI_LOOP1(abs_f32, float, float, fabsf(a))
TKI_LOOP1(abs_f64, double, double, fabs(a))
TKI_LOOP1(sqrt_f32, float, float, sqrtf(a))
TKI_LOOP1(sqrt_f64, double, double, sqrt(a))
TKI_LOOP1(rsqrt_f32, float, float, tkm_rsqrtf(a))
TKI_LOOP1(rsqrt_f64, double, double, tkm_rsqrt(a))
TKI_LOOP1(floor_f32, float, float, floorf(a))
TKI_LOOP1(floor_f64, double, double, floor(a))
TKI_LOOP1(ceil_f32, float, float, ceilf(a))
TKI_LOOP1(ceil_f64, double, double, ceil(a))

/* Narrow floats know only the operations that keep or flip the sign. */
static void narrow_neg(tk_dtype t, void *d, const void *a, size_t n) {
  float row[TKI_BATCH];
  size_t size = tk_dtypes[t].size;
  for (size_t at = 0; at < n; at += TKI_BATCH) {
    size_t m = n - at < TKI_BATCH ? n - at : TKI_BATCH;
    tki_widen(t, row, (const char *)a + at * size, m);
    neg_f32(row, row, m);
    tki_narrow(t, (char *)d + at * size, row, m);
  }
}
#define SIGN(S, ID, T)                                                         \
  TKI_LOOP1(abs_##S, T, T, a &((T) ~(T)0 >> 1))                                \
  static void neg_##S(void *d, const void *a, size_t n) {                      \
    narrow_neg(ID, d, a, n);                                                   \
  }
TKI_NARROW_FLOATS(SIGN)

#define FULL_ROW(S)                                                            \
  {                                                                            \
    [TK_U_NEG] = neg_##S, [TK_U_ABS] = abs_##S, [TK_U_EXP] = exp_##S,          \
    [TK_U_EXP2] = exp2_##S, [TK_U_LOG] = log_##S, [TK_U_LOG2] = log2_##S,      \
    [TK_U_SIN] = sin_##S, [TK_U_COS] = cos_##S, [TK_U_SQRT] = sqrt_##S,        \
    [TK_U_RSQRT] = rsqrt_##S, [TK_U_ERF] = erf_##S, [TK_U_FLOOR] = floor_##S,  \
    [TK_U_CEIL] = ceil_##S                                                     \
  }
#define SIGN_ROW(S, ID, T) [ID] = {[TK_U_NEG] = neg_##S, [TK_U_ABS] = abs_##S},

tki_unary_fn tki_unary_kernel(tk_unary op, tk_dtype d) {
  static const tki_unary_fn table[TK_DTYPE_COUNT][TK_U_COUNT] = {
      [TK_FP32] = FULL_ROW(f32),
      [TK_FP64] = FULL_ROW(f64),
      TKI_NARROW_FLOATS(SIGN_ROW)};
  return tk_is_int(d) ? tki_int_unary(op, d) : table[d][op];
}

/* ---- as a GPU approximates them ------------------------------------------ */

#define APPROXIMATE(op, before, instruction, ftz, after)                       \
  TKI_LOOP1(approximate_##op, float, float,                                    \
            tkp_flushed((float)tkp_approximate_##instruction(                  \
                            tkp_flushed(a *(float)(before), ftz)),             \
                        ftz) *                                                 \
                (float)(after))
#include "ir/approximate.def"
#undef APPROXIMATE

tki_unary_fn tki_approximate_kernel(tk_unary op) {
  static const tki_unary_fn table[TK_U_COUNT] = {
#define APPROXIMATE(op, before, instruction, ftz, after)                       \
  [TK_U_##op] = approximate_##op,
#include "ir/approximate.def"
#undef APPROXIMATE
  };
  return table[op];
}
