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
  const tk_inst *in; /* LOAD STORE ATOMIC CAS ASM, or BARRIER */
  const uint64_t *addr;
  const uint8_t *mask; /* NULL: all lanes */
  size_t n, size;      /* lanes (0: all are masked off), and bytes of each */
  int32_t region;      /* that all lanes lie in; TKI_ANY: each lane has its own,
                          tki_region_at(t, addr[i], size) */
  bool read, write;    /* an atomic operation does both */
  bool barrier;        /* the threads of the program wait for each other, and
                          there are no lanes */
  const char *verb;
  const char *value; /* STORE, ATOMIC, CAS: lanes to be written; else NULL */
  size_t step;       /* bytes from one lane of value to the next; 0: one lane
                        stands for all */
  size_t first, run; /* the first active lane and their number, if they are
                        known to be one stretch; else 0 */
  /* The operands, symbolic blocks, in place of addr and mask, which are NULL;
   * active is NULL if all lanes are.  Not NULL only for observers that go by
   * rows. */
  const tki_val *pointer, *active;
  uint8_t *left_out; /* by lane: it must not be touched, and the run goes on
                        without it (keep.h), so that mask is 0; NULL: none */
} tki_access;

/* The access of an instruction by its addresses and mask, which may be NULL. */
tki_access tki_access_of(tki *t, const tk_inst *in, const tki_val *pointer,
                         const tki_val *mask);
/* The same access by lanes, with addr and mask. */
tki_access tki_access_lanes(const tki_access *a);
/* Its mask by lanes; NULL: all lanes. */
static inline const uint8_t *tki_access_mask(const tki_access *a) {
  return a->active ? tki_lanes(a->active) : a->mask;
}
/* Whether no lane is masked off. */
bool tki_access_is_full(const tki_access *a);

/* Tells observers of accesses that the threads of the program wait for each
 * other. */
void tki_tell_barrier(tki *t, const tk_inst *in);

/* The memory of an access's only lane; reports what is wrong and stops. */
char *tki_access_memory(const tki_access *a);
/* The region that a lane of an access lies in. */
static inline const tki_region *tki_access_region(const tki_access *a,
                                                  size_t lane);

/* Active lanes that lie one after the other in memory. */
typedef struct tki_stretch {
  size_t lane, n; /* the first lane, and how many; both 0 at the beginning */
  uint64_t addr;
  size_t active; /* lanes from here to there are known to be active */
} tki_stretch;
/* Moves on to the next stretch of an access; returns false after the last. */
bool tki_next_stretch(const tki_access *a, tki_stretch *x);

/* Makes of a lane in memory what an atomic operation leaves there. */
void tki_atomic_lane(tk_atomic mode, tk_dtype d, char *p, const char *v,
                     size_t size);
/* Whether a lane of a write that is about to happen changes anything.  An
 * atomic operation that finds a lock taken, or that only reads a counter by
 * adding 0, does not. */
bool tki_access_changes(const tki_access *a, size_t lane);
/* The same to the bit: a maximum that is smaller than what is there changes
 * nothing, but may still order other accesses. */
bool tki_access_alters(const tki_access *a, size_t lane);
/* Tells observers of an access, those that asked for it; called if
 * t->wants_writes or t->wants_loads is set. */
void tki_tell_access(tki *t, const tki_access *a);

/* Lanes in a row of the last axis. */
static inline size_t tki_row_length(const tk_type *t) {
  return t->rank ? (size_t)t->shape[t->rank - 1] : 1;
}
/* Whether n addresses are one stretch of lanes of size bytes. */
bool tki_is_run(const uint64_t *addr, size_t n, uint64_t size);

#endif
