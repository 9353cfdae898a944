/* number_cvt.c - PTX conversions and comparisons. */
#include <fenv.h>
#include <math.h>

#include "ptx/number.h"

static bool cvt_has(const tk_asm_inst *in, tk_asm_mod m) {
  return tk_asm_has(in, m);
}

/* ---- small floats: pairs in one register ------------------------------- */

typedef struct small {
  uint8_t type;
  int exponent, fraction; /* bits */
  int bias;
  bool specials; /* all ones in the exponent: infinity, NaN */
} small;

static const small smalls[] = {{TK_AT_e2m3x2, 2, 3, 1, false},
                               {TK_AT_e3m2x2, 3, 2, 3, false},
                               {TK_AT_e2m1x2, 2, 1, 1, false}};

static const small *small_of(uint8_t type) {
  for (size_t i = 0; i < TK_COUNT(smalls); i++)
    if (smalls[i].type == type) return &smalls[i];
  TK_ASSERT(false); /* all other pairs are of fp8 and of scales */
  return NULL;
}

static double small_value(const small *f, unsigned bits) {
  unsigned e = bits >> f->fraction & ((1u << f->exponent) - 1);
  unsigned m = bits & ((1u << f->fraction) - 1);
  double sign = bits >> (f->exponent + f->fraction) & 1 ? -1 : 1;
  double v = e ? ldexp(1 + ldexp(m, -f->fraction), (int)e - f->bias)
               : ldexp(m, 1 - f->bias - f->fraction);
  return sign * v;
}

/* Nearest even; what is too large, and a NaN, become the largest. */
static unsigned small_bits(const small *f, double v) {
  unsigned top = (1u << (f->exponent + f->fraction)) - 1;
  unsigned sign = v == v && signbit(v) ? top + 1 : 0;
  unsigned best = top;
  double x = fabs(v), most = small_value(f, top);
  if (!(x < most)) return sign | top;
  for (unsigned k = top; k-- > 0;) {
    double far = fabs(small_value(f, k) - x);
    double near = fabs(small_value(f, best) - x);
    if (far < near || (far == near && !(k & 1))) best = k;
  }
  return sign | best;
}

static double half_value(uint8_t type, unsigned bits) {
  if (type == TK_AT_ue8m0x2)
    return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
  if (type == TK_AT_e4m3x2) return tk_fp8_to_f32(TK_FP8E4NV, (uint8_t)bits);
  if (type == TK_AT_e5m2x2) return tk_fp8_to_f32(TK_FP8E5, (uint8_t)bits);
  return small_value(small_of(type), bits);
}

/* A power of two at or, for .rp, above the number. */
static unsigned scale_bits(const tk_asm_inst *in, double v) {
  int e;
  if (v != v) return 255;
  double m = frexp(fabs(v), &e); /* 0.5 <= m < 1 */
  if (m == 0) return 0;
  if (isinf(v)) return cvt_has(in, TK_AM_satfinite) ? 254 : 255;
  int k = e - 1 + 127 + (cvt_has(in, TK_AM_rp) && m > 0.5);
  return k < 0 ? 0 : k > 254 ? 254 : (unsigned)k;
}

static unsigned half_bits(const tk_asm_inst *in, double v) {
  if (cvt_has(in, TK_AM_relu) && v < 0) v = 0;
  if (in->type == TK_AT_ue8m0x2) return scale_bits(in, v);
  if (in->type == TK_AT_e4m3x2) return tk_f32_to_fp8(TK_FP8E4NV, (float)v);
  if (in->type == TK_AT_e5m2x2) return tk_f32_to_fp8(TK_FP8E5, (float)v);
  return small_bits(small_of(in->type), v);
}

static bool is_pair(uint8_t type) {
  return tk_asm_types[type].part != type;
}

static unsigned half_width(uint8_t type) {
  return type == TK_AT_e2m1x2 ? 4 : tk_asm_types[type].bits / 2;
}

/* ---- floats ------------------------------------------------------------ */

static double integral(const tk_asm_inst *in, double v) {
  if (cvt_has(in, TK_AM_rzi)) return trunc(v);
  if (cvt_has(in, TK_AM_rmi)) return floor(v);
  if (cvt_has(in, TK_AM_rpi)) return ceil(v);
  return cvt_has(in, TK_AM_rni) ? nearbyint(v) : v;
}

