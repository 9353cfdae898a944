/* test_accuracy.c - how far functions are from the exact value, by MPFR.
 *
 *   test_accuracy                    every function on a few thousand
 *                                    arguments; fails past its bound
 *   test_accuracy --table N [NAME]   on N arguments each (tl.* on 16 N), and
 *                                    prints a table
 *   test_accuracy --all              fp32 functions of tl on all arguments
 *   test_accuracy --document N       prints docs/accuracy.md: both tables
 *
 * Argument i is the same in every run, so that a short run sees a part of
 * what a long one saw.  Arguments are bit patterns, and numbers of everyday
 * sizes, by turns; the first ones are the corners.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/interp.h"
#include "base/special.h"
#include "interp/kernels.h"
#include "ir/libdevice.h"

#ifdef HAVE_MPFR
#include "accuracy/reference.h"

/* ---- arguments --------------------------------------------------------- */

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static const double corners[] = {0,
                                 0.25,
                                 0.5,
                                 1,
                                 1.5,
                                 2,
                                 2.5,
                                 3,
                                 4,
                                 10,
                                 20,
                                 26.5,
                                 38,
                                 88.72284,
                                 103.97208,
                                 150,
                                 709.782712893384,
                                 745.13321910194,
                                 1000,
                                 0.0009765625,
                                 1.5707963267949,
                                 3.14159265358979,
                                 0x1p-126,
                                 0x1p-149,
                                 0x1p127,
                                 0x1p20,
                                 0x1p31,
                                 0x1p32,
                                 0x1p52,
                                 0x1p63,
                                 1e10,
                                 1e22,
                                 6.3823379e30,
                                 0x1p-1022,
                                 0x1p-1074,
                                 1e300,
                                 INFINITY,
                                 NAN,
                                 0.7071067811865476,
                                 1.4142135623730951};
enum { CORNERS = 2 * 5 * (int)(sizeof corners / sizeof *corners) };

/* A corner or one of its neighbours. */
static double corner(uint64_t i, bool is32) {
  double x = corners[i / 10];
  int step = (int)(i % 5) - 2;
  x = i / 5 % 2 ? -x : x;
  for (; step; step += step < 0 ? 1 : -1)
    x = is32 ? (double)nextafterf((float)x, step < 0 ? -INFINITY : INFINITY)
             : nextafter(x, step < 0 ? -INFINITY : INFINITY);
  return x;
}

static double argument_float(uint64_t i, uint64_t bits, bool is32) {
  static const double sizes[] = {1, 8, 120, 1};
  if (i < CORNERS) return corner(i, is32);
  double u = (double)(bits >> 11) * 0x1p-52 - 1;
  switch (i % 8) {
  case 0:
  case 1:
  case 2:
  case 3: return u * sizes[i % 4];
  case 4: return 1 - fabs(u) * 0x1p-12; /* where inverse functions are steep */
  default: break;
  }
  if (is32) return tk_bits_f32((uint32_t)(bits >> 32));
  return tk_bits_f64(bits);
}

/* The k-th argument of the i-th call, as the type has it. */
static void argument(uint64_t i, int k, tk_dtype t, bool order, void *out) {
  uint64_t bits = mix(i * 4 + (uint64_t)k + 1);
  int64_t whole = (int64_t)bits >> (i % 60);
  uint64_t at = k ? (i * (uint64_t)(2 * k + 3)) % (4 * CORNERS) + i / 7 : i;
  if (order) whole = (int64_t)(bits % 31);
  switch (t) {
  case TK_FP32: *(float *)out = (float)argument_float(at, bits, true); break;
  case TK_FP64: *(double *)out = argument_float(at, bits, false); break;
  case TK_INT32:
  case TK_UINT32: *(uint32_t *)out = (uint32_t)whole; break;
  default: *(uint64_t *)out = (uint64_t)whole;
  }
}

static void exactly(mpfr_t x, tk_dtype t, const void *at) {
  switch (t) {
  case TK_FP32: mpfr_set_flt(x, *(const float *)at, MPFR_RNDN); break;
  case TK_FP64: mpfr_set_d(x, *(const double *)at, MPFR_RNDN); break;
  case TK_INT32: mpfr_set_si(x, *(const int32_t *)at, MPFR_RNDN); break;
  case TK_UINT32: mpfr_set_ui(x, *(const uint32_t *)at, MPFR_RNDN); break;
  case TK_INT64: mpfr_set_si(x, *(const int64_t *)at, MPFR_RNDN); break;
  default: mpfr_set_ui(x, *(const uint64_t *)at, MPFR_RNDN);
  }
}

