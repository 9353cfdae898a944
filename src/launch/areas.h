/* areas.h - the memory that a launch may touch: that of each tensor, and each
 * byte of it once.
 */
#ifndef TK_LAUNCH_AREAS_H
#define TK_LAUNCH_AREAS_H

#include "launch/session.h"

/* The address of a tensor's first element as the kernel sees it. */
static inline uint64_t tk_tensor_address(const tk_tensor *x) {
  return x->device_address ? x->device_address : (uint64_t)(uintptr_t)x->data;
}

/* The storage of a tensor, or its view where no more is known. */
typedef struct tk_memory {
  const char *name;
  const tk_tensor *tensor; /* NULL: the argument is not a tensor */
  uint64_t lo, hi;         /* addresses as the kernel sees them */
  char *host;              /* where lo is in this process */
  bool readonly;
} tk_memory;
tk_memory tk_memory_of(const char *name, const tk_tensor *x);
/* That of the i-th argument, then of tensors reached through memory; false past
 * the end. */
bool tk_memory_at(const tk_launch *l, size_t i, tk_memory *out);

/* Tensors may share storage: an area is a storage, or several that overlap. */
typedef struct tk_area {
  tk_memory first; /* that of its first tensor */
  char *lo, *hi;   /* in this process; equal if its tensors are empty */
  size_t tensors;
  bool writable; /* by one of them */
} tk_area;

typedef TK_VEC(tk_area) tk_areas;

/* In the order of the first tensor that lies in each. */
tk_areas tk_areas_of(const tk_launch *l, tk_arena *a);
/* The one that holds n bytes, which are some tensor's memory. */
size_t tk_area_at(const tk_areas *x, const char *at, size_t n);
/* The address of its first byte as the kernel sees it. */
uint64_t tk_area_address(const tk_area *x);

#endif
