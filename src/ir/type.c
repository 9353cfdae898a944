/* type.c - comparing and printing types, and the lanes of blocks. */
#include "ir/type.h"

#include "base/index.h"

int tk_lane_index(const tk_type *t, size_t lane, int64_t *index) {
  int64_t shape[TK_MAX_RANK];
  for (int i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  tk_split_index(shape, t->rank, lane, index);
  return t->rank;
}

bool tk_same_elem(const tk_type *a, const tk_type *b) {
  return a->elem == b->elem && a->ptr == b->ptr && a->is_const == b->is_const &&
         a->to_block == b->to_block && a->space == b->space;
}

bool tk_same_shape(const tk_type *a, const tk_type *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

bool tk_same_type(const tk_type *a, const tk_type *b) {
  return tk_same_elem(a, b) && tk_same_shape(a, b);
}

void tk_type_declare(tk_buf *out, const tk_type *t) {
  tk_type e = tk_elem_of(*t);
  tk_type_print(out, &e);
  for (int i = 0; i < t->rank; i++)
    tk_buf_printf(out, "%s%d", i ? ", " : "[", (int)t->shape[i]);
  if (t->rank) tk_buf_putc(out, ']');
}

void tk_type_print(tk_buf *out, const tk_type *t) {
  if (t->to_block) {
    tk_type block = tk_pointee(*t);
    tk_buf_puts(out, "pointer<");
    tk_type_print(out, &block);
    tk_buf_putc(out, '>');
    return;
  }
  if (t->rank) {
    tk_buf_puts(out, "<[");
    for (int i = 0; i < t->rank; i++)
      tk_buf_printf(out, "%s%d", i ? ", " : "", t->shape[i]);
    tk_buf_puts(out, "], ");
  }
  for (int i = 0; i < t->ptr; i++)
    tk_buf_puts(out, t->is_const ? "const_pointer<" : "pointer<");
  tk_buf_puts(out, tk_dtype_name((tk_dtype)t->elem));
  for (int i = 0; i < t->ptr; i++) tk_buf_putc(out, '>');
  if (t->rank) tk_buf_putc(out, '>');
}
