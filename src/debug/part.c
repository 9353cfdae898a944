/* part.c - the parts of a tensor that a user names: BUFFER[I, J], and
 * BUFFER[A:B:C, J], which is a view of it.
 */
#include "debug/part.h"

#include <string.h>

#include "debug/raise.h"
#include "debug/value.h"

/* How far the piece of an index list goes, up to a comma, colon or bracket. */
static size_t index_piece(const char *s, bool colon) {
  size_t n = 0;
  int depth = 0;
  while (s[n] &&
         (depth || (s[n] != ',' && s[n] != ']' && !(colon && s[n] == ':')))) {
    depth += s[n] == '[' || s[n] == '(';
    depth -= s[n] == ']' || s[n] == ')';
    n++;
  }
  return n;
}

/* "[...]" and nothing after it. */
static void need_brackets(tkd *d, const char *index) {
  size_t n = 1;
  while (index[n] && index[n] != ']') {
    n += index_piece(index + n, false);
    n += index[n] == ',';
  }
  if (index[n] != ']') tkd_raise(d, INDEX_OPEN, index);
  if (index[n + 1]) tkd_raise(d, INDEX_MORE, index + n + 1);
  if (index[1 + strspn(index + 1, " ")] == ']')
    tkd_raise(d, INDEX_EMPTY, index);
}

static int64_t in_axis(tkd *d, const char *name, int axis, int64_t size,
                       int64_t i) {
  int64_t at = i < 0 ? i + size : i;
  if (at < 0 || at >= size)
    tkd_raise(d, INDEX_OUTSIDE, (long long)i, axis, name, (long long)size);
  return at;
}

static void too_many_axes(tkd *d, const char *name, int rank) TK_NORETURN;
static void too_many_axes(tkd *d, const char *name, int rank) {
  tkd_raise(d, AXES, name, rank, rank == 1 ? "is" : "es");
}

char *tkd_element(tkd *d, const tki_region *r, const char *index,
                  int *rank_left) {
  const tk_tensor *x = r->tensor;
  int64_t off = 0;
  int axis = 0;
  *rank_left = x->rank;
  if (*index != '[') return x->data;
  for (const char *s = index + 1; *s && *s != ']'; axis++) {
    size_t n = index_piece(s, false);
    if (axis >= x->rank) too_many_axes(d, r->name, x->rank);
    int64_t i = tkd_index(d, s, n);
    off += in_axis(d, r->name, axis, x->shape[axis], i) * x->strides[axis];
    s += n + (s[n] == ',');
  }
  *rank_left = x->rank - axis;
  return (char *)x->data + off * (int64_t)tk_dtype_size(x->dtype);
}

size_t tkd_lane(tkd *d, const char *name, const tk_type *type,
                const char *index) {
  size_t lane = 0;
  int axis = 0;
  if (*index == '[') {
    for (const char *s = index + 1; *s && *s != ']'; axis++) {
      size_t n = index_piece(s, false);
      if (axis >= type->rank) too_many_axes(d, name, type->rank);
      int64_t i = tkd_index(d, s, n), size = type->shape[axis];
      lane = lane * (size_t)size + (size_t)in_axis(d, name, axis, size, i);
      s += n + (s[n] == ',');
    }
  }
  if (axis < type->rank)
    tkd_raise(d, AXES_LANE, name, type->rank, type->rank == 1 ? "is" : "es");
  return lane;
}

/* ---- views --------------------------------------------------------------- */

/* One of the three numbers of A:B:C; *s moves past it. */
static int64_t bound(tkd *d, const char **s, int64_t missing) {
  size_t n = index_piece(*s, true), blank = strspn(*s, " ");
  int64_t v = blank >= n ? missing : tkd_index(d, *s, n);
  *s += n;
  return v;
}

static int64_t clamp_index(int64_t i, int64_t size) {
  if (i < 0) i += size;
  return i < 0 ? 0 : i > size ? size : i;
}

/* The part of an axis that "I", "A:B" or "A:B:C" names. */
static tkd_range index_range(tkd *d, const tki_region *r, int axis,
                             const char **s) {
  int64_t size = r->tensor->shape[axis], step = 1;
  size_t n = index_piece(*s, true);
  if ((*s)[n] != ':') {
    int64_t i = tkd_index(d, *s, n);
    *s += n;
    return (tkd_range){in_axis(d, r->name, axis, size, i), 1, 1, true, false};
  }
  int64_t from = clamp_index(bound(d, s, 0), size), to = size;
  ++*s;
  to = clamp_index(bound(d, s, size), size);
  if (**s == ':') {
    ++*s;
    step = bound(d, s, 1);
  }
  if (step < 1) tkd_raise(d, SLICE_STEP);
  if (to <= from) tkd_raise(d, SLICE_EMPTY, axis, r->name, (long long)size);
  int64_t count = (to - from + step - 1) / step;
  return (tkd_range){from, count, step, false, count == size};
}

tkd_part tkd_part_of(tkd *d, const tki_region *r, const char *index) {
  const tk_tensor *x = r->tensor;
  tkd_part part = {0};
  if (*index != '[') return part;
  need_brackets(d, index);
  for (const char *s = index + 1; *s && *s != ']'; s += *s == ',') {
    if (part.n >= x->rank) too_many_axes(d, r->name, x->rank);
    part.ranges[part.n] = index_range(d, r, part.n, &s);
    part.n++;
  }
  return part;
}

static tkd_range range_at(const tkd_part *part, const tk_tensor *x, int axis) {
  tkd_range all = {0, x->shape[axis], 1, false, true};
  if (axis >= part->n || part->ranges[axis].all) return all;
  return part->ranges[axis];
}

bool tkd_view_of(const tk_tensor *x, const tkd_part *part, tkd_view *v) {
  int64_t size = (int64_t)tk_dtype_size(x->dtype), count = 1;
  *v = (tkd_view){.host = x->data, .type = tk_scalar(x->dtype)};
  if (part->n > x->rank) return false;
  for (int i = 0; i < x->rank; i++) {
    tkd_range a = range_at(part, x, i);
    int64_t stride = x->strides[i] * size, span = (a.n - 1) * a.step;
    if (a.n < 1 || a.from + span >= x->shape[i]) return false;
    v->host += a.from * stride;
    if (stride < 0)
      v->before -= span * stride;
    else
      v->size += span * stride;
    count *= a.n;
    if (count > INT32_MAX) return false;
    if (a.one) continue;
    v->type.shape[v->type.rank] = (int32_t)a.n;
    v->strides[v->type.rank++] = stride * a.step;
  }
  v->size += size;
  return true;
}

/* The element of the view that a lane is. */
const char *tkd_view_lane(const tkd_view *v, size_t lane) {
  const char *at = v->host;
  TK_ASSERT(lane < (size_t)tk_numel(&v->type));
  for (int i = v->type.rank - 1; i >= 0; i--) {
    size_t n = (size_t)v->type.shape[i];
    at += (int64_t)(lane % n) * v->strides[i];
    lane /= n;
  }
  return at;
}

bool tkd_view_is_dense(const tkd_view *v) {
  int64_t step = (int64_t)tk_lane_size(&v->type);
  for (int i = v->type.rank - 1; i >= 0; i--) {
    if (v->type.shape[i] > 1 && v->strides[i] != step) return false;
    step *= v->type.shape[i];
  }
  return true;
}
