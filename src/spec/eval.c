/* eval.c - expressions for the debugger; see eval.h.
 *
 * The specialiser does the work.  Names that only a debugger knows are bound
 * underneath the program's own variables; instructions that turn out not to
 * be needed (an address of every tensor, say) are dropped afterwards.
 */
#include "spec/eval.h"

#include <string.h>

#include "launch/areas.h"
#include "spec/rule.h"

/* ---- picking lanes ------------------------------------------------------ */

typedef struct range {
  int64_t start, step, count;
  bool one; /* a single index: the axis goes */
} range;

static void bad_index(tks *s, const sval *v) TK_NORETURN;
static void bad_index(tks *s, const sval *v) {
  tks_error_help(s, TK_D_TYPE, "as in x[3], x[0:4, ::2]",
                 "a block is indexed by whole numbers and slices, not %s",
                 tks_show(s, v));
}

static int64_t bound(tks *s, const sval *v, int64_t missing, int64_t lo,
                     int64_t n) {
  if (sv_is_none(v)) return missing;
  if (sv_is_tensor(v))
    tks_error_help(s, TK_D_TYPE, "a single index may be any number: x[i]",
                   "the bounds of a slice are constants, not %s",
                   tks_show(s, v));
  if (v->kind != V_INT && v->kind != V_BOOL) bad_index(s, v);
  tk_int i = v->i < 0 ? v->i + n : v->i;
  return i < lo ? lo : i > n ? n : (int64_t)i;
}

/* Python's meaning of an index or slice on an axis of n. */
static range range_of(tks *s, const sval *v, int64_t n) {
  if (v->kind == V_INT || v->kind == V_BOOL) {
    tk_int i = v->i < 0 ? v->i + n : v->i;
    if (i < 0 || i >= n)
      tks_error(s, TK_D_VALUE, "index %lld is outside of an axis of %lld",
                (long long)v->i, (long long)n);
    return (range){(int64_t)i, 1, 1, true};
  }
  if (v->kind != V_SLICE) bad_index(s, v);
  const sval *by = &v->items[2];
  if (!sv_is_none(by) && by->kind != V_INT) bad_index(s, by);
  range r = {.step = sv_is_none(by) ? 1 : (int64_t)by->i};
  if (!r.step) tks_error(s, TK_D_VALUE, "the step of a slice must not be 0");
  bool up = r.step > 0;
  r.start = bound(s, &v->items[0], up ? 0 : n - 1, up ? 0 : -1, up ? n : n - 1);
  int64_t end = bound(s, &v->items[1], up ? n : -1, up ? 0 : -1, n);
  int64_t far = up ? end - r.start : r.start - end;
  r.count = far > 0 ? (far - 1) / (up ? r.step : -r.step) + 1 : 0;
  if (r.count == 0)
    tks_error(s, TK_D_VALUE, "the slice is empty on an axis of %lld",
              (long long)n);
  return r;
}

static sval pick_axis(tks *s, const sval *v, int axis, range r) {
  tk_type t = v->type;
  t.shape[axis] = r.count;
  tk_inst *in = tks_emit(s, TK_I_SLICE, 0, t, 1, v);
  in->attr[0] = axis;
  in->attr[1] = r.start;
  in->attr[2] = r.step;
  return tks_result(in);
}

static sval whole_axis(tks *s) {
  sval v = sv(V_SLICE);
  v.items = TK_NEWN(s->arena, sval, 3);
  return v;
}

/* An index with an entry for every axis and for each axis that None puts in;
 * "..." stands for as many whole axes as are missing. */
typedef struct entries {
  sval at[2 * TK_MAX_RANK];
  int n;
} entries;

