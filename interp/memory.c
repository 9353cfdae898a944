/* memory.c - loads, stores and atomics, every lane checked.
 *
 * Symbolic addresses are a tile (tile.h), as long as nobody wants to be told
 * of each lane.  Any other block of addresses is handled row by row along its
 * last axis.  A row that is contiguous is checked by its ends and copied as a
 * whole; any other is checked and moved lane by lane.  A lane whose mask is 0
 * is never looked at.  Nothing outside a region is ever touched: the first bad
 * lane ends the run with a report that says which element was meant, or is left
 * out of the access if the run goes on (keep.h).
 */
#include <string.h>

#include "interp/bind.h"
#include "interp/fault.h"
#include "interp/footprint.h"
#include "interp/keep.h"
#include "interp/kernels.h"
#include "interp/lanes.h"
#include "interp/reach.h"
#include "interp/tile.h"

/* ---- checks ------------------------------------------------------------ */

static size_t count_outside(const tki_access *a, const tki_region *r) {
  size_t bad = 0;
  for (size_t i = 0; i < a->n; i++) {
    uint64_t x = a->addr[i];
    if (!a->mask || a->mask[i])
      bad += x < r->lo || x >= r->hi || r->hi - x < a->size;
  }
  return bad;
}

/* Reports a lane that must not be touched, and ends the run; r: the region of
 * its pointer, or NULL. */
TK_NORETURN static void stop_at(const tki_access *a, size_t lane,
                                const tki_region *r) {
  uint64_t x = a->addr[lane];
  a->t->keeper = NULL;
  if (!r)
    tki_fault_wild(a, lane, 1);
  else if (x < r->lo || x >= r->hi || r->hi - x < a->size)
    tki_fault_outside(a, lane, r, count_outside(a, r));
  else if (x & (a->size - 1))
    tki_fault_misaligned(a, lane, 1);
  else
    tki_fault_read_only(a, lane, r, 1);
  a->t->bad_lane = lane + 1;
  tki_stop(a->t);
}

static const tki_region *home(const tki_access *a, size_t lane) {
  if (a->region != TKI_ANY) return &a->t->regions[a->region];
  const tki_region *r = tki_region_at(a->t, a->addr[lane], a->size);
  if (!r) stop_at(a, lane, NULL);
  return r;
}

/* Checks a lane's address and returns its memory in this process. */
static inline char *check_lane(const tki_access *a, size_t lane) {
  const tki_region *r = home(a, lane);
  uint64_t x = a->addr[lane];
  if (TK_UNLIKELY(x < r->lo || x >= r->hi || r->hi - x < a->size ||
                  x & (a->size - 1) || (a->write && r->readonly)))
    stop_at(a, lane, r);
  TK_ASSERT(x - r->lo <= r->hi - r->lo - a->size);
  return r->host + (x - r->lo);
}

char *tki_access_memory(const tki_access *a) {
  return check_lane(a, 0);
}

/* Checks the lanes first .. last, which are contiguous, and returns their
 * memory; NULL: one of them must not be accessed. */
static char *check_run(const tki_access *a, size_t first, size_t last) {
  const tki_region *r = home(a, first);
  uint64_t lo = a->addr[first], hi = a->addr[last] + a->size;
  if (lo < r->lo || hi > r->hi || hi < lo || (lo & (a->size - 1)) ||
      (a->write && r->readonly))
    return NULL;
  TK_ASSERT(hi - lo == (last - first + 1) * a->size);
  return r->host + (lo - r->lo);
}

/* Whether n lanes lie where their first byte may: in `room` bytes from lo on,
 * and aligned, as far as they are active. */
TKI_CLONES static bool lanes_lie(const uint64_t *addr, const uint8_t *mask,
                                 size_t n, uint64_t lo, uint64_t room,
                                 uint64_t low_bits) {
  uint64_t bad = 0;
  if (!mask)
    for (size_t i = 0; i < n; i++)
      bad |= (uint64_t)(addr[i] - lo > room) | (addr[i] & low_bits);
  else
    for (size_t i = 0; i < n; i++)
      bad |= ((uint64_t)(addr[i] - lo > room) | (addr[i] & low_bits)) &
             (0 - (uint64_t)(mask[i] != 0));
  return !bad;
}

