/* value.c - blocks as JSON.
 *
 * A block that is known without its lanes is written as what is known; of
 * another one the extremes are, and its lanes, or every so many of them.
 */
#include <math.h>

#include "view/run.h"

void tkw_put_type(tk_buf *out, const tk_type *type) {
  tk_buf_putc(out, '"');
  tk_type_declare(out, type); /* has neither quotes nor backslashes */
  tk_buf_putc(out, '"');
}

void tkw_put_shape(tk_buf *out, const tk_type *type) {
  tk_buf_puts(out, ",\"shape\":[");
  for (int k = 0; k < type->rank; k++)
    tk_buf_printf(out, "%s%d", k ? "," : "", type->shape[k]);
  tk_buf_putc(out, ']');
}

/* ---- numbers ------------------------------------------------------------- */

/* What a reader of JSON takes for a number without loss. */
static void put_integer(tk_buf *out, tk_dtype d, int64_t v) {
  const int64_t exact = (int64_t)1 << 53;
  bool large = v > exact || v < -exact;
  const char *quote = large ? "\"" : "";
  if (tk_is_signed(d))
    tk_buf_printf(out, "%s%lld%s", quote, (long long)v, quote);
  else
    tk_buf_printf(out, "%s%llu%s", quote, (unsigned long long)v, quote);
}

/* A number to so many digits, at most 9, as printf's %g writes it, but for the
 * last digit now and then; most of a page is written by this. */
static void put_digits(tk_buf *out, double v, int digits) {
  static const double tens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
  double x = fabs(v);
  int point = (int)floor(log10(x)), shift = digits - 1 - point;
  if (shift < 0 || shift >= (int)TK_COUNT(tens)) {
    tk_buf_printf(out, "%.*g", digits, v);
    return;
  }
  uint64_t n = (uint64_t)(x * tens[shift] + 0.5);
  while (shift && n % 10 == 0) n /= 10, shift--;
  char text[32], *at = text + sizeof text, *end = at;
  for (int k = 0; n || k <= shift; k++) {
    if (k == shift && k) *--at = '.';
    *--at = (char)('0' + n % 10);
    n /= 10;
  }
  if (v < 0) *--at = '-';
  tk_buf_add(out, at, (size_t)(end - at));
}

static void put_float(tk_buf *out, tk_dtype d, double v) {
  int bits = tk_dtypes[d].bits;
  if (isnan(v))
    tk_buf_puts(out, "\"nan\"");
  else if (isinf(v))
    tk_buf_puts(out, v > 0 ? "\"inf\"" : "\"-inf\"");
  else if (v == 0)
    tk_buf_puts(out, signbit(v) ? "-0" : "0");
  else if (bits > 32)
    tk_buf_printf(out, "%.17g", v);
  else
    put_digits(out, v, bits > 16 ? 9 : 5);
}

void tkw_put_lane(tk_buf *out, tk_dtype d, const void *lane) {
  if (tk_is_float(d))
    put_float(out, d, tk_lane_double(d, lane));
  else
    put_integer(out, d, tk_lane_int(d, lane));
}

/* ---- pointers ------------------------------------------------------------ */

static const tki_region *region_of(const tki *t, const tki_val *v) {
  if (v->region < 0 || (size_t)v->region >= t->nregions) return NULL;
  const tki_region *r = &t->regions[v->region];
  return r->tensor ? r : NULL;
}

/* A pointer as the element that it points to, an address otherwise. */
static void put_pointer(tk_buf *out, const tki_region *r, const void *lane) {
  uint64_t addr;
  memcpy(&addr, lane, sizeof addr);
  if (r)
    tk_buf_printf(out, "%lld", (long long)tkw_element(r, addr));
  else
    tk_buf_printf(out, "\"0x%llx\"", (unsigned long long)addr);
}

/* ---- what is known ------------------------------------------------------- */

static void put_steps(tk_buf *out, const tki_sym *s, int64_t size) {
  tk_buf_puts(out, ",\"step\":[");
  for (int k = 0; k < tki_sym_rank(s); k++)
    tk_buf_printf(out, "%s%lld", k ? "," : "",
                  (long long)(tki_sym_step(s, k) / size));
  tk_buf_putc(out, ']');
}

void tkw_put_box(tk_buf *out, const tki_sym *s) {
  for (int side = 0; side < 2; side++) {
    tk_buf_puts(out, side ? "],\"hi\":[" : ",\"lo\":[");
    for (int k = 0; k < tki_sym_rank(s); k++)
      tk_buf_printf(out, "%s%zu", k ? "," : "",
                    side ? tki_sym_hi(s, k) : tki_sym_lo(s, k));
  }
  tk_buf_putc(out, ']');
}

bool tkw_put_elements(tk_buf *out, const tki_sym *s, const tki_region *r) {
  int64_t size = (int64_t)tk_dtypes[r->tensor->dtype].size;
  for (int k = 0; k < tki_sym_rank(s); k++)
    if (tki_sym_step(s, k) % size) return false;
  if ((int64_t)(tki_sym_base(s) - r->lo) % size) return false;
  tk_buf_printf(out, ",\"base\":%lld",
                (long long)tkw_element(r, tki_sym_base(s)));
  put_steps(out, s, size);
  return true;
}

