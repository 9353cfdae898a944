/* coalesce.h - the layout in which memory is best accessed through pointers of
 * which something is known (axis.h). */
#ifndef TK_NVPTX_COALESCE_H
#define TK_NVPTX_COALESCE_H

#include "nvptx/axis.h"
#include "nvptx/dist.h"

/* The axis along which addresses go up by one; x may be NULL. */
int tkv_fastest_axis(const tk_type *t, const tkv_fact *x);
tkv_dist tkv_dist_access(const tk_type *pointers, const tkv_fact *x, int warps);

#endif
