/* numerics.c - where code for a GPU departs from the definition. */
#include "ir/numerics.h"

#include "ir/inst.h"
#include "ir/lanes.h"

#include <string.h>

bool tk_numerics_are_device(tk_env *e, const char *word) {
  if (!word || !strcmp(word, "definition")) return false;
  if (!strcmp(word, "device")) return true;
  tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
              "unknown numerics '%s': it must be definition or device", word);
  tk_throw(e, TK_USAGE);
}

tk_way tk_way_of_unary(tk_unary op, tk_accuracy accuracy, tk_dtype d) {
  static const bool approximate[TK_U_COUNT] = {
#define APPROXIMATE(op, before, instruction, ftz, after) [TK_U_##op] = true,
#include "ir/approximate.def"
#undef APPROXIMATE
  };
  static const bool defined[TK_U_COUNT] = {[TK_U_NEG] = true,
                                           [TK_U_ABS] = true,
                                           [TK_U_NOT] = true,
                                           [TK_U_FLOOR] = true,
                                           [TK_U_CEIL] = true};
  if (defined[op] || accuracy == TK_ACC_NEAREST) return TK_WAY_DEFINED;
  if (approximate[op] && d == TK_FP32) return TK_WAY_APPROXIMATE;
  return op == TK_U_SQRT ? TK_WAY_DEFINED : TK_WAY_LIBRARY;
}

tk_way tk_way_of(const tk_inst *in) {
  tk_dtype d = (tk_dtype)in->type.elem;
  if (in->op == TK_I_EXTERN) return TK_WAY_LIBRARY;
  if (in->type.ptr || !tk_is_float(d)) return TK_WAY_DEFINED;
  if (in->op == TK_I_UNARY)
    return tk_way_of_unary(tk_unary_op(in), tk_unary_accuracy(in), d);
  bool mod = in->op == TK_I_BINARY && tk_binary_op(in) == TK_B_MOD;
  return mod ? TK_WAY_REMAINDER : TK_WAY_DEFINED;
}

tk_mma tk_mma_of(const tk_func *f, const tk_inst *in) {
  static const char *const formats[TK_DTYPE_COUNT] = {[TK_FP16] = "f16",
                                                      [TK_BF16] = "bf16",
                                                      [TK_FP32] = "tf32",
                                                      [TK_INT8] = "s8"};
  tk_dtype e = (tk_dtype)in->from.elem;
  tk_precision how = tk_dot_precision(in);
  bool halves = how == TK_P_BF16X3 || how == TK_P_BF16X6;
  bool splits = e == TK_FP32 && how != TK_P_IEEE && how != TK_P_TF32;
  tk_mma x = {.by = e,
              .parts = !splits              ? 1
                       : how == TK_P_BF16X6 ? 3
                                            : 2,
              .cut = e == TK_FP32 && how == TK_P_TF32};
  if (tk_is_fp8(e)) x.by = TK_FP16;
  if (splits && halves) x.by = TK_BF16;
  x.pack = x.by == TK_INT8 ? 2 : x.by == TK_FP32 ? 0 : 1;
  tk_product p = tk_product_of(in);
  bool tiles = p.m >= 16 && p.n >= 8 && p.k >= tk_mma_step(&x);
  bool alike = f->slots[in->args[1]].type.elem == in->from.elem;
  bool exact = e == TK_FP32 && how == TK_P_IEEE;
  if (tiles && alike && !exact && in->type.rank == 2) x.format = formats[x.by];
  return x;
}
