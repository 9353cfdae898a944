/* kernels_int.c - lane loops over integers.
 *
 * Arithmetic wraps; division truncates toward zero, and where hardware and
 * LLVM leave a result open it is defined here: x / 0 has all bits set, x % 0
 * is x, the smallest number divided by -1 is itself; a shift by the width or
 * more gives 0, or the sign for >> of a signed type (PTX ISA, shl and shr).
 */
#include "interp/kernels.h"
#include "interp/lanes.h"

#define MULHI32(a, b) (((uint64_t)(uint32_t)(a) * (uint32_t)(b)) >> 32)
__extension__ typedef unsigned __int128 uint128;
#define MULHI64(a, b) (((uint128)(uint64_t)(a) * (uint64_t)(b)) >> 64)

#define WIDTH(T) (8 * sizeof(T))
#define TOO_FAR(T, U) ((U)b >= WIDTH(T))

/* One integer type: T, its unsigned twin U, and what differs by sign. */
#define COMMON(S, T, U)                                                        \
  TKI_LOOP2(add_##S, T, T, (U)a + (U)b)                                        \
  TKI_LOOP2(sub_##S, T, T, (U)a - (U)b)                                        \
  TKI_LOOP2(mul_##S, T, T, (uint64_t)(U)a *(uint64_t)(U)b)                     \
  TKI_LOOP2(and_##S, T, T, a &b)                                               \
  TKI_LOOP2(or_##S, T, T, a | b)                                               \
  TKI_LOOP2(xor_##S, T, T, a ^ b)                                              \
  TKI_LOOP2(shl_##S, T, T,                                                     \
            TOO_FAR(T, U) ? 0 : (uint64_t)(U)a << ((U)b & (WIDTH(T) - 1)))     \
  TKI_LOOP2(lshr_##S, T, T,                                                    \
            TOO_FAR(T, U) ? 0 : (U)a >> ((U)b & (WIDTH(T) - 1)))               \
  TKI_LOOP2(min_##S, T, T, a < b ? a : b)                                      \
  TKI_LOOP2(max_##S, T, T, a > b ? a : b)

/* Of an unsigned type too: i8 >> u16 is computed in u16 and keeps the sign. */
#define ARITHMETIC_SHIFT(S, T, I, U)                                           \
  TKI_LOOP2(shr_##S, T, T, (I)a >> (TOO_FAR(T, U) ? WIDTH(T) - 1 : (U)b))

#define SIGNED(S, T, U)                                                        \
  COMMON(S, T, U)                                                              \
  TKI_LOOP2(div_##S, T, T, b == 0 ? -1 : b == -1 ? (T)(0 - (U)a) : a / b)      \
  TKI_LOOP2(mod_##S, T, T, b == 0 ? a : b == -1 ? 0 : a % b)                   \
  ARITHMETIC_SHIFT(S, T, T, U)

#define UNSIGNED(S, T, I)                                                      \
  COMMON(S, T, T)                                                              \
  TKI_LOOP2(div_##S, T, T, b == 0 ? (T)-1 : a / b)                             \
  TKI_LOOP2(mod_##S, T, T, b == 0 ? a : a % b)                                 \
  ARITHMETIC_SHIFT(S, T, I, T)

SIGNED(i8, int8_t, uint8_t)
SIGNED(i16, int16_t, uint16_t)
SIGNED(i32, int32_t, uint32_t)
SIGNED(i64, int64_t, uint64_t)
UNSIGNED(u8, uint8_t, int8_t)
UNSIGNED(u16, uint16_t, int16_t)
UNSIGNED(u32, uint32_t, int32_t)
UNSIGNED(u64, uint64_t, int64_t)
TKI_LOOP2(mulhi_32, uint32_t, uint32_t, MULHI32(a, b))
TKI_LOOP2(mulhi_64, uint64_t, uint64_t, MULHI64(a, b))

/* int1: arithmetic modulo 2. */
TKI_LOOP2(div_b, uint8_t, uint8_t, b ? a : 1)
TKI_LOOP2(mod_b, uint8_t, uint8_t, b ? 0 : a)
TKI_LOOP2(shl_b, uint8_t, uint8_t, b ? 0 : a)

#define ROW(S)                                                                 \
  {                                                                            \
    [TK_B_ADD] = add_##S, [TK_B_SUB] = sub_##S, [TK_B_MUL] = mul_##S,          \
    [TK_B_DIV] = div_##S, [TK_B_MOD] = mod_##S, [TK_B_AND] = and_##S,          \
    [TK_B_OR] = or_##S, [TK_B_XOR] = xor_##S, [TK_B_SHL] = shl_##S,            \
    [TK_B_SHR] = shr_##S, [TK_B_LSHR] = lshr_##S, [TK_B_MIN] = min_##S,        \
    [TK_B_MAX] = max_##S, [TK_B_MIN_NAN] = min_##S, [TK_B_MAX_NAN] = max_##S   \
  }

static const tki_binary_fn table[TK_FP8E4NV][TK_B_COUNT] = {
    [TK_INT1] = {[TK_B_ADD] = xor_u8,
                 [TK_B_SUB] = xor_u8,
                 [TK_B_MUL] = and_u8,
                 [TK_B_DIV] = div_b,
                 [TK_B_MOD] = mod_b,
                 [TK_B_AND] = and_u8,
                 [TK_B_OR] = or_u8,
                 [TK_B_XOR] = xor_u8,
                 [TK_B_SHL] = shl_b,
                 [TK_B_SHR] = shl_b,
                 [TK_B_LSHR] = shl_b,
                 [TK_B_MIN] = and_u8,
                 [TK_B_MAX] = or_u8,
                 [TK_B_MIN_NAN] = and_u8,
                 [TK_B_MAX_NAN] = or_u8},
    [TK_INT8] = ROW(i8),
    [TK_UINT8] = ROW(u8),
    [TK_INT16] = ROW(i16),
    [TK_UINT16] = ROW(u16),
    [TK_INT32] = ROW(i32),
    [TK_UINT32] = ROW(u32),
    [TK_INT64] = ROW(i64),
    [TK_UINT64] = ROW(u64),
};

tki_binary_fn tki_int_binary(tk_binary op, tk_dtype d) {
  if (op != TK_B_MULHI) return table[d][op];
  return tk_dtypes[d].bits == 64   ? mulhi_64
         : tk_dtypes[d].bits == 32 ? mulhi_32
                                   : NULL;
}

/* ---- unary ------------------------------------------------------------- */

#define UNARIES(S, T, U)                                                       \
  TKI_LOOP1(neg_##S, U, U, (U)(0 - a))                                         \
  TKI_LOOP1(not_##S, U, U, ~a)                                                 \
  TKI_LOOP1(abs_##S, T, T, a < 0 ? (T)(0 - (U)a) : a)
UNARIES(i8, int8_t, uint8_t)
UNARIES(i16, int16_t, uint16_t)
UNARIES(i32, int32_t, uint32_t)
UNARIES(i64, int64_t, uint64_t)
TKI_LOOP1(not_b, uint8_t, uint8_t, a ^ 1)
TKI_LOOP1(same_b, uint8_t, uint8_t, a)

tki_unary_fn tki_int_unary(tk_unary op, tk_dtype d) {
  static const tki_unary_fn rows[4][3] = {
      {neg_i8, not_i8, abs_i8},
      {neg_i16, not_i16, abs_i16},
      {neg_i32, not_i32, abs_i32},
      {neg_i64, not_i64, abs_i64},
  };
  if (op > TK_U_ABS) return NULL;
  if (d == TK_INT1) return op == TK_U_NOT ? not_b : same_b;
  int size = tk_dtypes[d].size, log = size == 8 ? 3 : size / 2;
  return rows[log][op];
}

/* ---- comparisons ------------------------------------------------------- */

#define COMPARES(S, T)                                                         \
  TKI_LOOP2(eq_##S, uint8_t, T, a == b)                                        \
  TKI_LOOP2(ne_##S, uint8_t, T, a != b)                                        \
  TKI_LOOP2(lt_##S, uint8_t, T, a < b)                                         \
  TKI_LOOP2(le_##S, uint8_t, T, a <= b)                                        \
  TKI_LOOP2(gt_##S, uint8_t, T, a > b)                                         \
  TKI_LOOP2(ge_##S, uint8_t, T, a >= b)
COMPARES(i8, int8_t)
COMPARES(i16, int16_t)
COMPARES(i32, int32_t)
COMPARES(i64, int64_t)
COMPARES(u8, uint8_t)
COMPARES(u16, uint16_t)
COMPARES(u32, uint32_t)
COMPARES(u64, uint64_t)
COMPARES(f32, float)
COMPARES(f64, double)
#define COMPARE_ROW(S)                                                         \
  { eq_##S, ne_##S, lt_##S, le_##S, gt_##S, ge_##S }

tki_binary_fn tki_plain_compare(tk_compare op, tk_dtype d) {
  static const tki_binary_fn rows[TK_DTYPE_COUNT][TK_C_COUNT] = {
      [TK_INT1] = COMPARE_ROW(u8),    [TK_INT8] = COMPARE_ROW(i8),
      [TK_UINT8] = COMPARE_ROW(u8),   [TK_INT16] = COMPARE_ROW(i16),
      [TK_UINT16] = COMPARE_ROW(u16), [TK_INT32] = COMPARE_ROW(i32),
      [TK_UINT32] = COMPARE_ROW(u32), [TK_INT64] = COMPARE_ROW(i64),
      [TK_UINT64] = COMPARE_ROW(u64), [TK_FP32] = COMPARE_ROW(f32),
      [TK_FP64] = COMPARE_ROW(f64),
  };
  return rows[d][op];
}
