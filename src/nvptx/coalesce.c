/* coalesce.c - the layout in which memory is best accessed. */
#include "nvptx/coalesce.h"

/* The axis along which addresses go up by one. */
int tkv_fastest_axis(const tk_type *t, const tkv_fact *x) {
  int best = t->rank - 1;
  for (int i = t->rank - 1; i >= 0 && x && x->known; i--)
    if (x->contiguity[i] > x->contiguity[best]) best = i;
  return best;
}

/* The alignment decides how wide an access is, but not the layout, so that
 * blocks which are accessed in the same way share one. */
tkv_dist tkv_dist_access(const tk_type *pointers, const tkv_fact *x,
                         int warps) {
  tk_type to = tk_pointee(*pointers);
  int order[TK_MAX_RANK], n = 1;
  order[0] = tkv_fastest_axis(pointers, x);
  for (int i = pointers->rank - 1; i >= 0; i--)
    if (i != order[0]) order[n++] = i;
  int64_t each = tk_numel(pointers) / (32 * warps),
          most = 16 / (int64_t)tk_lane_size(&to), vector = 1;
  if (x && x->known) vector = x->contiguity[order[0]];
  if (vector > most) vector = most;
  if (vector > each) vector = each < 1 ? 1 : each;
  return tkv_dist_blocked(pointers, order, (int)vector, warps);
}
