/* value.c - values as a line of a variables pane: the type, then a small
 * block itself, of a larger one what it is made of. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "gdbstub/dap/dap.h"

enum { WIDE = 60 /* characters of lanes */, MANY = 1 << 20 /* lanes */ };

int64_t dap_lane_count(const tk_array_view *v) {
  int64_t n = 1;
  for (int i = 0; i < v->rank; i++) n *= v->shape[i];
  return n;
}

tk_array_view dap_view_of(const tk_debug_value *v) {
  tk_array_view view = {.data = v->lanes,
                        .dtype = v->type.pointers ? TK_UINT64 : v->type.dtype,
                        .pointers = v->type.pointers > 0,
                        .rank = v->type.rank,
                        .undefined = v->undefined};
  int64_t stride = 1;
  for (int i = view.rank - 1; i >= 0; i--) {
    view.shape[i] = v->type.shape[i];
    view.strides[i] = stride;
    stride *= view.shape[i];
  }
  return view;
}

static void put_shape(tk_buf *b, int rank, const int64_t *shape) {
  for (int i = 0; i < rank; i++)
    tk_buf_printf(b, "%s%" PRId64, i ? ", " : "[", shape[i]);
  if (rank) tk_buf_putc(b, ']');
}

const char *dap_type_name(dap *p, const tk_ir_type *t) {
  tk_buf b;
  tk_buf_init(&b, p->env);
  for (int i = 0; i < t->pointers; i++) tk_buf_puts(&b, "pointer<");
  if (t->to_block) put_shape(&b, t->rank, t->shape);
  tk_buf_puts(&b, tk_dtype_name(t->dtype));
  for (int i = 0; i < t->pointers; i++) tk_buf_putc(&b, '>');
  if (!t->to_block) put_shape(&b, t->rank, t->shape);
  const char *text = tk_arena_strdup(&p->scratch, tk_buf_str(&b));
  tk_buf_free(&b);
  return text;
}

/* ---- summaries ---------------------------------------------------------- */

/* What lanes are made of. */
typedef struct dap_tally {
  const char *least, *most; /* numbers */
  double low, high;
  int64_t numbers, nans, infinite, undefined, nonzero;
} dap_tally;

/* A row along the innermost axis; lane is the number of its first one. */
static void tally_row(const tk_array_view *v, const char *at, int64_t lane,
                      dap_tally *t) {
  size_t size = v->pointers ? 8 : tk_dtypes[v->dtype].size;
  int64_t n = v->rank ? v->shape[v->rank - 1] : 1;
  int64_t step = v->rank ? v->strides[v->rank - 1] * (int64_t)size : 0;
  bool floats = !v->pointers && tk_is_float(v->dtype);
  for (int64_t i = 0; i < n; i++, at += step, lane++) {
    if (v->undefined && v->undefined[lane]) {
      t->undefined++;
      continue;
    }
    double x = floats ? tk_lane_double(v->dtype, at)
                      : (double)tk_lane_int(v->dtype, at);
    t->nonzero += x != 0;
    if (isnan(x)) {
      t->nans++;
      continue;
    }
    t->infinite += isinf(x) != 0;
    if (!t->numbers || x < t->low) t->low = x, t->least = at;
    if (!t->numbers || x > t->high) t->high = x, t->most = at;
    t->numbers++;
  }
}

static void tally_axis(const tk_array_view *v, int axis, const char *at,
                       int64_t lane, dap_tally *t) {
  if (axis >= v->rank - 1) {
    tally_row(v, at, lane, t);
    return;
  }
  size_t size = v->pointers ? 8 : tk_dtypes[v->dtype].size;
  int64_t below = 1;
  for (int i = axis + 1; i < v->rank; i++) below *= v->shape[i];
  for (int64_t i = 0; i < v->shape[axis]; i++)
    tally_axis(v, axis + 1, at + i * v->strides[axis] * (int64_t)size,
               lane + i * below, t);
}

static void put_count(tk_buf *b, int64_t n, const char *what) {
  if (n) tk_buf_printf(b, ", %" PRId64 " %s", n, what);
}

static void put_tally(tk_buf *b, const tk_array_view *v) {
  dap_tally t = {0};
  tally_axis(v, 0, v->data, 0, &t);
  int64_t known = dap_lane_count(v) - t.undefined;
  if (!v->pointers && v->dtype == TK_INT1) {
    tk_buf_printf(b, "%" PRId64 " True, %" PRId64 " False", t.nonzero,
                  known - t.nonzero);
  } else if (!t.numbers) {
    tk_buf_puts(b, t.nans ? "all nan" : "no lane is defined");
    t.nans = 0;
  } else {
    tk_array_view one = *v;
    one.rank = 0;
    one.undefined = NULL;
    one.data = t.least;
    bool same = t.low == t.high;
    tk_buf_puts(b, same ? "all " : "min ");
    tk_format_array(b, &one, 0, NULL);
    one.data = t.most;
    if (!same) tk_buf_puts(b, ", max ");
    if (!same) tk_format_array(b, &one, 0, NULL);
  }
  put_count(b, t.nans, "nan");
  put_count(b, t.infinite, "inf");
  put_count(b, t.undefined, "undefined");
}