/* Returns the region of n lanes that may all be accessed; NULL: look at each.
 */
static const tki_region *region_of_lanes(const tki_access *a, size_t at,
                                         size_t n) {
  if (a->region == TKI_ANY) return NULL;
  const tki_region *r = &a->t->regions[a->region];
  if (r->hi - r->lo < a->size || (a->write && r->readonly)) return NULL;
  const uint8_t *mask = a->mask ? a->mask + at : NULL;
  return lanes_lie(a->addr + at, mask, n, r->lo, r->hi - r->lo - a->size,
                   a->size - 1)
             ? r
             : NULL;
}

/* The memory of an active lane; r: as region_of_lanes returned it. */
static inline char *lane_memory(const tki_access *a, const tki_region *r,
                                size_t lane) {
  return r ? r->host + (a->addr[lane] - r->lo) : check_lane(a, lane);
}

/* FN for lanes of each size, so that none is copied by a call. */
#define BY_SIZE(size, FN, ...)                                                 \
  switch (size) {                                                              \
  case 1: FN(__VA_ARGS__, 1); break;                                           \
  case 2: FN(__VA_ARGS__, 2); break;                                           \
  case 4: FN(__VA_ARGS__, 4); break;                                           \
  default: TK_ASSERT((size) == 8); FN(__VA_ARGS__, 8);                         \
  }

/* Active lanes of a row: how many, and the first and last. */
typedef struct active {
  size_t count, first, last;
} active;

TKI_CLONES static size_t count_active(const uint8_t *m, size_t n) {
  size_t c = 0;
  for (size_t i = 0; i < n; i++) c += m[i];
  return c;
}

static active find_active(const uint8_t *m, size_t n) {
  if (!m) return (active){n, 0, n - 1};
  active a = {count_active(m, n), 0, n};
  if (!a.count) return a;
  while (!m[a.first]) a.first++;
  while (!m[--a.last])
    ;
  return a;
}

/* ---- loads ------------------------------------------------------------- */

/* A lane that is masked off gets the lane of `o`, or 0 if there is no other=;
 * the detectors then take it for undefined. */
static inline void load_off(char *d, const tki_span *o, size_t i, size_t size) {
  if (o->at)
    memcpy(d, o->at + i * o->step, size);
  else
    memset(d, 0, size);
}

static inline void load_each(const tki_access *a, char *d, const tki_span *o,
                             size_t at, size_t n, size_t size) {
  const tki_region *r = region_of_lanes(a, at, n);
  for (size_t i = at; i < at + n; i++) {
    if (a->mask && !a->mask[i])
      load_off(d + i * size, o, i, size);
    else
      memcpy(d + i * size, lane_memory(a, r, i), size);
  }
}

static void load_lanes(const tki_access *a, char *d, const tki_span *o,
                       size_t at, size_t n) {
  BY_SIZE(a->size, load_each, a, d, o, at, n)
}

/* Keeps the contiguous lanes of a row if the row is the whole access. */
static void note_run(tki_access *a, size_t first, size_t run, size_t row) {
  TK_ASSERT(run > 0 && first + run <= a->n);
  if (row != a->n) return;
  a->first = first;
  a->run = run;
}

/* Loads a row: as one piece if its active lanes are contiguous, else by lanes.
 */
static void load_row(tki_access *a, char *d, const tki_span *o, size_t at,
                     size_t n) {
  active v = find_active(a->mask ? a->mask + at : NULL, n);
  if (!v.count) {
    tki_load_off(d, o, at, at + n, a->size);
    return;
  }
  size_t run = v.last - v.first + 1, lo = at + v.first;
  TK_ASSERT(v.last < n && v.count <= run);
  char *p = run == v.count && tki_is_run(a->addr + lo, run, a->size)
                ? check_run(a, lo, lo + run - 1)
                : NULL;
  if (!p) {
    load_lanes(a, d, o, at, n);
    return;
  }
  note_run(a, lo, run, n);
  memcpy(d + lo * a->size, p, run * a->size);
  if (v.first) tki_load_off(d, o, at, lo, a->size);
  if (lo + run < at + n) tki_load_off(d, o, lo + run, at + n, a->size);
}

