/* param.c - what a launch passes to its kernel. */
#include "ir/param.h"

#include "launch/areas.h"

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
  return (tk_param_value){tk_tensor_address(x), x, index};
}

/* Of a tensor, item 0 is its address; its lengths follow, then its strides. */
static tk_param_value tensor_param(const tk_tensor *x, const tk_param *p) {
  if (!p->item) return address_param(x, p->arg);
  size_t i = p->item - 1, rank = (size_t)x->rank;
  TK_ASSERT(i < 2 * rank); /* the launch was checked */
  int64_t n = i < rank ? x->shape[i] : x->strides[i - rank];
  uint64_t bits = 0;
  tk_lane_set_int((tk_dtype)p->type.elem, &bits, n);
  return (tk_param_value){.bits = bits};
}

tk_param_value tk_param_of(const tk_launch *l, const tk_param *p) {
  const tk_arg *a = &l->args[p->arg];
  size_t item = p->item;
  if (a->kind == TK_ARG_TENSOR) return tensor_param(&a->tensor, p);
  if (a->kind == TK_ARG_SCALAR) return (tk_param_value){.bits = a->bits};
  const tk_value *x = leaf(&a->value, &item);
  if (x && x->kind == TK_V_TENSOR)
    return address_param(&l->extras.items[x->lo].tensor,
                         l->nargs + (size_t)x->lo);
  return (tk_param_value){.bits = x ? scalar_bits(&p->type, x) : 0};
}
