/* kernels_libdevice.c - lane loops of libdevice's functions, one for each
 * overload in libdevice.def.
 *
 * A loop that rounds in a direction sets the processor's rounding mode
 * around itself.  The compiler cannot move its arithmetic out of there: the
 * lanes come from memory and go to memory, which the calls may touch.
 */
#include <fenv.h>

#include "interp/interp.h"
#include "interp/kernels.h"
#include "base/trans.h"
#include "ir/libdevice.h"

/* What a type's lanes are in memory, and in an expression. */
typedef uint8_t mem_b;
typedef int32_t mem_i, lane_i;
typedef uint32_t mem_u, lane_u;
typedef int64_t mem_l, lane_l;
typedef uint64_t mem_q, lane_q;
typedef double mem_d, lane_d;
typedef float mem_f, lane_f, mem_F;
typedef double lane_F;

#define LANES(NAME, R, GET, VALUE)                                             \
  static void ld_##NAME(void *vd, const void *const *args, size_t n) {         \
    mem_##R *to = vd;                                                          \
    for (size_t i = 0; i < n; i++) {                                           \
      GET to[i] = (mem_##R)(VALUE);                                            \
    }                                                                          \
  }
#define ROUNDED_LANES(NAME, MODE, R, GET, VALUE)                               \
  static void ld_##NAME(void *vd, const void *const *args, size_t n) {         \
    mem_##R *to = vd;                                                          \
    fesetround(MODE);                                                          \
    for (size_t i = 0; i < n; i++) {                                           \
      GET to[i] = (mem_##R)(VALUE);                                            \
    }                                                                          \
    fesetround(FE_TONEAREST);                                                  \
  }
#define GET(T, VAR, K) lane_##T VAR = ((const mem_##T *)args[K])[i];
#define GET1(A) GET(A, a, 0)
#define GET2(A, B) GET1(A) GET(B, b, 1)
#define GET3(A, B, C) GET2(A, B) GET(C, c, 2)
#define GET4(A, B, C, D) GET3(A, B, C) GET(D, d, 3)

/* The loops ... */
#define LIBDEVICE(id, params, accuracy, doc, overloads) overloads
#define LANE1(name, R, A, value) LANES(name, R, GET1(A), value)
#define LANE2(name, R, A, B, value) LANES(name, R, GET2(A, B), value)
#define LANE3(name, R, A, B, C, value) LANES(name, R, GET3(A, B, C), value)
#define LANE4(name, R, A, B, C, D, value)                                      \
  LANES(name, R, GET4(A, B, C, D), value)
#define ROUND1(name, mode, R, A, value)                                        \
  ROUNDED_LANES(name, mode, R, GET1(A), value)
#define ROUND2(name, mode, R, A, B, value)                                     \
  ROUNDED_LANES(name, mode, R, GET2(A, B), value)
#define ROUND3(name, mode, R, A, B, C, value)                                  \
  ROUNDED_LANES(name, mode, R, GET3(A, B, C), value)
#include "ir/libdevice.def"
#undef LIBDEVICE
#undef LANE1
#undef LANE2
#undef LANE3
#undef LANE4
#undef ROUND1
#undef ROUND2
#undef ROUND3

/* ... and where they are. */
#define LIBDEVICE(id, params, accuracy, doc, overloads) {overloads},
#define LANE1(name, R, A, value) ld_##name,
#define LANE2(name, R, A, B, value) ld_##name,
#define LANE3(name, R, A, B, C, value) ld_##name,
#define LANE4(name, R, A, B, C, D, value) ld_##name,
#define ROUND1(name, mode, R, A, value) ld_##name,
#define ROUND2(name, mode, R, A, B, value) ld_##name,
#define ROUND3(name, mode, R, A, B, C, value) ld_##name,
tki_extern_fn tki_extern_kernel(size_t row, size_t overload) {
  static const tki_extern_fn table[][TK_OVERLOADS] = {
#include "ir/libdevice.def"
  };
  return table[row][overload];
}
