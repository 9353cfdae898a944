/* blame.h - who wrote an element.
 *
 * A tkc_blame watches elements of a launch's tensors from before the run and
 * keeps every write to them, or, while there is none, the nearest writes.
 */
#ifndef TK_CHECK_BLAME_H
#define TK_CHECK_BLAME_H

#include "interp/describe.h"

typedef struct tkc_write {
  uint64_t program, addr, trip; /* trip of the innermost loop */
  uint64_t ops;                 /* how many were executed before it */
  uint32_t site;
  bool looped, masked, atomic;
  uint8_t value[8]; /* what is stored, or an atomic operation's operand */
} tkc_write;

typedef struct tkc_target {
  struct tkc_target *next;
  const char *text; /* as asked for: "C[32,0]" */
  const tki_region *region;
  uint64_t addr;
  TK_VEC(tkc_write) writes; /* oldest first */
  /* The nearest writes below and above, while nobody has written it. */
  tkc_write below, above;
  bool has_below, has_above;
} tkc_target;

typedef struct tkc_blame {
  tki *t;
  const char *option; /* the option that asked; messages name it */
  tk_arena arena;
  tki_observer observer;
  tkc_target *targets, **last;
} tkc_blame;

/* Makes one for `elements`, such as "C[32,0]", which are separated by newlines.
 * Reports and throws TK_USAGE for what is no element, but skips names that a
 * launch of a script does not have.  *out is set before that, so that
 * tkc_blame_free can free it. */
void tkc_blame_new(tki *t, const char *option, const char *elements,
                   tkc_blame **out);
/* The same for the element at an address. */
tkc_blame *tkc_blame_one(tki *t, const tki_region *r, uint64_t addr);
/* Forgets what was seen and begins to watch. */
void tkc_blame_attach(tkc_blame *b);
/* What was seen of one of the elements, in an arena of the caller's. */
tk_blame tkc_blame_found(tkc_blame *b, tk_arena *a, const tkc_target *x);
/* b may be NULL; the run may be over. */
void tkc_blame_free(tk_env *e, tkc_blame *b);

#endif
