/* diag.c - source positions and diagnostics, as text and as JSON.
 *
 * A diagnostic keeps offsets; lines and columns are worked out when it is
 * shown.  Each is one allocation chain owned by the env, freed by
 * tk_diag_clear.  Showing one never throws for want of a place: a span past
 * the end of its source is shown at the end.
 */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  tk_severity severity;
} table[TK_DIAG_COUNT] = {
#define DIAG(id, severity, title) {title, TK_SEV_##severity},
#include "diag.def"
#undef DIAG
};

const char *tk_diag_name(tk_diag_id id) {
  return table[id].name;
}
tk_severity tk_diag_severity(tk_diag_id id) {
  return table[id].severity;
}

/* ---- sources ----------------------------------------------------------- */

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
  return s;
}

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

/* ---- making ------------------------------------------------------------ */

static char *vformat(tk_env *e, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  char *p = tk_realloc(e, NULL, 0, (size_t)n + 1);
  vsnprintf(p, (size_t)n + 1, fmt, again);
  va_end(again);
  return p;
}

static void free_text(tk_env *e, char *s) {
  if (s) tk_free(e, s, strlen(s) + 1);
}

/* tk_realloc, but a failure frees the text that the block was for. */
static void *alloc_or_free(tk_env *e, size_t size, char *text) {
  void *p = e->alloc(e->alloc_ud, NULL, 0, size);
  if (!p) {
    free_text(e, text);
    tk_throw(e, TK_INTERNAL);
  }
  e->held += size;
  if (e->held > e->peak) e->peak = e->held;
  return p;
}

enum { SEARCHED = 1000 }; /* beyond, repetitions are kept */

static tk_diag *find_same(tk_env *e, const tk_diag *d) {
  if (e->ndiags > SEARCHED) return NULL;
  for (tk_diag *o = e->diags; o; o = o->next)
    if (o->id == d->id && o->src == d->src && o->span.lo == d->span.lo &&
        o->span.hi == d->span.hi && !strcmp(o->message, d->message))
      return o;
  return NULL;
}

tk_diag *tk_diag_add(tk_env *e, tk_diag_id id, const tk_source *src,
                     tk_span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag want = {
      .id = id, .src = src, .span = span, .count = 1, .program = {-1, -1, -1}};
  want.message = vformat(e, fmt, ap);
  va_end(ap);
  tk_diag *same = find_same(e, &want);
  if (same) {
    free_text(e, want.message);
    same->count++;
    return same;
  }
  tk_diag *d = alloc_or_free(e, sizeof *d, want.message);
  *d = want;
  if (e->last_diag)
    e->last_diag->next = d;
  else
    e->diags = d;
  e->last_diag = d;
  e->ndiags++;
  return d;
}

void tk_diag_help(tk_env *e, tk_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = vformat(e, fmt, ap);
  va_end(ap);
  free_text(e, d->help);
  d->help = text;
}

void tk_diag_lane(tk_env *e, tk_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = vformat(e, fmt, ap);
  va_end(ap);
  free_text(e, d->lane);
  d->lane = text;
}

static bool has_note(const tk_diag *d, const tk_source *src, tk_span span,
                     const char *text) {
  for (const tk_note *n = d->notes; n; n = n->next)
    if (n->src == src && n->span.lo == span.lo && !strcmp(n->text, text))
      return true;
  return false;
}

void tk_diag_note(tk_env *e, tk_diag *d, const tk_source *src, tk_span span,
                  const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = vformat(e, fmt, ap);
  va_end(ap);
  if (has_note(d, src, span, text)) {
    free_text(e, text);
    return;
  }
  tk_note *n = alloc_or_free(e, sizeof *n, text);
  *n = (tk_note){.src = src, .span = span, .text = text};
  tk_note **end = &d->notes;
  while (*end) end = &(*end)->next;
  *end = n;
}

