/* writers.c - which program wrote each element of a tensor last, and where.
 */
#include "interp/check/writers.h"

#include <string.h>

#include "interp/grid.h"
#include "interp/site.h"

static void note_write(void *ud, tki *t, const tki_access *a) {
  tkc_writers *w = ud;
  const tki_region *r = w->region;
  if (!a->write) return;
  uint32_t program = (uint32_t)tki_program_index(t) + 1, site = tki_site(t);
  for (size_t i = 0; i < a->n; i++) {
    uint64_t at = a->addr[i] - r->lo;
    if ((a->mask && !a->mask[i]) || at >= r->hi - r->lo) continue;
    w->program[at / w->size] = program;
    w->site[at / w->size] = site;
  }
}

void tkc_writers_init(tkc_writers *w, tki *t, const tki_region *r) {
  *w = (tkc_writers){.env = t->env, .region = r};
  w->size = tk_dtype_size(r->tensor->dtype);
  w->n = (r->hi - r->lo + w->size - 1) / w->size;
  w->program = tk_calloc(t->env, 2 * w->n + 1, sizeof *w->program);
  w->site = w->program + w->n;
  w->observer = (tki_observer){.ud = w, .access = note_write};
}

void tkc_writers_attach(tkc_writers *w, tki *t) {
  memset(w->program, 0, w->n * sizeof *w->program);
  tki_observe(t, &w->observer);
}

void tkc_writers_free(tkc_writers *w) {
  if (w->program)
    tk_free(w->env, w->program, (2 * w->n + 1) * sizeof *w->program);
  *w = (tkc_writers){0};
}
