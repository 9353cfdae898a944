/* pool.c - memory for lanes.
 *
 * A freed buffer goes to the list of its class, and the next block of that size
 * takes it while it is still in the processor's cache.
 */
#include "interp/pool.h"

#include <string.h>

#include "base/assert.h"
#include "interp/interp.h"

enum { SMALLEST = 6 }; /* class of one cache line */

_Static_assert(sizeof(tki_buf) <= TKI_BUF_HEAD, "the head has room");

/* A chunk: [tki_chunk][padding][tki_buf][padding][lanes]. */
typedef struct tki_chunk {
  struct tki_chunk *next;
  size_t size;
  tki_buf *buf;
} tki_chunk;

static uint32_t class_of(size_t bytes) {
  if (bytes <= (size_t)1 << SMALLEST) return SMALLEST;
  return 64 - (uint32_t)__builtin_clzll(bytes - 1);
}

static tki_buf *buf_make(tki *t, uint32_t class) {
  size_t lanes = ((size_t)1 << class) + sizeof(void *);
  size_t size = sizeof(tki_chunk) + TKI_ALIGN + TKI_BUF_HEAD + lanes;
  tki_chunk *k = tk_realloc(t->env, NULL, 0, size);
  uintptr_t at = (uintptr_t)(k + 1) + TKI_ALIGN - 1;
  tki_buf *b = (tki_buf *)(at & ~(uintptr_t)(TKI_ALIGN - 1));
  *k = (tki_chunk){t->pool.chunks_, size, b};
  t->pool.chunks_ = k;
  TK_ASSERT((char *)tki_buf_data(b) + ((size_t)1 << class) <= (char *)k + size);
  *b = (tki_buf){.class_ = class};
  return b;
}

tki_buf *tki_buf_new(tki *t, size_t bytes) {
  uint32_t class = class_of(bytes);
  TK_ASSERT(class < TKI_CLASSES);
  tki_buf *b = t->pool.free_[class];
  if (b)
    t->pool.free_[class] = b->next_;
  else
    b = buf_make(t, class);
  TK_ASSERT(b->refs_ == 0 && b->class_ == class);
  TK_ASSERT(bytes <= (size_t)1 << class);
  b->refs_ = 1;
  b->unwritten_ = false;
  b->lent_ = NULL;
  tki_sym_forget(&b->sym_);
  return b;
}

void tki_buf_free(tki *t, tki_buf *b) {
  TK_ASSERT(b->refs_ == 0 && b->class_ < TKI_CLASSES);
  TK_ASSERT(t->pool.free_[b->class_] != b);
  b->next_ = t->pool.free_[b->class_];
  t->pool.free_[b->class_] = b;
}

static void write_lanes(tki_buf *b) {
  size_t bytes = b->lent_ ? b->bytes_ : tki_sym_bytes(&b->sym_);
  TK_ASSERT(bytes <= (size_t)1 << b->class_);
  if (b->lent_)
    memcpy(tki_buf_data(b), b->lent_, bytes);
  else
    tki_sym_write(&b->sym_, tki_buf_data(b));
  b->lent_ = NULL;
  b->unwritten_ = false;
}

const void *tki_buf_lanes(tki_buf *b) {
  TK_ASSERT(b->unwritten_);
  if (b->lent_) return b->lent_;
  write_lanes(b);
  return tki_buf_data(b);
}

void tki_buf_forget(tki_buf *b) {
  if (b->unwritten_) write_lanes(b);
  tki_sym_forget(&b->sym_);
}

void *tki_scratch_new(tki *t, size_t bytes) {
  return tki_buf_data(tki_buf_new(t, bytes));
}

void *tki_scratch_zero(tki *t, size_t bytes) {
  return memset(tki_scratch_new(t, bytes), 0, bytes);
}

void tki_scratch_free(tki *t, void *memory) {
  if (!memory) return;
  tki_buf *b = (tki_buf *)(void *)((char *)memory - TKI_BUF_HEAD);
  TK_ASSERT(((uintptr_t)b & (TKI_ALIGN - 1)) == 0 && b->refs_ == 1);
  b->refs_ = 0;
  tki_buf_free(t, b);
}

void tki_pool_free(tki *t) {
  for (tki_chunk *k = t->pool.chunks_, *next; k; k = next) {
    next = k->next;
    tk_free(t->env, k, k->size);
  }
  t->pool = tki_pool_empty();
}

void tki_pool_reset(tki *t) {
  t->unassigned = 0;
  memset(t->pool.free_, 0, sizeof t->pool.free_);
  for (tki_chunk *k = t->pool.chunks_; k; k = k->next) {
    k->buf->refs_ = 0;
    tki_buf_free(t, k->buf);
  }
}
