/* gen_move.c - which lane is where: numbers of lanes, values that are computed
 * in the layout that is wanted, conversions, joining and picking lanes. */
#include "nvptx/gen.h"

#include <string.h>

/* ---- numbers of lanes
 * -------------------------------------------------------- */

/* Bits of `x` that become bits of the number: those whose bases follow one
 * another, at once.  Adds what they make of it to `sum`. */
static const char *add_bits(tkv_gen *g, const char *sum, const char *x,
                            const uint32_t *basis, int n) {
  for (int i = 0, k; i < n; i = k) {
    for (k = i + 1; k < n && basis[i] && basis[k] == basis[k - 1] << 1; k++) {
    }
    if (!basis[i]) continue;
    int up = __builtin_ctz(basis[i]) - i;
    uint32_t mask = (((uint32_t)1 << (k - i)) - 1) << i;
    const char *part = tkv_emit(g, "and i32 %s, %u", x, mask);
    if (up)
      part = tkv_emit(g, "%s i32 %s, %d", up > 0 ? "shl" : "lshr", part,
                      up > 0 ? up : -up);
    sum = sum ? tkv_emit(g, "or i32 %s, %s", sum, part) : part;
  }
  return sum;
}

const char *tkv_thread_number(tkv_gen *g, const tkv_dist *d) {
  const char *sum = add_bits(g, NULL, g->lane, d->lane, TKV_LANE_BITS);
  sum = add_bits(g, sum, g->warp, d->warp, d->nwarp);
  return sum ? sum : "0";
}

const char *tkv_number(tkv_gen *g, const tkv_dist *d, const char *thread,
                       uint32_t r) {
  uint32_t part = tkv_dist_reg(d, r);
  if (!part) return thread;
  return tkv_emit(g, "%s i32 %s, %u", tkv_dist_parts_add(d) ? "add" : "xor",
                  thread, part);
}

const char *tkv_is_first(tkv_gen *g, const tkv_dist *d) {
  uint32_t lanes = 0, warps = 0;
  const char *lane = NULL, *warp = NULL;
  for (int i = 0; i < TKV_LANE_BITS; i++)
    if (!d->lane[i]) lanes |= (uint32_t)1 << i;
  for (int i = 0; i < d->nwarp; i++)
    if (!d->warp[i]) warps |= (uint32_t)1 << i;
  if (lanes) lane = tkv_emit(g, "and i32 %s, %u", g->lane, lanes);
  if (warps) warp = tkv_emit(g, "and i32 %s, %u", g->warp, warps);
  if (!lane && !warp) return NULL;
  if (lane && warp) lane = tkv_emit(g, "or i32 %s, %s", lane, warp);
  return tkv_emit(g, "icmp eq i32 %s, 0", lane ? lane : warp);
}

/* ---- maps of numbers
 * ------------------------------------------------------------ */

/* From a lane of a broadcast's result to that of its operand. */
typedef struct shapes {
  const tk_type *to, *from;
  const int64_t *axes;
} shapes;

static uint32_t index_on_axis(const tk_type *t, int axis, uint32_t number) {
  return (number >> tkv_axis_low(t, axis)) & (uint32_t)(t->shape[axis] - 1);
}

static uint32_t repeated_lane(uint32_t number, const void *ud) {
  const shapes *s = ud;
  uint32_t x = 0;
  for (int i = 0; i < s->from->rank; i++)
    if (s->from->shape[i] > 1)
      x |= index_on_axis(s->to, i + s->to->rank - s->from->rank, number)
           << tkv_axis_low(s->from, i);
  return x;
}

static uint32_t permuted_lane(uint32_t number, const void *ud) {
  const shapes *s = ud;
  uint32_t x = 0;
  for (int i = 0; i < s->to->rank; i++)
    x |= index_on_axis(s->to, i, number)
         << tkv_axis_low(s->from, (int)s->axes[i]);
  return x;
}

/* ---- computing where it is wanted
 * ------------------------------------------------- */

static const char **new_names(tkv_gen *g, const tkv_dist *d) {
  return TK_NEWN(g->arena, const char *, (size_t)1 << d->nreg);
}

