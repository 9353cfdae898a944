/* format.c - arrays as text, as NumPy 1.24's arrayprint prints them.
 *
 * Two passes.  The first looks at the lanes that will be shown (all, or the
 * corners of a large array) and settles one layout for them: how wide, how
 * many digits, whether in scientific notation.  The second walks the array
 * and wraps lines.  Both are written after NumPy's FloatingFormat,
 * IntegerFormat and _formatArray, whose rules they keep one by one; lanes
 * marked undefined take no part in the layout and print as ?.
 */
#include "format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"

const tk_print_options tk_print_defaults = {1000, 3, 8, 75};

/* ---- digits as text ---------------------------------------------------- */

/* Digit i of the number's fraction or integer part; 0 beyond its own digits. */
static char digit_at(const tk_decimal *x, int i) {
  return i >= 0 && i < x->n ? x->digits[i] : '0';
}

/* ddd.ddd with `frac` digits after the point. */
static void positional(tk_buf *out, const tk_decimal *x, int frac) {
  if (x->negative) tk_buf_putc(out, '-');
  if (x->point <= 0) tk_buf_putc(out, '0');
  for (int i = 0; i < x->point; i++) tk_buf_putc(out, digit_at(x, i));
  tk_buf_putc(out, '.');
  for (int i = 0; i < frac; i++) tk_buf_putc(out, digit_at(x, x->point + i));
}

/* d.ddde+XX with `frac` digits after the point. */
static void scientific(tk_buf *out, const tk_decimal *x, int frac, bool point,
                       int exp_digits) {
  int exp = x->point - 1;
  if (x->n == 1 && x->digits[0] == '0') exp = 0;
  if (x->negative) tk_buf_putc(out, '-');
  tk_buf_putc(out, x->digits[0]);
  if (point) tk_buf_putc(out, '.');
  for (int i = 1; i <= frac; i++) tk_buf_putc(out, digit_at(x, i));
  tk_buf_printf(out, "e%c%0*d", exp < 0 ? '-' : '+', exp_digits, abs(exp));
}

static int frac_digits(const tk_decimal *x) {
  bool zero = x->n == 1 && x->digits[0] == '0';
  return zero || x->n <= x->point ? 0 : x->n - x->point;
}

static const char *not_finite(double v) {
  if (v != v) return "nan";
  return v < 0 ? "-inf" : "inf";
}

/* Python's repr and NumPy's str share their form; the limits differ in how
 * they are compared, never in where they lie. */
static void shortest_text(tk_buf *out, tk_dtype d, double v) {
  tk_decimal x;
  if (v - v != 0) {
    tk_buf_puts(out, not_finite(v));
    return;
  }
  tk_decimal_shortest(&x, d, v);
  double size = fabs(v);
  bool exact = !tk_dtypes[d].np[0] && x.n < x.point && size < 1e16;
  if (exact) tk_decimal_fixed(&x, v, 0); /* 448, though 440 reads back too */
  int frac = frac_digits(&x);
  if (v == 0 || (size >= 1e-4 && size < 1e16))
    positional(out, &x, frac ? frac : 1);
  else
    scientific(out, &x, x.n - 1, x.n > 1, 2);
}

void tk_format_double(tk_buf *out, double v) {
  shortest_text(out, TK_FP64, v);
}

tk_lane tk_lane_shown(tk_arena *a, tk_buf *text, tk_dtype d, const void *p) {
  tk_lane lane = {.dtype = d};
  tk_buf_clear(text);
  tk_format_lane(text, d, p);
  memcpy(&lane.bits, p, tk_dtype_size(d));
  lane.text = tk_arena_strdup(a, tk_buf_str(text));
  return lane;
}

