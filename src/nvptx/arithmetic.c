/* arithmetic.c - lane-wise arithmetic, one lane at a time.  Types narrower than
 * fp32 are computed in fp32. */
#include <math.h>

#include "ir/numerics.h"
#include "nvptx/lane.h"
#include "nvptx/mutant.h"

/* ---- integers ------------------------------------------------------------ */

/* The negative, or the absolute value, of an integer.  ptxas takes neg.s16 and
 * abs.s16 of -32768 for 32768 where the result is extended, so 8 and 16 bits
 * are computed in 32, and out of the sight of LLVM, which would undo that. */
static tkv_reg int_sign(tkv_code *c, tk_unary op, tkv_reg x) {
  bool negates = op == TK_U_NEG;
  tkv_type type = x.type;
  if (type.bits == 8 || type.bits == 16) {
    x = tkv_sext(c, x, TKV_I32);
    x = tkv_asm_of(c, negates ? "neg.s32 $0, $1;" : "abs.s32 $0, $1;", TKV_I32,
                   x);
    return tkv_trunc(c, x, type);
  }
  return negates ? tkv_sub(c, tkv_integer(type, 0), x) : tkv_iabs(c, x);
}

/* The quotient or remainder of numbers of which LLVM says what it is. */
static tkv_reg plain_division(tkv_code *c, bool mod, bool sign, tkv_reg a,
                              tkv_reg b) {
  tkv_op op = mod    ? sign ? TKV_OP_srem : TKV_OP_urem
              : sign ? TKV_OP_sdiv
                     : TKV_OP_udiv;
  return tkv_binary(c, op, a, b);
}

/* As hardware divides: by 0 all bits are 1 and the remainder is the number
 * itself; LLVM leaves that open, and the smallest number by -1, too. */
static tkv_reg int_division(tkv_code *c, bool mod, bool sign, tkv_reg a,
                            tkv_reg b) {
  tkv_type type = a.type;
  if (tkv_is_known_integer(b) && !tkv_is_integer(b, 0) &&
      !tkv_is_integer(b, -1))
    return plain_division(c, mod, sign, a, b);
  tkv_reg zero = tkv_compare_n(c, TKV_EQ, b, 0), odd = zero;
  if (sign) odd = tkv_or(c, zero, tkv_compare_n(c, TKV_EQ, b, -1));
  tkv_reg by = tkv_select(c, odd, tkv_integer(type, 1), b),
          q = plain_division(c, mod, sign, a, by);
  if (sign) {
    tkv_reg minus = mod ? tkv_integer(type, 0) : int_sign(c, TK_U_NEG, a);
    q = tkv_select(c, odd, minus, q);
  }
  return tkv_select(c, zero, mod ? a : tkv_integer(type, -1), q);
}

/* A shift by the width or more gives 0, or the sign: that of the left operand,
 * which may be signed where the result is not. */
static tkv_reg int_shift(tkv_code *c, tk_binary op, tkv_reg a, tkv_reg b) {
  bool arithmetic = op == TK_B_SHR && !TKV_MUTANT(SHIFT);
  tkv_reg last = tkv_integer(b.type, b.type.bits - 1),
          far = tkv_compare(c, TKV_UGT, b, last),
          by = tkv_select(c, far, last, b);
  if (arithmetic) return tkv_ashr(c, a, by);
  tkv_reg x = op == TK_B_SHL ? tkv_shl(c, a, by) : tkv_lshr(c, a, by);
  return tkv_select(c, far, tkv_integer(a.type, 0), x);
}

static tkv_reg int_extreme(tkv_code *c, bool max, bool sign, tkv_reg a,
                           tkv_reg b) {
  if (sign) return max ? tkv_smax(c, a, b) : tkv_smin(c, a, b);
  return max ? tkv_umax(c, a, b) : tkv_umin(c, a, b);
}

/* The upper half of the product, without sign. */
static tkv_reg high_product(tkv_code *c, tkv_reg a, tkv_reg b) {
  int bits = a.type.bits;
  tkv_type wide = TKV_INT_OF(2 * bits);
  tkv_reg x = tkv_zext(c, a, wide), y = tkv_zext(c, b, wide),
          z = tkv_mul(c, x, y), high = tkv_lshr_n(c, z, bits);
  return tkv_trunc(c, high, a.type);
}

