/* say.c - text on its way to the front end's receiver. */
#include "command/say.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/remedy.h"

int tkt_width(const tkt *d) {
  return d->set.width ? (int)d->set.width : d->opt.width ? d->opt.width : 80;
}

/* ---- saying ------------------------------------------------------------ */

/* While a launch runs, tkdbg speaks in the words of the kernel's language. */
static const char *in_words(tkt *d, tk_arena *a, const char *text) {
  const tk_env *e = d->env;
  return e->words ? e->words(e->whose_words, a, text) : text;
}

void tkt_say(tkt *d, const char *fmt, ...) {
  tk_arena words;
  va_list ap;
  va_start(ap, fmt);
  tk_arena_init(&words, d->env);
  tk_buf_vprintf(&d->out, in_words(d, &words, fmt), ap);
  tk_arena_free(&words);
  va_end(ap);
}

void tkt_say_words(tkt *d, const char *text) {
  tk_arena words;
  tk_arena_init(&words, d->env);
  tk_buf_puts(&d->out, in_words(d, &words, text));
  tk_arena_free(&words);
}

/* ---- lines as wide as the terminal -------------------------------------- */

/* Lines such as " 17 | text" and " | ^~~" are not folded, so that they stay
 * aligned. */
static bool is_excerpt(const char *s, size_t n) {
  size_t i = 0;
  while (i < n && (s[i] == ' ' || isdigit((unsigned char)s[i]))) i++;
  return i > 5 && i < n && s[i] == '|';
}

/* Columns of a word: escape sequences and what continues a character in UTF-8
 * take none. */
static size_t columns(const char *s, size_t n) {
  size_t w = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\033') {
      while (i < n && s[i] != 'm') i++;
      continue;
    }
    w += ((unsigned char)s[i] & 0xC0) != 0x80;
  }
  return w;
}

enum { FOLD_INDENT = 4 };

static void fold_line(tk_buf *out, const char *s, size_t n, size_t width) {
  size_t column = 0;
  for (size_t i = 0; i < n;) {
    size_t k = i;
    while (k < n && s[k] == ' ') k++;
    size_t blanks = k - i;
    while (k < n && s[k] != ' ') k++;
    size_t w = columns(s + i, k - i);
    if (column > FOLD_INDENT && column + w > width) {
      tk_buf_putc(out, '\n');
      tk_buf_pad(out, ' ', FOLD_INDENT);
      column = FOLD_INDENT;
      i += blanks;
      w -= blanks;
    }
    tk_buf_add(out, s + i, k - i);
    column += w;
    i = k;
  }
}

void tkt_fold(tkt *d, size_t from) {
  size_t width = (size_t)tkt_width(d);
  while (from && d->out.s[from - 1] != '\n') from--;
  size_t size = d->out.n - from;
  const char *all = tk_temp(&d->mem, d->out.s + from, size);
  d->out.n = from;
  for (size_t i = 0; i < size;) {
    size_t n = 0;
    while (i + n < size && all[i + n] != '\n') n++;
    if (columns(all + i, n) <= width || is_excerpt(all + i, n))
      tk_buf_add(&d->out, all + i, n);
    else
      fold_line(&d->out, all + i, n, width);
    if (i + n < size) tk_buf_putc(&d->out, '\n');
    i += n + 1;
  }
}

/* Says a report, in lines that fit. */
static void put_finding(tkt *d, const tk_finding *f) {
  size_t from = d->out.n;
  tk_finding_text(&d->out, f, d->opt.colour);
  tkt_fold(d, from);
}

void tkt_tell_finding(tkt *d, const tk_finding *f) {
  put_finding(d, f);
  tk_debug_told(d->e, f);
}

/* ---- out --------------------------------------------------------------- */

/* Without colours. */
static void write_plain(FILE *f, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (s[i] != '\033') {
      putc(s[i], f);
      continue;
    }
    while (i < n && s[i] != 'm') i++;
  }
}

void tkt_flush(tkt *d) {
  if (d->busy) d->opt.write(d->opt.ud, "\r\033[K", 4);
  d->busy = false;
  if (!d->out.n) return;
  if (d->transcript) write_plain(d->transcript, d->out.s, d->out.n);
  if (d->opt.write) d->opt.write(d->opt.ud, d->out.s, d->out.n);
  tk_buf_clear(&d->out);
}

void tkt_fail(tkt *d, const char *fmt, ...) {
  va_list ap;
  size_t from = d->out.n;
  va_start(ap, fmt);
  tk_buf_vprintf(&d->out, fmt, ap);
  va_end(ap);
  tk_buf_putc(&d->out, '\n');
  tkt_fold(d, from);
  tk_throw(d->env, TK_USAGE);
}

void tkt_say_reports(tkt *d, size_t n) {
  size_t i = 0;
  for (const tk_diag *x = d->env->diags; x; x = x->next)
    if (i++ >= n) put_finding(d, &x->f);
  tk_diag_truncate(d->env, n);
}

/* If memory ran out, an earlier message may name another reason, or there is
 * none. */
void tkt_say_refused(tkt *d) {
  size_t n = d->env->refused;
  if (n != d->refused) tkt_say(d, "Out of memory.\n");
  d->refused = n;
}

/* Errors that were raised are printed after the findings. */
void tkt_need(tkt *d, tk_status st) {
  const tk_debug_fault *f = tk_debug_error(d->e);
  if (st == TK_OK) return;
  if (st == TK_INTERNAL) tk_throw(d->env, st);
  for (size_t i = 0; i < f->nfindings; i++) put_finding(d, f->findings[i]);
  if (f->id != TK_FAULT_FINDINGS && *f->message) {
    tk_buf *text = tk_temp_buf(&d->mem);
    tk_put_fault(text, f, false, d->opt.front);
    tkt_fail(d, "%s", tk_buf_str(text));
  }
  tk_throw(d->env, st == TK_FINDING ? TK_USAGE : st);
}

void tkt_put_pid(tk_buf *b, const int64_t pid[3], const int64_t grid[3]) {
  tk_buf_printf(b, "(%lld, %lld, %lld)", (long long)pid[0], (long long)pid[1],
                (long long)pid[2]);
  if (grid)
    tk_buf_printf(b, " of (%lld, %lld, %lld)", (long long)grid[0],
                  (long long)grid[1], (long long)grid[2]);
}
