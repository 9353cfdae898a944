/* float_format.c - see float_format.h. */
#include "support/float_format.h"

#include <stddef.h>
#include <string.h>

static const ff_format formats[] = {
    {"fp64", 11, 52, 1023, FF_IEEE},  {"fp32", 8, 23, 127, FF_IEEE},
    {"tf32", 8, 10, 127, FF_IEEE},    {"fp16", 5, 10, 15, FF_IEEE},
    {"bf16", 8, 7, 127, FF_IEEE},     {"fp8e5", 5, 2, 15, FF_IEEE},
    {"fp8e4nv", 4, 3, 7, FF_FN},      {"fp8e4b8", 4, 3, 8, FF_FNUZ},
    {"fp8e5b16", 5, 2, 16, FF_FNUZ},  {"fp8e4b15", 4, 3, 15, FF_NUMBERS},
    {"fp4e2m1", 2, 1, 1, FF_NUMBERS},
};

const ff_format *ff_named(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (!strcmp(formats[i].name, name)) return &formats[i];
  return NULL;
}

int ff_bits(const ff_format *f) {
  return 1 + f->ebits + f->mbits;
}

static uint64_t sign_bit(const ff_format *f) {
  return (uint64_t)1 << (f->ebits + f->mbits);
}

static uint64_t inf_code(const ff_format *f) {
  return (((uint64_t)1 << f->ebits) - 1) << f->mbits;
}

uint64_t ff_max_code(const ff_format *f) {
  if (f->special == FF_IEEE) return inf_code(f) - 1;
  return sign_bit(f) - (f->special == FF_FN ? 2 : 1);
}

static bool is_nan_code(const ff_format *f, uint64_t code) {
  uint64_t magnitude = code & (sign_bit(f) - 1);
  switch (f->special) {
  case FF_IEEE: return magnitude > inf_code(f);
  case FF_FN: return magnitude == sign_bit(f) - 1;
  case FF_FNUZ: return code == sign_bit(f);
  default: return false;
  }
}

ff_value ff_decode(const ff_format *f, uint64_t code) {
  ff_value v = {FF_NAN, (code & sign_bit(f)) != 0, 0, 0};
  uint64_t magnitude = code & (sign_bit(f) - 1);
  if (is_nan_code(f, code)) return v;
  if (f->special == FF_IEEE && magnitude == inf_code(f)) {
    v.kind = FF_INFINITE;
    return v;
  }
  int exponent = (int)(magnitude >> f->mbits);
  v.m = magnitude & (((uint64_t)1 << f->mbits) - 1);
  if (exponent) v.m |= (uint64_t)1 << f->mbits;
  v.e = (exponent ? exponent : 1) - f->bias - f->mbits;
  v.kind = v.m ? FF_FINITE : FF_ZERO;
  return v;
}

ff_value ff_from_double(double d) {
  uint64_t u;
  memcpy(&u, &d, sizeof u);
  return ff_decode(&formats[0], u);
}

static int top_bit(uint64_t m) {
  int n = 0;
  while (m >> 1 >> n) n++;
  return n;
}

/* m * 2^-shift as an integer. */
static uint64_t shifted(uint64_t m, int shift, ff_mode mode) {
  if (shift <= 0) return m << -shift;
  if (shift > 63) return 0; /* m has at most 53 bits: far below a half */
  uint64_t q = m >> shift, rest = m & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  if (mode == FF_TOWARD_ZERO || rest < half) return q;
  bool tie = rest == half;
  return q + (!tie || mode == FF_NEAREST_AWAY || (q & 1));
}

static uint64_t number_code(const ff_format *f, ff_value v, ff_mode mode) {
  int smallest = 1 - f->bias, exponent = v.e + top_bit(v.m);
  if (exponent < smallest) exponent = smallest;
  uint64_t q = shifted(v.m, exponent - f->mbits - v.e, mode);
  uint64_t hidden = (uint64_t)1 << f->mbits;
  if (q < hidden) return q; /* only where exponent is the smallest */
  return ((uint64_t)(exponent - smallest) << f->mbits) + q;
}

uint64_t ff_encode(const ff_format *f, ff_value v, ff_mode mode,
                   bool saturate) {
  uint64_t sign = v.negative ? sign_bit(f) : 0, code = 0;
  bool infinite = v.kind == FF_INFINITE;
  if (v.kind == FF_FINITE) code = number_code(f, v, mode);
  if (infinite || code > ff_max_code(f)) {
    saturate |= f->special != FF_IEEE || (!infinite && mode == FF_TOWARD_ZERO);
    code = saturate ? ff_max_code(f) : inf_code(f);
  }
  return !code && f->special == FF_FNUZ ? 0 : code | sign;
}
