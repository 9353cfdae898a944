/* lane.c - what a lane is in a register: types, constants, conversions.
 *
 * What is written here and in arithmetic.c gives the bits that the interpreter
 * gives, except for what ir/numerics.h names: the hardware's approximations,
 * the functions of libdevice, and remainders of floats.
 */
#include "nvptx/lane.h"

#include "nvptx/mutant.h"

/* ---- types --------------------------------------------------------------- */

int tkv_lane_bits(const tk_type *t) {
  return t->ptr ? 64 : tk_dtypes[t->elem].bits;
}

bool tkv_is_float_lane(const tk_type *t) {
  return !t->ptr && tk_is_float((tk_dtype)t->elem);
}

static bool is_fp8(const tk_type *t) {
  return !t->ptr && tk_is_fp8((tk_dtype)t->elem);
}

bool tkv_is_signed_lane(const tk_type *t) {
  return !t->ptr && tk_is_signed((tk_dtype)t->elem);
}

tkv_type tkv_lane_type(const tk_type *t) {
  int bits = tkv_lane_bits(t);
  if (!tkv_is_float_lane(t) || is_fp8(t)) return TKV_INT_OF(bits);
  return t->elem == TK_BF16 ? TKV_BF16 : TKV_FLOAT_OF(bits);
}

tk_type tkv_stored_type(const tk_type *t) {
  return tkv_lane_bits(t) == 1 ? tk_scalar(TK_UINT8) : *t;
}

tkv_type tkv_param_type(const tk_type *t) {
  tk_type stored = tkv_stored_type(t);
  return tkv_lane_type(&stored);
}

bool tkv_is_narrow(const tk_type *t) {
  return tkv_is_float_lane(t) && tkv_lane_bits(t) < 32;
}

static bool holds_lane(tkv_reg x, const tk_type *t) {
  return tkv_exists(x) && tkv_same_type(x.type, tkv_lane_type(t));
}

bool tkv_are_lanes(const tk_type *t, const tkv_reg *reg, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!holds_lane(reg[i], t)) return false;
  return true;
}

tkv_reg tkv_to_bits(tkv_code *c, tkv_reg x) {
  if (!tkv_is_float_type(x.type)) return x;
  return tkv_bitcast(c, x, TKV_INT_OF(x.type.bits));
}

tkv_reg tkv_from_bits(tkv_code *c, const tk_type *t, tkv_reg x) {
  tkv_type to = tkv_lane_type(t);
  TK_ASSERT(x.type.kind == TKV_INT && x.type.bits == to.bits);
  return tkv_is_float_type(to) ? tkv_bitcast(c, x, to) : x;
}

tkv_reg tkv_literal(const tk_type *t, uint64_t bits) {
  tkv_type type = tkv_lane_type(t);
  int n = tkv_lane_bits(t);
  if (n == 1) return tkv_integer(TKV_I1, (int64_t)(bits & 1));
  int64_t value = (int64_t)(bits << (64 - n)) >> (64 - n);
  return tkv_is_float_type(type) ? tkv_float_of_bits(type, value)
                                 : tkv_integer(type, value);
}

/* ---- conversions --------------------------------------------------------- */

static const char *format_name(const tk_type *t) {
  return tk_dtypes[t->elem].name;
}

tkv_reg tkv_to_fp32(tkv_code *c, const tk_type *t, tkv_reg x) {
  TK_ASSERT(holds_lane(x, t));
  if (t->elem == TK_FP32) return x;
  if (is_fp8(t)) return tkv_from_fp8(c, format_name(t), x);
  return t->elem == TK_FP64 ? tkv_fptrunc(c, x, TKV_F32)
                            : tkv_fpext(c, x, TKV_F32);
}

tkv_reg tkv_from_fp32(tkv_code *c, const tk_type *t, tkv_reg x) {
  TK_ASSERT(tkv_same_type(x.type, TKV_F32));
  if (t->elem == TK_FP32) return x;
  if (is_fp8(t)) return tkv_to_fp8(c, format_name(t), x);
  return t->elem == TK_FP64 ? tkv_fpext(c, x, TKV_F64)
                            : tkv_fptrunc(c, x, tkv_lane_type(t));
}

static tkv_reg float_to_int(tkv_code *c, const tk_type *to, const tk_type *from,
                            tkv_reg x) {
  int bits = tkv_lane_bits(to), wide = bits < 16 ? 16 : bits;
  if (tkv_is_narrow(from)) x = tkv_to_fp32(c, from, x);
  x = tkv_saturate(c, x, TKV_INT_OF(wide), tkv_is_signed_lane(to));
  return bits == wide ? x : tkv_trunc(c, x, TKV_INT_OF(bits));
}

/* An integer rounded to fp32 "to odd": what is cut off sets the last bit, so
 * that rounding the result again is as good as rounding once (S. Boldo and G.
 * Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms
 * Using Rounding to Odd", IEEE TC 2008).  LLVM takes its own intrinsic for this
 * conversion to round to nearest. */
