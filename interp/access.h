/* access.h - loads, stores and atomic operations as observers see them.
 *
 * An access and what it points to belong to the instruction that makes it:
 * they hold until it ends.
 */
#ifndef TK_INTERP_ACCESS_H
#define TK_INTERP_ACCESS_H

#include "interp/region.h"

/* A memory access whose active lanes have all been checked. */
typedef struct tki_access {
  tki *t;
  const tk_inst *in; /* LOAD STORE ATOMIC CAS; BARRIER, without lanes */
  const uint64_t *addr;
  const uint8_t *mask; /* NULL: all lanes */
  size_t n, size;      /* lanes, bytes of each; n is 0 when all are off */
  int32_t region;      /* or TKI_ANY: tki_region_at(t, addr[i], size) */
  bool write;
  const char *verb;
  const char *value; /* STORE ATOMIC CAS: lanes to be written; else NULL */
  size_t step;       /* bytes from one lane of value to the next, or 0 */
  size_t first, run; /* the active lanes, if known to be one stretch, or 0 */
} tki_access;

/* The memory of an access's only lane; reports what is wrong and stops. */
char *tki_access_memory(const tki_access *a);
/* The region that a lane of an access lies in. */
static inline const tki_region *tki_access_region(const tki_access *a,
                                                  size_t lane);

/* Active lanes that lie one after the other in memory. */
typedef struct tki_stretch {
  size_t lane, n; /* the first, and how many; both 0 to begin with */
  uint64_t addr;
  size_t active; /* lanes from here to there are known to be active */
} tki_stretch;
/* The next one of an access; false: there is none. */
bool tki_next_stretch(const tki_access *a, tki_stretch *x);

/* Whether a lane of a write that is about to happen changes anything: a lock
 * that is not to be had, a counter that is only looked at, do not. */
bool tki_access_changes(const tki_access *a, size_t lane);
/* Tells whoever wants to know of an access; t->wants_writes. */
void tki_tell_access(tki *t, const tki_access *a);

/* Lanes in a row of the last axis. */
static inline size_t tki_row_length(const tk_type *t) {
  return t->rank ? (size_t)t->shape[t->rank - 1] : 1;
}
/* Whether n addresses are one stretch of lanes of size bytes. */
bool tki_is_run(const uint64_t *addr, size_t n, uint64_t size);

#endif
