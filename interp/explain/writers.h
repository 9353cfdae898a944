/* writers.h - which program wrote each element of a tensor last, and where.
 */
#ifndef TK_EXPLAIN_WRITERS_H
#define TK_EXPLAIN_WRITERS_H

#include "interp/interp.h"

/* The writes to one region.  It must not move while it watches. */
typedef struct tke_writers {
  tk_env *env;
  const tki_region *region;
  tki_observer observer;
  size_t size, n;    /* bytes of an element; elements of the region */
  uint32_t *program; /* by element: the index of its program + 1; 0: none */
  uint32_t *site;    /* by element: where it was written (interp/site.h) */
} tke_writers;

void tke_writers_init(tke_writers *w, tki *t, const tki_region *r);
/* Begins to watch, as if nobody had written anything. */
void tke_writers_attach(tke_writers *w, tki *t);
/* Frees what tke_writers_init made; w may be all zeros. */
void tke_writers_free(tke_writers *w);

#endif
