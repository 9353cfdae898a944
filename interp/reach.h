/* reach.h - how far the stores of each program of a batch have reached.
 *
 * A store of a batch (batch.h) is that of all its programs.  Where a kernel
 * stores to one tensor at several places, or in a loop, the programs' stores
 * thus come in another order than in the serial run, which matters if two
 * programs store to one element.  So the range of bytes that each program has
 * stored to is kept, for each such tensor: a batch whose ranges have nothing in
 * common has left what the serial run leaves.
 */
#ifndef TK_INTERP_REACH_H
#define TK_INTERP_REACH_H

#include "interp/access.h"
#include "interp/footprint.h"
#include "interp/tile.h"

typedef struct tki_reach {
  size_t programs, nregions;
  tki_run_of_bytes **of; /* by region, by program; NULL: nobody asks */
  bool lost; /* something was stored of which the region is not known */
} tki_reach;

/* Makes x one of t's regions that are known by those of the kernel's parameters
 * whose bits are set.  Throws out of memory in t's environment; x is to be
 * freed in any case. */
void tki_reach_open(tki_reach *x, const tki *t, uint64_t params,
                    size_t programs);
void tki_reach_free(tki_reach *x, tk_env *e);
/* No program has stored anything. */
void tki_reach_clear(tki_reach *x);

/* Notes what a store of all programs stores to: their lanes follow each other,
 * and are as many for each. */
void tki_reach_add_tile(tki_reach *x, int32_t region, const tki_tile *tile);
void tki_reach_add_lanes(tki_reach *x, const tki_access *a);

/* Whether no two programs can have stored to one byte.  Asked once; then x is
 * to be cleared. */
bool tki_reach_apart(tki_reach *x);

#endif
