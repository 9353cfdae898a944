/* bulk.h - copies by the tensor memory accelerator, and the barriers in memory
 * that count what they bring. */
#ifndef TK_PTX_BULK_H
#define TK_PTX_BULK_H

#include "ptx/exec.h"

/* tkp_inst.mode of mbarrier instructions */
enum {
  TKP_MB_ARRIVES = 1,   /* once, beside what it does to bytes */
  TKP_MB_BYTES = 2,     /* its number is one of bytes */
  TKP_MB_COMPLETES = 4, /* ... that have come */
  TKP_MB_PARITY = 8,    /* it waits by parity, not by a state */
};

/* Lets all loads arrive that an mbarrier counts: returns their bytes, and adds
 * the clocks of warps at which they were sent. */
size_t tkp_bulk_arrive(tkp_block *b, uint64_t mbarrier, uint32_t *clocks);
/* Before lanes end: what they copy must have been waited for. */
void tkp_bulk_end(tkp_warp *w, const tkp_inst *in, uint32_t lanes);
/* A program has ended: reports what is still on its way. */
void tkp_bulk_left(tkp_block *b);
void tkp_bulk_free(tkp_block *b);

/* ---- tensor maps (tensormap.c) ------------------------------------------- */

/* The map at an address of the lane, checked. */
tkp_tensor_map tkp_map_at(tkp_warp *w, const tkp_inst *in, int lane,
                          uint64_t at);
unsigned tkp_map_element(const tkp_tensor_map *map); /* its bytes; 0: unknown */
size_t tkp_map_bytes(const tkp_tensor_map *map);     /* of a box */
/* Copies a box, whose rows follow each other in data, from global memory or
 * to it; elements outside of the tensor are filled, or left out. */
void tkp_map_copy(tkp_warp *w, const tkp_inst *in, int lane,
                  const tkp_tensor_map *map, const int32_t *at, uint8_t *data,
                  bool write);
/* Where a byte of a box that begins at an address of shared memory lies. */
uint64_t tkp_map_place(const tkp_tensor_map *map, uint64_t at, size_t byte);

#endif
