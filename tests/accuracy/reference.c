/* reference.c - libdevice's functions from MPFR's. */
#include "accuracy/reference.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define R MPFR_RNDN

/* ---- MPFR's own -------------------------------------------------------- */

#define PLAIN(name, fn)                                                        \
  static void ref_##name(mpfr_ptr y, mpfr_t *x, double got) {                  \
    (void)got;                                                                 \
    fn(y, x[0], R);                                                            \
  }
#define PLAIN2(name, fn)                                                       \
  static void ref_##name(mpfr_ptr y, mpfr_t *x, double got) {                  \
    (void)got;                                                                 \
    fn(y, x[0], x[1], R);                                                      \
  }
PLAIN(exp, mpfr_exp)
PLAIN(exp2, mpfr_exp2)
PLAIN(exp10, mpfr_exp10)
PLAIN(expm1, mpfr_expm1)
PLAIN(log, mpfr_log)
PLAIN(log2, mpfr_log2)
PLAIN(log10, mpfr_log10)
PLAIN(log1p, mpfr_log1p)
PLAIN(cbrt, mpfr_cbrt)
PLAIN(sqrt, mpfr_sqrt)
PLAIN(sin, mpfr_sin)
PLAIN(cos, mpfr_cos)
PLAIN(tan, mpfr_tan)
PLAIN(asin, mpfr_asin)
PLAIN(acos, mpfr_acos)
PLAIN(atan, mpfr_atan)
PLAIN(sinh, mpfr_sinh)
PLAIN(cosh, mpfr_cosh)
PLAIN(tanh, mpfr_tanh)
PLAIN(asinh, mpfr_asinh)
PLAIN(acosh, mpfr_acosh)
PLAIN(atanh, mpfr_atanh)
PLAIN(erf, mpfr_erf)
PLAIN(erfc, mpfr_erfc)
PLAIN(tgamma, mpfr_gamma)
PLAIN(j0, mpfr_j0)
PLAIN(y0, mpfr_y0)
PLAIN(y1, mpfr_y1)
PLAIN(same, mpfr_set)
PLAIN2(add, mpfr_add)
PLAIN2(sub, mpfr_sub)
PLAIN2(mul, mpfr_mul)
PLAIN2(div, mpfr_div)
PLAIN2(pow, mpfr_pow)
PLAIN2(atan2, mpfr_atan2)
PLAIN2(hypot, mpfr_hypot)
PLAIN2(fdim, mpfr_dim)

/* ---- made of them ------------------------------------------------------ */

#define MADE(name) static void ref_##name(mpfr_ptr y, mpfr_t *x, double got)
#define UNUSED (void)got

/* IEEE 754: the sign of a zero stays. */
MADE(rsqrt) {
  UNUSED;
  mpfr_rec_sqrt(y, x[0], R);
  if (mpfr_zero_p(x[0])) mpfr_setsign(y, y, mpfr_signbit(x[0]), R);
}
MADE(fma) {
  UNUSED;
  mpfr_fma(y, x[0], x[1], x[2], R);
}
MADE(rcp) {
  UNUSED;
  mpfr_ui_div(y, 1, x[0], R);
}
MADE(rcbrt) {
  UNUSED;
  mpfr_cbrt(y, x[0], R);
  mpfr_ui_div(y, 1, y, R);
}
MADE(ldexp) {
  UNUSED;
  mpfr_mul_2si(y, x[0], mpfr_get_si(x[1], R), R);
}
MADE(lgamma) {
  int sign;
  UNUSED;
  mpfr_lgamma(y, &sign, x[0], R);
}
/* An odd function, at infinity too: -0 there. */
static void bessel_j(mpfr_ptr y, long n, mpfr_srcptr x) {
  mpfr_jn(y, n, x, R);
  if (mpfr_inf_p(x)) mpfr_setsign(y, y, n % 2 && mpfr_signbit(x), R);
}
MADE(j1) {
  UNUSED;
  bessel_j(y, 1, x[0]);
}
MADE(jn) {
  UNUSED;
  bessel_j(y, mpfr_get_si(x[0], R), x[1]);
}
MADE(yn) {
  UNUSED;
  mpfr_yn(y, mpfr_get_si(x[0], R), x[1], R);
}

/* f(pi x), x first brought to [-1, 1]: MPFR 4.1 has no sinpi. */
static void times_pi(mpfr_ptr y, mpfr_srcptr x) {
  mpfr_t two;
  mpfr_init2(two, PRECISION);
  mpfr_set_ui(two, 2, R);
  mpfr_remainder(y, x, two, R);
  mpfr_const_pi(two, R);
  mpfr_mul(y, y, two, R);
  mpfr_clear(two);
}
MADE(sinpi) {
  UNUSED;
  if (mpfr_integer_p(x[0])) {
    mpfr_set_zero(y, mpfr_signbit(x[0]) ? -1 : 1);
    return;
  }
  times_pi(y, x[0]);
  mpfr_sin(y, y, R);
}
MADE(cospi) {
  UNUSED;
  mpfr_mul_2ui(y, x[0], 1, R);
  bool half = mpfr_integer_p(y) && !mpfr_integer_p(x[0]);
  times_pi(y, x[0]);
  mpfr_cos(y, y, R);
  if (half) mpfr_set_zero(y, 1);
}

