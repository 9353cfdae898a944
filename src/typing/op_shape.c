/* op_shape.c - rules: operations that move lanes without changing them. */
#include <stdio.h>
#include <string.h>

#include "typing/rule.h"
#include "typing/version.h"

/* Triton asks these for their shape, which a number does not have. */
static sval shaped(tks *s, const tks_args *a, size_t i, bool scalar) {
  const sval *v = &a->v[i];
  bool flat = v->kind == V_TENSOR && !v->type.rank && !scalar;
  if (!sv_is_number(v) && !flat) return tks_arg_tensor(s, a, i);
  s->frame->at = a->span[i];
  tks_error_help(s, TK_D_TYPE, "make it a block with tl.full",
                 "%s takes a %s, not %s", a->op->name,
                 scalar ? "tensor" : "block", tks_show(s, v));
}

/* f(x, 2, 3) and f(x, (2, 3)) are the same. */
static sval one_tuple(tks *s, const tks_args *a) {
  if (a->nrest == 1 && a->rest[0].kind == V_TUPLE) return a->rest[0];
  return sv_tuple(s, a->rest, a->nrest);
}

/* The shape: from *shape, or the keyword that hides as the rest's name. */
static int shape_arg(tks *s, const tks_args *a, int64_t *shape) {
  sval t = a->given[1] ? a->v[1] : one_tuple(s, a);
  return tks_arg_shape(s, &t, shape);
}

sval rule_reshape(tks *s, const tks_args *a) {
  int64_t shape[TK_MAX_RANK], numel = 1;
  int rank = shape_arg(s, a, shape);
  sval v = shaped(s, a, 0, !rank);
  tks_check_shape(s, shape, rank);
  for (int i = 0; i < rank; i++) numel *= shape[i];
  if (numel != tk_numel(&v.type))
    tks_error(s, TK_D_SHAPE,
              "reshape cannot change the number of lanes: %s has %lld, the "
              "new shape %lld",
              tks_show(s, &v), (long long)tk_numel(&v.type), (long long)numel);
  return tks_reshape(s, &v, shape, rank);
}

sval rule_ravel(tks *s, const tks_args *a) {
  sval v = shaped(s, a, 0, false);
  int64_t n = tk_numel(&v.type);
  return tks_reshape(s, &v, &n, 1);
}

sval rule_broadcast(tks *s, const tks_args *a) {
  sval v[2] = {shaped(s, a, 0, true), shaped(s, a, 1, true)};
  tks_broadcast2(s, &v[0], &v[1]);
  const tk_type *t = v[0].type.rank ? &v[0].type : &v[1].type;
  tk_type shape = *t;
  v[0] = tks_broadcast(s, &v[0], &shape);
  v[1] = tks_broadcast(s, &v[1], &shape);
  return sv_tuple(s, v, 2);
}

sval rule_broadcast_to(tks *s, const tks_args *a) {
  sval v = shaped(s, a, 0, true);
  int64_t shape[TK_MAX_RANK];
  tk_type t = tk_elem_of(v.type);
  t.rank = (uint8_t)shape_arg(s, a, shape);
  tks_check_shape(s, shape, t.rank);
  for (int i = 0; i < t.rank; i++) t.shape[i] = (int32_t)shape[i];
  return tks_broadcast(s, &v, &t);
}

static void duplicate_axes(tks *s, const sval *axes, int rank) TK_NORETURN;
static void duplicate_axes(tks *s, const sval *axes, int rank) {
  char text[TK_MAX_RANK * 4 + 1] = "";
  size_t at = 0;
  for (size_t i = 0; i < axes->n; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", i ? ", " : "",
                           tks_arg_axis(s, &axes->items[i], rank));
  tks_error(s, TK_D_VALUE,
            "expand_dims received duplicate axes, normalized axes = [%s]",
            text);
}

