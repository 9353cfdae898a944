/* access.c - loads, stores and atomic operations as observers see them.
 */
#include "interp/access.h"

#include <string.h>

#include "interp/kernels.h"
#include "interp/schedule.h"

void tki_tell_access(tki *t, const tki_access *a) {
  TK_ASSERT(a->t == t && a->in == t->frame->inst);
  TK_ASSERT(a->region == TKI_ANY || (size_t)a->region < t->nregions);
  TK_ASSERT(a->first + a->run <= a->n);
  bool writers = t->schedule && t->schedule->writers, rows = !t->spin;
  for (tki_observer *o = t->observers; o; o = o->next)
    rows &= !o->access || o->rows;
  tki_access lanes = rows && !writers ? *a : tki_access_lanes(a);
  if (t->spin) tki_spin_access(t->spin, &lanes);
  if (writers) tki_schedule_access(t->schedule, &lanes);
  for (tki_observer *o = t->observers; o; o = o->next)
    if (o->access) o->access(o->ud, t, o->rows ? a : &lanes);
}

void tki_tell_barrier(tki *t, const tk_inst *in) {
  tki_access a = {
      .t = t, .in = in, .region = TKI_ANY, .barrier = true, .verb = "barrier"};
  if (TK_UNLIKELY(t->wants_writes)) tki_tell_access(t, &a);
}

tki_access tki_access_of(tki *t, const tk_inst *in, const tki_val *pointer,
                         const tki_val *mask) {
  tki_access a = {.t = t,
                  .in = in,
                  .pointer = pointer,
                  .active = mask,
                  .n = (size_t)in->n,
                  .size = tk_lane_size(&in->type),
                  .region = pointer->region,
                  .read = in->op != TK_I_STORE,
                  .write = in->op != TK_I_LOAD,
                  .verb = in->op == TK_I_LOAD    ? "load"
                          : in->op == TK_I_STORE ? "store"
                                                 : "atomic access"};
  if (mask && in->type.rank && tki_is_uniform(mask)) {
    if (!tki_scalar_bool(mask)) a.n = 0;
    a.active = NULL; /* one mask for the whole block */
  }
  bool symbolic = a.n && a.region != TKI_ANY && tki_symbol(pointer) &&
                  (!a.active || tki_symbol(a.active));
  return symbolic ? a : tki_access_lanes(&a);
}

tki_access tki_access_lanes(const tki_access *a) {
  tki_access x = *a;
  if (!a->pointer) return x;
  x.addr = tki_lanes(a->pointer);
  x.mask = tki_access_mask(a);
  x.pointer = x.active = NULL;
  return x;
}

bool tki_access_is_full(const tki_access *a) {
  const uint8_t *one = a->active ? tki_one_lane(a->active) : NULL;
  if (a->n != (size_t)a->in->n) return false;
  if (one) return *one;
  return !a->active && (!a->mask || !memchr(a->mask, 0, a->n));
}

static bool all_zero(const char *p, size_t n) {
  while (n && !*p) p++, n--;
  return n == 0;
}

bool tki_access_changes(const tki_access *a, size_t lane) {
  const tki_region *r = tki_access_region(a, lane);
  const char *p = r->host + (a->addr[lane] - r->lo);
  const char *v = a->value + lane * a->step;
  TK_ASSERT(a->write && a->value && lane < a->n);
  if (a->in->op == TK_I_ATOMIC && tk_atomic_op(a->in) == TK_A_ADD)
    return !all_zero(v, a->size);
  if (a->in->op == TK_I_CAS) {
    const tki_val *expected = &a->t->frame->slots[a->in->args[1]];
    if (memcmp(p, tki_lane(expected, lane, a->size), a->size) != 0)
      return false;
  }
  return memcmp(p, v, a->size) != 0;
}

bool tki_access_alters(const tki_access *a, size_t lane) {
  const tki_region *r = tki_access_region(a, lane);
  const char *p = r->host + (a->addr[lane] - r->lo);
  char x[8];
  if (!tki_access_changes(a, lane)) return false;
  if (a->in->op != TK_I_ATOMIC) return true;
  memcpy(x, p, a->size);
  tki_atomic_lane(tk_atomic_op(a->in), (tk_dtype)a->in->type.elem, x,
                  a->value + lane * a->step, a->size);
  return memcmp(p, x, a->size) != 0;
}

