/* kernels_math.c - lane loops of functions of one number.
 *
 * fp32 functions are computed in double and rounded once, which leaves them
 * within 0.5000001 ULP of the exact value.  Where the C library has versions
 * for several lanes (glibc's libmvec, x86-64 vector ABI) those are used: four
 * lanes wide on every processor with AVX2, whatever wider vectors it has, and
 * two lanes wide on older ones.  The two differ in the last bits of a double,
 * hence in an fp32 result about once in ten million lanes.
 */
#include <math.h>

#include "interp/interp.h"

#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#include <immintrin.h>
typedef __m128d (*two_fn)(__m128d);
typedef __m256d (*four_fn)(__m256d);
typedef struct vector_fn {
  two_fn two;
  four_fn four;
} vector_fn;

#define VECTOR(name)                                                           \
  extern __m128d _ZGVbN2v_##name(__m128d);                                     \
  __attribute__((target("avx2"))) extern __m256d _ZGVdN4v_##name(__m256d);
#define VECTOR_OF(name) ((vector_fn){_ZGVbN2v_##name, _ZGVdN4v_##name})
VECTOR(exp)
VECTOR(exp2)
VECTOR(log)
VECTOR(log2)
VECTOR(sin)
VECTOR(cos)
VECTOR(erf)

__attribute__((target("avx2"))) static void map_four(float *d, const float *a,
                                                     size_t n, four_fn four) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    __m256d r = four(_mm256_cvtps_pd(_mm_loadu_ps(a + i)));
    _mm_storeu_ps(d + i, _mm256_cvtpd_ps(r));
  }
  for (; i < n; i++) d[i] = (float)_mm256_cvtsd_f64(four(_mm256_set1_pd(a[i])));
}

static void map_two(float *d, const float *a, size_t n, two_fn two) {
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    __m128d r = two(_mm_set_pd(a[i + 1], a[i]));
    _mm_storel_pi((__m64 *)(d + i), _mm_cvtpd_ps(r));
  }
  if (i < n) d[i] = (float)_mm_cvtsd_f64(two(_mm_set1_pd(a[i])));
}

static void map(float *d, const float *a, size_t n, vector_fn f,
                double (*one)(double)) {
  (void)one;
  if (__builtin_cpu_supports("avx2"))
    map_four(d, a, n, f.four);
  else
    map_two(d, a, n, f.two);
}
#else
#define VECTOR_OF(name) NULL
static void map(float *d, const float *a, size_t n, void *two,
                double (*one)(double)) {
  (void)two;
  for (size_t i = 0; i < n; i++) d[i] = (float)one(a[i]);
}
#endif

#define MATH(name)                                                             \
  static void name##_f32(void *d, const void *a, size_t n) {                   \
    map(d, a, n, VECTOR_OF(name), name);                                       \
  }                                                                            \
  static void name##_f64(void *vd, const void *va, size_t n) {                 \
    double *d = vd;                                                            \
    const double *a = va;                                                      \
    for (size_t i = 0; i < n; i++) d[i] = name(a[i]);                          \
  }
MATH(exp)
MATH(exp2)
MATH(log)
MATH(log2)
MATH(sin)
MATH(cos)
MATH(erf)

#define LOOP(NAME, T, EXPR)                                                    \
  TKI_CLONES static void NAME(void *vd, const void *va, size_t n) {            \
    T *d = vd;                                                                 \
    const T *pa = va;                                                          \
    for (size_t i = 0; i < n; i++) {                                           \
      T a = pa[i];                                                             \
      d[i] = (T)(EXPR);                                                        \
    }                                                                          \
  }
/* Triton negates by subtracting from zero: -(+0) is +0. */
LOOP(neg_f32, float, 0 - a)
LOOP(neg_f64, double, 0 - a)
LOOP(abs_f32, float, fabsf(a))
LOOP(abs_f64, double, fabs(a))
LOOP(sqrt_f32, float, sqrtf(a))
LOOP(sqrt_f64, double, sqrt(a))
LOOP(rsqrt_f32, float, 1 / sqrt((double)a))
LOOP(rsqrt_f64, double, 1 / sqrt(a))
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