/* ---- error ------------------------------------------------------------- */

/* What is checked: one overload of one function. */
typedef struct subject {
  char name[48];
  tk_overload types;
  reference_fn ref;
  double limit, bound;
  bool absolute, order;
  int direction; /* 'n', 'z', 'd' or 'u' */
  tki_unary_fn unary;
  tki_binary_fn binary;
  tki_extern_fn ext;
} subject;

typedef struct worst {
  double error;
  double x[4], got;
} worst;

/* 2^-23 or 2^-52 times the power of two of y, as the format has it; an
 * infinite result stands for the number after the largest. */
static void unit_of(mpfr_t unit, const mpfr_t y, bool is32, bool absolute) {
  long least = is32 ? -126 : -1022, digits = is32 ? 23 : 52;
  long e = mpfr_zero_p(y) ? least : mpfr_get_exp(y) - 1;
  if (absolute) {
    mpfr_abs(unit, y, MPFR_RNDN);
    if (mpfr_cmp_ui(unit, 1) < 0) mpfr_set_ui(unit, 1, MPFR_RNDN);
    mpfr_div_2ui(unit, unit, 52, MPFR_RNDN);
    return;
  }
  if (e < least) e = least;
  if (e > (is32 ? 127 : 1023)) e = is32 ? 127 : 1023;
  mpfr_set_ui_2exp(unit, 1, e - digits, MPFR_RNDN);
}

/* Whether got lies on the side of y that a direction asks for. */
static bool right_side(const mpfr_t got, const mpfr_t y, int direction) {
  int c = mpfr_cmp(got, y);
  if (direction == 'z') direction = mpfr_signbit(y) ? 'u' : 'd';
  return direction == 'd' ? c <= 0 : direction == 'u' ? c >= 0 : true;
}

/* The first number that the format has not, of got's sign. */
static void past_the_largest(mpfr_t m, double got, bool is32) {
  mpfr_set_ui_2exp(m, 1, is32 ? 128 : 1024, MPFR_RNDN);
  if (got < 0) mpfr_neg(m, m, MPFR_RNDN);
}

static double finite_error(const subject *f, double got, const mpfr_t y) {
  bool is32 = f->types.result == TK_FP32;
  mpfr_t unit, g;
  mpfr_inits2(PRECISION, unit, g, (mpfr_ptr)0);
  past_the_largest(g, got, is32);
  bool beyond = mpfr_cmpabs(y, g) >= 0;
  bool largest = fabs(got) == (is32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023);
  if (!isinf(got)) mpfr_set_d(g, got, MPFR_RNDN);
  bool side = right_side(g, y, f->direction) || (beyond && isinf(got));
  unit_of(unit, y, is32, f->absolute && !is32);
  mpfr_sub(g, g, y, MPFR_RNDN);
  mpfr_div(g, g, unit, MPFR_RNDN);
  double e = fabs(mpfr_get_d(g, MPFR_RNDU));
  if (beyond && (isinf(got) || (largest && f->direction != 'n'))) e = 0;
  mpfr_clears(unit, g, (mpfr_ptr)0);
  return side ? e : INFINITY;
}

static double error_of(const subject *f, double got, const mpfr_t y) {
  if (mpfr_nan_p(y) || isnan(got))
    return mpfr_nan_p(y) && isnan(got) ? 0 : INFINITY;
  if (mpfr_inf_p(y)) return got == mpfr_get_d(y, MPFR_RNDN) ? 0 : INFINITY;
  bool sign = signbit(got) != 0;
  if (got == 0 && f->direction == 'n' && sign != !!mpfr_signbit(y))
    return INFINITY;
  return finite_error(f, got, y);
}

static double call(const subject *f, uint64_t lanes[4]) {
  const void *args[4] = {&lanes[0], &lanes[1], &lanes[2], &lanes[3]};
  uint64_t out = 0;
  if (f->ext)
    f->ext(&out, args, 1);
  else if (f->unary)
    f->unary(&out, args[0], 1);
  else
    f->binary(&out, args[0], args[1], 1, 0);
  float f32;
  double f64;
  memcpy(&f32, &out, 4);
  memcpy(&f64, &out, 8);
  return f->types.result == TK_FP32 ? (double)f32 : f64;
}