static void norm(mpfr_ptr y, mpfr_t *x, int n) {
  mpfr_t s;
  mpfr_init2(s, PRECISION);
  mpfr_abs(y, x[0], R);
  for (int i = 1; i < n; i++) {
    mpfr_set(s, y, R);
    mpfr_hypot(y, s, x[i], R);
  }
  mpfr_clear(s);
}
#define NORM(name, n)                                                          \
  MADE(name) {                                                                 \
    UNUSED;                                                                    \
    norm(y, x, n);                                                             \
  }                                                                            \
  MADE(r##name) {                                                              \
    UNUSED;                                                                    \
    norm(y, x, n);                                                             \
    mpfr_ui_div(y, 1, y, R);                                                   \
  }
NORM(norm3d, 3)
NORM(norm4d, 4)
MADE(rhypot) {
  UNUSED;
  norm(y, x, 2);
  mpfr_ui_div(y, 1, y, R);
}

/* exp(x^2) erfc(x); far out the first terms of its series at infinity,
 * 1 / (x sqrt pi) * (1 - 1 / (2 x^2) + 3 / (2 x^2)^2). */
MADE(erfcx) {
  mpfr_t e;
  UNUSED;
  mpfr_init2(e, PRECISION);
  mpfr_sqr(e, x[0], R);
  if (mpfr_cmp_d(x[0], 1e4) > 0) {
    mpfr_mul_2ui(y, e, 1, R);
    mpfr_ui_div(e, 1, y, R); /* u = 1 / (2 x^2): 1 - u (1 - 3 u) */
    mpfr_mul_ui(y, e, 3, R);
    mpfr_ui_sub(y, 1, y, R);
    mpfr_mul(y, y, e, R);
    mpfr_ui_sub(y, 1, y, R);
    mpfr_const_pi(e, R);
    mpfr_sqrt(e, e, R);
    mpfr_div(y, y, e, R);
    mpfr_div(y, y, x[0], R);
  } else {
    mpfr_exp(e, e, R);
    mpfr_erfc(y, x[0], R);
    mpfr_mul(y, y, e, R);
  }
  mpfr_clear(e);
}

/* y = erfc(x) or erf(x), and its derivative's size. */
static void slope(mpfr_ptr d, mpfr_srcptr x) {
  mpfr_t pi;
  mpfr_init2(pi, PRECISION);
  mpfr_const_pi(pi, R);
  mpfr_sqrt(pi, pi, R);
  mpfr_sqr(d, x, R);
  mpfr_neg(d, d, R);
  mpfr_exp(d, d, R);
  mpfr_mul_2ui(d, d, 1, R);
  mpfr_div(d, d, pi, R);
  mpfr_clear(pi);
}

/* Two Newton steps from a result with 16 digits, sign 1 for erf, -1 erfc. */
static void invert(mpfr_ptr y, mpfr_srcptr a, double got, int sign) {
  mpfr_t f, d;
  mpfr_inits2(PRECISION, f, d, (mpfr_ptr)0);
  mpfr_set_d(y, got, R);
  for (int i = 0; i < 3 && isfinite(got); i++) {
    if (sign > 0)
      mpfr_erf(f, y, R);
    else
      mpfr_erfc(f, y, R);
    mpfr_sub(f, f, a, R);
    slope(d, y);
    mpfr_div(f, f, d, R);
    if (sign > 0)
      mpfr_sub(y, y, f, R);
    else
      mpfr_add(y, y, f, R);
  }
  mpfr_clears(f, d, (mpfr_ptr)0);
}
MADE(erfinv) {
  invert(y, x[0], got, 1);
}
MADE(erfcinv) {
  invert(y, x[0], got, -1);
}
MADE(normcdfinv) {
  mpfr_t p;
  mpfr_init2(p, PRECISION);
  mpfr_mul_2ui(p, x[0], 1, R);
  invert(y, p, -got / sqrt(2), -1);
  mpfr_sqrt_ui(p, 2, R);
  mpfr_mul(y, y, p, R);
  mpfr_neg(y, y, R);
  mpfr_clear(p);
}
MADE(normcdf) {
  UNUSED;
  mpfr_sqrt_ui(y, 2, R);
  mpfr_div(y, x[0], y, R);
  mpfr_neg(y, y, R);
  mpfr_erfc(y, y, R);
  mpfr_div_2ui(y, y, 1, R);
}

