/* swizzle.h - where the lanes of a block are put in shared memory, so that
 * those that a warp accesses at once are in different banks.
 *
 * A place is a number whose axis of neighbours comes first, with some of its
 * bits xor-ed into lower ones; as that is linear, it is done to the bases of a
 * distributed layout
 * (dist.h). */
#ifndef TK_NVPTX_SWIZZLE_H
#define TK_NVPTX_SWIZZLE_H

#include "nvptx/dist.h"

/* Bits from `from` on, `n` of them, are xor-ed into those from `to` on. */
typedef struct tkv_swizzle {
  int from, n, to;
} tkv_swizzle;

/* The n bits from `low` on come first, but for the `last` highest of them,
 * which come after all `total` others; and then bits are xor-ed. */
typedef struct tkv_places {
  int low, n;
  tkv_swizzle swizzle;
  int last, total; /* total: of the whole number */
} tkv_places;

/* A tkv_dist_map of numbers to places. */
uint32_t tkv_place(uint32_t number, const void *places);
/* log2 of how many places, of the lowest registers, one access of at most 16
 * bytes covers. */
int tkv_neighbours(const tkv_dist *places, size_t size);
/* The places with the fewest passes and accesses for a block that is written in
 * one layout and read in the other. */
tkv_places tkv_find_places(const tk_type *t, const tkv_dist *written,
                           const tkv_dist *read);
/* The places that wgmma reads a matrix from (PTX ISA, "Asynchronous Warpgroup
 * Level Matrix Shared Memory Layout"): rows of 128, 64 or 32 bytes along one
 * axis, swizzled; what is longer continues behind all rows.  False: the block
 * is too small for it, or no matrix. */
enum { TKV_TILE_ALIGNMENT = 1024 };
bool tkv_places_of_tile(const tk_type *t, int fastest, tkv_places *out);
/* How it is read, eight rows of 16 bytes at once, as the layout of a warp. */
tkv_dist tkv_rows_of_tile(const tk_type *t, const tkv_places *p, int warps);

/* How many times as long as without bank conflicts a warp takes to write a
 * block to places, and to read it. */
typedef struct tkv_conflicts {
  int written, read;
} tkv_conflicts;
tkv_conflicts tkv_conflicts_at(const tk_type *t, const tkv_dist *written,
                               const tkv_dist *read, const tkv_places *p);

/* How ldmatrix reads a block: matrices of eight rows of 16 bytes, of which
 * each thread gets a word of 32 bits (PTX ISA, "ldmatrix"). */
typedef struct tkv_matrices {
  bool turned;   /* by columns: the pair of a word is of two rows */
  int word;      /* log2 of the registers in a word */
  int bit[2], n; /* bits of a register's number that tell matrices apart which
                    are read at once */
  tkv_dist rows; /* which row's place each thread gives */
} tkv_matrices;

/* False: the places do not lie so.  Registers that a bit of `apart` tells apart
 * are not read at once. */
bool tkv_find_matrices(const tkv_dist *places, size_t size, uint32_t apart,
                       tkv_matrices *m);

#endif
