/* op_reduce.c - rules: reductions, scans, sorting, counting.
 *
 * A reduction along an axis of N lanes combines lane i with lane i + N/2,
 * halving until one is left: the order is fixed, and is the same for the
 * built-in reductions and for a user's combine function, which is
 * specialised for each halved shape.
 */
#include <string.h>

#include "typing/rule.h"
#include "typing/version.h"

/* The shape after reducing an axis. */
static tk_type reduced(tk_type t, int axis, bool keep) {
  if (keep) {
    t.shape[axis] = 1;
    return t;
  }
  for (int i = axis; i + 1 < t.rank; i++) t.shape[i] = t.shape[i + 1];
  t.rank--;
  return t;
}

/* Without an axis the block is flattened; its rank comes back if kept. */
static sval flatten(tks *s, const sval *v) {
  int64_t n = tk_numel(&v->type);
  return tks_reshape(s, v, &n, 1);
}

static sval restore_rank(tks *s, const sval *v, int rank) {
  int64_t ones[TK_MAX_RANK];
  for (int i = 0; i < rank; i++) ones[i] = 1;
  return tks_reshape(s, v, ones, rank);
}

static void need_block(tks *s, const sval *v, const char *name) {
  if (!v->type.rank || v->type.ptr)
    tks_error(s, TK_D_TYPE, "%s needs a block of numbers, not %s", name,
              tks_show(s, v));
}

sval tks_reduce(tks *s, tk_reduction kind, const sval *v, const sval *axis,
                bool keep) {
  sval x = *v;
  bool all = sv_is_none(axis);
  if (all) x = flatten(s, v);
  int at = all ? 0 : tks_arg_axis(s, axis, x.type.rank);
  tk_type t = reduced(x.type, at, keep && !all);
  tk_inst *in = tks_emit(s, TK_I_REDUCE, (int)kind, t, 1, &x);
  in->attr[0] = at;
  sval r = tks_result(in);
  return all && keep ? restore_rank(s, &r, v->type.rank) : r;
}

/* ---- built-in reductions ----------------------------------------------- */

static tk_dtype sum_type(tks *s, const sval *v, const sval *dtype) {
  tk_dtype d = sv_dtype(v);
  if (!sv_is_none(dtype)) return (tk_dtype)tks_arg_dtype(s, dtype).elem;
  if (!tks_has(s, TKS_SUM_WIDENS_INTS)) return d == TK_BF16 ? TK_FP32 : d;
  if (tk_is_int(d) && tk_dtypes[d].bits < 32)
    return tk_is_signed(d) ? TK_INT32 : TK_UINT32;
  return d;
}

sval rule_sum(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  need_block(s, &v, a->op->name);
  v = tks_cast_to(s, &v, sum_type(s, &v, &a->v[3]));
  return tks_reduce(s, TK_R_SUM, &v, &a->v[1], tks_arg_bool(s, a, 2));
}

/* Narrow lanes are widened before they are compared. */
static sval widen(tks *s, const sval *v, bool keep_int) {
  tk_dtype d = sv_dtype(v);
  bool kept = keep_int && tks_has(s, TKS_BF16_KEPT);
  if (d == TK_BF16 && !kept) return tks_cast_to(s, v, TK_FP32);
  if (keep_int || tk_dtypes[d].bits >= 32) return *v;
  return tks_cast_to(s, v, tk_is_float(d) ? TK_FP32 : TK_INT32);
}

/* (values, indices) of the extreme lanes.  Of equal ones the compiler's
 * combine function takes the first if it is told to; else the right operand,
 * which is the last lane in the order of the lanes. */
static sval arg_reduce(tks *s, tk_reduction kind, const sval *v,
                       const sval *axis, bool first, bool keep) {
  sval out[2];
  int at = tks_arg_axis(s, axis, v->type.rank);
  tk_type t = reduced(v->type, at, keep);
  tk_type types[2] = {t, tk_with_elem(t, TK_INT32)};
  tk_inst *in = tks_inst_new(s, TK_I_REDUCE, (int)kind, t, 1, v, 2);
  in->attr[0] = at;
  in->attr[1] = !first;
  for (int i = 0; i < 2; i++) {
    in->res[i] = tks_slot(s, types[i], NULL);
    out[i] = sv_tensor(types[i], in->res[i]);
  }
  return sv_tuple(s, out, 2);
}

/* With indices the axis must be named: None does not compile. */
static void need_axis(tks *s, const tks_args *a, const char *how) {
  if (!sv_is_none(&a->v[1])) return;
  const char *help = tk_arena_printf(
      s->arena, "write %s; for all lanes, apply it to tl.ravel(x)", how);
  tks_error_help(
      s, TK_D_CALL, help,
      "%s: axis is None, which the compiler refuses when indices are asked for",
      a->op->name);
}

