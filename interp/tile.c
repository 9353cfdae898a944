/* tile.c - loads and stores whose addresses and mask are symbolic; see tile.h.
 */
#include "interp/tile.h"

#include "interp/kernels.h"
#include "interp/schedule.h"

typedef struct tki_tile_axis axis;

/* ---- finding ------------------------------------------------------------- */

/* The box of active lanes; false: it is not known.  A mask of one lane is for
 * all, whatever the rank of the block is. */
static bool find_active_box(tki_tile *x, const tki_sym *p,
                            const tki_val *mask) {
  const uint8_t *one = mask ? tki_one_lane(mask) : NULL;
  const tki_sym *box = mask && !one ? tki_symbol(mask) : NULL;
  if (mask && !one && !box) return false;
  x->rank = tki_sym_rank(p);
  x->memory = NULL;
  for (int k = 0; k < x->rank; k++) {
    size_t n = tki_sym_axis(p, k);
    x->axis[k] = (axis){.n = n, .hi = n, .step = tki_sym_step(p, k)};
    if (!box) continue;
    x->axis[k].lo = tki_sym_lo(box, k);
    x->axis[k].hi = tki_sym_hi(box, k);
    TK_ASSERT(x->axis[k].hi <= n);
  }
  if (one && !*one) x->axis[0].hi = 0;
  return true;
}

/* Checks the corners of the active lanes, and finds the memory of the first. */
static bool check_corners(tki_tile *x, const tki_region *r, uint64_t base) {
  uint64_t odd = 0;
  for (int k = 0; k < x->rank; k++)
    base += x->axis[k].lo * (uint64_t)x->axis[k].step;
  if (base < r->lo || base > r->hi) return false;
  uint64_t below = base - r->lo, above = r->hi - base; /* bytes of the region on
                                                          each side */
  for (int k = 0; k < x->rank; k++) {
    const axis *a = &x->axis[k];
    int64_t way;
    if (a->hi - a->lo == 1) continue;
    if (__builtin_mul_overflow(a->step, (int64_t)(a->hi - a->lo - 1), &way))
      return false;
    uint64_t *left = way < 0 ? &below : &above;
    uint64_t length = way < 0 ? 0 - (uint64_t)way : (uint64_t)way;
    if (length > *left) return false;
    *left -= length;
    odd |= (uint64_t)a->step;
  }
  if (x->size > above || (base | odd) & (x->size - 1)) return false;
  TK_ASSERT(base >= r->lo && x->size <= r->hi - base);
  x->memory = r->host + (base - r->lo);
  return true;
}

/* Joins axes whose rows follow each other in memory. */
static void join_axes(tki_tile *x) {
  int last = 0;
  for (int k = 1; k < x->rank; k++) {
    axis *p = &x->axis[last], a = x->axis[k];
    bool full = a.lo == 0 && a.hi == a.n;
    if (a.n == 1) continue;
    if (p->n == 1)
      *p = a;
    else if (full && p->step == a.step * (int64_t)a.n)
      *p = (axis){p->n * a.n, p->lo * a.n, p->hi * a.n, a.step, 0};
    else
      x->axis[++last] = a;
  }
  x->rank = last + 1;
  size_t lanes = 1;
  for (; last >= 0; lanes *= x->axis[last--].n) x->axis[last].inner = lanes;
  TK_ASSERT(lanes == x->lanes); /* joining loses none */
}

bool tki_tile_of(tki_tile *x, const tki *t, const tk_inst *in, const tki_val *p,
                 const tki_val *mask) {
  const tki_sym *s = tki_symbol(p);
  if (!s || p->region == TKI_ANY || !find_active_box(x, s, mask)) return false;
  TK_ASSERT((size_t)p->region < t->nregions);
  const tki_region *r = &t->regions[p->region];
  x->size = tk_lane_size(&in->type);
  x->lanes = (size_t)in->n;
  bool empty = false;
  for (int k = 0; k < x->rank; k++) empty |= x->axis[k].lo >= x->axis[k].hi;
  if (empty) return true;
  if (in->op != TK_I_LOAD && r->readonly) return false;
  if (!check_corners(x, r, tki_sym_base(s))) return false;
  join_axes(x);
  return true;
}

/* ---- moving -------------------------------------------------------------- */

/* n lanes from memory and to memory, where they lie `step` bytes apart. */
#define MOVE_ROW(T)                                                            \
  static void gather_##T(char *d, const char *s, int64_t step, size_t n) {     \
    for (size_t i = 0; i < n; i++, s += step)                                  \
      memcpy(d + i * sizeof(T), s, sizeof(T));                                 \
  }                                                                            \
  static void scatter_##T(char *d, const char *s, int64_t step, size_t by,     \
                          size_t n) {                                          \
    for (size_t i = 0; i < n; i++, d += step, s += by)                         \
      memcpy(d, s, sizeof(T));                                                 \
  }
