/* encoding.c - the text of a file of Python as UTF-8.
 *
 * As Python has it (PEP 263): a file is UTF-8 unless a comment in one of its
 * first two lines names another encoding, as in "# -*- coding: latin-1 -*-".
 */
#include "encoding.h"

#include <ctype.h>
#include <string.h>

#include "base/diag.h"

/* Where the first byte stands that is not part of UTF-8; n: there is none. */
static size_t malformed_at(const unsigned char *s, size_t n) {
  size_t i = 0;
  while (i < n) {
    size_t len = s[i] < 0x80   ? 1
                 : s[i] < 0xc2 ? 0
                 : s[i] < 0xe0 ? 2
                 : s[i] < 0xf0 ? 3
                 : s[i] < 0xf5 ? 4
                               : 0;
    if (!len || n - i < len) return i;
    for (size_t k = 1; k < len; k++)
      if ((s[i + k] & 0xc0) != 0x80) return i;
    i += len;
  }
  return n;
}

/* The name of an encoding in a line that is a comment, and its length; NULL. */
static const char *named_in_comment(const char *line, size_t n, size_t *len) {
  static const char word[] = "coding";
  const size_t k = sizeof word - 1;
  size_t i = 0;
  while (i < n && memchr(" \t\f", line[i], 3)) i++;
  if (i == n || line[i] != '#') return NULL;
  for (; i + k < n; i++) {
    if (memcmp(line + i, word, k) || !memchr(":=", line[i + k], 2)) continue;
    size_t from = i + k + 1;
    while (from < n && memchr(" \t", line[from], 2)) from++;
    size_t to = from;
    while (to < n &&
           (isalnum((unsigned char)line[to]) || memchr("-_.", line[to], 3)))
      to++;
    *len = to - from;
    if (*len) return line + from;
  }
  return NULL;
}

/* Whether a line has only space and a comment: the next one may count, too. */
static bool is_bare(const char *line, size_t n) {
  size_t i = 0;
  while (i < n && memchr(" \t\f\r", line[i], 4)) i++;
  return i == n || line[i] == '#';
}

static const char *named_encoding(const char *text, size_t n, size_t *len) {
  for (int i = 0; i < 2; i++) {
    const char *end = memchr(text, '\n', n);
    size_t line = end ? (size_t)(end - text) : n;
    const char *name = named_in_comment(text, line, len);
    if (name || !end || !is_bare(text, line)) return name;
    text += line + 1;
    n -= line + 1;
  }
  return NULL;
}

/* Whether a name is one of those, or one with "-" and more after it. */
static bool is_among(const char *name, size_t n, const char *const *names) {
  for (; *names; names++) {
    size_t k = strlen(*names), i = 0;
    while (i < k && i < n &&
           (name[i] == '_' ? '-' : tolower((unsigned char)name[i])) ==
               (*names)[i])
      i++;
    if (i == k && (n == k || name[k] == '-' || name[k] == '_')) return true;
  }
  return false;
}

static char *from_latin_1(tk_arena *a, const char *text, size_t *n) {
  char *out = tk_arena_alloc(a, 2 * *n + 1), *o = out;
  for (size_t i = 0; i < *n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x80) *o++ = (char)(0xc0 | c >> 6);
    *o++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
  }
  *n = (size_t)(o - out);
  return out;
}

/* Reports the byte at `at`; its line is shown as if it were Latin-1. */
static void refuse_byte(tk_env *e, tk_arena *a, const char *name,
                        const char *text, size_t n, size_t at,
                        const char *said) TK_NORETURN;
static void refuse_byte(tk_env *e, tk_arena *a, const char *name,
                        const char *text, size_t n, size_t at,
                        const char *said) {
  size_t before = at, whole = n;
  char *shown = from_latin_1(a, text, &whole);
  from_latin_1(a, text, &before);
  tk_source *src = tk_source_new(a, name, shown, whole);
  tk_span span = {(uint32_t)before, (uint32_t)before + 2};
  tk_diag *d = tk_diag_add(e, TK_D_FILE, src, span, "the byte 0x%02x %s",
                           (unsigned char)text[at], said);
  tk_diag_help(e, d,
               "save the file as UTF-8, or name its encoding in its first "
               "line, such as # -*- coding: latin-1 -*-");
  tk_throw(e, TK_FINDING);
}

const char *tkn_as_utf8(tk_env *e, tk_arena *a, const char *name,
                        const char *text, size_t *n) {
  static const char *const utf_8[] = {"utf-8", "utf8", "ascii", "us-ascii",
                                      NULL};
  static const char *const latin_1[] = {
      "latin-1", "latin1", "iso-8859-1", "iso8859-1", "iso-latin-1", NULL};
  size_t len = 0, at = malformed_at((const unsigned char *)text, *n);
  const char *named = named_encoding(text, *n, &len);
  if (named && is_among(named, len, latin_1)) return from_latin_1(a, text, n);
  if (at == *n) return text;
  const char *said = "is not UTF-8";
  if (named && !is_among(named, len, utf_8))
    said = tk_arena_printf(a,
                           "is in the encoding %.*s, which tkdbg does not "
                           "read: only UTF-8 and Latin-1",
                           (int)len, named);
  refuse_byte(e, a, name, text, *n, at, said);
}
