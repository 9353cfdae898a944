/* solve.c - from a formula to systems of linear inequalities.
 *
 * A formula is taken apart: what must hold goes to a list of facts, with the
 * definition of every atom that they speak of; alternatives wait.  When only
 * alternatives are left, the facts are tried; if they can hold together, one
 * alternative after the other is added and all is tried again. */
#include "prove/solve.h"

/* ---- what is known without a solver -------------------------------------- */

static int64_t atom_low(const tkq_terms *t, int atom) {
  const tkq_atom *a = &t->atoms.items[atom];
  int64_t x = 0, y = 0, c;
  if (a->kind == TKQ_SIZE || a->kind == TKQ_DATA) return a->lo;
  if (a->kind == TKQ_PID || a->kind == TKQ_LANE || a->kind == TKQ_TRIP)
    return 0;
  x = tkq_low(t, a->arg[0]);
  y = tkq_low(t, a->arg[1]);
  if (a->kind == TKQ_MAX) return x > y ? x : y;
  if (a->kind != TKQ_DIV) return x < y ? x : y;
  if (x >= 0 && tkq_is_const(a->arg[1], &c) && c > 0) return x / c;
  return x >= 0 && y >= 1 ? 0 : INT64_MIN;
}

int64_t tkq_low(const tkq_terms *t, const tkq_poly *p) {
  int64_t sum = 0;
  for (size_t i = 0; i < p->n; i++) {
    int64_t term = p->m[i].c;
    if (term < 0 && p->m[i].deg) return INT64_MIN;
    for (int k = 0; k < p->m[i].deg; k++) {
      int64_t low = atom_low(t, p->m[i].atoms[k]);
      if (low < 0 || __builtin_mul_overflow(term, low, &term)) return INT64_MIN;
    }
    if (__builtin_add_overflow(sum, term, &sum)) return INT64_MIN;
  }
  return sum;
}

/* ---- definitions of atoms ------------------------------------------------ */

static const tkq_form *between(tkq_terms *t, const tkq_poly *x, int64_t lo,
                               int64_t hi) {
  const tkq_form *f = tkq_true();
  if (lo != INT64_MIN) f = tkq_ge(t, x, tkq_const(t, lo));
  if (hi != INT64_MAX) f = tkq_and(t, f, tkq_ge(t, tkq_const(t, hi), x));
  return f;
}

/* x = a / b, rounded towards zero. */
static const tkq_form *is_quotient(tkq_terms *t, const tkq_poly *x,
                                   const tkq_poly *a, const tkq_poly *b) {
  const tkq_poly *zero = tkq_const(t, 0), *bx = tkq_mul(t, b, x);
  const tkq_poly *rest = tkq_sub(t, a, bx);
  const tkq_form *up = tkq_and(t, tkq_ge(t, rest, zero), tkq_lt(t, rest, b));
  const tkq_form *down =
      tkq_and(t, tkq_ge(t, zero, rest), tkq_lt(t, tkq_sub(t, zero, rest), b));
  up = tkq_and(t, tkq_and(t, tkq_ge(t, a, zero), tkq_ge(t, x, zero)), up);
  down = tkq_and(t, tkq_and(t, tkq_lt(t, a, zero), tkq_ge(t, zero, x)), down);
  const tkq_form *f = tkq_low(t, a) >= 0 ? up : tkq_or(t, up, down);
  if (tkq_low(t, b) >= 1) return f;
  f = tkq_and(t, tkq_ge(t, b, tkq_const(t, 1)), f);
  return tkq_or(t, f, tkq_and(t, tkq_ge(t, zero, b), tkq_maybe()));
}

/* The grid along an axis divided by b, an atom that divides it; NULL: none. */
static const tkq_poly *programs_by(tkq_terms *t, const tkq_poly *grid,
                                   const tkq_poly *b) {
  const tkq_poly *q = tkq_const(t, 0);
  if (b->n != 1 || b->m[0].deg != 1 || b->m[0].c != 1) return NULL;
  for (size_t i = 0; i < grid->n; i++) {
    tkq_mono *rest = TK_NEW(t->arena, tkq_mono);
    bool met = false;
    rest->c = grid->m[i].c;
    for (int k = 0; k < grid->m[i].deg; k++)
      if (!met && grid->m[i].atoms[k] == b->m[0].atoms[0])
        met = true;
      else
        rest->atoms[rest->deg++] = grid->m[i].atoms[k];
    if (!met) return NULL;
    q = tkq_add(t, q, &(tkq_poly){1, rest});
  }
  return q;
}

/* Of pid // b where b divides the grid: it is below their quotient. */
static const tkq_form *below_quotient(tkq_terms *t, const tkq_poly *x,
                                      const tkq_poly *a, const tkq_poly *b) {
  if (a->n != 1 || a->m[0].deg != 1 || a->m[0].c != 1) return tkq_true();
  const tkq_atom *pid = &t->atoms.items[a->m[0].atoms[0]];
  if (pid->kind != TKQ_PID || tkq_low(t, b) < 1) return tkq_true();
  const tkq_poly *q = programs_by(t, t->grid[pid->number], b);
  return q ? tkq_lt(t, x, q) : tkq_true();
}

