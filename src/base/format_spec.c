/* format_spec.c - Python's format mini-language, for int, float and str.
 *
 *   [[fill]align][sign]["z"]["#"]["0"][width][grouping]["." precision][type]
 *
 * A spec is parsed whole first; then the kind renders sign, prefix, digits
 * and tail apart, so that grouping and padding can go between them: with '='
 * alignment and grouping, padding zeros take part in the grouping.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "format.h"

enum { MAX_WIDTH = 100000, MAX_PRECISION = 500 };

typedef struct spec {
  char fill[5]; /* one UTF-8 character */
  char align;   /* < > = ^, 0 none given */
  char sign;    /* + - or blank */
  bool no_neg_zero, alternate, zero;
  char group;    /* ',' or '_' */
  int width;     /* -1 none */
  int precision; /* -1 none */
  char type;     /* 0 none */
} spec;

static size_t utf8_bytes(const char *s) {
  unsigned char c = (unsigned char)*s;
  size_t n = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  for (size_t i = 1; i < n; i++)
    if (((unsigned char)s[i] & 0xc0) != 0x80) return 1;
  return *s ? n : 0;
}

static bool is_align(char c) {
  return c && strchr("<>=^", c);
}

static const char *parse_number(const char *s, int max, int *out) {
  if (*s < '0' || *s > '9') return s;
  for (*out = 0; *s >= '0' && *s <= '9'; s++)
    *out = *out > max ? *out : *out * 10 + (*s - '0');
  return s;
}

static const char *parse_align(const char *s, spec *o, bool *filled) {
  size_t n = utf8_bytes(s);
  *filled = n && is_align(s[n]);
  if (*filled) {
    memcpy(o->fill, s, n);
    o->fill[n] = 0;
    o->align = s[n];
    return s + n + 1;
  }
  if (is_align(*s)) o->align = *s++;
  return s;
}

static bool parse(const char *s, spec *o) {
  *o = (spec){.fill = " ", .width = -1, .precision = -1};
  bool filled;
  s = parse_align(s, o, &filled);
  if (*s && strchr("+- ", *s)) o->sign = *s++;
  if (*s == 'z') o->no_neg_zero = true, s++;
  if (*s == '#') o->alternate = true, s++;
  if (*s == '0') {
    s++;
    o->zero = !filled;
    if (!filled) memcpy(o->fill, "0", 2);
  }
  s = parse_number(s, MAX_WIDTH, &o->width);
  if (*s == ',' || *s == '_') o->group = *s++;
  if (*s == '.') {
    const char *digits = ++s;
    s = parse_number(s, MAX_PRECISION, &o->precision);
    if (s == digits) return false;
  }
  if (*s) o->type = *s++;
  return !*s && o->width <= MAX_WIDTH && o->precision <= MAX_PRECISION;
}

/* ---- putting the parts together ---------------------------------------- */

typedef struct parts {
  const char *sign;   /* "", "-", "+", " " */
  const char *prefix; /* "", "0x" */
  const char *digits; /* integer digits, grouped if asked */
  size_t ndigits;
  const char *tail; /* what follows them: fraction, exponent, % */
  int every;        /* digits of a group */
} parts;

static void pad(tk_buf *out, const spec *o, int n) {
  for (int i = 0; i < n; i++) tk_buf_puts(out, o->fill);
}

/* Digits with separators; zeros before them so that all are `width` wide. */
static void grouped(tk_buf *out, const spec *o, const parts *p, int width) {
  int n = (int)p->ndigits, every = p->every;
  int total = n; /* digits, zeros included */
  while (total + (o->group ? (total - 1) / every : 0) < width) total++;
  for (int i = total; i > 0; i--) {
    tk_buf_putc(out, i > n ? '0' : p->digits[n - i]);
    if (o->group && i > 1 && (i - 1) % every == 0) tk_buf_putc(out, o->group);
  }
}

static void assemble(tk_buf *out, const spec *o, const parts *p, char align) {
  int fixed = (int)(strlen(p->sign) + strlen(p->prefix) + strlen(p->tail));
  int n = (int)p->ndigits;
  int body = n + (o->group && n ? (n - 1) / p->every : 0);
  int gap = o->width - fixed - body;
  if (gap < 0) gap = 0;
  bool inside = align == '=';
  bool zeros = inside && !strcmp(o->fill, "0");
  int before = align == '>' ? gap : align == '^' ? gap / 2 : 0;
  pad(out, o, before);
  tk_buf_puts(out, p->sign);
  tk_buf_puts(out, p->prefix);
  if (inside && !zeros) pad(out, o, gap);
  grouped(out, o, p, zeros ? o->width - fixed : 0);
  tk_buf_puts(out, p->tail);
  if (!inside) pad(out, o, gap - before);
}