sval rule_max(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  need_block(s, &v, a->op->name);
  bool indices = tks_arg_bool(s, a, 2), keep = tks_arg_bool(s, a, 4);
  v = widen(s, &v, indices);
  tk_reduction kind = (tk_reduction)a->op->mode;
  if (indices)
    need_axis(s, a,
              tk_arena_printf(s->arena, "%s(x, 0, return_indices=True)",
                              a->op->name));
  if (indices)
    return arg_reduce(s, kind, &v, &a->v[1], tks_arg_bool(s, a, 3), keep);
  return tks_reduce(s, kind, &v, &a->v[1], keep);
}

sval rule_argmax(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  need_block(s, &v, a->op->name);
  v = widen(s, &v, true);
  need_axis(s, a, tk_arena_printf(s->arena, "%s(x, 0)", a->op->name));
  sval both = arg_reduce(s, (tk_reduction)a->op->mode, &v, &a->v[1],
                         tks_arg_bool(s, a, 2), tks_arg_bool(s, a, 3));
  return both.items[1];
}

sval rule_bit_reduce(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  need_block(s, &v, a->op->name);
  if (tk_is_float(sv_dtype(&v)))
    tks_error(s, TK_D_TYPE, "%s only supports integers, not %s", a->op->name,
              tks_show(s, &v));
  return tks_reduce(s, (tk_reduction)a->op->mode, &v, &a->v[1],
                    tks_arg_bool(s, a, 2));
}

/* ---- combine functions ------------------------------------------------- */

/* The inputs of a reduce or scan: one block, or a tuple of one shape. */
static sval inputs(tks *s, const tks_args *a, bool *single) {
  *single = a->v[0].kind != V_TUPLE;
  sval t = *single ? sv_tuple(s, a->v, 1) : a->v[0];
  sval r = sv_tuple(s, t.items, t.n);
  for (size_t i = 0; i < r.n; i++) {
    r.items[i] = tks_to_tensor(s, &r.items[i]);
    need_block(s, &r.items[i], a->op->name);
    if (i && !tk_same_shape(&r.items[i].type, &r.items[0].type))
      tks_error(s, TK_D_SHAPE, "%s: all inputs must have the same shape",
                a->op->name);
  }
  if (!r.n) tks_error(s, TK_D_CALL, "%s needs an input", a->op->name);
  if (r.n > TK_COMBINED)
    tks_error(s, TK_D_UNSUPPORTED, "%s of %zu blocks at once: at most %d",
              a->op->name, r.n, TK_COMBINED);
  return r;
}

static void check_combined(tks *s, const char *name, const sval *ret,
                           const sval *types) {
  sval one = *ret, t = ret->kind == V_TUPLE ? *ret : sv_tuple(s, &one, 1);
  bool ok = t.n == types->n;
  for (size_t i = 0; ok && i < t.n; i++)
    ok = t.items[i].kind == V_TENSOR &&
         tk_same_elem(&t.items[i].type, &types->items[i].type);
  if (!ok)
    tks_error(s, TK_D_TYPE,
              "%s: the combine function must return values of the types that "
              "it takes, not %s",
              name, tks_show(s, ret));
}

/* Does a function do what only scalars allow, or ask what it was given?  Its
 * callees are not looked at. */
static bool wants_scalars(const tk_ast *n) {
  static const char *const asks[] = {"shape", "numel", "type"};
  if (!n) return false;
  switch (n->kind) {
  case TK_AST_IF:
  case TK_AST_FOR:
  case TK_AST_WHILE:
  case TK_AST_COND:
  case TK_AST_SUBSCRIPT: return true;
  case TK_AST_ATTR:
    for (size_t i = 0; i < TK_COUNT(asks); i++)
      if (!strcmp(tk_attr_name(n), asks[i])) return true;
    break;
  default: break;
  }
  for (size_t i = 0; i < tk_ast_nchildren(n); i++)
    if (wants_scalars(tk_ast_child(n, i))) return true;
  return false;
}

static bool has_shape(const sval *ret, const tk_type *shape) {
  size_t n = ret->kind == V_TUPLE ? ret->n : 1;
  const sval *v = ret->kind == V_TUPLE ? ret->items : ret;
  for (size_t i = 0; i < n; i++)
    if (v[i].kind == V_TENSOR && !tk_same_shape(&v[i].type, shape))
      return false;
  return true;
}

/* combine_fn of many lanes at once: of blocks, where that gives blocks. */
static tks_instance *combine_instance(tks *s, const sval *fn, const sval *args,
                                      size_t n) {
  if (!wants_scalars(tk_func_body(fn->fn->ast))) {
    tks_instance *f = tks_instantiate(s, fn->fn, args, n, NULL);
    if (has_shape(&f->ret, &args[0].type)) return f;
  }
  sval two[2] = {*fn, sv_tuple(s, args, n)};
  return tks_instantiate(s, tks_prelude(s, "_combine_lanes"), two, 2, NULL);
}

