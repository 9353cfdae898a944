/* gen_reduce.c - reductions and scans.
 *
 * The order is the interpreter's: an axis is halved from its highest bit down,
 * lane i meeting lane i + n/2.  A bit of the index is a bit of a register's
 * number, of a thread's in the warp, or of the warp's: then halving is an
 * operation in the thread, a shuffle, or an exchange through shared memory.
 */
#include "nvptx/gen.h"

#include <string.h>

/* Blocks that are combined lane by lane, in one layout. */
typedef struct operands {
  size_t n;
  tk_type type[TK_COMBINED];
  const char **reg[TK_COMBINED];
  tkv_dist dist;
} operands;

/* Combines two of each operand; a stands before b. */
typedef void combine_fn(tkv_gen *g, const tk_inst *in, const operands *x,
                        const char *const *a, const char *const *b,
                        const char **out);

static void by_function(tkv_gen *g, const tk_inst *in, const operands *x,
                        const char *const *a, const char *const *b,
                        const char **out) {
  tkv_value *args[2 * TK_COMBINED], *results[TK_COMBINED];
  const tk_combine *c = in->ref.combine;
  for (size_t i = 0; i < x->n; i++) {
    args[i] = tkv_scalar(g, x->type[i], a[i]);
    args[x->n + i] = tkv_scalar(g, x->type[i], b[i]);
  }
  tkv_call_lanes(g, c->levels[0], args, results);
  for (size_t i = 0; i < x->n; i++) out[i] = results[i]->one;
}

static void by_operation(tkv_gen *g, const tk_inst *in, const operands *x,
                         const char *const *a, const char *const *b,
                         const char **out) {
  out[0] = tkv_binary(g, tk_reduction_op(tk_inst_reduction(in)), &x->type[0],
                      a[0], b[0]);
}

/* The extreme and its index: the first of equal lanes, or the last, and a
 * number before a NaN. */
static void by_extreme(tkv_gen *g, const tk_inst *in, const operands *x,
                       const char *const *a, const char *const *b,
                       const char **out) {
  const tk_type *t = &x->type[0];
  bool max = tk_reduce_op(in) == TK_R_MAX;
  tk_compare before = max ? TK_C_GT : TK_C_LT;
  const char *take = tkv_compare(g, before, t, b[0], a[0]),
             *same = tkv_compare(g, TK_C_EQ, t, a[0], b[0]);
  if (tk_is_float((tk_dtype)t->elem)) {
    const char *a_nan = tkv_compare(g, TK_C_NE, t, a[0], a[0]),
               *b_nan = tkv_compare(g, TK_C_NE, t, b[0], b[0]),
               *b_number = tkv_emit(g, "xor i1 %s, true", b_nan),
               *better = tkv_emit(g, "and i1 %s, %s", a_nan, b_number),
               *both = tkv_emit(g, "and i1 %s, %s", a_nan, b_nan);
    take = tkv_emit(g, "or i1 %s, %s", take, better);
    same = tkv_emit(g, "or i1 %s, %s", same, both);
  }
  const char *wins = tkv_emit(g, "icmp %s i32 %s, %s",
                              tk_reduce_last(in) ? "sgt" : "slt", b[1], a[1]);
  wins = tkv_emit(g, "and i1 %s, %s", wins, same);
  take = tkv_emit(g, "or i1 %s, %s", take, wins);
  for (int i = 0; i < 2; i++) {
    const char *type = tkv_lane_type(&x->type[i]);
    out[i] =
        tkv_emit(g, "select i1 %s, %s %s, %s %s", take, type, b[i], type, a[i]);
  }
}

/* ---- halving
 * -------------------------------------------------------------------- */

static void combine_register(tkv_gen *g, const tk_inst *in, operands *x,
                             combine_fn *fn, uint32_t r,
                             const char *const *other, const char *upper) {
  const char *a[TK_COMBINED], *b[TK_COMBINED], *out[TK_COMBINED];
  for (size_t i = 0; i < x->n; i++) {
    a[i] = x->reg[i][r];
    b[i] = other[i];
    if (!upper) continue;
    const char *type = tkv_lane_type(&x->type[i]), *own = a[i];
    a[i] = tkv_emit(g, "select i1 %s, %s %s, %s %s", upper, type, other[i],
                    type, own);
    b[i] = tkv_emit(g, "select i1 %s, %s %s, %s %s", upper, type, own, type,
                    other[i]);
  }
  fn(g, in, x, a, b, out);
  for (size_t i = 0; i < x->n; i++) x->reg[i][r] = out[i];
}

