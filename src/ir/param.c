/* param.c - what a launch passes to its kernel. */
#include "ir/param.h"

static uint64_t tensor_address(const tk_tensor *x) {
  return x->device_address ? x->device_address : (uint64_t)(uintptr_t)x->data;
}

/* ---- values ----------------------------------------------------------------
 */

/* Returns the leaf of a tuple, perhaps nested, with number *item; counts the
 * leaves that it passes. */
static const tk_value *leaf(const tk_value *v, size_t *item) {
  if (v->kind != TK_V_TUPLE && v->kind != TK_V_DESCRIPTOR)
    return (*item)-- == 0 ? v : NULL;
  for (size_t i = 0; i < v->n; i++) {
    const tk_value *found = leaf(&v->items[i], item);
    if (found) return found;
  }
  return NULL;
}

static uint64_t scalar_bits(const tk_type *type, const tk_value *v) {
  uint64_t bits = 0;
  tk_dtype d = (tk_dtype)type->elem;
  if (!tk_is_float(d)) {
    int64_t i = v->kind == TK_V_FLOAT ? (int64_t)v->f : (int64_t)v->lo;
    tk_lane_set_int(d, &bits, i);
  } else {
    double f =
        v->kind == TK_V_FLOAT ? v->f : (double)v->hi * 0x1p64 + (double)v->lo;
    tk_lane_set_double(d, &bits, f);
  }
  return bits;
}

static tk_param_value address_param(const tk_tensor *x, size_t index) {
  return (tk_param_value){tensor_address(x), x, index};
}

tk_param_value tk_param_of(const tk_launch *l, const tk_param *p) {
  const tk_arg *a = &l->args[p->arg];
  size_t item = p->item;
  if (a->kind == TK_ARG_TENSOR) return address_param(&a->tensor, p->arg);
  if (a->kind == TK_ARG_SCALAR) return (tk_param_value){.bits = a->bits};
  const tk_value *x = leaf(&a->value, &item);
  if (x && x->kind == TK_V_TENSOR)
    return address_param(&l->extras.items[x->lo].tensor,
                         l->nargs + (size_t)x->lo);
  return (tk_param_value){.bits = x ? scalar_bits(&p->type, x) : 0};
}

/* ---- memory
 * ------------------------------------------------------------------ */

/* Gives where a view begins and ends, relative to its data, when nothing is
 * known of its storage. */
static void view_bounds(const tk_tensor *x, int64_t *lo, int64_t *hi) {
  int64_t size = (int64_t)tk_dtype_size(x->dtype);
  *lo = 0;
  *hi = size;
  for (int i = 0; i < x->rank; i++) {
    int64_t far = (x->shape[i] - 1) * x->strides[i] * size;
    if (x->shape[i] == 0) *hi = *lo = 0;
    if (x->shape[i] == 0) return;
    if (far < 0)
      *lo += far;
    else
      *hi += far;
  }
}

static tk_memory memory_of(const char *name, const tk_tensor *x) {
  tk_memory r = {
      .name = name, .tensor = x, .readonly = x->flags & TK_TENSOR_READONLY};
  uint64_t base = tensor_address(x);
  int64_t lo, hi;
  view_bounds(x, &lo, &hi);
  if (x->storage) {
    lo = (int64_t)((char *)x->storage - (char *)x->data);
    hi = lo + (int64_t)x->storage_bytes;
  }
  r.lo = base + (uint64_t)lo;
  r.hi = base + (uint64_t)hi;
  r.host = (char *)x->data + lo;
  TK_ASSERT(lo <= hi && r.lo <= r.hi);
  return r;
}

bool tk_memory_at(const tk_launch *l, size_t i, tk_memory *out) {
  if (i >= l->nargs + l->extras.n) return false;
  const tk_arg *a = i < l->nargs ? &l->args[i] : &l->extras.items[i - l->nargs];
  *out = (tk_memory){.name = a->name};
  if (a->kind == TK_ARG_TENSOR) *out = memory_of(a->name, &a->tensor);
  return true;
}
