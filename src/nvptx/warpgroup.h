/* warpgroup.h - products of matrices that four warps compute together: wgmma.
 *
 * An instruction reads both matrices from shared memory, where they lie as
 * *tiles* (swizzle.h), by the asynchronous proxy: what threads or copies wrote
 * there is fenced before the barrier that comes before it is read.  It runs on
 * by itself; its results are there once its group is waited for. */
#ifndef TK_NVPTX_WARPGROUP_H
#define TK_NVPTX_WARPGROUP_H

#include "nvptx/gen.h"

enum {
  TKV_GROUP_WARPS = 2, /* log2 */
  TKV_GROUP_ROWS = 6,
  TKV_TILE_BYTES = 96 << 10 /* that go through the scratch area at most */
};

/* ---- warpgroup.c --------------------------------------------------------- */

/* Whether a product is laid out for warpgroups: the GPU has them, its shape
 * suits them, and both matrices are loaded as they are multiplied. */
bool tkv_is_by_warpgroups(tkv_gen *g, const tk_inst *dot);
/* Whether one takes what a load of the current function gives. */
bool tkv_feeds_warpgroups(tkv_gen *g, const tk_inst *load);
/* What this thread wrote to shared memory can be read as a tile, once the
 * threads have met. */
void tkv_fence_tiles(tkv_code *c);
/* The first product that each trip of a loop computes once, before any other
 * loop or branch in it, if it is one for warpgroups; else NULL. */
const tk_inst *tkv_first_product(tkv_gen *g, const tk_stmt *loop);
/* Whether all that the loop does with a product is to add it to what the trip
 * before has left, in the product's layout. */
bool tkv_is_summed_up(tkv_gen *g, const tk_stmt *loop, const tk_inst *dot);
/* Before the loop: LLVM shall not know what such a sum begins with, or it sets
 * the registers anew where the loop makes no trip; ptxas then takes them for
 * registers that are set while a product runs, and lets none run on (C7515). */
void tkv_begin_sum(tkv_gen *g, const tk_inst *dot);
/* Waits for such a sum, after the loop. */
void tkv_end_sum(tkv_gen *g, const tk_inst *dot);
/* Assembly whose last n operands, behind `others`, are accumulators that it
 * changes; `in` has room for them. */
void tkv_change_accumulators(tkv_gen *g, const char *text, tkv_reg *in,
                             int others, int n, tkv_reg *c);
/* The assembly that waits for all products. */
const char *tkv_wait_for_products(void);

/* ---- gen_warpgroup.c ----------------------------------------------------- */

/* c += left * right, in the layout d of tkv_dist_warpgroups.  False, and
 * nothing is generated: the product is none for them, or the matrices do not
 * lie as tiles. */
bool tkv_multiply_by_warpgroups(tkv_gen *g, const tk_inst *dot, tkv_value *left,
                                tkv_value *right, const tkv_dist *d,
                                tkv_reg *c);

#endif