sval rule_expand_dims(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  sval one = sv_tuple(s, &a->v[1], 1);
  const sval *axes = a->v[1].kind == V_TUPLE ? &a->v[1] : &one;
  int rank = v.type.rank + (int)axes->n;
  bool at[TK_MAX_RANK] = {false};
  if (rank > TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  for (size_t i = 0; i < axes->n; i++) {
    int axis = tks_arg_axis(s, &axes->items[i], rank);
    if (at[axis]) duplicate_axes(s, axes, rank);
    at[axis] = true;
  }
  for (int i = 0; i < rank; i++)
    if (at[i]) v = tks_insert_axis(s, &v, i);
  return v;
}

static sval permute(tks *s, const sval *v, const int64_t *dims) {
  tk_type t = v->type;
  bool identity = true;
  for (int i = 0; i < t.rank; i++) {
    t.shape[i] = v->type.shape[dims[i]];
    identity = identity && dims[i] == i;
  }
  if (identity) return *v;
  tk_inst *in = tks_emit(s, TK_I_PERMUTE, 0, t, 1, v);
  memcpy(in->attr, dims, sizeof in->attr);
  return tks_result(in);
}

/* An axis of a permutation, which counts from the front alone. */
static int permuted_axis(tks *s, const sval *v, int rank) {
  if (v->kind == V_INT && v->i < 0 && v->i >= -rank)
    tks_error_help(s, TK_D_VALUE,
                   tk_arena_printf(s->arena, "write %d", (int)v->i + rank),
                   "permute takes no negative axes: the order must be a "
                   "permutation of 0 .. %d",
                   rank - 1);
  return tks_arg_axis(s, v, rank);
}

sval rule_permute(tks *s, const tks_args *a) {
  sval v = shaped(s, a, 0, false);
  int64_t dims[TK_MAX_RANK] = {0};
  int rank = v.type.rank;
  sval t = a->given[1] ? a->v[1] : one_tuple(s, a);
  if (a->op->mode && !t.n) { /* tl.trans(x) */
    if (rank < 2)
      tks_error(s, TK_D_SHAPE, "tl.trans needs at least two axes, not %s",
                tks_show(s, &v));
    for (int i = 0; i < rank; i++) dims[i] = i;
    dims[rank - 1] = rank - 2;
    dims[rank - 2] = rank - 1;
    return permute(s, &v, dims);
  }
  bool seen[TK_MAX_RANK] = {false};
  if ((int)t.n != rank)
    tks_error(s, TK_D_SHAPE, "permute needs %d axes, not %zu", rank, t.n);
  for (int i = 0; i < rank; i++) {
    dims[i] = permuted_axis(s, &t.items[i], rank);
    if (seen[dims[i]])
      tks_error(s, TK_D_VALUE, "permute names axis %lld twice",
                (long long)dims[i]);
    seen[dims[i]] = true;
  }
  return permute(s, &v, dims);
}

bool tks_same_in_compiler(const tk_type *a, const tk_type *b) {
  tk_dtype x = (tk_dtype)a->elem, y = (tk_dtype)b->elem;
  bool raw =
      (tk_is_int(x) || x == TK_FP8E4B15) && (tk_is_int(y) || y == TK_FP8E4B15);
  if (a->ptr != b->ptr) return false;
  return x == y || (raw && tk_dtypes[x].bits == tk_dtypes[y].bits);
}

/* The lanes of a and b side by side; the result has the dtype of a, and b's
 * bits are seen as that. */
static sval join(tks *s, const tks_args *a) {
  sval x = a->v[0], y = a->v[1];
  for (size_t i = 0; i < 2; i++) {
    s->frame->at = a->span[i];
    if (!sv_is_tensor(&a->v[i]))
      tks_error_help(s, TK_D_TYPE, "make it a block with tl.full",
                     "%s takes two tensors, not %s", a->op->name,
                     tks_show(s, &a->v[i]));
  }
  if (!tks_same_in_compiler(&x.type, &y.type))
    tks_error_help(s, TK_D_TYPE, "cast one of them with .to(...)",
                   "%s does not promote its operands: both must have the same "
                   "dtype, not %s and %s",
                   a->op->name, tks_show(s, &x), tks_show(s, &y));
  y = tks_bitcast(s, &y, tk_elem_of(x.type));
  tks_broadcast2(s, &x, &y);
  tk_type shape = x.type.rank ? x.type : y.type;
  x = tks_broadcast(s, &x, &shape);
  y = tks_broadcast(s, &y, &shape);
  if (shape.rank == TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  tk_type t = x.type;
  t.shape[t.rank++] = 2;
  return tks_emit2(s, TK_I_JOIN, 0, t, &x, &y);
}

sval rule_join(tks *s, const tks_args *a) {
  return join(s, a);
}

sval rule_split(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  if (!v.type.rank || v.type.shape[v.type.rank - 1] != 2)
    tks_error(s, TK_D_SHAPE, "tl.split needs a last axis of 2, not %s",
              tks_show(s, &v));
  tk_type t = v.type;
  t.rank--;
  tk_inst *in = tks_inst_new(s, TK_I_SPLIT, 0, t, 1, &v, 2);
  sval out[2];
  for (int i = 0; i < 2; i++) {
    in->res[i] = tks_slot(s, t, NULL);
    out[i] = sv_tensor(t, in->res[i]);
  }
  return sv_tuple(s, out, 2);
}

sval rule_interleave(tks *s, const tks_args *a) {
  sval v = join(s, a);
  int64_t shape[TK_MAX_RANK];
  int rank = v.type.rank - 1;
  for (int i = 0; i < rank; i++) shape[i] = v.type.shape[i];
  if (!rank) return v; /* two scalars */
  shape[rank - 1] *= 2;
  return tks_reshape(s, &v, shape, rank);
}

/* The lanes of a, then those of b, along an axis: a new last axis of two goes
 * before it and is merged with it. */
static sval cat_along(tks *s, const tks_args *a) {
  sval x = tks_arg_tensor(s, a, 0), y = tks_arg_tensor(s, a, 1);
  int rank = x.type.rank, axis = tks_arg_axis(s, &a->v[3], rank);
  if (!tk_same_shape(&x.type, &y.type))
    tks_error(s, TK_D_SHAPE,
              "tl.cat needs two blocks of one shape, not %s and "
              "%s",
              tks_show(s, &x), tks_show(s, &y));
  sval both = join(s, a);
  int64_t order[TK_MAX_RANK] = {0}, shape[TK_MAX_RANK];
  for (int i = 0; i <= rank; i++)
    order[i] = i < axis ? i : i == axis ? rank : i - 1;
  for (int i = 0; i < rank; i++)
    shape[i] = x.type.shape[i] * (i == axis ? 2 : 1);
  both = permute(s, &both, order);
  return tks_reshape(s, &both, shape, rank);
}

/* What the compiler may do in any order: one axis alone. */
static sval cat_reordered(tks *s, const tks_args *a) {
  sval v[2] = {tks_arg_tensor(s, a, 0), tks_arg_tensor(s, a, 1)};
  tk_type t = v[0].type;
  if (t.rank != 1 || v[1].type.rank != 1)
    tks_error(s, TK_D_SHAPE,
              "tl.cat needs two blocks of one axis, not %s "
              "and %s",
              tks_show(s, &v[0]), tks_show(s, &v[1]));
  if (!tks_same_in_compiler(&v[0].type, &v[1].type))
    tks_error_help(s, TK_D_TYPE, "cast one of them with .to(...)",
                   "tl.cat needs equal dtypes, not %s and %s",
                   tks_show(s, &v[0]), tks_show(s, &v[1]));
  v[1] = tks_bitcast(s, &v[1], tk_elem_of(t));
  t.shape[0] += v[1].type.shape[0];
  int64_t lanes = t.shape[0];
  tks_check_shape(s, &lanes, 1);
  tk_inst *in = tks_emit(s, TK_I_CAT, 0, t, 2, v);
  in->attr[0] = 0;
  return tks_result(in);
}

sval rule_cat(tks *s, const tks_args *a) {
  if (tks_arg_bool(s, a, 2)) return cat_reordered(s, a);
  if (a->op->mode) return cat_along(s, a);
  tks_error_help(s, TK_D_CALL,
                 "write tl.cat(a, b, can_reorder=True), or keep the order "
                 "with tl.join, tl.permute and tl.reshape",
                 "tl.cat: can_reorder is False by default, which the "
                 "compiler refuses before Triton 3.7");
}

sval rule_flip(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0), dim = a->v[1];
  if (sv_is_none(&dim) && tks_has(s, TKS_FLIP_LAST))
    dim = sv_int(v.type.rank - 1);
  if (sv_is_none(&dim))
    tks_error_help(s, TK_D_CALL, "write tl.flip(x, 0), or the axis you mean",
                   "tl.flip: dim is None by default, which the compiler "
                   "refuses before Triton 3.9");
  int axis = tks_arg_axis(s, &dim, v.type.rank);
  tk_inst *in = tks_emit(s, TK_I_FLIP, 0, v.type, 1, &v);
  in->attr[0] = axis;
  return tks_result(in);
}

sval rule_gather(tks *s, const tks_args *a) {
  sval v[2] = {tks_arg_tensor(s, a, 0), tks_arg_tensor(s, a, 1)};
  const tk_type *src = &v[0].type, *idx = &v[1].type;
  if (idx->ptr || !tk_is_int((tk_dtype)idx->elem))
    tks_error(s, TK_D_TYPE, "tl.gather needs an integer index, not %s",
              tks_show(s, &v[1]));
  if (src->rank != idx->rank)
    tks_error(s, TK_D_SHAPE, "tl.gather: source and index differ in rank");
  int axis = tks_arg_axis(s, &a->v[2], src->rank);
  for (int i = 0; i < src->rank; i++)
    if (i != axis && src->shape[i] != idx->shape[i])
      tks_error(s, TK_D_SHAPE, "tl.gather: index axis %d must match the source",
                i);
  tk_type t = tk_with_shape(tk_elem_of(*src), idx);
  tk_inst *in = tks_emit(s, TK_I_GATHER, 0, t, 2, v);
  in->attr[0] = axis;
  return tks_result(in);
}

sval rule_item(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  if (tk_numel(&v.type) != 1)
    tks_error(s, TK_D_SHAPE, "item needs a block of one lane, not %s",
              tks_show(s, &v));
  return tks_reshape(s, &v, NULL, 0);
}