static double limited(const tk_asm_inst *in, uint8_t type, double v) {
  static const double top16 = 65504, top_bf16 = 0x1.FEp127;
  if (v != v) return cvt_has(in, TK_AM_sat) ? 0 : v;
  if (cvt_has(in, TK_AM_sat)) v = v > 0 ? v < 1 ? v : 1 : 0;
  if (cvt_has(in, TK_AM_relu) && !(v > 0)) v = 0;
  if (!cvt_has(in, TK_AM_satfinite)) return v;
  double top = type == TK_AT_f16    ? top16
               : type == TK_AT_bf16 ? top_bf16
                                    : 0x1.fffffep127;
  return v > top ? top : v < -top ? -top : v;
}

/* Ten digits after the point; .rna rounds halves away from zero. */
static uint64_t tf32_bits(const tk_asm_inst *in, double v) {
  uint32_t u = tk_f32_bits((float)v);
  if (v != v) return 0x7FFFFFFF;
  uint32_t half = cvt_has(in, TK_AM_rna)  ? 0x1000
                  : cvt_has(in, TK_AM_rz) ? 0
                                          : 0xFFF + (u >> 13 & 1);
  if (isinf(v)) return u;
  return (u + half) & 0xFFFFE000;
}

static uint64_t real_bits(const tk_asm_inst *in, uint8_t type, double v) {
  v = limited(in, type, v);
  if (type == TK_AT_tf32) return tf32_bits(in, v);
  uint64_t u = tkp_round(in, type, v);
  bool tiny = cvt_has(in, TK_AM_ftz) && type == TK_AT_f32 &&
              fpclassify(tk_bits_f32((uint32_t)u)) == FP_SUBNORMAL;
  return tiny ? u & 0x80000000 : u;
}

static double source(const tk_asm_inst *in, uint64_t bits) {
  double v = tkp_to_double(in->type2, bits);
  bool tiny = cvt_has(in, TK_AM_ftz) && in->type2 == TK_AT_f32 &&
              fpclassify((float)v) == FP_SUBNORMAL;
  return tiny ? copysign(0, v) : v;
}

/* ---- integers ---------------------------------------------------------- */

static bool signed_type(uint8_t type) {
  return tk_asm_types[type].kind == 's';
}

static uint64_t clamp_int(uint8_t type, __int128 v) {
  unsigned bits = tkp_bits(type);
  __int128 lo = signed_type(type) ? -((__int128)1 << (bits - 1)) : 0;
  __int128 hi = signed_type(type) ? -lo - 1 : ((__int128)1 << bits) - 1;
  return (uint64_t)(v < lo ? lo : v > hi ? hi : v);
}

/* NaN becomes 0, or the top bit alone if either side has 64 bits. */
static uint64_t real_to_int(const tk_asm_inst *in, double v) {
  bool wide = tkp_bits(in->type) == 64 || in->type2 == TK_AT_f64;
  v = integral(in, v);
  if (v != v) return wide ? (uint64_t)1 << (tkp_bits(in->type) - 1) : 0;
  if (fabs(v) < 0x1p100) return clamp_int(in->type, (__int128)v);
  return clamp_int(in->type,
                   v > 0 ? (__int128)1 << 100 : -((__int128)1 << 100));
}

static __int128 int_source(const tk_asm_inst *in, uint64_t v) {
  unsigned bits = tkp_bits(in->type2);
  v &= tkp_mask(bits);
  return signed_type(in->type2) ? (__int128)tkp_signed(v, bits) : (__int128)v;
}

/* Two parts that are exact in double, added once in the asked direction. */
static uint64_t int_to_real(const tk_asm_inst *in, __int128 v) {
  double high = ldexp((double)(int64_t)(v >> 32), 32);
  double low = (double)(uint32_t)v;
  if (in->type == TK_AT_f64) {
    volatile double a = high, b = low;
    fesetround(cvt_has(in, TK_AM_rz)   ? FE_TOWARDZERO
               : cvt_has(in, TK_AM_rm) ? FE_DOWNWARD
               : cvt_has(in, TK_AM_rp) ? FE_UPWARD
                                       : FE_TONEAREST);
    volatile double r = a + b;
    fesetround(FE_TONEAREST);
    return tk_f64_bits(r);
  }
  /* To fewer bits: 53 with the last telling of what was lost. */
  double sum = high + low, lost = low - (sum - high);
  uint64_t u = tk_f64_bits(sum);
  if (lost != 0 && !(u & 1))
    sum = tk_bits_f64((lost > 0) == (sum > 0) ? u | 1 : (u - 1) | 1);
  return real_bits(in, in->type, sum);
}