/* combine_fn for operands of the inputs' types in the given shape. */
static tk_func *combine_for(tks *s, const tks_args *a, const sval *fn,
                            const sval *in, const tk_type *shape) {
  if (fn->kind != V_FUNC)
    tks_error(s, TK_D_CALL,
              "%s: combine_fn must be a @triton.jit function, not %s",
              a->op->name, tks_show(s, fn));
  sval *args = TK_NEWN(s->arena, sval, 2 * in->n + 1);
  sval types = sv_tuple(s, in->items, in->n);
  for (size_t i = 0; i < 2 * in->n; i++) {
    tk_type e = tk_elem_of(in->items[i % in->n].type);
    args[i] = sv_tensor(tk_with_shape(e, shape), -1);
    types.items[i % in->n] = args[i];
  }
  tks_instance *f = combine_instance(s, fn, args, 2 * in->n);
  check_combined(s, a->op->name, &f->ret, &types);
  return f->func;
}

static sval results(tks *s, tk_inst *inst, const sval *in, tk_type shape,
                    bool single) {
  sval out = sv_tuple(s, in->items, in->n);
  for (size_t i = 0; i < in->n; i++) {
    tk_type t = tk_with_shape(tk_elem_of(in->items[i].type), &shape);
    inst->res[i] = tks_slot(s, t, NULL);
    out.items[i] = sv_tensor(t, inst->res[i]);
  }
  return single ? out.items[0] : out;
}

sval rule_reduce(tks *s, const tks_args *a) {
  bool single, all = sv_is_none(&a->v[1]), keep = tks_arg_bool(s, a, 3);
  sval in = inputs(s, a, &single);
  int rank = in.items[0].type.rank;
  for (size_t i = 0; all && i < in.n; i++)
    in.items[i] = flatten(s, &in.items[i]);
  int axis = all ? 0 : tks_arg_axis(s, &a->v[1], rank);
  tk_type shape = in.items[0].type;
  tk_combine *c = TK_NEW(s->arena, tk_combine);
  c->levels = TK_NEWN(s->arena, tk_func *, 32);
  for (int n = shape.shape[axis] / 2; n >= 1; n /= 2) {
    shape.shape[axis] = n;
    c->levels[c->nlevels++] = combine_for(s, a, &a->v[2], &in, &shape);
  }
  tk_type out = reduced(in.items[0].type, axis, keep && !all);
  tk_inst *inst = tks_inst_new(s, TK_I_REDUCE_FN, 0, out, in.n, in.items, in.n);
  inst->attr[0] = axis;
  inst->ref.combine = c;
  sval r = results(s, inst, &in, out, single);
  if (all && keep && single) r = restore_rank(s, &r, rank);
  return r;
}

sval rule_scan(tks *s, const tks_args *a) {
  bool single;
  sval in = inputs(s, a, &single);
  tk_type shape = in.items[0].type;
  int axis = tks_arg_axis(s, &a->v[1], shape.rank);
  tk_combine *c = TK_NEW(s->arena, tk_combine);
  c->levels = TK_NEWN(s->arena, tk_func *, 1);
  c->levels[0] = combine_for(s, a, &a->v[2], &in, &shape);
  c->nlevels = 1;
  tk_inst *inst = tks_inst_new(s, TK_I_SCAN_FN, 0, shape, in.n, in.items, in.n);
  inst->attr[0] = axis;
  inst->attr[1] = tks_arg_only_bool(s, a, 3, TKS_REVERSE_IS_BOOL);
  inst->ref.combine = c;
  return results(s, inst, &in, shape, single);
}

sval rule_cumsum(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  need_block(s, &v, a->op->name);
  if (sv_dtype(&v) == TK_BF16 && !tks_has(s, TKS_BF16_KEPT))
    v = tks_cast_to(s, &v, TK_FP32);
  /* Sums of small integers widen; products do since Triton 3.9. */
  if (a->op->mode == TK_R_SUM || tks_has(s, TKS_CUMPROD_WIDENS))
    v = tks_cast_to(s, &v, sum_type(s, &v, &a->v[3]));
  tk_inst *in = tks_emit(s, TK_I_SCAN, a->op->mode, v.type, 1, &v);
  in->attr[0] = tks_arg_axis(s, &a->v[1], v.type.rank);
  in->attr[1] = tks_arg_only_bool(s, a, 2, TKS_REVERSE_IS_BOOL);
  return tks_result(in);
}

/* ---- sorting, counting ------------------------------------------------- */

