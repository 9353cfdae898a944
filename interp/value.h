/* value.h - blocks and scalars.
 *
 * A tki_val is one lane, or as many lanes as the block that it is has.  One
 * lane may stand for all of a block.  Whoever holds a tki_val holds one count
 * of its lanes, and gives it back by tki_release; a value is never changed
 * while it has another holder.
 *
 * A block may be symbolic: it is known what its lanes are without them
 * (symbolic.h), and they are written when they are first asked for.  Or its
 * lanes may be lent: they lie in memory that nobody changes.
 *
 * Only value.h and value.c know how lanes are represented (lint: private);
 * all others ask.
 */
#ifndef TK_INTERP_VALUE_H
#define TK_INTERP_VALUE_H

#include <string.h>

#include "base/assert.h"
#include "interp/pool.h"

/* Pointer lanes are device addresses; region is the memory they may touch,
 * or TKI_ANY when only the address tells. */
enum { TKI_ANY = -1 };

/* Which lanes of a block of two axes a value has.  A column or row stands for
 * the whole between a broadcast and the one operation that it feeds. */
typedef enum tki_part { TKI_WHOLE, TKI_COLUMN, TKI_ROW } tki_part;

/* All zero bytes: a scalar 0, and a block that was never assigned.  It has 16
 * bytes, so that functions return it in registers: in memory, it would be
 * written in parts and then copied by larger loads, which wait for them. */
typedef struct tki_val {
  int32_t region;
  uint8_t part_; /* a tki_part */
  bool block_;
  union {
    tki_buf *lanes_; /* of a block */
    uint64_t bits_;  /* the one lane */
    uint8_t byte_;   /* of one byte, so that any type may alias the union */
  };
} tki_val;

_Static_assert(sizeof(tki_val) <= 16, "two registers hold a value");

/* ---- asking -------------------------------------------------------------- */

/* Whether one lane stands for all. */
static inline bool tki_is_uniform(const tki_val *v) {
  return !v->block_;
}
/* Whether it was ever assigned, as far as blocks can tell: a scalar always
 * has a value. */
static inline bool tki_has_value(const tki_val *v, const tk_type *type) {
  return v->block_ || !type->rank;
}
static inline tki_part tki_part_of(const tki_val *v) {
  return (tki_part)v->part_;
}
/* Whether it is one lane, which is 0. */
static inline bool tki_is_zero(const tki_val *v) {
  return !v->block_ && !v->bits_;
}
/* Whether its lanes have not gone back to the pool. */
static inline bool tki_is_held(const tki_val *v) {
  return !v->block_ || v->lanes_->refs_ > 0;
}
/* Whether its lanes have another holder too. */
static inline bool tki_is_shared(const tki_val *v) {
  return v->block_ && v->lanes_->refs_ > 1;
}
/* Bytes of memory that its lanes take, besides the value itself. */
static inline size_t tki_held_bytes(const tki_val *v) {
  return v->block_ ? (size_t)1 << v->lanes_->class_ : 0;
}

/* Whether the value can be one of that type: it has the lanes, or is one that
 * stands for them. */
bool tki_fits(const tki_val *v, const tk_type *type);

/* ---- reading ------------------------------------------------------------- */

/* The lanes, row-major one after the other; of a uniform value the one. */
static inline const void *tki_lanes(const tki_val *v) {
  if (!v->block_) return &v->bits_;
  if (v->lanes_->unwritten_) return tki_buf_lanes(v->lanes_);
  return tki_buf_data(v->lanes_);
}
/* What is known of the lanes of a block; NULL: nothing. */
static inline const tki_sym *tki_symbol(const tki_val *v) {
  bool known = v->block_ && !v->part_ &&
               tki_sym_kind_of(&v->lanes_->sym_) != TKI_SYM_NONE;
  return known ? &v->lanes_->sym_ : NULL;
}
/* The lane that is known to stand for all; NULL: none is.  It stays where it
 * is until the value's lanes have gone back to the pool. */
static inline const void *tki_one_lane(const tki_val *v) {
  const tki_sym *s = tki_symbol(v);
  if (!v->block_) return &v->bits_;
  return s ? tki_sym_one(s) : NULL;
}
/* How many lanes a value of that type has; 0: it was never assigned. */
size_t tki_lane_count(const tki_val *v, const tk_type *type);
/* Lane i, of size bytes. */
static inline const void *tki_lane(const tki_val *v, size_t i, size_t size) {
  TK_ASSERT(tki_is_held(v));
  TK_ASSERT(!v->block_ || (i + 1) * size <= tki_held_bytes(v));
  return (const char *)tki_lanes(v) + (v->block_ ? i * size : 0);
}

/* Lanes to be gone through: lane i is at + i * step. */
typedef struct tki_span {
  const char *at;
  size_t step; /* bytes; 0: one lane stands for all */
} tki_span;

static inline tki_span tki_span_of(const tki_val *v, size_t size) {
  const void *one = tki_one_lane(v);
  return one ? (tki_span){one, 0} : (tki_span){tki_lanes(v), size};
}

