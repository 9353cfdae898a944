/* parse_literal.c - the values of numbers and strings.
 *
 * The lexer has found where a literal ends and that its spelling is sound;
 * here it is decoded.  Adjacent strings are one literal: their pieces go to
 * one buffer, which is as long as the tokens together and so never full,
 * since no escape is shorter than what it stands for.
 *
 * An f-string is cut where its braces are: text goes to the buffer, each
 * field is lexed again from the same source (so that spans stay true) up to
 * the "!", ":" or "}" that ends its expression, and parsed by a parser of its
 * own.
 */
#include "parser.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define INT_MAX_VALUE ((tk_int)(((tk_int)1 << 126) - 1 + ((tk_int)1 << 126)))

/* ---- numbers ----------------------------------------------------------- */

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int base_of(const char *s) {
  if (s[0] != '0') return 10;
  char c = (char)(s[1] | 0x20);
  return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
}

static void integer(tkl_parser *p, tk_ast *n) {
  int base = base_of(n->str_);
  for (const char *s = n->str_ + (base == 10 ? 0 : 2); *s; s++) {
    if (*s == '_') continue;
    if (n->num_ > (INT_MAX_VALUE - digit(*s)) / base)
      tkl_fail(p, TK_D_SYNTAX, tkl_span(p), "kernels compute with 64 bits",
               "integer is too large");
    n->num_ = n->num_ * base + digit(*s);
  }
}

/* strtod wants the decimal point of the locale, and no underscores. */
static double real(tk_arena *a, const char *s) {
  const char *point = localeconv()->decimal_point;
  char *clean = tk_arena_alloc(a, strlen(s) + strlen(point) + 1), *q = clean;
  for (; *s; s++) {
    if (*s == '.')
      q = strcpy(q, point) + strlen(point);
    else if (*s != '_')
      *q++ = *s;
  }
  return strtod(clean, NULL);
}

/* number = INT | FLOAT */
tk_ast *tkl_number(tkl_parser *p) {
  const tk_token *t = p->tok;
  bool is_int = t->kind == TKL_INT;
  tk_ast *n = tkl_node(p, is_int ? TK_AST_INT : TK_AST_FLOAT, t->lo);
  n->str_ = tk_arena_strndup(p->arena, p->src->text + t->lo, t->hi - t->lo);
  if (is_int)
    integer(p, n);
  else
    n->f_ = real(p->arena, n->str_);
  tkl_advance(p);
  return tkl_done(p, n);
}

/* ---- strings ----------------------------------------------------------- */

/* A literal being put together. */
typedef struct pieces {
  char *out;       /* where the next byte goes */
  char *start;     /* of the text not yet in a STR */
  uint32_t lo;     /* where that text starts in the source */
  tkl_list *parts; /* STR and FMT */
  int flags;       /* of the token being read */
} pieces;

static void fail_escape(tkl_parser *p, uint32_t lo, uint32_t hi,
                        const char *help) {
  tkl_fail(p, TK_D_SYNTAX, (tk_span){lo, hi}, help, "malformed escape");
}

