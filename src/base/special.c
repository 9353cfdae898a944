/* special.c - functions of doubles that the C library lacks.
 *
 * Most call one that it has, and correct the result by what rounding drops:
 * fma(a, b, -(a * b)) is the exact error of a product.  Error bounds are in
 * libdevice.def and are checked against MPFR by tests/accuracy.
 */
#include "base/special.h"

#include "base/coefficients.h"

static const double PI_HI = 0x1.921fb54442d18p+1;
static const double PI_LO = 0x1.1a62633145c07p-53;
static const double SQRT_PI = 0x1.c5bf891b4ef6bp+0;
static const double SQRT2_HI = 0x1.6a09e667f3bcdp+0;
static const double HALF_SQRT2_HI = 0x1.6a09e667f3bcdp-1;
static const double HALF_SQRT2_LO = -0x1.bdd3413b26456p-55;

/* ---- bits -------------------------------------------------------------- */

uint64_t tkm_brev(uint64_t a) {
  uint64_t r = 0;
  for (int i = 0; i < 64; i++) r |= (a >> i & 1) << (63 - i);
  return r;
}

uint32_t tkm_byte_perm(int32_t a, int32_t b, int32_t digits) {
  uint64_t bytes = (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
  uint32_t r = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t digit = (uint32_t)digits >> (4 * i) & 7;
    r |= (uint32_t)(bytes >> (8 * digit) & 255) << (8 * i);
  }
  return r;
}

/* ---- roots and lengths ------------------------------------------------- */

/* Only the upper word counts, on both sides; it is cut off, as on an H200. */
double tkm_rcp64h(double a) {
  const uint64_t upper = ~(uint64_t)UINT32_MAX;
  double r = 1 / tk_bits_f64(tk_f64_bits(a) & upper);
  if (a != a || isinf(r)) return r;
  return tk_bits_f64(tk_f64_bits(r) & upper);
}

/* One Newton step with the residual 1 - a r^2 in twice the digits; an a far
 * from 1 is brought near it so that no square leaves the range. */
double tkm_rsqrt(double a) {
  bool near = a > 0x1p-900 && a < 0x1p900;
  if (!near && (!(a > 0) || isinf(a))) return 1 / sqrt(a);
  int e = near ? 0 : ilogb(a) & ~1;
  double x = near ? a : scalbn(a, -e), r = 1 / sqrt(x), s = r * r;
  double rest = fma(-x, s, 1) - x * fma(r, r, -s);
  r = r + r * rest * 0.5;
  return near ? r : scalbn(r, -e / 2);
}

double tkm_cbrt(double a) {
  double r = cbrt(a);
  if (a == 0 || !isfinite(a)) return r;
  int e = ilogb(a) / 3;
  double x = scalbn(a, -3 * e), s;
  r = scalbn(r, -e);
  s = r * r;
  double rest = fma(-r, s, x) - r * fma(r, r, -s);
  return scalbn(r + rest / (3 * s), e);
}

double tkm_rcbrt(double a) {
  double r = 1 / cbrt(a);
  if (a == 0 || !isfinite(a)) return r;
  double s = r * r, t = a * r;
  double rest = fma(-t, s, 1) - fma(a, r, -t) * s - t * fma(r, r, -s);
  return fma(r, rest / 3, r);
}

static int common_exponent(double a, double b, double c, double d) {
  double m = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
  return m > 0 && m < INFINITY ? ilogb(m) : 0;
}

static int any_infinite(double a, double b, double c, double d) {
  return isinf(a) || isinf(b) || isinf(c) || isinf(d);
}

static double sum_of_squares(double a, double b, double c, double d, int e) {
  a = scalbn(a, -e), b = scalbn(b, -e);
  c = scalbn(c, -e), d = scalbn(d, -e);
  return fma(a, a, fma(b, b, fma(c, c, d * d)));
}

double tkm_norm(double a, double b, double c, double d) {
  int e = common_exponent(a, b, c, d);
  if (any_infinite(a, b, c, d)) return INFINITY;
  return scalbn(sqrt(sum_of_squares(a, b, c, d, e)), e);
}

double tkm_rnorm(double a, double b, double c, double d) {
  int e = common_exponent(a, b, c, d);
  if (any_infinite(a, b, c, d)) return 0;
  return scalbn(1 / sqrt(sum_of_squares(a, b, c, d, e)), -e);
}

