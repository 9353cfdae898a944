/* failing_heap.h - an allocator of a session that fails from some allocation
 * on, and counts blocks.
 *
 * The heap is the test's; it must outlive the session.
 */
#ifndef TESTS_SUPPORT_FAILING_HEAP_H
#define TESTS_SUPPORT_FAILING_HEAP_H

#include <stddef.h>
#include <stdlib.h>

typedef struct failing_heap {
  long left; /* allocations that succeed; the next one, and all later, fail */
  long live; /* blocks that were not freed */
} failing_heap;

/* For tk_session_new_with. */
static inline void *failing_heap_resize(void *ud, void *p, size_t old,
                                        size_t size) {
  failing_heap *h = ud;
  (void)old;
  if (size && h->left-- <= 0) return NULL;
  h->live += (!p && size) - (p && !size);
  if (size) return realloc(p, size);
  free(p);
  return NULL;
}

#endif
