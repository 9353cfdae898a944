/* keep.c - bad accesses of runs that go on after them (interp/keep.h): each
 * kind and place is a finding, and all of them are summed up at the end.
 */
#include <inttypes.h>
#include <string.h>

#include "interp/check/check.h"

static tkc_kept *kept_at(tkc *c, tk_diag_id id, const tkc_place *at) {
  tkc_kept *k = c->bad;
  while (k &&
         !(k->id == id && k->at.src == at->src && k->at.span.lo == at->span.lo))
    k = k->next;
  return k;
}

static tkc_kept *add_kept(tkc *c, tk_diag_id id, const tkc_place *at) {
  tkc_kept *k = TK_NEW(&c->kept, tkc_kept), **end = &c->bad;
  *k = (tkc_kept){.id = id, .at = *at, .what = ""};
  while (*end) end = &(*end)->next;
  return *end = k;
}

static bool count_bad(void *ud, tki *t, tk_diag_id id, size_t lanes) {
  tkc *c = ud;
  tkc_place at = tkc_here(t);
  tkc_kept *k = kept_at(c, id, &at);
  bool known = k != NULL;
  if (!known) k = add_kept(c, id, &at);
  bool launch = k->t != t;
  bool program = launch || memcmp(k->pid, t->pid, sizeof k->pid) != 0;
  k->lanes += lanes;
  k->launches += launch;
  k->programs += program;
  k->t = t;
  memcpy(k->pid, t->pid, sizeof k->pid);
  if (known) tkc_report(c, t, id, NULL, NULL, "%s", k->what);
  return !known;
}

/* What a message says before its numbers. */
static const char *summary_of(tkc *c, const char *text) {
  const char *colon = strstr(text, ": ");
  size_t n =
      colon && strncmp(text, "tl.", 3) ? (size_t)(colon - text) : strlen(text);
  return tk_arena_strndup(&c->kept, text, n);
}

static tk_diag *report_bad(void *ud, tki *t, tk_diag_id id, const char *text) {
  tkc *c = ud;
  tkc_place at = tkc_here(t);
  kept_at(c, id, &at)->what = summary_of(c, text);
  return tkc_report(c, t, id, NULL, NULL, "%s", text);
}

void tkc_keep_begin(tkc *c, tki *t) {
  c->keeper = (tki_keeper){.ud = c, .count = count_bad, .report = report_bad};
  t->keeper = c->keep_going ? &c->keeper : NULL;
}

void tkc_keep_end(tkc *c) {
  for (tkc_kept *k = c->bad; k; k = k->next) k->t = NULL;
}

static const char *plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

void tkc_keep_tell(tkc *c) {
  tk_env *e = &c->session->env;
  size_t places = 0;
  for (tkc_kept *k = c->bad; k; k = k->next) places++;
  if (!places) return;
  tk_diag *d = tk_diag_add(e, TK_D_KEPT_GOING, NULL, (tk_span){0, 0},
                           "the run went on after bad accesses at %zu place%s: "
                           "stores wrote nothing, and loads gave NaN or "
                           "negative numbers",
                           places, plural(places));
  for (tkc_kept *k = c->bad; k; k = k->next) {
    const char *launches =
        k->launches > 1
            ? tk_arena_printf(&c->kept, " of %" PRIu64 " launches", k->launches)
            : "";
    tk_diag_note(e, d, k->at.src, k->at.span,
                 "%s: %" PRIu64 " lane%s, in %" PRIu64 " program%s%s", k->what,
                 k->lanes, plural(k->lanes), k->programs, plural(k->programs),
                 launches);
  }
  c->bad = NULL;
}
