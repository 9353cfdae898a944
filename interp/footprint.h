/* footprint.h - where the programs of a thread have stored.
 *
 * Programs that cannot see each other (apart.h) may still store to the same
 * element; on threads another one of them may then come last.  Each thread
 * notes where it stored, as runs of bytes; afterwards the threads' notes are
 * compared.  Stores that follow each other in memory are one run, as those of
 * neighbouring programs mostly do.
 */
#ifndef TK_INTERP_FOOTPRINT_H
#define TK_INTERP_FOOTPRINT_H

#include "base/env.h"
#include "interp/tile.h"

typedef struct tki_run_of_bytes {
  const char *lo, *hi; /* hi: the first byte after it; NULL: there is none */
} tki_run_of_bytes;

/* Sorts runs by where they begin. */
void tki_runs_sort(tki_run_of_bytes *runs, size_t n);

typedef struct tki_footprint {
  struct tki_footprint *next; /* another thread's, to be compared with it */
  tki_run_of_bytes *runs;     /* owned */
  size_t n, cap;
  uint64_t bytes; /* that were stored */
  bool full;      /* there were too many: it does not know */
  size_t seen;    /* how many have been compared */
} tki_footprint;

/* Notes that bytes were stored; throws out of memory in e. */
void tki_footprint_add(tki_footprint *f, tk_env *e, const char *at,
                       size_t bytes);
/* The same of every active lane of a tile. */
void tki_footprint_add_tile(tki_footprint *f, tk_env *e, const tki_tile *x);
/* Whether there are many runs of a few bytes, which take long to compare. */
bool tki_footprint_is_scattered(const tki_footprint *f);
/* Sorts the runs, and makes one of those that touch.  None is added after it.
 */
void tki_footprint_settle(tki_footprint *f);
/* Whether the settled ones of a list have no byte in common; asked once. */
bool tki_footprints_apart(tki_footprint *all);
void tki_footprint_free(tki_footprint *f, tk_env *e);

#endif