static const char **range_lanes(tkv_gen *g, const tkv_value *v,
                                const tkv_dist *d) {
  const char **reg = new_names(g, d), *thread = tkv_thread_number(g, d);
  int64_t start = tk_arange_start(v->in);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    reg[r] = first < r ? reg[first] : tkv_number(g, d, thread, r);
    if (start && first == r)
      reg[r] = tkv_emit(g, "add i32 %s, %lld", reg[r], (long long)start);
  }
  return reg;
}

static const char **computed_lanes(tkv_gen *g, const tkv_value *v,
                                   const tkv_dist *d) {
  size_t n = v->in->nargs;
  const char ***arg = TK_NEWN(g->arena, const char **, n + 1);
  const char **reg = new_names(g, d),
             **name = TK_NEWN(g->arena, const char *, n + 1);
  for (size_t k = 0; k < n; k++) arg[k] = tkv_at(g, v->args[k], d);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    for (size_t k = 0; k < n; k++) name[k] = arg[k][r];
    reg[r] = first < r ? reg[first] : tkv_lane_wise(g, v->in, v->args, name);
  }
  return reg;
}

/* What a copy, a broadcast or a permutation is made of: the operand in the
 * layout that leads each register to its lane there. */
static const char **moved_lanes(tkv_gen *g, const tkv_value *v,
                                const tkv_dist *d) {
  tkv_value *from = v->args[0];
  bool permutes = v->in->op == TK_I_PERMUTE;
  shapes s = {&v->type, &from->type, permutes ? tk_permute_axes(v->in) : NULL};
  if (v->in->op == TK_I_COPY || from->one) return tkv_at(g, from, d);
  tkv_dist operand =
      tkv_dist_map(d, permutes ? permuted_lane : repeated_lane, &s);
  return tkv_at(g, from, &operand);
}

bool tkv_same_lanes(const tkv_value *v) {
  return !strcmp(tkv_lane_type(&v->type), tkv_lane_type(&v->args[0]->type));
}

const char **tkv_compute(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  tkv_frame *around = g->frame;
  const char **reg;
  g->frame = v->frame;
  if (v->in->op == TK_I_CONST) {
    v->one = tkv_literal(g, &v->type, tk_const_bits(v->in));
    reg = tkv_at(g, v, d);
  } else if (v->in->op == TK_I_ARANGE) {
    reg = range_lanes(g, v, d);
  } else if (tk_inst_moves(v->in) && tkv_same_lanes(v)) {
    reg = moved_lanes(g, v, d);
  } else {
    reg = computed_lanes(g, v, d);
  }
  g->frame = around;
  return reg;
}

/* ---- conversions
 * --------------------------------------------------------------------- */

/* Whether each thread has what it needs; then only names change. */
static const char **renamed_registers(tkv_gen *g, const tkv_version *from,
                                      const tkv_dist *to) {
  if (memcmp(from->dist.lane, to->lane, sizeof to->lane) ||
      memcmp(from->dist.warp, to->warp, sizeof to->warp))
    return NULL;
  const char **reg = new_names(g, to);
  for (uint32_t r = 0; r < (uint32_t)1 << to->nreg; r++) {
    int at = tkv_dist_find(&from->dist, tkv_dist_reg(to, r));
    if (at < 0) return NULL;
    reg[r] = from->reg[at];
  }
  return reg;
}

const char **tkv_convert(tkv_gen *g, const tk_type *t, const tkv_version *from,
                         const tkv_dist *to) {
  const char **reg = renamed_registers(g, from, to);
  if (reg) return reg;
  tkv_share_block(g, t, from, 0);
  tkv_barrier(g);
  return tkv_read_block(g, t, to);
}

/* ---- joining and splitting
 * ----------------------------------------------------------- */

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
  tkv_dist d = half[0]->one ? (tkv_dist){.nwarp = tkv_log2(g->warps)}
                            : tkv_home_of(g, half[0]);
  int bit = joining_bit(in);
  tkv_dist whole = tkv_dist_map(&d, with_bit, &bit);
  whole.reg[whole.nreg++] = (uint32_t)1 << bit;
  tkv_value *v = tkv_block(g, in->type, &whole);
  for (uint32_t k = 0; k < 2; k++) {
    const char **reg = tkv_at(g, half[k], &d);
    memcpy(v->home->reg + (k << d.nreg), reg,
           ((size_t)1 << d.nreg) * sizeof *reg);
  }
  tkv_set(g, in->res[0], v);
}