static void last_axis(tks *s, const tks_args *a, const sval *v, size_t i) {
  need_block(s, v, a->op->name);
  if (sv_is_none(&a->v[i])) return;
  int axis = tks_arg_axis(s, &a->v[i], v->type.rank), last = v->type.rank - 1;
  if (axis != last)
    tks_error(s, TK_D_VALUE, "only the last axis is supported for sorting");
  if (a->v[i].i < 0)
    tks_error_help(s, TK_D_VALUE,
                   tk_arena_printf(s->arena, "leave it out, or write %d", last),
                   "%s takes no negative axis", a->op->name);
}

static sval sort(tks *s, const sval *v, bool down, int64_t keep) {
  tk_type t = v->type;
  t.shape[t.rank - 1] = (int32_t)keep;
  tk_inst *in = tks_emit(s, TK_I_SORT, down, t, 1, v);
  in->attr[0] = t.rank - 1;
  in->attr[1] = keep;
  return tks_result(in);
}

sval rule_sort(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  last_axis(s, a, &v, 1);
  /* One lane is reduced by tl.max, which widens. */
  if (v.type.shape[v.type.rank - 1] == 1 && tks_has(s, TKS_TOPK_CHECKED))
    v = widen(s, &v, false);
  return sort(s, &v, tks_arg_bool(s, a, 2), v.type.shape[v.type.rank - 1]);
}

/* Triton asserts it in the language: tuning leaves such a configuration out. */
static void need_k(tks *s, bool holds, const char *must, int64_t k, int lanes) {
  if (holds) return;
  tks_error_help(s, TK_D_STATIC_ASSERT,
                 tk_arena_printf(s->arena, "k is %lld, the axis has %d lanes",
                                 (long long)k, lanes),
                 "static assertion failed: topk: k must %s", must);
}

sval rule_topk(tks *s, const tks_args *a) {
  sval v = tks_arg_tensor(s, a, 0);
  last_axis(s, a, &v, 2);
  bool all = sv_is_none(&a->v[1]);
  int lanes = v.type.shape[v.type.rank - 1];
  int64_t k = all ? lanes : tks_arg_int(s, a, 1, NULL);
  need_k(s, k > 0, "be greater than 0", k, lanes);
  if (k == 1 && v.type.rank == 1 && !tks_has(s, TKS_TOPK_CHECKED))
    tks_error_help(s, TK_D_VALUE, "write tl.max(x, 0, keep_dims=True)",
                   "the compiler has no tl.topk of one lane of one axis before "
                   "Triton 3.9");
  need_k(s, !(k & (k - 1)) || !tks_has(s, TKS_TOPK_CHECKED),
         "be a power of two", k, lanes);
  while (k & (k - 1)) k &= k - 1; /* the power of two that is not above it */
  need_k(s, k <= lanes, "not exceed the size of the selected dimension", k,
         lanes);
  /* Halves are merged by tl.max or min, which widen. */
  bool one = k == 1 && tks_has(s, TKS_TOPK_CHECKED);
  if (one || k < lanes) v = widen(s, &v, false);
  bool down = a->op->nparams <= 3 || tks_arg_bool(s, a, 3);
  return sort(s, &v, down, k);
}

sval rule_histogram(tks *s, const tks_args *a) {
  sval v[2] = {tks_arg_tensor(s, a, 0), sv(V_NONE)};
  int64_t bins = tks_arg_int(s, a, 1, NULL);
  tks_check_shape(s, &bins, 1);
  if (v[0].type.rank != 1 || v[0].type.ptr || !tk_is_int(sv_dtype(&v[0])))
    tks_error(s, TK_D_TYPE,
              "tl.histogram takes a 1-D block of integers, not "
              "%s",
              tks_show(s, &v[0]));
  if (tk_dtypes[sv_dtype(&v[0])].bits != 32)
    tks_error_help(s, TK_D_TYPE, "convert it with .to(tl.int32)",
                   "histogram only supports 32-bit integer input, not %s",
                   tks_show(s, &v[0]));
  size_t n = 1;
  if (!sv_is_none(&a->v[2])) {
    v[1] = tks_to_tensor(s, &a->v[2]);
    if (v[1].type.ptr || sv_dtype(&v[1]) != TK_INT1)
      tks_error_help(s, TK_D_TYPE, "compare, or convert with .to(tl.int1)",
                     "mask must have boolean lanes, not %s",
                     tks_show(s, &v[1]));
    v[1] = tks_broadcast(s, &v[1], &v[0].type);
    n = 2;
  }
  tk_type t = {.elem = TK_INT32, .rank = 1, .shape = {(int32_t)bins}};
  return tks_result(tks_emit(s, TK_I_HISTOGRAM, 0, t, n, v));
}
