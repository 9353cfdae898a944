/* gen_slot.c - what the slots of a function hold: values, and merges, which
 * are variables of the thread. */
#include <string.h>

#include "nvptx/gen.h"

/* ---- merges -------------------------------------------------------------- */

typedef struct search {
  tkv_gen *g;
  int slot, depth;
  bool found;
  tkv_dist dist;
} search;

static bool wish_of_slot(search *s, int slot);

static bool look_at_maker(void *ud, const tk_at *at, const tk_inst *in) {
  search *s = ud;
  (void)at;
  bool makes = false;
  for (int k = 0; k < in->nres; k++) makes |= in->res[k] == s->slot;
  if (!makes || in->op == TK_I_COND) return true;
  const tk_func *f = s->g->frame->f;
  tk_type type = f->slots[s->slot].type;
  tkv_home *home = s->g->rules[in->op].home;
  if (home) {
    s->dist = home(s->g, in);
    s->found = true;
  } else if (tk_inst_lanes(in) == TK_LANES_SAME || in->op == TK_I_COPY) {
    for (int k = 0; k < in->nargs && !s->found; k++)
      if (tk_same_shape(&f->slots[in->args[k]].type, &type))
        wish_of_slot(s, in->args[k]);
  }
  return !s->found;
}

/* Finds the layout that the instructions which make a slot would choose for
 * it. */
static bool wish_of_slot(search *s, int slot) {
  enum { DEEPEST = 12 };
  int around = s->slot;
  if (s->depth == DEEPEST) return false;
  s->depth++;
  s->slot = slot;
  tk_walk_func(s->g->frame->f, &(tk_walk){.ud = s, .inst = look_at_maker});
  s->depth--;
  s->slot = around;
  return s->found;
}

static tkv_dist dist_of_merge(tkv_gen *g, int slot, const tkv_value *v) {
  const tk_func *f = g->frame->f;
  const tk_type *t = &f->slots[slot].type;
  TK_ASSERT(tk_same_shape(t, &v->type));
  if (t->ptr) return tkv_dist_access(t, &g->facts.of[f->id][slot], g->warps);
  search s = {.g = g, .slot = -1};
  return wish_of_slot(&s, slot) ? s.dist : tkv_home_of(g, v);
}

void tkv_begin_merge(tkv_gen *g, tkv_merge *m, tk_type t, tkv_dist dist) {
  m->type = t;
  m->dist = dist;
  m->at = tkv_new_regs(g, &dist);
  for (uint32_t r = 0; r < (uint32_t)1 << dist.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&dist, r);
    m->at[r] =
        first < r ? m->at[first] : tkv_variable(g->code, tkv_lane_type(&t));
  }
}

void tkv_store_merge(tkv_gen *g, tkv_merge *m, tkv_value *v) {
  tkv_reg *reg = tkv_at(g, v, &m->dist);
  TK_ASSERT(m->at && tkv_are_lanes(&m->type, reg, 1));
  for (uint32_t r = 0; r < (uint32_t)1 << m->dist.nreg; r++)
    if (tkv_dist_canonical(&m->dist, r) == r)
      tkv_store(g->code, reg[r], m->at[r]);
}

tkv_value *tkv_load_merge(tkv_gen *g, const tkv_merge *m) {
  TK_ASSERT(m->at); /* a store comes before every load */
  tkv_type type = tkv_lane_type(&m->type);
  if (!m->type.rank || g->frame->lanes)
    return tkv_scalar(g, m->type, tkv_load(g->code, type, m->at[0]));
  tkv_value *v = tkv_block(g, m->type, &m->dist);
  for (uint32_t r = 0; r < (uint32_t)1 << m->dist.nreg; r++) {
    uint32_t first = tkv_dist_canonical(&m->dist, r);
    v->home->reg[r] =
        first < r ? v->home->reg[first] : tkv_load(g->code, type, m->at[r]);
  }
  return v;
}

bool tkv_is_merge(const tkv_gen *g, int slot) {
  return g->frame->makers[slot] > 1;
}

tkv_value *tkv_get(tkv_gen *g, int slot) {
  tkv_frame *fr = g->frame;
  if (tkv_is_merge(g, slot)) return tkv_load_merge(g, &fr->merge[slot]);
  TK_ASSERT(fr->value[slot]);
  return fr->value[slot];
}

void tkv_set(tkv_gen *g, int slot, tkv_value *v) {
  tkv_frame *fr = g->frame;
  tkv_merge *m = &fr->merge[slot];
  TK_ASSERT(v && slot >= 0 && (size_t)slot < fr->f->nslots);
  if (!tkv_is_merge(g, slot)) {
    fr->value[slot] = v;
    return;
  }
  tkv_dist none = {0};
  tk_type t = fr->f->slots[slot].type;
  if (!m->at)
    tkv_begin_merge(g, m, t,
                    t.rank && !fr->lanes ? dist_of_merge(g, slot, v) : none);
  tkv_store_merge(g, m, v);
}

/* ---- frames -------------------------------------------------------------- */

tkv_frame *tkv_fork_frame(tkv_gen *g, const bool *own) {
  size_t n = g->frame->f->nslots;
  tkv_frame *fr = TK_NEW(g->arena, tkv_frame);
  *fr = *g->frame;
  fr->value = TK_NEWN(g->arena, tkv_value *, n + 1);
  fr->merge = TK_NEWN(g->arena, tkv_merge, n + 1);
  memcpy(fr->value, g->frame->value, n * sizeof *fr->value);
  memcpy(fr->merge, g->frame->merge, n * sizeof *fr->merge);
  for (size_t i = 0; i < n; i++) {
    if (!own[i] || !tkv_is_merge(g, (int)i)) continue;
    tkv_value *now = tkv_load_merge(g, &fr->merge[i]);
    tkv_begin_merge(g, &fr->merge[i], fr->merge[i].type, fr->merge[i].dist);
    tkv_store_merge(g, &fr->merge[i], now);
  }
  return fr;
}