/* The bits of a scalar; those beyond its type are not defined. */
static inline uint64_t tki_scalar_bits(const tki_val *v) {
  TK_ASSERT(!v->block_);
  return v->bits_;
}
/* A scalar condition. */
static inline bool tki_scalar_bool(const tki_val *v) {
  TK_ASSERT(!v->block_);
  return v->byte_;
}

/* ---- making -------------------------------------------------------------- */

static inline tki_val tki_make_scalar(uint64_t bits) {
  return (tki_val){.bits_ = bits, .region = TKI_ANY};
}
static inline tki_val tki_make_pointer(uint64_t address, int32_t region) {
  return (tki_val){.bits_ = address, .region = region};
}
/* A scalar from size bytes of memory. */
static inline tki_val tki_make_lane(const void *lane, size_t size) {
  tki_val v = tki_make_scalar(0);
  TK_ASSERT(size <= sizeof v.bits_);
  memcpy(&v.bits_, lane, size);
  return v;
}
/* A value of a type with n lanes, which are still to be written, or are 0. */
tki_val tki_val_new(tki *t, const tk_type *type, size_t n);
tki_val tki_val_zero(tki *t, const tk_type *type, size_t n);
/* A block of n lanes of size bytes, to be written, or 0. */
tki_val tki_block_new(tki *t, size_t n, size_t size);
tki_val tki_block_zero(tki *t, size_t n, size_t size);
/* A block of n lanes if `like` is one, else a scalar 0. */
tki_val tki_val_like(tki *t, const tki_val *like, size_t n, size_t size);
/* A block of the type whose lanes all are the one lane of a uniform value. */
tki_val tki_splat(tki *t, const tki_val *v, const tk_type *type);
/* A block whose lanes are what s says. */
tki_val tki_symbolic(tki *t, const tki_sym *s);
/* A block whose lanes are these, which stay as they are for as long as it has
 * a holder. */
tki_val tki_lend(tki *t, const void *lanes, size_t bytes);

/* The value for in's result, whose lanes are to be written.  Bit k of `spare`
 * says that it may take over the lanes of operand k; it does so with the first
 * such operand that dies here and has room.  Ask for the operands' lanes
 * before calling this: their memory stays valid, the operand may not. */
tki_val tki_result(tki *t, const tk_inst *in, tki_val *frame, unsigned spare);

/* What is known of operand k, which dies here and is symbolic, to be changed
 * into what is known of in's result, of the same shape and lanes of the same
 * size: the operand's value has become the result.  NULL: it cannot. */
tki_sym *tki_result_symbol(tki *t, const tk_inst *in, tki_val *frame,
                           unsigned k);

/* The lanes of a value that was just made, to be written. */
static inline void *tki_writable(tki_val *v) {
  TK_ASSERT(tki_is_held(v) && !tki_is_shared(v) && !v->part_);
  if (!v->block_) return &v->bits_;
  if (v->lanes_->unwritten_ ||
      tki_sym_kind_of(&v->lanes_->sym_) != TKI_SYM_NONE)
    tki_buf_forget(v->lanes_);
  return tki_buf_data(v->lanes_);
}

/* Makes the n lanes of a value, of size bytes, its own, so that they may be
 * written. */
void tki_own(tki *t, tki_val *v, size_t n, size_t size);

/* Writes a lane of size bytes n times. */
void tki_fill(void *to, const void *lane, size_t size, size_t n);

/* ---- holding ------------------------------------------------------------- */

/* Leaves a value without the block that it had, for which another one answers
 * now. */
static inline void tki_forget(tki_val *v) {
  v->bits_ = 0;
  v->block_ = false;
}
static inline void tki_release(tki *t, tki_val *v) {
  TK_ASSERT(tki_is_held(v));
  if (!v->block_) return;
  if (--v->lanes_->refs_ == 0) tki_buf_free(t, v->lanes_);
  tki_forget(v);
}
static inline tki_val tki_share(const tki_val *v) {
  TK_ASSERT(tki_is_held(v));
  if (v->block_) v->lanes_->refs_++;
  return *v;
}
/* The same lanes as a part that stands for a block of two axes. */
static inline tki_val tki_share_as(const tki_val *v, tki_part part) {
  tki_val x = tki_share(v);
  TK_ASSERT(x.block_ && !x.part_);
  x.part_ = (uint8_t)part;
  return x;
}
/* Replaces what a slot holds. */
static inline void tki_set(tki *t, tki_val *slot, tki_val v) {
  TK_ASSERT(tki_is_held(&v));
  tki_release(t, slot);
  *slot = v;
}

/* ---- axes ---------------------------------------------------------------- */

/* A block seen from one of its axes. */
typedef struct tki_around {
  size_t outer, n, inner; /* lanes before, along, after the axis */
  size_t size;            /* bytes of a lane */
} tki_around;

static inline tki_around tki_around_axis(const tk_type *t, int axis) {
  tki_around r = {1, (size_t)t->shape[axis], 1, tk_lane_size(t)};
  for (int i = 0; i < axis; i++) r.outer *= (size_t)t->shape[i];
  for (int i = axis + 1; i < t->rank; i++) r.inner *= (size_t)t->shape[i];
  return r;
}

#endif