static tkv_reg int_binary(tkv_code *c, tk_binary op, const tk_type *t,
                          tkv_reg a, tkv_reg b) {
  bool sign = tkv_is_signed_lane(t);
  switch (op) {
  case TK_B_ADD: return tkv_add(c, a, b);
  case TK_B_SUB: /* LLVM takes these two for a negation, too */
    return tkv_is_integer(a, 0) ? int_sign(c, TK_U_NEG, b) : tkv_sub(c, a, b);
  case TK_B_MUL:
    return tkv_is_integer(b, -1) ? int_sign(c, TK_U_NEG, a) : tkv_mul(c, a, b);
  case TK_B_AND: return tkv_and(c, a, b);
  case TK_B_OR: return tkv_or(c, a, b);
  case TK_B_XOR: return tkv_xor(c, a, b);
  case TK_B_DIV:
  case TK_B_MOD:
    return int_division(c, op == TK_B_MOD, sign && !TKV_MUTANT(DIVIDE), a, b);
  case TK_B_SHL:
  case TK_B_SHR:
  case TK_B_LSHR: return int_shift(c, op, a, b);
  case TK_B_MAX:
  case TK_B_MAX_NAN: return int_extreme(c, true, sign, a, b);
  case TK_B_MIN:
  case TK_B_MIN_NAN: return int_extreme(c, false, sign, a, b);
  case TK_B_MULHI: return high_product(c, a, b);
  case TK_B_COUNT: break;
  }
  TK_ASSERT(false);
  return a;
}

/* Arithmetic modulo 2. */
static tkv_reg bool_binary(tkv_code *c, tk_binary op, tkv_reg a, tkv_reg b) {
  switch (op) {
  case TK_B_ADD:
  case TK_B_SUB:
  case TK_B_XOR: return tkv_xor(c, a, b);
  case TK_B_MUL:
  case TK_B_AND:
  case TK_B_MIN:
  case TK_B_MIN_NAN: return tkv_and(c, a, b);
  case TK_B_OR:
  case TK_B_MAX:
  case TK_B_MAX_NAN: return tkv_or(c, a, b);
  case TK_B_DIV: return tkv_select(c, b, a, tkv_integer(TKV_I1, 1));
  case TK_B_MOD:
  case TK_B_SHL:
  case TK_B_SHR:
  case TK_B_LSHR: return tkv_select(c, b, tkv_integer(TKV_I1, 0), a);
  case TK_B_MULHI:
  case TK_B_COUNT: break;
  }
  TK_ASSERT(false);
  return a;
}

/* ---- floats -------------------------------------------------------------- */

/* PTX has no min.NaN of fp64. */
static tkv_reg nan_wins(tkv_code *c, bool max, tkv_reg a, tkv_reg b) {
  if (a.type.bits == 32)
    return max ? tkv_maximum(c, a, b) : tkv_minimum(c, a, b);
  tkv_reg x = max ? tkv_maxnum(c, a, b) : tkv_minnum(c, a, b),
          nan = tkv_compare(c, TKV_UNO, a, b), sum = tkv_fadd(c, a, b);
  return tkv_select(c, nan, sum, x);
}

/* a - trunc(a / b) * b, of which the quotient is rounded, and the rest once.
 * LLVM's own rounds the product as well, unless ptxas fuses it. */
static tkv_reg float_remainder(tkv_code *c, tkv_reg a, tkv_reg b) {
  tkv_reg q = tkv_fdiv(c, a, b);
  q = tkv_toward_zero(c, q);
  q = tkv_fneg(c, q);
  tkv_reg r = tkv_fma(c, q, b, a), size = tkv_fabs(c, b),
          infinity = tkv_number_of(b.type, INFINITY),
          far = tkv_compare(c, TKV_OEQ, size, infinity);
  return tkv_select(c, far, a, r);
}

/* LLVM has no instruction that becomes div.full. */
static tkv_reg quotient(tkv_code *c, tk_accuracy accuracy, tkv_reg a,
                        tkv_reg b) {
  if (!tkv_same_type(a.type, TKV_F32) || accuracy == TK_ACC_NEAREST)
    return tkv_fdiv(c, a, b);
  const char *text = accuracy == TK_ACC_ROUGH ? "div.approx.f32 $0, $1, $2;"
                                              : "div.full.f32 $0, $1, $2;";
  tkv_asm x = {.text = text,
               .out = &a.type,
               .nout = 1,
               .in = (tkv_reg[]){a, b},
               .nin = 2};
  return tkv_assemble_text(c, &x).all;
}

tkv_reg tkv_lane_divide(tkv_code *c, tk_accuracy accuracy, const tk_type *t,
                        tkv_reg a, tkv_reg b) {
  if (!tkv_is_narrow(t)) return quotient(c, accuracy, a, b);
  a = tkv_to_fp32(c, t, a);
  b = tkv_to_fp32(c, t, b);
  return tkv_from_fp32(c, t, quotient(c, accuracy, a, b));
}

static tkv_reg float_binary(tkv_code *c, tk_binary op, tkv_reg a, tkv_reg b) {
  switch ((int)op) {
  case TK_B_ADD: return tkv_fadd(c, a, b);
  case TK_B_SUB: return tkv_fsub(c, a, b);
  case TK_B_MUL: return tkv_fmul(c, a, b);
  case TK_B_DIV: return tkv_fdiv(c, a, b);
  case TK_B_MOD: return float_remainder(c, a, b);
  case TK_B_MAX: return tkv_maxnum(c, a, b);
  case TK_B_MIN: return tkv_minnum(c, a, b);
  case TK_B_MAX_NAN: return nan_wins(c, true, a, b);
  case TK_B_MIN_NAN: return nan_wins(c, false, a, b);
  }
  TK_ASSERT(false);
  return a;
}

