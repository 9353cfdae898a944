/* text.c - the characters of PTX, and what is said of them.
 *
 * The text ends with a NUL, at which everything stops.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/read.h"

/* ---- failing ------------------------------------------------------------ */

static void raise_at(tkp_reader *r, tk_diag_id id, const char *from,
                     const char *to, const char *help, const char *fmt,
                     va_list ap) TK_NORETURN;
static void raise_at(tkp_reader *r, tk_diag_id id, const char *from,
                     const char *to, const char *help, const char *fmt,
                     va_list ap) {
  tk_env *e = r->arena->env;
  tk_span at = {(uint32_t)(from - r->text), (uint32_t)(to - r->text)};
  tk_diag *d = tk_diag_vadd(e, id, r->p->src, at, fmt, ap);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_FINDING);
}

void tkp_fail(tkp_reader *r, const char *from, const char *to, const char *help,
              const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  raise_at(r, TK_D_SYNTAX, from, to, help, fmt, ap);
}

void tkp_refuse(tkp_reader *r, const char *from, const char *to,
                const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  raise_at(r, TK_D_UNSUPPORTED, from, to, NULL, fmt, ap);
}

/* ---- characters --------------------------------------------------------- */

void tkp_skip(tkp_reader *r) {
  r->at = tk_asm_skip(r->at);
}

bool tkp_take(tkp_reader *r, char c) {
  tkp_skip(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

void tkp_need(tkp_reader *r, char c, const char *after) {
  if (!tkp_take(r, c))
    tkp_fail(r, r->at, r->at + (*r->at != 0), NULL, "expected %c after %s", c,
             after);
}

static bool ptx_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '$';
}

size_t tkp_word(const char *p) {
  size_t n = 0;
  while (ptx_word_char(p[n])) n++;
  return n;
}

bool tkp_is(const char *p, size_t n, const char *word) {
  return strlen(word) == n && !memcmp(p, word, n);
}

uint64_t tkp_count(tkp_reader *r, uint64_t limit, const char *what) {
  tkp_skip(r);
  const char *from = r->at;
  char *end;
  uint64_t v = strtoull(from, &end, 0);
  if (!isdigit((unsigned char)*from))
    tkp_fail(r, from, from + (*from != 0), NULL, "expected %s", what);
  r->at = end + (*end == 'U');
  if (v > limit)
    tkp_fail(r, from, r->at, NULL, "%s is at most %llu", what,
             (unsigned long long)limit);
  return v;
}
