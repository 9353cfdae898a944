/* report.c - findings: which of them count as the same, how many are shown, and
 * parts of their text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/index.h"
#include "interp/check/check.h"
#include "interp/describe.h"

tkc_place tkc_here(const tki *t) {
  const tki_frame *f = tki_user_frame(t->frame);
  if (!f) return (tkc_place){NULL, {0, 0}};
  if (!f->inst)
    return (tkc_place){f->func->src, f->stmt ? f->stmt->span : f->func->span};
  return (tkc_place){f->func->src, f->inst->span};
}

/* ---- the same finding --------------------------------------------------- */

bool tkc_same_place(const tkc_place *a, const tkc_place *b) {
  return a->src == b->src && a->span.lo == b->span.lo;
}

static tkc_finding *find_known(tkc *c, tk_diag_id id, const tkc_place *at,
                               const tkc_place *from) {
  tkc_finding *f = c->findings;
  while (f && !(f->id == id && tkc_same_place(&f->at, at) &&
                tkc_same_place(&f->from, from)))
    f = f->next;
  return f;
}

static tkc_finding *add_finding(tkc *c, const tki *t, tk_diag_id id,
                                const tkc_place *at, const tkc_place *from) {
  tkc_finding *f = TK_NEW(&c->kept, tkc_finding), **end = &c->findings;
  const tki_frame *frame = t ? tki_user_frame(t->frame) : NULL;
  *f = (tkc_finding){.id = id, .at = *at, .from = *from};
  f->function = tk_arena_strdup(&c->kept, frame ? frame->func->name : "");
  while (*end) end = &(*end)->next;
  *end = f;
  f->suppressed = tkc_suppressed(c, f);
  return f;
}

static bool is_lint(tk_diag_id id) {
  return !strncmp(tk_finding_kind_name(id), "lint-", 5);
}

/* Drops what lint has reported of a place once a run shows more of it. */
static void supersede(tkc *c, const tkc_finding *f) {
  if (is_lint(f->id)) return;
  for (tkc_finding *g = c->findings; g; g = g->next) {
    if (!g->diag || !is_lint(g->id) ||
        !(tkc_same_place(&g->at, &f->at) || tkc_same_place(&g->at, &f->from)))
      continue;
    tk_diag_remove(&c->session->env, g->diag);
    g->diag = NULL;
    g->suppressed = true;
    c->shown--;
  }
}

/* Counts a finding; returns whether it is new and shall be shown. */
static bool is_new(tkc *c, const tki *t, tk_diag_id id, const tkc_place *at,
                   const tkc_place *from, tkc_finding **out) {
  tkc_finding *f = find_known(c, id, at, from);
  bool known = f != NULL;
  if (!known) f = add_finding(c, t, id, at, from);
  *out = f;
  if (f->suppressed) return false;
  f->times++;
  if (known && f->diag) f->diag->f.count++;
  if (known) return false;
  supersede(c, f);
  if (c->shown < c->limit) return ++c->shown;
  c->hidden++;
  return false;
}

/* ---- reports ------------------------------------------------------------ */

tk_diag *tkc_report(tkc *c, tki *t, tk_diag_id id, const tkc_place *at,
                    const tkc_place *from, const char *fmt, ...) {
  tkc_finding *f;
  tkc_place here = {NULL, {0, 0}}, none = here;
  if (!at && t) here = tkc_here(t);
  if (!at) at = &here;
  if (!from) from = &none;
  if (!is_new(c, t, id, at, from, &f)) return NULL;
  tk_env *e = &c->session->env;
  va_list ap;
  va_start(ap, fmt);
  f->diag = tk_diag_vadd(e, id, at->src, at->span, fmt, ap);
  va_end(ap);
  tk_diag_from(f->diag, from->src, from->span);
  if (*f->function) tk_diag_function(e, f->diag, f->function);
  if (t && t->frame) tki_note_program(t, f->diag);
  return f->diag;
}

bool tkc_found(const tkc *c) {
  for (const tkc_finding *f = c->findings; f; f = f->next)
    if (f->times && tk_finding_severity(f->id) != TK_SEV_NOTE) return true;
  return false;
}

void tkc_withdraw(tkc *c, tk_diag *d) {
  tkc_finding **at = &c->findings;
  while (*at && (*at)->diag != d) at = &(*at)->next;
  if (!*at) return;
  *at = (*at)->next;
  tk_diag_remove(&c->session->env, d);
  c->shown--;
}

void tkc_note(tkc *c, tk_diag *d, const tkc_place *at, const char *fmt, ...) {
  if (!d) return;
  tkc_place none = {NULL, {0, 0}};
  if (!at) at = &none;
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vnote(&c->session->env, d, at->src, at->span, fmt, ap);
  va_end(ap);
}

void tkc_at_lane(tkc *c, tk_diag *d, const char *lane) {
  if (d && *lane) tk_diag_lane(&c->session->env, d, lane);
}

void tkc_at_element(tk_diag *d, tki *t, uint64_t addr) {
  TK_ASSERT(!d || t);
  if (d) tki_note_element(t, d, tki_region_at(t, addr, 1), addr);
}

void tkc_help(tkc *c, tk_diag *d, const char *fmt, ...) {
  if (!d) return;
  va_list ap;
  va_start(ap, fmt);
  tk_diag_vhelp(&c->session->env, d, fmt, ap);
  va_end(ap);
}

const char *tkc_words(tkc *c, const char *text) {
  const tk_env *e = &c->session->env;
  return e->words ? e->words(e->whose_words, &c->run, text) : text;
}

void tkc_reported(tkc *c, tki *t, tk_diag *d) {
  if (!d || !t || !t->frame || c->ending) return;
  TKI_TELL(t, finding, t, c->stop);
  if (c->stop && !t->driver) tki_stop(t);
}

/* ---- pieces of text ----------------------------------------------------- */

const char *tkc_lane(tkc *c, const tk_type *type, size_t lane) {
  int64_t index[TK_MAX_RANK];
  int rank = tk_lane_index(type, lane, index);
  const char *text = tk_ints_text(&c->run, index, rank);
  return rank ? tk_arena_printf(&c->run, "[%s]", text) : text;
}

const char *tkc_value(tkc *c, const tk_type *type, const void *lane) {
  uint64_t u;
  if (type->ptr) {
    memcpy(&u, lane, sizeof u);
    return tk_arena_printf(&c->run, "0x%" PRIx64, u);
  }
  tk_buf_clear(&c->text);
  tk_format_lane(&c->text, (tk_dtype)type->elem, lane);
  return tk_arena_strdup(&c->run, tk_buf_str(&c->text));
}

const char *tkc_element(tkc *c, const tki *t, uint64_t addr, size_t size) {
  tk_buf_clear(&c->text);
  tki_describe_address_in(&c->text, tki_region_at(t, addr, size), addr);
  return tk_arena_strdup(&c->run, tk_buf_str(&c->text));
}
