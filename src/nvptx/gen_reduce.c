/* gen_reduce.c - reductions and scans.
 *
 * The order is the interpreter's: an axis is halved from its highest bit down,
 * lane i meeting lane i + n/2.  A bit of the index is a bit of a register's
 * number, of a thread's in the warp, or of the warp's: then halving is an
 * operation in the thread, a shuffle, or an exchange through shared memory.
 */
#include "nvptx/shared.h"

#include <string.h>

typedef struct operands operands;

/* Combines two lanes of each operand, of which a comes first. */
typedef void combine_fn(tkv_gen *g, const operands *x, const tkv_reg *a,
                        const tkv_reg *b, tkv_reg *out);

/* Blocks that are combined lane by lane, in one layout. */
struct operands {
  const tk_inst *in;
  combine_fn *combine;
  size_t n;
  tk_type type[TK_COMBINED];
  tkv_reg *reg[TK_COMBINED];
  tkv_dist dist;
};

static void by_function(tkv_gen *g, const operands *x, const tkv_reg *a,
                        const tkv_reg *b, tkv_reg *out) {
  tkv_value *args[2 * TK_COMBINED], *results[TK_COMBINED];
  const tk_combine *c = x->in->ref.combine;
  for (size_t i = 0; i < x->n; i++) {
    args[i] = tkv_scalar(g, x->type[i], a[i]);
    args[x->n + i] = tkv_scalar(g, x->type[i], b[i]);
  }
  tkv_call_lanes(g, c->levels[0], args, results);
  for (size_t i = 0; i < x->n; i++) out[i] = results[i]->one;
}

static void by_operation(tkv_gen *g, const operands *x, const tkv_reg *a,
                         const tkv_reg *b, tkv_reg *out) {
  tk_binary op = tk_reduction_op(tk_inst_reduction(x->in));
  out[0] = tkv_lane_binary(g->code, op, &x->type[0], a[0], b[0]);
}

/* Whether b comes before a, and whether neither does: a number comes before a
 * NaN. */
typedef struct ordering {
  tkv_reg take, same;
} ordering;

static ordering extreme_order(tkv_code *c, bool max, const tk_type *t,
                              tkv_reg a, tkv_reg b) {
  tkv_reg take = tkv_lane_compare(c, max ? TK_C_GT : TK_C_LT, t, b, a),
          same = tkv_lane_compare(c, TK_C_EQ, t, a, b);
  if (!tk_is_float((tk_dtype)t->elem)) return (ordering){take, same};
  tkv_reg a_nan = tkv_lane_compare(c, TK_C_NE, t, a, a),
          b_nan = tkv_lane_compare(c, TK_C_NE, t, b, b),
          b_number = tkv_not(c, b_nan), better = tkv_and(c, a_nan, b_number),
          both = tkv_and(c, a_nan, b_nan);
  take = tkv_or(c, take, better);
  same = tkv_or(c, same, both);
  return (ordering){take, same};
}

/* The extreme and its index: the first of equal lanes, or the last. */
static void by_extreme(tkv_gen *g, const operands *x, const tkv_reg *a,
                       const tkv_reg *b, tkv_reg *out) {
  tkv_code *c = g->code;
  bool max = tk_reduce_op(x->in) == TK_R_MAX;
  ordering o = extreme_order(c, max, &x->type[0], a[0], b[0]);
  tkv_reg wins =
      tkv_compare(c, tk_reduce_last(x->in) ? TKV_SGT : TKV_SLT, b[1], a[1]);
  wins = tkv_and(c, wins, o.same);
  tkv_reg take = tkv_or(c, o.take, wins);
  for (int i = 0; i < 2; i++) out[i] = tkv_select(c, take, b[i], a[i]);
}

/* ---- halving ------------------------------------------------------------- */

/* Combines register r with a lane of each operand. The other lane comes first
 * where `upper` holds, and never if that does not exist. */
static void combine_register(tkv_gen *g, operands *x, uint32_t r,
                             const tkv_reg *other, tkv_reg upper) {
  tkv_reg a[TK_COMBINED], b[TK_COMBINED], out[TK_COMBINED];
  for (size_t i = 0; i < x->n; i++) {
    tkv_reg own = x->reg[i][r];
    a[i] = own;
    b[i] = other[i];
    if (!tkv_exists(upper)) continue;
    a[i] = tkv_select(g->code, upper, other[i], own);
    b[i] = tkv_select(g->code, upper, own, other[i]);
  }
  x->combine(g, x, a, b, out);
  for (size_t i = 0; i < x->n; i++) x->reg[i][r] = out[i];
}

