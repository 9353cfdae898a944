/* region.c - memory that a launch's programs may touch: one region for each
 * tensor of the launch.
 */
#include "interp/interp.h"

/* Gives where a view begins and ends, relative to its data, when nothing is
 * known of its storage. */
static void view_bounds(const tk_tensor *x, int64_t *lo, int64_t *hi) {
  int64_t size = (int64_t)tk_dtype_size(x->dtype);
  *lo = 0;
  *hi = size;
  for (int i = 0; i < x->rank; i++) {
    int64_t far = (x->shape[i] - 1) * x->strides[i] * size;
    if (x->shape[i] == 0) *hi = *lo = 0;
    if (x->shape[i] == 0) return;
    if (far < 0)
      *lo += far;
    else
      *hi += far;
  }
}

static tki_region region_of(const char *name, const tk_tensor *x) {
  tki_region r = {
      .name = name, .tensor = x, .readonly = x->flags & TK_TENSOR_READONLY};
  uint64_t base =
      x->device_address ? x->device_address : (uint64_t)(uintptr_t)x->data;
  int64_t lo, hi;
  view_bounds(x, &lo, &hi);
  if (x->storage) {
    lo = (int64_t)((char *)x->storage - (char *)x->data);
    hi = lo + (int64_t)x->storage_bytes;
  }
  r.lo = base + (uint64_t)lo;
  r.hi = base + (uint64_t)hi;
  r.host = (char *)x->data + lo;
  TK_ASSERT(lo <= hi && r.lo <= r.hi);
  return r;
}

void tki_regions_new(tki *t) {
  tk_launch *l = t->launch;
  size_t n = l->nargs + l->extras.n;
  t->regions = tk_calloc(t->env, n + 1, sizeof *t->regions);
  t->nregions = n;
  for (size_t i = 0; i < n; i++) {
    tk_arg *a = i < l->nargs ? &l->args[i] : &l->extras.items[i - l->nargs];
    if (a->kind == TK_ARG_TENSOR)
      t->regions[i] = region_of(a->name, &a->tensor);
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
