/* layout.h - which register of which thread holds which lane of a block.
 *
 * A layout is a linear map over F2, the field of two elements whose addition
 * is xor: it sends the bits of (register, lane, warp), or of a place in shared
 * memory, to the bits of an index into the block.  As every size is a power of
 * two, the images of single bits, its bases, say all of it; one that is 0 is a
 * bit that does not matter, and what it tells apart are copies.  Source:
 * "Linear Layouts: Robust Code Generation of Efficient Tensor Computation
 * Using F2" (arXiv 2505.23819); the layouts by name are Triton's
 * (lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp).
 *
 * Layouts are plain values that own
 * nothing. */
#ifndef TK_NVPTX_LAYOUT_H
#define TK_NVPTX_LAYOUT_H

#include "base/diag.h"

/* What a layout's inputs are: X(ID, name) */
#define TKV_INPUTS(X)                                                          \
  X(REGISTER, "register") X(LANE, "lane") X(WARP, "warp") X(OFFSET, "offset")

#define X(ID, name) TKV_##ID,
typedef enum tkv_input { TKV_INPUTS(X) TKV_INPUT_COUNT } tkv_input;
#undef X

enum { TKV_LAYOUT_BITS = 24 };

typedef struct tkv_index {
  int32_t at[TK_MAX_RANK];
} tkv_index;

typedef struct tkv_layout {
  int rank;
  int32_t shape[TK_MAX_RANK]; /* powers of two */
  int bits[TKV_INPUT_COUNT];  /* of each input */
  tkv_index basis[TKV_INPUT_COUNT][TKV_LAYOUT_BITS];
} tkv_layout;

const char *tkv_input_name(tkv_input k);

/* An empty layout, of a block with one lane. */
tkv_layout tkv_layout_new(int rank);
/* Lets further bits of an input run along an axis: `size` steps, from where
 * the block ends so far, which grows by that factor.  Size is a power of two;
 * false: the input has no more bits. */
bool tkv_layout_along(tkv_layout *l, tkv_input k, int axis, int32_t size);
/* Adds bits of an input that do not change the index, for that many copies. */
bool tkv_layout_copies(tkv_layout *l, tkv_input k, int32_t n);
/* Makes it one of a block of that shape: bits that lead outside do not matter
 * any more, and where it is too small registers run along the axes, in that
 * order. */
bool tkv_layout_fit(tkv_layout *l, const int32_t *shape, const int *order);
/* Removes an axis, and the registers that then hold copies. */
void tkv_layout_drop_axis(tkv_layout *l, int axis);
/* The index of the lane that the inputs with these values hold. */
tkv_index tkv_layout_at(const tkv_layout *l,
                        const uint32_t value[TKV_INPUT_COUNT]);

/* ---- layout_text.c ------------------------------------------------------ */

/* The layout of a block of that shape that a text describes as Triton writes
 * it: #blocked<{sizePerThread = [1, 4], ...}>, #slice, #nvidia_mma, #dot_op,
 * #swizzled_shared, #linear, with or without `ttg.`.  Reports what is wrong
 * with a caret in src and throws TK_USAGE. */
tkv_layout tkv_layout_parse(tk_env *e, const tk_source *src, int rank,
                            const int32_t *shape);

#endif
