/* region.h - memory that a launch's programs may touch.
 *
 * One region for each tensor of the launch, in the order of its arguments;
 * they belong to the run, the memory to whoever lent the tensors.
 */
#ifndef TK_INTERP_REGION_H
#define TK_INTERP_REGION_H

#include "interp/value.h"
#include "launch/areas.h"

typedef tk_memory tki_region;

/* Makes the regions of t->launch's arguments. */
void tki_regions_new(tki *t);
void tki_regions_free(tki *t);

/* The first region that holds size bytes at a device address; NULL: none. */
const tki_region *tki_region_at(const tki *t, uint64_t addr, size_t size);

#endif