static const tkq_form *definition(tkq_terms *t, int atom) {
  tkq_atom a = t->atoms.items[atom];
  const tkq_poly *x = tkq_atom_poly(t, &a), *l = a.arg[0], *r = a.arg[1];
  const tkq_poly *zero = tkq_const(t, 0);
  switch (a.kind) {
  case TKQ_SIZE:
  case TKQ_DATA: return between(t, x, a.lo, a.hi);
  case TKQ_LANE:
  case TKQ_TRIP: return tkq_ge(t, x, zero);
  case TKQ_PID:
    return tkq_and(t, tkq_ge(t, x, zero), tkq_lt(t, x, t->grid[a.number]));
  case TKQ_DIV:
    return tkq_and(t, is_quotient(t, x, l, r), below_quotient(t, x, l, r));
  case TKQ_MIN:
    return tkq_or(t, tkq_and(t, tkq_eq(t, x, l), tkq_ge(t, r, l)),
                  tkq_and(t, tkq_eq(t, x, r), tkq_lt(t, r, l)));
  case TKQ_MAX:
    return tkq_or(t, tkq_and(t, tkq_eq(t, x, l), tkq_ge(t, l, r)),
                  tkq_and(t, tkq_eq(t, x, r), tkq_lt(t, l, r)));
  case TKQ_SELECT: break;
  }
  return tkq_or(t, tkq_and(t, a.when, tkq_eq(t, x, l)),
                tkq_and(t, tkq_not(t, a.when), tkq_eq(t, x, r)));
}

/* ---- products ------------------------------------------------------------ */

enum { MOST_PRODUCTS = 300 };

/* m without its k-th atom, as a polynomial; NULL: it may be negative. */
static const tkq_poly *cofactor(tkq_terms *t, const tkq_mono *m, int k) {
  tkq_mono *u = TK_NEW(t->arena, tkq_mono);
  u->c = 1;
  for (int i = 0; i < m->deg; i++) {
    if (i == k) continue;
    if (atom_low(t, m->atoms[i]) < 0) return NULL;
    u->atoms[u->deg++] = m->atoms[i];
  }
  tkq_poly *p = TK_NEW(t->arena, tkq_poly);
  *p = (tkq_poly){1, u};
  return p;
}

static bool has_alone(const tkq_poly *p, int atom) {
  for (size_t i = 0; i < p->n; i++)
    if (p->m[i].deg == 1 && p->m[i].atoms[0] == atom) return true;
  return false;
}

/* Adds the facts about one atom of a product, times the others. */
static void multiply_facts(tkq_terms *t, const tkq_facts *facts, size_t n,
                           const tkq_mono *m, int k, tkq_facts *out) {
  const tkq_poly *u = cofactor(t, m, k);
  for (size_t i = 0; u && i < n && out->n < MOST_PRODUCTS; i++) {
    const tkq_form *f = facts->items[i];
    if (!has_alone(f->p, m->atoms[k])) continue;
    const tkq_poly *p = tkq_mul(t, f->p, u);
    const tkq_poly *zero = tkq_const(t, 0);
    if (!p) continue;
    const tkq_form *more =
        f->kind == TKQ_EQ ? tkq_eq(t, p, zero) : tkq_ge(t, p, zero);
    if (more->kind == TKQ_GE || more->kind == TKQ_EQ)
      TK_PUSH(t->arena, out, more);
  }
}

static void multiply_all(tkq_terms *t, const tkq_facts *facts, tkq_facts *out) {
  size_t n = facts->n;
  for (size_t i = 0; i < n; i++) {
    const tkq_poly *p = facts->items[i]->p;
    for (size_t j = 0; j < p->n; j++)
      for (int k = 0; p->m[j].deg > 1 && k < p->m[j].deg; k++)
        if (!k || p->m[j].atoms[k] != p->m[j].atoms[k - 1])
          multiply_facts(t, facts, n, &p->m[j], k, out);
  }
}

/* ---- systems ------------------------------------------------------------- */

size_t tkq_unknown(tkq_terms *t, tkq_unknowns *u, const tkq_mono *m) {
  size_t i = 0;
  for (; i < u->n; i++) {
    const tkq_mono *x = &u->items[i];
    int k = 0;
    while (x->deg == m->deg && k < m->deg && x->atoms[k] == m->atoms[k]) k++;
    if (x->deg == m->deg && k == m->deg) return i;
  }
  TK_PUSH(t->arena, u, *m);
  return i;
}

void tkq_add_rows(tkq_terms *t, tkq_unknowns *u, const tkq_facts *facts,
                  tkq_system *s) {
  for (size_t i = 0; i < facts->n; i++)
    for (size_t j = 0; j < facts->items[i]->p->n; j++)
      if (facts->items[i]->p->m[j].deg)
        tkq_unknown(t, u, &facts->items[i]->p->m[j]);
  s->n = u->n;
  for (size_t i = 0; i < facts->n; i++) {
    const tkq_form *f = facts->items[i];
    int64_t *c = TK_NEWN(t->arena, int64_t, u->n + 1);
    tkq_row row = {.c = c, .eq = f->kind == TKQ_EQ};
    for (size_t j = 0; j < f->p->n; j++)
      if (f->p->m[j].deg)
        c[tkq_unknown(t, u, &f->p->m[j])] = f->p->m[j].c;
      else
        row.k = f->p->m[j].c;
    TK_PUSH(t->arena, &s->rows, row);
  }
}