/* Lanes as NumPy prints them, in one line; returns false if the line would be
 * too long. */
static bool put_array(tk_buf *b, const tk_array_view *v, int64_t threshold,
                      size_t most) {
  static const tk_print_options usual = {1000, 2, 6, 1 << 20};
  tk_print_options o = usual;
  o.threshold = threshold;
  size_t from = b->n;
  tk_format_array(b, v, 0, &o);
  size_t to = from;
  for (size_t i = from; i < b->n; i++) {
    bool blank = b->s[i] == '\n' || b->s[i] == ' ';
    bool extra = blank && (b->s[to - 1] == ' ' || b->s[to - 1] == '[');
    if (b->s[i] == ']' && to > from && b->s[to - 1] == ' ') to--;
    if (!extra || to == from) b->s[to++] = blank ? ' ' : b->s[i];
  }
  b->n = to;
  b->s[to] = '\0';
  if (to - from <= most) return true;
  b->n = from;
  b->s[from] = '\0';
  return false;
}

/* One row is shown by its first and last lanes; a block with more axes by a
 * summary of its lanes. */
static void put_lanes_in_line(tk_buf *b, const tk_array_view *v, bool full) {
  int64_t n = dap_lane_count(v);
  if (!n) {
    tk_buf_puts(b, "no lanes");
    return;
  }
  if (v->rank == 0) {
    put_array(b, v, 1, SIZE_MAX);
    return;
  }
  bool whole = n <= 16 && put_array(b, v, 16, WIDE);
  bool row = !whole && v->rank == 1 && put_array(b, v, 4, WIDE);
  if (whole || (row && !full)) return;
  if (row) tk_buf_puts(b, "  ");
  if (n <= MANY) put_tally(b, v);
}

json_t *dap_say_lanes(dap *p, const tk_array_view *v, bool full) {
  tk_buf b;
  tk_buf_init(&b, p->env);
  if (full) {
    tk_buf_puts(&b, tk_dtype_name(v->dtype));
    put_shape(&b, v->rank, v->shape);
    tk_buf_putc(&b, ' ');
  }
  put_lanes_in_line(&b, v, full);
  json_t *text = dap_text(tk_buf_str(&b), b.n);
  tk_buf_free(&b);
  return text;
}

/* ---- values ------------------------------------------------------------- */

bool dap_region_of(dap *p, uint64_t address, tk_debug_region *r) {
  for (size_t i = 0; tk_debug_region_at(p->d, i, r); i++)
    if (address >= r->address && address - r->address < r->size) return true;
  return false;
}

/* "&x + 5", in elements of the tensor that it points into. */
static void put_pointer(dap *p, tk_buf *b, uint64_t at) {
  tk_debug_region r;
  if (!dap_region_of(p, at, &r)) {
    tk_buf_printf(b, "0x%" PRIx64, at);
    return;
  }
  int64_t bytes = (int64_t)(at - r.first), size = tk_dtypes[r.dtype].size;
  tk_buf_printf(b, "&%s", r.name);
  if (bytes % size)
    tk_buf_printf(b, " + %" PRId64 " bytes", bytes);
  else if (bytes)
    tk_buf_printf(b, " + %" PRId64, bytes / size);
}

/* A block of pointers is shown by its first and its last one. */
static void put_pointers(dap *p, tk_buf *b, const tk_debug_value *v) {
  const uint64_t *at = v->lanes;
  tk_array_view view = dap_view_of(v);
  int64_t n = dap_lane_count(&view);
  if (v->undefined) {
    put_lanes_in_line(b, &view, true);
    return;
  }
  put_pointer(p, b, at[0]);
  if (n > 1) {
    tk_buf_puts(b, n > 2 ? " ... " : " ");
    put_pointer(p, b, at[n - 1]);
  }
}

static void put_one(dap *p, tk_buf *b, const tk_debug_value *v) {
  if (v->known) {
    tk_buf_puts(b, v->known);
    return;
  }
  if (!v->lanes) {
    tk_buf_puts(b, "no value yet");
    return;
  }
  if (v->type.rank || v->type.pointers)
    tk_buf_printf(b, "%s ", dap_type_name(p, &v->type));
  tk_array_view view = dap_view_of(v);
  if (v->type.pointers && v->size)
    put_pointers(p, b, v);
  else
    put_lanes_in_line(b, &view, true);
}

json_t *dap_say_parts(dap *p, const tk_debug_value *v, size_t n) {
  tk_buf b;
  tk_buf_init(&b, p->env);
  for (size_t i = 0; i < n; i++) {
    if (i && v[i].path && !v[i].before) tk_buf_puts(&b, ", ");
    if (v[i].before) tk_buf_puts(&b, v[i].before);
    put_one(p, &b, &v[i]);
  }
  json_t *text = dap_text(tk_buf_str(&b), b.n);
  tk_buf_free(&b);
  return text;
}

json_t *dap_say_value(dap *p, const tk_debug_value *v) {
  return dap_say_parts(p, v, 1);
}
