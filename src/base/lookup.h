/* lookup.h - numbers by text: a hash table in an arena that grows with what it
 * holds, so that finding one of many names takes as long as one of few.
 *
 * Entries are numbered from 0 as they are added; several may have one text.
 * Texts are not copied.  A table of zeros is empty.
 */
#ifndef TK_BASE_LOOKUP_H
#define TK_BASE_LOOKUP_H

#include "base/env.h"

typedef struct tk_lookup_entry {
  const char *text;
  uint32_t hash;
  int older;  /* the entry before it in its bucket, or -1 */
  int number; /* what it was added with */
} tk_lookup_entry;

typedef struct tk_lookup {
  TK_VEC(tk_lookup_entry) list;
  int *newest; /* by bucket: an entry + 1; 0: none */
  size_t nbuckets;
  bool lent; /* what it points to is another's: copied before it changes */
} tk_lookup;

void tk_lookup_add(tk_arena *a, tk_lookup *t, const char *text, int number);

/* The newest entry with that text, or -1. */
int tk_lookup_find(const tk_lookup *t, const char *text);
/* The next older entry with the text of that one, or -1. */
int tk_lookup_older(const tk_lookup *t, int entry);

/* The same entries, for as long as t stays as it is; adding to it leaves t
 * alone. */
tk_lookup tk_lookup_lend(const tk_lookup *t);

/* Forgets all entries, and keeps the room. */
void tk_lookup_clear(tk_lookup *t);

#endif