static void halve_registers(tkv_gen *g, const tk_inst *in, operands *x,
                            combine_fn *fn, int bit) {
  uint32_t n = (uint32_t)1 << x->dist.nreg, low = ((uint32_t)1 << bit) - 1;
  const char *other[TK_COMBINED];
  for (uint32_t r = 0, to = 0; r < n; r++) {
    if (r >> bit & 1) continue;
    for (size_t i = 0; i < x->n; i++)
      other[i] = x->reg[i][r | (TKV_MUTANT(REDUCE_HALF) ? 0 : low + 1)];
    combine_register(g, in, x, fn, r, other, NULL);
    for (size_t i = 0; i < x->n; i++) x->reg[i][to] = x->reg[i][r];
    to++;
  }
  memmove(x->dist.reg + bit, x->dist.reg + bit + 1,
          (size_t)(x->dist.nreg - bit - 1) * sizeof *x->dist.reg);
  x->dist.nreg--;
}

static const char *is_upper(tkv_gen *g, const char *number, int bit) {
  const char *x = tkv_emit(g, "and i32 %s, %u", number, (uint32_t)1 << bit);
  return tkv_emit(g, "icmp ne i32 %s, 0", x);
}

static void halve_lanes(tkv_gen *g, const tk_inst *in, operands *x,
                        combine_fn *fn, int bit) {
  const char *upper = is_upper(g, g->lane, bit), *other[TK_COMBINED];
  for (uint32_t r = 0; r < (uint32_t)1 << x->dist.nreg; r++) {
    for (size_t i = 0; i < x->n; i++)
      other[i] = tkv_shuffle(
          g, &x->type[i], x->reg[i][r], "bfly",
          tkv_text(g, "%u", (TKV_MUTANT(SHUFFLE_LANE) ? 3u : 1u) << bit));
    combine_register(g, in, x, fn, r, other, upper);
  }
  x->dist.lane[bit] = 0;
}

/* Each thread writes what it has, and reads that of the thread in the other
 * warp: place = register * threads + thread. */
static void halve_warps(tkv_gen *g, const tk_inst *in, operands *x,
                        combine_fn *fn, int bit) {
  const char *upper = is_upper(g, g->warp, bit), *other[TK_COMBINED];
  const char *partner =
      tkv_emit(g, "xor i32 %%tid, %u",
               TKV_MUTANT(REDUCE_WARP) ? 0 : (uint32_t)32 << bit);
  size_t threads = (size_t)32 * (size_t)g->warps, base[TK_COMBINED], end = 0;
  uint32_t n = (uint32_t)1 << x->dist.nreg;
  for (size_t i = 0; i < x->n; i++) {
    base[i] = end;
    end += (threads * n * tk_lane_size(&x->type[i]) + 15) / 16 * 16;
  }
  tkv_scratch(g, end);
  tkv_barrier(g);
  for (uint32_t r = 0; r < n; r++)
    for (size_t i = 0; i < x->n; i++)
      tkv_shared_store(
          g, &x->type[i], x->reg[i][r],
          tkv_shared_at(g, &x->type[i],
                        base[i] + r * threads * tk_lane_size(&x->type[i]),
                        "%tid"));
  tkv_barrier(g);
  for (uint32_t r = 0; r < n; r++) {
    for (size_t i = 0; i < x->n; i++)
      other[i] = tkv_shared_load(
          g, &x->type[i],
          tkv_shared_at(g, &x->type[i],
                        base[i] + r * threads * tk_lane_size(&x->type[i]),
                        partner));
    combine_register(g, in, x, fn, r, other, upper);
  }
  x->dist.warp[bit] = 0;
}

static int find_bit(const uint32_t *basis, int n, uint32_t wanted) {
  for (int i = 0; i < n; i++)
    if (basis[i] == wanted) return i;
  return -1;
}

