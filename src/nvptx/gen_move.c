/* gen_move.c - joining, splitting and picking lanes. */
#include <string.h>

#include "nvptx/shared.h"

/* ---- joining and splitting ----------------------------------------------- */

/* The bit of a result's number that says which operand a lane comes from: the
 * lowest of a join, the highest along the axis of a concatenation. */
static int joining_bit(const tk_inst *in) {
  if (in->op == TK_I_JOIN) return 0;
  int axis = tk_inst_axis(in);
  return tkv_axis_low(&in->type, axis) + tkv_axis_bits(&in->type, axis) - 1;
}

static uint32_t without_bit(uint32_t number, const void *ud) {
  int bit = *(const int *)ud;
  uint32_t low = ((uint32_t)1 << bit) - 1;
  return (number & low) | (number >> 1 & ~low);
}

static uint32_t with_bit(uint32_t number, const void *ud) {
  int bit = *(const int *)ud;
  uint32_t low = ((uint32_t)1 << bit) - 1;
  return (number & low) | (number & ~low) << 1;
}

/* The result is made where the first operand is, with one more register bit:
 * so no lane moves. */
void tkv_gen_join(tkv_gen *g, const tk_inst *in) {
  tkv_value *half[] = {tkv_arg(g, in, 0), tkv_arg(g, in, 1)};
  tkv_dist d =
      tkv_exists(half[0]->one) ? tkv_dist_one(g) : tkv_home_of(g, half[0]);
  int bit = joining_bit(in);
  tkv_dist whole = tkv_dist_map(&d, with_bit, &bit);
  whole.reg[whole.nreg++] = (uint32_t)1 << bit;
  tkv_value *v = tkv_block(g, in->type, &whole);
  for (uint32_t k = 0; k < 2; k++) {
    tkv_reg *reg = tkv_at(g, half[TKV_MUTANT(JOIN) ? 1 - k : k], &d);
    memcpy(v->home->reg + (k << d.nreg), reg,
           ((size_t)1 << d.nreg) * sizeof *reg);
  }
  tkv_set(g, in->res[0], v);
}

/* The operand is needed in a layout in which both halves of a pair belong to
 * the same thread. */
void tkv_gen_split(tkv_gen *g, const tk_inst *in) {
  tkv_value *from = tkv_arg(g, in, 0);
  int bit = 0;
  tk_type t = g->frame->f->slots[in->res[0]].type;
  tkv_dist home = tkv_home_of(g, from),
           half = tkv_dist_map(&home, without_bit, &bit);
  tkv_dist_drop_copies(&half);
  tkv_dist whole = tkv_dist_map(&half, with_bit, &bit);
  whole.reg[whole.nreg++] = 1;
  TK_ASSERT(whole.nreg <= TKV_REG_BITS);
  tkv_reg *reg = tkv_at(g, from, &whole);
  for (uint32_t k = 0; k < 2; k++) {
    if (!t.rank) {
      tkv_set(g, in->res[k], tkv_scalar(g, t, reg[k]));
      continue;
    }
    tkv_value *v = tkv_block(g, t, &half);
    memcpy(v->home->reg, reg + (k << half.nreg),
           ((size_t)1 << half.nreg) * sizeof *reg);
    tkv_set(g, in->res[k], v);
  }
}

/* ---- lanes picked by their number ---------------------------------------- */

/* The number of the lane that differs from a given one in its index along an
 * axis. */
static tkv_reg with_index(tkv_code *c, const tk_type *t, int axis,
                          tkv_reg number, const tk_type *of, tkv_reg index) {
  int low = tkv_axis_low(t, axis), n = tkv_axis_bits(t, axis),
      to_low = tkv_axis_low(of, axis), to_n = tkv_axis_bits(of, axis);
  TK_ASSERT(low == to_low);
  tkv_reg below = tkv_and_n(c, number, ((uint32_t)1 << low) - 1),
          above = tkv_lshr_n(c, number, low + n);
  above = tkv_shl_n(c, above, to_low + to_n);
  tkv_reg x = tkv_shl_n(c, index, low);
  x = tkv_or(c, x, below);
  return tkv_or(c, x, above);
}

/* The index, along the axis, of the operand's lane that becomes a lane of the
 * result. */
static tkv_reg picked_index(tkv_code *c, const tk_inst *in, tkv_reg number,
                            tkv_reg gathered) {
  int axis = tk_inst_axis(in);
  if (in->op == TK_I_GATHER) return gathered;
  tkv_reg x = tkv_index_of(c, &in->type, axis, number);
  if (in->op == TK_I_FLIP)
    return tkv_sub(c, tkv_i32(in->type.shape[axis] - 1), x);
  x = tkv_mul_n(c, x, tk_slice_step(in));
  return tkv_add_n(c, x, tk_slice_start(in));
}

/* Takes lanes of a block from shared memory by their index; an index out of
 * bounds gives an arbitrary lane. */
void tkv_gen_pick(tkv_gen *g, const tk_inst *in) {
  tkv_value *from = tkv_arg(g, in, 0);
  bool gathers = in->op == TK_I_GATHER;
  tkv_value *index = gathers ? tkv_arg(g, in, 1) : NULL;
  const tk_type *t = &from->type;
  tkv_dist d = index && index->home ? index->home->dist
                                    : tkv_dist_usual(&in->type, g->warps);
  tkv_dist held = tkv_home_of(g, from);
  tkv_reg *at = index ? tkv_at(g, index, &d) : NULL;
  tkv_version version = {.dist = held, .reg = tkv_at(g, from, &held)};
  tkv_share_block(g, t, &version, 0);
  tkv_code *c = g->code;
  tkv_meet(c);
  int axis = tk_inst_axis(in);
  tk_type i32 = {.elem = TK_INT32};
  tkv_reg thread = tkv_thread_number(c, &d);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    tkv_reg number = tkv_number(c, &d, thread, r), x = TKV_NO_REG;
    if (at) {
      x = tkv_convert_lane(c, &i32, &index->type, at[r]);
      x = tkv_and_n(c, x, t->shape[axis] - 1);
    }
    x = picked_index(c, in, number, x);
    x = with_index(c, &in->type, axis, number, t, x);
    v->home->reg[r] = tkv_scratch_load(g, t, 0, x);
  }
  tkv_set(g, in->res[0], v);
}
