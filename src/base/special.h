/* special.h - functions of numbers that the C library has not, or gives
 * other answers for than CUDA's libdevice in the corners.  libdevice.def
 * names them in its lanes.
 */
#ifndef TK_BASE_SPECIAL_H
#define TK_BASE_SPECIAL_H

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

static inline int tkm_clz(uint64_t a) {
  return a ? __builtin_clzll(a) : 64;
}
/* The low 24 bits as a signed number. */
static inline int32_t tkm_low24(int32_t a) {
  return (int32_t)((uint32_t)a << 8) >> 8;
}
uint64_t tkm_brev(uint64_t a);
uint32_t tkm_byte_perm(int32_t a, int32_t b, int32_t digits);

/* ---- integers from integral doubles ------------------------------------ */

/* What does not fit saturates.  A NaN is 0 as an fp32 that becomes 32 bits
 * wide, else the number that has only the top bit set (seen on an H200). */
static inline int32_t tkm_i32(double a) {
  if (a != a) return 0;
  return a >= 0x1p31 ? INT32_MAX : a <= -0x1p31 ? INT32_MIN : (int32_t)a;
}
static inline uint32_t tkm_u32(double a) {
  return a >= 0x1p32 ? UINT32_MAX : a > 0 ? (uint32_t)a : 0;
}
static inline int32_t tkm_i32_d(double a) {
  return a != a ? INT32_MIN : tkm_i32(a);
}
static inline uint32_t tkm_u32_d(double a) {
  return a != a ? (uint32_t)1 << 31 : tkm_u32(a);
}
static inline int64_t tkm_i64(double a) {
  if (a != a) return INT64_MIN;
  return a >= 0x1p63 ? INT64_MAX : a <= -0x1p63 ? INT64_MIN : (int64_t)a;
}
static inline uint64_t tkm_u64(double a) {
  if (a != a) return (uint64_t)1 << 63;
  return a >= 0x1p64 ? UINT64_MAX : a > 0 ? (uint64_t)a : 0;
}

/* ---- floats ------------------------------------------------------------ */

/* A difference that is not positive is +0; a NaN stays. */
#define tkm_fdim(a, b) ((a) <= (b) ? 0 : (a) - (b))

static inline int32_t tkm_ilogb(double a) {
  if (a == 0 || a != a) return INT32_MIN;
  return isinf(a) ? INT32_MAX : ilogb(a);
}

double tkm_rcp64h(double a);
double tkm_rsqrt(double a);
double tkm_cbrt(double a);
double tkm_rcbrt(double a);
double tkm_sinpi(double a);
double tkm_cospi(double a);
double tkm_norm(double a, double b, double c, double d);
double tkm_rnorm(double a, double b, double c, double d);
double tkm_erf(double a);
double tkm_erfcx(double a);
double tkm_erfinv(double a);
double tkm_erfcinv(double a);
double tkm_normcdf(double a);
double tkm_normcdfinv(double a);
double tkm_lgamma(double a);
double tkm_jn(int32_t n, double a);
double tkm_yn(int32_t n, double a);
double tkm_bessel_i(int order, double a);

#endif
