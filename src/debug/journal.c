/* journal.c - the old contents of memory that programs wrote.
 *
 * Records stand one after the other in chunks, each as the bytes that were
 * there (none, if they were all zero, as fresh results are) and, behind them,
 * where and how many: so that they can be walked from the newest back.  A
 * position counts all bytes ever added; the oldest chunks are dropped when
 * there is too much.  Memory is only ever taken back to a mark, so what was
 * there need be recorded once between two.
 */
#include "debug/journal.h"

#include <string.h>

enum { CHUNK = 256 << 10, PIECE = 32 << 10 };

typedef struct chunk {
  struct chunk *older, *newer;
  uint64_t start; /* position of its first byte */
  size_t n;
  char bytes[CHUNK];
} chunk;

typedef struct tail {
  char *host;
  size_t n, kept; /* bytes there, and how many of them are in the record */
} tail;

/* Of a region: the mark at which each line was kept last. */
typedef struct kept {
  uint32_t *marks;
  size_t n;
} kept;

struct tkd_journal {
  tk_env *env;
  kept *kept; /* by region; NULL: nothing was written */
  size_t nkept;
  uint32_t mark;
  chunk *oldest, *newest;
  uint64_t first, at;
};

tkd_journal *tkd_journal_new(tk_env *e) {
  tkd_journal *j = tk_calloc(e, 1, sizeof *j);
  j->env = e;
  j->mark = 1;
  return j;
}

static void drop_oldest(tkd_journal *j) {
  chunk *c = j->oldest;
  j->oldest = c->newer;
  if (j->oldest)
    j->oldest->older = NULL;
  else
    j->newest = NULL;
  j->first = j->oldest ? j->oldest->start : j->at;
  tk_free(j->env, c, sizeof *c);
}

static void drop_newest(tkd_journal *j) {
  chunk *c = j->newest;
  j->newest = c->older;
  if (j->newest)
    j->newest->newer = NULL;
  else
    j->oldest = NULL;
  tk_free(j->env, c, sizeof *c);
}

static void free_lines(tkd_journal *j);

void tkd_journal_clear(tkd_journal *j) {
  free_lines(j);
  while (j->oldest) drop_oldest(j);
  j->first = j->at = 0;
}

void tkd_journal_free(tkd_journal *j) {
  if (!j) return;
  tkd_journal_clear(j);
  tk_free(j->env, j, sizeof *j);
}

