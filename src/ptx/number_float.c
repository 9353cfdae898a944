/* number_float.c - PTX on floats.
 *
 * Sums, products, quotients and roots are rounded once, in the direction that
 * the instruction names; approximate.h has what PTX calls approximate.
 * A NaN comes out as the one that the hardware makes.
 */
#include <fenv.h>
#include <math.h>

#include "ptx/approximate.h"
#include "ptx/number.h"

typedef tkp_step step;

static bool step_has(const step *s, tk_asm_mod m) {
  return tk_asm_has(s->in, m);
}

static int direction(const tk_asm_inst *in) {
  return tk_asm_has(in, TK_AM_rz)   ? FE_TOWARDZERO
         : tk_asm_has(in, TK_AM_rm) ? FE_DOWNWARD
         : tk_asm_has(in, TK_AM_rp) ? FE_UPWARD
                                    : FE_TONEAREST;
}

/* ---- bits and numbers -------------------------------------------------- */

double tkp_to_double(uint8_t type, uint64_t bits) {
  switch (type) {
  case TK_AT_f16: return tk_f16_to_f32((uint16_t)bits);
  case TK_AT_bf16: return tk_bf16_to_f32((uint16_t)bits);
  case TK_AT_f64: return tk_bits_f64(bits);
  default: return tk_bits_f32((uint32_t)bits);
  }
}

static uint64_t canonical_nan(uint8_t type) {
  switch (type) {
  case TK_AT_f16:
  case TK_AT_bf16: return 0x7FFF;
  case TK_AT_f64: return 0x7FF8000000000000;
  default: return 0x7FFFFFFF;
  }
}

static tk_dtype dtype_of(uint8_t type) {
  switch (type) {
  case TK_AT_f16: return TK_FP16;
  case TK_AT_bf16: return TK_BF16;
  case TK_AT_f64: return TK_FP64;
  default: return TK_FP32;
  }
}

/* The neighbour of a 16-bit float on the side that `mode` asks for. */
static uint64_t step16(uint8_t type, uint64_t h, double v, int mode) {
  double got = tkp_to_double(type, h);
  bool below = got < v, minus = h >> 15 & 1;
  if (got == v || mode == FE_TONEAREST) return h;
  bool up = mode == FE_UPWARD || (mode == FE_TOWARDZERO && v < 0);
  if (up != below) return h; /* already on that side */
  if (!(h & 0x7FFF) && up == minus) return up ? 0x0001 : 0x8001;
  return minus == up ? h - 1 : h + 1;
}

uint64_t tkp_round(const tk_asm_inst *in, uint8_t type, double v) {
  int mode = direction(in);
  uint64_t u = 0;
  if (v != v) return canonical_nan(type);
  if (type == TK_AT_f64) return tk_f64_bits(v);
  if (type == TK_AT_f32 || type == TK_AT_tf32) {
    volatile double from = v;
    fesetround(mode);
    volatile float f = (float)from;
    fesetround(FE_TONEAREST);
    return tk_f32_bits(f);
  }
  tk_lane_set_double(dtype_of(type), &u, v);
  return step16(type, u, v, mode);
}

/* ---- one rounding ------------------------------------------------------ */

static float flushed(const step *s, uint64_t bits) {
  float f = tk_bits_f32((uint32_t)bits);
  bool tiny = step_has(s, TK_AM_ftz) && fpclassify(f) == FP_SUBNORMAL;
  return tiny ? copysignf(0, f) : f;
}

static uint64_t settle32(const step *s, float f) {
  if (f != f) return step_has(s, TK_AM_sat) ? 0 : canonical_nan(TK_AT_f32);
  f = flushed(s, tk_f32_bits(f));
  if (step_has(s, TK_AM_sat)) f = f > 0 ? f < 1 ? f : 1 : 0;
  if (step_has(s, TK_AM_relu) && !(f > 0)) f = 0;
  return tk_f32_bits(f);
}

/* The operation in the instruction's direction; the volatiles keep it
 * between the two calls. */
#define DIRECTED(NAME, T, FMA, SQRT)                                           \
  static T NAME(int op, T x, T y, T z, int mode) {                             \
    volatile T a = x, b = y, c = z, r = 0;                                     \
    fesetround(mode);                                                          \
    switch (op) {                                                              \
    case TK_AO_ADD: r = a + b; break;                                          \
    case TK_AO_SUB: r = a - b; break;                                          \
    case TK_AO_MUL: r = a * b; break;                                          \
    case TK_AO_DIV: r = a / b; break;                                          \
    case TK_AO_RCP: r = 1 / a; break;                                          \
    case TK_AO_SQRT: r = SQRT(a); break;                                       \
    default: r = FMA(a, b, c); break;                                          \
    }                                                                          \
    fesetround(FE_TONEAREST);                                                  \
    return r;                                                                  \
  }
DIRECTED(directed32, float, fmaf, sqrtf)
DIRECTED(directed64, double, fma, sqrt)

static uint64_t exact32(const step *s) {
  return settle32(s, directed32(s->in->op, flushed(s, s->v[0]),
                                flushed(s, s->v[1]), flushed(s, s->v[2]),
                                direction(s->in)));
}

static uint64_t exact64(const step *s) {
  double r = directed64(s->in->op, tk_bits_f64(s->v[0]), tk_bits_f64(s->v[1]),
                        tk_bits_f64(s->v[2]), direction(s->in));
  return r != r ? canonical_nan(TK_AT_f64) : tk_f64_bits(r);
}

