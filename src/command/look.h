/* look.h - what a block looks like: its statistics, a picture of it, and
 * how its lanes follow each other.
 *
 * Every function adds text to a buffer of the caller and keeps nothing.  The
 * text ends with a newline and is at most `width` columns
 * wide. */
#ifndef TK_COMMAND_LOOK_H
#define TK_COMMAND_LOOK_H

#include "ir/type.h"
#include "tkdbg/debugger.h"

/* Lanes with a type; strided, so that a tensor in memory is one as well. */
typedef struct tkt_block {
  tk_type type;                 /* what a lane is, and the shape */
  int64_t strides[TK_MAX_RANK]; /* in lanes; see tkt_block_of */
  const void *data;
  const uint8_t *undefined; /* one byte a lane, row-major; NULL: none */
  const char *absent; /* what a picture calls such lanes, which then count only
                         where a cell has no others; NULL: "undefined" */
} tkt_block;

/* Lanes that are next to each other; they must stay alive. */
tkt_block tkt_block_of(const tk_type *type, const void *lanes);
/* A tensor's elements. */
tkt_block tkt_block_region(const tk_debug_region *x);
/* The memory of the i-th lane in row-major order. */
const void *tkt_block_lane(const tkt_block *b, int64_t i);
double tkt_lane_double(const tkt_block *b, int64_t i); /* addresses too */
/* "[1, 2]" for the i-th lane; "" for a scalar. */
void tkt_lane_index(tk_buf *out, const tk_type *type, int64_t i);

/* dtype, shape, extremes and where they are, mean, deviation, how many lanes
 * are NaN, infinite, zero, undefined; a histogram of the finite ones. */
void tkt_stats(tk_buf *out, const tkt_block *b, int width);

/* A heat map, or for int1 a mask, of the last two axes: a plane with its index
 * for each index of the leading ones, which follow each other downwards; of
 * many planes the first.  Of larger blocks a cell is the mean of its lanes, or
 * the one farthest from 0.  Each cell is a letter; with colour, in colour. */
void tkt_picture(tk_buf *out, const tkt_block *b, bool farthest, int width,
                 bool colour);
/* What is shown beside a picture: two lines of text, and the program of the
 * grid that it belongs to. */
typedef struct tkt_caption {
  const char *title, *under;
  int64_t grid[3], pid[3]; /* grid[0] is 0 if it belongs to no program */
  const int64_t *programs; /* the grid of programs, if numbers stand for them */
} tkt_caption;

/* The same as an SVG document, with its caption; returns its height.  At `top`
 * it lies in a document of the caller's. */
int64_t tkt_svg(tk_buf *out, const tkt_block *b, bool farthest,
                const tkt_caption *caption, int64_t top);

/* By axis: contiguity (lanes that count up by one), divisibility (of the
 * first of those), constancy (equal lanes), as Triton's axis analysis defines
 * them, but of the values there are.  Integers and pointers only. */
void tkt_axis(tk_buf *out, const tkt_block *b);

/* The blocked layout that Triton's compiler starts from for this shape and
 * number of warps (of 32 threads), and who holds the first lanes. */
void tkt_layout(tk_buf *out, const tk_type *type, int warps);

#endif
