/* padding_lanes.c - which lanes of a result are made of filled lanes alone.
 *
 * A sum is filled where all of its terms are; a product where one factor is a
 * filled 0, whatever the other is, or where both are filled.  So a row of
 * scores is filled at the keys that a load left out.
 */
#include <string.h>

#include "interp/check/padding.h"
#include "ir/lanes.h"

void tkc_fill_set(tkc_fill *f, const uint8_t *lanes) {
  if (f->version && !memcmp(f->mask, lanes, f->n)) return;
  memcpy(f->mask, lanes, f->n);
  f->version++;
}

bool tkc_fill_moves(const tk_inst *in) {
  return in->op == TK_I_BROADCAST || in->op == TK_I_PERMUTE ||
         in->op == TK_I_REDUCE || in->op == TK_I_DOT;
}

static bool any_filled(const uint8_t *lanes, size_t n) {
  return memchr(lanes, TKC_LANE_FILLED, n) != NULL;
}

static bool is_zero_lane(const tk_func *f, int slot, const tki_val *v,
                         size_t lane) {
  const tk_type *type = &f->slots[slot].type;
  return tk_lane_double((tk_dtype)type->elem,
                        tki_lane(v, lane, tk_lane_size(type))) == 0;
}

static void move_lanes(const tkc_filled *x, uint8_t *lanes, size_t n) {
  bool broadcast = x->in->op == TK_I_BROADCAST;
  for (size_t i = 0; i < n; i++) {
    tk_lane_set from;
    tk_lanes_of(x->func, x->in, 0, i, &from);
    uint8_t lane = x->of[0].mask[from.first];
    lanes[i] = broadcast && lane == TKC_LANE_LOADED ? TKC_LANE_ASIDE : lane;
  }
}

static void reduce_lanes(const tkc_filled *x, uint8_t *lanes, size_t n) {
  tk_lines l = tk_lines_read(x->in);
  TK_ASSERT(l.count == n);
  for (size_t i = 0; i < n; i++) {
    size_t first = tk_line_first(&l, i), k = 0;
    while (k < l.n && !x->of[0].mask[first + k * l.step]) k++;
    lanes[i] = k == l.n ? TKC_LANE_FILLED : TKC_LANE_ASIDE;
  }
}

/* Whether n lanes of an operand, `step` apart, are all filled, by 0. */
static bool is_filled_by_0(const tkc_filled *x, int k, size_t first, size_t n,
                           size_t step) {
  const uint8_t *mask = x->of[k].mask;
  if (!mask) return false;
  for (size_t i = 0; i < n; i++)
    if (mask[first + i * step]) return false;
  for (size_t i = 0; i < n; i++)
    if (!is_zero_lane(x->func, x->in->args[k], &x->args[k], first + i * step))
      return false;
  return true;
}

/* A row of the left matrix that is filled fills a row of the product, a column
 * of the right one a column. */
static void multiply_lanes(const tkc_filled *x, uint8_t *lanes, size_t n) {
  tk_product p = tk_product_of(x->in);
  TK_ASSERT(n == p.batch * p.m * p.n);
  memset(lanes, TKC_LANE_LOADED, n);
  for (size_t r = 0; r < p.batch * p.m; r++)
    if (is_filled_by_0(x, 0, r * p.k, p.k, 1))
      memset(lanes + r * p.n, TKC_LANE_FILLED, p.n);
  for (size_t b = 0; b < p.batch; b++)
    for (size_t c = 0; c < p.n; c++)
      if (is_filled_by_0(x, 1, b * p.k * p.n + c, p.k, p.n))
        for (size_t r = 0; r < p.m; r++)
          lanes[(b * p.m + r) * p.n + c] = TKC_LANE_FILLED;
  if (x->in->nargs < 3) return;
  const uint8_t *sum = x->of[2].mask;
  for (size_t i = 0; i < n; i++)
    if (x->of[2].data || (sum && sum[i])) lanes[i] = TKC_LANE_LOADED;
}