static void bool_lanes(uint8_t *d, size_t n) {
  for (size_t i = 0; i < n; i++) d[i] = d[i] != 0;
}

/* The access of an instruction whose addresses are not a tile; mask may be
 * NULL. */
static tki_access access_by_lanes(tki *t, const tk_inst *in,
                                  const tki_val *frame, const tki_val *mask) {
  tki_access a = tki_access_of(t, in, &frame[in->args[0]], mask);
  return tki_access_lanes(&a);
}

static const tki_val *operand_or_null(const tk_inst *in, const tki_val *frame,
                                      int arg) {
  return arg < 0 ? NULL : &frame[in->args[arg]];
}

/* Whether any bits in memory are a lane. */
static bool is_plain_lane(const tk_type *type) {
  return type->elem != TK_INT1 && !type->ptr;
}

void tki_run_LOAD(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  size_t n = (size_t)in->n, row = tki_row_length(&in->type);
  const tki_val *mask = operand_or_null(in, frame, tk_load_mask(in));
  const tki_val *other = operand_or_null(in, frame, tk_load_other(in));
  tki_span o = {NULL, 0};
  if (other) o = tki_span_of(other, tk_lane_size(&in->type));
  tki_tile tile;
  bool told = t->wants_loads || t->spin;
  tki_val v;
  char *d;
  if (tki_tile_of(&tile, t, in, &frame[in->args[0]], mask)) {
    if (t->lends && in->type.rank && is_plain_lane(&in->type) &&
        tki_tile_is_block(&tile)) {
      v = tki_lend(t, tile.memory, n * tile.size);
      tki_set(t, &frame[in->res[0]], v);
      return;
    }
    v = tki_result(t, in, frame, 0);
    d = tki_writable(&v);
    tki_tile_load(&tile, d, &o);
    if (TK_UNLIKELY(told)) {
      tki_access a = tki_access_of(t, in, &frame[in->args[0]], mask);
      tki_tell_access(t, &a);
    }
  } else {
    tki_access a = access_by_lanes(t, in, frame, mask);
    v = tki_result(t, in, frame, 0);
    d = tki_writable(&v);
    if (TK_UNLIKELY(tki_load_left_out(&a))) a.n = 0;
    if (TK_UNLIKELY(t->keeper != NULL)) tki_keep_going(&a);
    if (!a.n) tki_load_off(d, &o, 0, n, a.size);
    for (size_t at = 0; at < a.n; at += row) load_row(&a, d, &o, at, row);
    if (TK_UNLIKELY(a.left_out != NULL)) tki_keep_poison(&a, d);
    if (TK_UNLIKELY(told)) tki_tell_access(t, &a);
    if (TK_UNLIKELY(a.left_out != NULL)) tki_keep_end(&a);
  }
  if (in->type.elem == TK_INT1 && !in->type.ptr) bool_lanes((uint8_t *)d, n);
  tki_set(t, &frame[in->res[0]], v);
}

/* ---- stores ------------------------------------------------------------ */

static inline void store_each(const tki_access *a, const char *s, size_t step,
                              size_t at, size_t n, size_t size) {
  const tki_region *r = region_of_lanes(a, at, n);
  for (size_t i = at; i < at + n; i++)
    if (!a->mask || a->mask[i])
      memcpy(lane_memory(a, r, i), s + i * step, size);
}

/* Stores a row: as one piece if its active lanes are contiguous, else by lanes.
 */
static void store_row(const tki_access *a, const char *s, size_t step,
                      size_t at, size_t n) {
  char *whole =
      a->run && step ? check_run(a, a->first, a->first + a->run - 1) : NULL;
  if (whole) {
    memcpy(whole, s + a->first * a->size, a->run * a->size);
    return;
  }
  active v = find_active(a->mask ? a->mask + at : NULL, n);
  size_t run = v.last - v.first + 1, lo = at + v.first;
  if (!v.count) return;
  char *p = run == v.count && step && tki_is_run(a->addr + lo, run, a->size)
                ? check_run(a, lo, lo + run - 1)
                : NULL;
  if (p) {
    memcpy(p, s + lo * a->size, run * a->size);
    return;
  }
  BY_SIZE(a->size, store_each, a, s, step, at, n)
}