static void halve_registers(tkv_gen *g, operands *x, int bit) {
  uint32_t n = (uint32_t)1 << x->dist.nreg, low = ((uint32_t)1 << bit) - 1;
  tkv_reg other[TK_COMBINED];
  for (uint32_t r = 0, to = 0; r < n; r++) {
    if (r >> bit & 1) continue;
    for (size_t i = 0; i < x->n; i++)
      other[i] = x->reg[i][r | (TKV_MUTANT(REDUCE_HALF) ? 0 : low + 1)];
    combine_register(g, x, r, other, TKV_NO_REG);
    for (size_t i = 0; i < x->n; i++) x->reg[i][to] = x->reg[i][r];
    to++;
  }
  memmove(x->dist.reg + bit, x->dist.reg + bit + 1,
          (size_t)(x->dist.nreg - bit - 1) * sizeof *x->dist.reg);
  x->dist.nreg--;
}

static tkv_reg is_upper(tkv_code *c, tkv_named number, int bit) {
  tkv_reg x = tkv_and_n(c, tkv_named_reg(number), (int64_t)1 << bit);
  return tkv_compare_n(c, TKV_NE, x, 0);
}

static void halve_lanes(tkv_gen *g, operands *x, int bit) {
  tkv_reg upper = is_upper(g->code, TKV_LANE, bit), other[TK_COMBINED],
          by = tkv_i32((TKV_MUTANT(SHUFFLE_LANE) ? 3 : 1) << bit);
  for (uint32_t r = 0; r < (uint32_t)1 << x->dist.nreg; r++) {
    for (size_t i = 0; i < x->n; i++)
      other[i] = tkv_shuffle(g->code, &x->type[i], x->reg[i][r], "bfly", by);
    combine_register(g, x, r, other, upper);
  }
  x->dist.lane[bit] = 0;
}

/* Each thread writes its registers to shared memory, and reads those of its
 * partner in the other warp. The place of a register is register * threads +
 * thread. */
static void halve_warps(tkv_gen *g, operands *x, int bit) {
  tkv_code *c = g->code;
  uint32_t across = TKV_MUTANT(REDUCE_WARP) ? 0 : (uint32_t)32 << bit,
           n = (uint32_t)1 << x->dist.nreg;
  tkv_reg upper = is_upper(c, TKV_WARP, bit), other[TK_COMBINED],
          partner = tkv_xor_n(c, tkv_tid(), across);
  size_t threads = (size_t)32 * (size_t)g->warps, base[TK_COMBINED],
         step[TK_COMBINED], end = 0;
  for (size_t i = 0; i < x->n; i++) {
    base[i] = end;
    step[i] = threads * tk_lane_size(&x->type[i]);
    end += (step[i] * n + 15) / 16 * 16;
  }
  tkv_scratch(g, end);
  tkv_meet(c);
  for (uint32_t r = 0; r < n; r++)
    for (size_t i = 0; i < x->n; i++) {
      const tk_type *t = &x->type[i];
      tkv_reg at = tkv_shared_at(g, t, base[i] + r * step[i], tkv_tid());
      tkv_shared_store(c, t, x->reg[i][r], at);
    }
  tkv_meet(c);
  for (uint32_t r = 0; r < n; r++) {
    for (size_t i = 0; i < x->n; i++)
      other[i] =
          tkv_scratch_load(g, &x->type[i], base[i] + r * step[i], partner);
    combine_register(g, x, r, other, upper);
  }
  x->dist.warp[bit] = 0;
}

static int find_bit(const uint32_t *basis, int n, uint32_t wanted) {
  for (int i = 0; i < n; i++)
    if (basis[i] == wanted) return i;
  return -1;
}

static void halve_axis(tkv_gen *g, operands *x, int axis) {
  const tk_type *from = &x->in->from;
  int low = tkv_axis_low(from, axis);
  for (int k = tkv_axis_bits(from, axis); k-- > 0;) {
    uint32_t number = (uint32_t)1 << (low + k);
    int reg = find_bit(x->dist.reg, x->dist.nreg, number),
        lane = find_bit(x->dist.lane, TKV_LANE_BITS, number),
        warp = find_bit(x->dist.warp, x->dist.nwarp, number);
    if (reg >= 0)
      halve_registers(g, x, reg);
    else if (lane >= 0)
      halve_lanes(g, x, lane);
    else if (warp >= 0)
      halve_warps(g, x, warp);
    else
      TK_ASSERT(false);
  }
}