/* x + y in double, the last bit telling of what was lost: rounds to 16 bits
 * as the exact sum does. */
static double add_sticky(double x, double y) {
  double sum = x + y, part = sum - x;
  double lost = (x - (sum - part)) + (y - part);
  uint64_t u = tk_f64_bits(sum);
  if (lost == 0 || !isfinite(sum) || u & 1) return sum;
  bool grows = (lost > 0) == (sum > 0);
  return tk_bits_f64(grows ? u | 1 : (u - 1) | 1);
}

static uint64_t settle16(const step *s, double v) {
  if (v != v) return step_has(s, TK_AM_sat) ? 0 : canonical_nan(s->type);
  if (step_has(s, TK_AM_sat)) v = v > 0 ? v < 1 ? v : 1 : 0;
  if (step_has(s, TK_AM_relu) && !(v > 0)) v = 0;
  return tkp_round(s->in, s->type, v);
}

/* Products of two 16-bit floats are exact in double. */
static uint64_t exact16(const step *s) {
  double a = tkp_to_double(s->type, s->v[0]);
  double b = tkp_to_double(s->type, s->v[1]);
  double c = tkp_to_double(s->type, s->v[2]);
  switch (s->in->op) {
  case TK_AO_ADD: return settle16(s, add_sticky(a, b));
  case TK_AO_SUB: return settle16(s, add_sticky(a, -b));
  case TK_AO_MUL: return settle16(s, a * b);
  default: return settle16(s, add_sticky(a * b, c));
  }
}

static uint64_t exact(const step *s) {
  if (s->type == TK_AT_f64) return exact64(s);
  return s->type == TK_AT_f32 ? exact32(s) : exact16(s);
}

/* ---- signs, order ------------------------------------------------------ */

static uint64_t sign_bit(const step *s) {
  return (uint64_t)1 << (tkp_bits(s->type) - 1);
}

/* The larger, or smaller, of two: -0 is below +0. */
static uint64_t pick(const step *s, uint64_t x, uint64_t y, bool max) {
  double a = tkp_to_double(s->type, x), b = tkp_to_double(s->type, y);
  if ((a != a || b != b) && step_has(s, TK_AM_nan_wins))
    return canonical_nan(s->type);
  if (a != a) return b != b ? canonical_nan(s->type) : y;
  if (b != b) return x;
  bool first = a == b ? !(x & sign_bit(s)) : a > b;
  return first == max ? x : y;
}

static uint64_t extreme(const step *s, bool max) {
  uint64_t sign = sign_bit(s), flip = 0, v[3];
  for (int k = 0; k < s->n; k++) {
    v[k] = s->type == TK_AT_f32 ? tk_f32_bits(flushed(s, s->v[k])) : s->v[k];
    if (!step_has(s, TK_AM_xorsign)) continue;
    flip ^= v[k] & sign;
    v[k] &= ~sign;
  }
  uint64_t r = pick(s, v[0], v[1], max);
  if (s->n > 2) r = pick(s, r, v[2], max);
  return r ^ flip;
}

/* ---- functions --------------------------------------------------------- */

static double approximate32(int op, double a) {
  switch (op) {
  case TK_AO_RSQRT: return tkp_approximate_rsqrt(a);
  case TK_AO_SIN: return tkp_approximate_sin(a);
  case TK_AO_COS: return tkp_approximate_cos(a);
  case TK_AO_LG2: return tkp_approximate_lg2(a);
  case TK_AO_EX2: return tkp_approximate_ex2(a);
  default: return tkp_approximate_tanh(a);
  }
}

/* Of fp64 there is rsqrt alone. */
static uint64_t apply(const step *s) {
  if (s->type == TK_AT_f64) {
    double r = tkm_rsqrt(tk_bits_f64(s->v[0]));
    return r != r ? canonical_nan(TK_AT_f64) : tk_f64_bits(r);
  }
  if (s->type == TK_AT_f32)
    return settle32(s, (float)approximate32(s->in->op, flushed(s, s->v[0])));
  return settle16(s, approximate32(s->in->op, tkp_to_double(s->type, s->v[0])));
}

static uint64_t test(const step *s) {
  double a = tkp_to_double(s->type, s->v[0]);
  if (step_has(s, TK_AM_finite)) return isfinite(a);
  if (step_has(s, TK_AM_infinite)) return isinf(a) != 0;
  if (step_has(s, TK_AM_number)) return a == a;
  if (step_has(s, TK_AM_notanumber)) return a != a;
  int kind = s->type == TK_AT_f32 ? fpclassify((float)a) : fpclassify(a);
  return kind == (step_has(s, TK_AM_normal) ? FP_NORMAL : FP_SUBNORMAL);
}

uint64_t tkp_real(const step *s) {
  uint64_t sign = sign_bit(s);
  switch (s->in->op) {
  case TK_AO_ABS: return s->v[0] & ~sign;
  case TK_AO_NEG: return s->v[0] ^ sign;
  case TK_AO_MIN: return extreme(s, false);
  case TK_AO_MAX: return extreme(s, true);
  case TK_AO_COPYSIGN: return (s->v[1] & ~sign) | (s->v[0] & sign);
  case TK_AO_TESTP: return test(s);
  case TK_AO_RSQRT:
  case TK_AO_SIN:
  case TK_AO_COS:
  case TK_AO_LG2:
  case TK_AO_EX2:
  case TK_AO_TANH: return apply(s);
  case TK_AO_MOV: return s->v[0];
  default: return exact(s);
  }
}
