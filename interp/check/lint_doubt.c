/* lint_doubt.c - loads without other=, of which a run shows more.
 *
 * Lint reports a load whose lanes a mask may leave out before a reduction.  If
 * lanes of a row were left out in the run, and undef had nothing to say, their
 * sum went nowhere: it is that of the last rows, for a trip that is not made.
 * Such a report is withdrawn.
 */
#include "interp/check/lint.h"

#include "ir/lanes.h"

typedef struct doubt {
  const tk_inst *load;
  int axis; /* that is reduced */
  tkc_place at;
  bool seen; /* some row had lanes that the mask left out, and others */
} doubt;

struct tkc_doubts {
  tkc *c;
  tki_observer observer;
  TK_VEC(doubt) all;
};

static bool has_mixed_row(const uint8_t *mask, const tk_type *type, int axis) {
  tk_lines l = tk_lines_along(type, axis);
  for (size_t line = 0; line < l.count; line++) {
    const uint8_t *first = mask + tk_line_first(&l, line);
    size_t on = 0;
    for (size_t i = 0; i < l.n; i++) on += first[i * l.step] != 0;
    if (on && on < l.n) return true;
  }
  return false;
}

static void doubt_access(void *ud, tki *t, const tki_access *access) {
  tkc_doubts *x = ud;
  (void)t;
  for (size_t i = 0; i < x->all.n; i++) {
    doubt *d = &x->all.items[i];
    if (d->seen || d->load != access->in || tki_access_is_full(access))
      continue;
    const uint8_t *mask = access->n ? tki_access_mask(access) : NULL;
    d->seen = mask && has_mixed_row(mask, &d->load->type, d->axis);
  }
}

tkc_doubts *tkc_doubts_new(tkc *c) {
  tkc_doubts *x = TK_NEW(&c->run, tkc_doubts);
  *x = (tkc_doubts){.c = c, .observer = {.access = doubt_access, .rows = true}};
  x->observer.ud = x;
  return x;
}

void tkc_lint_doubt(tkc_lint *l, const tk_inst *load, int axis, tk_diag *d) {
  doubt x = {.load = load, .axis = axis, .at = tkc_place_of(l->f, load)};
  if (d) TK_PUSH(&l->c->run, &l->doubts->all, x);
}

tkc_doubts *tkc_doubts_watch(tkc_doubts *x, tki *t) {
  if (!x->all.n || !(x->c->on >> TKC_UNDEF & 1)) return NULL;
  tki_observe(t, &x->observer);
  return x;
}

/* Withdraws the report of a place, unless the run has found more there. */
static void withdraw(tkc *c, const tkc_place *at) {
  const tkc_finding *f = c->findings;
  while (f && !(f->id == TK_D_LINT_OTHER && tkc_same_place(&f->at, at)))
    f = f->next;
  if (f && f->diag) tkc_withdraw(c, f->diag);
}

void tkc_doubts_settle(tkc_doubts *x) {
  for (size_t i = 0; i < x->all.n; i++)
    if (x->all.items[i].seen) withdraw(x->c, &x->all.items[i].at);
}
