/* kept.c - an allocator in front of malloc's that keeps large blocks.
 *
 * Under the address sanitizer a block that is kept may not be touched, as if
 * it had been freed.
 */
#include "base/kept.h"

#include <stdlib.h>

#include "base/assert.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#endif

enum {
  SMALLEST = 12,  /* the first bin is for blocks of 4 KiB or a little more */
  MOST = 16 << 20 /* bytes that are kept */
};

typedef struct tk_kept_block {
  struct tk_kept_block *next;
  size_t size;
} block;

/* NULL: blocks of this size are not kept. */
static block **bin_of(tk_kept *k, size_t size) {
  if (size >> SMALLEST == 0 || size >> (SMALLEST + TK_KEPT_BINS)) return NULL;
  return &k->bins[63 - __builtin_clzll(size) - SMALLEST];
}

static block *reuse(tk_kept *k, block **bin) {
  block *b = *bin;
  ASAN_UNPOISON_MEMORY_REGION(b + 1, b->size - sizeof *b);
  *bin = b->next;
  TK_ASSERT(k->bytes >= b->size);
  k->bytes -= b->size;
  return b;
}

static void empty(tk_kept *k, block **bin) {
  while (*bin) free(reuse(k, bin));
}

static void keep(tk_kept *k, void *p, size_t size) {
  block **bin = bin_of(k, size);
  if (bin && *bin && (*bin)->size != size) empty(k, bin);
  if (!bin || size > MOST - k->bytes) {
    free(p);
    return;
  }
  block *b = p;
  *b = (block){*bin, size};
  *bin = b;
  k->bytes += size;
  ASAN_POISON_MEMORY_REGION(b + 1, size - sizeof *b);
}

void *tk_kept_alloc(void *ud, void *p, size_t old, size_t size) {
  tk_kept *k = ud;
  if (p && !size) {
    keep(k, p, old);
    return NULL;
  }
  block **bin = p ? NULL : bin_of(k, size);
  if (bin && *bin && (*bin)->size == size) return reuse(k, bin);
  return size ? realloc(p, size) : NULL;
}

void tk_kept_free(tk_kept *k) {
  for (int i = 0; i < TK_KEPT_BINS; i++) empty(k, &k->bins[i]);
  TK_ASSERT(!k->bytes);
}