/* What store_row stores. */
static void note_stored_row(const tki_access *a, size_t at, size_t n) {
  tki_footprint *f = a->t->stored;
  const uint8_t *mask = a->mask ? a->mask + at : NULL;
  active v = find_active(mask, n);
  size_t run = v.last - v.first + 1, lo = at + v.first;
  if (!v.count) return;
  if (run == v.count && tki_is_run(a->addr + lo, run, a->size)) {
    const tki_region *r = home(a, lo);
    tki_footprint_add(f, a->t->env, r->host + (a->addr[lo] - r->lo),
                      run * a->size);
    return;
  }
  for (size_t i = at; i < at + n && !f->full; i++)
    if (!a->mask || a->mask[i])
      tki_footprint_add(f, a->t->env, check_lane(a, i), a->size);
}

/* Every lane is checked before the first is written, so that a finding
 * leaves memory as it was. */
static void check_all(tki_access *a) {
  size_t row = tki_row_length(&a->in->type);
  for (size_t at = 0; at < a->n; at += row) {
    active v = find_active(a->mask ? a->mask + at : NULL, row);
    if (!v.count) continue;
    size_t lo = at + v.first, run = v.last - v.first + 1;
    bool ok = run == v.count && tki_is_run(a->addr + lo, run, a->size) &&
              check_run(a, lo, lo + run - 1);
    if (ok) note_run(a, lo, run, row);
    ok = ok || region_of_lanes(a, at, row);
    for (size_t i = at; !ok && i < at + row; i++)
      if (!a->mask || a->mask[i]) check_lane(a, i);
  }
}

static void give_value(tki_access *a, const tki_val *x) {
  tki_span s = tki_span_of(x, a->size);
  a->value = s.at;
  a->step = s.step;
}

/* What an atomic access gives for lanes that must not be touched. */
static void end_atomic(tki_access *a, char *d) {
  if (TK_LIKELY(!a->left_out)) return;
  tki_keep_poison(a, d);
  tki_keep_end(a);
}

/* An atomic access changes one lane after the other, so that all lanes are
 * checked, and whoever watches is told, before the first one.  Those of a draft
 * are checked as well: its programs run again if one fails. */
static void announce(tki *t, tki_access *a) {
  if (TK_UNLIKELY(t->keeper != NULL)) tki_keep_going(a);
  if (t->wants_writes || t->draft) check_all(a);
  if (TK_UNLIKELY(t->wants_writes)) tki_tell_access(t, a);
}

void tki_run_STORE(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *x = frame + in->args[1];
  const tki_val *mask = operand_or_null(in, frame, tk_store_mask(in));
  tki_tile tile;
  if (tki_tile_of(&tile, t, in, &frame[in->args[0]], mask)) {
    tki_span value = tki_span_of(x, tile.size);
    if (TK_UNLIKELY(t->wants_writes)) {
      tki_access a = tki_access_of(t, in, &frame[in->args[0]], mask);
      give_value(&a, x);
      tki_tell_access(t, &a);
    }
    tki_tile_store(&tile, &value);
    if (t->stored) tki_footprint_add_tile(t->stored, t->env, &tile);
    if (t->reach)
      tki_reach_add_tile(t->reach, frame[in->args[0]].region, &tile);
    return;
  }
  tki_access a = access_by_lanes(t, in, frame, mask);
  size_t row = tki_row_length(&in->type);
  give_value(&a, x);
  if (TK_UNLIKELY(t->keeper != NULL)) tki_keep_going(&a);
  if (row < a.n || t->wants_writes) check_all(&a);
  if (TK_UNLIKELY(t->wants_writes)) tki_tell_access(t, &a);
  for (size_t at = 0; at < a.n; at += row)
    store_row(&a, a.value, a.step, at, row);
  for (size_t at = 0; t->stored && at < a.n; at += row)
    note_stored_row(&a, at, row);
  if (t->reach) tki_reach_add_lanes(t->reach, &a);
  if (TK_UNLIKELY(a.left_out != NULL)) tki_keep_end(&a);
}

/* ---- atomics ----------------------------------------------------------- */