static char *put_utf8(char *o, uint32_t c) {
  if (c < 0x80) {
    *o++ = (char)c;
    return o;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *o++ = (char)((0xf0u << (3 - more) & 0xff) | c >> (6 * more));
  while (more--) *o++ = (char)(0x80 | ((c >> (6 * more)) & 0x3f));
  return o;
}

/* A character given by its number: a byte in bytes, else UTF-8. */
static void put_code(tkl_parser *p, pieces *s, tk_span at, uint32_t c) {
  if (s->flags & TKL_BYTES) {
    *s->out++ = (char)c;
    return;
  }
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
    fail_escape(p, at.lo, at.hi, "there is no such character");
  s->out = put_utf8(s->out, c);
}

/* hex escape = "x" 2 digits | "u" 4 digits | "U" 8 digits */
static uint32_t hex_escape(tkl_parser *p, pieces *s, uint32_t at, uint32_t hi,
                           uint32_t width) {
  const char *text = p->src->text;
  uint32_t c = 0, q = at + 2;
  for (; q < at + 2 + width; q++) {
    int d = q < hi ? digit(text[q]) : -1;
    if (d < 0)
      fail_escape(p, at, q,
                  "expected \\x and 2, \\u and 4, or \\U and 8 "
                  "hexadecimal digits");
    c = c << 4 | (uint32_t)d;
  }
  put_code(p, s, (tk_span){at, q}, c);
  return q;
}

/* octal escape = 1 to 3 digits */
static uint32_t octal_escape(tkl_parser *p, pieces *s, uint32_t at,
                             uint32_t hi) {
  const char *text = p->src->text;
  uint32_t c = 0, q = at + 1;
  while (q < hi && q < at + 4 && text[q] >= '0' && text[q] <= '7')
    c = c * 8 + (uint32_t)(text[q++] - '0');
  put_code(p, s, (tk_span){at, q}, c);
  return q;
}

static uint32_t after_newline(const char *s, uint32_t at, uint32_t hi) {
  return s[at] == '\r' && at + 1 < hi && s[at + 1] == '\n' ? at + 2 : at + 1;
}

/* Decodes the escape at `at`, gives the offset after it.  One that Python
 * does not know stands for itself. */
static uint32_t escape(tkl_parser *p, pieces *s, uint32_t at, uint32_t hi) {
  static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
  const char *text = p->src->text;
  char c = text[at + 1];
  if (c == '\n' || c == '\r') return after_newline(text, at + 1, hi);
  if (c >= '0' && c <= '7') return octal_escape(p, s, at, hi);
  if (c == 'x') return hex_escape(p, s, at, hi, 2);
  if ((s->flags & TKL_FORMAT) && (c == '{' || c == '}')) {
    *s->out++ = '\\'; /* the brace keeps its meaning */
    return at + 1;
  }
  if (!(s->flags & TKL_BYTES)) {
    if (c == 'u') return hex_escape(p, s, at, hi, 4);
    if (c == 'U') return hex_escape(p, s, at, hi, 8);
    if (c == 'N')
      tkl_fail(p, TK_D_UNSUPPORTED, (tk_span){at, at + 2},
               "write the character itself, or \\u and its number",
               "characters cannot be given by name in a kernel");
  }
  const char *known = c ? strchr(from, c) : NULL;
  if (!known) *s->out++ = '\\';
  *s->out++ = known ? to[known - from] : c;
  return at + 2;
}

/* Decodes one character of text. */
static uint32_t one(tkl_parser *p, pieces *s, uint32_t at, uint32_t hi) {
  char c = p->src->text[at];
  if (c == '\\' && !(s->flags & TKL_RAW) && at + 1 < hi)
    return escape(p, s, at, hi);
  if (c == '\r') {
    *s->out++ = '\n';
    return after_newline(p->src->text, at, hi);
  }
  *s->out++ = c;
  return at + 1;
}

/* Makes a STR of the text so far; an empty one only if asked. */
static void flush(tkl_parser *p, pieces *s, uint32_t hi, bool empty) {
  size_t len = (size_t)(s->out - s->start);
  if (!len && !empty) return;
  tk_ast *n = tkl_node(p, TK_AST_STR, s->lo);
  n->str_ = s->start;
  n->len_ = len;
  n->op_ = (s->flags & TKL_BYTES) != 0;
  n->span.hi = hi;
  n->height = 1;
  *s->out++ = 0;
  s->start = s->out;
  tkl_add(p, s->parts, n);
}

/* ---- f-strings --------------------------------------------------------- */

static uint32_t format_text(tkl_parser *p, pieces *s, uint32_t at, uint32_t hi,
                            bool spec);

static void fail_field(tkl_parser *p, uint32_t lo, uint32_t hi,
                       const char *help) {
  tkl_fail(p, TK_D_SYNTAX, (tk_span){lo, hi}, help,
           "malformed field in f-string");
}

/* expression = star_expressions "="? ; gives the token that ends it. */
static const tk_token *field_expression(tkl_parser *p, tk_ast *n, uint32_t at,
                                        uint32_t hi) {
  size_t count;
  tkl_parser sub = *p;
  sub.tok = tkl_lex(p->arena, p->src, (tk_span){at, hi}, TKL_LEX_FIELD, &count);
  sub.last = at;
  n->a_ = tkl_star_expressions(&sub);
  bool echo = tkl_accept(&sub, TKL_ASSIGN);
  const tk_token *t = sub.tok;
  bool ends = t->kind == TKL_BANG || t->kind == TKL_COLON;
  if (!ends && t->kind != TKL_RBRACE)
    tkl_unexpected(&sub, "expected '}', ':' or '!' after the expression; "
                         "its strings need other quotes than the f-string");
  if (echo) n->str_ = tk_arena_strndup(p->arena, p->src->text + at, t->lo - at);
  return t;
}

/* conversion = "!" ("r" | "s" | "a") */
static uint32_t conversion(tkl_parser *p, tk_ast *n, uint32_t at, uint32_t hi) {
  char c = at < hi ? p->src->text[at] : 0;
  if (c != 'r' && c != 's' && c != 'a')
    fail_field(p, at - 1, at, "expected !r, !s or !a");
  n->op_ = (uint8_t)c;
  return at + 1;
}

/* spec = ":" (text | field)* */
static uint32_t format_spec(tkl_parser *p, pieces *s, tk_ast *n, uint32_t at,
                            uint32_t hi) {
  tkl_list parts = {0}, *outer = s->parts;
  n->b_ = tkl_node(p, TK_AST_FSTR, at);
  s->parts = &parts;
  s->lo = at;
  at = format_text(p, s, at, hi, true);
  flush(p, s, at, false);
  s->parts = outer;
  tkl_take_list(n->b_, &parts);
  n->b_->span.hi = at;
  tkl_measure(p, n->b_);
  return at;
}

/* field = "{" expression conversion? spec? "}" */
static uint32_t field(tkl_parser *p, pieces *s, uint32_t lo, uint32_t hi) {
  tk_ast *n = tkl_node(p, TK_AST_FMT, lo);
  tkl_enter(p);
  if (++p->fields > 8)
    fail_field(p, lo, lo + 1, "fields are nested too deeply");
  const tk_token *end = field_expression(p, n, lo + 1, hi);
  uint32_t at = end->hi;
  char c = p->src->text[at - 1];
  if (end->kind == TKL_BANG) {
    at = conversion(p, n, at, hi);
    c = at < hi ? p->src->text[at++] : 0;
  }
  if (c == ':') {
    at = format_spec(p, s, n, at, hi);
    c = at < hi ? p->src->text[at++] : 0;
  }
  if (c != '}') fail_field(p, lo, at, "expected '}' at the end of the field");
  p->fields--;
  p->depth--;
  n->span.hi = at;
  tkl_add(p, s->parts, tkl_measure(p, n));
  s->lo = at;
  return at;
}

/* text = (character | "{{" | "}}" | field)*
 * In a spec braces are never doubled, and "}" ends it. */
static uint32_t format_text(tkl_parser *p, pieces *s, uint32_t at, uint32_t hi,
                            bool spec) {
  const char *text = p->src->text;
  while (at < hi) {
    char c = text[at];
    bool twice = !spec && at + 1 < hi && text[at + 1] == c;
    if (spec && c == '}') break;
    if ((c == '{' || c == '}') && twice) {
      *s->out++ = c;
      at += 2;
    } else if (c == '{') {
      flush(p, s, at, false);
      at = field(p, s, at, hi);
    } else if (c == '}') {
      fail_field(p, at, at + 1, "write '}}' for a brace");
    } else {
      at = one(p, s, at, hi);
    }
  }
  return at;
}

/* ---- literals of several strings --------------------------------------- */

static void one_string(tkl_parser *p, pieces *s) {
  const tk_token *t = p->tok;
  const char *text = p->src->text;
  uint32_t quotes = t->sub & TKL_TRIPLE_QUOTED ? 3 : 1;
  uint32_t at = t->lo, hi = t->hi - quotes;
  while (text[at] != '"' && text[at] != '\'') at++;
  at += quotes;
  s->flags = t->sub;
  if (t->sub & TKL_FORMAT)
    format_text(p, s, at, hi, false);
  else
    while (at < hi) at = one(p, s, at, hi);
}

/* What the tokens of one literal are together: lengths and flags. */
static size_t survey(tkl_parser *p, int *flags) {
  size_t total = 1;
  const tk_token *t = p->tok;
  for (; t->kind == TKL_STRING; t++) {
    total += t->hi - t->lo;
    *flags |= t->sub;
    if ((t->sub ^ p->tok->sub) & TKL_BYTES)
      tkl_fail(p, TK_D_SYNTAX, (tk_span){t->lo, t->hi}, NULL,
               "bytes and text cannot be one literal");
  }
  return total;
}

/* strings = STRING+ */
tk_ast *tkl_strings(tkl_parser *p) {
  int flags = 0;
  size_t total = survey(p, &flags);
  tkl_list parts = {0};
  pieces s = {.lo = p->tok->lo, .parts = &parts};
  uint32_t lo = p->tok->lo;
  s.out = s.start = tk_arena_alloc(p->arena, total);
  while (p->tok->kind == TKL_STRING) {
    one_string(p, &s);
    tkl_advance(p);
  }
  flush(p, &s, p->last, !(flags & TKL_FORMAT));
  if (!(flags & TKL_FORMAT)) return parts.items[0];
  tk_ast *n = tkl_node(p, TK_AST_FSTR, lo);
  tkl_take_list(n, &parts);
  return tkl_done(p, n);
}
