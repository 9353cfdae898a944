/* gen_value.c - blocks in the layout that somebody needs: converted from the
 * layout that they are in, or computed in it. */
#include "nvptx/shared.h"

tkv_value *tkv_new_value(tkv_gen *g, tk_type t) {
  tkv_value *v = TK_NEW(g->arena, tkv_value);
  v->type = t;
  v->frame = g->frame;
  return v;
}

tkv_value *tkv_scalar(tkv_gen *g, tk_type t, tkv_reg one) {
  TK_ASSERT(tkv_same_type(one.type, tkv_lane_type(&t)));
  tkv_value *v = tkv_new_value(g, t);
  v->one = one;
  return v;
}

tkv_value *tkv_block_of(tkv_gen *g, tk_type t, const tkv_dist *d,
                        tkv_reg *reg) {
  tkv_value *v = tkv_new_value(g, t);
  v->home = TK_NEW(g->arena, tkv_version);
  *v->home = (tkv_version){.dist = *d, .reg = reg};
  return v;
}

tkv_value *tkv_block(tkv_gen *g, tk_type t, const tkv_dist *d) {
  return tkv_block_of(g, t, d, tkv_new_regs(g, d));
}

tkv_dist tkv_home_of(tkv_gen *g, const tkv_value *v) {
  return v->home ? v->home->dist : tkv_dist_usual(&v->type, g->warps);
}

static tkv_reg *all_one(tkv_gen *g, tkv_reg one, const tkv_dist *d) {
  tkv_reg *reg = tkv_new_regs(g, d);
  for (size_t i = 0; i < (size_t)1 << d->nreg; i++) reg[i] = one;
  return reg;
}

static tkv_reg *remember_version(tkv_gen *g, tkv_value *v, const tkv_dist *d,
                                 tkv_reg *reg) {
  tkv_version *made = TK_NEW(g->arena, tkv_version);
  TK_ASSERT(tkv_are_lanes(&v->type, reg, (size_t)1 << d->nreg));
  *made = (tkv_version){*d, reg, v->versions};
  v->versions = made;
  TK_PUSH(g->arena, &g->scoped, v);
  return reg;
}

tkv_reg *tkv_at_in_warp(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  if (tkv_exists(v->one)) return all_one(g, v->one, d);
  if (v->home && tkv_dist_same(&v->home->dist, d)) return v->home->reg;
  for (tkv_version *x = v->versions; x; x = x->next)
    if (tkv_dist_same(&x->dist, d)) return x->reg;
  if (v->placed) return NULL;
  tkv_reg *reg = v->home ? tkv_convert_in_warp(g, &v->type, v->home, d)
                         : tkv_compute(g, v, d);
  return reg ? remember_version(g, v, d, reg) : NULL;
}

tkv_reg *tkv_at(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  tkv_reg *reg = tkv_at_in_warp(g, v, d);
  if (reg) return reg;
  if (v->placed) {
    reg = tkv_new_regs(g, d);
    tkv_read_placed(g, v->placed, d, (tkv_part){0}, reg);
  } else {
    reg = tkv_convert(g, &v->type, v->home, d);
  }
  return remember_version(g, v, d, reg);
}

/* ---- maps of numbers ----------------------------------------------------- */

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

/* ---- computing where it is wanted ---------------------------------------- */

static tkv_reg *range_lanes(tkv_gen *g, const tkv_value *v, const tkv_dist *d) {
  tkv_reg *reg = tkv_new_regs(g, d), thread = tkv_thread_number(g->code, d);
  int64_t start = TKV_MUTANT(RANGE) ? 0 : tk_arange_start(v->in);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    reg[r] = first < r ? reg[first] : tkv_number(g->code, d, thread, r);
    if (start && first == r) reg[r] = tkv_add_n(g->code, reg[r], start);
  }
  return reg;
}

static tkv_reg *computed_lanes(tkv_gen *g, const tkv_value *v,
                               const tkv_dist *d) {
  size_t n = v->in->nargs;
  tkv_reg **arg = TK_NEWN(g->arena, tkv_reg *, n + 1);
  tkv_reg *reg = tkv_new_regs(g, d), *lane = TK_NEWN(g->arena, tkv_reg, n + 1);
  TK_ASSERT(n > 0);
  for (size_t k = 0; k < n; k++) arg[k] = tkv_at(g, v->args[k], d);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    for (size_t k = 0; k < n; k++) lane[k] = arg[k][r];
    reg[r] = first < r ? reg[first] : tkv_lane_wise(g, v->in, v->args, lane);
  }
  return reg;
}

/* The operand of a copy, a broadcast or a permutation; *d becomes the layout
 * in which the operand's registers are those of the result in *d. */
static tkv_value *moved_from(const tkv_value *v, tkv_dist *d) {
  tkv_value *from = v->args[0];
  bool permutes = v->in->op == TK_I_PERMUTE;
  shapes s = {&v->type, &from->type, permutes ? tk_permute_axes(v->in) : NULL};
  if (v->in->op != TK_I_COPY && !tkv_exists(from->one))
    *d = tkv_dist_map(d, permutes ? permuted_lane : repeated_lane, &s);
  return from;
}

static bool is_moved(const tkv_value *v) {
  return !tkv_exists(v->one) && !v->home && !v->placed && v->in->nargs &&
         tk_inst_moves(v->in) && tkv_same_lanes(v);
}

tkv_value *tkv_origin(tkv_value *v, tkv_dist *d) {
  while (is_moved(v)) v = moved_from(v, d);
  return v;
}

bool tkv_same_lanes(const tkv_value *v) {
  return tkv_same_type(tkv_lane_type(&v->type),
                       tkv_lane_type(&v->args[0]->type));
}

tkv_reg *tkv_compute(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  tkv_frame *around = g->frame;
  tkv_reg *reg;
  g->frame = v->frame;
  bool is_const = v->in->op == TK_I_CONST;
  if (is_const || v->in->op == TK_I_UNDEF) {
    v->one = tkv_literal(&v->type, is_const ? tk_const_bits(v->in) : 0);
    reg = tkv_at(g, v, d);
  } else if (v->in->op == TK_I_ARANGE) {
    reg = range_lanes(g, v, d);
  } else if (is_moved(v)) {
    tkv_dist at = *d;
    tkv_value *from = moved_from(v, &at);
    reg = tkv_at(g, from, &at);
  } else {
    reg = computed_lanes(g, v, d);
  }
  g->frame = around;
  return reg;
}
