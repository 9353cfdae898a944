/* look.h - what a block looks like: its statistics, a picture of it, how its
 * lanes follow each other, and what an access touches.
 *
 * Every function adds text to a buffer of the caller and keeps nothing.  The
 * text ends with a newline and is at most `width` columns wide.
 */
#ifndef TK_DEBUG_LOOK_H
#define TK_DEBUG_LOOK_H

#include "interp/interp.h"

/* Lanes with a type; strided, so that a tensor in memory is one as well. */
typedef struct tkd_block {
  tk_type type;                 /* what a lane is, and the shape */
  int64_t strides[TK_MAX_RANK]; /* in lanes; see tkd_block_of */
  const void *data;
  const uint8_t *undefined; /* one byte a lane, row-major; NULL: none */
} tkd_block;

/* The lanes of a value; it must stay alive. */
tkd_block tkd_block_of(const tk_type *type, tki_val *v);
/* A tensor's elements. */
tkd_block tkd_block_tensor(const tk_tensor *x);
/* The memory of the i-th lane in row-major order. */
const void *tkd_block_lane(const tkd_block *b, int64_t i);
double tkd_lane_double(const tkd_block *b, int64_t i); /* addresses too */
/* "[1, 2]" for the i-th lane; "" for a scalar. */
void tkd_lane_index(tk_buf *out, const tk_type *type, int64_t i);

/* dtype, shape, extremes and where they are, mean, deviation, how many lanes
 * are NaN, infinite, zero, undefined; a histogram of the finite ones. */
void tkd_stats(tk_buf *out, const tkd_block *b, int width);

/* A heat map, or for int1 a mask, of the last two axes; leading axes follow
 * each other downwards.  Larger blocks are shown by the extreme of each cell's
 * lanes that is farthest from zero.  colour: ANSI background, else letters. */
void tkd_picture(tk_buf *out, const tkd_block *b, int width, bool colour);
/* The same as an SVG document, a cell per lane (or per group of lanes). */
void tkd_svg(tk_buf *out, const tkd_block *b);

/* By axis: contiguity (lanes that count up by one), divisibility (of the
 * first of those), constancy (equal lanes), as Triton's axis analysis defines
 * them, but of the values there are.  Integers and pointers only. */
void tkd_axis(tk_buf *out, const tkd_block *b);

/* The blocked layout that Triton's compiler starts from for this shape and
 * number of warps (of 32 threads), and who holds the first lanes. */
void tkd_layout(tk_buf *out, const tk_type *type, int warps);

/* What an access touches: elements of which tensor, masked-off lanes, and how
 * many 32-byte sectors each group of 32 lanes needs. */
typedef struct tkd_touch {
  uint64_t lanes, active;   /* of all accesses counted */
  uint64_t groups, sectors; /* of 32 lanes with one active; of them */
  uint64_t least;           /* sectors that the bytes would fill */
  uint64_t lo, hi;          /* addresses: first byte, behind the last */
  int32_t region;           /* TKI_ANY: several */
  bool write;
  size_t size; /* bytes of a lane */
  uint64_t times;
} tkd_touch;
void tkd_touch_add(tkd_touch *t, const tki_access *a);
void tkd_touch_text(tk_buf *out, const tki *t, const tkd_touch *touch);

#endif
