/* shapes.c - what an instruction's shapes must be beyond the kinds of its
 * operands: those that move, reduce, sort or multiply lanes.
 */
#include <string.h>

#include "ir/libdevice.h"
#include "ir/text.h"

static const tk_type *operand_type(const tk_func *f, const tk_inst *in, int k) {
  return &f->slots[in->args[k]].type;
}

/* The shapes agree but for one axis; -1: for none. */
static bool agree_but(const tk_type *a, const tk_type *b, int axis) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (i != axis && a->shape[i] != b->shape[i]) return false;
  return true;
}

static bool is_copy(const tk_func *f, const tk_inst *in) {
  (void)f;
  return tk_numel(&in->from) == tk_numel(&in->type) &&
         tk_lane_size(&in->from) == tk_lane_size(&in->type);
}

static bool is_broadcast(const tk_func *f, const tk_inst *in) {
  (void)f;
  if (tk_lane_size(&in->from) != tk_lane_size(&in->type)) return false;
  if (!in->from.rank) return true;
  if (in->from.rank != in->type.rank) return false;
  for (int i = 0; i < in->type.rank; i++)
    if (in->from.shape[i] != 1 && in->from.shape[i] != in->type.shape[i])
      return false;
  return true;
}

static bool is_permuted(const tk_func *f, const tk_inst *in) {
  const int64_t *axes = tk_permute_axes(in);
  (void)f;
  TK_ASSERT(in->from.rank == in->type.rank); /* the axes permute them */
  for (int i = 0; i < in->type.rank; i++)
    if (in->type.shape[i] != in->from.shape[axes[i]]) return false;
  return tk_lane_size(&in->from) == tk_lane_size(&in->type);
}

/* The axis is gone, or has one lane left. */
static bool is_reduced(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = &in->type;
  int axis = tk_inst_axis(in);
  (void)f;
  if (axis >= a->rank) return false;
  if (b->rank == a->rank) return b->shape[axis] == 1 && agree_but(a, b, axis);
  if (b->rank + 1 != a->rank) return false;
  for (int i = 0; i < b->rank; i++)
    if (b->shape[i] != a->shape[i + (i >= axis)]) return false;
  return true;
}

static bool is_joined(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = operand_type(f, in, 1);
  if (!tk_same_type(a, b) || in->type.rank != a->rank + 1) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->shape[i] != in->type.shape[i]) return false;
  return in->type.shape[a->rank] == 2 &&
         tk_lane_size(a) == tk_lane_size(&in->type);
}

