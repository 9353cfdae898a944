/* symbolic.h - blocks whose lanes follow from a few numbers.
 *
 * Offsets, addresses and masks are affine in most kernels.  A tki_sym says
 * what every lane of such a block is:
 *   affine  lane [i, j, ...] is base + step[0] i + step[1] j + ..., modulo the
 *           width of its type; without steps all lanes are the same
 *   box     int1 alone: the lanes with lo[k] <= index < hi[k] on each axis k
 *           are 1, all others 0
 * An operation on such blocks either has an exact result of one of the two
 * kinds, or returns false and leaves *r alone: then lanes are
 * computed. */
#ifndef TK_INTERP_SYMBOLIC_H
#define TK_INTERP_SYMBOLIC_H

#include <string.h>

#include "ir/ir.h"

/* Blocks of more axes have lanes. */
enum { TKI_SYM_AXES = 4 };

typedef enum tki_sym_kind {
  TKI_SYM_NONE, /* it is not known what the lanes are */
  TKI_SYM_AFFINE,
  TKI_SYM_BOX,
} tki_sym_kind;

typedef struct tki_sym {
  uint8_t kind_; /* a tki_sym_kind */
  uint8_t size_; /* bytes of a lane */
  uint8_t rank_;
  int32_t shape_[TKI_SYM_AXES];
  uint64_t base_; /* box: 1 if all lanes are 1, 0 if none is */
  union {
    int64_t step_[TKI_SYM_AXES]; /* 0 along an axis of one lane */
    struct {
      int32_t lo_[TKI_SYM_AXES], hi_[TKI_SYM_AXES];
    };
  };
} tki_sym;

/* ---- asking -------------------------------------------------------------- */

static inline tki_sym_kind tki_sym_kind_of(const tki_sym *s) {
  return (tki_sym_kind)s->kind_;
}
/* The lane that all lanes are equal to; NULL: they may differ. */
const void *tki_sym_one(const tki_sym *s);
static inline size_t tki_sym_lane_size(const tki_sym *s) {
  return s->size_;
}
static inline int tki_sym_rank(const tki_sym *s) {
  return s->rank_;
}
static inline size_t tki_sym_axis(const tki_sym *s, int axis) {
  return (size_t)s->shape_[axis];
}
/* Of an affine block. */
static inline uint64_t tki_sym_base(const tki_sym *s) {
  return s->base_;
}
static inline int64_t tki_sym_step(const tki_sym *s, int axis) {
  return s->step_[axis];
}
/* The least and the greatest lane of an affine block of integers of type d;
 * false: some lane wraps, seen from the first one, or numbers are too large to
 * tell. */
bool tki_sym_bounds(const tki_sym *s, tk_dtype d, int64_t *lo, int64_t *hi);
/* Of a box; lo = hi = 0 on each axis if it is empty. */
static inline size_t tki_sym_lo(const tki_sym *s, int axis) {
  return (size_t)s->lo_[axis];
}
static inline size_t tki_sym_hi(const tki_sym *s, int axis) {
  return (size_t)s->hi_[axis];
}
/* From now on nothing is known; where tki_sym_one points to stays. */
static inline void tki_sym_forget(tki_sym *s) {
  s->kind_ = TKI_SYM_NONE;
}
/* Copies of a length that a compiler does not know would become a loop of the
 * processor's own (rep movs), which takes longer to start than any of these. */
static inline void tki_sym_copy_steps(tki_sym *to, const tki_sym *s) {
  to->step_[0] = s->step_[0];
  if (s->rank_ < 2) return;
  to->step_[1] = s->step_[1];
  if (s->rank_ < 3) return;
  to->step_[2] = s->step_[2];
  to->step_[3] = s->step_[3];
}
/* A copy member by member, each as wide as it was written: a larger load of
 * what was just written in parts would wait for them. */
static inline void tki_sym_copy(tki_sym *to, const tki_sym *s) {
  to->kind_ = s->kind_;
  to->size_ = s->size_;
  to->rank_ = s->rank_;
  to->base_ = s->base_;
  memmove(to->shape_, s->shape_, sizeof to->shape_);
  if (s->kind_ == TKI_SYM_BOX) {
    memmove(to->lo_, s->lo_, sizeof to->lo_);
    memmove(to->hi_, s->hi_, sizeof to->hi_);
  } else {
    tki_sym_copy_steps(to, s);
  }
}
/* How many bytes its lanes take. */
size_t tki_sym_bytes(const tki_sym *s);

/* Writes all lanes, row-major. */
void tki_sym_write(const tki_sym *s, void *lanes);

/* ---- making -------------------------------------------------------------- */

/* start, start + 1, ... of a type of one axis. */
void tki_sym_range(tki_sym *r, const tk_type *type, int64_t start);
/* A block in which every lane has the given bits. */
bool tki_sym_splat(tki_sym *r, const tk_type *type, uint64_t bits);
/* The same in the shape of another block, for lanes of that block's kind. */
void tki_sym_alike(tki_sym *r, const tki_sym *s, uint64_t bits);

/* ---- operations ---------------------------------------------------------- */

/* A scalar that stands for all lanes beside an affine block. */
void tki_sym_number(tki_sym *r, size_t size, uint64_t bits);

/* Operands have one shape, except for one that may be such a scalar, their
 * lanes of type d; pointers are TK_UINT64. */
bool tki_sym_binary(tki_sym *r, tk_binary op, tk_dtype d, const tki_sym *a,
                    const tki_sym *b);
bool tki_sym_compare(tki_sym *r, tk_compare op, tk_dtype d, const tki_sym *a,
                     const tki_sym *b);
bool tki_sym_unary(tki_sym *r, tk_unary op, tk_dtype d, const tki_sym *a);
bool tki_sym_cast(tki_sym *r, tk_dtype from, tk_dtype to, const tki_sym *a);
/* p + (offset << shift); offsets are of the signed type d. */
bool tki_sym_addptr(tki_sym *r, const tki_sym *p, const tki_sym *offset,
                    tk_dtype d, int shift);
/* Adds a number to each lane of a block of pointers. */
static inline void tki_sym_move(tki_sym *s, uint64_t by) {
  s->base_ += by;
}
/* The same lanes in the shape of another type. */
bool tki_sym_reshape(tki_sym *r, const tki_sym *a, const tk_type *to);
/* Axes of one lane repeat. */
bool tki_sym_broadcast(tki_sym *r, const tki_sym *a, const tk_type *to);
/* Axis i of the result is axis axes[i] of a. */
void tki_sym_permute(tki_sym *r, const tki_sym *a, const int64_t *axes);

#endif