void tk_format_lane(tk_buf *out, tk_dtype d, const void *p) {
  if (d == TK_INT1)
    tk_buf_puts(out, tk_lane_int(d, p) ? "True" : "False");
  else if (tk_is_float(d))
    shortest_text(out, d, tk_lane_double(d, p));
  else if (d == TK_UINT64)
    tk_buf_printf(out, "%llu", (unsigned long long)tk_lane_int(d, p));
  else
    tk_buf_printf(out, "%lld", (long long)tk_lane_int(d, p));
}

/* ---- what is shown ----------------------------------------------------- */

/* One layout for all lanes. */
typedef struct layout {
  const tk_array_view *v;
  const tk_print_options *opt;
  tk_buf *out;
  tk_buf word; /* one lane as text */
  bool summary;
  bool floats;     /* laid out by the members that follow */
  bool any;        /* a finite lane was seen */
  bool all;        /* no lane is infinite or NaN */
  bool neg_inf;    /* one is minus infinity */
  bool exp_form;   /* d.ddde+XX */
  double max, min; /* of the finite lanes' sizes, zeros aside */
  int left, right; /* characters before and after the point */
  int exp_digits;
  int width; /* of a whole lane, floats aside */
} layout;

typedef void (*lane_fn)(layout *l, const char *lane);

/* NumPy's formats take the corners alone when an array is too large. */
static bool skipped(const layout *l, int axis, int64_t i) {
  int64_t n = l->v->shape[axis], edge = l->opt->edge;
  return l->summary && n > 2 * edge && i >= edge && i < n - edge;
}

static void each_lane(layout *l, int axis, const char *at, int64_t index,
                      lane_fn fn) {
  const tk_array_view *v = l->v;
  if (axis == v->rank) {
    if (!v->undefined || !v->undefined[index]) fn(l, at);
    return;
  }
  int64_t step = v->strides[axis] * (int64_t)tk_dtypes[v->dtype].size;
  for (int64_t i = 0; i < v->shape[axis]; i++) {
    if (skipped(l, axis, i)) i = v->shape[axis] - l->opt->edge;
    each_lane(l, axis + 1, at + i * step, index * v->shape[axis] + i, fn);
  }
}

/* v as the type's own arithmetic would have it. */
static double in(tk_dtype d, double v) {
  uint64_t lane = 0;
  if (tk_is_fp8(d) || d == TK_BF16) d = TK_FP32; /* NumPy has no such type */
  tk_lane_set_double(d, &lane, v);
  return tk_lane_double(d, &lane);
}

static void see_range(layout *l, const char *lane) {
  double v = tk_lane_double(l->v->dtype, lane), size = fabs(v);
  if (v - v != 0) {
    l->all = false;
    l->neg_inf = l->neg_inf || v == -INFINITY;
    return;
  }
  l->any = true;
  if (v == 0) return;
  if (l->max == 0 || size > l->max) l->max = size;
  if (l->min == 0 || size < l->min) l->min = size;
}

static bool wants_exponent(const layout *l) {
  tk_dtype d = l->v->dtype;
  if (l->max == 0) return false;
  if (l->max >= 1e8 || l->min < in(d, 0.0001)) return true;
  return in(d, l->max / l->min) > 1000;
}

