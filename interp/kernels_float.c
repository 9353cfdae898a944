/* kernels_float.c - lane loops over floats.
 *
 * fp32 and fp64 run as they are; the narrower types are widened to fp32 in
 * short rows, computed, and rounded back once.  For + - * / that is the
 * correctly rounded result: fp32 has more than twice their digits plus two.
 */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "interp/kernels.h"
#include "interp/lanes.h"

/* The leading part of a split operand: ten digits after the point, ties away
 * from zero (PTX cvt.rna.tf32.f32). */
TKI_CLONES void tki_round_tf32(float *d, const float *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u = tk_f32_bits(a[i]);
    bool finite = (u & 0x7f800000) != 0x7f800000;
    d[i] = tk_bits_f32(finite ? (u + 0x1000) & 0xffffe000 : u);
  }
}

/* What a tensor core reads of an fp32 operand: the low 13 bits are ignored
 * (seen on an H200; Triton rounds nothing for input_precision 'tf32'). */
TKI_CLONES void tki_cut_tf32(float *d, const float *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u = tk_f32_bits(a[i]);
    bool nan = (u & 0x7fffffff) > 0x7f800000;
    d[i] = tk_bits_f32(nan ? u : u & 0xffffe000);
  }
}

/* ---- two operands ------------------------------------------------------ */

/* -0 is below +0; a NaN gives way to a number, or wins. */
#define LESSER(a, b)                                                           \
  ((a) < (b) ? (a) : (a) > (b) ? (b) : signbit(a) ? (a) : (b))
#define GREATER(a, b)                                                          \
  ((a) > (b) ? (a) : (a) < (b) ? (b) : signbit(a) ? (b) : (a))
#define NUM(a, b, pick) ((a) != (a) ? (b) : (b) != (b) ? (a) : pick(a, b))
#define NAN_WINS(a, b, pick) ((a) != (a) ? (a) : (b) != (b) ? (b) : pick(a, b))

