/* journal.c - the old contents of memory that programs wrote.
 *
 * Records stand one after the other in chunks, each as the bytes that were
 * there and, behind them, where and how many: so that they can be walked
 * from the newest back.  A position counts all bytes ever added; the oldest
 * chunks are dropped when there is too much.
 */
#include <string.h>

#include "debug/debug.h"

enum { CHUNK = 256 << 10, PIECE = 32 << 10 };

typedef struct chunk {
  struct chunk *older, *newer;
  uint64_t start; /* position of its first byte */
  size_t n;
  char bytes[CHUNK];
} chunk;

typedef struct tail {
  char *host;
  size_t n;
} tail;

struct tkd_journal {
  tk_env *env;
  chunk *oldest, *newest;
  uint64_t first, at;
};

struct tkd_journal *tkd_journal_new(tk_env *e) {
  struct tkd_journal *j = tk_calloc(e, 1, sizeof *j);
  j->env = e;
  return j;
}

static void drop_oldest(struct tkd_journal *j) {
  chunk *c = j->oldest;
  j->oldest = c->newer;
  if (j->oldest)
    j->oldest->older = NULL;
  else
    j->newest = NULL;
  j->first = j->oldest ? j->oldest->start : j->at;
  tk_free(j->env, c, sizeof *c);
}

static void drop_newest(struct tkd_journal *j) {
  chunk *c = j->newest;
  j->newest = c->older;
  if (j->newest)
    j->newest->newer = NULL;
  else
    j->oldest = NULL;
  tk_free(j->env, c, sizeof *c);
}

void tkd_journal_clear(struct tkd_journal *j) {
  while (j->oldest) drop_oldest(j);
  j->first = j->at = 0;
}

void tkd_journal_free(struct tkd_journal *j) {
  if (!j) return;
  tkd_journal_clear(j);
  tk_free(j->env, j, sizeof *j);
}

static chunk *room(struct tkd_journal *j, size_t n) {
  if (j->newest && j->newest->n + n <= CHUNK) return j->newest;
  chunk *c = tk_realloc(j->env, NULL, 0, sizeof *c);
  c->older = j->newest;
  c->newer = NULL;
  c->start = j->at;
  c->n = 0;
  if (j->newest)
    j->newest->newer = c;
  else
    j->oldest = c;
  j->newest = c;
  return c;
}

static void add_piece(struct tkd_journal *j, char *host, size_t n) {
  tail t = {host, n};
  chunk *c = room(j, n + sizeof t);
  memcpy(c->bytes + c->n, host, n);
  memcpy(c->bytes + c->n + n, &t, sizeof t);
  c->n += n + sizeof t;
  j->at += n + sizeof t;
}

void tkd_journal_add(struct tkd_journal *j, char *host, size_t n) {
  for (; n > PIECE; host += PIECE, n -= PIECE) add_piece(j, host, PIECE);
  if (n) add_piece(j, host, n);
}

uint64_t tkd_journal_at(const struct tkd_journal *j) {
  return j->at;
}

uint64_t tkd_journal_first(const struct tkd_journal *j) {
  return j->first;
}

static void undo_one(struct tkd_journal *j) {
  chunk *c = j->newest;
  tail t;
  memcpy(&t, c->bytes + c->n - sizeof t, sizeof t);
  c->n -= sizeof t + t.n;
  memcpy(t.host, c->bytes + c->n, t.n);
  j->at -= sizeof t + t.n;
  if (!c->n) drop_newest(j);
}

void tkd_journal_undo(struct tkd_journal *j, uint64_t to) {
  while (j->newest && j->at > to) undo_one(j);
}

/* One record of a chunk, which ends at n, while what it overwrites goes into
 * undo; how many bytes it takes. */
static size_t rewind_one(const chunk *c, size_t n, struct tkd_journal *undo) {
  tail t;
  memcpy(&t, c->bytes + n - sizeof t, sizeof t);
  tkd_journal_add(undo, t.host, t.n);
  memcpy(t.host, c->bytes + n - sizeof t - t.n, t.n);
  return sizeof t + t.n;
}

void tkd_journal_rewind(const struct tkd_journal *j, uint64_t to,
                        struct tkd_journal *undo) {
  uint64_t at = j->at;
  for (const chunk *c = j->newest; c && at > to; c = c->older)
    for (size_t n = c->n, k; n && at > to; n -= k, at -= k)
      k = rewind_one(c, n, undo);
}

void tkd_journal_trim(struct tkd_journal *j, uint64_t bytes) {
  while (j->oldest && j->oldest != j->newest && j->at - j->first > bytes)
    drop_oldest(j);
}

/* ---- accesses ---------------------------------------------------------- */

/* Where a lane is in this process. */
static char *host_of(const tki_access *a, size_t lane) {
  const tki_region *r = tki_access_region(a, lane);
  return r->host + (a->addr[lane] - r->lo);
}

/* How many lanes from i on are active and follow each other in memory. */
static size_t run_from(const tki_access *a, size_t i) {
  size_t k = i + 1;
  if (a->region == TKI_ANY) return 1;
  while (k < a->n && (!a->mask || a->mask[k]) &&
         a->addr[k] == a->addr[k - 1] + a->size)
    k++;
  return k - i;
}

void tkd_journal_access(struct tkd_journal *j, const tki_access *a) {
  for (size_t i = 0; i < a->n;) {
    if (a->mask && !a->mask[i]) {
      i++;
      continue;
    }
    size_t run = run_from(a, i);
    tkd_journal_add(j, host_of(a, i), run * a->size);
    i += run;
  }
}
