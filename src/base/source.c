/* source.c - the lines of a source text, and what they were made of.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

int tk_source_line(const tk_source *s, uint32_t off) {
  uint32_t lo = 0, hi = s->nlines;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->lines[mid] <= off)
      lo = mid;
    else
      hi = mid;
  }
  return (int)lo + 1;
}

int tk_source_col(const tk_source *s, uint32_t off) {
  return (int)(off - s->lines[tk_source_line(s, off) - 1]) + 1;
}

const char *tk_source_line_text(const tk_source *s, int line, size_t *len) {
  *len = 0;
  if (line < 1 || (uint32_t)line > s->nlines) return "";
  uint32_t lo = s->lines[line - 1];
  uint32_t hi = (uint32_t)line < s->nlines ? s->lines[line] - 1 : s->len;
  if (hi > lo && s->text[hi - 1] == '\r') hi--;
  *len = hi - lo;
  return s->text + lo;
}

/* ---- lines that a program has written ------------------------------------ */

/* Helion writes above the statements of a kernel which statement of the program
 * they stand for, "# src[FILE:LINE]: TEXT", and up to three such lines of a
 * longer one, the rest of which is "# src[FILE:FIRST-LAST]: ...".  They hold up
 * to the next such comment, or the function's end. */
static const char mark[] = "# src[";

/* The text of a comment, up to its line's end; NULL: it is none of these. */
static const char *marked(const char *line, size_t n) {
  size_t skip = 0;
  while (skip < n && (line[skip] == ' ' || line[skip] == '\t')) skip++;
  if (n - skip < strlen(mark) || memcmp(line + skip, mark, strlen(mark)) != 0)
    return NULL;
  return line + skip + strlen(mark);
}

/* Where the digits before `end` begin. */
static const char *number_before(const char *p, const char *end) {
  while (end > p && end[-1] >= '0' && end[-1] <= '9') end--;
  return end;
}

/* The "]: TEXT" of "FILE:LINE]: TEXT", and how long FILE is; NULL: it is
 * another text.  *line: where the digits of the line are, or of the last of
 * some. */
static const char *place_end(const char *p, size_t n, size_t *nfile,
                             const char **line) {
  const char *close = NULL;
  for (size_t i = 0; i + 1 < n && !close; i++)
    if (p[i] == ']' && p[i + 1] == ':') close = p + i;
  if (!close) return NULL;
  const char *first = *line = number_before(p, close), *end = close;
  if (first > p && first < close && first[-1] == '-') {
    end = first - 1;
    first = number_before(p, end);
  }
  if (first == end || first < p + 2 || first[-1] != ':') return NULL;
  *nfile = (size_t)(first - 1 - p);
  return close;
}

int tk_source_names(const tk_source *s, int line, const char **file,
                    size_t *nfile) {
  size_t n;
  const char *text = tk_source_line_text(s, line, &n), *digits;
  *file = marked(text, n);
  if (!*file || !place_end(*file, n - (size_t)(*file - text), nfile, &digits))
    return 0;
  long named = strtol(digits, NULL, 10);
  return named > INT_MAX ? 0 : (int)named;
}

/* "FILE:LINE: TEXT" of "FILE:LINE]: TEXT"; NULL where a line is not known. */
static const char *origin_of(tk_arena *a, const char *p, size_t n) {
  size_t nfile;
  const char *digits, *close = place_end(p, n, &nfile, &digits);
  if (!close) return NULL;
  const char *text = close + 2, *end = p + n;
  while (text < end && *text == ' ') text++;
  static const char unknown[] = "[source unavailable]";
  size_t length = (size_t)(end - text);
  if (!length || (length == strlen(unknown) && !memcmp(text, unknown, length)))
    return NULL;
  return tk_arena_printf(a, "%.*s: %.*s", (int)(close - p), p, (int)length,
                         text);
}

/* Whether a line begins another function, or something outside of all. */
static bool leaves_function(const char *line, size_t n) {
  return n && *line != ' ' && *line != '\t' && *line != '#';
}

/* What these comments say of each line; NULL: there are none. */
static const char **source_origins(tk_arena *a, const tk_source *s) {
  if (!strstr(s->text, mark)) return NULL;
  const char **origins = TK_NEWN(a, const char *, s->nlines);
  const char *now = NULL;
  bool in_comment = false;
  for (uint32_t i = 0; i < s->nlines; i++) {
    size_t n;
    const char *line = tk_source_line_text(s, (int)i + 1, &n);
    const char *text = marked(line, n);
    if (text && !in_comment)
      now = origin_of(a, text, n - (size_t)(text - line));
    else if (leaves_function(line, n))
      now = NULL;
    in_comment = text != NULL;
    origins[i] = now;
  }
  return origins;
}

/* ---- making ------------------------------------------------------------ */

tk_source *tk_source_new(tk_arena *a, const char *name, const char *text,
                         size_t len) {
  if (len > UINT32_MAX / 2) tk_throw(a->env, TK_USAGE);
  tk_source *s = TK_NEW(a, tk_source);
  s->name = tk_arena_strdup(a, name);
  s->text = tk_arena_strndup(a, text, len);
  s->len = (uint32_t)len;
  s->nlines = 1;
  for (size_t i = 0; i < len; i++) s->nlines += text[i] == '\n';
  s->lines = TK_NEWN(a, uint32_t, s->nlines);
  for (size_t i = 0, n = 1; i < len; i++)
    if (text[i] == '\n') s->lines[n++] = (uint32_t)i + 1;
  s->origins = source_origins(a, s);
  return s;
}

tk_place tk_place_of(const tk_source *src, tk_span span) {
  tk_place p = {0};
  if (!src) return p;
  uint32_t lo = span.lo < src->len ? span.lo : src->len;
  uint32_t hi = span.hi < lo ? lo : span.hi < src->len ? span.hi : src->len;
  p.file = src->name;
  p.line = tk_source_line(src, lo);
  p.column = tk_source_col(src, lo);
  p.end_line = tk_source_line(src, hi);
  p.end_column = tk_source_col(src, hi);
  p.offset = lo;
  p.length = span.hi > lo ? span.hi - lo : 0;
  p.text = tk_source_line_text(src, p.line, &p.text_length);
  if (src->origins) p.origin = src->origins[p.line - 1];
  return p;
}
