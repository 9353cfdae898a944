/* writers.h - which program wrote each element of a tensor last, and where.
 */
#ifndef TK_CHECK_WRITERS_H
#define TK_CHECK_WRITERS_H

#include "interp/interp.h"

/* The writes to one region.  It must stay where it is while it watches. */
typedef struct tkc_writers {
  tk_env *env;
  const tki_region *region;
  tki_observer observer;
  size_t size, n;    /* bytes of an element; elements of the region */
  uint32_t *program; /* by element: the index of the program, + 1; 0: none */
  uint32_t *site;    /* ... and where, see interp/site.h */
} tkc_writers;

void tkc_writers_init(tkc_writers *w, tki *t, const tki_region *r);
/* Begins to watch; nobody has written. */
void tkc_writers_attach(tkc_writers *w, tki *t);
/* Frees what init made; w may be all zeros. */
void tkc_writers_free(tkc_writers *w);

#endif