/* ---- stretches --------------------------------------------------------- */

TKI_CLONES bool tki_is_run(const uint64_t *addr, size_t n, uint64_t size) {
  uint64_t diff = 0, a0 = addr[0];
  for (size_t i = 0; i < n; i++) diff |= addr[i] - a0 - i * size;
  return diff == 0;
}

/* Lanes from `at` on that are active and in its row. */
static size_t active_row(const tki_access *a, tki_stretch *x, size_t at) {
  size_t row = tki_row_length(&a->in->type);
  size_t end = at - at % row + row;
  if (end > a->n) end = a->n;
  if (x->active > at) return x->active;
  const uint8_t *off = a->mask ? memchr(a->mask + at, 0, end - at) : NULL;
  return x->active = off ? (size_t)(off - a->mask) : end;
}

/* Where lane `at` of a row lies; false: the row is masked off. */
static bool find_in_row(const tki_sym *p, const tki_sym *box, size_t row,
                        size_t at, uint64_t *addr) {
  int last = tki_sym_rank(p) - 1;
  bool active = true;
  *addr = tki_sym_base(p) + at * (uint64_t)tki_sym_step(p, last);
  for (int k = last - 1; k >= 0; k--) {
    size_t n = tki_sym_axis(p, k), i = row % n;
    row /= n;
    *addr += i * (uint64_t)tki_sym_step(p, k);
    active &= !box || (i >= tki_sym_lo(box, k) && i < tki_sym_hi(box, k));
  }
  return active;
}

/* The same without lanes: every row is one stretch, or each of its lanes is. */
static bool next_symbolic(const tki_access *a, tki_stretch *x) {
  const tki_sym *p = tki_symbol(a->pointer);
  const tki_sym *box = a->active ? tki_symbol(a->active) : NULL;
  TK_ASSERT(!box || tki_sym_kind_of(box) == TKI_SYM_BOX);
  int last = tki_sym_rank(p) - 1;
  if (x->lane + x->n >= a->n) {
    x->n = 0;
    return false;
  }
  size_t n = tki_sym_axis(p, last), row = (x->lane + x->n) / n;
  size_t lo = box ? tki_sym_lo(box, last) : 0;
  size_t hi = box ? tki_sym_hi(box, last) : n;
  size_t at = x->lane + x->n - row * n;
  if (at < lo) at = lo;
  if (at >= hi) row++, at = lo;
  while (lo < hi && row * n < a->n && !find_in_row(p, box, row, at, &x->addr))
    row++, at = lo;
  bool more = lo < hi && row * n < a->n;
  x->lane = row * n + at;
  x->n = !more ? 0 : tki_sym_step(p, last) == (int64_t)a->size ? hi - at : 1;
  return more;
}

/* Most rows are one stretch, or each of their lanes is one; the first and the
 * last lane show which. */
bool tki_next_stretch(const tki_access *a, tki_stretch *x) {
  tki_poll(a->t); /* whoever asks has much to do for each stretch */
  if (a->pointer) return next_symbolic(a, x);
  size_t at = x->lane + x->n;
  if (a->run) {
    bool more = !x->n;
    *x = (tki_stretch){a->first, more ? a->run : 0, a->addr[a->first], 0};
    return more;
  }
  if (a->mask && at < a->n && !a->mask[at]) {
    const uint8_t *on = memchr(a->mask + at, 1, a->n - at);
    at = on ? (size_t)(on - a->mask) : a->n;
  }
  x->lane = at;
  x->n = 0;
  if (at >= a->n) return false;
  const uint64_t *addr = a->addr + at;
  x->addr = *addr;
  x->n = 1;
  if (at + 1 >= a->n || addr[1] != addr[0] + a->size) return true;
  size_t n = active_row(a, x, at) - at;
  if (addr[n - 1] == addr[0] + (n - 1) * a->size &&
      tki_is_run(addr, n, a->size))
    x->n = n;
  else
    while (x->n < n && addr[x->n] == addr[0] + x->n * a->size) x->n++;
  return true;
}
