/* literal.c - the values a person writes on a command line.
 *
 * The subset of Python's literals that can be a kernel argument, plus what a
 * shell makes convenient: bare words where a string is wanted, `none` and
 * `true` in lower case, and dtype names with or without their module.  The
 * cursor functions here serve every small grammar of this room.
 */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 };

/* ---- cursors ----------------------------------------------------------- */

void tkn_fail(const tkn_cursor *c, uint32_t lo, uint32_t hi, const char *help,
              const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_span span = {lo, hi};
  TK_ASSERT(lo <= hi && c->at <= c->src->len);
  tk_diag *d = c->quotes ? tk_diag_add(c->env, c->id, NULL, (tk_span){0, 0},
                                       "%s (at character %u of '%s')",
                                       tk_arena_vprintf(c->quotes, fmt, ap),
                                       lo + 1, c->src->text)
                         : tk_diag_vadd(c->env, c->id, c->src, span, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(c->env, d, "%s", help);
  tk_throw(c->env, TK_USAGE);
}

void tkn_skip(tkn_cursor *c) {
  while (c->at < c->src->len && strchr(" \t\n\r", c->src->text[c->at]) &&
         c->src->text[c->at])
    c->at++;
}

char tkn_peek(tkn_cursor *c) {
  tkn_skip(c);
  return c->at < c->src->len ? c->src->text[c->at] : 0;
}

bool tkn_accept(tkn_cursor *c, char ch) {
  if (tkn_at_end(c) || c->src->text[c->at] != ch) return false;
  c->at++;
  return true;
}

bool tkn_at_end(tkn_cursor *c) {
  tkn_skip(c);
  return c->at >= c->src->len;
}

static bool word_byte(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
         (ch >= '0' && ch <= '9') || ch == '_' || (unsigned char)ch >= 0x80;
}

static bool digit(char ch) {
  return ch >= '0' && ch <= '9';
}

uint32_t tkn_word(const tkn_cursor *c) {
  uint32_t n = 0;
  const char *s = c->src->text + c->at;
  if (digit(s[0]) || s[0] == '.') return 0;
  while (c->at + n < c->src->len && (word_byte(s[n]) || s[n] == '.')) n++;
  return n;
}

uint32_t tkn_extent(const tkn_cursor *c) {
  uint32_t n = 0;
  const char *s = c->src->text + c->at;
  while (c->at + n < c->src->len && (word_byte(s[n]) || s[n] == '.' ||
                                     ((s[n] == '-' || s[n] == '+') && n == 0)))
    n++;
  return c->at + (n ? n : 1);
}

void tkn_expect(tkn_cursor *c, char ch, const char *why) {
  if (tkn_accept(c, ch)) return;
  tkn_fail(c, c->at, tkn_extent(c), NULL, "expected '%c' %s", ch, why);
}

/* ---- numbers ----------------------------------------------------------- */

static int digit_value(char ch) {
  if (digit(ch)) return ch - '0';
  if (ch >= 'a' && ch <= 'z') return ch - 'a' + 10;
  if (ch >= 'A' && ch <= 'Z') return ch - 'A' + 10;
  return 99;
}

static int radix_of(const char *s) {
  if (s[0] != '0') return 10;
  switch (s[1]) {
  case 'x':
  case 'X': return 16;
  case 'o':
  case 'O': return 8;
  case 'b':
  case 'B': return 2;
  default: return 10;
  }
}

/* An unsigned Python integer of n bytes; false when it is not one, or does
 * not fit 127 bits (*big). */
static bool parse_magnitude(const char *s, uint32_t n, tk_int *out, bool *big) {
  int radix = radix_of(s);
  uint32_t i = radix == 10 ? 0 : 2;
  tk_int v = 0, max = (tk_int)(~(unsigned __int128)0 >> 1);
  bool any = false;
  *big = false;
  for (; i < n; i++) {
    if (s[i] == '_' && any && i + 1 < n) continue;
    int d = digit_value(s[i]);
    if (d >= radix) return false;
    if (v > (max - d) / radix) *big = true;
    if (!*big) v = v * radix + d;
    any = true;
  }
  *out = v;
  return any;
}

/* strtod reads the locale's decimal point; Python's is always a dot.  text
 * has room for n bytes and a NUL. */
static bool parse_double(const char *s, uint32_t n, char *text, double *out) {
  char *end;
  uint32_t k = 0;
  for (uint32_t i = 0; i < n; i++)
    if (s[i] != '_') text[k++] = s[i];
  text[k] = 0;
  if (k > 1 && (text[1] == 'x' || text[1] == 'X')) return false;
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return false;
  locale_t old = uselocale(c);
  *out = strtod(text, &end);
  uselocale(old);
  freelocale(c);
  return end == text + k;
}

/* Bytes of the number at the cursor, which has no sign. */
static uint32_t number_length(const tkn_cursor *c) {
  const char *s = c->src->text + c->at;
  uint32_t n = 0, left = c->src->len - c->at;
  bool hex = radix_of(s) == 16;
  while (n < left) {
    bool sign = (s[n] == '+' || s[n] == '-') && n && !hex &&
                (s[n - 1] == 'e' || s[n - 1] == 'E');
    if (!word_byte(s[n]) && s[n] != '.' && !sign) break;
    n++;
  }
  return n;
}

static tk_value int_value(tk_int v) {
  return (tk_value){
      .kind = TK_V_INT, .hi = (int64_t)(v >> 64), .lo = (uint64_t)v};
}

static tk_value number_literal(tkn_cursor *c) {
  uint32_t lo = c->at;
  bool neg = tkn_accept(c, '-');
  if (!neg) tkn_accept(c, '+');
  const char *s = c->src->text + c->at;
  uint32_t n = number_length(c), hi = c->at + n;
  bool inf = n == 3 && !memcmp(s, "inf", 3);
  bool nan = n == 3 && !memcmp(s, "nan", 3);
  tk_int i;
  double f;
  bool big = false;
  c->at = hi;
  if (n && parse_magnitude(s, n, &i, &big) && !big)
    return int_value(neg ? -i : i);
  if (big) tkn_fail(c, lo, hi, NULL, "this integer needs more than 128 bits");
  bool ok = (n && (digit(s[0]) || s[0] == '.')) || inf || nan;
  char *text = ok ? tk_realloc(c->env, NULL, 0, n + 1) : NULL;
  ok = ok && parse_double(s, n, text, &f);
  tk_free(c->env, text, text ? n + 1 : 0);
  if (!ok) tkn_fail(c, lo, hi > lo ? hi : lo + 1, NULL, "expected a number");
  return (tk_value){.kind = TK_V_FLOAT, .f = neg ? -f : f};
}

int64_t tkn_int(tkn_cursor *c, int64_t lo, int64_t hi, const char *what) {
  tkn_skip(c);
  uint32_t at = c->at;
  char ch = tkn_peek(c);
  if (!digit(ch) && ch != '-' && ch != '+')
    tkn_fail(c, at, tkn_extent(c), NULL, "expected an integer: %s", what);
  tk_value v = number_literal(c);
  if (v.kind != TK_V_INT)
    tkn_fail(c, at, c->at, NULL, "expected an integer: %s", what);
  bool fits = v.hi == ((int64_t)v.lo < 0 ? -1 : 0);
  if (!fits || (int64_t)v.lo < lo || (int64_t)v.lo > hi)
    tkn_fail(c, at, c->at, NULL, "%s may be %lld to %lld", what, (long long)lo,
             (long long)hi);
  return (int64_t)v.lo;
}

/* ---- strings and words ------------------------------------------------- */

static tk_value string_value(tk_arena *a, const char *s, size_t n) {
  return (tk_value){.kind = TK_V_STR, .str = tk_arena_strndup(a, s, n), .n = n};
}

static char escape(const tkn_cursor *c, char ch) {
  static const char from[] = "ntr0\\'\"", to[] = "\n\t\r\0\\'\"";
  const char *p = ch ? strchr(from, ch) : NULL;
  if (!p)
    tkn_fail(c, c->at - 1, c->at + 1, "known: \\n \\t \\r \\0 \\\\ \\' \\\"",
             "unknown escape");
  return to[p - from];
}

static tk_value quoted(tkn_cursor *c, tk_arena *a) {
  const char *s = c->src->text;
  uint32_t lo = c->at, n = 0;
  char quote = s[c->at++];
  char *text = tk_arena_alloc(a, c->src->len - lo + 1);
  for (; c->at < c->src->len && s[c->at] != quote; c->at++) {
    char ch = s[c->at];
    if (ch == '\\') {
      c->at++;
      ch = escape(c, c->at < c->src->len ? s[c->at] : 0);
    }
    text[n++] = ch;
  }
  if (c->at >= c->src->len)
    tkn_fail(c, lo, c->src->len, NULL, "this string does not end");
  c->at++;
  return (tk_value){.kind = TK_V_STR, .str = text, .n = n};
}

/* The words that mean a value, in the spellings of Python and of shells. */
static bool named_value(const char *word, tk_value *out) {
  static const struct {
    const char *word;
    tk_value value;
  } names[] = {
      {"None", {.kind = TK_V_NONE}},
      {"none", {.kind = TK_V_NONE}},
      {"True", {.kind = TK_V_BOOL, .lo = 1}},
      {"true", {.kind = TK_V_BOOL, .lo = 1}},
      {"False", {.kind = TK_V_BOOL}},
      {"false", {.kind = TK_V_BOOL}},
  };
  for (size_t i = 0; i < TK_COUNT(names); i++)
    if (!strcmp(word, names[i].word)) {
      *out = names[i].value;
      return true;
    }
  int d = tk_dtype_from_name(word);
  if (d < 0) return false;
  *out = (tk_value){.kind = TK_V_DTYPE, .lo = (uint64_t)d};
  return true;
}

static tk_value word_literal(tkn_cursor *c, tk_arena *a, bool bare) {
  uint32_t lo = c->at, n = tkn_word(c);
  char *text = tk_arena_strndup(a, c->src->text + lo, n);
  tk_value v;
  if (!strcmp(text, "inf") || !strcmp(text, "nan")) return number_literal(c);
  c->at += n;
  if (named_value(text, &v)) return v;
  if (!bare)
    tkn_fail(c, lo, c->at,
             "values: 5, 0.5, True, None, 'text', tl.float16, (1, 2)",
             "'%s' is not a value", text);
  return string_value(a, text, n);
}

/* ---- tuples and the rest ----------------------------------------------- */

static tk_value literal(tkn_cursor *c, tk_arena *a, bool bare, int depth);

static tk_value tuple(tkn_cursor *c, tk_arena *a, int depth) {
  TK_VEC(tk_value) v = {0};
  uint32_t lo = c->at++;
  bool comma = false;
  if (depth == MAX_DEPTH)
    tkn_fail(c, lo, lo + 1, NULL, "tuples nested too deeply");
  while (tkn_peek(c) != ')') {
    if (v.n && !comma) tkn_expect(c, ')', "or ',' in a tuple");
    tk_value item = literal(c, a, false, depth + 1);
    TK_PUSH(a, &v, item);
    comma = tkn_accept(c, ',');
    if (tkn_at_end(c)) tkn_fail(c, lo, lo + 1, NULL, "this '(' is not closed");
  }
  c->at++;
  if (v.n == 1 && !comma) return v.items[0]; /* (5) is 5 */
  return (tk_value){.kind = TK_V_TUPLE, .items = v.items, .n = v.n};
}

static tk_value pointer_type(tkn_cursor *c, tk_arena *a) {
  uint32_t lo = c->at;
  int64_t depth = 0;
  while (tkn_accept(c, '*')) depth++;
  uint32_t n = tkn_word(c);
  char *name = tk_arena_strndup(a, c->src->text + c->at, n);
  int d = tk_dtype_from_name(name);
  c->at += n;
  if (d < 0 || depth > 8)
    tkn_fail(c, lo, c->at > lo ? c->at : lo + 1, NULL,
             "expected a pointer type such as *fp32");
  return (tk_value){.kind = TK_V_DTYPE, .lo = (uint64_t)d, .hi = depth};
}

static tk_value literal(tkn_cursor *c, tk_arena *a, bool bare, int depth) {
  char ch = tkn_peek(c);
  if (ch == '(') return tuple(c, a, depth);
  if (ch == '\'' || ch == '"') return quoted(c, a);
  if (ch == '*') return pointer_type(c, a);
  if (tkn_word(c) && !digit(ch)) return word_literal(c, a, bare);
  return number_literal(c);
}

tk_value tkn_literal(tkn_cursor *c, tk_arena *a, bool bare) {
  return literal(c, a, bare, 0);
}
