/* dist.h - distributed layouts: which register of which thread of a program
 * holds which lane of a block, with the block's index as one number.
 *
 * A lane's number is its index in row-major order.  As every size is a power
 * of two, its bits are those of the indices along the axes, the last axis
 * lowest; so a layout (layout.h) is a list of numbers, one for each bit of
 * register, lane of a warp, and warp, and the xor of those that are set is the
 * number of the lane that is held.  Reshaping changes nothing, and what other
 * instructions do to bits of an index they do to each of these numbers.
 *
 * A number that is 0 tells copies apart.  Distributed layouts are plain values.
 */
#ifndef TK_NVPTX_DIST_H
#define TK_NVPTX_DIST_H

#include "ir/type.h"

enum { TKV_REG_BITS = 20, TKV_LANE_BITS = 5, TKV_WARP_BITS = 6 };

typedef struct tkv_dist {
  int nreg, nwarp; /* bits of a register's and of a warp's number */
  uint32_t reg[TKV_REG_BITS], lane[TKV_LANE_BITS], warp[TKV_WARP_BITS];
} tkv_dist;

/* Registers, then lanes, then warps run along the axes in that order, `vector`
 * neighbours of the first in each thread; what is left over are registers. */
tkv_dist tkv_dist_blocked(const tk_type *t, const int *order, int vector,
                          int warps);
/* The same with neighbours of the last axis, when nothing says better. */
tkv_dist tkv_dist_usual(const tk_type *t, int warps);
/* The result of mma.sync with tiles of 16 by 8: each warp's part is about as
 * high as wide, or warps run along the rows first. */
tkv_dist tkv_dist_mma(const tk_type *t, int warps, bool rows_first);
/* The result of wgmma: four warps have 64 rows each, 16 of them a warp, and the
 * tiles of a warp are those of mma.sync; more warps share out the rows, then
 * halves of the columns. */
tkv_dist tkv_dist_warpgroups(const tk_type *t, int warps);

bool tkv_dist_same(const tkv_dist *a, const tkv_dist *b);
/* Each number replaced by what `map` makes of it. */
tkv_dist tkv_dist_map(const tkv_dist *a,
                      uint32_t (*map)(uint32_t, const void *), const void *ud);
/* Maps a number in a product's result to that of its row's first lane in the
 * left operand, or of its column's in the right one. */
typedef struct tkv_product_bits {
  int n, k; /* of the numbers of columns, and along k */
} tkv_product_bits;
uint32_t tkv_row_of_left(uint32_t number, const void *bits);
uint32_t tkv_column_of_right(uint32_t number, const void *bits);
/* Drops the bits of registers that tell copies apart. */
void tkv_dist_drop_copies(tkv_dist *a);
/* The part of the lane's number that register r stands for. */
uint32_t tkv_dist_reg(const tkv_dist *a, uint32_t r);
/* The register with 0 for each bit that tells copies apart. */
uint32_t tkv_dist_canonical(const tkv_dist *a, uint32_t r);
/* The register that stands for that part of a number; -1: none does. */
int tkv_dist_find(const tkv_dist *a, uint32_t number);
/* How many neighbours along an axis lie in the lowest registers. */
int tkv_dist_vector(const tkv_dist *a, const tk_type *t, int axis);
/* The bits of a number that a thread's place in the program decides. */
uint32_t tkv_dist_threads(const tkv_dist *a);

/* Where the bits of an index along an axis begin, and how many there are. */
int tkv_axis_low(const tk_type *t, int axis);
int tkv_axis_bits(const tk_type *t, int axis);
/* log2 of a power of two. */
int tkv_log2(int64_t n);

#endif
