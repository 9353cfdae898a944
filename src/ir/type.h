/* type.h - types of block values: element, pointer depth, shape.
 * A type is a plain value; nothing is owned.  Triton: language/core.py,
 * dtype, pointer_type, block_type.
 */
#ifndef TK_IR_TYPE_H
#define TK_IR_TYPE_H

#include "base/dtype.h"

#define TK_MAX_NUMEL 1048576 /* TRITON_MAX_TENSOR_NUMEL */

typedef struct tk_type {
  uint8_t elem;  /* tk_dtype; of the pointee when ptr > 0 */
  uint8_t ptr;   /* 0 value, 1 pointer to elem, 2 pointer to that, ... */
  bool is_const; /* pointer that stores refuse */
  bool to_block; /* the type of a block pointer: one pointer to a block */
  uint8_t space; /* of a pointer type that a kernel names: its address space,
                    less 1; pointers themselves are in 1 */
  uint8_t rank;  /* 0: scalar */
  int32_t shape[TK_MAX_RANK];
} tk_type;

static inline tk_type tk_scalar(tk_dtype d) {
  return (tk_type){.elem = (uint8_t)d};
}
static inline tk_type tk_pointer(tk_type t) {
  t.ptr++;
  t.space = 0;
  return t;
}
/* The same shape with another element type. */
static inline tk_type tk_with_elem(tk_type t, tk_dtype d) {
  t.elem = (uint8_t)d;
  t.ptr = 0;
  t.is_const = false;
  t.space = 0;
  return t;
}
static inline tk_type tk_elem_of(tk_type t) {
  if (t.to_block) return t; /* a pointer is a scalar, whatever it points to */
  return (tk_type){
      .elem = t.elem, .ptr = t.ptr, .is_const = t.is_const, .space = t.space};
}
static inline tk_type tk_with_shape(tk_type t, const tk_type *shape) {
  t.rank = shape->rank;
  for (int i = 0; i < TK_MAX_RANK; i++) t.shape[i] = shape->shape[i];
  return t;
}
/* What a pointer type points to, with the pointer's shape. */
static inline tk_type tk_pointee(tk_type t) {
  t.ptr--;
  t.space = 0;
  if (!t.ptr) t.is_const = false;
  t.to_block = false;
  return t;
}

static inline int64_t tk_numel(const tk_type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; i++) n *= t->shape[i];
  return n;
}
/* The index of a lane along each axis; returns the rank. */
int tk_lane_index(const tk_type *t, size_t lane, int64_t *index);
/* Bytes of one lane in memory. */
static inline size_t tk_lane_size(const tk_type *t) {
  return t->ptr ? 8 : tk_dtypes[t->elem].size;
}
/* Lanes of one and the other are the same thing; tk_same_elem: const, too. */
static inline bool tk_same_lanes(const tk_type *a, const tk_type *b) {
  return a->elem == b->elem && a->ptr == b->ptr;
}
bool tk_same_elem(const tk_type *a, const tk_type *b);
bool tk_same_shape(const tk_type *a, const tk_type *b);
bool tk_same_type(const tk_type *a, const tk_type *b);

/* "<[128], fp32>", "pointer<fp16>", "int32" as Triton prints them. */
void tk_type_print(tk_buf *out, const tk_type *t);
/* As a variable is declared: "fp32[8, 4]", "pointer<fp32>". */
void tk_type_declare(tk_buf *out, const tk_type *t);

#endif
