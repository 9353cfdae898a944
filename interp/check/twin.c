/* twin.c - a run beside itself in float64. */
#include "interp/check/twin.h"

#include <string.h>

#include "interp/check/precision.h"

struct tkc_twin {
  tkc c; /* of which only the arena is used */
  tkc_prec *p;
};

tkc_twin *tkc_twin_new(tk_arena *a, tki *t, uint64_t seed) {
  tkc_twin *w = TK_NEW(a, tkc_twin);
  memset(w, 0, sizeof *w);
  tk_arena_init(&w->c.run, a->env);
  w->c.session = t->launch->session;
  w->p = tkc_prec_begin(&w->c, t, true);
  w->p->noise = seed;
  return w;
}

double tkc_twin_error(tkc_twin *w, uint64_t address, size_t size) {
  return tkc_prec_error(w->p, address, size);
}

tk_dtype tkc_twin_stored(const tkc_twin *w, uint64_t lo, uint64_t hi) {
  return tkc_prec_stored(w->p, lo, hi);
}

void tkc_twin_free(tkc_twin *w) {
  tk_arena_free(&w->c.run);
}
