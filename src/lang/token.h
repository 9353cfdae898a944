/* token.h - tokens, and how to get them from a text.
 *
 * A token is its kind and its place; what it says is read from the source
 * when it is asked for.  Token arrays belong to the arena given to tkl_lex.
 */
#ifndef TK_LANG_TOKEN_H
#define TK_LANG_TOKEN_H

#include "base/diag.h"

typedef enum tkl_tok {
#define TOKEN(id, text) TKL_##id,
#define PUNCT(id, text) TKL_##id,
#define KEYWORD(id, text) TKL_##id,
#include "token.def"
  TKL_TOK_COUNT,
} tkl_tok;

typedef enum tkl_lexerr {
#define LEXERR(id, message, help) TKL_BAD_##id,
#include "token.def"
  TKL_LEXERR_COUNT,
} tkl_lexerr;

/* What prefixes and quotes say about a STRING token. */
enum {
  TKL_RAW = 1,
  TKL_BYTES = 2,
  TKL_FORMAT = 4,
  TKL_TRIPLE_QUOTED = 8,
};

typedef struct tk_token {
  uint8_t kind; /* tkl_tok */
  uint8_t sub;  /* STRING: TKL_RAW ...; ERROR: tkl_lexerr */
  uint32_t lo, hi;
} tk_token;

typedef enum tkl_lex_mode {
  TKL_LEX_FILE,  /* lines and indentation count */
  TKL_LEX_EXPR,  /* as if inside parentheses */
  TKL_LEX_FIELD, /* as EXPR; stops after ! : or } outside of brackets */
} tkl_lex_mode;

/* Tokens of src from byte lo to hi; the last one, and only that, is EOF. */
tk_token *tkl_lex(tk_arena *a, const tk_source *src, tk_span where,
                  tkl_lex_mode mode, size_t *n);

/* "'('", "keyword 'if'", "end of line", as in "unexpected ..." */
const char *tkl_tok_text(tkl_tok kind);
bool tkl_is_name_char(unsigned char c);

/* Scanners of literals: the token that starts at `lo`.  For strings, `quote`
 * is the offset of the first quote; dead[triple '] and dead["] remember that
 * no closing triple quote follows any more, which keeps lexing linear. */
tk_token tkl_scan_number(const char *s, uint32_t lo, uint32_t end);
tk_token tkl_scan_string(const char *s, uint32_t lo, uint32_t quote,
                         uint32_t end, bool dead[2]);
/* The flags of a string prefix; -1 if s[0..n) is not one. */
int tkl_string_prefix(const char *s, uint32_t n);

#endif
