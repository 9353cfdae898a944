/* reach.c - how far the stores of programs have reached; see reach.h. */
#include "interp/reach.h"

#include "ir/param.h"
#include "launch/areas.h"

void tki_reach_open(tki_reach *x, const tki *t, uint64_t params,
                    size_t programs) {
  *x = (tki_reach){.programs = programs};
  x->of = tk_calloc(t->env, t->nregions + 1, sizeof *x->of);
  x->nregions = t->nregions;
  for (size_t i = 0; i < t->program->nparams; i++) {
    tk_param_value v = tk_param_of(t->launch, &t->program->params[i]);
    if (!(params >> i & 1) || !v.tensor || x->of[v.index]) continue;
    x->of[v.index] = tk_calloc(t->env, programs, sizeof **x->of);
  }
}

void tki_reach_free(tki_reach *x, tk_env *e) {
  for (size_t i = 0; i < x->nregions; i++)
    if (x->of[i]) tk_free(e, x->of[i], x->programs * sizeof **x->of);
  if (x->of) tk_free(e, x->of, (x->nregions + 1) * sizeof *x->of);
  *x = (tki_reach){0};
}

void tki_reach_clear(tki_reach *x) {
  x->lost = false;
  for (size_t i = 0; i < x->nregions; i++)
    if (x->of[i]) memset(x->of[i], 0, x->programs * sizeof **x->of);
}

/* The ranges of a region's programs; NULL: there are none to be kept. */
static tki_run_of_bytes *runs_of(tki_reach *x, int32_t region) {
  x->lost |= region == TKI_ANY;
  return region == TKI_ANY ? NULL : x->of[region];
}

static void reach_to(tki_run_of_bytes *s, const char *lo, const char *hi) {
  if (!s->lo || lo < s->lo) s->lo = lo;
  if (!s->hi || hi > s->hi) s->hi = hi;
}

/* Axes that can be gone through as one are one in a tile, so that its first
 * axis has `each` indices for each program. */
void tki_reach_add_tile(tki_reach *x, int32_t region, const tki_tile *tile) {
  const struct tki_tile_axis *first = &tile->axis[0];
  tki_run_of_bytes *all = runs_of(x, region);
  int64_t below = 0, above = (int64_t)tile->size;
  if (!all || !tile->memory) return;
  for (int k = 1; k < tile->rank; k++) {
    const struct tki_tile_axis *a = &tile->axis[k];
    int64_t way = a->step * (int64_t)(a->hi - a->lo - 1);
    *(way < 0 ? &below : &above) += way;
  }
  size_t each = tile->lanes / x->programs / first->inner;
  TK_ASSERT(each && each * first->inner * x->programs == tile->lanes);
  for (size_t i = 0; i < x->programs; i++) {
    size_t from = i * each, to = from + each;
    if (from < first->lo) from = first->lo;
    if (to > first->hi) to = first->hi;
    if (from >= to) continue;
    const char *p = tile->memory + (int64_t)(from - first->lo) * first->step;
    int64_t way = (int64_t)(to - from - 1) * first->step;
    reach_to(&all[i], p + below + (way < 0 ? way : 0),
             p + above + (way > 0 ? way : 0));
  }
}

void tki_reach_add_lanes(tki_reach *x, const tki_access *a) {
  tki_run_of_bytes *all = a->n ? runs_of(x, a->region) : NULL;
  if (!all) return;
  const tki_region *r = &a->t->regions[a->region];
  size_t each = a->n / x->programs;
  TK_ASSERT(each * x->programs == a->n);
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const char *p = r->host + (a->addr[i] - r->lo);
    reach_to(&all[i / each], p, p + a->size);
  }
}

/* Neighbours mostly store one after the other. */
static bool are_apart(tki_run_of_bytes *s, size_t n) {
  size_t i = 1;
  while (i < n && s[i - 1].hi <= s[i].lo) i++;
  if (i >= n) return true;
  tki_runs_sort(s, n);
  for (i = 1; i < n; i++)
    if (s[i - 1].hi > s[i].lo) return false;
  return true;
}

bool tki_reach_apart(tki_reach *x) {
  if (x->lost) return false;
  for (size_t i = 0; i < x->nregions; i++)
    if (x->of[i] && !are_apart(x->of[i], x->programs)) return false;
  return true;
}
