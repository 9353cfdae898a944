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