static void one(const subject *f, uint64_t i, mpfr_t *x, mpfr_t y, worst *w) {
  uint64_t lanes[4] = {0};
  for (int k = 0; k < f->types.nargs; k++) {
    tk_dtype t = (tk_dtype)f->types.args[k];
    argument(i, k, t, f->order && k == 0, &lanes[k]);
    exactly(x[k], t, &lanes[k]);
    if (mpfr_number_p(x[k]) && fabs(mpfr_get_d(x[k], MPFR_RNDN)) > f->limit)
      return;
  }
  double got = call(f, lanes);
  f->ref(y, x, got);
  double e = error_of(f, got, y);
  if (!(e > w->error)) return;
  w->error = e;
  w->got = got;
  for (int k = 0; k < f->types.nargs; k++)
    w->x[k] = mpfr_get_d(x[k], MPFR_RNDN);
}

static worst measure(const subject *f, uint64_t n) {
  mpfr_t x[4], y;
  worst w = {0};
  mpfr_init2(y, PRECISION);
  for (int k = 0; k < 4; k++) mpfr_init2(x[k], PRECISION);
  for (uint64_t i = 0; i < n; i++) one(f, i, x, y, &w);
  for (int k = 0; k < 4; k++) mpfr_clear(x[k]);
  mpfr_clear(y);
  return w;
}

/* ---- what there is ----------------------------------------------------- */

static subject subjects[400];
static int nsubjects;

static subject *add(const char *name, const char *as, tk_overload types) {
  subject *f = &subjects[nsubjects++];
  memset(f, 0, sizeof *f);
  snprintf(f->name, sizeof f->name, "%s", name);
  f->types = types;
  f->ref = reference(as, &f->limit);
  size_t n = strlen(as);
  bool direction = n > 3 && as[n - 3] == '_' && as[n - 2] == 'r';
  f->direction = direction ? as[n - 1] : 'n';
  return f;
}

