/* lexer.c - from text to tokens, for a whole Python file.
 *
 * The file is a user's program of which we understand only the kernels, so
 * the lexer must get through anything: what it cannot read becomes an ERROR
 * token that says why, and reading goes on after it.  Errors stay where they
 * are made: a string that is never closed ends with its line, and a bracket
 * that is never closed ends where a line starts with a word that cannot stand
 * inside brackets ("def", "return", a decorator).  So the tokens of the next
 * function are right whatever the last one held.
 *
 * Lines and indentation follow Python's rules: a stack of columns gives
 * INDENT and DEDENT, brackets and backslashes join lines, blank lines and
 * comments do not exist.  INDENT and DEDENT always balance.
 */
#include "token.h"

#include <string.h>

typedef struct lexer {
  tk_arena *arena;
  const char *s;
  uint32_t pos, end;
  tkl_lex_mode mode;
  uint32_t brackets; /* how many are open */
  bool fresh;        /* a logical line starts here */
  bool done;         /* FIELD: stopped */
  bool dead[2];      /* see tkl_scan_string */
  TK_VEC(uint32_t) columns;
  TK_VEC(tk_token) toks;
} lexer;

typedef struct word {
  const char *text;
  uint8_t len, kind;
} word;

#define WORD(id, text) {text, sizeof(text) - 1, TKL_##id},
static const word puncts[] = {
#define PUNCT(id, text) WORD(id, text)
#include "token.def"
};
static const word keywords[] = {
#define KEYWORD(id, text) WORD(id, text)
#include "token.def"
};

const char *tkl_tok_text(tkl_tok kind) {
  static const char *const texts[] = {
#define TOKEN(id, text) text,
#define PUNCT(id, text) "'" text "'",
#define KEYWORD(id, text) "keyword '" text "'",
#include "token.def"
  };
  return texts[kind];
}

bool tkl_is_name_char(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

static char peek(const lexer *l, uint32_t ahead) {
  return l->end - l->pos > ahead ? l->s[l->pos + ahead] : 0;
}

static void push(lexer *l, tk_token t) {
  TK_PUSH(l->arena, &l->toks, t);
}

static void push_empty(lexer *l, tkl_tok kind, uint32_t at) {
  push(l, (tk_token){.kind = (uint8_t)kind, .lo = at, .hi = at});
}

static void push_bad(lexer *l, tkl_lexerr why, uint32_t len) {
  push(l, (tk_token){TKL_ERROR, (uint8_t)why, l->pos, l->pos + len});
  l->pos += len;
}

/* ---- lines ------------------------------------------------------------- */

static bool at_newline(const lexer *l) {
  return l->pos < l->end && (l->s[l->pos] == '\n' || l->s[l->pos] == '\r');
}

static void skip_newline(lexer *l) {
  l->pos += peek(l, 0) == '\r' && peek(l, 1) == '\n' ? 2 : 1;
}

static void skip_comment(lexer *l) {
  while (l->pos < l->end && !at_newline(l)) l->pos++;
}

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}

/* Ends the logical line, unless nothing stands on it. */
static void end_line(lexer *l) {
  l->fresh = true;
  if (!l->toks.n) return;
  tk_token last = l->toks.items[l->toks.n - 1];
  if (last.kind == TKL_NEWLINE || last.kind == TKL_DEDENT) return;
  push_empty(l, TKL_NEWLINE, last.hi);
}

static uint32_t top_column(const lexer *l) {
  return l->columns.n ? l->columns.items[l->columns.n - 1] : 0;
}

/* A line further left than the last: closes blocks.  One between two levels
 * is an error, and moves the inner level so that the blocks stay balanced. */
static void dedent(lexer *l, uint32_t column) {
  while (top_column(l) > column) {
    size_t n = l->columns.n;
    uint32_t outer = n > 1 ? l->columns.items[n - 2] : 0;
    if (outer < column) {
      l->columns.items[n - 1] = column;
      push_bad(l, TKL_BAD_INDENT, 0);
      return;
    }
    l->columns.n--;
    push_empty(l, TKL_DEDENT, l->pos);
  }
}

static uint32_t column_of_line(lexer *l) {
  uint32_t column = 0;
  for (; l->pos < l->end && is_space(l->s[l->pos]); l->pos++) {
    char c = l->s[l->pos];
    if (c == '\f')
      column = 0;
    else
      column = c == '\t' ? (column / 8 + 1) * 8 : column + 1;
  }
  return column;
}

