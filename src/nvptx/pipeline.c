/* pipeline.c - what a loop loads ahead, found by following operands of its
 * products back to loads, and addresses of these to where the loop begins. */
#include "nvptx/pipeline.h"

#include <string.h>

typedef struct planning {
  tk_arena *arena;
  const tk_func *f;
  const tk_stmt *loop;
  tkv_can_copy *can_copy;
  void *ud;
  const tk_inst **maker; /* by slot: the instruction of the body itself; */
  uint8_t *makers;       /* how many of the function there are; */
  bool *buried;          /* whether one stands in a body within the body; */
  bool *ahead, *loaded;  /* whether it is computed or loaded ahead */
} planning;

/* ---- the loop ------------------------------------------------------------ */

static bool count_maker(void *ud, const tk_at *at, const tk_inst *in) {
  planning *x = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++)
    if (x->makers[in->res[k]] < 2) x->makers[in->res[k]]++;
  return true;
}

static bool bury(void *ud, const tk_at *at, const tk_inst *in) {
  planning *x = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++) x->buried[in->res[k]] = true;
  return true;
}

static void find_makers(planning *x) {
  tk_walk burying = {.ud = x, .inst = bury};
  tk_walk_func(x->f, &(tk_walk){.ud = x, .inst = count_maker});
  for (size_t i = 0; i < x->loop->body.n; i++) {
    const tk_stmt *st = x->loop->body.items[i];
    tk_walk_body(x->f, &st->body, &burying);
    tk_walk_body(x->f, &st->orelse, &burying);
    if (st->kind == TK_S_FOR) x->buried[st->iv] = true;
    for (size_t k = 0; k < st->insts.n; k++) {
      const tk_inst *in = st->insts.items[k];
      for (int r = 0; r < in->nres; r++) x->maker[in->res[r]] = in;
      for (int b = 0; b < 2; b++)
        tk_walk_insts(x->f, st, &in->body[b], &burying);
    }
  }
}

/* A load must not come before a store that it should see. */
static bool leaves_memory(void *ud, const tk_at *at, const tk_inst *in) {
  (void)at;
  if (in->op == TK_I_CALL)
    return tk_walk_func(tk_call_callee(in),
                        &(tk_walk){.ud = ud, .inst = leaves_memory});
  return tk_inst_effect(in) != TK_EFFECT_WRITES && in->op != TK_I_BARRIER;
}

/* ---- uses ---------------------------------------------------------------- */

/* Instructions that only give another view of their operand, and so need not be
 * computed before their result is used. */
static bool is_lazy(const tk_inst *in) {
  tk_lanes lanes = tk_inst_lanes(in);
  if (!tk_inst_is_pure(in)) return false;
  return lanes == TK_LANES_NONE || lanes == TK_LANES_SAME ||
         in->op == TK_I_COPY || in->op == TK_I_HINT ||
         in->op == TK_I_BROADCAST || in->op == TK_I_PERMUTE;
}

typedef struct uses {
  const bool *of; /* slots */
  size_t n;
} uses;

static bool count_uses(void *ud, const tk_at *at, const tk_inst *in) {
  uses *u = ud;
  (void)at;
  for (int k = 0; k < in->nargs; k++) u->n += u->of[in->args[k]];
  return true;
}

static bool count_results(void *ud, const tk_at *at) {
  uses *u = ud;
  for (size_t i = 0; i < at->stmt->nresults; i++)
    u->n += u->of[at->stmt->results[i]];
  return true;
}

/* What is in shared memory is there for one trip. */
static bool stays_in_loop(const planning *x, const tk_inst *load) {
  bool *of = TK_NEWN(x->arena, bool, x->f->nslots);
  of[load->res[0]] = true;
  for (bool more = true; more;) {
    more = false;
    for (size_t s = 0; s < x->f->nslots; s++) {
      const tk_inst *in = x->maker[s];
      if (!in || of[s] || x->makers[s] > 1 || !is_lazy(in)) continue;
      for (int k = 0; k < in->nargs; k++) of[s] |= of[in->args[k]];
      more |= of[s];
    }
  }
  uses all = {of, 0}, within = {of, 0};
  tk_walk_func(
      x->f, &(tk_walk){.ud = &all, .stmt = count_results, .inst = count_uses});
  tk_walk_body(x->f, &x->loop->body,
               &(tk_walk){.ud = &within, .inst = count_uses});
  return all.n == within.n;
}

/* ---- loads --------------------------------------------------------------- */

typedef struct search {
  int slot;
  const tk_inst *maker;
} search;