static void add_entry(tks *s, entries *x, sval v) {
  if (x->n == 2 * TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  x->at[x->n++] = v;
}

static void add_whole(tks *s, entries *x, int n) {
  while (n-- > 0) add_entry(s, x, whole_axis(s));
}

/* How many axes the index names. */
static int named_axes(tks *s, const sval *at, size_t n, int rank) {
  int named = 0, dots = 0;
  for (size_t i = 0; i < n; i++) {
    dots += at[i].kind == V_ELLIPSIS;
    named += at[i].kind != V_ELLIPSIS && !sv_is_none(&at[i]);
  }
  if (dots > 1) tks_error(s, TK_D_SHAPE, "an index can have only one ...");
  if (named > rank)
    tks_error(s, TK_D_SHAPE, "%d indices were given, for %d ax%s", named, rank,
              rank == 1 ? "is" : "es");
  return named;
}

static entries entries_of(tks *s, const sval *index, int rank) {
  bool many = index->kind == V_TUPLE, dots = false;
  const sval *at = many ? index->items : index;
  size_t n = many ? index->n : 1;
  entries x = {.n = 0};
  int missing = rank - named_axes(s, at, n, rank);
  for (size_t i = 0; i < n; i++) {
    if (at[i].kind != V_ELLIPSIS) {
      add_entry(s, &x, at[i]);
      continue;
    }
    add_whole(s, &x, missing);
    dots = true;
  }
  if (!dots) add_whole(s, &x, missing);
  return x;
}

static void need_whole_number(tks *s, const sval *v) {
  if (v->type.ptr || v->type.rank || !tk_is_int(sv_dtype(v))) bad_index(s, v);
}

/* The lane of an axis that a number names which is known when it runs. */
static sval pick_lane(tks *s, const sval *v, int axis, const sval *at) {
  need_whole_number(s, at);
  tk_type t = tk_with_shape(tk_scalar(TK_INT64), &v->type);
  sval n = sv_int(t.shape[axis]), zero = sv_int(0);
  t.shape[axis] = 1;
  sval i = tks_cast_to(s, at, TK_INT64);
  sval back = tks_compare(s, TK_C_LT, &i, &zero);
  back = tks_cast_to(s, &back, TK_INT64);
  back = tks_binary(s, TK_OP_MUL, &back, &n);
  i = tks_binary(s, TK_OP_ADD, &i, &back);
  sval args[2] = {*v, tks_broadcast(s, &i, &t)};
  tk_type to = tk_with_shape(tk_elem_of(v->type), &t);
  tk_inst *in = tks_emit(s, TK_I_GATHER, 0, to, 2, args);
  in->attr[0] = axis;
  return tks_result(in);
}

static sval reshaped(tks *s, const sval *v, const int64_t *shape, int rank) {
  if (rank > TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  bool same = rank == v->type.rank;
  for (int i = 0; i < rank && same; i++) same = shape[i] == v->type.shape[i];
  return same ? *v : tks_reshape(s, v, shape, rank);
}

sval tks_pick(tks *s, const sval *v, const sval *index) {
  int64_t shape[2 * TK_MAX_RANK];
  int rank = 0, axis = 0;
  sval r = *v;
  entries x = entries_of(s, index, v->type.rank);
  for (int i = 0; i < x.n; i++) {
    if (sv_is_none(&x.at[i])) {
      shape[rank++] = 1;
      continue;
    }
    if (sv_is_tensor(&x.at[i])) {
      r = pick_lane(s, &r, axis++, &x.at[i]);
      continue;
    }
    range g = range_of(s, &x.at[i], v->type.shape[axis]);
    if (g.count != v->type.shape[axis] || g.step != 1)
      r = pick_axis(s, &r, axis, g);
    if (!g.one) shape[rank++] = g.count;
    axis++;
  }
  return reshaped(s, &r, shape, rank);
}

/* ---- elements of tensors ------------------------------------------------ */

/* Offsets along one axis, as a block in its place among rank axes. */
static sval axis_offsets(tks *s, range r, int64_t stride, int place, int rank) {
  int64_t shape[TK_MAX_RANK];
  tk_type t = tk_scalar(TK_INT32);
  t.rank = 1;
  t.shape[0] = r.count;
  for (int i = 0; i < rank; i++) shape[i] = i == place ? r.count : 1;
  sval lanes = tks_result(tks_emit(s, TK_I_ARANGE, 0, t, 0, NULL));
  sval by = sv_int(r.step * stride), from = sv_int(r.start * stride);
  lanes = tks_cast_to(s, &lanes, TK_INT64);
  lanes = tks_binary(s, TK_OP_MUL, &lanes, &by);
  lanes = tks_binary(s, TK_OP_ADD, &lanes, &from);
  return tks_reshape(s, &lanes, shape, rank);
}

static sval scalar_offset(tks *s, const sval *at, const tk_tensor *x, int i) {
  sval v = *at, stride = sv_int(x->strides[i]);
  if (!sv_is_tensor(at)) {
    range r = range_of(s, at, x->shape[i]);
    return sv_int((tk_int)r.start * x->strides[i]);
  }
  need_whole_number(s, at);
  v = tks_cast_to(s, &v, TK_INT64);
  return tks_binary(s, TK_OP_MUL, &v, &stride);
}

/* Slices, and axes of one that None puts in, are the axes of the block. */
static sval element(tks *s, const sval *p, const tk_tensor *x,
                    const sval *index) {
  entries e = entries_of(s, index, x->rank);
  int64_t shape[2 * TK_MAX_RANK];
  int rank = 0, place = 0, axis = 0, out = 0;
  sval addr = *p, none = sv(V_NONE);
  for (int i = 0; i < e.n; i++) rank += e.at[i].kind == V_SLICE;
  for (int i = 0; i < e.n; i++) {
    const sval *at = &e.at[i];
    if (sv_is_none(at)) {
      shape[out++] = 1;
      continue;
    }
    range r = {.count = 1};
    if (at->kind == V_SLICE)
      shape[out++] = (r = range_of(s, at, x->shape[axis])).count;
    sval off = at->kind != V_SLICE
                   ? scalar_offset(s, at, x, axis)
                   : axis_offsets(s, r, x->strides[axis], place++, rank);
    addr = tks_binary(s, TK_OP_ADD, &addr, &off);
    axis++;
  }
  sval v = tks_load(s, &addr, &none, &none);
  return out ? reshaped(s, &v, shape, out) : v;
}

bool tks_element(tks *s, const sval *v, const sval *index, sval *out) {
  const tk_tensor *x = tks_tensor_at(s, v);
  if (x) *out = element(s, v, x, index);
  return x != NULL;
}

/* ---- tensors, and NumPy's names ------------------------------------------
 *
 * What an expression knows beyond the language: the shape of a tensor, its
 * elements as a block, the distance of pointers, and NumPy's names for
 * reductions.  They hold only in its own text, where nothing else has them,
 * and not in functions that it calls. */

bool tks_is_asked(const tks *s) {
  return s->where && !s->frame->caller;
}

const tk_tensor *tks_tensor_at(tks *s, const sval *v) {
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
  const tk_tensor *x = tks_tensor_at(s, v);
  sval all = {.kind = V_ELLIPSIS}, r = *v;
  int64_t n = 1;
  if (!x) return *v;
  for (int i = 0; i < x->rank && n; i++)
    if (__builtin_mul_overflow(n, x->shape[i], &n) || n > MOST_ELEMENTS)
      tks_error_help(s, TK_D_SHAPE, "take a part of it: x[0:1024]",
                     "the tensor has more than %d elements", MOST_ELEMENTS);
  if (!n) tks_error(s, TK_D_SHAPE, "the tensor has no elements");
  tks_element(s, v, &all, &r);
  return r;
}

static sval int_tuple(tks *s, const int64_t *list, int n) {
  sval v = sv_tuple(s, NULL, 0);
  v.n = (size_t)n;
  v.items = TK_NEWN(s->arena, sval, n + 1);
  for (int i = 0; i < n; i++) v.items[i] = sv_int(list[i]);
  return v;
}

sval tks_pointer_difference(tks *s, const sval *a, const sval *b) {
  if (a->type.elem != b->type.elem || a->type.ptr != b->type.ptr)
    tks_error(s, TK_D_TYPE, "%s and %s point to different types",
              tks_show(s, a), tks_show(s, b));
  size_t bytes = a->type.ptr > 1 ? 8 : tk_dtype_size((tk_dtype)a->type.elem);
  sval x = tks_cast_to(s, a, TK_INT64), y = tks_cast_to(s, b, TK_INT64);
  sval size = sv_int((tk_int)bytes);
  x = tks_binary(s, TK_OP_SUB, &x, &y);
  return tks_binary(s, TK_OP_FLOORDIV, &x, &size);
}

/* ---- NumPy's functions
 * ----------------------------------------------------------- */

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
  const tk_tensor *x = tks_tensor_at(s, &a->v[0]);
  if (!x)
    tks_error(s, TK_D_TYPE, "%s is not a tensor: it has no strides",
              tks_show(s, &a->v[0]));
  if (sv_is_none(&a->v[1])) return int_tuple(s, x->strides, x->rank);
  return sv_int(x->strides[tks_arg_axis(s, &a->v[1], x->rank)]);
}

static const tks_op stride_method = {
    "x.stride", "x, axis=None", np_stride, 0, true, "elements between two"};

static const tks_op numpy[] = {
    {"numpy.sum", "x, axis=None, keep_dims=False", np_sum, 0, true, "the sum"},
    {"numpy.max", "*values, axis=None", np_extreme, TK_B_MAX, false,
     "the largest"},
    {"numpy.min", "*values, axis=None", np_extreme, TK_B_MIN, false,
     "the smallest"},
    {"numpy.mean", "x, axis=None", np_mean, 0, true, "the mean, in fp64"},
    {"numpy.argmax", "x, axis=None", np_where_it_is, TK_B_MAX, true,
     "where the largest lane is"},
    {"numpy.argmin", "x, axis=None", np_where_it_is, TK_B_MIN, true,
     "where the smallest lane is"},
    {"numpy.any", "x, axis=None", np_quantify, TK_R_MAX, true,
     "whether some lane is not zero"},
    {"numpy.all", "x, axis=None", np_quantify, TK_R_MIN, true,
     "whether every lane is not zero"},
    {"numpy.isnan", "x", np_is_nan, 0, true, "which lanes are NaN"},
    {"numpy.abs", "x", np_abs, 0, true, "absolute values"},
    {"numpy.where", "condition, x, y", np_where, 0, false,
     "x where the condition holds, else y"},
};

/* The name without the module's. */
static const char *numpy_name(size_t i) {
  return strchr(numpy[i].name, '.') + 1;
}

const tks_op *tks_numpy_op(const char *name) {
  for (size_t i = 0; i < TK_COUNT(numpy); i++)
    if (!strcmp(numpy_name(i), name)) return &numpy[i];
  return NULL;
}

const char *tk_expression_name(size_t i) {
  static const char *const attributes[] = {".shape", ".dtype", ".stride",
                                           ".ndim",  ".numel", ".T"};
  if (i < TK_COUNT(numpy)) return numpy_name(i);
  i -= TK_COUNT(numpy);
  return i < TK_COUNT(attributes) ? attributes[i] : NULL;
}

/* ---- attributes of tensors
 * ---------------------------------------------------------- */

static sval np_method(tks *s, const tks_op *op, const sval *self) {
  sval v = {.kind = V_METHOD, .n = 1, .op = op};
  v.items = TK_NEWN(s->arena, sval, 2);
  v.items[0] = *self;
  return v;
}

/* What the language does not say of a pointer, or of a block. */
bool tks_tensor_attr(tks *s, const sval *v, const char *name, sval *out) {
  const tk_tensor *x = tks_tensor_at(s, v);
  const tks_op *op = tks_numpy_op(name);
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
    *out = np_method(s, &stride_method, v);
  else if (x && op && !op->method)
    return *out = elements_of(s, v), *out = tks_attr(s, out, name), true;
  else if (op && op->method && (x || sv_is_block(v)) &&
           (x || strcmp(name, "sum")))
    *out = np_method(s, op, v);
  else
    return false;
  return true;
}

/* ---- the scope ---------------------------------------------------------- */

/* A name that the debugger adds, unless the kernel has one like it. */
static void bind_added(tks *s, const char *name, const sval *v) {
  if (!tks_binding_of(s, name)) tks_bind(s, name, v);
}

static void bind_tensors(tks *s) {
  const tk_launch *l = s->launch;
  s->tensors = TK_NEWN(s->arena, int, l->nargs + 1);
  for (size_t i = 0; i < l->nargs; i++) {
    const tk_tensor *x = &l->args[i].tensor;
    if (l->args[i].kind != TK_ARG_TENSOR) continue;
    sval p =
        tks_const(s, tk_pointer(tk_scalar(x->dtype)), tk_tensor_address(x));
    s->tensors[i] = p.slot + 1;
    bind_added(s, l->args[i].name, &p);
  }
}

static void bind_places(tks *s, tk_eval *x) {
  static const char *const names[] = {"pid_0", "pid_1", "pid_2"};
  sval pid[3], grid[3];
  for (int i = 0; i < 3; i++) {
    x->places[i] = tks_slot(s, tk_scalar(TK_INT32), NULL);
    pid[i] = sv_tensor(tk_scalar(TK_INT32), x->places[i]);
    grid[i] = sv_int(s->launch->grid[i]);
    bind_added(s, names[i], &pid[i]);
  }
  x->places[3] = tks_slot(s, tk_scalar(TK_INT64), NULL);
  sval trip = sv_tensor(tk_scalar(TK_INT64), x->places[3]);
  sval all = sv_tuple(s, pid, 3), size = sv_tuple(s, grid, 3);
  sval tl = {.kind = V_MODULE, .s = "tl", .n = 2};
  bind_added(s, "pid", &all);
  bind_added(s, "grid", &size);
  bind_added(s, "trip", &trip);
  bind_added(s, "tl", &tl);
}

/* ---- what is not needed ------------------------------------------------- */

static void need(const tk_inst *in, uint8_t *needed) {
  for (int k = 0; k < in->nargs; k++) needed[in->args[k]] = 1;
  for (int b = 0; b < 2; b++)
    for (size_t i = 0; i < in->body[b].n; i++)
      need(in->body[b].items[i], needed);
}

static void drop_unused(tk_insts *l, uint8_t *needed) {
  size_t keep = l->n;
  for (size_t i = l->n; i-- > 0;) {
    tk_inst *in = l->items[i];
    bool used = in->op == TK_I_CALL;
    for (int k = 0; k < in->nres; k++) used |= needed[in->res[k]];
    if (!used) continue;
    need(in, needed);
    l->items[--keep] = in;
  }
  l->items += keep;
  l->n -= keep;
}

/* Only what changes nothing may be evaluated. */
static void check_pure(tks *s, const tk_insts *l) {
  for (size_t i = 0; i < l->n; i++) {
    const tk_inst *in = l->items[i];
    s->frame->at = in->span;
    bool control = in->op == TK_I_CALL || in->op == TK_I_COND;
    tk_effect effect = tk_inst_effect(in);
    if (effect == TK_EFFECT_WRITES || (effect == TK_EFFECT_CONTROL && !control))
      tks_error(s, TK_D_UNSUPPORTED,
                "an expression may not write memory, print or stop");
    check_pure(s, &in->body[0]);
    check_pure(s, &in->body[1]);
  }
}

static void check_body(tks *s, const tk_body *b) {
  for (size_t i = 0; i < b->n; i++) {
    check_pure(s, &b->items[i]->insts);
    check_body(s, &b->items[i]->body);
    check_body(s, &b->items[i]->orelse);
  }
}

/* ---- compiling ---------------------------------------------------------- */

typedef struct job {
  const tk_eval_where *w;
  const char *text;
  tk_eval *x;
} job;

/* Its text must outlive what is said about it. */
static tk_func *func_new(tks *s, const tk_eval_where *w, const char *text) {
  const tk_source *src = tk_source_new(&w->launch->session->arena, "expression",
                                       text, strlen(text));
  tk_func *f = tks_func_new(s, tk_func_origin(w->func), "expression", src);
  f->nslots = f->cap_slots = w->func->nslots;
  f->slots = TK_NEWN(s->arena, tk_slot, f->nslots + 1);
  memcpy(f->slots, w->func->slots, f->nslots * sizeof *f->slots);
  f->named = tk_lookup_lend(&w->func->named);
  return f;
}

static sval fit(tks *s, const sval *v, const tk_type *want) {
  sval r = tks_to_tensor(s, v);
  if (r.type.ptr != want->ptr)
    tks_error(s, TK_D_TYPE, "%s cannot be made from %s", tks_type_text(s, want),
              tks_show(s, v));
  r = tks_cast(s, &r, tk_elem_of(*want), false);
  return tks_broadcast(s, &r, want);
}

/* ---- results ------------------------------------------------------------ */

/* A type as it is declared, "fp32[8, 4]", "(int32, fp32[8])". */
static void put_kind(tks *s, tk_buf *b, const sval *v) {
  bool window = v->kind == V_BLOCKPTR || v->kind == V_DESC;
  if (v->kind == V_TENSOR || window) {
    if (window)
      tk_buf_puts(b, v->kind == V_DESC ? "descriptor<" : "block_ptr<");
    tk_type_declare(b, &v->type);
    if (window) tk_buf_putc(b, '>');
  } else if (sv_runtime(v)) {
    if (v->kind == V_INSTANCE) tk_buf_puts(b, v->object->class->name);
    for (size_t i = 0; i < v->n; i++) {
      tk_buf_puts(b, i ? ", " : "(");
      put_kind(s, b, &v->items[i]);
    }
    tk_buf_puts(b, v->n == 1 ? ",)" : ")");
  } else {
    tk_buf_puts(b, "constexpr = ");
    tks_text(s, b, v, true);
  }
}

/* Text in a buffer that goes when the expression does, however this ends. */
static const char *kind_text(tks *s, tk_eval *x, const sval *v) {
  tk_buf_clear(&x->scratch);
  put_kind(s, &x->scratch, v);
  return tk_arena_strdup(s->arena, tk_buf_str(&x->scratch));
}

static const char *known_text(tks *s, tk_eval *x, const sval *v) {
  tk_buf_clear(&x->scratch);
  tks_text(s, &x->scratch, v, true);
  return tk_arena_strdup(s->arena, tk_buf_str(&x->scratch));
}

static void add_part(tks *s, tk_eval *x, tk_eval_part part) {
  TK_PUSH(s->arena, &x->parts, part);
}

/* Values inside a line that another one began; between: what stands there. */
static void add_list(tks *s, tk_eval *x, const char *between, const char *name,
                     const sval *v, size_t n) {
  for (size_t i = 0; i < n; i++) {
    tk_eval_part p = {.item = tk_arena_printf(s->arena, ".%s[%zu]", name, i),
                      .before = ", "};
    if (!i) p.before = tk_arena_printf(s->arena, "%s%s [", between, name);
    if (v[i].kind != V_TENSOR) p.known = known_text(s, x, &v[i]);
    add_part(s, x, p);
  }
}

/* "descriptor<fp32[4, 8]> = &y, shape [29, 8], strides [8, 1]" */
static void add_window(tks *s, tk_eval *x, const char *path, const sval *v) {
  size_t rank = v->type.rank;
  add_part(s, x,
           (tk_eval_part){.path = path,
                          .before = tk_arena_printf(
                              s->arena, "%s = ", kind_text(s, x, v))});
  add_list(s, x, ", ", "shape", v->items + 1, rank);
  add_list(s, x, "], ", "strides", v->items + 1 + rank, rank);
  if (v->kind == V_BLOCKPTR)
    add_list(s, x, "], ", "offsets", v->items + 1 + 2 * rank, rank);
  add_part(s, x, (tk_eval_part){.before = "]", .known = ""});
}

static void add_parts(tks *s, tk_eval *x, const char *path, const sval *v) {
  const char *name = v->kind == V_TUPLE ? v->s : NULL;
  if (v->kind == V_BLOCKPTR || v->kind == V_DESC) {
    add_window(s, x, path, v);
  } else if (!sv_runtime(v)) {
    add_part(s, x, (tk_eval_part){.path = path, .known = known_text(s, x, v)});
  } else if (v->kind == V_TENSOR) {
    add_part(s, x, (tk_eval_part){.path = path});
  } else {
    for (size_t i = 0; i < v->n; i++) {
      int n = name ? (int)strcspn(name, ",") : 0;
      const char *below =
          v->kind == V_INSTANCE ? tks_part_name(s, v, path, i)
          : n ? tk_arena_printf(s->arena, "%s.%.*s", path, n, name)
              : tk_arena_printf(s->arena, "%s[%zu]", path, i);
      if (name) name += (size_t)n + (name[n] == ',');
      add_parts(s, x, below, &v->items[i]);
    }
  }
}

static void take_result(tks *s, tk_eval *x, const sval *v) {
  x->type = kind_text(s, x, v);
  if (!sv_runtime(v)) {
    x->known = known_text(s, x, v);
    return;
  }
  sval *leaves = TK_NEWN(s->arena, sval, tks_leaves(v, NULL) + 1);
  x->n = tks_leaves(v, leaves);
  x->types = TK_NEWN(s->arena, tk_type, x->n + 1);
  x->slots = TK_NEWN(s->arena, int, x->n + 1);
  for (size_t i = 0; i < x->n; i++) {
    x->types[i] = leaves[i].type;
    x->slots[i] = leaves[i].slot;
  }
  add_parts(s, x, "", v);
}

/* Its parameters: the variables that it reads, then where it is. */
static void list_params(tks *s, tk_eval *x, const uint8_t *needed) {
  tk_func *f = x->func;
  f->params = TK_NEWN(s->arena, int, x->nframe + TK_EVAL_PLACES);
  for (size_t i = 0; i < x->nframe; i++)
    if (needed[i]) f->params[x->nreads++] = (int)i;
  f->nparams = x->nreads;
  for (int i = 0; i < TK_EVAL_PLACES; i++)
    f->params[f->nparams++] = x->places[i];
}

static sval typed_value(tks *s, job *j) {
  const tk_source *src = j->x->func->src;
  tk_ast *tree = tk_parse_expr(s->env, s->arena, (tk_source *)src);
  if (!tree) tk_throw(s->env, TK_USAGE);
  s->frame->at = tree->span;
  sval v = tks_expr(s, tree);
  return j->w->want ? fit(s, &v, j->w->want) : v;
}

static void compile_text(tks *s, job *j) {
  tk_eval *x = j->x;
  tk_func *f = x->func;
  tk_stmt *st = tk_stmt_new(s->program, TK_S_RETURN, (tk_span){0, 0});
  TK_PUSH(s->arena, &s->origin->scopes, NULL);
  TK_PUSH(s->arena, &f->body, st);
  s->frame->insts = &st->insts;
  s->frame->scope = j->w->scope; /* bindings never change: newer ones hide */
  bind_places(s, x);
  bind_tensors(s);
  sval v = typed_value(s, j);
  take_result(s, x, &v);
  st->results = x->slots;
  st->nresults = f->nresults = x->n;
  f->result_types = x->types;
  uint8_t *needed = TK_NEWN(s->arena, uint8_t, f->nslots + 1);
  for (size_t i = 0; i < x->n; i++) needed[x->slots[i]] = 1;
  for (size_t i = 0; i < s->program->nfuncs; i++)
    check_body(s, &s->program->funcs[i]->body);
  drop_unused(&st->insts, needed);
  list_params(s, x, needed);
  tk_func_last_uses(s->program, f);
}

/* ---- variables without a value ------------------------------------------ */

typedef struct name_search {
  const char *name;
  const tk_binding *found;
} name_search;

/* The oldest binding of the name that a statement knows. */
static bool search_scope(void *ud, const tk_at *at) {
  name_search *n = ud;
  const tk_binding *x = tk_stmt_scope(at->func, at->stmt);
  for (; x; x = x->prev)
    if (!strcmp(x->name, n->name)) n->found = x;
  return !n->found;
}

static const tk_binding *bound_in(const tk_func *f, const char *name) {
  name_search n = {name, NULL};
  tk_walk_func(f, &(tk_walk){.ud = &n, .stmt = search_scope});
  return n.found;
}

static bool is_not_computed(void *ud, const tk_at *at) {
  const tk_binding *x = tk_stmt_scope(at->func, at->stmt);
  for (; x; x = x->prev)
    if (!strcmp(x->name, ud) && tks_leaves(&x->v, NULL)) return false;
  return true;
}

bool tk_eval_is_computed(const tk_func *f, const char *name) {
  return !tk_walk_func(f,
                       &(tk_walk){.ud = (char *)name, .stmt = is_not_computed});
}

void tks_unset_name(tks *s, const char *name) {
  const tk_func *f = s->where ? s->where->func : NULL;
  const tk_binding *b = f ? bound_in(f, name) : NULL;
  if (!b) return;
  tks_error(s, TK_D_NAME, "%s has no value here: line %d assigns it", name,
            tk_source_line(f->src, b->span.lo));
}

/* One piece of memory, so that there is either both or neither. */
typedef struct whole {
  tk_eval x;
  tk_program program;
  tk_origin origin;
} whole;

static void compile(tk_env *e, void *ud) {
  job *j = ud;
  const tk_eval_where *w = j->w;
  whole *both = (whole *)j->x;
  tks s = {.env = e,
           .arena = &both->program.arena,
           .program = &both->program,
           .origin = &both->origin,
           .launch = w->launch,
           .where = w};
  j->x->func = func_new(&s, w, j->text);
  j->x->nframe = w->func->nslots;
  tks_frame frame = {.func = j->x->func, .fn = tk_func_origin(w->func)};
  s.frame = &frame;
  compile_text(&s, j);
}

tk_eval *tk_eval_new(tk_env *e, const tk_eval_where *w, const char *text) {
  whole *both = tk_calloc(e, 1, sizeof *both);
  tk_eval *x = &both->x;
  tk_program_init(&both->program, e);
  both->program.origin = &both->origin;
  both->origin.session = w->session;
  x->program = &both->program;
  x->arena = &both->program.arena;
  tk_buf_init(&x->scratch, e);
  job j = {w, text, x};
  tk_status st = tk_protect(e, compile, &j);
  if (st == TK_OK) return x;
  tk_eval_free(x);
  tk_throw(e, st == TK_FINDING ? TK_USAGE : st);
}

void tk_eval_free(tk_eval *x) {
  if (!x) return;
  whole *both = (whole *)x;
  tk_env *e = both->program.arena.env;
  tk_buf_free(&x->scratch);
  tk_arena_free(&both->program.arena);
  tk_free(e, x, sizeof *both);
}