/* Reads the indentation of the next line that has anything on it. */
static void start_line(lexer *l) {
  uint32_t column = column_of_line(l);
  if (peek(l, 0) == '#') skip_comment(l);
  if (l->pos >= l->end) return;
  if (at_newline(l)) {
    skip_newline(l);
    return;
  }
  l->fresh = false;
  if (column > top_column(l)) {
    TK_PUSH(l->arena, &l->columns, column);
    push_empty(l, TKL_INDENT, l->pos);
  } else {
    dedent(l, column);
  }
}

/* ---- names, operators -------------------------------------------------- */

/* The bytes of the UTF-8 character at p, 0 when it is malformed. */
static uint32_t utf8(const unsigned char *s, uint32_t n, uint32_t *code) {
  uint32_t len = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  if (!len || s[0] > 0xf4 || n < len) return 0;
  *code = s[0] & (0xffu >> (len + 1));
  for (uint32_t i = 1; i < len; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (s[i] & 0x3f);
  }
  return len;
}

/* Characters that get pasted and look like ASCII ones but are not. */
static bool is_lookalike(uint32_t c) {
  if (c < 0xc0) return c != 0xaa && c != 0xb5 && c != 0xba;
  return c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
         (c >= 0x2190 && c <= 0x2bff) || (c >= 0x3000 && c <= 0x3004) ||
         (c >= 0x3008 && c <= 0x3020) || (c >= 0xfe00 && c <= 0xfe0f) ||
         c == 0xfeff || (c >= 0xff00 && c <= 0xff0f) || c >= 0xfff0;
}

/* The length of the character at pos if it may stand in a name, else 0;
 * *skip is how much to pass over when it may not. */
static uint32_t name_char(const lexer *l, uint32_t *skip) {
  unsigned char c = (unsigned char)peek(l, 0);
  *skip = 1;
  if (c < 0x80) return tkl_is_name_char(c);
  uint32_t code = 0;
  uint32_t len =
      utf8((const unsigned char *)l->s + l->pos, l->end - l->pos, &code);
  if (!len) return 0;
  *skip = len;
  return len > 3 || !is_lookalike(code) ? len : 0;
}

static tkl_tok keyword(const char *s, uint32_t n) {
  for (size_t i = 0; i < TK_COUNT(keywords); i++)
    if (keywords[i].len == n && memcmp(keywords[i].text, s, n) == 0)
      return keywords[i].kind;
  return TKL_NAME;
}

static void string(lexer *l, uint32_t lo) {
  tk_token t = tkl_scan_string(l->s, lo, l->pos, l->end, l->dead);
  push(l, t);
  l->pos = t.hi;
}

/* name = name_char+ | prefix string */
static void name(lexer *l) {
  uint32_t lo = l->pos, skip;
  for (uint32_t len; (len = name_char(l, &skip));) l->pos += len;
  uint32_t n = l->pos - lo;
  bool quote = peek(l, 0) == '"' || peek(l, 0) == '\'';
  if (quote && tkl_string_prefix(l->s + lo, n) >= 0) {
    string(l, lo);
    return;
  }
  tkl_tok kind = n <= 8 ? keyword(l->s + lo, n) : TKL_NAME;
  push(l, (tk_token){(uint8_t)kind, 0, lo, l->pos});
}

static const word *find_punct(const lexer *l) {
  uint32_t left = l->end - l->pos;
  for (size_t i = 0; i < TK_COUNT(puncts); i++) {
    const word *w = &puncts[i];
    if (w->text[0] == l->s[l->pos] && w->len <= left &&
        memcmp(w->text, l->s + l->pos, w->len) == 0)
      return w;
  }
  return NULL;
}

static bool is_closer(int kind) {
  return kind == TKL_RPAREN || kind == TKL_RBRACKET || kind == TKL_RBRACE;
}

static bool stops_field(const lexer *l, int kind) {
  return l->mode == TKL_LEX_FIELD && !l->brackets &&
         (kind == TKL_COLON || kind == TKL_BANG || kind == TKL_RBRACE);
}