/* ---- reductions ---------------------------------------------------------- */

/* Registers of a layout that may be changed. */
static tkv_reg *own_copy(tkv_gen *g, const tkv_reg *reg, const tkv_dist *d) {
  tkv_reg *own = tkv_new_regs(g, d);
  memcpy(own, reg, ((size_t)1 << d->nreg) * sizeof *own);
  return own;
}

static void take_operands(tkv_gen *g, const tk_inst *in, operands *x) {
  tkv_value *v[TK_COMBINED] = {tkv_arg(g, in, 0)};
  x->in = in;
  x->combine = by_function;
  x->n = in->nargs;
  for (size_t i = 1; i < x->n; i++) v[i] = tkv_arg(g, in, (int)i);
  x->dist = tkv_home_of(g, v[0]);
  for (size_t i = 1; i < x->n && !v[0]->home; i++)
    if (v[i]->home) x->dist = v[i]->home->dist;
  tkv_dist_drop_copies(&x->dist);
  TK_ASSERT(x->n >= 1 && x->n <= TK_COMBINED);
  for (size_t i = 0; i < x->n; i++) {
    x->type[i] = v[i]->type;
    x->reg[i] = own_copy(g, tkv_at(g, v[i], &x->dist), &x->dist);
  }
}

/* Adds each lane's index along the axis as a second operand. */
static void add_index(tkv_gen *g, operands *x, int axis) {
  const tk_type *t = &x->type[0];
  tkv_code *c = g->code;
  tkv_reg thread = tkv_thread_number(c, &x->dist);
  x->n = 2;
  x->type[1] = tk_with_elem(*t, TK_INT32);
  x->reg[1] = tkv_new_regs(g, &x->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << x->dist.nreg; r++) {
    tkv_reg number = tkv_number(c, &x->dist, thread, r);
    x->reg[1][r] = tkv_index_of(c, t, axis, number);
  }
}

typedef struct removed {
  int low, n;
} removed;

static uint32_t without_axis(uint32_t number, const void *ud) {
  const removed *a = ud;
  uint32_t low = ((uint32_t)1 << a->low) - 1;
  return (number & low) | (number >> a->n & ~low);
}

void tkv_gen_reduce(tkv_gen *g, const tk_inst *in) {
  int axis = tk_inst_axis(in);
  operands x;
  take_operands(g, in, &x);
  bool extreme = in->op == TK_I_REDUCE && in->nres == 2;
  if (extreme) add_index(g, &x, axis);
  if (in->op == TK_I_REDUCE) x.combine = extreme ? by_extreme : by_operation;
  halve_axis(g, &x, axis);
  removed a = {tkv_axis_low(&in->from, axis), tkv_axis_bits(&in->from, axis)};
  tkv_dist d = tkv_dist_map(&x.dist, without_axis, &a);
  for (size_t i = 0; i < x.n; i++) {
    tk_type t = g->frame->f->slots[in->res[i]].type;
    tkv_set(g, in->res[i],
            t.rank ? tkv_block_of(g, t, &d, x.reg[i])
                   : tkv_scalar(g, t, x.reg[i][0]));
  }
}

/* ---- scans with a function ----------------------------------------------- */

/* The number of the lane `by` places before one along the axis, and whether
 * there is one. */
typedef struct neighbour {
  tkv_reg number, is_there;
} neighbour;

static neighbour lane_before(tkv_code *c, const tk_inst *in, const tk_type *t,
                             tkv_reg number, uint32_t by) {
  int axis = tk_inst_axis(in), low = tkv_axis_low(t, axis);
  bool reverse = tk_inst_reverse(in);
  tkv_comparison there = reverse                  ? TKV_ULT
                         : TKV_MUTANT(SCAN_FIRST) ? TKV_UGT
                                                  : TKV_UGE;
  int64_t end = reverse ? t->shape[axis] - (int64_t)by : by,
          step = (int64_t)by << low;
  tkv_reg i = tkv_index_of(c, t, axis, number),
          is_there = tkv_compare_n(c, there, i, end),
          at = tkv_add_n(c, number, reverse ? step : -step);
  return (neighbour){tkv_select(c, is_there, at, number), is_there};
}

