/* report.c - findings: told apart, counted, limited, put into words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "interp/check/check.h"

static const tki_frame *user_frame(const tki *t) {
  const tki_frame *f = t->frame;
  while (f && f->func->library && f->caller) f = f->caller;
  return f;
}

tkc_place tkc_here(const tki *t) {
  const tki_frame *f = user_frame(t);
  if (!f) return (tkc_place){NULL, {0, 0}};
  if (!f->inst)
    return (tkc_place){f->func->src, f->stmt ? f->stmt->span : f->func->span};
  return (tkc_place){f->func->src, f->inst->span};
}

/* ---- the same finding --------------------------------------------------- */

static bool same_place(const tkc_place *a, const tkc_place *b) {
  return a->src == b->src && a->span.lo == b->span.lo;
}

static tkc_finding *find(tkc *c, tk_diag_id id, const tkc_place *at,
                         const tkc_place *from) {
  tkc_finding *f = c->findings;
  while (f &&
         !(f->id == id && same_place(&f->at, at) && same_place(&f->from, from)))
    f = f->next;
  return f;
}

static tkc_finding *add(tkc *c, const tki *t, tk_diag_id id,
                        const tkc_place *at, const tkc_place *from) {
  tkc_finding *f = TK_NEW(&c->kept, tkc_finding), **end = &c->findings;
  const tki_frame *frame = t ? user_frame(t) : NULL;
  *f = (tkc_finding){.id = id, .at = *at, .from = *from};
  f->function = tk_arena_strdup(&c->kept, frame ? frame->func->name : "");
  while (*end) end = &(*end)->next;
  *end = f;
  f->suppressed = tkc_suppressed(c, f);
  return f;
}

static bool is_lint(tk_diag_id id) {
  return !strncmp(tk_diag_name(id), "lint-", 5);
}

/* What lint said of a place gives way to what a run shows of it. */
static void supersede(tkc *c, const tkc_finding *f) {
  if (is_lint(f->id)) return;
  for (tkc_finding *g = c->findings; g; g = g->next) {
    if (!g->diag || !is_lint(g->id) ||
        !(same_place(&g->at, &f->at) || same_place(&g->at, &f->from)))
      continue;
    tk_diag_remove(&c->session->env, g->diag);
    g->diag = NULL;
    g->suppressed = true;
    c->shown--;
  }
}

/* Counts a finding that is known; NULL: it is new and may be shown. */
static bool is_new(tkc *c, const tki *t, tk_diag_id id, const tkc_place *at,
                   const tkc_place *from, tkc_finding **out) {
  tkc_finding *f = find(c, id, at, from);
  bool known = f != NULL;
  if (!known) f = add(c, t, id, at, from);
  *out = f;
  if (f->suppressed) return false;
  if (tk_diag_severity(id) != TK_SEV_NOTE) c->found = true;
  if (known && f->diag) f->diag->count++;
  if (known) return false;
  supersede(c, f);
  if (c->shown < c->limit) return ++c->shown;
  c->hidden++;
  return false;
}

/* ---- reports ------------------------------------------------------------ */

static void say_program(tki *t, tk_diag *d) {
  const int64_t *p = t->pid, *g = t->grid;
  memcpy(d->program, p, sizeof d->program);
  tk_diag_note(t->env, d, NULL, (tk_span){0, 0},
               "in program (%" PRId64 ", %" PRId64 ", %" PRId64
               ") of grid (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
               p[0], p[1], p[2], g[0], g[1], g[2]);
  for (tki_frame *c = user_frame(t)->caller; c; c = c->caller)
    if (!c->func->library && c->inst)
      tk_diag_note(t->env, d, c->func->src, c->inst->span,
                   "in the call from %s", c->func->name);
}

tk_diag *tkc_report(tkc *c, tki *t, tk_diag_id id, const tkc_place *at,
                    const tkc_place *from, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  tkc_finding *f;
  tkc_place here = {NULL, {0, 0}}, none = here;
  if (!at && t) here = tkc_here(t);
  if (!at) at = &here;
  if (!from) from = &none;
  if (!is_new(c, t, id, at, from, &f)) return NULL;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  tk_env *e = &c->session->env;
  f->diag = tk_diag_add(e, id, at->src, at->span, "%s", text);
  if (t && t->frame) say_program(t, f->diag);
  return f->diag;
}

void tkc_note(tkc *c, tk_diag *d, const tkc_place *at, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  if (!d) return;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  tkc_place none = {NULL, {0, 0}};
  if (!at) at = &none;
  tk_diag_note(&c->session->env, d, at->src, at->span, "%s", text);
}

void tkc_at_lane(tkc *c, tk_diag *d, const char *lane) {
  if (d && *lane) tk_diag_lane(&c->session->env, d, "%s", lane);
}

void tkc_help(tkc *c, tk_diag *d, const char *fmt, ...) {
  char text[1024];
  va_list ap;
  if (!d) return;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  tk_diag_help(&c->session->env, d, "%s", text);
}

void tkc_reported(tkc *c, tki *t, tk_diag *d) {
  if (!d || !t || !t->frame || c->ending) return;
  TKI_TELL(t, finding, t, c->stop);
  if (c->stop && !t->driver) tki_stop(t);
}

/* ---- pieces of text ----------------------------------------------------- */

const char *tkc_lane(tkc *c, const tk_type *type, size_t lane) {
  char *text = tk_arena_strdup(&c->run, "");
  size_t below = (size_t)tk_numel(type);
  if (!type->rank) return text;
  for (int i = 0; i < type->rank; i++) {
    size_t n = (size_t)type->shape[i];
    below /= n;
    text = tk_arena_printf(&c->run, "%s%s%zu", text, i ? ", " : "",
                           lane / below % n);
  }
  return tk_arena_printf(&c->run, "[%s]", text);
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

/* The index along each axis of element `off` (in elements from the first),
 * for strides that no two indices share; false when it is in none. */
static bool index_of(const tk_tensor *x, int64_t off, int64_t *at) {
  bool used[TK_MAX_RANK] = {false};
  for (int k = 0; k < x->rank; k++) {
    int best = -1;
    for (int i = 0; i < x->rank; i++)
      if (!used[i] && (best < 0 || x->strides[i] > x->strides[best] ||
                       (x->strides[i] == x->strides[best] && x->shape[i] > 1)))
        best = i;
    used[best] = true;
    int64_t step = x->strides[best];
    at[best] = step > 0 && x->shape[best] > 1 ? off / step : 0;
    if (at[best] < 0 || at[best] >= x->shape[best]) return false;
    off -= at[best] * step;
  }
  return off == 0;
}

const char *tkc_element(tkc *c, const tki *t, uint64_t addr, size_t size) {
  const tki_region *r = tki_region_at(t, addr, size);
  if (!r) return tk_arena_printf(&c->run, "address 0x%" PRIx64, addr);
  const tk_tensor *x = r->tensor;
  uint64_t base = r->lo + (uint64_t)((char *)x->data - r->host);
  int64_t bytes = (int64_t)(addr - base), at[TK_MAX_RANK];
  int64_t width = (int64_t)tk_dtype_size(x->dtype);
  if (bytes % width || !index_of(x, bytes / width, at))
    return tk_arena_printf(&c->run, "%s at byte %" PRId64, r->name, bytes);
  char *text = tk_arena_strdup(&c->run, "");
  for (int i = 0; i < x->rank; i++)
    text = tk_arena_printf(&c->run, "%s%s%" PRId64, text, i ? ", " : "", at[i]);
  return tk_arena_printf(&c->run, "%s[%s]", r->name, text);
}