/* ---- cvt --------------------------------------------------------------- */

static uint64_t to_half(const tk_asm_inst *in, double v) {
  uint8_t part = tk_asm_types[in->type].part;
  return tkp_float(part) ? real_bits(in, part, v) : half_bits(in, v);
}

/* cvt.e4m3x2.f32 d, a, b: a is the upper half. */
static uint64_t to_pair(const tkp_step *s) {
  const tk_asm_inst *in = s->in;
  unsigned to = half_width(in->type), from = half_width(in->type2);
  uint64_t hi, lo;
  if (s->n == 2) {
    hi = to_half(in, source(in, s->v[0]));
    lo = to_half(in, source(in, s->v[1]));
    return hi << to | lo;
  }
  uint8_t part = tk_asm_types[in->type2].part;
  uint64_t bits[2] = {s->v[0] & tkp_mask(from),
                      s->v[0] >> from & tkp_mask(from)};
  double v[2];
  for (int k = 0; k < 2; k++)
    v[k] = tkp_float(part) ? tkp_to_double(part, bits[k])
                           : half_value(in->type2, (unsigned)bits[k]);
  hi = to_half(in, v[1]);
  lo = to_half(in, v[0]);
  return hi << to | lo;
}

uint64_t tkp_cvt(const tkp_step *s) {
  const tk_asm_inst *in = s->in;
  if (is_pair(in->type)) return to_pair(s);
  bool real = tkp_float(in->type);
  if (tkp_float(in->type2)) {
    double v = source(in, s->v[0]);
    return real ? real_bits(in, in->type, integral(in, v)) : real_to_int(in, v);
  }
  __int128 v = int_source(in, s->v[0]);
  if (real) return int_to_real(in, v);
  return cvt_has(in, TK_AM_sat) ? clamp_int(in->type, v) : (uint64_t)v;
}

/* ---- comparisons ------------------------------------------------------- */

/* -1 below, 0 equal, 1 above, 2 a NaN is among them */
static int order_of(const tk_asm_inst *in, uint8_t type, uint64_t x,
                    uint64_t y) {
  unsigned bits = tkp_bits(type);
  x &= tkp_mask(bits);
  y &= tkp_mask(bits);
  if (tkp_float(type)) {
    tk_asm_inst as = *in;
    as.type2 = type;
    double a = source(&as, x), b = source(&as, y);
    return a != a || b != b ? 2 : a < b ? -1 : a > b;
  }
  if (signed_type(type)) {
    int64_t a = tkp_signed(x, bits), b = tkp_signed(y, bits);
    return a < b ? -1 : a > b;
  }
  return x < y ? -1 : x > y;
}

bool tkp_compare(const tk_asm_inst *in, uint8_t type, uint64_t a, uint64_t b) {
  static const struct {
    uint8_t mod;
    bool below, equal, above, unordered;
  } table[] = {{TK_AM_eq, 0, 1, 0, 0},  {TK_AM_ne, 1, 0, 1, 0},
               {TK_AM_lt, 1, 0, 0, 0},  {TK_AM_le, 1, 1, 0, 0},
               {TK_AM_gt, 0, 0, 1, 0},  {TK_AM_ge, 0, 1, 1, 0},
               {TK_AM_lo, 1, 0, 0, 0},  {TK_AM_ls, 1, 1, 0, 0},
               {TK_AM_hi, 0, 0, 1, 0},  {TK_AM_hs, 0, 1, 1, 0},
               {TK_AM_equ, 0, 1, 0, 1}, {TK_AM_neu, 1, 0, 1, 1},
               {TK_AM_ltu, 1, 0, 0, 1}, {TK_AM_leu, 1, 1, 0, 1},
               {TK_AM_gtu, 0, 0, 1, 1}, {TK_AM_geu, 0, 1, 1, 1},
               {TK_AM_num, 1, 1, 1, 0}, {TK_AM_nan, 0, 0, 0, 1}};
  int order = order_of(in, type, a, b);
  for (size_t i = 0; i < TK_COUNT(table); i++)
    if (cvt_has(in, (tk_asm_mod)table[i].mod))
      return order == 2   ? table[i].unordered
             : order < 0  ? table[i].below
             : order == 0 ? table[i].equal
                          : table[i].above;
  return false;
}
