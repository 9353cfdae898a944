/* ask_numpy.c - what a debugger's expression knows beyond the language: the
 * shape of a tensor, its elements as a block, the distance of pointers, and
 * NumPy's names for reductions.  They hold only in its own text, where nothing
 * else has them, and not in functions that it calls.
 */
#include <string.h>

#include "typing/ask_parts.h"
#include "typing/eval.h"
#include "typing/rule.h"

const tk_tensor *tks_asked_tensor(tks *s, const sval *v) {
  const tk_eval_where *w = s->where;
  if (!w || !sv_is_tensor(v) || v->type.rank || !v->type.ptr) return NULL;
  const tk_tensor *x = w->tensor ? w->tensor(w->ud, v->slot) : NULL;
  for (size_t i = 0; !x && i < w->launch->nargs; i++)
    if (s->tensors && s->tensors[i] == v->slot + 1)
      x = &w->launch->args[i].tensor;
  return x;
}

enum { MOST_ELEMENTS = 1 << 24 };

/* A tensor as a block of its elements; anything else as it is. */
static sval elements_of(tks *s, const sval *v) {
  const tk_tensor *x = tks_asked_tensor(s, v);
  sval all = {.kind = V_ELLIPSIS}, r = *v;
  int64_t n = 1;
  if (!x) return *v;
  for (int i = 0; i < x->rank && n; i++)
    if (__builtin_mul_overflow(n, x->shape[i], &n) || n > MOST_ELEMENTS)
      tks_error_help(s, TK_D_SHAPE, "take a part of it: x[0:1024]",
                     "the tensor has more than %d elements", MOST_ELEMENTS);
  if (!n) tks_error(s, TK_D_SHAPE, "the tensor has no elements");
  tks_ask_element(s, v, &all, &r);
  return r;
}

static sval int_tuple(tks *s, const int64_t *list, int n) {
  sval v = sv_tuple(s, NULL, 0);
  v.n = (size_t)n;
  v.items = TK_NEWN(s->arena, sval, n + 1);
  for (int i = 0; i < n; i++) v.items[i] = sv_int(list[i]);
  return v;
}

sval tks_ask_difference(tks *s, const sval *a, const sval *b) {
  if (a->type.elem != b->type.elem || a->type.ptr != b->type.ptr)
    tks_error(s, TK_D_TYPE, "%s and %s point to different types",
              tks_show(s, a), tks_show(s, b));
  size_t bytes = a->type.ptr > 1 ? 8 : tk_dtype_size((tk_dtype)a->type.elem);
  sval x = tks_cast_to(s, a, TK_INT64), y = tks_cast_to(s, b, TK_INT64);
  sval size = sv_int((tk_int)bytes);
  x = tks_binary(s, TK_OP_SUB, &x, &y);
  return tks_binary(s, TK_OP_FLOORDIV, &x, &size);
}

/* ---- NumPy's functions -------------------------------------------------- */

static sval flat(tks *s, const sval *v) {
  int64_t n = tk_numel(&v->type);
  return v->type.rank ? tks_reshape(s, v, &n, 1) : *v;
}

/* The block that an operation takes, and the axis: None is all of it. */
static sval lanes_of(tks *s, const sval *x, sval *axis) {
  sval v = elements_of(s, x);
  v = tks_to_tensor(s, &v);
  if (!sv_is_none(axis) || !sv_is_block(&v)) return v;
  *axis = sv_int(0);
  return flat(s, &v);
}

static sval np_quantify(tks *s, const tks_args *a) {
  sval axis = a->v[1], x = lanes_of(s, &a->v[0], &axis), zero = sv_int(0);
  sval holds = tks_compare(s, TK_C_NE, &x, &zero);
  if (!sv_is_block(&holds)) return holds;
  sval wide = tks_cast_to(s, &holds, TK_INT32);
  sval r = tks_reduce(s, (tk_reduction)a->op->mode, &wide, &axis, false);
  return tks_compare(s, TK_C_NE, &r, &zero);
}

