/* exact.c - whether a duty is not kept wherever a condition does not hold.
 *
 * The sizes for which some program and some lane does wrong are a set of
 * integer points, as are those that obey the relations but not the condition;
 * nothing of the second may lie outside of the first.  Only what is linear and
 * known exactly counts. */
#include "prove/oblige.h"
#include "prove/solve.h"

enum { MOST_PARTS = 24 };

typedef struct exact_job {
  tkq_terms *terms;
  tkq_unknowns shared; /* sizes */
  TK_VEC(tkq_system) parts;
  bool failed;
} exact_job;

static bool is_linear_fact(const tkq_form *f) {
  for (size_t i = 0; i < f->p->n; i++)
    if (f->p->m[i].deg > 1) return false;
  return true;
}

/* The facts of a case, with sizes first; *exact: whether all are linear. */
static tkq_system exact_system(const exact_job *j, const tkq_cases *c,
                               bool *exact) {
  tkq_unknowns u = {0};
  tkq_system s = {0};
  tkq_facts linear = {0};
  for (size_t i = 0; i < j->shared.n; i++)
    TK_PUSH(j->terms->arena, &u, j->shared.items[i]);
  for (size_t i = 0; i < c->facts.n; i++)
    if (is_linear_fact(c->facts.items[i]))
      TK_PUSH(j->terms->arena, &linear, c->facts.items[i]);
  *exact = linear.n == c->facts.n;
  tkq_add_rows(j->terms, &u, &linear, &s);
  return s;
}

/* Sizes for which something is done wrong. */
static tkq_answer add_wrong(tkq_cases *c) {
  exact_job *j = c->ud;
  bool exact;
  tkq_system s = exact_system(j, c, &exact);
  /* What is not known exactly shows nothing; other cases may. */
  if (exact && !c->unsure) TK_PUSH(j->terms->arena, &j->parts, s);
  j->failed |= j->parts.n > MOST_PARTS;
  return j->failed ? TKQ_PERHAPS : TKQ_NEVER;
}

/* Sizes for which something has to be done wrong: a fact that is left out only
 * makes them more. */
static tkq_answer check_wrong(tkq_cases *c) {
  exact_job *j = c->ud;
  bool exact;
  tkq_system whole = exact_system(j, c, &exact);
  return tkq_outside(&whole, j->parts.items, j->parts.n, j->shared.n);
}

/* Whether more is thought possible of an atom than it can be. */
static bool is_inexact(const tkq_terms *t, int atom, void *ud) {
  tkq_atom_kind k = t->atoms.items[atom].kind;
  (void)ud;
  return k == TKQ_DATA || k == TKQ_POWER;
}

static bool note_size(const tkq_terms *t, int atom, void *ud) {
  exact_job *j = ud;
  if (t->atoms.items[atom].kind != TKQ_SIZE) return false;
  tkq_unknown(j->terms, &j->shared,
              &(tkq_mono){.c = 1, .deg = 1, .atoms = {atom}});
  return false;
}

/* Takes the sizes for which a formula can hold. */
static void add_bad(exact_job *j, const tkq_form *f) {
  tkq_cases c = {.terms = j->terms, .leaf = add_wrong, .ud = j};
  if (!tkq_is_sure(f) || tkq_form_has(j->terms, f, is_inexact, NULL)) return;
  if (tkq_split(&c, f) != TKQ_NEVER) j->failed = true;
}

bool tkq_fails_unless(const tkq_walk *w, const tkq_numbers *n,
                      const tkq_item *x, const tkq_form *condition) {
  tkq_terms *t = n->terms;
  exact_job j = {.terms = t};
  const tkq_form *facts = tkq_facts_of(n);
  bool of_all = x->duty == TK_DUTY_COVER || x->duty == TK_DUTY_WRAP;
  if (w->inexact || w->lost || of_all) return false;
  const tkq_form *whole = tkq_related_form(n, tkq_not(t, condition));
  for (size_t i = 0; i < n->all.n; i++) {
    const tkq_poly *p = tkq_related(n, n->all.items[i].p);
    whole = tkq_and(t, whole, tkq_ge(t, p, tkq_const(t, INT64_MIN / 4)));
    tkq_has(t, p, note_size, &j);
  }
  for (int i = 0; i < 3; i++)
    whole = tkq_and(t, whole, tkq_ge(t, t->grid[i], tkq_const(t, 1)));
  whole = tkq_and(t, facts, whole);
  for (size_t i = 0; i < x->bad.n && !j.failed; i++)
    add_bad(&j, tkq_and(t, facts, tkq_related_form(n, x->bad.items[i])));
  if (j.failed || !j.parts.n) return false;
  tkq_cases c = {.terms = t, .leaf = check_wrong, .ud = &j};
  return tkq_split(&c, whole) == TKQ_NEVER;
}