/* Additions of the types that counters and sums have, by one thread. */
#define ADDITIONS(T)                                                           \
  static void atomic_add_##T(const tki_access *a, T *d) {                      \
    const tki_region *r = region_of_lanes(a, 0, a->n);                         \
    for (size_t i = 0; i < a->n; i++) {                                        \
      T x, sum;                                                                \
      d[i] = 0;                                                                \
      if (a->mask && !a->mask[i]) continue;                                    \
      char *p = lane_memory(a, r, i);                                          \
      memcpy(&d[i], p, sizeof x);                                              \
      memcpy(&x, a->value + i * a->step, sizeof x);                            \
      sum = d[i] + x;                                                          \
      memcpy(p, &sum, sizeof sum);                                             \
    }                                                                          \
  }
ADDITIONS(uint32_t)
ADDITIONS(uint64_t)
ADDITIONS(float)

/* Does the whole access if it is such an addition, and returns whether it
 * was. */
static bool add_quickly(const tki_access *a, void *d) {
  if (a->t->turn || tk_atomic_op(a->in) != TK_A_ADD) return false;
  switch ((tk_dtype)a->in->type.elem) {
  case TK_INT32:
  case TK_UINT32: atomic_add_uint32_t(a, d); return true;
  case TK_INT64:
  case TK_UINT64: atomic_add_uint64_t(a, d); return true;
  case TK_FP32: atomic_add_float(a, d); return true;
  default: return false;
  }
}

void tki_run_ATOMIC(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *x = frame + in->args[1];
  const tki_val *mask = operand_or_null(in, frame, tk_atomic_mask(in));
  tki_access a = access_by_lanes(t, in, frame, mask);
  tki_val v = tki_result(t, in, frame, 0);
  char *d = tki_writable(&v);
  give_value(&a, x);
  announce(t, &a);
  if (a.n < (size_t)in->n) memset(d, 0, (size_t)in->n * a.size);
  bool done = add_quickly(&a, d);
  for (size_t i = 0; !done && i < a.n; i++, d += a.size) {
    if (i % TKI_BATCH == 0) tki_poll(t);
    if (a.mask && !a.mask[i]) {
      memset(d, 0, a.size);
      continue;
    }
    char *p = check_lane(&a, i);
    tki_lock(t);
    memcpy(d, p, a.size);
    tki_atomic_lane(tk_atomic_op(in), (tk_dtype)in->type.elem, p,
                    a.value + i * a.step, a.size);
    tki_unlock(t);
  }
  end_atomic(&a, tki_writable(&v));
  tki_set(t, &frame[in->res[0]], v);
}

/* The result of a compare-and-swap of no lanes. */
static void copy_expected(const tki_access *a, tki_span expected, char *d) {
  for (int64_t i = 0; i < a->in->n; i++)
    memcpy(d + (size_t)i * a->size, expected.at + (size_t)i * expected.step,
           a->size);
}

void tki_run_CAS(tki *t, const tki_op *op, tki_val *frame) {
  const tk_inst *in = op->in;
  tki_val *c = frame + in->args[1], *x = frame + in->args[2];
  const tki_val *mask = operand_or_null(in, frame, tk_atomic_cas_mask(in));
  tki_access a = access_by_lanes(t, in, frame, mask);
  tki_val v = tki_result(t, in, frame, 0);
  char *d = tki_writable(&v);
  tki_span expected = tki_span_of(c, a.size);
  if (mask) copy_expected(&a, expected, d);
  give_value(&a, x);
  announce(t, &a);
  for (size_t i = 0; i < a.n; i++, d += a.size) {
    if (i % TKI_BATCH == 0) tki_poll(t);
    if (a.mask && !a.mask[i]) continue; /* it is left out */
    char *p = check_lane(&a, i);
    tki_lock(t);
    memcpy(d, p, a.size);
    if (!memcmp(p, expected.at + i * expected.step, a.size))
      memcpy(p, a.value + i * a.step, a.size);
    tki_unlock(t);
  }
  end_atomic(&a, tki_writable(&v));
  tki_set(t, &frame[in->res[0]], v);
}

void tki_run_BARRIER(tki *t, const tki_op *op, tki_val *frame) {
  (void)frame;
  tki_tell_barrier(t, op->in);
}
