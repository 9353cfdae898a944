/* areas.h - the memory of a launch, each byte of it once.
 *
 * Tensors may share storage.  An area is a storage, or several that overlap;
 * areas stand in the order of the first tensor that lies in each.
 */
#ifndef TK_RUN_AREAS_H
#define TK_RUN_AREAS_H

#include "ir/param.h"

typedef struct tkr_area {
  const char *name; /* of its first tensor */
  char *lo, *hi;    /* in this process */
} tkr_area;

typedef TK_VEC(tkr_area) tkr_areas;

tkr_areas tkr_areas_of(const tk_launch *l, tk_arena *a);
/* The one that holds an address; every tensor's memory is in one. */
size_t tkr_area_at(const tkr_areas *x, const char *at);

#endif