/* Returns false if its lanes have to be written. */
static bool put_affine(tk_buf *out, const tki_sym *s, const tk_type *type,
                       const tki_region *r) {
  int64_t lo, hi;
  uint64_t base = tki_sym_base(s);
  tk_dtype d = type->ptr ? TK_UINT64 : (tk_dtype)type->elem;
  if (!tk_is_int(d) || !tki_sym_bounds(s, d, &lo, &hi)) return false;
  if (type->ptr) return r && tkw_put_elements(out, s, r);
  tk_buf_puts(out, ",\"base\":");
  put_integer(out, d, tk_lane_int(d, &base));
  put_steps(out, s, 1);
  return true;
}

/* ---- lanes --------------------------------------------------------------- */

void tkw_sample(const tk_type *type, size_t most, size_t step[TK_MAX_RANK]) {
  for (int k = 0; k < TK_MAX_RANK; k++) step[k] = 1;
  for (;;) {
    size_t n = 1, widest = 0, axis = 0;
    for (size_t k = 0; k < type->rank; k++) {
      size_t left = ((size_t)type->shape[k] + step[k] - 1) / step[k];
      n *= left;
      if (left > widest) widest = left, axis = k;
    }
    if (n <= most || widest <= 1) return;
    step[axis] *= 2;
  }
}

typedef struct extremes {
  double lo, hi;
  size_t nan, inf;
  bool any;
} extremes;

static extremes extremes_of(tk_dtype d, const tki_val *v, size_t n) {
  size_t size = tk_dtypes[d].size;
  tki_span at = tki_span_of(v, size);
  extremes x = {0};
  for (size_t i = 0; i < n; i++) {
    const char *lane = at.at + i * at.step;
    double y =
        tk_is_float(d) ? tk_lane_double(d, lane) : (double)tk_lane_int(d, lane);
    if (isnan(y)) {
      x.nan++;
      continue;
    }
    x.inf += isinf(y) != 0;
    if (!x.any || y < x.lo) x.lo = y;
    if (!x.any || y > x.hi) x.hi = y;
    x.any = true;
  }
  return x;
}

static void put_extremes(tk_buf *out, tk_dtype d, const tki_val *v, size_t n) {
  extremes x = extremes_of(d, v, n);
  if (x.any) {
    tk_dtype shown = tk_is_float(d) ? d : TK_FP64;
    tk_buf_puts(out, ",\"min\":");
    put_float(out, shown, x.lo);
    tk_buf_puts(out, ",\"max\":");
    put_float(out, shown, x.hi);
  }
  if (x.nan) tk_buf_printf(out, ",\"nan\":%zu", x.nan);
  if (x.inf) tk_buf_printf(out, ",\"inf\":%zu", x.inf);
}

/* Lanes to be written: every step[k]-th along each axis. */
typedef struct sampling {
  const tk_type *type;
  const tki_region *region; /* that pointers point into, or NULL */
  tki_span at;
  size_t step[TK_MAX_RANK];
} sampling;

/* Those from an axis on, of which the first is `lane`. */
static void put_axis(tk_buf *out, const sampling *x, int axis, size_t lane) {
  const tk_type *type = x->type;
  if (axis == type->rank) {
    const char *p = x->at.at + lane * x->at.step;
    if (out->s[out->n - 1] != '[') tk_buf_putc(out, ',');
    if (type->ptr)
      put_pointer(out, x->region, p);
    else
      tkw_put_lane(out, (tk_dtype)type->elem, p);
    return;
  }
  size_t n = (size_t)type->shape[axis];
  for (size_t i = 0; i < n; i += x->step[axis])
    put_axis(out, x, axis + 1, lane * n + i);
}

static void put_some_lanes(tk_buf *out, const tk_type *type, const tki_val *v,
                           const tki_region *r, size_t most) {
  sampling x = {type, r, tki_span_of(v, tk_lane_size(type)), {0}};
  bool sampled = false;
  if (!most) return;
  tkw_sample(type, most, x.step);
  for (int k = 0; k < type->rank; k++) sampled |= x.step[k] > 1;
  if (sampled) {
    tk_buf_puts(out, ",\"every\":[");
    for (int k = 0; k < type->rank; k++)
      tk_buf_printf(out, "%s%zu", k ? "," : "", x.step[k]);
    tk_buf_putc(out, ']');
  }
  tk_buf_puts(out, ",\"lanes\":[");
  put_axis(out, &x, 0, 0);
  tk_buf_putc(out, ']');
}

void tkw_put_value(tk_buf *out, const tki *t, const char *name,
                   const tk_type *type, const tki_val *v, size_t lanes) {
  const tki_region *r = type->ptr ? region_of(t, v) : NULL;
  const void *one = tki_one_lane(v);
  const tki_sym *s = tki_symbol(v);
  tk_buf_puts(out, "{\"type\":");
  tkw_put_type(out, type);
  if (name) tk_buf_printf(out, ",\"name\":\"%s\"", name); /* an identifier */
  if (r) tk_buf_printf(out, ",\"tensor\":%d", (int)v->region);
  if (type->rank) tkw_put_shape(out, type);
  if (one) {
    tk_buf_puts(out, ",\"all\":");
    if (type->ptr)
      put_pointer(out, r, one);
    else
      tkw_put_lane(out, (tk_dtype)type->elem, one);
  } else if (s && tki_sym_kind_of(s) == TKI_SYM_BOX) {
    tkw_put_box(out, s);
  } else if (!s || !put_affine(out, s, type, r)) {
    if (!type->ptr)
      put_extremes(out, (tk_dtype)type->elem, v, (size_t)tk_numel(type));
    put_some_lanes(out, type, v, r, lanes);
  }
  tk_buf_putc(out, '}');
}
