/* kernels_cast.c - lane loops that convert element types.
 *
 * Integers truncate or extend; integers to floats round to nearest even;
 * floats to integers round toward zero, saturate and turn NaN into 0, as PTX
 * cvt does.  There is no cvt to 8 bits: those keep the low bits of a 16-bit
 * result (as an H200 does).  Anything to int1 is "is not zero".
 */
#include <math.h>

#include "interp/interp.h"

#define LOOP(NAME, TO, FROM, EXPR)                                             \
  TKI_CLONES static void NAME(void *vd, const void *va, size_t n) {            \
    TO *d = vd;                                                                \
    const FROM *pa = va;                                                       \
    for (size_t i = 0; i < n; i++) {                                           \
      FROM a = pa[i];                                                          \
      d[i] = (TO)(EXPR);                                                       \
    }                                                                          \
  }

/* Saturation: bounds are exact in both float types. */
#define SAT(a, T, LO, HI, LIMIT)                                               \
  ((a) != (a) ? 0 : (a) < (LO) ? (T)(LO) : (a) >= (LIMIT) ? (HI) : (T)(a))
#define TO_I16(a) SAT(a, int16_t, -0x1p15f, INT16_MAX, 0x1p15f)
#define TO_U16(a) SAT(a, uint16_t, 0.0f, UINT16_MAX, 0x1p16f)
#define TO_I32(a) SAT(a, int32_t, -0x1p31f, INT32_MAX, 0x1p31f)
#define TO_I64(a) SAT(a, int64_t, -0x1p63f, INT64_MAX, 0x1p63f)
#define TO_U32(a) SAT(a, uint32_t, 0.0f, UINT32_MAX, 0x1p32f)
#define TO_U64(a) SAT(a, uint64_t, 0.0f, UINT64_MAX, 0x1p64f)