static chunk *room(tkd_journal *j, size_t n) {
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

static bool holds_zeros(const char *s, size_t n) {
  return !*s && !memcmp(s, s + 1, n - 1);
}

static void add_piece(tkd_journal *j, char *host, size_t n) {
  tail t = {host, n, holds_zeros(host, n) ? 0 : n};
  chunk *c = room(j, t.kept + sizeof t);
  TK_ASSERT(c->n + t.kept + sizeof t <= CHUNK && c->start + c->n == j->at);
  memcpy(c->bytes + c->n, host, t.kept);
  memcpy(c->bytes + c->n + t.kept, &t, sizeof t);
  c->n += t.kept + sizeof t;
  j->at += t.kept + sizeof t;
}

/* Puts back what a record that ends at n has kept, while what stands there now
 * goes into undo (NULL: it is lost); how long the record is. */
static size_t put_back(const chunk *c, size_t n, tkd_journal *undo) {
  tail t;
  memcpy(&t, c->bytes + n - sizeof t, sizeof t);
  TK_ASSERT(n >= sizeof t + t.kept && (!t.kept || t.kept == t.n));
  if (undo) tkd_journal_add(undo, t.host, t.n);
  if (t.kept)
    memcpy(t.host, c->bytes + n - sizeof t - t.n, t.n);
  else
    memset(t.host, 0, t.n);
  return sizeof t + t.kept;
}

void tkd_journal_add(tkd_journal *j, char *host, size_t n) {
  for (; n > PIECE; host += PIECE, n -= PIECE) add_piece(j, host, PIECE);
  if (n) add_piece(j, host, n);
}

uint64_t tkd_journal_at(const tkd_journal *j) {
  return j->at;
}

uint64_t tkd_journal_first(const tkd_journal *j) {
  return j->first;
}

static void undo_one(tkd_journal *j) {
  chunk *c = j->newest;
  size_t n = put_back(c, c->n, NULL);
  TK_ASSERT(j->at >= j->first + n);
  c->n -= n;
  j->at -= n;
  if (!c->n) drop_newest(j);
}

void tkd_journal_undo(tkd_journal *j, uint64_t to) {
  while (j->newest && j->at > to) undo_one(j);
  tkd_journal_mark(j);
}

void tkd_journal_rewind(const tkd_journal *j, uint64_t to, tkd_journal *undo) {
  uint64_t at = j->at;
  for (const chunk *c = j->newest; c && at > to; c = c->older)
    for (size_t n = c->n, k; n && at > to; n -= k, at -= k)
      k = put_back(c, n, undo);
}

void tkd_journal_trim(tkd_journal *j, uint64_t bytes) {
  while (j->oldest && j->oldest != j->newest && j->at - j->first > bytes)
    drop_oldest(j);
}

/* ---- accesses ---------------------------------------------------------- */

/* What was there is kept in lines: a line that was kept since the last mark
 * need not be kept again. */
enum { LINE_BITS = 6, LINE = 1 << LINE_BITS };

static uint32_t *lines_of(tkd_journal *j, const tki_region *r, const tki *t) {
  size_t i = (size_t)(r - t->regions);
  if (!j->kept) {
    j->kept = tk_calloc(j->env, t->nregions, sizeof *j->kept);
    j->nkept = t->nregions;
  }
  kept *k = &j->kept[i];
  if (!k->marks) {
    k->n = (size_t)((r->hi - r->lo) >> LINE_BITS) + 1;
    k->marks = tk_calloc(j->env, k->n, sizeof *k->marks);
  }
  return k->marks;
}

static void free_lines(tkd_journal *j) {
  for (size_t i = 0; i < j->nkept; i++)
    tk_free(j->env, j->kept[i].marks, j->kept[i].n * sizeof *j->kept[i].marks);
  tk_free(j->env, j->kept, j->nkept * sizeof *j->kept);
  j->kept = NULL;
  j->nkept = 0;
  j->mark = 1;
}

void tkd_journal_mark(tkd_journal *j) {
  if (++j->mark == 0) free_lines(j);
}

/* Lines from a to before b of a region. */
static void keep_lines(tkd_journal *j, const tki_region *r, uint64_t a,
                       uint64_t b) {
  uint64_t lo = a << LINE_BITS, hi = b << LINE_BITS, n = r->hi - r->lo;
  tkd_journal_add(j, r->host + lo, (size_t)((hi < n ? hi : n) - lo));
}

/* Keeps the lines that hold n bytes at an address. */
static void keep_bytes(tkd_journal *j, const tki_region *r, uint32_t *marks,
                       uint64_t addr, size_t n) {
  uint64_t at = (addr - r->lo) >> LINE_BITS;
  uint64_t end = ((addr - r->lo + n - 1) >> LINE_BITS) + 1;
  while (at < end) {
    uint64_t from = at;
    while (at < end && marks[at] != j->mark) marks[at++] = j->mark;
    if (at > from)
      keep_lines(j, r, from, at);
    else
      at++;
  }
}

static void keep_lanes(tkd_journal *j, const tki_access *a) {
  for (size_t i = 0; i < a->n; i++) {
    if (a->mask && !a->mask[i]) continue;
    const tki_region *r = tki_access_region(a, i);
    keep_bytes(j, r, lines_of(j, r, a->t), a->addr[i], a->size);
  }
}

void tkd_journal_access(tkd_journal *j, const tki_access *a) {
  tki_stretch x = {0};
  if (!a->n) return;
  if (a->region == TKI_ANY) {
    keep_lanes(j, a);
    return;
  }
  const tki_region *r = &a->t->regions[a->region];
  uint32_t *marks = lines_of(j, r, a->t);
  while (tki_next_stretch(a, &x))
    keep_bytes(j, r, marks, x.addr, x.n * a->size);
}
