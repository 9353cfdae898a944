/* pool.c - buffers for lanes.
 *
 * Sizes are powers of two, as block sizes are; a freed buffer goes to its
 * class's list and the next block of that size takes it, still warm.
 */
#include <string.h>

#include "interp/interp.h"

static uint32_t class_of(size_t bytes) {
  uint32_t c = 6;
  while (((size_t)1 << c) < bytes) c++;
  return c;
}

static size_t class_bytes(uint32_t c) {
  return ((size_t)1 << c) + TKI_ALIGN + sizeof(void *);
}

/* A chunk: [header pointer to next chunk][padding][tki_buf][lanes]. */
typedef struct chunk {
  struct chunk *next;
  size_t size;
  tki_buf *buf;
} chunk;

static tki_buf *buf_make(tki *t, uint32_t c) {
  size_t size = class_bytes(c) + sizeof(chunk) + TKI_ALIGN;
  chunk *k = tk_realloc(t->env, NULL, 0, size);
  uintptr_t at = (uintptr_t)(k + 1) + TKI_ALIGN - 1;
  tki_buf *b = (tki_buf *)(at & ~(uintptr_t)(TKI_ALIGN - 1));
  *k = (chunk){.next = (chunk *)t->chunks, .size = size, .buf = b};
  t->chunks = (tki_buf *)k;
  memset(b, 0, sizeof *b);
  b->cls = c;
  return b;
}

tki_buf *tki_buf_new(tki *t, size_t bytes) {
  uint32_t c = class_of(bytes);
  tki_buf *b = t->pool[c];
  if (b)
    t->pool[c] = b->next;
  else
    b = buf_make(t, c);
  b->refs = 1;
  return b;
}

void tki_buf_free(tki *t, tki_buf *b) {
  b->next = t->pool[b->cls];
  t->pool[b->cls] = b;
}

void tki_pool_free(tki *t) {
  for (chunk *k = (chunk *)t->chunks, *next; k; k = next) {
    next = k->next;
    tk_free(t->env, k, k->size);
  }
  t->chunks = NULL;
  memset(t->pool, 0, sizeof t->pool);
}

void tki_pool_reset(tki *t) {
  t->unassigned = 0;
  memset(t->pool, 0, sizeof t->pool);
  for (chunk *k = (chunk *)t->chunks; k; k = k->next) tki_buf_free(t, k->buf);
}

tki_val tki_val_new(tki *t, const tk_type *type, size_t n) {
  tki_val v = {.region = TKI_ANY};
  if (type->rank) v.buf = tki_buf_new(t, n * tk_lane_size(type));
  return v;
}

tki_val tki_result(tki *t, const tk_inst *in, tki_val *frame, int k) {
  size_t bytes = (size_t)in->n * tk_lane_size(&in->type);
  if (k >= 0 && in->type.rank) {
    tki_val *a = &frame[in->args[k]];
    bool dies = in->kill >> k & 1 || in->args[k] == in->res[0];
    if (dies && a->buf && a->buf->refs == 1 &&
        bytes <= (size_t)1 << a->buf->cls) {
      tki_val v = *a;
      v.region = TKI_ANY;
      return v;
    }
  }
  tki_val v = tki_val_new(t, &in->type, (size_t)in->n);
  return v;
}
