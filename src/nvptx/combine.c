/* combine.c - pairs of instructions that are one.
 *
 * Unlike Triton's pass of this name it does not make `dot + c` a product that
 * begins at c: that rounds in another
 * order. */
#include "nvptx/rewrite.h"

/* A copy of a copy, or a broadcast of one, is one. */
static int combine_moves(tkv_rewriter *w, tk_inst *in) {
  const tk_inst *first = tkv_made_by(w, in, 0, (tk_opcode)in->op);
  if (first && !tkv_is_merge(w, first->args[0])) {
    in->args[0] = first->args[0];
    in->from = first->from;
  }
  return TKV_KEEP;
}

/* Two instructions that undo each other are removed. */
static int combine_permutes(tkv_rewriter *w, tk_inst *in) {
  const tk_inst *first = tkv_made_by(w, in, 0, TK_I_PERMUTE);
  bool moves = false;
  if (!first || tkv_is_merge(w, first->args[0])) return TKV_KEEP;
  for (int i = 0; i < in->type.rank; i++) {
    in->attr[i] = tk_permute_axes(first)[tk_permute_axes(in)[i]];
    moves |= in->attr[i] != i;
  }
  in->args[0] = first->args[0];
  in->from = first->from;
  return moves ? TKV_KEEP : in->args[0];
}

/* A product whose accumulator is +0 needs none. */
static int combine_dot(tkv_rewriter *w, tk_inst *in) {
  uint64_t bits;
  int at = tk_dot_accumulator(in);
  if (at >= 0 && tkv_is_const(w, in->args[at], &bits) && !bits) {
    in->nargs = 2;
    in->has = 3;
  }
  return TKV_KEEP;
}

static int combine(tkv_rewriter *w, tk_inst *in) {
  static tkv_rule *const rules[TK_INST_COUNT] = {
      [TK_I_COPY] = combine_moves,
      [TK_I_BROADCAST] = combine_moves,
      [TK_I_PERMUTE] = combine_permutes,
      [TK_I_DOT] = combine_dot,
  };
  return rules[in->op] ? rules[in->op](w, in) : TKV_KEEP;
}

void tkv_combine(tk_program *p) {
  tkv_rewrite(p, combine, NULL, NULL);
}