static char number_align(const spec *o) {
  if (o->align) return o->align;
  return o->zero ? '=' : '>';
}

static const char *sign_text(const spec *o, bool negative) {
  if (negative) return "-";
  return o->sign == '+' ? "+" : o->sign == ' ' ? " " : "";
}

/* ---- floats ------------------------------------------------------------ */

typedef struct number_text {
  char digits[TK_MAX_DIGITS + 32]; /* before the point */
  char tail[TK_MAX_DIGITS + 32];
} number_text;

static char digit_at(const tk_decimal *x, int i) {
  return i >= 0 && i < x->n ? x->digits[i] : '0';
}

static void fixed_text(number_text *t, const tk_decimal *x, int frac,
                       bool point) {
  int n = 0, k = 0;
  if (x->point <= 0) t->digits[n++] = '0';
  for (int i = 0; i < x->point; i++) t->digits[n++] = digit_at(x, i);
  t->digits[n] = 0;
  if (point || frac) t->tail[k++] = '.';
  for (int i = 0; i < frac; i++) t->tail[k++] = digit_at(x, x->point + i);
  t->tail[k] = 0;
}

static void exp_text(number_text *t, const tk_decimal *x, int frac, bool point,
                     char e) {
  int k = 0, exp = x->point - 1;
  if (x->n == 1 && x->digits[0] == '0') exp = 0;
  t->digits[0] = x->digits[0];
  t->digits[1] = 0;
  if (point || frac) t->tail[k++] = '.';
  for (int i = 1; i <= frac; i++) t->tail[k++] = digit_at(x, i);
  t->tail[k++] = e;
  t->tail[k++] = exp < 0 ? '-' : '+';
  exp = abs(exp);
  if (exp >= 100) t->tail[k++] = (char)('0' + exp / 100);
  t->tail[k++] = (char)('0' + exp / 10 % 10);
  t->tail[k++] = (char)('0' + exp % 10);
  t->tail[k] = 0;
}

/* 'g', and no type at all: `repr_like` always shows a digit after the point,
 * which moves the switch to exponents one earlier. */
static void general_text(number_text *t, double v, const spec *o,
                         bool repr_like) {
  tk_decimal x;
  bool shortest = repr_like && o->precision < 0;
  int precision = o->precision < 0 ? 6 : o->precision ? o->precision : 1;
  char e = o->type == 'G' ? 'E' : 'e';
  if (shortest)
    tk_decimal_shortest(&x, TK_FP64, v), precision = 17;
  else
    tk_decimal_round(&x, v, precision);
  int most = shortest ? 16 : precision - repr_like;
  bool zero = v == 0;
  if (zero) x.point = 1;
  bool exp = x.point <= -4 || x.point > most;
  if (!o->alternate)
    while (x.n > 1 && x.digits[x.n - 1] == '0') x.digits[--x.n] = 0;
  int frac = zero && !o->alternate ? 0 : x.n - (exp ? 1 : x.point);
  if (frac < 0) frac = 0;
  if (exp)
    exp_text(t, &x, frac, o->alternate, e);
  else
    fixed_text(t, &x, frac || !repr_like ? frac : 1, o->alternate);
}

static bool float_text(number_text *t, double v, const spec *o) {
  tk_decimal x;
  int precision = o->precision < 0 ? 6 : o->precision;
  switch (o->type) {
  case 0: general_text(t, v, o, true); return true;
  case 'g':
  case 'G':
  case 'n': general_text(t, v, o, false); return true;
  case 'e':
  case 'E':
    tk_decimal_round(&x, v, precision + 1);
    exp_text(t, &x, precision, o->alternate, o->type);
    return true;
  case '%':
  case 'f':
  case 'F':
    tk_decimal_fixed(&x, o->type == '%' ? v * 100 : v, precision);
    fixed_text(t, &x, precision, o->alternate);
    if (o->type == '%') strcat(t->tail, "%");
    return true;
  default: return false;
  }
}

static bool all_zero(const number_text *t) {
  for (const char *p = t->digits; *p; p++)
    if (*p >= '1' && *p <= '9') return false;
  for (const char *p = t->tail; *p && *p != 'e' && *p != 'E'; p++)
    if (*p >= '1' && *p <= '9') return false;
  return true;
}