/* The digits that a lane is shown with: its shortest, cut to the precision. */
static void lane_digits(const layout *l, double v, tk_decimal *x) {
  int precision = l->opt->precision;
  tk_decimal_shortest(x, l->v->dtype, v);
  if (l->exp_form) {
    if (x->n - 1 > precision) tk_decimal_round(x, v, precision + 1);
  } else if (frac_digits(x) > precision)
    tk_decimal_fixed(x, v, precision);
  while (x->n > 1 && x->digits[x->n - 1] == '0') x->digits[--x->n] = 0;
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

static void see_digits(layout *l, const char *lane) {
  double v = tk_lane_double(l->v->dtype, lane);
  tk_decimal x;
  if (v - v != 0) return;
  lane_digits(l, v, &x);
  if (!l->exp_form) {
    l->left = larger(l->left, x.negative + larger(x.point, 1));
    l->right = larger(l->right, frac_digits(&x));
    return;
  }
  int exp = v == 0 ? 0 : abs(x.point - 1);
  l->left = larger(l->left, x.negative + 1);
  l->right = larger(l->right, x.n - 1);
  l->exp_digits = larger(l->exp_digits, exp >= 100 ? 3 : 2);
}

static void lane_text(layout *l, const char *lane);

static void see_width(layout *l, const char *lane) {
  lane_text(l, lane);
  l->width = larger(l->width, (int)l->word.n);
}

/* Characters after the point, exponent included. */
static int tail(const layout *l) {
  return l->exp_form ? l->right + 2 + l->exp_digits : l->right;
}

static void choose_form(layout *l) {
  tk_dtype d = l->v->dtype;
  l->floats = tk_is_float(d) && !l->v->hex && !l->v->pointers;
  l->all = true;
  if (!l->floats) {
    bool words = d == TK_INT1 && !l->v->hex;
    l->width = words ? (int)strlen("False") : 0; /* whether one is or not */
    each_lane(l, 0, l->v->data, 0, see_width);
    return;
  }
  each_lane(l, 0, l->v->data, 0, see_range);
  l->exp_form = l->any && wants_exponent(l);
  each_lane(l, 0, l->v->data, 0, see_digits);
  if (l->all) return;
  int room = tail(l) + 1; /* a word may also stand where digits would */
  l->left = larger(l->left, larger(3, 3 + l->neg_inf) - room);
}

/* ---- one lane ---------------------------------------------------------- */

static void float_text(layout *l, double v) {
  tk_decimal x;
  lane_digits(l, v, &x);
  /* digits that the layout wants beyond the shortest are the exact ones */
  if (l->exp_form && x.n <= l->right)
    tk_decimal_round(&x, v, l->right + 1);
  else if (!l->exp_form && x.n < x.point && v != 0)
    tk_decimal_fixed(&x, v, 0);
  int left = x.negative + (l->exp_form ? 1 : larger(x.point, 1));
  tk_buf_pad(&l->word, ' ', (size_t)larger(l->left - left, 0));
  if (l->exp_form) {
    scientific(&l->word, &x, l->right, true, l->exp_digits);
    return;
  }
  int frac = frac_digits(&x);
  positional(&l->word, &x, frac);
  tk_buf_pad(&l->word, ' ', (size_t)(l->right - frac));
}

static void hex_text(layout *l, const char *lane) {
  uint64_t bits = 0;
  size_t size = tk_dtypes[l->v->dtype].size;
  memcpy(&bits, lane, size);
  tk_buf_printf(&l->word, "0x%0*llx", l->v->pointers ? 1 : (int)size * 2,
                (unsigned long long)bits);
}

static void lane_text(layout *l, const char *lane) {
  tk_dtype d = l->v->dtype;
  double v = l->floats ? tk_lane_double(d, lane) : 0;
  tk_buf_clear(&l->word);
  if (l->v->hex || l->v->pointers)
    hex_text(l, lane);
  else if (!l->floats)
    tk_format_lane(&l->word, d, lane);
  else if (v - v == 0)
    float_text(l, v);
  else
    tk_buf_puts(&l->word, not_finite(v));
}

/* The lane in l->word, as wide as every other. */
static void padded(layout *l, const char *lane, int64_t index) {
  int width = l->floats ? l->left + 1 + tail(l) : l->width;
  if (l->v->undefined && l->v->undefined[index]) {
    tk_buf_clear(&l->word);
    tk_buf_putc(&l->word, '?');
  } else
    lane_text(l, lane);
  int missing = width - (int)l->word.n;
  if (missing <= 0) return;
  tk_buf_pad(&l->word, ' ', (size_t)missing);
  char *s = l->word.s;
  memmove(s + missing, s, l->word.n - (size_t)missing);
  memset(s, ' ', (size_t)missing);
}

/* ---- the whole --------------------------------------------------------- */

typedef struct row {
  size_t line; /* where in out the line starts; may wrap below 0 */
  size_t hang; /* columns that continuation lines are indented by */
  size_t width;
} row;

/* Appends a word, on a new line if it would not fit this one. */
static void extend(layout *l, row *r, const char *word, size_t n) {
  tk_buf *out = l->out;
  size_t used = out->n - r->line;
  if (used + n > r->width && used > r->hang) {
    while (out->s[out->n - 1] == ' ') out->s[--out->n] = 0;
    tk_buf_putc(out, '\n');
    r->line = out->n;
    tk_buf_pad(out, ' ', r->hang);
  }
  tk_buf_add(out, word, n);
}

static void last_axis(layout *l, const char *at, int64_t index, size_t hang,
                      size_t width) {
  const tk_array_view *v = l->v;
  int axis = v->rank - 1;
  int64_t n = v->shape[axis], size = tk_dtypes[v->dtype].size;
  row r = {l->out->n - hang, hang, width - 1};
  for (int64_t i = 0; i < n; i++) {
    if (i) tk_buf_putc(l->out, ' ');
    if (skipped(l, axis, i)) {
      extend(l, &r, "...", 3);
      tk_buf_putc(l->out, ' ');
      i = n - l->opt->edge;
    }
    padded(l, at + i * v->strides[axis] * size, index * n + i);
    extend(l, &r, l->word.s, l->word.n);
  }
}

static void rows(layout *l, int axis, const char *at, int64_t index,
                 size_t hang, size_t width) {
  const tk_array_view *v = l->v;
  int64_t n = v->shape[axis], size = tk_dtypes[v->dtype].size;
  tk_buf_putc(l->out, '[');
  hang++;
  if (axis == v->rank - 1) {
    last_axis(l, at, index, hang, width);
    tk_buf_putc(l->out, ']');
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    if (i) {
      tk_buf_pad(l->out, '\n', (size_t)(v->rank - axis - 1));
      tk_buf_pad(l->out, ' ', hang);
    }
    if (skipped(l, axis, i)) {
      tk_buf_puts(l->out, "...");
      i = n - l->opt->edge - 1;
      continue;
    }
    rows(l, axis + 1, at + i * v->strides[axis] * size, index * n + i, hang,
         width - 1);
  }
  tk_buf_putc(l->out, ']');
}

static void scalar(layout *l) {
  const tk_array_view *v = l->v;
  if (v->undefined && v->undefined[0])
    tk_buf_putc(l->out, '?');
  else if (v->hex || v->pointers) {
    lane_text(l, v->data);
    tk_buf_add(l->out, l->word.s, l->word.n);
  } else
    tk_format_lane(l->out, v->dtype, v->data);
}

typedef struct format_call {
  layout l;
  int indent;
} format_call;

static void format(tk_env *e, void *ud) {
  (void)e;
  format_call *c = ud;
  layout *l = &c->l;
  if (l->v->rank == 0) {
    scalar(l);
    return;
  }
  choose_form(l);
  rows(l, 0, l->v->data, 0, (size_t)c->indent, (size_t)l->opt->width);
}

void tk_format_array(tk_buf *out, const tk_array_view *v, int indent,
                     const tk_print_options *opt) {
  format_call c = {.l = {.v = v, .out = out}, .indent = indent};
  c.l.opt = opt ? opt : &tk_print_defaults;
  int64_t lanes = 1;
  for (int i = 0; i < v->rank; i++) {
    if (v->shape[i] == 0) {
      tk_buf_puts(out, "[]");
      return;
    }
    lanes *= v->shape[i];
  }
  c.l.summary = lanes > c.l.opt->threshold;
  tk_buf_init(&c.l.word, out->env);
  tk_status st = tk_protect(out->env, format, &c);
  tk_buf_free(&c.l.word);
  if (st != TK_OK) tk_throw(out->env, st);
}
