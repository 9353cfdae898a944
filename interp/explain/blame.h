/* blame.h - who wrote an element.
 *
 * A tke_blame watches elements of a launch's tensors from the beginning of the
 * run and keeps every write to them; of an element that nobody has written yet
 * it keeps the nearest writes below and above.
 */
#ifndef TK_EXPLAIN_BLAME_H
#define TK_EXPLAIN_BLAME_H

#include "interp/describe.h"

typedef struct tke_write {
  uint64_t program, addr, trip; /* the trip is that of the innermost loop */
  uint64_t ops; /* how many operations were executed before it */
  uint32_t site;
  bool looped, masked, atomic;
  uint8_t value[8]; /* what is stored, or an atomic operation's operand */
} tke_write;

typedef struct tke_target {
  struct tke_target *next;
  const char *text; /* as it was asked for, "C[32,0]"; or NULL */
  const tki_region *region;
  uint64_t addr;
  TK_VEC(tke_write) writes; /* oldest first */
  /* The nearest writes below and above it, if nobody has written it. */
  tke_write below, above;
  bool has_below, has_above;
} tke_target;

typedef struct tke_blame {
  tki *t;
  const char *option; /* that asks, for messages */
  tk_arena arena;
  tki_observer observer;
  tke_target *targets, **last;
} tke_blame;

/* Makes one for elements such as "C[32,0]", one to a line.  Reports anything
 * else and throws TK_USAGE; a launch that a script makes skips the names that
 * it does not have, because another launch may have them.  *out is set before
 * anything is thrown, so that tke_blame_free can free it. */
void tke_blame_new(tki *t, const char *option, const char *elements,
                   tke_blame **out);
/* Makes one for the element at an address. */
tke_blame *tke_blame_one(tki *t, const tki_region *r, uint64_t addr);
/* Begins to watch, with nothing seen so far. */
void tke_blame_attach(tke_blame *b);
/* What was seen of one element, in an arena of the caller's. */
tk_blame tke_blame_found(tke_blame *b, tk_arena *a, const tke_target *x);
/* b may be NULL; the run may be over. */
void tke_blame_free(tk_env *e, tke_blame *b);

#endif