/* ---- sine and cosine of pi a ------------------------------------------- */

/* pi a as the sum of two doubles. */
static double times_pi(double a, double *low) {
  double p = PI_HI * a;
  *low = fma(PI_HI, a, -p) + PI_LO * a;
  return p;
}

static double sin_near(double r) {
  double low, p = times_pi(r, &low);
  return fma(cos(p), low, sin(p));
}

static double cos_near(double r) {
  double low, p = times_pi(r, &low);
  return fma(-sin(p), low, cos(p));
}

/* sin(pi a + quarter pi/2); a is reduced exactly. */
static double sinpi_from(double a, int quarter) {
  double y = fmod(a, 2), n = rint(2 * y), r = y - n / 2;
  switch (((int)n + quarter) & 3) {
  case 0: return sin_near(r);
  case 1: return cos_near(r);
  case 2: return -sin_near(r);
  default: return -cos_near(r);
  }
}

double tkm_sinpi(double a) {
  if (!isfinite(a)) return NAN;
  if (a == trunc(a)) return copysign(0, a);
  return sinpi_from(a, 0);
}

/* Halves are exact zeros, without a sign. */
double tkm_cospi(double a) {
  if (!isfinite(a)) return NAN;
  return sinpi_from(a, 1) + 0.0;
}

/* ---- the error function's relatives ------------------------------------ */

/* |a| < 1/4: 2/sqrt(pi) a (1 - a^2/3 + a^4/10 - ...), the n-th term divided
 * by n! (2n + 1). */
static double erf_near_0(double a) {
  const double high = 0x1.20dd750429b6dp+0, low = 0x1.1ae3a914fed8p-56;
  double p = a * high, rest = fma(a, high, -p) + a * low, x = a * a;
  static const double d[] = {-685440, 75600, -9360, 1320, -216, 42, -10, 3};
  double q = x / 6894720;
  for (int i = 0; i < 8; i++) q = (q + 1 / d[i]) * x;
  q = -q;
  return p + (rest + p * q);
}

/* From the nearest k/16 by the Taylor series, whose terms are the slope's
 * derivatives: b[n + 1] = (-2 c b[n] - 2 b[n - 1]) / (n + 1). */
double tkm_erf(double a) {
  double m = fabs(a);
  if (m < 0.25) return a == 0 ? a : erf_near_0(a);
  if (!(m < 6)) return m >= 6 ? copysign(1, a) : a;
  int k = (int)(m * 16 + 0.5);
  double c = k / 16.0, h = m - c, before = 0, b = 1, sum = 0, power = h;
  for (int n = 0; n < 14; n++) {
    sum += b * power / (n + 1);
    double next = -2 * (c * b + before) / (n + 1);
    before = b;
    b = next;
    power *= h;
  }
  const double *t = TKM_ERF_AT[k];
  return copysign(t[0] + (t[1] + t[2] * sum), a);
}

/* exp(a * a), the square's dropped part put back. */
static double exp_square(double a) {
  double s = a * a, e = exp(s);
  return isinf(e) ? e : fma(e, fma(a, a, -s), e);
}

/* a >= 10: 1 / (a sqrt pi) * (1 - 1/(2a^2) + 1*3/(2a^2)^2 - ...). */
static double erfcx_series(double a) {
  double x = 0.5 / a / a, term = 1, sum = 0;
  for (int k = 1; k < 24 && fabs(term) > 1e-18; k++) {
    term *= -x * (2 * k - 1);
    sum += term;
  }
  return (1 + sum) / SQRT_PI / a;
}

double tkm_erfcx(double a) {
  if (a != a) return a;
  if (a < 0) return 2 * exp_square(a) - tkm_erfcx(-a);
  return a < 10 ? exp_square(a) * erfc(a) : erfcx_series(a);
}

/* First guess of erfinv: M. Giles, "Approximating the erfinv function" (GPU
 * Computing Gems, 2011), seven digits; w is -log(1 - x^2). */