static void diag_free(tk_env *e, tk_diag *d) {
  for (tk_note *n = d->notes, *next; n; n = next) {
    next = n->next;
    free_text(e, n->text);
    tk_free(e, n, sizeof *n);
  }
  free_text(e, d->message);
  free_text(e, d->help);
  free_text(e, d->lane);
  tk_free(e, d, sizeof *d);
}

void tk_diag_remove(tk_env *e, tk_diag *d) {
  tk_diag **at = &e->diags, *before = NULL;
  while (*at && *at != d) before = *at, at = &before->next;
  if (!*at) return;
  *at = d->next;
  if (e->last_diag == d) e->last_diag = before;
  diag_free(e, d);
  e->ndiags--;
}

void tk_diag_truncate(tk_env *e, size_t n) {
  tk_diag **at = &e->diags;
  e->last_diag = NULL;
  for (size_t i = 0; i < n && *at; i++) {
    e->last_diag = *at;
    at = &(*at)->next;
  }
  for (tk_diag *d = *at, *next; d; d = next) {
    next = d->next;
    diag_free(e, d);
    e->ndiags--;
  }
  *at = NULL;
}

void tk_diag_clear(tk_env *e) {
  tk_diag_truncate(e, 0);
}

/* ---- showing ----------------------------------------------------------- */

typedef struct style {
  const char *error, *warning, *note, *strong, *dim, *caret, *off;
} style;

static const style plain = {"", "", "", "", "", "", ""};
static const style ansi = {"\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1m",
                           "\033[2m",    "\033[1;32m", "\033[0m"};

static void place(tk_buf *out, const tk_source *src, tk_span span) {
  if (!src) return;
  uint32_t off = span.lo < src->len ? span.lo : src->len;
  tk_buf_printf(out, "%s:%d:%d: ", src->name, tk_source_line(src, off),
                tk_source_col(src, off));
}

/* Columns on a terminal: bytes but for UTF-8 continuation bytes. */
static size_t columns(const char *s, size_t n) {
  size_t w = 0;
  for (size_t i = 0; i < n; i++) w += ((unsigned char)s[i] & 0xC0) != 0x80;
  return w;
}

static void excerpt(tk_buf *out, const tk_source *src, tk_span span,
                    const style *st) {
  if (!src) return;
  uint32_t off = span.lo < src->len ? span.lo : src->len;
  int line = tk_source_line(src, off);
  size_t len, col = (size_t)tk_source_col(src, off) - 1;
  const char *text = tk_source_line_text(src, line, &len);
  tk_buf_printf(out, "%s%5d |%s ", st->dim, line, st->off);
  for (size_t i = 0; i < len; i++) /* keep the caret line aligned */
    tk_buf_putc(out, text[i] == '\t' ? ' ' : text[i]);
  tk_buf_printf(out, "\n%s      |%s ", st->dim, st->off);
  tk_buf_pad(out, ' ', columns(text, col < len ? col : len));
  size_t end = span.hi > off ? col + (span.hi - off) : col + 1;
  if (end > len) end = len > col ? len : col + 1;
  size_t width = col < len ? columns(text + col, end - col) : 1;
  tk_buf_puts(out, st->caret);
  tk_buf_putc(out, '^');
  if (width > 1) tk_buf_pad(out, '~', width - 1);
  tk_buf_printf(out, "%s\n", st->off);
}

/* "error", "warning" or "note". */
static const char *severity_name(const tk_diag *d) {
  static const char *const names[] = {"error", "warning", "note"};
  return names[tk_diag_severity(d->id)];
}

static const char *severity_style(const style *st, const tk_diag *d) {
  switch (tk_diag_severity(d->id)) {
  case TK_SEV_ERROR: return st->error;
  case TK_SEV_WARNING: return st->warning;
  default: return st->note;
  }
}