static tkv_reg int_to_odd(tkv_code *c, const tk_type *from, tkv_reg x) {
  static const char *const cvt[][2] = {
      {"cvt.rz.f32.u32 $0, $1;", "cvt.rz.f32.s32 $0, $1;"},
      {"cvt.rz.f32.u64 $0, $1;", "cvt.rz.f32.s64 $0, $1;"}};
  bool sign = tkv_is_signed_lane(from);
  if (x.type.bits < 32)
    x = sign ? tkv_sext(c, x, TKV_I32) : tkv_zext(c, x, TKV_I32);
  tkv_reg cut = tkv_asm_of(c, cvt[x.type.bits == 64][sign], TKV_F32, x),
          back = sign ? tkv_fptosi(c, cut, x.type) : tkv_fptoui(c, cut, x.type),
          odd = tkv_compare(c, TKV_NE, back, x),
          last = tkv_zext(c, odd, TKV_I32), word = tkv_bitcast(c, cut, TKV_I32);
  word = tkv_or(c, word, last);
  return tkv_bitcast(c, word, TKV_F32);
}

/* bf16 and fp8 have no instruction for it. */
static tkv_reg int_to_float(tkv_code *c, const tk_type *to, const tk_type *from,
                            tkv_reg x) {
  if (to->elem == TK_BF16) return tkv_from_fp32(c, to, int_to_odd(c, from, x));
  tkv_type by = is_fp8(to) ? TKV_F32 : tkv_lane_type(to);
  x = tkv_is_signed_lane(from) ? tkv_sitofp(c, x, by) : tkv_uitofp(c, x, by);
  return is_fp8(to) ? tkv_from_fp32(c, to, x) : x;
}

static tkv_reg int_to_int(tkv_code *c, const tk_type *to, const tk_type *from,
                          tkv_reg x) {
  int a = tkv_lane_bits(from), b = tkv_lane_bits(to);
  if (a == b) return x;
  bool with_sign = tkv_is_signed_lane(from) && !TKV_MUTANT(EXTEND);
  tkv_type type = TKV_INT_OF(b);
  return a > b       ? tkv_trunc(c, x, type)
         : with_sign ? tkv_sext(c, x, type)
                     : tkv_zext(c, x, type);
}

tkv_reg tkv_cut_lane(tkv_code *c, const tk_type *to, const tk_type *from,
                     tkv_reg x) {
  if (from->ptr || from->elem != TK_FP32 || !tkv_is_float_lane(to) ||
      to->elem == TK_FP32)
    return tkv_convert_lane(c, to, from, x);
  const char *text = to->elem == TK_BF16 ? "cvt.rz.bf16.f32 $0, $1;"
                                         : "cvt.rz.f16.f32 $0, $1;";
  tkv_reg bits = tkv_asm_of(c, text, TKV_I16, x);
  if (tkv_lane_bits(to) == 16) return tkv_from_bits(c, to, bits);
  TK_ASSERT(to->elem == TK_FP8E5); /* the first byte of an fp16 */
  return tkv_trunc(c, tkv_lshr_n(c, bits, 8), TKV_I8);
}

/* By way of fp32 where either has fewer bits. */
static tkv_reg float_to_float(tkv_code *c, const tk_type *to,
                              const tk_type *from, tkv_reg x) {
  if (to->elem == from->elem) return x;
  if (is_fp8(to) || is_fp8(from) || from->elem == TK_FP32 ||
      to->elem == TK_FP32 || tkv_is_narrow(from))
    return tkv_from_fp32(c, to, tkv_to_fp32(c, from, x));
  return tkv_fptrunc(c, x, tkv_lane_type(to));
}

/* Whether a number is not zero. */
static tkv_reg truth_of(tkv_code *c, const tk_type *from, tkv_reg x) {
  if (!tkv_is_float_lane(from)) return tkv_compare_n(c, TKV_NE, x, 0);
  if (tkv_is_narrow(from)) x = tkv_to_fp32(c, from, x);
  return tkv_compare(c, TKV_UNE, x, tkv_number_of(x.type, 0));
}

tkv_reg tkv_convert_lane(tkv_code *c, const tk_type *to, const tk_type *from,
                         tkv_reg x) {
  TK_ASSERT(holds_lane(x, from));
  if (tkv_is_float_lane(from) && tkv_is_float_lane(to))
    return float_to_float(c, to, from, x);
  if (tkv_lane_bits(to) == 1 && tkv_lane_bits(from) != 1)
    return truth_of(c, from, x);
  if (tkv_is_float_lane(from)) return float_to_int(c, to, from, x);
  return tkv_is_float_lane(to) ? int_to_float(c, to, from, x)
                               : int_to_int(c, to, from, x);
}