/* What a lane becomes of two at the same place. */
static uint8_t both(uint8_t a, uint8_t b) {
  uint8_t least = a < b ? a : b;
  return a == TKC_LANE_LOADED || b == TKC_LANE_LOADED ? TKC_LANE_LOADED : least;
}

/* A factor that is a filled 0 makes nothing of the other one. */
static void clear_products(const tkc_filled *x, uint8_t *lanes, size_t n) {
  for (int k = 0; k < x->in->nargs; k++) {
    const uint8_t *mask = x->of[k].mask;
    for (size_t i = 0; mask && i < n; i++) {
      if (mask[i] != TKC_LANE_FILLED) {
        const uint8_t *next = memchr(mask + i, TKC_LANE_FILLED, n - i);
        if (!next) break;
        i = (size_t)(next - mask);
      }
      if (lanes[i] == TKC_LANE_LOADED &&
          is_zero_lane(x->func, x->in->args[k], &x->args[k], i))
        lanes[i] = TKC_LANE_FILLED;
    }
  }
}

static void combine_lanes(const tkc_filled *x, uint8_t *lanes, size_t n) {
  const tk_inst *in = x->in;
  bool product = in->op == TK_I_BINARY && tk_binary_op(in) == TK_B_MUL;
  bool loaded = false, other = false;
  for (int k = 0; k < in->nargs; k++) {
    loaded |= x->of[k].data;
    other |= x->of[k].mask && x->of[k].n != n;
  }
  memset(lanes, loaded || other ? TKC_LANE_LOADED : TKC_LANE_ASIDE, n);
  if (other || (loaded && !product)) return;
  for (int k = 0; k < in->nargs && !loaded; k++) {
    const uint8_t *mask = x->of[k].mask;
    for (size_t i = 0; mask && i < n; i++) lanes[i] = both(lanes[i], mask[i]);
  }
  if (product) clear_products(x, lanes, n);
}

bool tkc_filled_lanes(const tkc_filled *x, uint8_t *lanes) {
  const tk_inst *in = x->in;
  size_t n = (size_t)tk_numel(&in->type);
  if (in->op == TK_I_DOT)
    multiply_lanes(x, lanes, n);
  else if (in->op == TK_I_REDUCE)
    reduce_lanes(x, lanes, n);
  else if (tkc_fill_moves(in))
    move_lanes(x, lanes, n);
  else
    combine_lanes(x, lanes, n);
  return any_filled(lanes, n);
}

/* ---- what a maximum is used for ------------------------------------------ */

/* What a slot holds: a maximum, or what is made of it and stands for it;
 * something less it. */
enum { SHIFT_BY = 1, SHIFTED = 2 };

typedef struct shifts {
  const tk_inst *from; /* that finds the maximum */
  uint8_t *of;         /* by slot */
  bool grew, other;    /* other: it is used otherwise */
} shifts;

static uint8_t held(const shifts *x, int slot) {
  return slot < 0 ? 0 : x->of[slot];
}

static bool note_other_use(void *ud, const tk_at *at) {
  shifts *x = ud;
  const tk_stmt *st = at->stmt;
  const int slots[] = {st->lb, st->ub, st->step};
  for (size_t i = 0; st->kind == TK_S_FOR && i < TK_COUNT(slots); i++)
    x->other |= held(x, slots[i]) != 0;
  if (st->kind == TK_S_IF || st->kind == TK_S_WHILE)
    x->other |= held(x, st->cond) != 0;
  for (size_t i = 0; i < st->nresults; i++)
    x->other |= held(x, st->results[i]) != 0;
  return !x->other;
}

static bool is_exponential(const tk_inst *in) {
  return in->op == TK_I_UNARY &&
         (tk_unary_op(in) == TK_U_EXP || tk_unary_op(in) == TK_U_EXP2);
}

/* What the result of an instruction holds that uses such slots: the same with
 * another axis, in other units, as a part of a larger maximum; 0: it is used
 * otherwise. */
