/* memory.c - temporary and held memory, texts, and how a call fails. */
#include "debug/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- temporary --------------------------------------------------------- */

char *tkd_temp(tkd *d, const char *s, size_t n) {
  return tk_arena_strndup(&d->temps, s, n);
}

void *tkd_temp_bytes(tkd *d, size_t n) {
  return tk_arena_alloc(&d->temps, n + 1);
}

typedef struct temp_buf {
  struct temp_buf *next;
  tk_buf buf;
} temp_buf;

tk_buf *tkd_temp_buf(tkd *d) {
  temp_buf *b = TK_NEW(&d->temps, temp_buf);
  tk_buf_init(&b->buf, d->env);
  b->next = d->temp_bufs;
  d->temp_bufs = b;
  return &b->buf;
}

void tkd_temps_free(tkd *d) {
  for (temp_buf *b = d->temp_bufs; b; b = b->next) tk_buf_free(&b->buf);
  d->temp_bufs = NULL;
  tk_arena_free(&d->temps);
}

/* ---- held -------------------------------------------------------------- */

void *tkd_hold(tkd *d, size_t n) {
  if (d->nholds == TK_COUNT(d->holds)) tk_throw(d->env, TK_INTERNAL);
  tkd_held *h = &d->holds[d->nholds];
  h->p = tk_calloc(d->env, 1, n);
  h->n = n;
  d->nholds++;
  return h->p;
}

char *tkd_hold_str(tkd *d, const char *s) {
  size_t n = s ? strlen(s) : 0;
  if (!s) return NULL;
  char *p = tkd_hold(d, n + 1);
  memcpy(p, s, n);
  return p;
}

void tkd_keep(tkd *d, size_t mark) {
  TK_ASSERT(mark <= d->nholds);
  d->nholds = mark;
}

void tkd_drop_held(tkd *d, size_t mark) {
  while (d->nholds > mark) {
    tkd_held *h = &d->holds[--d->nholds];
    tk_free(d->env, h->p, h->n);
  }
}

size_t tkd_call_begins(tkd *d) {
  d->calls++;
  return d->nholds;
}

void tkd_call_ends(tkd *d, size_t mark) {
  TK_ASSERT(d->calls > 0);
  tkd_drop_held(d, mark);
  if (!--d->calls) tkd_temps_free(d);
}

/* ---- texts and arrays -------------------------------------------------- */

char *tkd_strndup(tkd *d, const char *s, size_t n) {
  char *p = tk_realloc(d->env, NULL, 0, n + 1);
  memcpy(p, s, n);
  p[n] = '\0';
  return p;
}

char *tkd_strdup(tkd *d, const char *s) {
  return tkd_strndup(d, s, strlen(s));
}

void tkd_strfree(tkd *d, char *s) {
  if (s) tk_free(d->env, s, strlen(s) + 1);
}

void tkd_set_text(tkd *d, char **at, const char *text) {
  char *copy = text ? tkd_strdup(d, text) : NULL;
  tkd_strfree(d, *at);
  *at = copy;
}

void tkd_copy_bytes(tkd *d, char **at, size_t *n, const void *bytes,
                    size_t size) {
  if (*n != size) {
    *at = tk_realloc(d->env, *at, *n, size);
    *n = size;
  }
  if (size) memcpy(*at, bytes, size);
}

void *tkd_grow(tkd *d, void *items, size_t size, size_t *cap) {
  size_t more = *cap ? *cap * 2 : 16;
  items = tk_realloc(d->env, items, *cap * size, more * size);
  *cap = more;
  return items;
}

/* ---- errors ------------------------------------------------------------ */

void tkd_raise(tkd *d, const char *fmt, ...) {
  char small[512];
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  tk_buf_clear(&d->message);
  if (n >= (int)sizeof small) {
    char *big = tkd_temp_bytes(d, (size_t)n + 1);
    vsnprintf(big, (size_t)n + 1, fmt, again);
    tk_buf_puts(&d->message, big);
  } else {
    tk_buf_puts(&d->message, small);
  }
  va_end(again);
  va_end(ap);
  tk_throw(d->env, TK_USAGE);
}

const char *tkd_message(tkd *d) {
  return tk_buf_str(&d->message);
}

void tkd_drop_message(tkd *d) {
  tk_buf_clear(&d->message);
}
