/* canonicalise.c - simplifies instructions whose operands are constants.
 *
 * Integers alone are computed here, as the interpreter does: modulo 2^bits.
 * Of floats, constants are converted where that rounds to nearest, and nothing
 * else: a sum with 0 or a product with 1 may change the sign of a zero or the
 * payload of a
 * NaN. */
#include <string.h>

#include "nvptx/rewrite.h"

/* ---- constants ----------------------------------------------------------- */

/* Whether operand k is there and holds the same bits in every lane. */
static bool const_bits(const tkv_rewriter *w, const tk_inst *in, int k,
                       uint64_t *bits) {
  int at = tk_inst_arg(in, k);
  return at >= 0 && tkv_is_const(w, in->args[at], bits);
}

static int operand(const tk_inst *in, int k) {
  return in->args[tk_inst_arg(in, k)];
}

static tk_dtype elem_of_operand(const tkv_rewriter *w, const tk_inst *in,
                                int k) {
  return (tk_dtype)tkv_type(w, operand(in, k))->elem;
}

/* int1 is left alone: its 1 is not -1. */
static bool has_int(const tk_type *t) {
  return !t->ptr && t->elem != TK_INT1 && tk_is_int((tk_dtype)t->elem);
}

static int64_t as_int(tk_dtype d, uint64_t bits) {
  return tk_lane_int(d, &bits);
}

static uint64_t int_bits(tk_dtype d, int64_t v) {
  uint64_t bits = 0;
  tk_lane_set_int(d, &bits, v);
  return bits;
}

/* The operand if it has the type of the result, and so can replace it. */
static int stands_alone(const tkv_rewriter *w, const tk_inst *in, int k) {
  int slot = operand(in, k);
  return tk_same_type(tkv_type(w, slot), &in->type) ? slot : TKV_KEEP;
}

/* ---- integers ------------------------------------------------------------ */

/* False: its result depends on more than two's complement. */
static bool fold_ints(tk_binary op, tk_dtype d, int64_t x, int64_t y,
                      int64_t *out) {
  uint64_t a = (uint64_t)x, b = (uint64_t)y, c = 0;
  bool is_signed = tk_is_signed(d);
  switch (op) {
  case TK_B_ADD: c = a + b; break;
  case TK_B_SUB: c = a - b; break;
  case TK_B_MUL: c = a * b; break;
  case TK_B_AND: c = a & b; break;
  case TK_B_OR: c = a | b; break;
  case TK_B_XOR: c = a ^ b; break;
  case TK_B_MIN: c = (is_signed ? x < y : a < b) ? a : b; break;
  case TK_B_MAX: c = (is_signed ? x > y : a > b) ? a : b; break;
  case TK_B_DIV:
  case TK_B_MOD:
    if (y == 0 || (is_signed && y == -1)) return false;
    if (is_signed)
      c = (uint64_t)(op == TK_B_DIV ? x / y : x % y);
    else
      c = op == TK_B_DIV ? a / b : a % b;
    break;
  case TK_B_SHL:
  case TK_B_SHR:
  case TK_B_LSHR:
  case TK_B_MIN_NAN:
  case TK_B_MAX_NAN:
  case TK_B_MULHI:
  case TK_B_COUNT: return false;
  }
  *out = (int64_t)c;
  return true;
}

/* Whether `x op y` is x whatever x is. */
static bool is_neutral(tk_binary op, tk_dtype d, int64_t y) {
  switch ((int)op) {
  case TK_B_ADD:
  case TK_B_SUB:
  case TK_B_OR:
  case TK_B_XOR:
  case TK_B_SHL:
  case TK_B_SHR:
  case TK_B_LSHR: return y == 0;
  case TK_B_MUL: return y == 1;
  case TK_B_DIV: return y == 1;
  case TK_B_AND: return y == as_int(d, int_bits(d, -1));
  default: return false;
  }
}

static bool commutes(tk_binary op) {
  return op == TK_B_ADD || op == TK_B_MUL || op == TK_B_AND || op == TK_B_OR ||
         op == TK_B_XOR;
}

static int canonical_binary(tkv_rewriter *w, tk_inst *in) {
  tk_dtype d = (tk_dtype)in->type.elem;
  tk_binary op = (tk_binary)in->mode;
  uint64_t x = 0, y = 0;
  int64_t out;
  if (!has_int(&in->type)) return TKV_KEEP;
  bool left = const_bits(w, in, 0, &x), right = const_bits(w, in, 1, &y);
  if (left && right && fold_ints(op, d, as_int(d, x), as_int(d, y), &out)) {
    tkv_become_const(w, in, int_bits(d, out));
    return TKV_KEEP;
  }
  if (right && is_neutral(op, d, as_int(d, y))) return stands_alone(w, in, 0);
  if (left && commutes(op) && is_neutral(op, d, as_int(d, x)))
    return stands_alone(w, in, 1);
  if ((op == TK_B_MUL || op == TK_B_AND) && ((left && !x) || (right && !y)))
    tkv_become_const(w, in, 0);
  return TKV_KEEP;
}

