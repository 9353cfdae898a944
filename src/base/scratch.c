/* scratch.c - memory of calls that may end anywhere by a throw. */
#include "base/scratch.h"

#include <string.h>

#include "base/assert.h"

struct tk_temps {
  struct tk_temps *next;
  tk_buf buf;
};

void tk_scratch_init(tk_scratch *m, tk_env *e) {
  *m = (tk_scratch){0};
  tk_arena_init(&m->arena, e);
}

void tk_scratch_free(tk_scratch *m) {
  m->calls = 0;
  tk_held_drop(m, 0);
  tk_temps_free(m);
}

size_t tk_call_begins(tk_scratch *m) {
  m->calls++;
  return m->nheld;
}

void tk_call_ends(tk_scratch *m, size_t mark) {
  TK_ASSERT(m->calls > 0);
  tk_held_drop(m, mark);
  m->calls--;
  tk_temps_free(m);
}

/* ---- temporary --------------------------------------------------------- */

void tk_temps_free(tk_scratch *m) {
  if (m->calls) return;
  for (struct tk_temps *b = m->bufs; b; b = b->next) tk_buf_free(&b->buf);
  m->bufs = NULL;
  tk_arena_free(&m->arena);
}

char *tk_temp(tk_scratch *m, const char *s, size_t n) {
  return tk_arena_strndup(&m->arena, s, n);
}

void *tk_temp_bytes(tk_scratch *m, size_t n) {
  return tk_arena_alloc(&m->arena, n + 1);
}

tk_buf *tk_temp_buf(tk_scratch *m) {
  struct tk_temps *b = TK_NEW(&m->arena, struct tk_temps);
  tk_buf_init(&b->buf, m->arena.env);
  b->next = m->bufs;
  m->bufs = b;
  return &b->buf;
}

/* ---- held -------------------------------------------------------------- */

void *tk_held_new(tk_scratch *m, size_t n) {
  if (m->nheld == TK_COUNT(m->held)) tk_throw(m->arena.env, TK_INTERNAL);
  tk_held *h = &m->held[m->nheld];
  h->p = tk_calloc(m->arena.env, 1, n);
  h->n = n;
  m->nheld++;
  return h->p;
}

char *tk_held_text(tk_scratch *m, const char *s) {
  size_t n = s ? strlen(s) : 0;
  if (!s) return NULL;
  char *p = tk_held_new(m, n + 1);
  memcpy(p, s, n);
  return p;
}

void tk_held_keep(tk_scratch *m, size_t mark) {
  TK_ASSERT(mark <= m->nheld);
  m->nheld = mark;
}

void tk_held_drop(tk_scratch *m, size_t mark) {
  while (m->nheld > mark) {
    tk_held *h = &m->held[--m->nheld];
    tk_free(m->arena.env, h->p, h->n);
  }
}

/* ---- owned ------------------------------------------------------------- */

char *tk_text_new(tk_env *e, const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(tk_realloc(e, NULL, 0, n), s, n);
}

void tk_text_free(tk_env *e, char *s) {
  if (s) tk_free(e, s, strlen(s) + 1);
}

void tk_text_set(tk_env *e, char **at, const char *text) {
  char *copy = text ? tk_text_new(e, text) : NULL;
  tk_text_free(e, *at);
  *at = copy;
}

void tk_bytes_set(tk_env *e, char **at, size_t *n, const void *bytes,
                  size_t size) {
  if (*n != size) {
    *at = tk_realloc(e, *at, *n, size);
    *n = size;
  }
  if (size) memcpy(*at, bytes, size);
}

void *tk_array_grow(tk_env *e, void *items, size_t size, size_t *cap) {
  size_t more = *cap ? *cap * 2 : 16;
  items = tk_realloc(e, items, *cap * size, more * size);
  *cap = more;
  return items;
}
