/* access_log.c - every access of a run.
 */
#include "interp/explain/access_log.h"

#include "interp/grid.h"
#include "interp/site.h"

void tke_access_log_begin(tke_access_log *g, tk_arena *a) {
  *g = (tke_access_log){.arena = a};
}

/* The index of the site of an access to a region, which may be NULL. */
static size_t log_site(tke_access_log *g, tki *t, const tki_access *a,
                       const tki_region *r) {
  uint32_t id = tki_site(t);
  for (size_t i = 0; i < g->sites.n; i++)
    if (g->sites.items[i].id == id && g->sites.items[i].region == r) return i;
  const tki_site_info *s = tki_site_at(t, id);
  tke_log_site x = {.id = id, .region = r};
  x.site = (tk_access_site){.verb = tk_arena_strdup(g->arena, a->verb),
                            .writes = a->write};
  if (r) x.site.tensor = tk_arena_strdup(g->arena, r->name);
  if (s) x.site.place = tk_place_of(s->func->src, s->inst->span);
  TK_PUSH(g->arena, &g->sites, x);
  return g->sites.n - 1;
}

/* Adds the elements that a lane covers, as numbers from the first element of
 * the tensor's view on. */
static void log_lane(tke_access_log *g, const tki_region *r, uint64_t addr,
                     size_t size) {
  int64_t width = (int64_t)tk_dtype_size(r->tensor->dtype);
  int64_t view = (int64_t)r->lo + ((char *)r->tensor->data - r->host);
  int64_t first = (int64_t)addr - view;
  int64_t last = first + (int64_t)size - 1;
  TK_ASSERT(size && addr >= r->lo && addr + size <= r->hi); /* it was checked */
  for (int64_t e = first / width; e <= last / width; e++)
    TK_PUSH(g->arena, &g->elements, e);
}

/* Adds the active lanes from `from` on, as long as they lie in one region;
 * returns the first lane that does not. */
static size_t log_region(tke_access_log *g, tki *t, const tki_access *a,
                         size_t from) {
  const tki_region *r = NULL;
  size_t i = from;
  tk_logged_access x = {.first = g->elements.n};
  for (; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const tki_region *mine = tki_access_region(a, i);
    if (r && mine != r) break;
    r = mine;
    log_lane(g, r, a->addr[i], a->size);
  }
  TK_ASSERT(i > from || !a->n);
  x.active = g->elements.n - x.first;
  x.lanes = a->n ? i - from : (size_t)a->in->n;
  x.site = log_site(g, t, a, r);
  tki_pid_of(t, tki_program_index(t), x.program);
  TK_PUSH(g->arena, &g->accesses, x);
  return i;
}

void tke_access_log_add(tke_access_log *g, tki *t, const tki_access *a) {
  if (a->barrier) return;
  g->cut = g->cut || g->elements.n + a->n > TK_ACCESS_LOG_ELEMENTS;
  if (g->cut) return;
  size_t i = 0;
  do i = log_region(g, t, a, i);
  while (i < a->n);
}

const tk_access_log *tke_access_log_found(const tke_access_log *g) {
  tk_access_log *found = TK_NEW(g->arena, tk_access_log);
  tk_access_site *sites = TK_NEWN(g->arena, tk_access_site, g->sites.n + 1);
  for (size_t i = 0; i < g->sites.n; i++) sites[i] = g->sites.items[i].site;
  *found = (tk_access_log){.sites = sites,
                           .nsites = g->sites.n,
                           .accesses = g->accesses.items,
                           .naccesses = g->accesses.n,
                           .elements = g->elements.items,
                           .nelements = g->elements.n,
                           .cut = g->cut};
  return found;
}