static void halve_axis(tkv_gen *g, const tk_inst *in, operands *x,
                       combine_fn *fn, int axis) {
  int low = tkv_axis_low(&in->from, axis);
  for (int k = tkv_axis_bits(&in->from, axis); k-- > 0;) {
    uint32_t number = (uint32_t)1 << (low + k);
    int reg = find_bit(x->dist.reg, x->dist.nreg, number),
        lane = find_bit(x->dist.lane, TKV_LANE_BITS, number),
        warp = find_bit(x->dist.warp, x->dist.nwarp, number);
    if (reg >= 0)
      halve_registers(g, in, x, fn, reg);
    else if (lane >= 0)
      halve_lanes(g, in, x, fn, lane);
    else if (warp >= 0)
      halve_warps(g, in, x, fn, warp);
    else
      TK_ASSERT(false);
  }
}

/* ---- reductions
 * ------------------------------------------------------------------ */

/* Names of registers that may be changed. */
static const char **own_names(tkv_gen *g, const char **reg, int nreg) {
  size_t n = (size_t)1 << nreg;
  const char **own = TK_NEWN(g->arena, const char *, n);
  memcpy(own, reg, n * sizeof *own);
  return own;
}

static void take_operands(tkv_gen *g, const tk_inst *in, operands *x) {
  tkv_value *v[TK_COMBINED] = {tkv_arg(g, in, 0)};
  x->n = in->nargs;
  for (size_t i = 1; i < x->n; i++) v[i] = tkv_arg(g, in, (int)i);
  x->dist = tkv_home_of(g, v[0]);
  for (size_t i = 1; i < x->n && !v[0]->home; i++)
    if (v[i]->home) x->dist = v[i]->home->dist;
  tkv_dist_drop_copies(&x->dist);
  for (size_t i = 0; i < x->n; i++) {
    x->type[i] = v[i]->type;
    x->reg[i] = own_names(g, tkv_at(g, v[i], &x->dist), x->dist.nreg);
  }
}

