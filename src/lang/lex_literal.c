/* lex_literal.c - where numbers and strings end, and whether they are
 * well-formed.
 *
 * Both scanners look at each byte a bounded number of times and always give
 * a token that is at least one byte long, so that a lexer built on them
 * advances whatever the text holds.  Values are worked out by the parser.
 */
#include "token.h"

#include <string.h>

static bool is_digit(char c, int base) {
  if (base <= 10) return c >= '0' && c < '0' + base;
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
         (c >= 'A' && c <= 'F');
}

/* digits = digit ("_"? digit)*; the offset after them, `p` if there are none.
 */
static uint32_t digits(const char *s, uint32_t p, uint32_t end, int base) {
  if (p >= end || !is_digit(s[p], base)) return p;
  for (p++; p < end; p++) {
    if (s[p] == '_' && p + 1 < end && is_digit(s[p + 1], base)) p++;
    if (!is_digit(s[p], base)) break;
  }
  return p;
}

static int radix(const char *s, uint32_t p, uint32_t end) {
  if (p + 1 >= end || s[p] != '0') return 10;
  char c = s[p + 1];
  if (c == 'x' || c == 'X') return 16;
  if (c == 'o' || c == 'O') return 8;
  return c == 'b' || c == 'B' ? 2 : 10;
}

static tk_token bad(tk_token t, tkl_lexerr why) {
  t.kind = TKL_ERROR;
  t.sub = (uint8_t)why;
  return t;
}

/* prefixed = "0" [xXoObB] "_"? digits */
static tk_token prefixed(const char *s, tk_token t, uint32_t end, int base) {
  uint32_t p = t.lo + 2;
  if (p < end && s[p] == '_') p++;
  t.hi = digits(s, p, end, base);
  return t.hi == p ? bad(t, TKL_BAD_NUMBER) : t;
}

/* exponent = [eE] [+-]? digits; the offset after it, `p` if there is none. */
static uint32_t exponent(const char *s, uint32_t p, uint32_t end) {
  if (p >= end || (s[p] != 'e' && s[p] != 'E')) return p;
  uint32_t q = p + 1;
  if (q < end && (s[q] == '+' || s[q] == '-')) q++;
  uint32_t r = digits(s, q, end, 10);
  return r > q ? r : p;
}

/* decimal = digits? ("." digits?)? exponent? [jJ]? */
static tk_token decimal(const char *s, tk_token t, uint32_t end) {
  uint32_t p = digits(s, t.lo, end, 10), zeros = t.lo;
  while (zeros < p && (s[zeros] == '0' || s[zeros] == '_')) zeros++;
  bool leading = p > t.lo && s[t.lo] == '0' && zeros < p;
  uint32_t whole = p;
  if (p < end && s[p] == '.') p = digits(s, p + 1, end, 10);
  p = exponent(s, p, end);
  t.hi = p;
  if (p > whole) t.kind = TKL_FLOAT;
  if (p < end && (s[p] == 'j' || s[p] == 'J')) {
    t.hi++;
    return bad(t, TKL_BAD_COMPLEX);
  }
  return t.kind == TKL_INT && leading ? bad(t, TKL_BAD_LEADING_ZERO) : t;
}

tk_token tkl_scan_number(const char *s, uint32_t lo, uint32_t end) {
  tk_token t = {.kind = TKL_INT, .lo = lo};
  int base = radix(s, lo, end);
  t = base == 10 ? decimal(s, t, end) : prefixed(s, t, end, base);
  if (t.hi < end && tkl_is_name_char((unsigned char)s[t.hi])) {
    t = bad(t, TKL_BAD_NUMBER);
    while (t.hi < end && tkl_is_name_char((unsigned char)s[t.hi])) t.hi++;
  }
  return t;
}

int tkl_string_prefix(const char *s, uint32_t n) {
  int flags = 0;
  if (n > 2) return -1;
  if (n == 1 && (*s == 'u' || *s == 'U')) return 0;
  for (uint32_t i = 0; i < n; i++) {
    char c = (char)(s[i] | 0x20);
    int f = c == 'r' ? TKL_RAW : c == 'b' ? TKL_BYTES : 0;
    if (c == 'f') f = TKL_FORMAT;
    if (!f || (flags & f)) return -1;
    flags |= f;
  }
  return (flags & TKL_BYTES) && (flags & TKL_FORMAT) ? -1 : flags;
}

static bool at_triple(const char *s, uint32_t p, uint32_t end, char q) {
  return end - p >= 3 && s[p] == q && s[p + 1] == q && s[p + 2] == q;
}

static uint32_t line_end(const char *s, uint32_t p, uint32_t end) {
  while (p < end && s[p] != '\n' && s[p] != '\r') p++;
  return p;
}

/* A backslash hides the next character; a line end of two bytes is one. */
static uint32_t skip_escape(const char *s, uint32_t p, uint32_t end) {
  p++;
  if (p + 1 < end && s[p] == '\r' && s[p + 1] == '\n') p++;
  return p < end ? p + 1 : end;
}

static tk_token short_string(const char *s, tk_token t, uint32_t p,
                             uint32_t end) {
  char q = s[p++];
  while (p < end && s[p] != q) {
    if (s[p] == '\n' || s[p] == '\r') break;
    p = s[p] == '\\' ? skip_escape(s, p, end) : p + 1;
  }
  if (p < end && s[p] == q) {
    t.hi = p + 1;
    return t;
  }
  t.hi = p;
  return bad(t, TKL_BAD_STRING);
}

/* One that is never closed ends with its line: the functions below it can
 * then still be read. */
static tk_token long_string(const char *s, tk_token t, uint32_t p, uint32_t end,
                            bool dead[2]) {
  char q = s[p];
  uint32_t first = p;
  t.sub |= TKL_TRIPLE_QUOTED;
  if (!dead[q == '"']) {
    p += 3;
    while (p < end && !at_triple(s, p, end, q))
      p = s[p] == '\\' ? skip_escape(s, p, end) : p + 1;
    if (p < end) {
      t.hi = p + 3;
      return t;
    }
  }
  dead[q == '"'] = true;
  t.hi = line_end(s, first, end);
  return bad(t, TKL_BAD_TRIPLE);
}

tk_token tkl_scan_string(const char *s, uint32_t lo, uint32_t quote,
                         uint32_t end, bool dead[2]) {
  int flags = tkl_string_prefix(s + lo, quote - lo);
  bool triple = at_triple(s, quote, end, s[quote]);
  tk_token t = {.kind = TKL_STRING, .sub = (uint8_t)flags, .lo = lo};
  t = triple ? long_string(s, t, quote, end, dead)
             : short_string(s, t, quote, end);
  bool nul = t.kind == TKL_STRING && memchr(s + lo, 0, t.hi - lo);
  return nul ? bad(t, TKL_BAD_CHARACTER) : t;
}
