/* diag_text.c - findings as text: file:line:col: severity: message [kind], the
 * line, a caret, notes, help.
 */
#include "diag.h"

enum { EXCERPT_MOST = 120, EXCERPT_BEFORE = 40 };

typedef struct style {
  const char *error, *warning, *note, *strong, *dim, *caret, *off;
} style;

static const style plain = {"", "", "", "", "", "", ""};
static const style ansi = {"\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1m",
                           "\033[2m",    "\033[1;32m", "\033[0m"};

static void put_position(tk_buf *out, const tk_place *p) {
  if (p->file) tk_buf_printf(out, "%s:%d:%d: ", p->file, p->line, p->column);
}

/* Columns on a terminal: the bytes that are not UTF-8 continuation bytes. */
static size_t columns(const char *s, size_t n) {
  size_t w = 0;
  for (size_t i = 0; i < n; i++) w += ((unsigned char)s[i] & 0xC0) != 0x80;
  return w;
}

static bool starts_character(const char *s) {
  return columns(s, 1) == 1;
}

/* Writes the line, and a caret under the span; of a long line, what is around
 * it. */
static void put_excerpt(tk_buf *out, const tk_place *p, const style *st) {
  if (!p->file) return;
  const char *text = p->text;
  size_t len = p->text_length, col = (size_t)p->column - 1;
  if (col > len) col = len;
  size_t from = 0, to = len;
  if (len > EXCERPT_MOST && col > EXCERPT_BEFORE) from = col - EXCERPT_BEFORE;
  if (to - from > EXCERPT_MOST) to = from + EXCERPT_MOST;
  while (from < col && !starts_character(text + from)) from++;
  while (to < len && to > col && !starts_character(text + to)) to--;
  tk_buf_printf(out, "%s%5d |%s %s", st->dim, p->line, st->off,
                from ? "..." : "");
  for (size_t i = from; i < to; i++) /* keep the caret line aligned */
    tk_buf_putc(out, text[i] == '\t' ? ' ' : text[i]);
  tk_buf_printf(out, "%s\n%s      |%s ", to < len ? "..." : "", st->dim,
                st->off);
  tk_buf_pad(out, ' ', (from ? 3 : 0) + columns(text + from, col - from));
  size_t end = col + (p->length ? p->length : 1);
  if (end > to) end = to;
  size_t width = end > col ? columns(text + col, end - col) : 1;
  tk_buf_puts(out, st->caret);
  tk_buf_putc(out, '^');
  if (width > 1) tk_buf_pad(out, '~', width - 1);
  tk_buf_printf(out, "%s\n", st->off);
}

static const char *severity_style(const style *st, tk_severity severity) {
  switch (severity) {
  case TK_SEV_ERROR: return st->error;
  case TK_SEV_WARNING: return st->warning;
  case TK_SEV_NOTE: return st->note;
  }
  return st->note;
}

void tk_finding_text(tk_buf *out, const tk_finding *f, bool colour) {
  const style *st = colour ? &ansi : &plain;
  tk_buf_puts(out, st->strong);
  put_position(out, &f->place);
  tk_buf_printf(out, "%s%s%s: %s%s%s [%s]", st->off,
                severity_style(st, f->severity), tk_severity_name(f->severity),
                st->off, st->strong, f->message, tk_finding_kind_name(f->kind));
  if (f->count > 1)
    tk_buf_printf(out, " (%llu times)", (unsigned long long)f->count);
  tk_buf_printf(out, "%s\n", st->off);
  put_excerpt(out, &f->place, st);
  if (f->place.origin)
    tk_buf_printf(out, "  %snote:%s of %s\n", st->note, st->off,
                  f->place.origin);
  for (const tk_finding_note *n = f->notes; n; n = n->next) {
    tk_buf_printf(out, "  %snote:%s ", st->note, st->off);
    put_position(out, &n->place);
    tk_buf_printf(out, "%s\n", n->text);
    put_excerpt(out, &n->place, st);
  }
  if (f->help)
    tk_buf_printf(out, "  %shelp:%s %s\n", st->note, st->off, f->help);
}
