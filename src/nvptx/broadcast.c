/* broadcast.c - lane-wise instructions before the broadcast of their operands.
 *
 * f(broadcast a, broadcast b) is broadcast f(a, b) where a and b have one
 * shape; scalars fit any.  Fewer lanes are computed, and what is known of a
 * (its contiguity, that it is the same along an axis) is known of f(a) without
 * looking
 * further. */
#include "nvptx/rewrite.h"

/* The shape that all operands which are not scalars are broadcast from. Returns
 * false if they have several, or if one of them is not broadcast. */
static bool common_shape(const tkv_rewriter *w, const tk_inst *in,
                         tk_type *shape) {
  *shape = (tk_type){0};
  bool found = false;
  for (int k = 0; k < in->nargs; k++) {
    const tk_inst *b = tkv_maker(w, in->args[k], TK_I_BROADCAST);
    if (!b && !tkv_type(w, in->args[k])->rank) continue;
    if (!b || tkv_is_merge(w, b->args[0])) return false;
    found = true;
    if (!b->from.rank) continue;
    if (shape->rank && !tk_same_shape(shape, &b->from)) return false;
    *shape = b->from;
  }
  return found;
}

/* An operand as it is before its broadcast, in that shape. */
static int narrow_operand(tkv_rewriter *w, int slot, const tk_type *shape) {
  const tk_inst *b = tkv_maker(w, slot, TK_I_BROADCAST);
  if (!b) return slot;
  if (b->from.rank == shape->rank) return b->args[0];
  tk_type t = tk_with_shape(b->type, shape);
  tk_inst *narrow = tkv_add(w, TK_I_BROADCAST, 1, &t);
  narrow->args[0] = b->args[0];
  narrow->from = b->from;
  return narrow->res[0];
}

static int reorder(tkv_rewriter *w, tk_inst *in) {
  tk_type shape;
  bool lane_wise = tk_inst_is_pure(in) && in->nres == 1 && in->type.rank &&
                   tk_inst_lanes(in) == TK_LANES_SAME;
  if (!lane_wise || !common_shape(w, in, &shape)) return TKV_KEEP;
  tk_type t = tk_with_shape(in->type, &shape);
  int *args = TK_NEWN(&w->p->arena, int, in->nargs + 1u);
  for (int k = 0; k < in->nargs; k++)
    args[k] = narrow_operand(w, in->args[k], &shape);
  tk_inst *narrow = tkv_add(w, (tk_opcode)in->op, in->nargs, &t);
  int res = narrow->res[0];
  uint32_t id = narrow->id;
  int *own = narrow->res;
  *narrow = *in;
  narrow->id = id;
  narrow->args = args;
  narrow->res = own;
  narrow->type = t;
  narrow->n = tk_numel(&t);
  narrow->from = *tkv_type(w, args[0]);
  tkv_become(w, in, TK_I_BROADCAST, res);
  return TKV_KEEP;
}

void tkv_reorder_broadcast(tk_program *p) {
  tkv_rewrite(p, reorder, NULL, NULL);
}
