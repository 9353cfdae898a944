/* temp.c - memory while a command is carried out.
 *
 * A command may end anywhere by a throw.  What it needs only for itself is
 * temporary: it goes when the outermost command ends.  What it makes to last
 * is held until all of it is there and somebody owns it (tkd_keep): if the
 * command ends before, it is freed.
 */
#include <string.h>

#include "debug/debug.h"

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
  d->nholds = mark;
}

void tkd_drop_held(tkd *d, size_t mark) {
  while (d->nholds > mark) {
    tkd_held *h = &d->holds[--d->nholds];
    tk_free(d->env, h->p, h->n);
  }
}
