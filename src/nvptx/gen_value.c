/* gen_value.c - blocks in the layouts that are wanted: converted from where
 * they are, or computed there. */
#include <string.h>

#include "nvptx/gen.h"

tkv_value *tkv_new_value(tkv_gen *g, tk_type t) {
  tkv_value *v = TK_NEW(g->arena, tkv_value);
  v->type = t;
  v->frame = g->frame;
  return v;
}

tkv_value *tkv_scalar(tkv_gen *g, tk_type t, const char *name) {
  tkv_value *v = tkv_new_value(g, t);
  v->one = name;
  return v;
}

tkv_version *tkv_new_version(tkv_gen *g, const tkv_dist *d) {
  tkv_version *x = TK_NEW(g->arena, tkv_version);
  x->dist = *d;
  x->reg = TK_NEWN(g->arena, const char *, (size_t)1 << d->nreg);
  return x;
}

tkv_value *tkv_block(tkv_gen *g, tk_type t, const tkv_dist *d) {
  tkv_value *v = tkv_new_value(g, t);
  v->home = tkv_new_version(g, d);
  return v;
}

tkv_dist tkv_home_of(tkv_gen *g, const tkv_value *v) {
  return v->home ? v->home->dist : tkv_dist_usual(&v->type, g->warps);
}

static const char **all_one(tkv_gen *g, const char *one, int nreg) {
  const char **reg = TK_NEWN(g->arena, const char *, (size_t)1 << nreg);
  for (size_t i = 0; i < (size_t)1 << nreg; i++) reg[i] = one;
  return reg;
}

static const char **remember_version(tkv_gen *g, tkv_value *v,
                                     const tkv_dist *d, const char **reg) {
  tkv_version *made = TK_NEW(g->arena, tkv_version);
  *made = (tkv_version){*d, reg, v->versions};
  v->versions = made;
  TK_PUSH(g->arena, &g->scoped, v);
  return reg;
}

const char **tkv_at_in_warp(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  if (v->one) return all_one(g, v->one, d->nreg);
  if (v->home && tkv_dist_same(&v->home->dist, d)) return v->home->reg;
  for (tkv_version *x = v->versions; x; x = x->next)
    if (tkv_dist_same(&x->dist, d)) return x->reg;
  if (v->placed) return NULL;
  const char **reg = v->home ? tkv_convert_in_warp(g, &v->type, v->home, d)
                             : tkv_compute(g, v, d);
  return reg ? remember_version(g, v, d, reg) : NULL;
}

const char **tkv_at(tkv_gen *g, tkv_value *v, const tkv_dist *d) {
  const char **reg = tkv_at_in_warp(g, v, d);
  if (reg) return reg;
  if (v->placed) {
    reg = tkv_new_names(g, d);
    tkv_read_placed(g, v->placed, d, (tkv_part){0}, reg);
  } else {
    reg = tkv_convert(g, &v->type, v->home, d);
  }
  return remember_version(g, v, d, reg);
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

static const char **range_lanes(tkv_gen *g, const tkv_value *v,
                                const tkv_dist *d) {
  const char **reg = tkv_new_names(g, d), *thread = tkv_thread_number(g, d);
  int64_t start = TKV_MUTANT(RANGE) ? 0 : tk_arange_start(v->in);
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
  const char **reg = tkv_new_names(g, d),
             **name = TK_NEWN(g->arena, const char *, n + 1);
  for (size_t k = 0; k < n; k++) arg[k] = tkv_at(g, v->args[k], d);
  for (uint32_t r = 0; r < (uint32_t)1 << d->nreg; r++) {
    uint32_t first = tkv_dist_canonical(d, r);
    for (size_t k = 0; k < n; k++) name[k] = arg[k][r];
    reg[r] = first < r ? reg[first] : tkv_lane_wise(g, v->in, v->args, name);
  }
  return reg;
}

/* A copy, a broadcast or a permutation is its operand in the layout that leads
 * each register to its lane there. */
static tkv_value *moved_from(const tkv_value *v, tkv_dist *d) {
  tkv_value *from = v->args[0];
  bool permutes = v->in->op == TK_I_PERMUTE;
  shapes s = {&v->type, &from->type, permutes ? tk_permute_axes(v->in) : NULL};
  if (v->in->op != TK_I_COPY && !from->one)
    *d = tkv_dist_map(d, permutes ? permuted_lane : repeated_lane, &s);
  return from;
}

static bool is_moved(const tkv_value *v) {
  return !v->one && !v->home && !v->placed && v->in->nargs &&
         tk_inst_moves(v->in) && tkv_same_lanes(v);
}

tkv_value *tkv_origin(tkv_value *v, tkv_dist *d) {
  while (is_moved(v)) v = moved_from(v, d);
  return v;
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
