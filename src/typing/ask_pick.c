/* ask_pick.c - what a debugger's expression picks: lanes of a block, x[0, 2:6],
 * and elements of a tensor, BUFFER[i, j].
 */
#include "typing/ask_parts.h"
#include "typing/rule.h"

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

static void add_entry(tks *s, entries *x, const sval *v) {
  if (x->n == 2 * TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  x->at[x->n++] = *v;
}

static void add_whole(tks *s, entries *x, int n) {
  while (n-- > 0) {
    sval whole = whole_axis(s);
    add_entry(s, x, &whole);
  }
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
      add_entry(s, &x, &at[i]);
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

/* The lane of an axis that a number names; the number is known only at run
 * time. */
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

sval tks_ask_reshape(tks *s, const sval *v, const int64_t *shape, int rank) {
  if (rank > TK_MAX_RANK)
    tks_error(s, TK_D_SHAPE, "a block has at most %d axes", TK_MAX_RANK);
  bool same = rank == v->type.rank;
  for (int i = 0; i < rank && same; i++) same = shape[i] == v->type.shape[i];
  return same ? *v : tks_reshape(s, v, shape, rank);
}

sval tks_ask_pick(tks *s, const sval *v, const sval *index) {
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
  return tks_ask_reshape(s, &r, shape, rank);
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
  return out ? tks_ask_reshape(s, &v, shape, out) : v;
}

bool tks_ask_element(tks *s, const sval *v, const sval *index, sval *out) {
  const tk_tensor *x = tks_asked_tensor(s, v);
  if (x) *out = element(s, v, x, index);
  return x != NULL;
}