static sval np_is_nan(tks *s, const tks_args *a) {
  sval x = elements_of(s, &a->v[0]);
  x = tks_to_tensor(s, &x);
  return tks_compare(s, TK_C_NE, &x, &x);
}

static sval np_sum(tks *s, const tks_args *a) {
  sval args[3] = {elements_of(s, &a->v[0]), a->v[1], a->v[2]};
  return tks_call_name(s, "tl.sum", args, 3);
}

/* In fp64, so that the mean of many is one. */
static sval np_mean(tks *s, const tks_args *a) {
  sval axis = a->v[1], x = lanes_of(s, &a->v[0], &axis);
  if (!sv_is_block(&x))
    tks_error(s, TK_D_TYPE, "mean takes a block or a tensor, not %s",
              tks_show(s, &x));
  x = tks_cast_to(s, &x, TK_FP64);
  int at = tks_arg_axis(s, &axis, x.type.rank);
  sval n = sv_int(x.type.shape[at]);
  sval sum = tks_reduce(s, TK_R_SUM, &x, &axis, false);
  return tks_binary(s, TK_OP_DIV, &sum, &n);
}

static sval np_where_it_is(tks *s, const tks_args *a) {
  sval axis = a->v[1], args[2] = {lanes_of(s, &a->v[0], &axis)};
  args[1] = axis;
  return tks_call_name(s, a->op->mode == TK_B_MIN ? "tl.argmin" : "tl.argmax",
                       args, 2);
}

/* Of one block its lanes, of several values these. */
static sval np_extreme(tks *s, const tks_args *a) {
  bool is_min = a->op->mode == TK_B_MIN;
  sval args[2] = {sv_int(0), a->v[1]};
  if (a->nrest == 1) args[0] = elements_of(s, &a->rest[0]);
  if (a->nrest == 1 && sv_is_tensor(&args[0]) && !sv_is_block(&args[0]))
    return args[0];
  if (!sv_is_block(&args[0])) return rule_py_minmax(s, a);
  return tks_call_name(s, is_min ? "tl.min" : "tl.max", args, 2);
}

static sval np_abs(tks *s, const tks_args *a) {
  tks_args b = *a;
  b.v[0] = elements_of(s, &a->v[0]);
  return rule_py_abs(s, &b);
}

static sval np_where(tks *s, const tks_args *a) {
  sval c = elements_of(s, &a->v[0]), x = elements_of(s, &a->v[1]),
       y = elements_of(s, &a->v[2]);
  return tks_where(s, &c, &x, &y);
}

/* Of a tensor (or block): the method of that name. */
static sval np_stride(tks *s, const tks_args *a) {
  const tk_tensor *x = tks_asked_tensor(s, &a->v[0]);
  if (!x)
    tks_error(s, TK_D_TYPE, "%s is not a tensor: it has no strides",
              tks_show(s, &a->v[0]));
  if (sv_is_none(&a->v[1])) return int_tuple(s, x->strides, x->rank);
  return sv_int(x->strides[tks_arg_axis(s, &a->v[1], x->rank)]);
}

static const tks_op stride_method = {"x.stride", "x, axis=None",
                                     np_stride,  0,
                                     TKS_METHOD, "elements between two",
                                     0,          0,
                                     NULL,       0};