/* The index along the axis beside each lane. */
static void add_index(tkv_gen *g, operands *x, int axis) {
  const tk_type *t = &x->type[0];
  const char *thread = tkv_thread_number(g, &x->dist);
  x->n = 2;
  x->type[1] = tk_with_elem(*t, TK_INT32);
  x->reg[1] = TK_NEWN(g->arena, const char *, (size_t)1 << x->dist.nreg);
  for (uint32_t r = 0; r < (uint32_t)1 << x->dist.nreg; r++) {
    const char *number = tkv_number(g, &x->dist, thread, r);
    x->reg[1][r] = tkv_index_of(g, t, axis, number);
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
  halve_axis(g, in, &x,
             extreme                 ? by_extreme
             : in->op == TK_I_REDUCE ? by_operation
                                     : by_function,
             axis);
  removed a = {tkv_axis_low(&in->from, axis), tkv_axis_bits(&in->from, axis)};
  tkv_dist d = tkv_dist_map(&x.dist, without_axis, &a);
  for (size_t i = 0; i < x.n; i++) {
    tk_type t = g->frame->f->slots[in->res[i]].type;
    tkv_value *v = t.rank ? tkv_block(g, t, &d) : tkv_scalar(g, t, x.reg[i][0]);
    if (t.rank) v->home->reg = x.reg[i];
    tkv_set(g, in->res[i], v);
  }
}

/* ---- scans with a function
 * --------------------------------------------------------- */

/* The number of the lane `by` places before one along the axis, and whether
 * there is one. */
typedef struct neighbour {
  const char *number, *is_there;
} neighbour;

static neighbour lane_before(tkv_gen *g, const tk_inst *in, const tk_type *t,
                             const char *number, uint32_t by) {
  int axis = tk_inst_axis(in), low = tkv_axis_low(t, axis);
  bool reverse = tk_inst_reverse(in);
  const char *i = tkv_index_of(g, t, axis, number);
  const char *there =
      reverse
          ? tkv_emit(g, "icmp ult i32 %s, %u", i, (uint32_t)t->shape[axis] - by)
          : tkv_emit(g, "icmp %s i32 %s, %u",
                     TKV_MUTANT(SCAN_FIRST) ? "ugt" : "uge", i, by);
  const char *step = tkv_text(g, "%s%u", reverse ? "" : "-", by << low);
  const char *at = tkv_emit(g, "add i32 %s, %s", number, step);
  return (neighbour){
      tkv_emit(g, "select i1 %s, i32 %s, i32 %s", there, at, number), there};
}

/* Everybody writes all operands to the scratch area; where each begins. */
static void share_operands(tkv_gen *g, const operands *x, size_t *base) {
  size_t end = 0;
  for (size_t i = 0; i < x->n; i++) {
    tkv_version v = {.dist = x->dist, .reg = x->reg[i]};
    base[i] = end;
    tkv_share_block(g, &x->type[i], &v, base[i]);
    end += ((size_t)tk_numel(&x->type[i]) * tk_lane_size(&x->type[i]) + 15) /
           16 * 16;
  }
  tkv_barrier(g);
}

static void scan_step(tkv_gen *g, const tk_inst *in, operands *x, uint32_t by) {
  size_t base[TK_COMBINED];
  const char *a[TK_COMBINED], *b[TK_COMBINED], *out[TK_COMBINED];
  share_operands(g, x, base);
  const char *thread = tkv_thread_number(g, &x->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << x->dist.nreg; r++) {
    const char *number = tkv_number(g, &x->dist, thread, r);
    neighbour from = lane_before(g, in, &x->type[0], number, by);
    for (size_t i = 0; i < x->n; i++) {
      a[i] = tkv_shared_load(
          g, &x->type[i], tkv_shared_at(g, &x->type[i], base[i], from.number));
      b[i] = x->reg[i][r];
    }
    by_function(g, in, x, a, b, out);
    for (size_t i = 0; i < x->n; i++) {
      const char *type = tkv_lane_type(&x->type[i]);
      x->reg[i][r] = tkv_emit(g, "select i1 %s, %s %s, %s %s", from.is_there,
                              type, out[i], type, b[i]);
    }
  }
}

/* ---- scans by an operation
 * ------------------------------------------------------------ */

/* A thread goes along a row from its end to the other, lane after lane. */
static void scan_rows(tkv_gen *g, const tk_inst *in, const tk_type *t) {
  int axis = tk_inst_axis(in), low = tkv_axis_low(t, axis),
      n = tkv_axis_bits(t, axis);
  bool reverse = tk_inst_reverse(in);
  const char *rows = tkv_text(g, "%lld", (long long)(tk_numel(t) >> n)),
             *most = tkv_text(g, "%d", t->shape[axis]);
  tkv_loop row = tkv_begin_count(g, "%tid", rows);
  const char *inner =
                 tkv_emit(g, "and i32 %s, %u", row.i, ((uint32_t)1 << low) - 1),
             *outer = tkv_emit(g, "lshr i32 %s, %d", row.i, low);
  outer = tkv_emit(g, "shl i32 %s, %d", outer, low + n);
  const char *begin = tkv_emit(g, "or i32 %s, %s", outer, inner);
  tkv_loop lane = tkv_begin_count(g, "1", most);
  const char *i = lane.i, *before = tkv_emit(g, "sub i32 %s, 1", lane.i);
  if (reverse) {
    i = tkv_emit(g, "sub i32 %d, %s", t->shape[axis] - 1, lane.i);
    before = tkv_emit(g, "add i32 %s, 1", i);
  }
  i = tkv_emit(g, "shl i32 %s, %d", i, low);
  before = tkv_emit(g, "shl i32 %s, %d", before, low);
  i = tkv_emit(g, "add i32 %s, %s", begin, i);
  before = tkv_emit(g, "add i32 %s, %s", begin, before);
  const char *at = tkv_shared_at(g, t, 0, i),
             *a = tkv_shared_load(g, t, tkv_shared_at(g, t, 0, before)),
             *b = tkv_shared_load(g, t, at);
  tkv_shared_store(
      g, t, tkv_binary(g, tk_reduction_op(tk_inst_reduction(in)), t, a, b), at);
  tkv_end_loop(g, &lane, "1");
  tkv_end_loop(g, &row, tkv_text(g, "%d", 32 * g->warps));
}

void tkv_gen_scan(tkv_gen *g, const tk_inst *in) {
  operands x;
  take_operands(g, in, &x);
  if (in->op == TK_I_SCAN_FN) {
    uint32_t n = (uint32_t)x.type[0].shape[tk_inst_axis(in)];
    for (uint32_t by = 1; by < n; by *= 2) scan_step(g, in, &x, by);
  } else {
    size_t base[TK_COMBINED];
    share_operands(g, &x, base);
    scan_rows(g, in, &x.type[0]);
    tkv_barrier(g);
    x.reg[0] = tkv_read_block(g, &x.type[0], &x.dist);
  }
  for (size_t i = 0; i < x.n; i++) {
    tkv_value *v = tkv_block(g, x.type[i], &x.dist);
    v->home->reg = x.reg[i];
    tkv_set(g, in->res[i], v);
  }
}
