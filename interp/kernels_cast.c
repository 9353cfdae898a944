/* kernels_cast.c - lane loops that convert element types.
 *
 * Integers truncate or extend; integers to floats round to nearest even;
 * floats to integers round toward zero, saturate and turn NaN into 0, as PTX
 * cvt does.  There is no cvt to 8 bits: those keep the low bits of a 16-bit
 * result (as an H200 does).  Anything to int1 is "is not zero".
 */
#include <math.h>

#include "interp/kernels.h"
#include "interp/lanes.h"

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
  TKI_LOOP1(u8_##S, T, uint8_t, a)                                             \
  TKI_LOOP1(i8_##S, T, int8_t, a)                                              \
  TKI_LOOP1(u16_##S, T, uint16_t, a)                                           \
  TKI_LOOP1(i16_##S, T, int16_t, a)                                            \
  TKI_LOOP1(u32_##S, T, uint32_t, a)                                           \
  TKI_LOOP1(i32_##S, T, int32_t, a)                                            \
  TKI_LOOP1(u64_##S, T, uint64_t, a)                                           \
  TKI_LOOP1(i64_##S, T, int64_t, a)
#define FROM_FLOATS(S, T, CONV)                                                \
  TKI_LOOP1(f32_##S, T, float, CONV(a))                                        \
  TKI_LOOP1(f64_##S, T, double, CONV(a))
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
TKI_LOOP1(u8_b, uint8_t, uint8_t, a != 0)
TKI_LOOP1(i8_b, uint8_t, uint8_t, a != 0)
TKI_LOOP1(u16_b, uint8_t, uint16_t, a != 0)
TKI_LOOP1(i16_b, uint8_t, uint16_t, a != 0)
TKI_LOOP1(u32_b, uint8_t, uint32_t, a != 0)
TKI_LOOP1(i32_b, uint8_t, uint32_t, a != 0)
TKI_LOOP1(u64_b, uint8_t, uint64_t, a != 0)
TKI_LOOP1(i64_b, uint8_t, uint64_t, a != 0)

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

#define NARROW(S, ID, T)                                                       \
  static void from_##S(void *d, const void *a, size_t n) {                     \
    tki_widen(ID, d, a, n);                                                    \
  }                                                                            \
  static void to_##S(void *d, const void *a, size_t n) {                       \
    tki_narrow(ID, d, a, n);                                                   \
  }
TKI_NARROW_FLOATS(NARROW)

static tki_unary_fn narrow_cast(tk_dtype from, tk_dtype to) {
#define FROM(S, ID, T) [ID] = from_##S,
#define TO(S, ID, T) [ID] = to_##S,
  static const tki_unary_fn widen[TK_DTYPE_COUNT] = {TKI_NARROW_FLOATS(FROM)};
  static const tki_unary_fn narrow[TK_DTYPE_COUNT] = {TKI_NARROW_FLOATS(TO)};
#undef FROM
#undef TO
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