static uint8_t passed_on(const tk_inst *in, uint8_t holds) {
  tk_binary op = in->op == TK_I_BINARY ? tk_binary_op(in) : TK_B_AND;
  if (in->op == TK_I_BROADCAST || in->op == TK_I_CAST || tk_lanes_kept(in) ||
      op == TK_B_MUL)
    return holds;
  if (op == TK_B_SUB) return SHIFTED;
  if (op == TK_B_MAX || op == TK_B_MAX_NAN) return holds & SHIFT_BY;
  return in->op == TK_I_SELECT ? holds & SHIFTED : 0;
}

static bool note_use(void *ud, const tk_at *at, const tk_inst *in) {
  shifts *x = ud;
  uint8_t holds = 0;
  (void)at;
  if (in == x->from) return true;
  for (int i = 0; i < in->nargs; i++) holds |= held(x, in->args[i]);
  if (!holds || (holds == SHIFTED && is_exponential(in))) return true;
  uint8_t out = passed_on(in, holds);
  x->other = !out || in->nres != 1;
  if (x->other) return false;
  uint8_t *slot = &x->of[in->res[0]];
  x->grew |= (*slot | out) != *slot;
  *slot |= out;
  return true;
}

bool tkc_is_of_softmax(tki *t, const tk_inst *in) {
  const tk_func *f = t->frame->func;
  if (in->nres != 1) return false;
  shifts x = {in, .of = tki_scratch_zero(t, f->nslots + 1), .grew = true};
  x.of[in->res[0]] = SHIFT_BY;
  while (x.grew && !x.other) {
    x.grew = false;
    tk_walk_func(
        f, &(tk_walk){.ud = &x, .stmt = note_other_use, .inst = note_use});
  }
  tki_scratch_free(t, x.of);
  return !x.other;
}

/* ---- a maximum that is kept within a bound ------------------------------- */

/* The constant that a slot holds, perhaps in another type or repeated. */
static bool constant_of(const tk_func *f, int slot, double *value) {
  const tk_inst *in = tk_set_by(f, slot);
  if (in &&
      (in->op == TK_I_BROADCAST || in->op == TK_I_CAST || tk_lanes_kept(in)))
    return constant_of(f, in->args[0], value);
  if (!in || in->op != TK_I_CONST || in->type.ptr) return false;
  int64_t bits = tk_const_bits(in);
  *value = tk_lane_double((tk_dtype)in->type.elem, &bits);
  return true;
}

typedef struct bounds {
  const tk_func *f;
  const tk_inst *from; /* that finds the maximum */
  double filled;
  bool any, other; /* uses that keep the filled value out, and others */
} bounds;

static bool is_bound(const bounds *x, const tk_inst *in, int slot) {
  double c;
  tk_reduction by = tk_inst_reduction(x->from);
  bool max = by == TK_R_MAX || by == TK_R_MAX_NAN;
  tk_binary op = in->op == TK_I_BINARY ? tk_binary_op(in) : TK_B_AND;
  bool fits = max ? op == TK_B_MIN || op == TK_B_MIN_NAN
                  : op == TK_B_MAX || op == TK_B_MAX_NAN;
  return fits && constant_of(x->f, slot, &c) &&
         (max ? c < x->filled : c > x->filled);
}

static bool note_bound(void *ud, const tk_at *at, const tk_inst *in) {
  bounds *x = ud;
  int slot = x->from->res[0];
  (void)at;
  for (int k = 0; k < in->nargs && !x->other; k++) {
    if (in->args[k] != slot) continue;
    x->other = !is_bound(x, in, in->args[!k]);
    x->any = true;
  }
  return !x->other;
}

bool tkc_is_bounded(tki *t, const tk_inst *in, double filled) {
  bounds x = {t->frame->func, in, filled, false, false};
  if (in->nres != 1) return false;
  tk_walk_func(x.f, &(tk_walk){.ud = &x, .inst = note_bound});
  if (!x.any || x.other) return false;
  shifts by = {in, .of = tki_scratch_zero(t, x.f->nslots + 1)};
  by.of[in->res[0]] = SHIFT_BY;
  tk_walk_func(x.f, &(tk_walk){.ud = &by, .stmt = note_other_use});
  tki_scratch_free(t, by.of);
  return !by.other;
}