#define FLOATS(S, T, FMOD, FMA, TRUNC)                                         \
  TKI_LOOP2(add_##S, T, T, a + b)                                              \
  TKI_LOOP2(sub_##S, T, T, a - b)                                              \
  TKI_LOOP2(mul_##S, T, T, a *b)                                               \
  TKI_LOOP2(div_##S, T, T, a / b)                                              \
  TKI_LOOP2(mod_##S, T, T, FMOD(a, b))                                         \
  TKI_LOOP2(rem_##S, T, T, isinf(b) ? a : FMA(-TRUNC(a / b), b, a))            \
  TKI_LOOP2(min_##S, T, T, NUM(a, b, LESSER))                                  \
  TKI_LOOP2(max_##S, T, T, NUM(a, b, GREATER))                                 \
  TKI_LOOP2(min_nan_##S, T, T, NAN_WINS(a, b, LESSER))                         \
  TKI_LOOP2(max_nan_##S, T, T, NAN_WINS(a, b, GREATER))
FLOATS(f32, float, fmodf, fmaf, truncf)
FLOATS(f64, double, fmod, fma, trunc)

static void narrow_binary(tk_dtype t, void *d, const void *a, const void *b,
                          size_t n, int mode, tki_binary_fn fn) {
  float fa[TKI_BATCH], fb[TKI_BATCH];
  size_t size = tk_dtypes[t].size;
  if (mode == 2) tki_widen(t, fa, a, 1);
  if (mode == 1) tki_widen(t, fb, b, 1);
  for (size_t at = 0; at < n; at += TKI_BATCH) {
    size_t m = n - at < TKI_BATCH ? n - at : TKI_BATCH;
    float out[TKI_BATCH];
    if (mode != 2) tki_widen(t, fa, (const char *)a + at * size, m);
    if (mode != 1) tki_widen(t, fb, (const char *)b + at * size, m);
    fn(out, fa, fb, m, mode);
    tki_narrow(t, (char *)d + at * size, out, m);
  }
}

#define NARROW(OP, S, ID)                                                      \
  static void OP##_##S(void *d, const void *a, const void *b, size_t n,        \
                       int mode) {                                             \
    narrow_binary(ID, d, a, b, n, mode, OP##_f32);                             \
  }
#define NARROWS(S, ID, T)                                                      \
  NARROW(add, S, ID)                                                           \
  NARROW(sub, S, ID)                                                           \
  NARROW(mul, S, ID)                                                           \
  NARROW(div, S, ID)                                                           \
  NARROW(mod, S, ID)                                                           \
  NARROW(rem, S, ID)                                                           \
  NARROW(min, S, ID)                                                           \
  NARROW(max, S, ID)                                                           \
  NARROW(min_nan, S, ID)                                                       \
  NARROW(max_nan, S, ID)
TKI_NARROW_FLOATS(NARROWS)

#define ROWS(S)                                                                \
  {                                                                            \
    [TK_B_ADD] = add_##S, [TK_B_SUB] = sub_##S, [TK_B_MUL] = mul_##S,          \
    [TK_B_DIV] = div_##S, [TK_B_MOD] = mod_##S, [TK_B_MIN] = min_##S,          \
    [TK_B_MAX] = max_##S, [TK_B_MIN_NAN] = min_nan_##S,                        \
    [TK_B_MAX_NAN] = max_nan_##S                                               \
  }

#define NARROW_ROWS(S, ID, T) [ID] = ROWS(S),

tki_binary_fn tki_binary_kernel(tk_binary op, tk_dtype d) {
  static const tki_binary_fn table[TK_DTYPE_COUNT][TK_B_COUNT] = {
      [TK_FP32] = ROWS(f32),
      [TK_FP64] = ROWS(f64),
      TKI_NARROW_FLOATS(NARROW_ROWS)};
  return tk_is_int(d) ? tki_int_binary(op, d) : table[d][op];
}

#define REMAINDER(S, ID, T) [ID] = rem_##S,

tki_binary_fn tki_remainder_kernel(tk_dtype d) {
  static const tki_binary_fn table[TK_DTYPE_COUNT] = {
      [TK_FP32] = rem_f32, [TK_FP64] = rem_f64, TKI_NARROW_FLOATS(REMAINDER)};
  return table[d];
}

/* ---- rows -------------------------------------------------------------- */

enum { ABREAST = 16 };

/* Combines lanes i and i + m of two arrays for i < m. */
#define FOLD(to, from, m, PICK)                                                \
  for (size_t i = 0; i < (m); i++) {                                           \
    float a = (from)[i], b = (from)[i + (m)];                                  \
    (to)[i] = PICK;                                                            \
  }

/* Halves rows of n lanes in the order that reduce.c says: each until it is as
 * short as a vector, then some of them beside each other. */
#define ROWS_OF(NAME, PICK)                                                    \
  TKI_CLONES static void NAME(float *d, const float *s, float *x, size_t rows, \
                              size_t n) {                                      \
    float turned[ABREAST * ABREAST];                                           \
    for (size_t at = 0; at < rows; at += ABREAST) {                            \
      size_t some = rows - at < ABREAST ? rows - at : ABREAST, m = n;          \
      for (size_t r = 0; r < some; r++, s += n) {                              \
        const float *row = s;                                                  \
        for (m = n; m > ABREAST; row = x) {                                    \
          m /= 2;                                                              \
          FOLD(x, row, m, PICK)                                                \
        }                                                                      \
        for (size_t i = 0; i < m; i++) turned[i * some + r] = row[i];          \
      }                                                                        \
      for (; m > 1; m /= 2) FOLD(turned, turned, m / 2 * some, PICK)           \
      memcpy(d + at, turned, some * sizeof *d);                                \
    }                                                                          \
  }
ROWS_OF(sum_rows, a + b)
ROWS_OF(min_any_rows, NUM(a, b, LESSER))
ROWS_OF(max_any_rows, NUM(a, b, GREATER))
ROWS_OF(min_plain_rows, a < b ? a : b)
ROWS_OF(max_plain_rows, a > b ? a : b)

/* Whether no lane is a NaN or -0.  Then lanes that compare as equal have the
 * same bits, so that one comparison says which of two it is. */
TKI_CLONES static bool all_plain(const float *s, size_t n) {
  uint32_t others = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t u = tk_f32_bits(s[i]);
    others |= (u & 0x7fffffff) > 0x7f800000 || u == 0x80000000;
  }
  return !others;
}

#define EXTREME_ROWS(NAME)                                                     \
  static void NAME##_rows(float *d, const float *s, float *x, size_t rows,     \
                          size_t n) {                                          \
    bool plain = all_plain(s, rows * n);                                       \
    (plain ? NAME##_plain_rows : NAME##_any_rows)(d, s, x, rows, n);           \
  }
EXTREME_ROWS(min)
EXTREME_ROWS(max)

tki_rows_fn tki_rows_kernel(tk_binary op, tk_dtype d) {
  static const tki_rows_fn table[TK_B_COUNT] = {
      [TK_B_ADD] = sum_rows, [TK_B_MIN] = min_rows, [TK_B_MAX] = max_rows};
  return d == TK_FP32 ? table[op] : NULL;
}

/* ---- comparisons ------------------------------------------------------- */

static void narrow_compare(tk_dtype t, uint8_t *d, const void *a, const void *b,
                           size_t n, int mode, tki_binary_fn fn) {
  float fa[TKI_BATCH], fb[TKI_BATCH];
  size_t size = tk_dtypes[t].size;
  if (mode == 2) tki_widen(t, fa, a, 1);
  if (mode == 1) tki_widen(t, fb, b, 1);
  for (size_t at = 0; at < n; at += TKI_BATCH) {
    size_t m = n - at < TKI_BATCH ? n - at : TKI_BATCH;
    if (mode != 2) tki_widen(t, fa, (const char *)a + at * size, m);
    if (mode != 1) tki_widen(t, fb, (const char *)b + at * size, m);
    fn(d + at, fa, fb, m, mode);
  }
}

#define NCMP(C, S, ID)                                                         \
  static void cmp_##S##_##C(void *d, const void *a, const void *b, size_t n,   \
                            int mode) {                                        \
    narrow_compare(ID, d, a, b, n, mode,                                       \
                   tki_plain_compare(TK_C_##C, TK_FP32));                      \
  }
#define NCMPS(S, ID, T)                                                        \
  NCMP(EQ, S, ID)                                                              \
  NCMP(NE, S, ID)                                                              \
  NCMP(LT, S, ID)                                                              \
  NCMP(LE, S, ID)                                                              \
  NCMP(GT, S, ID)                                                              \
  NCMP(GE, S, ID)
TKI_NARROW_FLOATS(NCMPS)

#define NCMP_ROW(S)                                                            \
  {                                                                            \
    cmp_##S##_EQ, cmp_##S##_NE, cmp_##S##_LT, cmp_##S##_LE, cmp_##S##_GT,      \
        cmp_##S##_GE                                                           \
  }

#define NCMP_ROWS(S, ID, T) [ID] = NCMP_ROW(S),

tki_binary_fn tki_compare_kernel(tk_compare op, tk_dtype d) {
  static const tki_binary_fn table[TK_DTYPE_COUNT][TK_C_COUNT] = {
      TKI_NARROW_FLOATS(NCMP_ROWS)};
  return table[d][op] ? table[d][op] : tki_plain_compare(op, d);
}
