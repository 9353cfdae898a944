/* kernels_narrow.c - lane loops between fp32 and floats of 16 and 8 bits.
 *
 * Without a branch, so that they become vector loops; lane by lane the results
 * are those of base/dtype.h.  Source: IEEE 754-2019 5.4.2; NVIDIA PTX cvt.
 */
#include <string.h>

#include "base/bits.h"
#include "interp/kernels.h"
#include "interp/lanes.h"

/* ---- 16 bits ----------------------------------------------------------- */

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_F16C 1

/* The processor's own conversions, eight lanes at a time: the same results
 * as the loops below. */
__attribute__((target("avx2,f16c"))) static size_t
widen_f16c(float *d, const uint16_t *s, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
    _mm256_storeu_ps(d + i, _mm256_cvtph_ps(h));
  }
  return i;
}

__attribute__((target("avx2,f16c"))) static size_t
narrow_f16c(uint16_t *d, const float *s, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(s + i), 0);
    _mm_storeu_si128((__m128i *)(void *)(d + i), h);
  }
  return i;
}

/* Every processor with AVX2 has F16C; not every compiler can ask for it. */
static bool have_f16c(void) {
  return __builtin_cpu_supports("avx2");
}
#endif

/* The exponent is re-biased by a multiplication, which also normalises
 * subnormal numbers; infinities and NaNs get their exponent set. */
TKI_CLONES static void f16_lanes_to_f32(float *d, const uint16_t *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t h = s[i], mag = (h & 0x7fff) << 13;
    uint32_t fin = tk_f32_bits(tk_bits_f32(mag) * 0x1p112f);
    uint32_t quiet = mag > 0x7c00u << 13 ? 0x400000 : 0;
    uint32_t out = mag >= 0x7c00u << 13 ? mag | 0x7f800000 | quiet : fin;
    d[i] = tk_bits_f32(out | (h & 0x8000) << 16);
  }
}

/* Adding 0.5 to a number below 2^-14 rounds it to a multiple of 2^-24, the
 * spacing of subnormal halves. */
TKI_CLONES static void f32_lanes_to_f16(uint16_t *d, const float *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u = tk_f32_bits(s[i]), mag = u & 0x7fffffff;
    uint32_t sub = tk_f32_bits(tk_bits_f32(mag) + 0.5f) - 0x3f000000;
    uint32_t odd = mag >> 13 & 1;
    uint32_t norm = (mag + 0xfff + odd - 0x38000000) >> 13;
    uint32_t out = mag < 0x38800000 ? sub : norm;
    out = mag >= 0x477ff000 ? 0x7c00 : out;
    out = mag > 0x7f800000 ? 0x7e00 | (mag >> 13 & 0x1ff) : out;
    d[i] = (uint16_t)(out | (u >> 16 & 0x8000));
  }
}

TKI_CLONES static void widen_bf16(float *d, const void *from, size_t n) {
  const uint16_t *s = from;
  for (size_t i = 0; i < n; i++) d[i] = tk_bits_f32((uint32_t)s[i] << 16);
}

TKI_CLONES static void narrow_bf16(void *to, const float *s, size_t n) {
  uint16_t *d = to;
  for (size_t i = 0; i < n; i++) {
    uint32_t u = tk_f32_bits(s[i]);
    uint32_t r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    uint32_t nan = u >> 16 | 0x40;
    d[i] = (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? nan : r);
  }
}

static void widen_f16(float *d, const void *from, size_t n) {
  const uint16_t *s = from;
  size_t done = 0;
#ifdef HAVE_F16C
  if (have_f16c()) done = widen_f16c(d, s, n);
#endif
  if (done < n) f16_lanes_to_f32(d + done, s + done, n - done);
}

static void narrow_f16(void *to, const float *s, size_t n) {
  uint16_t *d = to;
  size_t done = 0;
#ifdef HAVE_F16C
  if (have_f16c()) done = narrow_f16c(d, s, n);
#endif
  if (done < n) f32_lanes_to_f16(d + done, s + done, n - done);
}

/* ---- 8 bits ------------------------------------------------------------ */

typedef struct fp8_format {
  int mbits; /* of the mantissa */
  int bias;
  uint32_t most;     /* code of the greatest finite value */
  uint32_t infinity; /* codes without sign: of infinity, and from which on */
  uint32_t nan;      /* they are NaN; 0x80 if there are none */
  bool fnuz;         /* 0x80 is NaN, not a negative zero */
} fp8_format;

static const fp8_format e4nv = {3, 7, 0x7e, 0x80, 0x7f, false};
static const fp8_format e4b8 = {3, 8, 0x7f, 0x80, 0x80, true};
static const fp8_format e4b15 = {3, 15, 0x7f, 0x80, 0x80, false};
static const fp8_format e5 = {2, 15, 0x7b, 0x7c, 0x7d, false};
static const fp8_format e5b16 = {2, 16, 0x7f, 0x80, 0x80, true};

