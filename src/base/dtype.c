/* dtype.c - the table of element types, their names, and one lane at a time.
 *
 * Every float format of 16 bits and fewer is described by four numbers
 * (exponent bits, mantissa bits, bias, what the top codes mean) and coded and
 * decoded by one pair of inline functions; with the numbers constant, the
 * compiler makes each into a few shifts.  Rounding is done on the integer
 * mantissa of a double, once: a float widens to double exactly, so the same
 * function serves both without double rounding.
 */
#include "dtype.h"

#include <string.h>

#include "base/bits.h"

#define DTYPE(id, name, bits, kind, np, st, doc)                               \
  {name, np, st, bits, ((bits) + 7) / 8, #kind[0]},
const tk_dtype_info tk_dtypes[TK_DTYPE_COUNT] = {
#include "tkdbg/dtype.def"
};
#undef DTYPE

const char *tk_dtype_name(tk_dtype d) {
  return (unsigned)d < TK_DTYPE_COUNT ? tk_dtypes[d].name : "?";
}

size_t tk_dtype_size(tk_dtype d) {
  return (unsigned)d < TK_DTYPE_COUNT ? tk_dtypes[d].size : 0;
}

/* ---- names ------------------------------------------------------------- */

/* Spellings beside the table's own. */
static const struct {
  const char *name;
  tk_dtype dtype;
} spellings[] = {
    {"bool", TK_INT1},
    {"bool_", TK_INT1},
    {"i1", TK_INT1},
    {"u1", TK_INT1},
    {"i8", TK_INT8},
    {"u8", TK_UINT8},
    {"byte", TK_UINT8},
    {"i16", TK_INT16},
    {"short", TK_INT16},
    {"u16", TK_UINT16},
    {"i32", TK_INT32},
    {"int", TK_INT32},
    {"u32", TK_UINT32},
    {"i64", TK_INT64},
    {"long", TK_INT64},
    {"u64", TK_UINT64},
    {"f16", TK_FP16},
    {"half", TK_FP16},
    {"float16", TK_FP16},
    {"bfloat16", TK_BF16},
    {"f32", TK_FP32},
    {"float", TK_FP32},
    {"float32", TK_FP32},
    {"f64", TK_FP64},
    {"double", TK_FP64},
    {"float64", TK_FP64},
    {"float8e4nv", TK_FP8E4NV},
    {"float8_e4m3fn", TK_FP8E4NV},
    {"f8e4m3fn", TK_FP8E4NV},
    {"f8e4m3", TK_FP8E4NV},
    {"f8e4nv", TK_FP8E4NV},
    {"f8_e4m3", TK_FP8E4NV},
    {"float8e4b8", TK_FP8E4B8},
    {"float8_e4m3fnuz", TK_FP8E4B8},
    {"f8e4m3fnuz", TK_FP8E4B8},
    {"f8e4b8", TK_FP8E4B8},
    {"float8e4b15", TK_FP8E4B15},
    {"f8e4b15", TK_FP8E4B15},
    {"float8e5", TK_FP8E5},
    {"float8_e5m2", TK_FP8E5},
    {"f8e5m2", TK_FP8E5},
    {"f8e5", TK_FP8E5},
    {"f8_e5m2", TK_FP8E5},
    {"float8e5b16", TK_FP8E5B16},
    {"float8_e5m2fnuz", TK_FP8E5B16},
    {"f8e5m2fnuz", TK_FP8E5B16},
    {"f8e5b16", TK_FP8E5B16},
};

int tk_dtype_from_name(const char *name) {
  const char *dot = strrchr(name, '.');
  if (dot) name = dot + 1;
  for (int i = 0; i < TK_DTYPE_COUNT; i++)
    if (strcmp(name, tk_dtypes[i].name) == 0) return i;
  for (size_t i = 0; i < TK_COUNT(spellings); i++)
    if (strcmp(name, spellings[i].name) == 0) return (int)spellings[i].dtype;
  return -1;
}

int tk_float_digits(tk_dtype d) {
  TK_ASSERT(tk_is_float(d));
  switch (d) {
  case TK_FP64: return 53;
  case TK_FP32: return 24;
  case TK_FP16: return 11;
  case TK_BF16: return 8;
  case TK_FP8E5:
  case TK_FP8E5B16: return 3;
  default: return 4;
  }
}

/* ---- small floats ------------------------------------------------------ */

typedef struct small_format {
  int mbits; /* of the mantissa */
  int bias;
  uint32_t max;      /* code of the greatest finite value */
  uint32_t overflow; /* code of numbers out of range: infinity, or max */
  uint32_t sign;     /* the sign bit */
  bool neg_zero;     /* there is a negative zero */
} small_format;

static const small_format f16 = {10, 15, 0x7bff, 0x7c00, 0x8000, true};
static const small_format bf16 = {7, 127, 0x7f7f, 0x7f80, 0x8000, true};
static const small_format e4nv = {3, 7, 0x7e, 0x7e, 0x80, true};
static const small_format e4b8 = {3, 8, 0x7f, 0x7f, 0x80, false};
static const small_format e4b15 = {3, 15, 0x7f, 0x7f, 0x80, true};
static const small_format e5 = {2, 15, 0x7b, 0x7b, 0x80, true};
static const small_format e5b16 = {2, 16, 0x7f, 0x7f, 0x80, false};

/* The code of v, which is not NaN, rounded to nearest even. */
static inline uint32_t encode(const small_format *f, double v) {
  uint64_t u = tk_f64_bits(v);
  uint32_t sign = u >> 63 ? f->sign : 0, code = 0;
  int e = (int)(u >> 52 & 0x7ff) - 1023, emin = 1 - f->bias;
  if (e > 1023) return f->overflow | sign;
  int shift = 52 - f->mbits + (e < emin ? emin - e : 0);
  if (shift <= 53) { /* else less than half of the smallest */
    uint64_t m = (u & 0xfffffffffffff) | (uint64_t)1 << 52;
    uint64_t half = (uint64_t)1 << (shift - 1), rest = m & (2 * half - 1);
    uint64_t q = m >> shift;
    q += rest > half || (rest == half && (q & 1));
    /* q holds the hidden bit, which counts one into the exponent field */
    uint64_t field = e < emin ? 0 : (uint64_t)(e - emin) << f->mbits;
    code = field + q > f->max ? f->overflow : (uint32_t)(field + q);
  }
  return code || f->neg_zero ? code | sign : 0;
}

/* The value of a code that is neither infinity nor NaN. */
static inline double decode(const small_format *f, uint32_t code) {
  uint32_t man = code & ((1u << f->mbits) - 1);
  int exp = (int)((code & (f->sign - 1)) >> f->mbits);
  uint64_t scale = (uint64_t)(1023 + (exp ? exp : 1) - f->bias - f->mbits);
  double v = (double)(exp ? man | 1u << f->mbits : man);
  v *= tk_bits_f64(scale << 52);
  return code & f->sign ? -v : v;
}

float tk_f16_to_f32(uint16_t h) {
  if ((h & 0x7c00) != 0x7c00) return (float)decode(&f16, h);
  uint32_t u = (uint32_t)(h & 0x8000) << 16 | 0x7f800000;
  if (h & 0x3ff) u |= 0x400000 | (uint32_t)(h & 0x3ff) << 13;
  return tk_bits_f32(u);
}

/* A NaN keeps its sign and the top of its payload and becomes quiet. */
static uint16_t f16_from_double(double v) {
  if (v == v) return (uint16_t)encode(&f16, v);
  uint64_t u = tk_f64_bits(v);
  return (uint16_t)(u >> 48 & 0x8000) | 0x7e00 | (uint16_t)(u >> 42 & 0x3ff);
}

static uint16_t bf16_from_double(double v) {
  if (v == v) return (uint16_t)encode(&bf16, v);
  uint64_t u = tk_f64_bits(v);
  return (uint16_t)(u >> 48 & 0x8000) | 0x7fc0 | (uint16_t)(u >> 45 & 0x7f);
}

uint16_t tk_f32_to_f16(float f) {
  return f16_from_double((double)f);
}

float tk_bf16_to_f32(uint16_t h) {
  return tk_bits_f32((uint32_t)h << 16);
}

uint16_t tk_f32_to_bf16(float f) {
  uint32_t u = tk_f32_bits(f);
  if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(u >> 16 | 0x40);
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static double fp8_to_double(tk_dtype d, uint8_t b) {
  const double nan = tk_bits_f64((uint64_t)0x7ff8 << 48);
  switch (d) {
  case TK_FP8E4NV: return (b & 0x7f) == 0x7f ? nan : decode(&e4nv, b);
  case TK_FP8E4B8: return b == 0x80 ? nan : decode(&e4b8, b);
  case TK_FP8E4B15: return decode(&e4b15, b);
  case TK_FP8E5B16: return b == 0x80 ? nan : decode(&e5b16, b);
  default:
    if ((b & 0x7f) > 0x7c) return nan;
    if ((b & 0x7f) < 0x7c) return decode(&e5, b);
    return tk_bits_f64((uint64_t)(b & 0x80 ? 0xfff0 : 0x7ff0) << 48);
  }
}

/* Triton's software on NVIDIA: to fp16 toward zero, limited to 1.75, then to
 * nearest with ties away from zero.  NaN becomes the limit. */
static uint8_t e4b15_from_double(double v) {
  uint32_t h = v == v ? encode(&f16, v) : 0x7e00 | (tk_f64_bits(v) >> 63) << 15;
  uint32_t mag = h & 0x7fff;
  if (mag < 0x7c00 && mag && decode(&f16, mag) > (v < 0 ? -v : v)) mag--;
  if (mag > 0x3f00) mag = 0x3f00;
  return (uint8_t)((2 * mag + 0x80) >> 8 | (h >> 8 & 0x80));
}

static uint8_t fp8_from_double(tk_dtype d, double v) {
  bool nan = v != v;
  switch (d) {
  case TK_FP8E4NV: return nan ? 0x7f : (uint8_t)encode(&e4nv, v);
  case TK_FP8E4B8: {
    bool none = nan || v - v != 0; /* infinity has no neighbour here */
    return none ? 0x80 : (uint8_t)encode(&e4b8, v);
  }
  case TK_FP8E4B15: return e4b15_from_double(v);
  case TK_FP8E5B16: {
    bool none = nan || v - v != 0;
    return none ? 0x80 : (uint8_t)encode(&e5b16, v);
  }
  default: return nan ? 0x7f : (uint8_t)encode(&e5, v);
  }
}

float tk_fp8_to_f32(tk_dtype d, uint8_t b) {
  return (float)fp8_to_double(d, b);
}

uint8_t tk_f32_to_fp8(tk_dtype d, float f) {
  return fp8_from_double(d, (double)f);
}

/* ---- lanes ------------------------------------------------------------- */

#define LANE(type, p, v)                                                       \
  type v;                                                                      \
  memcpy(&v, p, sizeof v)

double tk_lane_double(tk_dtype d, const void *p) {
  switch (d) {
  case TK_FP64: {
    LANE(double, p, v);
    return v;
  }
  case TK_FP32: {
    LANE(float, p, v);
    return (double)v;
  }
  case TK_FP16: {
    LANE(uint16_t, p, v);
    return (double)tk_f16_to_f32(v);
  }
  case TK_BF16: {
    LANE(uint16_t, p, v);
    return (double)tk_bf16_to_f32(v);
  }
  case TK_UINT64: {
    LANE(uint64_t, p, v);
    return (double)v;
  }
  default: break;
  }
  if (tk_is_fp8(d)) return fp8_to_double(d, *(const uint8_t *)p);
  return (double)tk_lane_int(d, p);
}

/* The integer part of v, wrapped to 64 bits; NaN and infinities are 0. */
static int64_t double_int(double v) {
  if (!(v - v == 0)) return 0;
  if (v >= -0x1p63 && v < 0x1p63) return (int64_t)v;
  uint64_t u = tk_f64_bits(v);
  int shift = (int)(u >> 52 & 0x7ff) - 1075; /* >= 11 here */
  uint64_t m = (u & 0xfffffffffffff) | (uint64_t)1 << 52;
  m = shift < 64 ? m << shift : 0;
  return (int64_t)(u >> 63 ? 0 - m : m);
}

int64_t tk_lane_int(tk_dtype d, const void *p) {
  switch (d) {
  case TK_INT1: return *(const uint8_t *)p != 0;
  case TK_INT8: {
    LANE(int8_t, p, v);
    return v;
  }
  case TK_UINT8: {
    LANE(uint8_t, p, v);
    return v;
  }
  case TK_INT16: {
    LANE(int16_t, p, v);
    return v;
  }
  case TK_UINT16: {
    LANE(uint16_t, p, v);
    return v;
  }
  case TK_INT32: {
    LANE(int32_t, p, v);
    return v;
  }
  case TK_UINT32: {
    LANE(uint32_t, p, v);
    return v;
  }
  case TK_INT64: {
    LANE(int64_t, p, v);
    return v;
  }
  case TK_UINT64: {
    LANE(uint64_t, p, v);
    return (int64_t)v;
  }
  default: return double_int(tk_lane_double(d, p));
  }
}

#undef LANE

/* The lanes of a type in their order: its values are consecutive. */
static int64_t place_in_order(tk_dtype d, const void *p) {
  if (!tk_is_float(d)) return tk_lane_int(d, p);
  uint64_t bits = 0, sign = (uint64_t)1 << (tk_dtypes[d].bits - 1);
  memcpy(&bits, p, tk_dtypes[d].size);
  int64_t size = (int64_t)(bits & (sign - 1));
  return bits & sign ? -size : size;
}

uint64_t tk_lane_distance(tk_dtype d, const void *a, const void *b) {
  int64_t x = place_in_order(d, a), y = place_in_order(d, b);
  bool ascending = d == TK_UINT64 ? (uint64_t)x < (uint64_t)y : x < y;
  return ascending ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
}

bool tk_lane_same(tk_dtype d, const void *a, const void *b) {
  if (!memcmp(a, b, tk_dtypes[d].size)) return true;
  if (!tk_is_float(d)) return false;
  double x = tk_lane_double(d, a), y = tk_lane_double(d, b);
  return x == y || (x != x && y != y);
}

void tk_lane_set_double(tk_dtype d, void *p, double v) {
  switch (d) {
  case TK_FP64: memcpy(p, &v, sizeof v); return;
  case TK_FP32: {
    float f = (float)v;
    memcpy(p, &f, sizeof f);
    return;
  }
  case TK_FP16: {
    uint16_t h = f16_from_double(v);
    memcpy(p, &h, sizeof h);
    return;
  }
  case TK_BF16: {
    uint16_t h = bf16_from_double(v);
    memcpy(p, &h, sizeof h);
    return;
  }
  case TK_INT1: *(uint8_t *)p = v != 0; return;
  default: break;
  }
  if (tk_is_fp8(d))
    *(uint8_t *)p = fp8_from_double(d, v);
  else
    tk_lane_set_int(d, p, double_int(v));
}

/* A 64-bit integer may have more digits than a double: it is first made odd
 * below what any smaller format can see, so that one rounding remains. */
static double sticky(uint64_t u) {
  if (u >> 53) u = (u & ~(uint64_t)0x7ff) | ((u & 0x7ff) != 0) << 11;
  return (double)u;
}

static double int_sticky(int64_t v) {
  return v < 0 ? -sticky(0 - (uint64_t)v) : sticky((uint64_t)v);
}

double tk_lane_to_round(tk_dtype d, const void *p) {
  if (d == TK_INT64) return int_sticky(tk_lane_int(d, p));
  if (d == TK_UINT64) return sticky((uint64_t)tk_lane_int(d, p));
  return tk_lane_double(d, p);
}

static void set_int_bytes(tk_dtype d, void *p, int64_t v) {
  uint64_t u = (uint64_t)v;
  uint32_t w = (uint32_t)u;
  uint16_t h = (uint16_t)u;
  switch (tk_dtypes[d].size) {
  case 1: *(uint8_t *)p = (uint8_t)u; return;
  case 2: memcpy(p, &h, sizeof h); return;
  case 4: memcpy(p, &w, sizeof w); return;
  default: memcpy(p, &u, sizeof u); return;
  }
}

void tk_lane_set_int(tk_dtype d, void *p, int64_t v) {
  if (d == TK_INT1)
    *(uint8_t *)p = v != 0;
  else if (!tk_is_float(d))
    set_int_bytes(d, p, v);
  else if (d == TK_FP64)
    tk_lane_set_double(d, p, (double)v);
  else if (d == TK_FP32) {
    float f = (float)v;
    memcpy(p, &f, sizeof f);
  } else
    tk_lane_set_double(d, p, int_sticky(v));
}