void tk_diag_render(tk_buf *out, const tk_diag *d, bool colour) {
  const style *st = colour ? &ansi : &plain;
  tk_buf_puts(out, st->strong);
  place(out, d->src, d->span);
  tk_buf_printf(out, "%s%s%s: %s%s%s [%s]", st->off, severity_style(st, d),
                severity_name(d), st->off, st->strong, d->message,
                tk_diag_name(d->id));
  if (d->count > 1)
    tk_buf_printf(out, " (%llu times)", (unsigned long long)d->count);
  tk_buf_printf(out, "%s\n", st->off);
  excerpt(out, d->src, d->span, st);
  for (const tk_note *n = d->notes; n; n = n->next) {
    tk_buf_printf(out, "  %snote:%s ", st->note, st->off);
    place(out, n->src, n->span);
    tk_buf_printf(out, "%s\n", n->text);
    excerpt(out, n->src, n->span, st);
  }
  if (d->help)
    tk_buf_printf(out, "  %shelp:%s %s\n", st->note, st->off, d->help);
}

/* Length of the UTF-8 sequence at s, 0 if it is not one. */
static size_t utf8_length(const unsigned char *s, size_t n) {
  size_t len = s[0] < 0x80   ? 1
               : s[0] < 0xC2 ? 0
               : s[0] < 0xE0 ? 2
               : s[0] < 0xF0 ? 3
               : s[0] < 0xF5 ? 4
                             : 0;
  if (len > n) return 0;
  for (size_t i = 1; i < len; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  if (len == 3 && s[0] == 0xE0 && s[1] < 0xA0) return 0;
  if (len == 3 && s[0] == 0xED && s[1] > 0x9F) return 0;
  if (len == 4 && s[0] == 0xF0 && s[1] < 0x90) return 0;
  if (len == 4 && s[0] == 0xF4 && s[1] > 0x8F) return 0;
  return len;
}

void tk_json_string(tk_buf *out, const char *s, size_t n) {
  tk_buf_putc(out, '"');
  for (size_t i = 0; i < n;) {
    unsigned char c = (unsigned char)s[i];
    size_t len = utf8_length((const unsigned char *)s + i, n - i);
    if (c == '"' || c == '\\')
      tk_buf_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7F)
      tk_buf_printf(out, "\\u%04x", c);
    else if (len == 0)
      tk_buf_puts(out, "\\ufffd");
    else
      tk_buf_add(out, s + i, len);
    i += len ? len : 1;
  }
  tk_buf_putc(out, '"');
}

static void json_text(tk_buf *out, const char *key, const char *s) {
  tk_buf_printf(out, "\"%s\": ", key);
  tk_json_string(out, s, strlen(s));
}

static void json_place(tk_buf *out, const tk_source *src, tk_span span) {
  if (!src) return;
  uint32_t off = span.lo < src->len ? span.lo : src->len;
  json_text(out, "file", src->name);
  tk_buf_printf(out, ", \"line\": %d, \"column\": %d, \"length\": %u, ",
                tk_source_line(src, off), tk_source_col(src, off),
                span.hi > off ? span.hi - off : 0);
}

void tk_diag_json(tk_buf *out, const tk_diag *d) {
  tk_buf_printf(out, "{\"kind\": \"%s\", \"severity\": \"%s\", ",
                tk_diag_name(d->id), severity_name(d));
  json_place(out, d->src, d->span);
  tk_buf_printf(out, "\"count\": %llu, ", (unsigned long long)d->count);
  if (d->program[0] >= 0)
    tk_buf_printf(out, "\"program\": [%lld, %lld, %lld], ",
                  (long long)d->program[0], (long long)d->program[1],
                  (long long)d->program[2]);
  if (d->lane) tk_buf_printf(out, "\"lane\": %s, ", d->lane);
  json_text(out, "message", d->message);
  if (d->help) tk_buf_puts(out, ", "), json_text(out, "help", d->help);
  tk_buf_puts(out, ", \"notes\": [");
  for (const tk_note *n = d->notes; n; n = n->next) {
    tk_buf_putc(out, '{');
    json_place(out, n->src, n->span);
    json_text(out, "text", n->text);
    tk_buf_puts(out, n->next ? "}, " : "}");
  }
  tk_buf_puts(out, "]}");
}
