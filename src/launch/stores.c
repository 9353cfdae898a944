/* stores.c - reading and writing stores files; see stores.h.
 *
 * One function knows the order of the fields and goes both ways.  What is read
 * is believed once its digest is right; before that nothing is allocated that
 * the file has no bytes for, and afterwards every number that counts or points
 * is checked, as a digest keeps nobody from writing another file.
 */
#include "launch/stores.h"

#include <string.h>

enum { MOST_NAME = 1 << 16, MOST_ITEMS = 1 << 30, TAIL = 24 };

/* ---- fields -------------------------------------------------------------- */

/* A file being read, or written. */
typedef struct stores_file {
  tkn_writer *to; /* NULL: it is read */
  tkn_reader *from;
  tk_arena *arena;
  tk_digest digest; /* of what was read */
} stores_file;

static void TK_NORETURN damaged(const stores_file *f, const char *what) {
  tkn_file_fail(f->from->env, f->from->name, "damaged: %s", what);
}

static void move_bytes(stores_file *f, void *p, size_t n) {
  if (f->to) {
    tkn_write(f->to, p, n);
    return;
  }
  tkn_read(f->from, p, n);
  tk_digest_add(&f->digest, p, n);
}

static void move_number(stores_file *f, uint64_t *x, uint64_t most) {
  move_bytes(f, x, sizeof *x);
  if (!f->to && *x > most) damaged(f, "a number is too large");
}

/* n bytes at *p, which are made if the file is read. */
static void move_block(stores_file *f, void *p, size_t n) {
  void **at = p;
  if (!f->to) {
    if (n > f->from->size - f->from->at) damaged(f, "it ends too early");
    *at = tk_arena_alloc(f->arena, n + 1);
  }
  move_bytes(f, *at, n);
}

static void move_name(stores_file *f, const char **s) {
  uint64_t n = f->to ? strlen(*s) : 0;
  move_number(f, &n, MOST_NAME);
  move_block(f, (void *)s, (size_t)n);
}

static void move_items(stores_file *f, void *items, uint64_t *n, size_t size) {
  move_number(f, n, MOST_ITEMS);
  move_block(f, items, (size_t)*n * size);
}

/* Stretches lie one after the other, and each has its event. */
static void check_stretches(const stores_file *f, const tkn_stores *x,
                            const tkn_area *a, const tkn_stretch *s,
                            uint64_t n) {
  uint64_t end = 0;
  for (uint64_t i = 0; i < n; end = s[i].at + s[i].n, i++)
    if (s[i].at < end || s[i].at > a->bytes || s[i].n > a->bytes - s[i].at ||
        s[i].event >= x->nevents)
      damaged(f, "a store lies outside of every tensor");
}

/* The bytes that were stored; those that are read lie one after the other. */
static void move_stored(stores_file *f, tkn_area *a) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < a->nwrites; i++) sum += a->writes[i].n;
  if (!f->to && sum > f->from->size - f->from->at)
    damaged(f, "it ends too early");
  if (!f->to) a->host = tk_arena_alloc(f->arena, (size_t)sum + 1);
  char *next = a->host;
  for (uint64_t i = 0; i < a->nwrites; i++, next += a->writes[i - 1].n)
    move_bytes(f, f->to ? a->host + a->writes[i].at : next,
               (size_t)a->writes[i].n);
}

static void move_area(stores_file *f, tkn_stores *x, tkn_area *a) {
  move_name(f, &a->name);
  move_number(f, &a->bytes, INT64_MAX);
  move_number(f, &a->before, UINT64_MAX);
  move_items(f, &a->writes, &a->nwrites, sizeof *a->writes);
  move_items(f, &a->reads, &a->nreads, sizeof *a->reads);
  if (!f->to) {
    check_stretches(f, x, a, a->writes, a->nwrites);
    check_stretches(f, x, a, a->reads, a->nreads);
  }
  move_stored(f, a);
}

static void move_texts(stores_file *f, tkn_stores *x) {
  move_number(f, &x->ntexts, MOST_NAME);
  if (!f->to) x->texts = TK_NEWN(f->arena, tkn_text, x->ntexts + 1);
  for (uint64_t i = 0; i < x->ntexts; i++) {
    tkn_text *t = &x->texts[i];
    move_name(f, &t->name);
    move_number(f, &t->len, INT32_MAX);
    move_block(f, (void *)&t->text, (size_t)t->len);
  }
}

