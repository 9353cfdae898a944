/* wgmma.h - products of matrices by a warpgroup (PTX ISA, "Asynchronous
 * warpgroup level matrix instructions"): their types, and where the tiles of
 * shared memory lie that they read. */
#ifndef TK_PTX_WGMMA_H
#define TK_PTX_WGMMA_H

#include "ptx/exec.h"

typedef struct tkp_wgmma_type {
  uint8_t type;        /* of A and B: tk_asm_type, or of mma.h */
  uint8_t accumulator; /* of D */
  uint8_t k;
  uint8_t bits; /* of an element of A and B */
} tkp_wgmma_type;

extern const tkp_wgmma_type tkp_wgmma_types[];
extern const int tkp_wgmma_ntypes;

/* tkp_inst.mode of a wgmma; in->target is the index of its type, in->parts its
 * columns by eights.  Its sources are A (a descriptor, or four registers), B's
 * descriptor, the predicate scale-d, and the accumulators. */
enum {
  TKP_WG_A_FLAG = 1, /* signed, or e5m2 */
  TKP_WG_B_FLAG = 2,
  TKP_WG_SATURATES = 4,
  TKP_WG_A_REGS = 8,
  TKP_WG_A_MN = 16, /* transposed: rows lie next to each other */
  TKP_WG_B_MN = 32,
  TKP_WG_A_NEGATIVE = 64,
  TKP_WG_B_NEGATIVE = 128,
};

enum {
  TKP_A_REGS = 4,
  TKP_WARPGROUP = 4,  /* warps */
  TKP_TILE_ROWS = 16, /* of a warp, in A and D */
  TKP_MOST_PLACES = 512,
};

/* Where the chunks of 16 bytes lie in shared memory that a warp reads of A or
 * B: its own 16 rows of A, all of B.  Chunks of a line follow each other; a
 * line is a row of A or a column of B, or, of a tile whose rows lie next to
 * each other, one k.  Returns how many there are. */
uint32_t tkp_tile_places(tkp_warp *w, const tkp_inst *in, uint64_t descriptor,
                         bool is_a, uint64_t places[TKP_MOST_PLACES]);

/* Notes a read (flight.c) that goes on until its group is waited for. */
void tkp_begin_tile_read(tkp_warp *w, const tkp_inst *in, uint64_t descriptor,
                         bool is_a, uint64_t hash);
uint64_t tkp_hash_bytes(uint64_t hash, const uint8_t bytes[16]);
/* One chunk: its bytes, and whether all of them have a value. */
bool tkp_read_chunk(tkp_warp *w, const tkp_inst *in, uint64_t at,
                    uint8_t bytes[16]);

#endif
