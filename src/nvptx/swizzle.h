/* swizzle.h - where the lanes of a block are put in shared memory, so that
 * those that a warp accesses at once are in different banks.
 *
 * A place is a number with some of its bits xor-ed into lower ones; as that is
 * linear, it is done to the bases of a distributed layout (dist.h).
 */
#ifndef TK_NVPTX_SWIZZLE_H
#define TK_NVPTX_SWIZZLE_H

#include "nvptx/dist.h"

/* Bits from `from` on, `n` of them, are xor-ed into those from `to` on. */
typedef struct tkv_swizzle {
  int from, n, to;
} tkv_swizzle;

/* A tkv_dist_map of numbers to places. */
uint32_t tkv_swizzled(uint32_t number, const void *swizzle);
/* How many passes over shared memory the accesses of a warp to a register, or
 * to as many as go together, take; 1 is best for 4 bytes and less a thread. */
int tkv_bank_passes(const tkv_dist *places, size_t size);
/* The one with the fewest passes for lanes of that size that are written in
 * one layout and read in the other. */
tkv_swizzle tkv_find_swizzle(const tkv_dist *written, const tkv_dist *read,
                             size_t size);

#endif