static int canonical_compare(tkv_rewriter *w, tk_inst *in) {
  tk_dtype d = elem_of_operand(w, in, 0);
  uint64_t a, b;
  if (!has_int(&in->from) || !const_bits(w, in, 0, &a) ||
      !const_bits(w, in, 1, &b))
    return TKV_KEEP;
  int64_t x = as_int(d, a), y = as_int(d, b);
  bool less = tk_is_signed(d) ? x < y : (uint64_t)x < (uint64_t)y;
  bool holds = false;
  switch ((tk_compare)in->mode) {
  case TK_C_EQ: holds = x == y; break;
  case TK_C_NE: holds = x != y; break;
  case TK_C_LT: holds = less; break;
  case TK_C_LE: holds = less || x == y; break;
  case TK_C_GT: holds = !less && x != y; break;
  case TK_C_GE: holds = !less; break;
  case TK_C_COUNT: return TKV_KEEP;
  }
  tkv_become_const(w, in, holds);
  return TKV_KEEP;
}

/* ---- conversions --------------------------------------------------------- */

static bool is_wide_float(tk_dtype d) {
  return d == TK_FP16 || d == TK_BF16 || d == TK_FP32 || d == TK_FP64;
}

static int canonical_cast(tkv_rewriter *w, tk_inst *in) {
  tk_dtype from = elem_of_operand(w, in, 0), to = (tk_dtype)in->type.elem;
  uint64_t bits, out = 0;
  if (in->type.ptr || in->from.ptr || !const_bits(w, in, 0, &bits))
    return TKV_KEEP;
  if (has_int(&in->from) && has_int(&in->type)) {
    tkv_become_const(w, in, int_bits(to, as_int(from, bits)));
    return TKV_KEEP;
  }
  bool nearest = tk_cast_rounding(in) == TK_ROUND_NEAREST;
  double v = tk_is_int(from) ? 0 : tk_lane_double(from, &bits);
  if (!nearest || !is_wide_float(from) || !is_wide_float(to) || v != v)
    return TKV_KEEP;
  tk_lane_set_double(to, &out, v);
  tkv_become_const(w, in, out);
  return TKV_KEEP;
}

/* ---- shapes and choices -------------------------------------------------- */

/* A constant in another shape is a constant. */
static int canonical_copy(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  if (!const_bits(w, in, 0, &bits)) return stands_alone(w, in, 0);
  tkv_become_const(w, in, bits);
  return TKV_KEEP;
}

static int canonical_broadcast(tkv_rewriter *w, tk_inst *in) {
  return stands_alone(w, in, 0);
}

static int canonical_permute(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  if (const_bits(w, in, 0, &bits)) {
    tkv_become_const(w, in, bits);
    return TKV_KEEP;
  }
  for (int i = 0; i < in->type.rank; i++)
    if (tk_permute_axes(in)[i] != i) return TKV_KEEP;
  return stands_alone(w, in, 0);
}

static int canonical_select(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  if (const_bits(w, in, 0, &bits)) return stands_alone(w, in, bits & 1 ? 1 : 2);
  return operand(in, 1) == operand(in, 2) ? stands_alone(w, in, 1) : TKV_KEEP;
}

static int canonical_addptr(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  bool zero = const_bits(w, in, 1, &bits) &&
              as_int(elem_of_operand(w, in, 1), bits) == 0;
  return zero ? stands_alone(w, in, 0) : TKV_KEEP;
}

/* ---- memory -------------------------------------------------------------- */

/* Drops the operands from the k-th on. */
static void drop_operands(tk_inst *in, int k) {
  in->nargs = (uint16_t)tk_inst_arg(in, k);
  in->has &= (uint8_t)((1u << k) - 1);
}

static int canonical_load(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  if (const_bits(w, in, 1, &bits) && bits & 1) drop_operands(in, 1);
  return TKV_KEEP;
}

static int canonical_store(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  if (!const_bits(w, in, 2, &bits)) return TKV_KEEP;
  if (!(bits & 1)) return TKV_DROP;
  drop_operands(in, 2);
  return TKV_KEEP;
}

static int canonical(tkv_rewriter *w, tk_inst *in) {
  static tkv_rule *const rules[TK_INST_COUNT] = {
      [TK_I_BINARY] = canonical_binary,
      [TK_I_COMPARE] = canonical_compare,
      [TK_I_CAST] = canonical_cast,
      [TK_I_COPY] = canonical_copy,
      [TK_I_BROADCAST] = canonical_broadcast,
      [TK_I_PERMUTE] = canonical_permute,
      [TK_I_SELECT] = canonical_select,
      [TK_I_ADDPTR] = canonical_addptr,
      [TK_I_LOAD] = canonical_load,
      [TK_I_STORE] = canonical_store,
  };
  return rules[in->op] ? rules[in->op](w, in) : TKV_KEEP;
}

void tkv_canonicalise(tk_program *p) {
  tkv_rewrite(p, canonical, NULL, NULL);
}