/* Below the smallest normal number codes count steps of one size, so that an
 * integer's conversion gives their value. */
static inline float fp8_value(const fp8_format *f, uint32_t code) {
  uint32_t mag = code & 0x7f, sign = (code & 0x80) << 24;
  float step = tk_bits_f32((uint32_t)(128 - f->bias - f->mbits) << 23);
  uint32_t sub = tk_f32_bits((float)(int32_t)mag * step);
  uint32_t norm = (mag << (23 - f->mbits)) + ((uint32_t)(127 - f->bias) << 23);
  uint32_t u = mag >> f->mbits ? norm : sub;
  u = mag == f->infinity ? 0x7f800000 : u;
  bool nan = f->fnuz ? code == 0x80 : mag >= f->nan;
  return tk_bits_f32(nan ? 0x7fc00000 : u | sign);
}

/* Adding a number whose last digit is worth such a step rounds to steps. */
static inline uint8_t fp8_code(const fp8_format *f, float v) {
  uint32_t u = tk_f32_bits(v), mag = u & 0x7fffffff, sign = u >> 24 & 0x80;
  int shift = 23 - f->mbits;
  uint32_t least = (uint32_t)(128 - f->bias) << 23; /* normal number */
  uint32_t add = (uint32_t)(151 - f->bias - f->mbits) << 23;
  uint32_t sub = tk_f32_bits(tk_bits_f32(mag) + tk_bits_f32(add)) - add;
  uint32_t half = (1u << (shift - 1)) - 1 + (mag >> shift & 1);
  uint32_t norm = (mag + half - least + (1u << 23)) >> shift;
  uint32_t code = mag < least ? sub : norm;
  code = code < f->most ? code : f->most;
  if (!f->fnuz) return (uint8_t)(mag > 0x7f800000 ? 0x7f : code | sign);
  code = code ? code | sign : 0;
  return (uint8_t)(mag >= 0x7f800000 ? 0x80 : code);
}

#define FP8_WIDEN(S)                                                           \
  TKI_CLONES static void widen_##S(float *d, const void *from, size_t n) {     \
    const uint8_t *s = from;                                                   \
    for (size_t i = 0; i < n; i++) d[i] = fp8_value(&S, s[i]);                 \
  }
#define FP8_NARROW(S)                                                          \
  TKI_CLONES static void narrow_##S(void *to, const float *s, size_t n) {      \
    uint8_t *d = to;                                                           \
    for (size_t i = 0; i < n; i++) d[i] = fp8_code(&S, s[i]);                  \
  }
FP8_WIDEN(e4nv)
FP8_WIDEN(e4b8)
FP8_WIDEN(e4b15)
FP8_WIDEN(e5)
FP8_WIDEN(e5b16)
FP8_NARROW(e4nv)
FP8_NARROW(e4b8)
FP8_NARROW(e5)
FP8_NARROW(e5b16)

/* By way of fp16 toward zero, at most 1.75, which NaN becomes too; then to
 * nearest, ties away from zero. */
TKI_CLONES static void narrow_e4b15(void *to, const float *s, size_t n) {
  uint8_t *d = to;
  for (size_t i = 0; i < n; i++) {
    uint32_t u = tk_f32_bits(s[i]), mag = u & 0x7fffffff;
    mag = mag < 0x3fe00000 ? mag : 0x3fe00000;
    uint32_t sub = (uint32_t)(int32_t)(tk_bits_f32(mag) * 0x1p24f);
    uint32_t half = mag < 0x38800000 ? sub : (mag - 0x38000000) >> 13;
    d[i] = (uint8_t)((2 * half + 0x80) >> 8 | (u >> 24 & 0x80));
  }
}

/* ---- any --------------------------------------------------------------- */

static void widen_f32(float *d, const void *from, size_t n) {
  memcpy(d, from, n * sizeof *d);
}

static void narrow_f32(void *to, const float *s, size_t n) {
  memcpy(to, s, n * sizeof *s);
}

void tki_widen(tk_dtype d, float *to, const void *from, size_t n) {
#define ROW(S, ID, T) [ID] = widen_##S,
  static void (*const widen[])(float *, const void *, size_t) = {
      TKI_NARROW_FLOATS(ROW)[TK_FP32] = widen_f32};
#undef ROW
  widen[d](to, from, n);
}

void tki_narrow(tk_dtype d, void *to, const float *from, size_t n) {
#define ROW(S, ID, T) [ID] = narrow_##S,
  static void (*const narrow[])(void *, const float *, size_t) = {
      TKI_NARROW_FLOATS(ROW)[TK_FP32] = narrow_f32};
#undef ROW
  narrow[d](to, from, n);
}