static bool format_double(tk_buf *out, double v, spec *o) {
  number_text t = {"", ""};
  bool negative = signbit(v) && v == v;
  bool upper = o->type && strchr("EFG", o->type);
  if (o->group && o->type == 'n') return false;
  if (v - v == 0) {
    if (!float_text(&t, fabs(v), o)) return false;
    if (o->no_neg_zero && all_zero(&t)) negative = false;
  } else {
    if (o->type && !strchr("eEfFgGn%", o->type)) return false;
    strcpy(t.digits, v != v ? upper ? "NAN" : "nan" : upper ? "INF" : "inf");
    if (o->type == '%') strcpy(t.tail, "%");
    o->group = 0;
  }
  parts p = {sign_text(o, negative), "", t.digits, strlen(t.digits), t.tail, 3};
  assemble(out, o, &p, number_align(o));
  return true;
}

bool tk_format_spec_double(tk_buf *out, double v, const char *text) {
  spec o;
  return parse(text, &o) && format_double(out, v, &o);
}

/* ---- integers ---------------------------------------------------------- */

static size_t radix_text(char *out, uint64_t u, unsigned radix, bool upper) {
  char tmp[65];
  size_t n = 0;
  const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  do tmp[n++] = digits[u % radix];
  while (u /= radix);
  for (size_t i = 0; i < n; i++) out[i] = tmp[n - 1 - i];
  out[n] = 0;
  return n;
}

static bool format_char(tk_buf *out, int64_t v, const spec *o) {
  char s[5];
  size_t n = 0;
  if (v < 0 || v > 0x10ffff || o->sign || o->group || o->alternate)
    return false;
  uint32_t u = (uint32_t)v;
  if (u < 0x80) {
    s[n++] = (char)u;
  } else {
    int more = u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    s[n++] = (char)(lead[more] | u >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
      s[n++] = (char)(0x80 | (u >> 6 * i & 0x3f));
  }
  int gap = o->width > 1 ? o->width - 1 : 0;
  char align = number_align(o);
  int before = align == '>' || align == '=' ? gap : align == '^' ? gap / 2 : 0;
  pad(out, o, before);
  tk_buf_add(out, s, n);
  pad(out, o, gap - before);
  return true;
}

/* Radix of an integer's type; 0 for other types. */
static unsigned radix_of(char type) {
  switch (type) {
  case 0:
  case 'd':
  case 'n': return 10;
  case 'b': return 2;
  case 'o': return 8;
  case 'x':
  case 'X': return 16;
  default: return 0;
  }
}

bool tk_format_spec_int(tk_buf *out, int64_t v, const char *text) {
  spec o;
  char digits[66];
  if (!parse(text, &o)) return false;
  if (o.type && strchr("eEfFgG%", o.type))
    return format_double(out, (double)v, &o);
  if (o.precision >= 0 || o.no_neg_zero) return false;
  if (o.type == 'c') return format_char(out, v, &o);
  unsigned radix = radix_of(o.type);
  if (!radix || (o.group == ',' && radix != 10)) return false;
  if (o.group && o.type == 'n') return false;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  size_t n = radix_text(digits, u, radix, o.type == 'X');
  char prefix[3] = {'0', o.type, 0};
  if (!o.alternate || radix == 10) prefix[0] = 0;
  parts p = {sign_text(&o, v < 0), prefix, digits, n, "", radix == 10 ? 3 : 4};
  assemble(out, &o, &p, number_align(&o));
  return true;
}

/* ---- strings ----------------------------------------------------------- */

/* Bytes of the first `chars` characters; *count is how many there are. */
static size_t prefix_bytes(const char *s, size_t n, int chars, int *count) {
  size_t i = 0;
  for (*count = 0; i < n && (chars < 0 || *count < chars); ++*count)
    for (i++; i < n && ((unsigned char)s[i] & 0xc0) == 0x80;) i++;
  return i;
}

bool tk_format_spec_str(tk_buf *out, const char *s, size_t n,
                        const char *text) {
  spec o;
  int count;
  if (!parse(text, &o)) return false;
  if ((o.type && o.type != 's') || o.sign || o.group || o.alternate ||
      o.no_neg_zero || o.align == '=')
    return false;
  n = prefix_bytes(s, n, o.precision, &count);
  int gap = o.width > count ? o.width - count : 0;
  int before = o.align == '>' ? gap : o.align == '^' ? gap / 2 : 0;
  pad(out, &o, before);
  tk_buf_add(out, s, n);
  pad(out, &o, gap - before);
  return true;
}
