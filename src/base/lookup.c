/* lookup.c - numbers by text. */
#include "base/lookup.h"

#include <string.h>

#include "base/bits.h"

enum { FIRST_BUCKETS = 16 };

static int *bucket_of(const tk_lookup *t, uint32_t hash) {
  return &t->newest[hash & (t->nbuckets - 1)];
}

static void lookup_link(tk_lookup *t, size_t i) {
  tk_lookup_entry *x = &t->list.items[i];
  int *newest = bucket_of(t, x->hash);
  x->older = *newest - 1;
  *newest = (int)i + 1;
}

/* As many buckets as entries, at least. */
static void lookup_widen(tk_arena *a, tk_lookup *t) {
  t->nbuckets = t->nbuckets ? 2 * t->nbuckets : FIRST_BUCKETS;
  t->newest = TK_NEWN(a, int, t->nbuckets);
  for (size_t i = 0; i < t->list.n; i++) lookup_link(t, i);
}

static void lookup_own(tk_arena *a, tk_lookup *t) {
  tk_lookup_entry *items = TK_NEWN(a, tk_lookup_entry, t->list.cap);
  int *newest = TK_NEWN(a, int, t->nbuckets);
  if (t->list.n) memcpy(items, t->list.items, t->list.n * sizeof *items);
  if (t->nbuckets) memcpy(newest, t->newest, t->nbuckets * sizeof *newest);
  t->list.items = items;
  t->newest = newest;
  t->lent = false;
}

tk_lookup tk_lookup_lend(const tk_lookup *t) {
  tk_lookup lent = *t;
  lent.lent = true;
  return lent;
}

void tk_lookup_add(tk_arena *a, tk_lookup *t, const char *text, int number) {
  tk_lookup_entry x = {text, tk_hash(text, strlen(text)), -1, number};
  if (t->lent) lookup_own(a, t);
  TK_PUSH(a, &t->list, x);
  if (t->list.n > t->nbuckets)
    lookup_widen(a, t);
  else
    lookup_link(t, t->list.n - 1);
}

static int lookup_match(const tk_lookup *t, int i, uint32_t hash,
                        const char *text) {
  while (i >= 0 && (t->list.items[i].hash != hash ||
                    strcmp(t->list.items[i].text, text) != 0))
    i = t->list.items[i].older;
  return i;
}

int tk_lookup_find(const tk_lookup *t, const char *text) {
  if (!t->nbuckets) return -1;
  uint32_t hash = tk_hash(text, strlen(text));
  return lookup_match(t, *bucket_of(t, hash) - 1, hash, text);
}

int tk_lookup_older(const tk_lookup *t, int entry) {
  const tk_lookup_entry *x = &t->list.items[entry];
  return lookup_match(t, x->older, x->hash, x->text);
}

void tk_lookup_clear(tk_lookup *t) {
  t->list.n = 0;
  if (t->nbuckets) memset(t->newest, 0, t->nbuckets * sizeof *t->newest);
}