MOVE_ROW(uint8_t)
MOVE_ROW(uint16_t)
MOVE_ROW(uint32_t)
MOVE_ROW(uint64_t)

static void load_row(char *d, const char *s, int64_t step, size_t size,
                     size_t n) {
  if (step == (int64_t)size)
    memcpy(d, s, n * size);
  else if (!step)
    tki_fill(d, s, size, n);
  else if (size == 4)
    gather_uint32_t(d, s, step, n);
  else if (size == 2)
    gather_uint16_t(d, s, step, n);
  else if (size == 8)
    gather_uint64_t(d, s, step, n);
  else
    gather_uint8_t(d, s, step, n);
}

/* by: bytes from one lane of the value to the next, or 0. */
static void store_row(char *d, const char *s, int64_t step, size_t by,
                      size_t size, size_t n) {
  if (step == (int64_t)size && by == size)
    memcpy(d, s, n * size);
  else if (step == (int64_t)size)
    tki_fill(d, s, size, n);
  else if (size == 4)
    scatter_uint32_t(d, s, step, by, n);
  else if (size == 2)
    scatter_uint16_t(d, s, step, by, n);
  else if (size == 8)
    scatter_uint64_t(d, s, step, by, n);
  else
    scatter_uint8_t(d, s, step, by, n);
}

void tki_load_off(char *d, const tki_span *o, size_t from, size_t to,
                  size_t size) {
  if (!o->at)
    memset(d + from * size, 0, (to - from) * size);
  else if (o->step)
    memcpy(d + from * size, o->at + from * size, (to - from) * size);
  else
    tki_fill(d + from * size, o->at, size, to - from);
}

/* Whether the last axis is a row without a hole, and axis k the one before. */
static bool has_rows(const tki_tile *x, int k) {
  if (k != x->rank - 2) return false;
  const axis *row = &x->axis[k + 1];
  return row->step == (int64_t)x->size && !row->lo && row->hi == row->n;
}

/* Loads what is along an axis, and those after it, from lane `at` on; `from`
 * is the memory of the first active one. */
static void load_axis(const tki_tile *x, int k, char *d, const tki_span *other,
                      size_t at, const char *from) {
  const axis *a = &x->axis[k];
  size_t first = at + a->lo * a->inner, end = at + a->hi * a->inner;
  size_t last = at + a->n * a->inner;
  TK_ASSERT(at <= first && first <= end && end <= last && last <= x->lanes);
  if (at < first) tki_load_off(d, other, at, first, x->size);
  if (k == x->rank - 1) {
    load_row(d + first * x->size, from, a->step, x->size, end - first);
  } else if (has_rows(x, k)) {
    size_t bytes = a->inner * x->size;
    tki_copy_rows(d + first * x->size, (int64_t)bytes, from, a->step, bytes,
                  a->hi - a->lo);
  } else {
    for (at = first; at < end; at += a->inner, from += a->step)
      load_axis(x, k + 1, d, other, at, from);
  }
  if (end < last) tki_load_off(d, other, end, last, x->size);
}

static void store_axis(const tki_tile *x, int k, const tki_span *value,
                       size_t at, char *to) {
  const axis *a = &x->axis[k];
  at += a->lo * a->inner;
  TK_ASSERT(a->lo < a->hi && at < x->lanes);
  if (k == x->rank - 1)
    store_row(to, value->at + at * value->step, a->step, value->step, x->size,
              a->hi - a->lo);
  else if (has_rows(x, k) && value->step == x->size)
    tki_copy_rows(to, a->step, value->at + at * x->size,
                  (int64_t)(a->inner * x->size), a->inner * x->size,
                  a->hi - a->lo);
  else
    for (size_t i = a->lo; i < a->hi; i++, at += a->inner, to += a->step)
      store_axis(x, k + 1, value, at, to);
}

bool tki_tile_is_block(const tki_tile *x) {
  const axis *a = &x->axis[0];
  return x->memory && x->rank == 1 && !a->lo && a->hi == x->lanes &&
         a->step == (int64_t)x->size && (uintptr_t)x->memory % x->size == 0;
}

void tki_tile_load(const tki_tile *x, char *d, const tki_span *other) {
  if (x->memory)
    load_axis(x, 0, d, other, 0, x->memory);
  else
    tki_load_off(d, other, 0, x->lanes, x->size);
}

void tki_tile_store(const tki_tile *x, const tki_span *value) {
  if (x->memory) store_axis(x, 0, value, 0, x->memory);
}
