/* diag.c - source positions, and diagnostics from their making to their end.
 *
 * Each diagnostic is one allocation chain owned by the env, freed by
 * tk_diag_clear.  What is public of it, tk_finding, is complete at any time:
 * diag_text.c and diag_json.c write nothing else.  A span past the end of its
 * source stands for the end.
 */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assert.h"
#include "outfile.h"
#include "scratch.h"

static const struct {
  const char *name;
  tk_severity severity;
  const char *check;
} kinds[TK_FINDING_KINDS] = {
#define DIAG(id, severity, title, check) {title, TK_SEV_##severity, check},
#include "tkdbg/diag.def"
#undef DIAG
};

const char *tk_finding_kind_name(tk_finding_kind k) {
  return (unsigned)k < TK_FINDING_KINDS ? kinds[k].name : NULL;
}

const char *tk_finding_check(tk_finding_kind k) {
  bool found = (unsigned)k < TK_FINDING_KINDS && *kinds[k].check;
  return found ? kinds[k].check : NULL;
}

tk_severity tk_finding_severity(tk_finding_kind k) {
  return (unsigned)k < TK_FINDING_KINDS ? kinds[k].severity : TK_SEV_ERROR;
}

const char *tk_severity_name(tk_severity s) {
  static const char *const names[] = {"error", "warning", "note"};
  return (unsigned)s < TK_COUNT(names) ? names[s] : NULL;
}

/* ---- making ------------------------------------------------------------ */

static TK_PRINTF(3, 0) char *vformat_as(tk_env *e, const char *name,
                                        const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, again);
  va_end(again);
  size_t before = name ? strlen(name) + 2 : 0;
  char *p = tk_realloc(e, NULL, 0, before + (size_t)n + 1);
  if (name) snprintf(p, before + 1, "%s: ", name);
  vsnprintf(p + before, (size_t)n + 1, fmt, ap);
  return p;
}

static TK_PRINTF(3, 4) char *format_as(tk_env *e, const char *name,
                                       const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *made = vformat_as(e, name, fmt, ap);
  va_end(ap);
  return made;
}

/* "NAME: message", or the message alone if name is NULL; in the words that are
 * asked for.  A message without a format is text that somebody has put
 * together. */
static TK_PRINTF(3, 0) char *vformat(tk_env *e, const char *name,
                                     const char *fmt, va_list ap) {
  tk_arena a;
  char *made;
  if (!e->words) return vformat_as(e, name, fmt, ap);
  tk_arena_init(&a, e);
  if (strcmp(fmt, "%s") != 0) {
    made = vformat_as(e, name, e->words(e->whose_words, &a, fmt), ap);
  } else {
    const char *text = tk_arena_vprintf(&a, fmt, ap);
    made = format_as(e, name, "%s", e->words(e->whose_words, &a, text));
  }
  tk_arena_free(&a);
  return made;
}

static void free_text(tk_env *e, const char *s) {
  if (s) tk_free(e, (char *)s, strlen(s) + 1);
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

enum { SEARCHED = 1000 }; /* to search more would take too long */

static tk_diag *find_same(tk_env *e, const tk_diag *d) {
  if (e->ndiags > SEARCHED) return NULL;
  for (tk_diag *o = e->diags; o; o = o->next)
    if (o->f.kind == d->f.kind && o->src == d->src &&
        o->span.lo == d->span.lo && o->span.hi == d->span.hi &&
        !strcmp(o->f.message, d->f.message))
      return o;
  return NULL;
}

/* Takes over the message. */
static tk_diag *add_message(tk_env *e, tk_diag_id id, const tk_source *src,
                            tk_span span, char *message) {
  tk_diag want = {.src = src, .span = span};
  want.f = (tk_finding){.kind = id,
                        .severity = kinds[id].severity,
                        .message = message,
                        .count = 1};
  tk_diag *same = find_same(e, &want);
  if (same) {
    free_text(e, message);
    same->f.count++;
    return same;
  }
  tk_diag *d = alloc_or_free(e, sizeof *d, message);
  *d = want;
  d->f.place = tk_place_of(src, span);
  if (e->last_diag)
    e->last_diag->next = d;
  else
    e->diags = d;
  e->last_diag = d;
  e->ndiags++;
  return d;
}

tk_diag *tk_diag_vadd(tk_env *e, tk_diag_id id, const tk_source *src,
                      tk_span span, const char *fmt, va_list ap) {
  TK_ASSERT((unsigned)id < TK_FINDING_KINDS);
  TK_ASSERT(span.lo <= span.hi);
  return add_message(e, id, src, span, vformat(e, NULL, fmt, ap));
}

tk_diag *tk_diag_vabout(tk_env *e, tk_diag_id id, const char *name,
                        const char *fmt, va_list ap) {
  return add_message(e, id, NULL, (tk_span){0, 0}, vformat(e, name, fmt, ap));
}

tk_diag *tk_diag_add(tk_env *e, tk_diag_id id, const tk_source *src,
                     tk_span span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(e, id, src, span, fmt, ap);
  va_end(ap);
  return d;
}

static void replace_text(tk_env *e, const char **at, char *text) {
  free_text(e, *at);
  *at = text;
}

void tk_diag_help(tk_env *e, tk_diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vhelp(e, d, fmt, ap);
  va_end(ap);
}

void tk_bad_argument(tk_env *e, const char *help, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag *d = tk_diag_vadd(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0}, fmt, ap);
  va_end(ap);
  if (help) tk_diag_help(e, d, "%s", help);
  tk_throw(e, TK_USAGE);
}