static double erfinv_guess(double w) {
  static const double near0[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static const double far[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                               -0.00367342844,  0.00573950773,  -0.0076224613,
                               0.00943887047,   1.00167406,     2.83297682};
  const double *c = w < 5 ? near0 : far;
  double x = w < 5 ? w - 2.5 : sqrt(w) - 3, p = c[0];
  for (int i = 1; i < 9; i++) p = p * x + c[i];
  return p;
}

/* |a| <= 1/2: two steps of Halley's method on erf(y) = a. */
static double erfinv_middle(double a) {
  double y = a * erfinv_guess(-log1p(-a * a));
  for (int i = 0; i < 2; i++) {
    double step = (erf(y) - a) * (SQRT_PI / 2) * exp(y * y);
    y -= step / fma(y, step, 1);
  }
  return y;
}

/* log(erfc(y) / p), also where erfc(y) has few digits left. */
static double log_ratio(double y, double p) {
  if (p > 1e-290) return log(erfc(y) / p);
  return log(tkm_erfcx(y)) - log(p) - y * y;
}

/* 0 < p <= 1/2: Newton's method on log erfc(y) = log p, which is nearly a
 * parabola: four steps are plenty from three digits. */
static double erfcinv_tail(double p) {
  double w = -log(p * (2 - p));
  double y = w < 16 ? erfinv_guess(w) * (1 - p) : sqrt(w - 0.5 * log(3.2 * w));
  for (int i = 0; i < 4; i++) {
    double step = log_ratio(y, p) * (SQRT_PI / 2) * tkm_erfcx(y);
    y += step;
    if (fabs(step) < 1e-9 * y) break;
  }
  return y;
}

double tkm_erfinv(double a) {
  double m = fabs(a);
  if (m <= 0.5) return a == 0 ? a : erfinv_middle(a);
  if (!(m < 1)) return m == 1 ? copysign(INFINITY, a) : NAN;
  return copysign(erfcinv_tail(1 - m), a);
}

double tkm_erfcinv(double a) {
  if (!(a > 0 && a < 2)) return a == 0 ? INFINITY : a == 2 ? -INFINITY : NAN;
  if (a <= 0.5) return erfcinv_tail(a);
  return a < 1.5 ? tkm_erfinv(1 - a) : -erfcinv_tail(2 - a);
}

/* erfc(t) / 2 at t = -a / sqrt 2, whose low part counts where erfc is
 * steep. */
double tkm_normcdf(double a) {
  if (a < -40 || a > 40) return a < 0 ? 0 : 1;
  double t = -a * HALF_SQRT2_HI;
  double low = fma(-a, HALF_SQRT2_HI, -t) - a * HALF_SQRT2_LO;
  return 0.5 * erfc(t) - low * exp(-t * t) / SQRT_PI;
}

double tkm_normcdfinv(double a) {
  return -SQRT2_HI * tkm_erfcinv(2 * a);
}

/* ---- gamma and Bessel functions ---------------------------------------- */

double tkm_lgamma(double a) {
  int sign;
  return lgamma_r(a, &sign);
}

/* The C library counts up to the order, one step at a time. */
enum { MAX_ORDER = 1 << 20 };

double tkm_jn(int32_t n, double a) {
  return n < 0 || n > MAX_ORDER ? NAN : jn(n, a);
}

double tkm_yn(int32_t n, double a) {
  return n < 0 || n > MAX_ORDER ? NAN : yn(n, a);
}

/* (a/2)^v * sum of (a^2/4)^k / (k! (k + v)!), v 0 or 1: all terms positive. */
static double bessel_i_series(int v, double a) {
  double q = a * a / 4, term = 1, sum = 0;
  for (int k = 1; k < 100 && term > 1e-18 * sum; k++) {
    term *= q / ((double)k * (k + v));
    sum += term;
  }
  return v ? a / 2 + a / 2 * sum : 1 + sum;
}

/* e^a / sqrt(2 pi a) * (1 - (4v^2 - 1)/(8a) + ...); e^a may overflow before
 * the product does. */
static double bessel_i_large(int v, double a) {
  double term = 1, sum = 0, half = exp(a / 2);
  for (int k = 1; k < 40 && fabs(term) > 1e-18; k++) {
    double odd = 2 * k - 1;
    term *= (odd * odd - 4 * v * v) / (8 * k * a);
    sum += term;
  }
  double root = sqrt(2 * PI_HI * a);
  if (a > 700) return half / root * (1 + sum) * half;
  return exp(a) / root * (1 + sum);
}

double tkm_bessel_i(int v, double a) {
  double m = fabs(a), r = m;
  if (a != a || isinf(a)) return v ? a : fabs(a);
  r = m < 20    ? bessel_i_series(v, m)
      : m > 720 ? INFINITY
                : bessel_i_large(v, m);
  return v ? copysign(r, a) : r;
}
