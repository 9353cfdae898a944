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
  if (t->spin) tki_spin_access(t->spin, a);
  if (t->schedule && t->schedule->writers) tki_schedule_access(t->schedule, a);
  TKI_TELL(t, access, t, a);
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

/* Most rows are one stretch, or every lane is: the ends tell. */
bool tki_next_stretch(const tki_access *a, tki_stretch *x) {
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