static bool is_split(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = &in->type;
  if (!a->rank || b->rank + 1 != a->rank || a->shape[b->rank] != 2)
    return false;
  for (int i = 0; i < b->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return tk_lane_size(a) == tk_lane_size(b) &&
         tk_same_type(b, &f->slots[in->res[1]].type);
}

static bool is_concatenated(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = operand_type(f, in, 1), *t = &in->type;
  int axis = tk_inst_axis(in);
  return axis < t->rank && agree_but(a, t, axis) && agree_but(b, t, axis) &&
         a->shape[axis] + b->shape[axis] == t->shape[axis] &&
         tk_lane_size(a) == tk_lane_size(t) &&
         tk_lane_size(b) == tk_lane_size(t);
}

static bool is_sliced(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  int axis = tk_inst_axis(in);
  (void)f;
  if (axis >= t->rank || !agree_but(a, t, axis)) return false;
  int64_t first = tk_slice_start(in), n = a->shape[axis];
  int64_t step = tk_slice_step(in);
  if (step > n || step < -n) return false;
  int64_t last = first + step * (t->shape[axis] - 1);
  return first >= 0 && first < n && last >= 0 && last < n &&
         tk_lane_size(a) == tk_lane_size(t);
}

static bool is_gathered(const tk_func *f, const tk_inst *in) {
  const tk_type *index = operand_type(f, in, tk_gather_index(in));
  return tk_same_shape(index, &in->type) &&
         agree_but(&in->from, &in->type, tk_inst_axis(in)) &&
         tk_lane_size(&in->from) == tk_lane_size(&in->type);
}

/* Rows of the last axis. */
static bool is_sorted(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *t = &in->type;
  int axis = tk_inst_axis(in);
  (void)f;
  return axis == t->rank - 1 && agree_but(a, t, axis) &&
         tk_sort_keep(in) == t->shape[axis] &&
         t->shape[axis] <= a->shape[axis] && tk_lane_size(a) == tk_lane_size(t);
}

static bool is_counted(const tk_func *f, const tk_inst *in) {
  int mask = tk_histogram_mask(in);
  const tk_type *m = mask < 0 ? NULL : operand_type(f, in, mask);
  return in->type.rank == 1 && !in->type.ptr && in->type.elem == TK_INT32 &&
         !in->from.ptr && tk_is_int((tk_dtype)in->from.elem) &&
         (!m || (m->elem == TK_INT1 && tk_same_shape(m, &in->from)));
}

static bool is_product(const tk_func *f, const tk_inst *in) {
  const tk_type *a = &in->from, *b = operand_type(f, in, 1), *t = &in->type;
  int r = t->rank;
  if (r < 2 || a->rank != r || b->rank != r) return false;
  for (int i = 0; i < r - 2; i++)
    if (a->shape[i] != t->shape[i] || b->shape[i] != t->shape[i]) return false;
  return a->shape[r - 2] == t->shape[r - 2] &&
         b->shape[r - 1] == t->shape[r - 1] &&
         a->shape[r - 1] == b->shape[r - 2] && !a->ptr && !b->ptr && !t->ptr;
}

static bool is_overload(const tk_func *f, const tk_inst *in) {
  const tk_extern *e = tk_extern_at(tk_extern_function(in));
  int64_t k = tk_extern_overload(in);
  TK_ASSERT(e); /* the attribute was checked */
  if (k < 0 || k >= TK_OVERLOADS || e->overloads[k].nargs != in->nargs)
    return false;
  for (int i = 0; i < in->nargs; i++)
    if (operand_type(f, in, i)->ptr ||
        operand_type(f, in, i)->elem != e->overloads[k].args[i])
      return false;
  return !in->type.ptr && in->type.elem == e->overloads[k].result;
}

static bool is_loaded(const tk_func *f, const tk_inst *in) {
  int other = tk_load_other(in);
  const tk_type *o = other < 0 ? NULL : operand_type(f, in, other);
  return !o || (o->elem == in->type.elem && o->ptr == in->type.ptr &&
                (!o->rank || tk_same_shape(o, &in->type)));
}

static bool is_stored(const tk_func *f, const tk_inst *in) {
  const tk_type *x = operand_type(f, in, tk_store_value(in));
  return x->elem == in->type.elem && x->ptr == in->type.ptr &&
         (!x->rank || tk_same_shape(x, &in->type));
}

/* Those that have a rule of their own, and the rest of the sentence that
 * begins with "its shapes must be". */
static const struct {
  bool (*holds)(const tk_func *f, const tk_inst *in);
  const char *wanted;
} rules[TK_INST_COUNT] = {
    [TK_I_COPY] = {is_copy, "of as many lanes, of one size"},
    [TK_I_BROADCAST] = {is_broadcast, "equal but for axes of size 1"},
    [TK_I_PERMUTE] = {is_permuted, "equal after the permutation"},
    [TK_I_REDUCE] = {is_reduced, "equal but for the axis"},
    [TK_I_REDUCE_FN] = {is_reduced, "equal but for the axis"},
    [TK_I_JOIN] = {is_joined, "one, with a new last axis of 2"},
    [TK_I_SPLIT] = {is_split, "one, without the last axis of 2"},
    [TK_I_CAT] = {is_concatenated, "equal but for the axis, where they add up"},
    [TK_I_SLICE] = {is_sliced, "such that the slice lies in the operand"},
    [TK_I_GATHER] = {is_gathered, "that of the index, but for the axis"},
    [TK_I_SORT] = {is_sorted, "equal but for the last axis, which keeps"},
    [TK_I_HISTOGRAM] = {is_counted, "one axis of int32 counts of integers"},
    [TK_I_DOT] = {is_product, "those of a product of matrices"},
    [TK_I_EXTERN] = {is_overload, "types of the function's overload"},
    [TK_I_LOAD] = {is_loaded, "one, of values like `other`"},
    [TK_I_STORE] = {is_stored, "one, of values like the stored ones"},
};

const char *tk_inst_shape_flaw(const tk_func *f, const tk_inst *in) {
  bool fits = !rules[in->op].holds || rules[in->op].holds(f, in);
  return fits ? NULL : rules[in->op].wanted;
}