static void add_language(void) {
  static const struct {
    const char *name;
    int op, nargs;
  } table[] = {{"exp", TK_U_EXP, 1},   {"exp2", TK_U_EXP2, 1},
               {"log", TK_U_LOG, 1},   {"log2", TK_U_LOG2, 1},
               {"sin", TK_U_SIN, 1},   {"cos", TK_U_COS, 1},
               {"sqrt", TK_U_SQRT, 1}, {"rsqrt", TK_U_RSQRT, 1},
               {"erf", TK_U_ERF, 1},   {"div", TK_B_DIV, 2}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    for (int wide = 0; wide < 2; wide++) {
      uint8_t t = wide ? TK_FP64 : TK_FP32;
      char name[32];
      bool div = table[i].nargs == 2;
      snprintf(name, sizeof name, "tl.%s", div ? "fdiv" : table[i].name);
      subject *f = add(name, table[i].name,
                       (tk_overload){(uint8_t)table[i].nargs, t, {t, t}});
      f->bound = div || !strcmp(table[i].name, "sqrt") ? 0.5 : 1;
      if (div)
        f->binary = tki_binary_kernel((tk_binary)table[i].op, (tk_dtype)t);
      else
        f->unary = tki_unary_kernel((tk_unary)table[i].op, (tk_dtype)t);
    }
}

/* Returns how many functions lack a reference. */
static int add_libdevice(void) {
  const tk_extern *e;
  int lacking = 0;
  for (size_t row = 0; (e = tk_extern_at(row)); row++)
    for (size_t k = 0; k < TK_OVERLOADS && e->overloads[k].nargs; k++) {
      const tk_overload *o = &e->overloads[k];
      double bound = o->result == TK_FP32 ? e->bound32 : e->bound64;
      if (bound == 0 || (o->result != TK_FP32 && o->result != TK_FP64))
        continue;
      char name[64];
      snprintf(name, sizeof name, "libdevice.%s", e->name);
      subject *f = add(name, e->name, *o);
      f->ext = tki_extern_kernel(row, k);
      f->bound = f->direction == 'n' ? bound : 1;
      f->absolute = e->absolute;
      f->order = !strcmp(e->name, "jn") || !strcmp(e->name, "yn");
      if (f->ref) continue;
      printf("FAIL %s: no reference\n", name);
      lacking++;
      nsubjects--;
    }
  return lacking;
}

/* ---- all arguments ----------------------------------------------------- */

/* How many ULPs of fp32 there are in 1 near y. */
static double units(double y) {
  int e = (int)(tk_f64_bits(y) >> 52 & 0x7ff) - 1023;
  return tk_bits_f64((uint64_t)(1023 + 23 - (e < -126 ? -126 : e)) << 52);
}

/* The largest error of a lane loop over the fp32 numbers with those upper
 * 16 bits, by the C library's function of doubles: good to 2^-28 ULP. */
static double block_error(tki_unary_fn fn, double (*exact)(double),
                          uint32_t upper) {
  static float x[1 << 16], r[1 << 16];
  double most = 0;
  for (uint32_t i = 0; i < 1 << 16; i++) x[i] = tk_bits_f32(upper << 16 | i);
  fn(r, x, 1 << 16);
  for (uint32_t i = 0; i < 1 << 16; i++) {
    double y = exact((double)x[i]);
    if (isnan(y) && isnan(r[i])) continue;
    if (isinf((float)y) && (double)r[i] == (float)y) continue;
    double error = fabs((double)r[i] - y) * units(y);
    most = !(error <= most) ? error : most;
  }
  return most;
}

static double rsqrt(double a) {
  return 1 / sqrt(a);
}

static void print_all(void) {
  static const struct {
    const char *name;
    tk_unary op;
    double (*exact)(double);
  } table[] = {{"tl.exp", TK_U_EXP, exp},    {"tl.exp2", TK_U_EXP2, exp2},
               {"tl.log", TK_U_LOG, log},    {"tl.log2", TK_U_LOG2, log2},
               {"tl.sin", TK_U_SIN, sin},    {"tl.cos", TK_U_COS, cos},
               {"tl.sqrt", TK_U_SQRT, sqrt}, {"tl.rsqrt", TK_U_RSQRT, rsqrt},
               {"tl.erf", TK_U_ERF, erf}};
  printf("| function | measured, all fp32 |\n|---|---|\n");
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    tki_unary_fn fn = tki_unary_kernel(table[i].op, TK_FP32);
    double most = 0;
    for (uint32_t upper = 0; upper < 1 << 16; upper++) {
      double e = block_error(fn, table[i].exact, upper);
      most = !(e <= most) ? e : most;
    }
    printf("| `%s` | %.7f |\n", table[i].name, ceil(most * 1e7) / 1e7);
    fflush(stdout);
  }
}

/* ---- reporting --------------------------------------------------------- */

static bool within(const subject *f, const worst *w, FILE *to) {
  if (w->error <= f->bound) return true;
  fprintf(to, "FAIL %s: %g past the bound %g: (", f->name, w->error, f->bound);
  for (int k = 0; k < f->types.nargs; k++)
    fprintf(to, "%s%.17g", k ? ", " : "", w->x[k]);
  fprintf(to, ") gives %.17g\n", w->got);
  return false;
}

/* The figure that docs/accuracy.md gives for a function of fp32, or -1. */
static double documented(const char *docs, const subject *f) {
  char key[128];
  snprintf(key, sizeof key, "| `%.48s(fp32)` | ", f->name);
  const char *at = docs ? strstr(docs, key) : NULL;
  return at ? atof(at + strlen(key)) : -1;
}

static char *read_docs(void) {
  char path[1024];
  snprintf(path, sizeof path, "%s", __FILE__);
  char *slash = strstr(path, "tests/accuracy/");
  if (slash) strcpy(slash, "docs/accuracy.md");
  FILE *f = fopen(path, "rb");
  char *s = calloc(1, 1 << 16);
  if (f && !fread(s, 1, (1 << 16) - 1, f)) s[0] = 0;
  if (f) fclose(f);
  return s;
}

static void signature(const subject *f, char *out, size_t size) {
  size_t n = (size_t)snprintf(out, size, "%s(", f->name);
  for (int k = 0; k < f->types.nargs; k++)
    n += (size_t)snprintf(out + n, size - n, "%s%s", k ? ", " : "",
                          tk_dtype_name((tk_dtype)f->types.args[k]));
  snprintf(out + n, size - n, ")");
}

