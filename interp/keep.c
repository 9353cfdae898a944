/* keep.c - the lanes of an access that must not be touched are left out.
 *
 * Floats become NaN, pointers an address that no tensor has.  Integers become
 * numbers that are below 0, so that loops end and masks are off, and whose
 * multiples are spread over the whole range: as an index each leads far away
 * from every tensor.  What is so far away after such a load is left out without
 * a report, because it is the same bug.
 */
#include "interp/keep.h"

#include <math.h>
#include <string.h>

#include "interp/fault.h"

/* Such a pointer, and how far offsets may move it. */
static const uint64_t POISON = UINT64_C(0x7ff8) << 48;
/* The bits of 2^64 divided by the golden ratio; shorter integers have the first
 * ones. */
static const uint64_t POISON_INT = UINT64_C(0x9e3779b97f4a7c15);
static const uint64_t FAR = UINT64_C(1) << 28;
static const uint64_t POISON_REACH = UINT64_C(1) << 47;

typedef enum verdict {
  GOOD,
  POISONED,
  WILD,
  OUTSIDE,
  MISALIGNED,
  READ_ONLY,
  VERDICTS
} verdict;

static bool is_far(const tki *t, uint64_t x) {
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    if (x - (r->lo - FAR) < r->hi - r->lo + 2 * FAR) return false;
  }
  return true;
}

static verdict judge(const tki_access *a, size_t lane) {
  const tki_region *r = tki_access_region(a, lane);
  uint64_t x = a->addr[lane];
  if (x - (POISON - POISON_REACH) < 2 * POISON_REACH) return POISONED;
  bool outside = !r || x < r->lo || x >= r->hi || r->hi - x < a->size;
  if (outside && a->t->poisoned && is_far(a->t, x)) return POISONED;
  if (outside) return r ? OUTSIDE : WILD;
  if (x & (a->size - 1)) return MISALIGNED;
  return a->write && r->readonly ? READ_ONLY : GOOD;
}

static void report_lanes(const tki_access *a, verdict v, size_t lane,
                         size_t lanes) {
  switch (v) {
  case WILD: tki_fault_wild(a, lane, lanes); break;
  case OUTSIDE:
    tki_fault_outside(a, lane, tki_access_region(a, lane), lanes);
    break;
  case MISALIGNED: tki_fault_misaligned(a, lane, lanes); break;
  case READ_ONLY:
    tki_fault_read_only(a, lane, tki_access_region(a, lane), lanes);
    break;
  default: break;
  }
}

void tki_keep_going(tki_access *a) {
  size_t first[VERDICTS] = {0}, count[VERDICTS] = {0};
  uint8_t *flags = NULL; /* the lanes left out, then the new mask */
  TK_ASSERT(!a->left_out);
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    verdict v = judge(a, i);
    if (v == GOOD) continue;
    if (!flags) {
      flags = tki_scratch_zero(a->t, 2 * a->n);
      if (a->mask) memcpy(flags + a->n, a->mask, a->n);
      if (!a->mask) memset(flags + a->n, 1, a->n);
    }
    if (!count[v]++) first[v] = i;
    flags[i] = 1;
    flags[a->n + i] = 0;
  }
  if (!flags) return;
  for (int v = GOOD; v < VERDICTS; v++)
    if (count[v]) report_lanes(a, (verdict)v, first[v], count[v]);
  a->left_out = flags;
  a->mask = flags + a->n;
}

void tki_poison_lane(const tk_type *type, char *d) {
  tk_dtype elem = (tk_dtype)type->elem;
  size_t size = tk_lane_size(type);
  if (type->ptr)
    memcpy(d, &POISON, sizeof POISON);
  else if (tk_is_float(elem))
    tk_lane_set_double(elem, d, NAN);
  else if (tk_is_signed(elem) && elem != TK_INT1)
    memcpy(d, (const char *)&POISON_INT + sizeof POISON_INT - size, size);
  else
    memset(d, 0, size);
}

void tki_keep_poison(const tki_access *a, char *d) {
  for (size_t i = 0; i < a->n; i++)
    if (a->left_out[i]) tki_poison_lane(&a->in->type, d + i * a->size);
  a->t->poisoned |= !tk_is_float((tk_dtype)a->in->type.elem);
}

void tki_keep_end(tki_access *a) {
  tki_scratch_free(a->t, a->left_out);
  a->left_out = NULL;
}