static bool is_not_maker(void *ud, const tk_at *at, const tk_inst *in) {
  search *s = ud;
  (void)at;
  for (int k = 0; k < in->nres; k++)
    if (in->res[k] == s->slot) s->maker = in;
  return !s->maker;
}

const tk_inst *tkv_first_maker(const tk_func *f, int slot) {
  search s = {.slot = slot};
  tk_walk_func(f, &(tk_walk){.ud = &s, .inst = is_not_maker});
  return s.maker;
}

static bool is_zero(const planning *x, int slot) {
  if (x->makers[slot] > 1) return false;
  const tk_inst *maker = tkv_first_maker(x->f, slot);
  if (!maker) return false;
  if (maker->op == TK_I_CONST) return !tk_const_bits(maker);
  bool same = maker->op == TK_I_COPY || maker->op == TK_I_CAST ||
              maker->op == TK_I_BROADCAST;
  return same && is_zero(x, maker->args[0]);
}

/* Adds the instruction that computes a slot, if it can be computed ahead. */
static bool add_ahead(planning *x, int slot) {
  const tk_inst *in = x->maker[slot];
  if (x->ahead[slot]) return true;
  if (x->buried[slot]) return false;
  if (!in) return true;
  if (!is_lazy(in)) return false;
  x->ahead[slot] = true;
  for (int k = 0; k < in->nargs; k++)
    if (!add_ahead(x, in->args[k])) return false;
  return true;
}

static void add_load(planning *x, const tk_inst *load) {
  int mask = tk_load_mask(load), other = tk_load_other(load);
  size_t n = x->f->nslots;
  bool *was = TK_NEWN(x->arena, bool, n);
  if (!load->type.rank || tk_load_reads_anew(load) || x->loaded[load->res[0]] ||
      x->makers[load->res[0]] > 1 || !x->can_copy(x->ud, load) ||
      (other >= 0 && !is_zero(x, load->args[other])) || !stays_in_loop(x, load))
    return;
  memcpy(was, x->ahead, n);
  if (add_ahead(x, load->args[0]) &&
      (mask < 0 || add_ahead(x, load->args[mask])))
    x->loaded[load->res[0]] = true;
  else
    memcpy(x->ahead, was, n);
}

/* The loads that a slot of the body depends on lane by lane. */
static void follow_operand(planning *x, int slot) {
  const tk_inst *in = x->maker[slot];
  if (!in || x->buried[slot] || x->makers[slot] > 1) return;
  if (in->op == TK_I_LOAD) add_load(x, in);
  if (is_lazy(in))
    for (int k = 0; k < in->nargs; k++) follow_operand(x, in->args[k]);
}

/* ---- the plan ------------------------------------------------------------ */

static bool is_planned(const planning *x, const tk_inst *in) {
  for (int k = 0; k < in->nres; k++)
    if (in->op == TK_I_LOAD ? x->loaded[in->res[k]] : x->ahead[in->res[k]])
      return true;
  return false;
}

bool tkv_plan_loop(tk_arena *a, const tk_func *f, const tk_stmt *loop,
                   tkv_can_copy *can_copy, void *ud, tkv_plan *out) {
  size_t n = f->nslots, ninsts = 0, loads = 0;
  planning x = {a,
                f,
                loop,
                can_copy,
                ud,
                TK_NEWN(a, const tk_inst *, n),
                TK_NEWN(a, uint8_t, n),
                TK_NEWN(a, bool, n),
                TK_NEWN(a, bool, n),
                TK_NEWN(a, bool, n)};
  if (!tk_walk_body(f, &loop->body, &(tk_walk){.inst = leaves_memory}))
    return false;
  find_makers(&x);
  for (size_t s = 0; s < loop->body.n; s++) {
    const tk_insts *l = &loop->body.items[s]->insts;
    ninsts += l->n;
    for (size_t i = 0; i < l->n; i++)
      for (int k = 0; k < 2 && l->items[i]->op == TK_I_DOT; k++)
        follow_operand(&x, l->items[i]->args[k]);
  }
  *out = (tkv_plan){TK_NEWN(a, const tk_inst *, ninsts + 1), 0, x.ahead};
  for (size_t s = 0; s < loop->body.n; s++) {
    const tk_insts *l = &loop->body.items[s]->insts;
    for (size_t i = 0; i < l->n; i++) {
      if (!is_planned(&x, l->items[i])) continue;
      out->insts[out->n++] = l->items[i];
      loads += l->items[i]->op == TK_I_LOAD;
    }
  }
  return loads > 0;
}