static const tks_op numpy[] = {
    {"numpy.sum", "x, axis=None, keep_dims=False", np_sum, 0, TKS_METHOD,
     "the sum", 0, 0, NULL, 0},
    {"numpy.max", "*values, axis=None", np_extreme, TK_B_MAX, TKS_FUNCTION,
     "the largest", 0, 0, NULL, 0},
    {"numpy.min", "*values, axis=None", np_extreme, TK_B_MIN, TKS_FUNCTION,
     "the smallest", 0, 0, NULL, 0},
    {"numpy.mean", "x, axis=None", np_mean, 0, TKS_METHOD, "the mean, in fp64",
     0, 0, NULL, 0},
    {"numpy.argmax", "x, axis=None", np_where_it_is, TK_B_MAX, TKS_METHOD,
     "where the largest lane is", 0, 0, NULL, 0},
    {"numpy.argmin", "x, axis=None", np_where_it_is, TK_B_MIN, TKS_METHOD,
     "where the smallest lane is", 0, 0, NULL, 0},
    {"numpy.any", "x, axis=None", np_quantify, TK_R_MAX, TKS_METHOD,
     "whether some lane is not zero", 0, 0, NULL, 0},
    {"numpy.all", "x, axis=None", np_quantify, TK_R_MIN, TKS_METHOD,
     "whether every lane is not zero", 0, 0, NULL, 0},
    {"numpy.isnan", "x", np_is_nan, 0, TKS_METHOD, "which lanes are NaN", 0, 0,
     NULL, 0},
    {"numpy.abs", "x", np_abs, 0, TKS_METHOD, "absolute values", 0, 0, NULL, 0},
    {"numpy.where", "condition, x, y", np_where, 0, TKS_FUNCTION,
     "x where the condition holds, else y", 0, 0, NULL, 0},
};

/* The name without the module's. */
static const char *numpy_name(size_t i) {
  return strchr(numpy[i].name, '.') + 1;
}

/* A row as the table of a session has it. */
static const tks_op *ready(tks *s, const tks_op *row) {
  tks_op *op = TK_NEW(s->arena, tks_op);
  *op = *row;
  tks_parse_signature(s->arena, op);
  return op;
}

const tks_op *tks_ask_numpy(tks *s, const char *name) {
  for (size_t i = 0; i < TK_COUNT(numpy); i++)
    if (!strcmp(numpy_name(i), name)) return ready(s, &numpy[i]);
  return NULL;
}

const char *tk_expression_name(size_t i) {
  static const char *const attributes[] = {
      ".shape", ".dtype", ".stride", ".ndim", ".numel", ".T", 0, 0, NULL, 0};
  if (i < TK_COUNT(numpy)) return numpy_name(i);
  i -= TK_COUNT(numpy);
  return i < TK_COUNT(attributes) ? attributes[i] : NULL;
}

/* ---- attributes of tensors ---------------------------------------------- */

static sval np_method(tks *s, const tks_op *op, const sval *self) {
  sval v = {.kind = V_METHOD, .n = 1, .op = op};
  v.items = TK_NEWN(s->arena, sval, 2);
  v.items[0] = *self;
  return v;
}

/* What the language does not say of a pointer, or of a block. */
bool tks_ask_attr(tks *s, const sval *v, const char *name, sval *out) {
  const tk_tensor *x = tks_asked_tensor(s, v);
  const tks_op *op = tks_ask_numpy(s, name);
  int64_t n = 1;
  for (int i = 0; x && i < x->rank; i++) n *= x->shape[i];
  if (x && !strcmp(name, "shape"))
    *out = int_tuple(s, x->shape, x->rank);
  else if (x && !strcmp(name, "strides"))
    *out = int_tuple(s, x->strides, x->rank);
  else if (x && !strcmp(name, "ndim"))
    *out = sv_int(x->rank);
  else if (x && !strcmp(name, "numel"))
    *out = sv_int(n);
  else if (x && !strcmp(name, "stride"))
    *out = np_method(s, ready(s, &stride_method), v);
  else if (x && op && op->role != TKS_METHOD)
    return *out = elements_of(s, v), *out = tks_attr(s, out, name), true;
  else if (op && op->role == TKS_METHOD && (x || sv_is_block(v)) &&
           (x || strcmp(name, "sum")))
    *out = np_method(s, op, v);
  else
    return false;
  return true;
}