/* The operand is needed with both halves of a pair in one thread. */
void tkv_gen_split(tkv_gen *g, const tk_inst *in) {
  tkv_value *from = tkv_arg(g, in, 0);
  int bit = 0;
  tk_type t = g->frame->f->slots[in->res[0]].type;
  tkv_dist home = tkv_home_of(g, from),
           half = tkv_dist_map(&home, without_bit, &bit);
  tkv_dist_drop_copies(&half);
  tkv_dist whole = tkv_dist_map(&half, with_bit, &bit);
  whole.reg[whole.nreg++] = 1;
  const char **reg = tkv_at(g, from, &whole);
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

/* ---- lanes picked by their number
 * ------------------------------------------------------ */

/* The number of a lane with another index along an axis. */
static const char *with_index(tkv_gen *g, const tk_type *t, int axis,
                              const char *number, const tk_type *of,
                              const char *index) {
  int low = tkv_axis_low(t, axis), n = tkv_axis_bits(t, axis),
      to_low = tkv_axis_low(of, axis), to_n = tkv_axis_bits(of, axis);
  TK_ASSERT(low == to_low);
  const char *below =
      tkv_emit(g, "and i32 %s, %u", number, ((uint32_t)1 << low) - 1);
  const char *above = tkv_emit(g, "lshr i32 %s, %d", number, low + n);
  above = tkv_emit(g, "shl i32 %s, %d", above, to_low + to_n);
  const char *x = tkv_emit(g, "shl i32 %s, %d", index, low);
  x = tkv_emit(g, "or i32 %s, %s", x, below);
  return tkv_emit(g, "or i32 %s, %s", x, above);
}

static const char *index_of(tkv_gen *g, const tk_type *t, int axis,
                            const char *number) {
  const char *x = tkv_emit(g, "lshr i32 %s, %d", number, tkv_axis_low(t, axis));
  return tkv_emit(g, "and i32 %s, %d", x, t->shape[axis] - 1);
}

/* The index along the axis of the lane that a lane of the result comes from. */
static const char *picked_index(tkv_gen *g, const tk_inst *in,
                                const char *number, const char *gathered) {
  int axis = tk_inst_axis(in);
  if (in->op == TK_I_GATHER) return gathered;
  const char *x = index_of(g, &in->type, axis, number);
  if (in->op == TK_I_FLIP)
    return tkv_emit(g, "sub i32 %d, %s", in->type.shape[axis] - 1, x);
  x = tkv_emit(g, "mul i32 %s, %lld", x, (long long)tk_slice_step(in));
  return tkv_emit(g, "add i32 %s, %lld", x, (long long)tk_slice_start(in));
}

/* Lanes of a block in shared memory; an index outside gives some lane. */
void tkv_gen_pick(tkv_gen *g, const tk_inst *in) {
  tkv_value *from = tkv_arg(g, in, 0);
  bool gathers = in->op == TK_I_GATHER;
  tkv_value *index = gathers ? tkv_arg(g, in, 1) : NULL;
  const tk_type *t = &from->type;
  tkv_dist d = index && index->home ? index->home->dist
                                    : tkv_dist_usual(&in->type, g->warps);
  tkv_dist held = tkv_home_of(g, from);
  const char **at = index ? tkv_at(g, index, &d) : NULL;
  tkv_version version = {.dist = held, .reg = tkv_at(g, from, &held)};
  tkv_share_block(g, t, &version, 0);
  tkv_barrier(g);
  int axis = tk_inst_axis(in);
  tk_type i32 = {.elem = TK_INT32};
  const char *thread = tkv_thread_number(g, &d);
  tkv_value *v = tkv_block(g, in->type, &d);
  for (uint32_t r = 0; r < (uint32_t)1 << d.nreg; r++) {
    const char *number = tkv_number(g, &d, thread, r), *x = NULL;
    if (at) {
      x = tkv_convert_lane(g, &i32, &index->type, false, at[r]);
      x = tkv_emit(g, "and i32 %s, %d", x, t->shape[axis] - 1);
    }
    x = picked_index(g, in, number, x);
    x = with_index(g, &in->type, axis, number, t, x);
    v->home->reg[r] = tkv_shared_load(g, t, tkv_shared_at(g, t, 0, x));
  }
  tkv_set(g, in->res[0], v);
}
