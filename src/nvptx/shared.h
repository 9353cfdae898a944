/* shared.h - blocks that are exchanged through shared memory, or within a warp.
 *
 * There is one scratch area.  Whoever writes to it begins with a barrier, so
 * that nobody still reads what was there, and has another before it is
 * read. */
#ifndef TK_NVPTX_SHARED_H
#define TK_NVPTX_SHARED_H

#include "nvptx/gen.h"

/* ---- gen_convert.c ------------------------------------------------------- */

/* The same block in another layout; NULL: shared memory is needed. */
tkv_reg *tkv_convert_in_warp(tkv_gen *g, const tk_type *t,
                             const tkv_version *from, const tkv_dist *to);
/* The same block in another layout. */
tkv_reg *tkv_convert(tkv_gen *g, const tk_type *t, const tkv_version *from,
                     const tkv_dist *to);
/* The register of another lane of the warp, which shfl.sync finds by its mode
 * ("bfly" or "idx") and an i32. */
tkv_reg tkv_shuffle(tkv_code *c, const tk_type *t, tkv_reg x, const char *mode,
                    tkv_reg by);

/* ---- gen_shared.c: the scratch area -------------------------------------- */

/* Reserves n bytes for the scratch area. */
void tkv_scratch(tkv_gen *g, size_t n);
/* How many bytes of shared memory copies have, and how many the code needs. */
size_t tkv_buffer_bytes(const tkv_gen *g);
size_t tkv_shared_bytes(const tkv_gen *g);
/* The address of the scratch area from `base` bytes on. */
tkv_reg tkv_scratch_at(tkv_gen *g, size_t base);
/* The address of the element of that index (i32) in an area, or in the scratch
 * area after `base` bytes. */
tkv_reg tkv_element_at(tkv_code *c, const tk_type *t, tkv_reg area,
                       tkv_reg index);
tkv_reg tkv_shared_at(tkv_gen *g, const tk_type *t, size_t base, tkv_reg index);
void tkv_shared_store(tkv_code *c, const tk_type *t, tkv_reg x, tkv_reg at);
tkv_reg tkv_shared_load(tkv_code *c, const tk_type *t, tkv_reg at);
/* Loads that element of the scratch area. */
tkv_reg tkv_scratch_load(tkv_gen *g, const tk_type *t, size_t base,
                         tkv_reg index);

/* ---- blocks in shared memory --------------------------------------------- */

/* The lanes of a block whose numbers have `value` in the bits of `mask`. */
typedef struct tkv_part {
  uint32_t mask, value;
} tkv_part;

/* A part of a block in an area of shared memory.  Lanes lie at `places`: the
 * layout of whoever writes or reads them, of places instead of numbers. */
typedef struct tkv_stretch {
  const tk_type *type; /* the block's */
  const tkv_dist *places;
  tkv_part part;
  tkv_reg area;
} tkv_stretch;

void tkv_write_part(tkv_gen *g, const tkv_version *v, const tkv_stretch *to);
/* The same to the scratch area after `base` bytes, once everybody is done with
 * what was there; the caller adds a barrier before it is read.  The area of
 * `to` is not looked at. */
void tkv_share_part(tkv_gen *g, const tkv_version *v, const tkv_stretch *to,
                    size_t base);
/* The same of all lanes, which lie in row-major order. */
void tkv_share_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                     size_t base);
/* The bytes that a block takes there, rounded up so that another can follow. */
size_t tkv_bytes_shared(const tk_type *t);
/* Reads the registers of a part of a block that is wanted in layout d; others
 * stay as they are. */
void tkv_read_part(tkv_gen *g, const tkv_dist *d, const tkv_stretch *from,
                   tkv_reg *reg);
/* Notes a block that goes through shared memory, to be shown. */
void tkv_note_exchange(tkv_gen *g, const tkv_exchange *x);
/* The numbers of a block's lanes, a bit each. */
tkv_dist tkv_all_numbers(const tk_type *t);
/* Writes a block to an area so that it can be read well in that layout. */
tkv_placed tkv_write_block(tkv_gen *g, const tk_type *t, const tkv_version *v,
                           const tkv_dist *read, tkv_reg area);
/* Writes a block to places that wgmma reads. */
void tkv_write_tile(tkv_gen *g, const tkv_version *v, const tkv_placed *p);
void tkv_read_placed(tkv_gen *g, const tkv_placed *p, const tkv_dist *d,
                     tkv_part part, tkv_reg *reg);
/* All lanes of a block in the scratch area, in row-major order. */
tkv_reg *tkv_read_block(tkv_gen *g, const tk_type *t, const tkv_dist *d);

#endif