static bool is_language(const subject *f) {
  return !strncmp(f->name, "tl.", 3);
}

static void print_table(uint64_t n, const char *only) {
  printf("| function | measured | bound | arguments |\n"
         "|---|---|---|---|\n");
  for (int i = 0; i < nsubjects; i++) {
    const subject *f = &subjects[i];
    if (only && !strstr(f->name, only)) continue;
    if (f->direction != 'n') continue;
    uint64_t count = is_language(f) ? 16 * n : n;
    worst w = measure(f, count);
    char name[128];
    within(f, &w, stderr);
    signature(f, name, sizeof name);
    printf("| `%s` | %.4f | %g | %llu |\n", name, ceil(w.error * 1e4) / 1e4,
           f->bound, (unsigned long long)count);
    fflush(stdout);
  }
}

static void print_document(uint64_t n) {
  puts(
      "# Accuracy\n\n"
      "This page is written by `make accuracy`: do not edit it.  An error\n"
      "is the distance from the exact value, in units of the last place\n"
      "(ULP) of the result's type; 0.5 is correctly rounded.  The bound is\n"
      "what `tkdbg help` says and what the tests check; for `tl` it is the\n"
      "promise of 1 ULP.\n\n"
      "fp32 functions of `tl` are computed in double by operations that\n"
      "every processor rounds alike, and rounded once: their results do not\n"
      "depend on the machine.  Most fp64 functions are the C library's, whose\n"
      "last bit may differ between its versions, and between processors with\n"
      "and without fused multiply-add.  The fp32 functions of libdevice are\n"
      "rounded from these, and may so differ in about one lane of 10^8.\n\n"
      "## Every fp32 argument\n\n"
      "These errors were measured over all 2^32 arguments, against the C\n"
      "library's functions of doubles (exact to 2^-28 ULP of fp32):\n");
  print_all();
  puts("\n## Beside MPFR\n\n"
       "The arguments are corner cases and their neighbours, random bit\n"
       "patterns, and random numbers of everyday sizes; the exact values are\n"
       "MPFR's with 200 bits.  Bessel functions are measured for |x| up to\n"
       "1000 (I: 720) and orders up to 30; their fp64 errors are in units of\n"
       "2^-52 of the result or of 1, whichever is larger.  `tgamma` is\n"
       "measured for |x| up to 10^6.  The functions with a direction (`_rn`,\n"
       "`_rz`, `_rd`, `_ru`) must be exact in theirs.\n");
  print_table(n, NULL);
}

enum { QUICK = 3000 };

/* fp64's functions are the C library's, and may differ from those that the
 * table was made with. */
static int check_all(void) {
  int failed = 0;
  char *docs = read_docs();
  for (int i = 0; i < nsubjects; i++) {
    const subject *f = &subjects[i];
    worst w = measure(f, QUICK);
    double said = f->types.result == TK_FP32 ? documented(docs, f) : -1;
    bool more = said >= 0 && w.error > said;
    bool absent = is_language(f) && f->types.result == TK_FP32 &&
                  f->types.nargs == 1 && said < 0;
    if (more || absent)
      printf("FAIL %s: %.5f, and docs/accuracy.md says %g\n", f->name, w.error,
             said);
    failed += !within(f, &w, stdout) || more || absent;
  }
  free(docs);
  return failed;
}

int main(int argc, char **argv) {
  add_language();
  int failed = add_libdevice();
  if (argc > 1 && !strcmp(argv[1], "--all")) {
    print_all();
  } else if (argc > 2 && !strcmp(argv[1], "--document")) {
    print_document(strtoull(argv[2], NULL, 10));
  } else if (argc > 2 && !strcmp(argv[1], "--table")) {
    print_table(strtoull(argv[2], NULL, 10), argc > 3 ? argv[3] : NULL);
  } else {
    failed += check_all();
    printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n",
           100 * (nsubjects - failed) / nsubjects, nsubjects, failed);
  }
  mpfr_free_cache();
  return failed != 0;
}

#else

int main(void) {
  printf("SKIP accuracy: built without MPFR (libmpfr-dev)\n");
  return 0;
}
#endif
