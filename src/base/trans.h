/* trans.h - transcendental functions of an fp32 number, in double.
 *
 * The argument is an fp32 value held in a double; the result is within 2^-45
 * of the exact value (erf: 2^-41), so that rounding it to fp32 gives the
 * correctly rounded result for nearly all arguments, and a neighbour for the
 * rest.  Only + - * / and integer operations are used, in a fixed order,
 * without branches: loops over lanes are vectorised, and every processor and
 * vector width gives the same bits.
 *
 * The methods are the usual ones (J.-M. Muller, Elementary Functions): the
 * argument is reduced, a polynomial from coefficients.h is summed by Estrin's
 * scheme, and the exponent put back.
 */
#ifndef TK_BASE_TRANS_H
#define TK_BASE_TRANS_H

#include "base/coefficients.h"
#include "base/special.h"

#define TKM_P2(c, i, x) ((c)[i] + (c)[(i) + 1] * (x))
#define TKM_P4(c, i, x, x2) (TKM_P2(c, i, x) + TKM_P2(c, (i) + 2, x) * (x2))
#define TKM_P8(c, i, x, x2, x4)                                                \
  (TKM_P4(c, i, x, x2) + TKM_P4(c, (i) + 4, x, x2) * (x4))

/* Eleven coefficients. */
static inline double tkm_poly11(const double *c, double x) {
  double x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
  return TKM_P8(c, 0, x, x2, x4) + (TKM_P2(c, 8, x) + c[10] * x2) * x8;
}

/* Adding it to a small number leaves the nearest integer, plus the bias of a
 * double's exponent, in the low bits. */
#define TKM_ROUND (0x1.8p52 + 1023)

/* 2 to the integer in the low bits of t. */
static inline double tkm_power(double t) {
  return tk_bits_f64(tk_f64_bits(t) << 52);
}

/* Limits that fp32 cannot tell from infinity; a NaN passes. */
static inline double tkm_limit(double a, double most) {
  a = a > most ? most : a;
  return a < -most ? -most : a;
}

static inline double tkm_expf(double a) {
  a = tkm_limit(a, 160);
  double t = a * 0x1.71547652b82fep+0 + TKM_ROUND, n = t - TKM_ROUND;
  double r = a - n * 0x1.62e42fefap-1 - n * 0x1.cf79abc9e3b3ap-40;
  return tkm_poly11(TKM_EXP, r) * tkm_power(t);
}

static inline double tkm_exp2f(double a) {
  a = tkm_limit(a, 300);
  double t = a + TKM_ROUND, n = t - TKM_ROUND;
  return tkm_poly11(TKM_EXP2, a - n) * tkm_power(t);
}

/* a = 2^k m, 1/sqrt 2 <= m < sqrt 2; log m = 2 atanh(s).  Gives k and log m;
 * a is positive and finite. */
static inline double tkm_log_parts(double a, double *k) {
  const uint64_t root = 0x3fe6a09e00000000, low = 0x000fffffffffffff;
  uint64_t u = tk_f64_bits(a) - root + ((uint64_t)1024 << 52);
  *k = tk_bits_f64(0x4330000000000000 | u >> 52) - (0x1p52 + 1024);
  double z = tk_bits_f64((u & low) + root) - 1;
  double s = z / (2 + z), x = s * s, x2 = x * x;
  const double *c = TKM_LOG;
  double p = TKM_P4(c, 0, x, x2) + (TKM_P2(c, 4, x) + c[6] * x2) * (x2 * x2);
  return 2 * s + s * x * p;
}

/* The logarithm r of a, or what it is where there is none. */
static inline double tkm_log_value(double a, double r) {
  r = a < INFINITY ? r : a;
  r = a == 0 ? -INFINITY : r;
  return a < 0 ? NAN : r;
}

static inline double tkm_logf(double a) {
  double k, r = tkm_log_parts(a, &k);
  return tkm_log_value(a, k * 0x1.62e42fefa39efp-1 + r);
}

static inline double tkm_log2f(double a) {
  double k, r = tkm_log_parts(a, &k);
  return tkm_log_value(a, r * 0x1.71547652b82fep+0 + k);
}

/* Beyond this tkm_reduce has too few digits of pi. */
#define TKM_REDUCE_MAX 0x1p20

/* a = n pi/2 + r, |r| <= pi/4; n's low bits are those of *t. */
static inline double tkm_reduce(double a, double *t) {
  *t = a * 0x1.45f306dc9c883p-1 + 0x1.8p52;
  double n = *t - 0x1.8p52;
  return a - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 -
         n * 0x1.3198a2e037073p-69;
}

/* sin(r + q pi/2) from q's low bits. */
static inline double tkm_sin_quarter(double r, uint64_t q) {
  double x = r * r, x2 = x * x, x4 = x2 * x2;
  double s = TKM_P4(TKM_SIN, 0, x, x2) + TKM_SIN[4] * x4;
  double c = TKM_P4(TKM_COS, 0, x, x2) + TKM_COS[4] * x4;
  s = r + r * x * s;
  c = 1 - 0.5 * x + x2 * c;
  double v = q & 1 ? c : s;
  return tk_bits_f64(tk_f64_bits(v) ^ (q & 2) << 62);
}

/* |a| <= TKM_REDUCE_MAX. */
static inline double tkm_sinf(double a) {
  double t, r = tkm_reduce(a, &t);
  double s = tkm_sin_quarter(r, tk_f64_bits(t));
  return a == 0 ? a : s; /* -0 keeps its sign */
}

static inline double tkm_cosf(double a) {
  double t, r = tkm_reduce(a, &t);
  return tkm_sin_quarter(r, tk_f64_bits(t) + 1);
}

/* Any a: slower. */
double tkm_sinf_any(double a);
double tkm_cosf_any(double a);

/* Beyond 4, erf is 1 in fp32. */
static inline double tkm_erff(double a) {
  double m = fabs(a), x = a * a, x2 = x * x, x4 = x2 * x2;
  const double *c = TKM_ERF, *d = TKM_ERF_TAIL;
  double near = TKM_P8(c, 0, x, x2, x4) + TKM_P2(c, 8, x) * (x4 * x4);
  double t = m - 2.5, t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  double far = TKM_P4(d, 16, t, t2) + TKM_P2(d, 20, t) * t4;
  far = TKM_P8(d, 0, t, t2, t4) + (TKM_P8(d, 8, t, t2, t4) + far * t8) * t8;
  far = m > 4 ? 1 : far;
  return m < 1 ? a * near : copysign(far, a);
}

/* (e^2a - 1) / (e^2a + 1), or a polynomial near 0. */
static inline double tkm_tanhf(double a) {
  double m = fabs(a), x = a * a, x2 = x * x, x4 = x2 * x2;
  double near =
      TKM_P8(TKM_TANH, 0, x, x2, x4) + TKM_P2(TKM_TANH, 8, x) * (x4 * x4);
  double far = 1 - 2 / (tkm_expf(2 * m) + 1);
  near = a == 0 ? a : a + a * x * near;
  return m < 0.6 ? near : copysign(far, a);
}

static inline double tkm_rsqrtf(double a) {
  return 1 / sqrt(a);
}

#endif
