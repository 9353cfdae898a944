/* fresh.h - which bytes of a region were never written.
 *
 * The caller may keep a map of a byte for each byte of the memory, 1 once it
 * was written.  It stays as it is until the run ends, for a debugger that goes
 * back; the run copies the pages of it that it writes to.  Pages that are
 * written as a whole share one, so that a run takes memory for the parts that
 * it has written some of, however large the tensor is.
 */
#ifndef TK_CHECK_FRESH_H
#define TK_CHECK_FRESH_H

#include "base/env.h"

typedef struct tkc_fresh_page tkc_fresh_page;

typedef struct tkc_fresh {
  tk_arena *arena;
  unsigned char *before;  /* the caller's map; NULL: nothing was written */
  tkc_fresh_page **pages; /* NULL: as before */
  tkc_fresh_page *full;   /* stands for every page that was written */
  tkc_fresh_page *spare;  /* pages that were in use until they were full */
  size_t size;
} tkc_fresh;

tkc_fresh *tkc_fresh_new(tk_arena *a, unsigned char *before, size_t size);
/* Whether one of n bytes was never written; before the run began. */
bool tkc_fresh_any(const tkc_fresh *f, size_t at, size_t n);
bool tkc_fresh_any_before(const tkc_fresh *f, size_t at, size_t n);
void tkc_fresh_write(tkc_fresh *f, size_t at, size_t n);
/* Brings the caller's map up to date. */
void tkc_fresh_keep(tkc_fresh *f);

#endif
