/* mma.h - shapes of products of matrices. */
#ifndef TK_PTX_MMA_H
#define TK_PTX_MMA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tkp_mma_shape {
  uint8_t m, n, k;
  uint8_t type;        /* of A and B: tk_asm_type, or below */
  uint8_t accumulator; /* of C and D */
  uint8_t a, b, c;     /* registers of each */
  uint8_t bits;        /* of an element of A and B */
} tkp_mma_shape;

enum { TKP_E4M3 = 100, TKP_E5M2 = 101 };

/* The value of an element's bits; flag: signed, or e5m2. */
double tkp_mma_element(uint8_t type, bool flag, uint64_t bits);
/* An element of an accumulator once a sum is added to it. */
uint64_t tkp_mma_added(uint8_t accumulator, bool saturates, uint64_t was,
                       double sum);

extern const tkp_mma_shape tkp_mma_shapes[];
extern const int tkp_mma_nshapes;

#endif