/* (x/2)^v times the sum of (x^2/4)^k / (k! (k + v)!). */
static void bessel_i(mpfr_ptr y, mpfr_srcptr x, unsigned v) {
  mpfr_t term, q;
  mpfr_inits2(PRECISION, term, q, (mpfr_ptr)0);
  mpfr_sqr(q, x, R);
  mpfr_div_2ui(q, q, 2, R);
  mpfr_set_ui(term, 1, R);
  mpfr_set_ui(y, 1, R);
  for (unsigned k = 1; k < 2000; k++) {
    mpfr_mul(term, term, q, R);
    mpfr_div_ui(term, term, k, R);
    mpfr_div_ui(term, term, k + v, R);
    mpfr_add(y, y, term, R);
    if (!mpfr_regular_p(y) || mpfr_zero_p(term) ||
        mpfr_get_exp(term) < mpfr_get_exp(y) - PRECISION)
      break;
  }
  if (v) mpfr_mul(y, y, x, R);
  if (v) mpfr_div_2ui(y, y, 1, R);
  mpfr_clears(term, q, (mpfr_ptr)0);
}
MADE(cyl_bessel_i0) {
  UNUSED;
  bessel_i(y, x[0], 0);
}
MADE(cyl_bessel_i1) {
  UNUSED;
  bessel_i(y, x[0], 1);
}

/* ---- by name ----------------------------------------------------------- */

#define ENTRY(name)                                                            \
  { #name, ref_##name, INFINITY }
static const struct {
  const char *name;
  reference_fn fn;
  double limit;
} table[] = {
    ENTRY(exp),
    ENTRY(exp2),
    ENTRY(exp10),
    ENTRY(expm1),
    ENTRY(log),
    ENTRY(log2),
    ENTRY(log10),
    ENTRY(log1p),
    ENTRY(cbrt),
    ENTRY(sqrt),
    ENTRY(rsqrt),
    ENTRY(sin),
    ENTRY(cos),
    ENTRY(tan),
    ENTRY(asin),
    ENTRY(acos),
    ENTRY(atan),
    ENTRY(sinh),
    ENTRY(cosh),
    ENTRY(tanh),
    ENTRY(asinh),
    ENTRY(acosh),
    ENTRY(atanh),
    ENTRY(erf),
    ENTRY(erfc),
    ENTRY(add),
    ENTRY(sub),
    ENTRY(mul),
    ENTRY(div),
    ENTRY(pow),
    ENTRY(atan2),
    ENTRY(hypot),
    ENTRY(fdim),
    ENTRY(fma),
    ENTRY(rcp),
    ENTRY(rcbrt),
    ENTRY(ldexp),
    ENTRY(lgamma),
    ENTRY(sinpi),
    ENTRY(cospi),
    ENTRY(norm3d),
    ENTRY(norm4d),
    ENTRY(rnorm3d),
    ENTRY(rnorm4d),
    ENTRY(rhypot),
    ENTRY(erfcx),
    ENTRY(erfinv),
    ENTRY(erfcinv),
    ENTRY(normcdf),
    ENTRY(normcdfinv),
    {"scalbn", ref_ldexp, INFINITY},
    {"rcp64h", ref_rcp, INFINITY},
    {"fast_divide", ref_div, INFINITY},
    {"fast_sin", ref_sin, INFINITY},
    {"fast_cos", ref_cos, INFINITY},
    {"fast_tan", ref_tan, INFINITY},
    {"fast_tanh", ref_tanh, INFINITY},
    {"fast_exp", ref_exp, INFINITY},
    {"fast_exp10", ref_exp10, INFINITY},
    {"fast_log", ref_log, INFINITY},
    {"fast_log2", ref_log2, INFINITY},
    {"fast_log10", ref_log10, INFINITY},
    {"fast_pow", ref_pow, INFINITY},
    {"tgamma", ref_tgamma, 1e6},
    {"j0", ref_j0, 1000},
    {"j1", ref_j1, 1000},
    {"y0", ref_y0, 1000},
    {"y1", ref_y1, 1000},
    {"jn", ref_jn, 1000},
    {"yn", ref_yn, 1000},
    {"cyl_bessel_i0", ref_cyl_bessel_i0, 720},
    {"cyl_bessel_i1", ref_cyl_bessel_i1, 720},
};

static bool named(const char *name, size_t n, size_t i) {
  return strlen(table[i].name) == n && !strncmp(table[i].name, name, n);
}

/* name, name of fast_namef, name_rn and the like, type2type_rn. */
reference_fn reference(const char *name, double *limit) {
  size_t n = strlen(name);
  bool direction = n > 3 && name[n - 3] == '_' && name[n - 2] == 'r';
  if (direction) n -= 3;
  if (!strncmp(name, "fast_", 5) && name[n - 1] == 'f') n--;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (!named(name, n, i)) continue;
    *limit = table[i].limit;
    return table[i].fn;
  }
  *limit = INFINITY;
  return direction && strchr(name, '2') ? ref_same : NULL;
}