/* FROM_INT(to suffix, to type): every integer source. */
#define FROM_INTS(S, T)                                                        \
  LOOP(u8_##S, T, uint8_t, a)                                                  \
  LOOP(i8_##S, T, int8_t, a)                                                   \
  LOOP(u16_##S, T, uint16_t, a)                                                \
  LOOP(i16_##S, T, int16_t, a)                                                 \
  LOOP(u32_##S, T, uint32_t, a)                                                \
  LOOP(i32_##S, T, int32_t, a)                                                 \
  LOOP(u64_##S, T, uint64_t, a)                                                \
  LOOP(i64_##S, T, int64_t, a)
#define FROM_FLOATS(S, T, CONV)                                                \
  LOOP(f32_##S, T, float, CONV(a))                                             \
  LOOP(f64_##S, T, double, CONV(a))
#define SAME(a) (a)
#define IS_NOT_ZERO(a) ((a) != 0)

FROM_INTS(i8, uint8_t)
FROM_INTS(i16, uint16_t)
FROM_INTS(i32, uint32_t)
FROM_INTS(i64, uint64_t)
FROM_INTS(f32, float)
FROM_INTS(f64, double)
FROM_FLOATS(i8, int8_t, TO_I16)
FROM_FLOATS(u8, uint8_t, TO_U16)
FROM_FLOATS(i16, int16_t, TO_I16)
FROM_FLOATS(u16, uint16_t, TO_U16)
FROM_FLOATS(i32, int32_t, TO_I32)
FROM_FLOATS(u32, uint32_t, TO_U32)
FROM_FLOATS(i64, int64_t, TO_I64)
FROM_FLOATS(u64, uint64_t, TO_U64)
FROM_FLOATS(b, uint8_t, IS_NOT_ZERO)
FROM_FLOATS(f32, float, SAME)
FROM_FLOATS(f64, double, SAME)
LOOP(u8_b, uint8_t, uint8_t, a != 0)
LOOP(i8_b, uint8_t, uint8_t, a != 0)
LOOP(u16_b, uint8_t, uint16_t, a != 0)
LOOP(i16_b, uint8_t, uint16_t, a != 0)
LOOP(u32_b, uint8_t, uint32_t, a != 0)
LOOP(i32_b, uint8_t, uint32_t, a != 0)
LOOP(u64_b, uint8_t, uint64_t, a != 0)
LOOP(i64_b, uint8_t, uint64_t, a != 0)

#define TO_ROW(S)                                                              \
  {                                                                            \
    [TK_INT1] = u8_##S, [TK_INT8] = i8_##S, [TK_UINT8] = u8_##S,               \
    [TK_INT16] = i16_##S, [TK_UINT16] = u16_##S, [TK_INT32] = i32_##S,         \
    [TK_UINT32] = u32_##S, [TK_INT64] = i64_##S, [TK_UINT64] = u64_##S,        \
    [TK_FP32] = f32_##S, [TK_FP64] = f64_##S                                   \
  }
/* Integer targets of one width differ only in how floats become them. */
#define INT_ROW(WIDTH, S)                                                      \
  {                                                                            \
    [TK_INT1] = u8_i##WIDTH, [TK_INT8] = i8_i##WIDTH,                          \
    [TK_UINT8] = u8_i##WIDTH, [TK_INT16] = i16_i##WIDTH,                       \
    [TK_UINT16] = u16_i##WIDTH, [TK_INT32] = i32_i##WIDTH,                     \
    [TK_UINT32] = u32_i##WIDTH, [TK_INT64] = i64_i##WIDTH,                     \
    [TK_UINT64] = u64_i##WIDTH, [TK_FP32] = f32_##S, [TK_FP64] = f64_##S       \
  }

#define NARROW(S, ID)                                                          \
  static void from_##S(void *d, const void *a, size_t n) {                     \
    tki_widen(ID, d, a, n);                                                    \
  }                                                                            \
  static void to_##S(void *d, const void *a, size_t n) {                       \
    tki_narrow(ID, d, a, n);                                                   \
  }
NARROW(f16, TK_FP16)
NARROW(bf16, TK_BF16)
NARROW(e4nv, TK_FP8E4NV)
NARROW(e4b8, TK_FP8E4B8)
NARROW(e4b15, TK_FP8E4B15)
NARROW(e5, TK_FP8E5)
NARROW(e5b16, TK_FP8E5B16)

static tki_unary_fn narrow_cast(tk_dtype from, tk_dtype to) {
  static const tki_unary_fn widen[TK_DTYPE_COUNT] = {
      [TK_FP16] = from_f16,       [TK_BF16] = from_bf16,
      [TK_FP8E4NV] = from_e4nv,   [TK_FP8E4B8] = from_e4b8,
      [TK_FP8E4B15] = from_e4b15, [TK_FP8E5] = from_e5,
      [TK_FP8E5B16] = from_e5b16};
  static const tki_unary_fn narrow[TK_DTYPE_COUNT] = {
      [TK_FP16] = to_f16,      [TK_BF16] = to_bf16,      [TK_FP8E4NV] = to_e4nv,
      [TK_FP8E4B8] = to_e4b8,  [TK_FP8E4B15] = to_e4b15, [TK_FP8E5] = to_e5,
      [TK_FP8E5B16] = to_e5b16};
  if (to == TK_FP32) return widen[from];
  return from == TK_FP32 ? narrow[to] : NULL;
}

tki_unary_fn tki_cast_kernel(tk_dtype from, tk_dtype to, bool rtz) {
  static const tki_unary_fn table[TK_DTYPE_COUNT][TK_DTYPE_COUNT] = {
      [TK_INT1] = TO_ROW(b),          [TK_INT8] = INT_ROW(8, i8),
      [TK_UINT8] = INT_ROW(8, u8),    [TK_INT16] = INT_ROW(16, i16),
      [TK_UINT16] = INT_ROW(16, u16), [TK_INT32] = INT_ROW(32, i32),
      [TK_UINT32] = INT_ROW(32, u32), [TK_INT64] = INT_ROW(64, i64),
      [TK_UINT64] = INT_ROW(64, u64), [TK_FP32] = TO_ROW(f32),
      [TK_FP64] = TO_ROW(f64),
  };
  if (rtz) return NULL;
  return table[to][from] ? table[to][from] : narrow_cast(from, to);
}
