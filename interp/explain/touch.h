/* touch.h - which elements accesses touch, and how well they are coalesced.
 *
 * A tke_touch gathers the accesses that one instruction makes to one tensor, a
 * tke_touches those of a line of source.  They add up to a tk_access_picture
 * (tkdbg/results.h).
 */
#ifndef TK_EXPLAIN_TOUCH_H
#define TK_EXPLAIN_TOUCH_H

#include "interp/interp.h"

typedef struct tke_touch {
  tk_env *env;
  const tk_inst *in;
  const char *verb;
  const tki_region *region;
  tk_traffic mine, all; /* of the program looked at, and of all programs */
  uint64_t programs;    /* how many programs make accesses */
  uint64_t last;        /* the index of the last of these, + 1 */
  uint64_t n;           /* elements; 0 if there are too many to count */
  /* By element: the first and the latest program that touched it, as an index
   * + 1; how many have; whether the program looked at has. */
  uint32_t *first, *latest, *count;
  uint8_t *own;
} tke_touch;

/* Makes one for the instruction of an access and a region, which may be NULL;
 * tke_touch_free frees it. */
tke_touch tke_touch_new(tk_env *e, const tki_access *a, const tki_region *r);
void tke_touch_free(tke_touch *c);
/* Adds an access of a program, given by its index; `mine`: it is the program
 * looked at. */
void tke_touch_add(tke_touch *c, const tki_access *a, uint64_t program,
                   bool mine);
/* The picture of the accesses of the program looked at (`mine`), or of all
 * programs.  The caller sets its program and place. */
tk_access_picture tke_touch_picture(const tke_touch *c, tk_arena *a,
                                    const tki *t, bool mine);

/* Instructions of a line that are told apart. */
enum { TKE_TOUCHES = 16 };

typedef struct tke_touches {
  const tk_source *src;
  int line;
  uint64_t mine; /* the index of the program looked at; UINT64_MAX: none is */
  tke_touch items[TKE_TOUCHES];
  size_t n;
  bool more; /* the line has more of them */
} tke_touches;

/* Adds an access if a statement of the line makes it. */
void tke_touches_add(tke_touches *x, tki *t, const tki_access *a);
void tke_touches_free(tke_touches *x);

#endif
