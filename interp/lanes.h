/* lanes.h - loops over lanes, one for each operation and type, and the list
 * of the narrow float types.
 *
 * TKI_LOOP1 and TKI_LOOP2 define functions that fit tki_unary_fn and
 * tki_binary_fn: EXPR over the lane `a`, or the lanes `a` and `b`, of type
 * FROM gives a lane of type TO.  Result and operands may be the same memory
 * when their lanes are of one size.
 */
#ifndef TK_INTERP_LANES_H
#define TK_INTERP_LANES_H

#include "interp/interp.h"
#include "interp/kernels.h"

#define TKI_LOOP1(NAME, TO, FROM, EXPR)                                        \
  TKI_CLONES static void NAME(void *vd, const void *va, size_t n) {            \
    TO *d = vd;                                                                \
    const FROM *pa = va;                                                       \
    for (size_t i = 0; i < n; i++) {                                           \
      FROM a = pa[i];                                                          \
      d[i] = (TO)(EXPR);                                                       \
    }                                                                          \
  }

#define TKI_LOOP2(NAME, TO, FROM, EXPR)                                        \
  TKI_CLONES static void NAME(void *vd, const void *va, const void *vb,        \
                              size_t n, int mode) {                            \
    TO *d = vd;                                                                \
    const FROM *pa = va, *pb = vb;                                             \
    FROM a0 = *pa, b0 = *pb;                                                   \
    if (mode == 0)                                                             \
      for (size_t i = 0; i < n; i++) {                                         \
        FROM a = pa[i], b = pb[i];                                             \
        d[i] = (TO)(EXPR);                                                     \
      }                                                                        \
    else if (mode == 1)                                                        \
      for (size_t i = 0; i < n; i++) {                                         \
        FROM a = pa[i], b = b0;                                                \
        d[i] = (TO)(EXPR);                                                     \
      }                                                                        \
    else                                                                       \
      for (size_t i = 0; i < n; i++) {                                         \
        FROM a = a0, b = pb[i];                                                \
        d[i] = (TO)(EXPR);                                                     \
      }                                                                        \
  }

/* X(S, ID, T): a suffix for names, the dtype, what holds its bits. */
#define TKI_NARROW_FLOATS(X)                                                   \
  X(f16, TK_FP16, uint16_t)                                                    \
  X(bf16, TK_BF16, uint16_t)                                                   \
  X(e4nv, TK_FP8E4NV, uint8_t)                                                 \
  X(e4b8, TK_FP8E4B8, uint8_t)                                                 \
  X(e4b15, TK_FP8E4B15, uint8_t)                                               \
  X(e5, TK_FP8E5, uint8_t)                                                     \
  X(e5b16, TK_FP8E5B16, uint8_t)

/* How many narrow lanes are widened to fp32 at a time. */
enum { TKI_BATCH = 256 };

#endif