tkv_reg tkv_lane_binary(tkv_code *c, tk_binary op, const tk_type *t, tkv_reg a,
                        tkv_reg b) {
  TK_ASSERT(tkv_same_type(a.type, tkv_lane_type(t)));
  TK_ASSERT(tkv_same_type(b.type, a.type));
  if (!tkv_is_float_lane(t))
    return tkv_lane_bits(t) == 1 ? bool_binary(c, op, a, b)
                                 : int_binary(c, op, t, a, b);
  if (!tkv_is_narrow(t)) return float_binary(c, op, a, b);
  b = tkv_to_fp32(c, t, b);
  a = tkv_to_fp32(c, t, a);
  return tkv_from_fp32(c, t, float_binary(c, op, a, b));
}

tkv_reg tkv_lane_compare(tkv_code *c, tk_compare op, const tk_type *t,
                         tkv_reg a, tkv_reg b) {
  static const tkv_comparison floats[TK_C_COUNT] =
      {[TK_C_EQ] = TKV_OEQ, [TK_C_NE] = TKV_UNE, [TK_C_LT] = TKV_OLT,
       [TK_C_LE] = TKV_OLE, [TK_C_GT] = TKV_OGT, [TK_C_GE] = TKV_OGE},
                              ints[2][TK_C_COUNT] = {{[TK_C_EQ] = TKV_EQ,
                                                      [TK_C_NE] = TKV_NE,
                                                      [TK_C_LT] = TKV_ULT,
                                                      [TK_C_LE] = TKV_ULE,
                                                      [TK_C_GT] = TKV_UGT,
                                                      [TK_C_GE] = TKV_UGE},
                                                     {[TK_C_EQ] = TKV_EQ,
                                                      [TK_C_NE] = TKV_NE,
                                                      [TK_C_LT] = TKV_SLT,
                                                      [TK_C_LE] = TKV_SLE,
                                                      [TK_C_GT] = TKV_SGT,
                                                      [TK_C_GE] = TKV_SGE}};
  if (!tkv_is_float_lane(t))
    return tkv_compare(c, ints[tkv_is_signed_lane(t)][op], a, b);
  if (tkv_is_narrow(t)) {
    a = tkv_to_fp32(c, t, a);
    b = tkv_to_fp32(c, t, b);
  }
  return tkv_compare(c, floats[op], a, b);
}

/* ---- functions of one number --------------------------------------------- */

static tkv_reg approximate(tkv_code *c, tk_unary op, tkv_reg x) {
  static const struct {
    const char *instruction;
    bool ftz;
    double before, after;
  } rows[TK_U_COUNT] = {
#define APPROXIMATE(op, before, instruction, ftz, after)                       \
  [TK_U_##op] = {#instruction, ftz, before, after},
#include "ir/approximate.def"
#undef APPROXIMATE
  };
  if (rows[op].before != 1)
    x = tkv_fmul(c, x, tkv_number_of(TKV_F32, rows[op].before));
  x = tkv_approximate(c, rows[op].instruction, rows[op].ftz, x);
  return rows[op].after == 1
             ? x
             : tkv_fmul(c, x, tkv_number_of(TKV_F32, rows[op].after));
}

static tkv_reg float_unary(tkv_code *c, tk_unary op, tk_accuracy accuracy,
                           tk_dtype type, tkv_reg x) {
  tk_way way = tk_way_of_unary(op, accuracy, type);
  switch ((int)op) {
  case TK_U_ABS: return tkv_fabs(c, x);
  case TK_U_FLOOR: return tkv_floor(c, x);
  case TK_U_CEIL: return tkv_ceil(c, x);
  case TK_U_NEG: return tkv_fneg(c, x);
  }
  if (way == TK_WAY_APPROXIMATE) return approximate(c, op, x);
  return way == TK_WAY_DEFINED
             ? tkv_sqrt(c, x)
             : tkv_call_math(c, tk_list_word(TK_LIST_UNARY, op), x);
}

tkv_reg tkv_lane_unary(tkv_code *c, tk_unary op, tk_accuracy accuracy,
                       const tk_type *t, tkv_reg x) {
  TK_ASSERT(tkv_same_type(x.type, tkv_lane_type(t)));
  if (tkv_is_narrow(t)) {
    x = float_unary(c, op, accuracy, TK_FP32, tkv_to_fp32(c, t, x));
    return tkv_from_fp32(c, t, x);
  }
  if (tkv_is_float_lane(t))
    return float_unary(c, op, accuracy, (tk_dtype)t->elem, x);
  bool flag = x.type.bits == 1;
  if (op == TK_U_NEG) return flag ? x : int_sign(c, op, x);
  if (op == TK_U_NOT) return tkv_xor_n(c, x, flag ? 1 : -1);
  TK_ASSERT(op == TK_U_ABS);
  return tkv_is_signed_lane(t) ? int_sign(c, op, x) : x;
}
