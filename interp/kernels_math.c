/* kernels_math.c - lane loops of functions of one number.
 *
 * fp32 functions are computed in double (trans.h) and rounded once; the
 * compiler makes vector loops of them, which give the same bits at every
 * width.  fp64 functions are the C library's.
 */
#include <math.h>

#include "interp/interp.h"
#include "interp/trans.h"

#define LOOP(NAME, T, EXPR)                                                    \
  TKI_CLONES static void NAME(void *vd, const void *va, size_t n) {            \
    T *d = vd;                                                                 \
    const T *pa = va;                                                          \
    for (size_t i = 0; i < n; i++) {                                           \
      T a = pa[i];                                                             \
      d[i] = (T)(EXPR);                                                        \
    }                                                                          \
  }
#define MATH(name)                                                             \
  LOOP(name##_f32, float, tkm_##name##f(a))                                    \
  LOOP(name##_f64, double, name(a))
MATH(exp)
MATH(exp2)
MATH(log)
MATH(log2)
LOOP(erf_f32, float, tkm_erff(a))
LOOP(erf_f64, double, tkm_erf(a))

/* Sines of large numbers are rare, and need more digits of pi. */
static bool all_small(const float *a, size_t n) {
  int large = 0;
  for (size_t i = 0; i < n; i++) large |= fabsf(a[i]) > TKM_REDUCE_MAX;
  return !large;
}

#define SINE(name)                                                             \
  LOOP(name##_small, float, tkm_##name##f(a))                                  \
  LOOP(name##_any, float, tkm_##name##f_any(a))                                \
  LOOP(name##_f64, double, name(a))                                            \
  static void name##_f32(void *d, const void *a, size_t n) {                   \
    (all_small(a, n) ? name##_small : name##_any)(d, a, n);                    \
  }
SINE(sin)
SINE(cos)

/* Triton negates by subtracting from zero: -(+0) is +0. */
LOOP(neg_f32, float, 0 - a)
LOOP(neg_f64, double, 0 - a)
LOOP(abs_f32, float, fabsf(a))
LOOP(abs_f64, double, fabs(a))
LOOP(sqrt_f32, float, sqrtf(a))
LOOP(sqrt_f64, double, sqrt(a))
LOOP(rsqrt_f32, float, tkm_rsqrtf(a))
LOOP(rsqrt_f64, double, tkm_rsqrt(a))
LOOP(floor_f32, float, floorf(a))
LOOP(floor_f64, double, floor(a))
LOOP(ceil_f32, float, ceilf(a))
LOOP(ceil_f64, double, ceil(a))

/* Narrow floats know only the operations that keep or flip the sign. */
LOOP(abs_16, uint16_t, a & 0x7fff)
LOOP(abs_8, uint8_t, a & 0x7f)

static void narrow_neg(tk_dtype t, void *d, const void *a, size_t n) {
  enum { ROW = 256 };
  float row[ROW];
  size_t size = tk_dtypes[t].size;
  for (size_t at = 0; at < n; at += ROW) {
    size_t m = n - at < ROW ? n - at : ROW;
    tki_widen(t, row, (const char *)a + at * size, m);
    neg_f32(row, row, m);
    tki_narrow(t, (char *)d + at * size, row, m);
  }
}
#define NEG(S, ID)                                                             \
  static void neg_##S(void *d, const void *a, size_t n) {                      \
    narrow_neg(ID, d, a, n);                                                   \
  }
NEG(f16, TK_FP16)
NEG(bf16, TK_BF16)
NEG(e4nv, TK_FP8E4NV)
NEG(e4b8, TK_FP8E4B8)
NEG(e4b15, TK_FP8E4B15)
NEG(e5, TK_FP8E5)
NEG(e5b16, TK_FP8E5B16)

#define FULL_ROW(S)                                                            \
  {                                                                            \
    [TK_U_NEG] = neg_##S, [TK_U_ABS] = abs_##S, [TK_U_EXP] = exp_##S,          \
    [TK_U_EXP2] = exp2_##S, [TK_U_LOG] = log_##S, [TK_U_LOG2] = log2_##S,      \
    [TK_U_SIN] = sin_##S, [TK_U_COS] = cos_##S, [TK_U_SQRT] = sqrt_##S,        \
    [TK_U_RSQRT] = rsqrt_##S, [TK_U_ERF] = erf_##S, [TK_U_FLOOR] = floor_##S,  \
    [TK_U_CEIL] = ceil_##S                                                     \
  }
#define SIGN_ROW(S, BITS)                                                      \
  { [TK_U_NEG] = neg_##S, [TK_U_ABS] = abs_##BITS }

tki_unary_fn tki_unary_kernel(tk_unary op, tk_dtype d) {
  static const tki_unary_fn table[TK_DTYPE_COUNT][TK_U_COUNT] = {
      [TK_FP32] = FULL_ROW(f32),          [TK_FP64] = FULL_ROW(f64),
      [TK_FP16] = SIGN_ROW(f16, 16),      [TK_BF16] = SIGN_ROW(bf16, 16),
      [TK_FP8E4NV] = SIGN_ROW(e4nv, 8),   [TK_FP8E4B8] = SIGN_ROW(e4b8, 8),
      [TK_FP8E4B15] = SIGN_ROW(e4b15, 8), [TK_FP8E5] = SIGN_ROW(e5, 8),
      [TK_FP8E5B16] = SIGN_ROW(e5b16, 8),
  };
  return tk_is_int(d) ? tki_int_unary(op, d) : table[d][op];
}
