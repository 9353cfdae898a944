/* value.h - blocks and scalars, and the pool that their lanes live in.
 *
 * Lanes of a block are contiguous and row-major in a counted buffer; a scalar
 * is held in place.  Whoever holds a tki_val holds one count of its buffer.
 * Buffers belong to the pool of the run.
 */
#ifndef TK_INTERP_VALUE_H
#define TK_INTERP_VALUE_H

#include "ir/ir.h"

typedef struct tki tki;

typedef struct tki_buf {
  uint32_t refs;
  uint32_t cls;         /* size class in the pool */
  struct tki_buf *next; /* in the pool */
} tki_buf;

/* Pointer lanes are device addresses; region is the memory they may touch,
 * or TKI_ANY when only the address tells. */
enum { TKI_ANY = -1, TKI_ALIGN = 64 };

typedef struct tki_val {
  tki_buf *buf; /* NULL: one lane, in u */
  union {
    uint64_t u;
    int64_t i;
    double d;
    float f;
    uint8_t b;
  };
  int32_t region;
  int32_t lazy; /* 1: a column, 2: a row that stands for a block of two axes;
                   only between a broadcast and the one operation it feeds */
} tki_val;

static inline void *tki_buf_data(tki_buf *b) {
  return (char *)b + TKI_ALIGN;
}

/* The lanes of a value. */
static inline void *tki_data(tki_val *v) {
  return v->buf ? tki_buf_data(v->buf) : &v->u;
}

tki_buf *tki_buf_new(tki *t, size_t bytes);
void tki_buf_free(tki *t, tki_buf *b);
static inline void tki_release(tki *t, tki_val *v) {
  if (v->buf && --v->buf->refs == 0) tki_buf_free(t, v->buf);
  v->buf = NULL;
}
static inline tki_val tki_share(const tki_val *v) {
  if (v->buf) v->buf->refs++;
  return *v;
}
/* Replaces what a slot holds. */
static inline void tki_set(tki *t, tki_val *slot, tki_val v) {
  tki_release(t, slot);
  *slot = v;
}
/* A value for n lanes of size bytes; rank 0 needs no buffer. */
tki_val tki_val_new(tki *t, const tk_type *type, size_t n);
void tki_pool_free(tki *t);
/* Takes every buffer back, whoever holds it: no program may be alive. */
void tki_pool_reset(tki *t);

/* The value for in's result, reusing the buffer of operand k when it dies
 * here and is large enough (k < 0: never). */
tki_val tki_result(tki *t, const tk_inst *in, tki_val *frame, int k);

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
