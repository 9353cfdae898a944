/* touch.h - which elements accesses touch, and how well they are coalesced.
 *
 * A tkc_touch gathers the accesses of one instruction to one tensor, a
 * tkc_touches those of a line of the source.  What they add up to is a
 * tk_access_picture (tkdbg/results.h).
 */
#ifndef TK_CHECK_TOUCH_H
#define TK_CHECK_TOUCH_H

#include "interp/interp.h"

typedef struct tkc_touch {
  tk_env *env;
  const tk_inst *in;
  const char *verb;
  const tki_region *region;
  tk_traffic mine, all;             /* of one program, and of all */
  uint64_t programs, last;          /* that do; the last of them, + 1 */
  uint64_t n;                       /* elements, 0 when there are too many */
  uint32_t *first, *latest, *count; /* by element: programs + 1, how many */
  uint8_t *own;                     /* ... whether the one program does */
} tkc_touch;

/* Freed by tkc_touch_free. */
tkc_touch tkc_touch_new(tk_env *e, const tki_access *a, const tki_region *r);
void tkc_touch_free(tkc_touch *c);
/* program: its index; mine: it is the one. */
void tkc_touch_add(tkc_touch *c, const tki_access *a, uint64_t program,
                   bool mine);
/* Of the one program, or of all; program and place are left to the caller. */
tk_access_picture tkc_touch_picture(const tkc_touch *c, tk_arena *a,
                                    const tki *t, bool mine);

enum { TKC_TOUCHES = 16 };

typedef struct tkc_touches {
  const tk_source *src;
  int line;
  uint64_t mine; /* index of the one program; UINT64_MAX: none */
  tkc_touch items[TKC_TOUCHES];
  size_t n;
  bool more; /* some found no room */
} tkc_touches;

/* Adds an access, if it is of the line. */
void tkc_touches_add(tkc_touches *x, tki *t, const tki_access *a);
void tkc_touches_free(tkc_touches *x);

#endif
