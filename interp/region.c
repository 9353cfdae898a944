/* region.c - memory that a launch's programs may touch: one region for each
 * tensor of the launch.
 */
#include "interp/interp.h"

void tki_regions_new(tki *t) {
  tk_launch *l = t->launch;
  size_t n = l->nargs + l->extras.n;
  t->regions = tk_calloc(t->env, n + 1, sizeof *t->regions);
  t->nregions = n;
  for (size_t i = 0; i < n; i++) {
    bool there = tk_memory_at(l, i, &t->regions[i]);
    TK_ASSERT(there); /* arguments and extras are what it counts */
    (void)there;
  }
}

void tki_regions_free(tki *t) {
  tk_free(t->env, t->regions, (t->nregions + 1) * sizeof *t->regions);
}

const tki_region *tki_region_at(const tki *t, uint64_t a, size_t size) {
  for (size_t i = 0; i < t->nregions; i++) {
    const tki_region *r = &t->regions[i];
    if (a >= r->lo && a < r->hi && r->hi - a >= size) return r;
  }
  return NULL;
}
