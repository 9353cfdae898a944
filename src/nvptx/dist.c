/* dist.c - distributed layouts over the numbers of lanes. */
#include "nvptx/dist.h"

#include <string.h>

int tkv_log2(int64_t n) {
  TK_ASSERT(n > 0 && !(n & (n - 1)));
  return __builtin_ctzll((unsigned long long)n);
}

int tkv_axis_bits(const tk_type *t, int axis) {
  TK_ASSERT(axis >= 0 && axis < t->rank);
  return tkv_log2(t->shape[axis]);
}

int tkv_axis_low(const tk_type *t, int axis) {
  int low = 0;
  for (int i = axis + 1; i < t->rank; i++) low += tkv_axis_bits(t, i);
  return low;
}

/* ---- making -------------------------------------------------------------- */

/* The bits of a block's number, in the order in which they are handed out. */
typedef struct handing_out {
  uint32_t bit[32];
  int n, next;
} handing_out;

/* The next one, or 0 when all are taken: then what is asked for holds copies.
 */
static uint32_t next_bit(handing_out *h) {
  return h->next < h->n ? h->bit[h->next++] : 0;
}

tkv_dist tkv_dist_blocked(const tk_type *t, const int *order, int vector,
                          int warps) {
  handing_out h = {.n = 0};
  tkv_dist d = {.nwarp = tkv_log2(warps)};
  for (int i = 0; i < t->rank; i++)
    for (int k = 0; k < tkv_axis_bits(t, order[i]); k++)
      h.bit[h.n++] = (uint32_t)1 << (tkv_axis_low(t, order[i]) + k);
  for (; 1 << d.nreg < vector && h.next < h.n; d.nreg++)
    d.reg[d.nreg] = next_bit(&h);
  for (int i = 0; i < TKV_LANE_BITS; i++) d.lane[i] = next_bit(&h);
  for (int i = 0; i < d.nwarp; i++) d.warp[i] = next_bit(&h);
  while (h.next < h.n) d.reg[d.nreg++] = next_bit(&h);
  TK_ASSERT(d.nreg <= TKV_REG_BITS);
  return d;
}

tkv_dist tkv_dist_usual(const tk_type *t, int warps) {
  int order[TK_MAX_RANK];
  for (int i = 0; i < t->rank; i++) order[i] = t->rank - 1 - i;
  int64_t each = tk_numel(t) / (32 * warps);
  int vector = each >= 4 ? 4 : each >= 2 ? 2 : 1;
  return tkv_dist_blocked(t, order, vector, warps);
}

tkv_dist tkv_dist_mma(const tk_type *t, int warps, bool rows_first) {
  int columns = tkv_axis_bits(t, t->rank - 1),
      rows = tkv_axis_bits(t, t->rank - 2);
  TK_ASSERT(columns >= 3 && rows >= 4);
  uint32_t column = 1, row = (uint32_t)1 << columns;
  tkv_dist d = {.nreg = 2,
                .nwarp = tkv_log2(warps),
                .reg = {column, row << 3},
                .lane = {column << 1, column << 2, row, row << 1, row << 2}};
  int r = 4, c = 3, batch = rows + columns;
  for (int i = 0; i < d.nwarp; i++) {
    bool down = rows_first || rows - r >= columns - c - 1 || c == columns;
    d.warp[i] = r < rows && down                    ? row << r++
                : c < columns                       ? column << c++
                : (int64_t)1 << batch < tk_numel(t) ? (uint32_t)1 << batch++
                                                    : 0;
  }
  while (c < columns) d.reg[d.nreg++] = column << c++;
  while (r < rows) d.reg[d.nreg++] = row << r++;
  for (; (int64_t)1 << batch < tk_numel(t); batch++)
    d.reg[d.nreg++] = (uint32_t)1 << batch;
  TK_ASSERT(d.nreg <= TKV_REG_BITS);
  return d;
}

