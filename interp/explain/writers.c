/* writers.c - which program wrote each element of a tensor last, and where.
 */
#include <string.h>

#include "interp/explain/writers.h"
#include "interp/grid.h"
#include "interp/site.h"

static void note_write(void *ud, tki *t, const tki_access *a) {
  tke_writers *w = ud;
  const tki_region *r = w->region;
  if (!a->write) return;
  uint32_t program = (uint32_t)tki_program_index(t) + 1, site = tki_site(t);
  for (size_t i = 0; i < a->n; i++) {
    uint64_t at = a->addr[i] - r->lo;
    if ((a->mask && !a->mask[i]) || at >= r->hi - r->lo) continue;
    TK_ASSERT(at / w->size < w->n);
    w->program[at / w->size] = program;
    w->site[at / w->size] = site;
  }
}

void tke_writers_init(tke_writers *w, tki *t, const tki_region *r) {
  *w = (tke_writers){.env = t->env, .region = r};
  TK_ASSERT(r && r->tensor); /* only tensors are expected to hold anything */
  w->size = tk_dtype_size(r->tensor->dtype);
  w->n = (r->hi - r->lo + w->size - 1) / w->size;
  w->program = tk_calloc(t->env, 2 * w->n + 1, sizeof *w->program);
  w->site = w->program + w->n;
  w->observer = (tki_observer){.ud = w, .access = note_write};
}

void tke_writers_attach(tke_writers *w, tki *t) {
  memset(w->program, 0, w->n * sizeof *w->program);
  tki_observe(t, &w->observer);
}

void tke_writers_free(tke_writers *w) {
  if (w->program)
    tk_free(w->env, w->program, (2 * w->n + 1) * sizeof *w->program);
  *w = (tke_writers){0};
}