void tk_diag_vhelp(tk_env *e, tk_diag *d, const char *fmt, va_list ap) {
  replace_text(e, &d->f.help, vformat(e, NULL, fmt, ap));
}

void tk_diag_lane(tk_env *e, tk_diag *d, const char *lane) {
  TK_ASSERT(*lane == '[');
  replace_text(e, &d->f.lane_text, tk_text_new(e, lane));
  d->f.lane_rank = 0;
  for (char *p = (char *)d->f.lane_text; *p && *p != ']';) {
    if (d->f.lane_rank == TK_MAX_RANK) break;
    d->f.lane[d->f.lane_rank++] = strtoll(p + 1, &p, 10);
  }
}

void tk_diag_program(tk_diag *d, const int64_t program[3]) {
  d->f.has_program = true;
  memcpy(d->f.program, program, sizeof d->f.program);
}

void tk_diag_function(tk_env *e, tk_diag *d, const char *name) {
  replace_text(e, &d->f.function, tk_text_new(e, name));
}

void tk_diag_from(tk_diag *d, const tk_source *src, tk_span span) {
  d->f.from = tk_place_of(src, span);
}

void tk_diag_element(tk_env *e, tk_diag *d, const tk_element *x) {
  tk_element *own = &d->f.element;
  const char *tensor = own->tensor, *text = own->text;
  *own = *x;
  own->tensor = tensor; /* the old notes stay until there are new ones */
  own->text = text;
  d->f.has_element = true;
  replace_text(e, &own->tensor, x->tensor ? tk_text_new(e, x->tensor) : NULL);
  replace_text(e, &own->text, x->text ? tk_text_new(e, x->text) : NULL);
}

static bool has_note(const tk_diag *d, const tk_source *src, tk_span span,
                     const char *text) {
  for (const tk_note *n = tk_diag_notes(d); n; n = tk_note_next(n))
    if (n->src == src && n->span.lo == span.lo && !strcmp(n->f.text, text))
      return true;
  return false;
}

void tk_diag_note(tk_env *e, tk_diag *d, const tk_source *src, tk_span span,
                  const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vnote(e, d, src, span, fmt, ap);
  va_end(ap);
}

void tk_diag_vnote(tk_env *e, tk_diag *d, const tk_source *src, tk_span span,
                   const char *fmt, va_list ap) {
  char *text = vformat(e, NULL, fmt, ap);
  if (has_note(d, src, span, text)) {
    free_text(e, text);
    return;
  }
  tk_note *n = alloc_or_free(e, sizeof *n, text);
  *n = (tk_note){.src = src, .span = span};
  n->f = (tk_finding_note){.place = tk_place_of(src, span), .text = text};
  const tk_finding_note **end = &d->f.notes;
  while (*end) end = &((tk_finding_note *)*end)->next;
  *end = &n->f;
  d->f.nnotes++;
}

static void diag_free(tk_env *e, tk_diag *d) {
  for (const tk_note *n = tk_diag_notes(d), *next; n; n = next) {
    next = tk_note_next(n);
    free_text(e, n->f.text);
    tk_free(e, (tk_note *)n, sizeof *n);
  }
  free_text(e, d->f.message);
  free_text(e, d->f.help);
  free_text(e, d->f.lane_text);
  free_text(e, d->f.function);
  free_text(e, d->f.element.tensor);
  free_text(e, d->f.element.text);
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

tk_diag *tk_diag_take(tk_env *e, size_t n) {
  tk_diag **at = &e->diags;
  e->last_diag = NULL;
  for (size_t i = 0; i < n && *at; i++) {
    e->last_diag = *at;
    at = &(*at)->next;
  }
  tk_diag *list = *at;
  *at = NULL;
  if (e->ndiags > n) e->ndiags = n;
  return list;
}

void tk_diag_hand_over(tk_env *to, tk_env *from) {
  to->held += from->held;
  to->ndiags += from->ndiags;
  *(to->last_diag ? &to->last_diag->next : &to->diags) = from->diags;
  if (from->last_diag) to->last_diag = from->last_diag;
  from->held = from->ndiags = 0;
  from->diags = from->last_diag = NULL;
}

void tk_diag_free(tk_env *e, tk_diag *list) {
  for (tk_diag *d = list, *next; d; d = next) {
    next = d->next;
    diag_free(e, d);
  }
}

void tk_diag_put_back(tk_env *e, tk_diag *list) {
  TK_ASSERT(!e->diags && !e->last_diag);
  e->diags = list;
  for (tk_diag *d = list; d; d = d->next) {
    e->last_diag = d;
    e->ndiags++;
  }
}

void tk_diag_truncate(tk_env *e, size_t n) {
  tk_diag_free(e, tk_diag_take(e, n));
}

void tk_diag_clear(tk_env *e) {
  tk_diag_truncate(e, 0);
}

void tk_save_text(tk_env *e, const char *path, const tk_buf *text) {
  int error = tk_outfile_save(path, text->s, text->n);
  if (!error) return;
  tk_diag_add(e, TK_D_FILE, NULL, (tk_span){0, 0}, "cannot write %s: %s", path,
              strerror(error));
  tk_throw(e, TK_USAGE);
}