static void check_events(const stores_file *f, const tkn_stores *x) {
  for (uint64_t i = 0; i < x->nsites; i++) {
    const tkn_site *s = &x->sites[i];
    if (s->source >= x->ntexts || s->lo > s->hi ||
        s->hi > x->texts[s->source].len)
      damaged(f, "an instruction has no place in the source");
  }
  for (uint64_t i = 0; i < x->nevents; i++)
    if (x->events[i].site >= x->nsites)
      damaged(f, "a store has no instruction");
}

static void move_stores(stores_file *f, tkn_stores *x) {
  move_name(f, &x->kernel);
  move_name(f, &x->how);
  move_number(f, &x->form, UINT64_MAX);
  move_number(f, &x->parts, MOST_ITEMS);
  move_number(f, &x->part, MOST_ITEMS);
  for (int i = 0; i < 3; i++) move_number(f, &x->grid[i], INT32_MAX);
  move_texts(f, x);
  move_items(f, &x->sites, &x->nsites, sizeof *x->sites);
  move_items(f, &x->events, &x->nevents, sizeof *x->events);
  if (!f->to) check_events(f, x);
  if (!f->to && x->part >= x->parts)
    damaged(f, "it is not a part of the "
               "launch");
  move_number(f, &x->nareas, MOST_NAME);
  if (!f->to) x->areas = TK_NEWN(f->arena, tkn_area, x->nareas + 1);
  for (uint64_t i = 0; i < x->nareas; i++) move_area(f, x, &x->areas[i]);
}

void tkn_stores_write(tkn_writer *w, tkn_stores *x) {
  stores_file f = {.to = w};
  uint64_t launch = w->digest.bytes;
  move_stores(&f, x);
  uint64_t digest = tk_digest_end(&w->digest);
  tkn_write(w, &launch, sizeof launch);
  tkn_write(w, &digest, sizeof digest);
  tkn_write(w, TKN_STORES_MAGIC, TKN_STORES_MAGIC_SIZE);
}

/* ---- reading ------------------------------------------------------------- */

static void pass_over(stores_file *f, uint64_t n) {
  char chunk[16384];
  for (size_t some; n; n -= some) {
    some = n < sizeof chunk ? (size_t)n : sizeof chunk;
    move_bytes(f, chunk, some);
  }
}

typedef struct stores_call {
  tk_session *session;
  tk_arena *arena;
  tkn_stores *stores;
  tk_launch **launch;
} stores_call;

static void read_stores(tkn_reader *r, void *ud) {
  stores_call *c = ud;
  stores_file f = {.from = r, .arena = c->arena};
  struct {
    uint64_t launch, digest;
    char magic[TKN_STORES_MAGIC_SIZE];
  } tail = {0};
  if (r->size >= TAIL) {
    tkn_seek(r, r->size - TAIL);
    tkn_read(r, &tail, TAIL);
  }
  if (memcmp(tail.magic, TKN_STORES_MAGIC, sizeof tail.magic) != 0)
    tkn_file_fail(r->env, r->name,
                  "this file was not written by --shard, or its end is "
                  "missing");
  if (tail.launch > r->size - TAIL) damaged(&f, "its launch is cut short");
  uint64_t size = r->size;
  r->size -= TAIL;
  tkn_seek(r, 0);
  pass_over(&f, tail.launch);
  move_stores(&f, c->stores);
  if (tk_digest_end(&f.digest) != tail.digest || r->at != r->size)
    damaged(&f, "its contents have changed since it was written");
  if (!tail.launch != !!c->stores->part)
    damaged(&f, "only part 0 has the launch");
  tkn_seek(r, 0);
  r->size = tail.launch;
  if (tail.launch) *c->launch = tkn_replay(c->session, r);
  r->size = size;
}

void tkn_stores_read(tk_session *s, tk_arena *a, const char *path,
                     tkn_stores *x, tk_launch **l) {
  stores_call c = {s, a, x, l};
  tkn_with_reader(&s->env, path, read_stores, &c);
}