static void punct(lexer *l) {
  const word *w = find_punct(l);
  uint32_t len = w ? w->len : 0;
  int kind = w ? w->kind : TKL_ERROR;
  if (kind == TKL_WALRUS && l->mode == TKL_LEX_FIELD && !l->brackets)
    len = 1, kind = TKL_COLON; /* f"{x:=5}" is x in the format "=5" */
  if (!len || (kind == TKL_BANG && l->mode != TKL_LEX_FIELD)) {
    uint32_t skip;
    name_char(l, &skip);
    push_bad(l, TKL_BAD_CHARACTER, skip);
    return;
  }
  l->done = stops_field(l, kind);
  if (kind == TKL_LPAREN || kind == TKL_LBRACKET || kind == TKL_LBRACE)
    l->brackets++;
  else if (is_closer(kind) && l->brackets)
    l->brackets--;
  push(l, (tk_token){(uint8_t)kind, 0, l->pos, l->pos + len});
  l->pos += len;
}

/* ---- putting it together ----------------------------------------------- */

static bool never_in_brackets(tkl_tok kind) {
  switch (kind) {
  case TKL_KW_ASSERT:
  case TKL_KW_BREAK:
  case TKL_KW_CLASS:
  case TKL_KW_CONTINUE:
  case TKL_KW_DEF:
  case TKL_KW_DEL:
  case TKL_KW_GLOBAL:
  case TKL_KW_NONLOCAL:
  case TKL_KW_PASS:
  case TKL_KW_RAISE:
  case TKL_KW_RETURN:
  case TKL_KW_TRY:
  case TKL_KW_WHILE:
  case TKL_KW_WITH: return true;
  default: return false;
  }
}

/* Whether the line at pos shows that a bracket was left open. */
static bool starts_statement(const lexer *l) {
  uint32_t p = l->pos, q;
  if (peek(l, 0) == '@' && tkl_is_name_char((unsigned char)peek(l, 1)))
    return true;
  while (p < l->end && is_space(l->s[p])) p++;
  for (q = p; q < l->end && q - p < 9; q++)
    if (!tkl_is_name_char((unsigned char)l->s[q])) break;
  return never_in_brackets(keyword(l->s + p, q - p));
}

static void newline(lexer *l) {
  skip_newline(l);
  if (l->mode != TKL_LEX_FILE) return;
  if (l->brackets && !starts_statement(l)) return;
  l->brackets = 0;
  end_line(l);
}

static void backslash(lexer *l) {
  char next = peek(l, 1);
  if (next != '\n' && next != '\r') {
    push_bad(l, TKL_BAD_BACKSLASH, 1);
    return;
  }
  l->pos++;
  skip_newline(l);
}

static bool starts_number(const lexer *l) {
  char c = peek(l, 0), d = peek(l, 1);
  return (c >= '0' && c <= '9') || (c == '.' && d >= '0' && d <= '9');
}

static void number(lexer *l) {
  tk_token t = tkl_scan_number(l->s, l->pos, l->end);
  push(l, t);
  l->pos = t.hi;
}

static void token(lexer *l) {
  char c = peek(l, 0);
  uint32_t skip;
  if (at_newline(l))
    newline(l);
  else if (is_space(c))
    l->pos++;
  else if (c == '#')
    skip_comment(l);
  else if (c == '\\')
    backslash(l);
  else if (starts_number(l))
    number(l);
  else if (c == '"' || c == '\'')
    string(l, l->pos);
  else if (name_char(l, &skip))
    name(l);
  else
    punct(l);
}

static void finish(lexer *l) {
  if (l->mode == TKL_LEX_FILE) {
    end_line(l);
    for (; l->columns.n; l->columns.n--) push_empty(l, TKL_DEDENT, l->end);
  }
  push_empty(l, TKL_EOF, l->end);
}

tk_token *tkl_lex(tk_arena *a, const tk_source *src, tk_span where,
                  tkl_lex_mode mode, size_t *n) {
  lexer l = {.arena = a, .s = src->text, .pos = where.lo, .end = where.hi};
  l.mode = mode;
  l.fresh = mode == TKL_LEX_FILE;
  if (l.pos == 0 && l.end >= 3 && memcmp(l.s, "\xef\xbb\xbf", 3) == 0)
    l.pos = 3;
  while (l.pos < l.end && !l.done) {
    if (l.fresh)
      start_line(&l);
    else
      token(&l);
  }
  finish(&l);
  *n = l.toks.n;
  return l.toks.items;
}