tkv_dist tkv_dist_warpgroups(const tk_type *t, int warps) {
  enum { GROUP_ROWS = 6 };
  int columns = tkv_axis_bits(t, 1), rows = tkv_axis_bits(t, 0), r = GROUP_ROWS;
  uint32_t column = 1, row = (uint32_t)1 << columns;
  tkv_dist d = {.nreg = 2,
                .nwarp = tkv_log2(warps),
                .reg = {column, row << 3},
                .lane = {column << 1, column << 2, row, row << 1, row << 2},
                .warp = {row << 4, row << 5}};
  TK_ASSERT(d.nwarp >= 2 && t->rank == 2 && rows >= GROUP_ROWS);
  for (int i = 2; i < d.nwarp; i++)
    d.warp[i] = r < rows ? row << r++ : column << --columns;
  TK_ASSERT(columns >= 3);
  for (int c = 3; c < columns; c++) d.reg[d.nreg++] = column << c;
  for (; r < rows; r++) d.reg[d.nreg++] = row << r;
  return d;
}

/* ---- asking -------------------------------------------------------------- */

bool tkv_dist_same(const tkv_dist *a, const tkv_dist *b) {
  return a->nreg == b->nreg && a->nwarp == b->nwarp &&
         !memcmp(a->reg, b->reg, (size_t)a->nreg * sizeof *a->reg) &&
         !memcmp(a->lane, b->lane, sizeof a->lane) &&
         !memcmp(a->warp, b->warp, (size_t)a->nwarp * sizeof *a->warp);
}

tkv_dist tkv_dist_map(const tkv_dist *a,
                      uint32_t (*map)(uint32_t, const void *), const void *ud) {
  tkv_dist d = *a;
  for (int i = 0; i < d.nreg; i++) d.reg[i] = map(d.reg[i], ud);
  for (int i = 0; i < TKV_LANE_BITS; i++) d.lane[i] = map(d.lane[i], ud);
  for (int i = 0; i < d.nwarp; i++) d.warp[i] = map(d.warp[i], ud);
  return d;
}

uint32_t tkv_row_of_left(uint32_t number, const void *bits) {
  const tkv_product_bits *p = bits;
  return number >> p->n << p->k;
}

uint32_t tkv_column_of_right(uint32_t number, const void *bits) {
  const tkv_product_bits *p = bits;
  return number & (((uint32_t)1 << p->n) - 1);
}

void tkv_dist_drop_copies(tkv_dist *a) {
  int n = 0;
  for (int i = 0; i < a->nreg; i++)
    if (a->reg[i]) a->reg[n++] = a->reg[i];
  a->nreg = n;
}

uint32_t tkv_dist_reg(const tkv_dist *a, uint32_t r) {
  uint32_t x = 0;
  TK_ASSERT(r >> a->nreg == 0);
  for (int i = 0; i < a->nreg; i++)
    if (r >> i & 1) x ^= a->reg[i];
  return x;
}

uint32_t tkv_dist_canonical(const tkv_dist *a, uint32_t r) {
  for (int i = 0; i < a->nreg; i++)
    if (!a->reg[i]) r &= ~((uint32_t)1 << i);
  return r;
}

int tkv_dist_find(const tkv_dist *a, uint32_t number) {
  uint32_t held = 0;
  int at = 0;
  for (int i = 0; i < a->nreg; i++)
    if (a->reg[i] && (number & a->reg[i]) == a->reg[i] && !(held & a->reg[i])) {
      at |= 1 << i;
      held |= a->reg[i];
    }
  return held == number ? at : -1;
}

int tkv_dist_vector(const tkv_dist *a, const tk_type *t, int axis) {
  int low = tkv_axis_low(t, axis), n = 0;
  while (n < a->nreg && n < tkv_axis_bits(t, axis) &&
         a->reg[n] == (uint32_t)1 << (low + n))
    n++;
  return 1 << n;
}

uint32_t tkv_dist_threads(const tkv_dist *a) {
  uint32_t threads = 0;
  for (int i = 0; i < TKV_LANE_BITS; i++) threads |= a->lane[i];
  for (int i = 0; i < a->nwarp; i++) threads |= a->warp[i];
  return threads;
}