/* Writes all operands to the scratch area, each from base[i] on. */
static void share_operands(tkv_gen *g, const operands *x, size_t *base) {
  size_t end = 0;
  for (size_t i = 0; i < x->n; i++) {
    tkv_version v = {.dist = x->dist, .reg = x->reg[i]};
    base[i] = end;
    tkv_share_block(g, &x->type[i], &v, base[i]);
    end += tkv_bytes_shared(&x->type[i]);
  }
  tkv_meet(g->code);
}

static void scan_step(tkv_gen *g, operands *x, uint32_t by) {
  tkv_code *c = g->code;
  size_t base[TK_COMBINED];
  tkv_reg a[TK_COMBINED], b[TK_COMBINED], out[TK_COMBINED];
  share_operands(g, x, base);
  tkv_reg thread = tkv_thread_number(c, &x->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << x->dist.nreg; r++) {
    tkv_reg number = tkv_number(c, &x->dist, thread, r);
    neighbour from = lane_before(c, x->in, &x->type[0], number, by);
    for (size_t i = 0; i < x->n; i++) {
      a[i] = tkv_scratch_load(g, &x->type[i], base[i], from.number);
      b[i] = x->reg[i][r];
    }
    x->combine(g, x, a, b, out);
    for (size_t i = 0; i < x->n; i++)
      x->reg[i][r] = tkv_select(c, from.is_there, out[i], b[i]);
  }
}

/* ---- scans by an operation ----------------------------------------------- */

/* Where a row begins: the number of its first lane. */
static tkv_reg begin_of_row(tkv_code *c, tkv_reg row, int low, int n) {
  tkv_reg inner = tkv_and_n(c, row, ((int64_t)1 << low) - 1),
          outer = tkv_lshr_n(c, row, low);
  outer = tkv_shl_n(c, outer, low + n);
  return tkv_or(c, outer, inner);
}

/* Each thread scans whole rows, lane after lane. */
static void scan_rows(tkv_gen *g, const tk_inst *in, const tk_type *t) {
  tkv_code *c = g->code;
  int axis = tk_inst_axis(in), low = tkv_axis_low(t, axis),
      n = tkv_axis_bits(t, axis);
  tkv_loop row = tkv_begin_count(c, tkv_tid(), tk_numel(t) >> n);
  tkv_reg begin = begin_of_row(c, row.i, low, n);
  tkv_loop lane = tkv_begin_count(c, tkv_i32(1), t->shape[axis]);
  tkv_reg i = lane.i, before = tkv_sub_n(c, lane.i, 1);
  if (tk_inst_reverse(in)) {
    i = tkv_sub(c, tkv_i32(t->shape[axis] - 1), lane.i);
    before = tkv_add_n(c, i, 1);
  }
  i = tkv_shl_n(c, i, low);
  before = tkv_shl_n(c, before, low);
  i = tkv_add(c, begin, i);
  before = tkv_add(c, begin, before);
  tkv_reg at = tkv_shared_at(g, t, 0, i), a = tkv_scratch_load(g, t, 0, before),
          b = tkv_shared_load(c, t, at);
  tk_binary op = tk_reduction_op(tk_inst_reduction(in));
  tkv_shared_store(c, t, tkv_lane_binary(c, op, t, a, b), at);
  tkv_end_loop(c, &lane, tkv_i32(1));
  tkv_end_loop(c, &row, tkv_i32(32 * g->warps));
}

void tkv_gen_scan(tkv_gen *g, const tk_inst *in) {
  operands x;
  take_operands(g, in, &x);
  if (in->op == TK_I_SCAN_FN) {
    uint32_t n = (uint32_t)x.type[0].shape[tk_inst_axis(in)];
    for (uint32_t by = 1; by < n; by *= 2) scan_step(g, &x, by);
  } else {
    size_t base[TK_COMBINED];
    share_operands(g, &x, base);
    scan_rows(g, in, &x.type[0]);
    tkv_meet(g->code);
    x.reg[0] = tkv_read_block(g, &x.type[0], &x.dist);
  }
  for (size_t i = 0; i < x.n; i++)
    tkv_set(g, in->res[i], tkv_block_of(g, x.type[i], &x.dist, x.reg[i]));
}