static bool is_linear(const tkq_facts *facts) {
  for (size_t i = 0; i < facts->n; i++)
    for (size_t j = 0; j < facts->items[i]->p->n; j++)
      if (facts->items[i]->p->m[j].deg > 1) return false;
  return true;
}

/* A product of what is never negative is not negative either. */
static void add_signs(tkq_terms *t, const tkq_unknowns *u, tkq_system *s) {
  for (size_t i = 0; i < u->n; i++) {
    bool sure = u->items[i].deg > 1;
    for (int k = 0; k < u->items[i].deg; k++)
      sure &= atom_low(t, u->items[i].atoms[k]) >= 0;
    if (!sure) continue;
    int64_t *c = TK_NEWN(t->arena, int64_t, u->n);
    c[i] = 1;
    TK_PUSH(t->arena, &s->rows, ((tkq_row){.c = c}));
  }
}

static tkq_answer try_facts(tkq_terms *t, const tkq_facts *facts) {
  tkq_unknowns u = {0};
  tkq_system s = {0};
  tkq_facts more = {0};
  if (!is_linear(facts)) multiply_all(t, facts, &more);
  if (!more.n) {
    tkq_add_rows(t, &u, facts, &s);
    return tkq_ask(t, &s);
  }
  for (size_t i = 0; i < facts->n; i++)
    TK_PUSH(t->arena, &more, facts->items[i]);
  tkq_add_rows(t, &u, &more, &s);
  add_signs(t, &u, &s);
  return tkq_ask(t, &s);
}

/* ---- cases --------------------------------------------------------------- */

enum { MOST_CASES = 300 };

typedef struct solve_todo {
  const tkq_form *f;
  const struct solve_todo *next;
} solve_todo;

static const solve_todo *todo(tkq_cases *c, const tkq_form *f,
                              const solve_todo *next) {
  solve_todo *l = TK_NEW(c->terms->arena, solve_todo);
  *l = (solve_todo){f, next};
  return l;
}

/* Adds the definition of an atom that is met for the first time, and of those
 * in its arguments. */
static const solve_todo *define(tkq_cases *c, int atom, const solve_todo *l) {
  for (size_t i = 0; i < c->defined.n; i++)
    if (c->defined.items[i] == atom) return l;
  TK_PUSH(c->terms->arena, &c->defined, atom);
  return todo(c, definition(c->terms, atom), l);
}

static const solve_todo *add_fact(tkq_cases *c, const tkq_form *f,
                                  const solve_todo *l) {
  TK_PUSH(c->terms->arena, &c->facts, f);
  for (size_t i = 0; i < f->p->n; i++)
    for (int k = 0; k < f->p->m[i].deg; k++)
      l = define(c, f->p->m[i].atoms[k], l);
  return l;
}

static tkq_answer split(tkq_cases *c, const solve_todo *l,
                        const solve_todo *ors);

/* Tries both alternatives of the first of `ors`. */
static tkq_answer branch(tkq_cases *c, const solve_todo *ors) {
  size_t nfacts = c->facts.n, ndefined = c->defined.n;
  if (++c->ncases > MOST_CASES) return TKQ_GAVE_UP;
  tkq_answer worst = TKQ_NEVER;
  for (int i = 0; i < 2; i++) {
    const tkq_form *f = i ? ors->f->b : ors->f->a;
    tkq_answer a = split(c, todo(c, f, NULL), ors->next);
    c->facts.n = nfacts;
    c->defined.n = ndefined;
    if (a == TKQ_PERHAPS) return a;
    if (a == TKQ_GAVE_UP) worst = a;
  }
  return worst;
}

static tkq_answer split(tkq_cases *c, const solve_todo *l,
                        const solve_todo *ors) {
  while (l) {
    const tkq_form *f = l->f;
    l = l->next;
    if (f->kind == TKQ_FALSE) return TKQ_NEVER;
    if (f->kind == TKQ_MAYBE) c->unsure = true;
    if (f->kind == TKQ_OR) ors = todo(c, f, ors);
    if (f->kind == TKQ_AND) l = todo(c, f->a, todo(c, f->b, l));
    if (f->kind == TKQ_GE || f->kind == TKQ_EQ) l = add_fact(c, f, l);
  }
  if (!ors && c->leaf) return c->leaf(c);
  tkq_answer a = try_facts(c->terms, &c->facts);
  return a != TKQ_NEVER && ors ? branch(c, ors) : a;
}

tkq_answer tkq_split(tkq_cases *c, const tkq_form *f) {
  return split(c, todo(c, f, NULL), NULL);
}

tkq_answer tkq_holds(tkq_terms *t, const tkq_form *f) {
  tkq_cases c = {.terms = t};
  return tkq_split(&c, f);
}
