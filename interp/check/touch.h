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
  tk_traffic mine, all;    /* of one program, and of all of them */
  uint64_t programs, last; /* how many make accesses; the last of them, + 1 */
  uint64_t n;              /* elements; 0 when there are too many to count */
  /* By element: the first and the latest program that touched it, + 1; how
   * many did; whether the one program did. */
  uint32_t *first, *latest, *count;
  uint8_t *own;
} tkc_touch;

/* Makes one for the instruction of an access and a region; r may be NULL.  It
 * is freed by tkc_touch_free. */
tkc_touch tkc_touch_new(tk_env *e, const tki_access *a, const tki_region *r);
void tkc_touch_free(tkc_touch *c);
/* Adds an access of a program, given by its index; `mine` says that it is the
 * one program. */
void tkc_touch_add(tkc_touch *c, const tki_access *a, uint64_t program,
                   bool mine);
/* Makes the picture of the one program's accesses (`mine`), or of those of all
 * programs.  The caller sets its program and place. */
tk_access_picture tkc_touch_picture(const tkc_touch *c, tk_arena *a,
                                    const tki *t, bool mine);

enum { TKC_TOUCHES = 16 };

typedef struct tkc_touches {
  const tk_source *src;
  int line;
  uint64_t mine; /* the index of the one program; UINT64_MAX: there is none */
  tkc_touch items[TKC_TOUCHES];
  size_t n;
  bool more; /* there was no room for some accesses */
} tkc_touches;

/* Adds an access, if a statement of the line makes it. */
void tkc_touches_add(tkc_touches *x, tki *t, const tki_access *a);
void tkc_touches_free(tkc_touches *x);

#endif
