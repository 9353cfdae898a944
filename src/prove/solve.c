/* solve.c - from a formula to systems of linear inequalities.
 *
 * A formula is taken apart: what must hold goes to a list of facts, with the
 * definition of every atom that they speak of; alternatives wait.  When only
 * alternatives are left, the facts are tried; if they can hold together, one
 * alternative after the other is added and all is tried again. */
#include "prove/solve.h"

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

/* Of pid // b where b divides the grid: it is below their quotient. */
static const tkq_form *below_quotient(tkq_terms *t, const tkq_poly *x,
                                      const tkq_poly *a, const tkq_poly *b) {
  const tkq_atom *pid = tkq_single(t, a);
  if (!pid || pid->kind != TKQ_PID || tkq_low(t, b) < 1 || !tkq_single(t, b))
    return tkq_true();
  const tkq_poly *q = tkq_divided(t, t->grid[pid->number], b->m[0].atoms[0]);
  return q ? tkq_lt(t, x, q) : tkq_true();
}

/* Bounds of x = a / b that need no product. */
static const tkq_form *rough_quotient(tkq_terms *t, const tkq_poly *x,
                                      const tkq_poly *a, const tkq_poly *b) {
  bool known = tkq_low(t, a) >= 0 && tkq_low(t, b) >= 1;
  return known ? tkq_ge(t, a, x) : tkq_true();
}

/* x = a % b, with the quotient that belongs to it. */
static const tkq_form *is_remainder(tkq_terms *t, const tkq_poly *x,
                                    const tkq_atom *a) {
  const tkq_poly *l = a->arg[0], *r = a->arg[1], *rest;
  const tkq_form *f = tkq_true();
  if (tkq_low(t, l) >= 0) {
    f = tkq_and(t, tkq_ge(t, x, tkq_const(t, 0)), tkq_ge(t, l, x));
    const tkq_form *below = tkq_lt(t, x, r);
    if (tkq_low(t, r) < 1)
      below = tkq_or(t, below, tkq_ge(t, tkq_const(t, 0), r));
    f = tkq_and(t, f, below);
  }
  if (t->rough) return f;
  rest = tkq_sub(t, l, tkq_mul(t, a->arg[2], r));
  return tkq_and(t, f, tkq_eq(t, rest, x));
}

static const tkq_poly *atom_itself(tkq_terms *t, int atom) {
  tkq_atom a = t->atoms.items[atom];
  return tkq_atom_poly(t, &a);
}

/* What an atom is, of its arguments. */
static const tkq_form *meaning(tkq_terms *t, int atom) {
  tkq_atom a = t->atoms.items[atom];
  const tkq_poly *x = atom_itself(t, atom), *l = a.arg[0], *r = a.arg[1];
  const tkq_poly *zero = tkq_const(t, 0);
  int64_t c;
  switch (a.kind) {
  case TKQ_SIZE:
  case TKQ_DATA: return between(t, x, a.lo, a.hi);
  case TKQ_LANE:
  case TKQ_TRIP: return tkq_ge(t, x, zero);
  case TKQ_TILE: return tkq_and(t, tkq_ge(t, x, zero), tkq_lt(t, x, l));
  case TKQ_PID:
    return tkq_and(t, tkq_ge(t, x, zero), tkq_lt(t, x, t->grid[a.number]));
  case TKQ_DIV:
    if (t->rough && !tkq_is_const(r, &c)) return rough_quotient(t, x, l, r);
    return tkq_and(t, is_quotient(t, x, l, r), below_quotient(t, x, l, r));
  case TKQ_REM: return is_remainder(t, x, &a);
  case TKQ_MIN:
    return tkq_or(t, tkq_and(t, tkq_eq(t, x, l), tkq_ge(t, r, l)),
                  tkq_and(t, tkq_eq(t, x, r), tkq_lt(t, r, l)));
  case TKQ_MAX:
    return tkq_or(t, tkq_and(t, tkq_eq(t, x, l), tkq_ge(t, l, r)),
                  tkq_and(t, tkq_eq(t, x, r), tkq_lt(t, l, r)));
  case TKQ_POWER:
    return tkq_and(t, tkq_ge(t, x, l),
                   tkq_or(t, tkq_eq(t, x, tkq_const(t, 1)),
                          tkq_lt(t, x, tkq_add(t, l, l))));
  case TKQ_SELECT: break;
  }
  return tkq_or(t, tkq_and(t, a.when, tkq_eq(t, x, l)),
                tkq_and(t, tkq_not(t, a.when), tkq_eq(t, x, r)));
}

/* The same, with the bound that is known of it. */
static const tkq_form *definition(tkq_terms *t, int atom) {
  int64_t low = tkq_atom_low(t, atom);
  const tkq_form *f = meaning(t, atom);
  if (t->atoms.items[atom].kind < TKQ_DIV || low == INT64_MIN) return f;
  const tkq_poly *x = atom_itself(t, atom);
  return tkq_and(t, tkq_ge(t, x, tkq_const(t, low)), f);
}

/* ---- products ------------------------------------------------------------ */

enum { MOST_PRODUCTS = 300 };

static size_t find_unknown(const tkq_unknowns *u, const tkq_mono *m) {
  size_t i = 0;
  for (; i < u->n; i++) {
    const tkq_mono *x = &u->items[i];
    int k = 0;
    while (x->deg == m->deg && k < m->deg && x->atoms[k] == m->atoms[k]) k++;
    if (x->deg == m->deg && k == m->deg) break;
  }
  return i;
}

size_t tkq_unknown(tkq_terms *t, tkq_unknowns *u, const tkq_mono *m) {
  size_t i = find_unknown(u, m);
  if (i == u->n) TK_PUSH(t->arena, u, *m);
  return i;
}

/* What facts are multiplied by: a product of atoms that are not negative. */
typedef struct solve_factors {
  tkq_unknowns all, products; /* products: that occur */
  tkq_terms *terms;
} solve_factors;

/* m without its k-th atom; false: it may be negative. */
static bool cofactor(const tkq_terms *t, const tkq_mono *m, int k,
                     tkq_mono *u) {
  *u = (tkq_mono){.c = 1};
  for (int i = 0; i < m->deg; i++) {
    if (i == k) continue;
    if (tkq_atom_low(t, m->atoms[i]) < 0) return false;
    u->atoms[u->deg++] = m->atoms[i];
  }
  return true;
}

/* Whether u times some atom that stands alone in p is one of the products. */
static bool is_wanted(solve_factors *f, const tkq_poly *p, const tkq_mono *u) {
  for (size_t i = 0; i < p->n; i++) {
    tkq_mono m = *u;
    int k = m.deg;
    if (p->m[i].deg != 1 || u->deg == TKQ_DEGREE) continue;
    for (; k > 0 && m.atoms[k - 1] > p->m[i].atoms[0]; k--)
      m.atoms[k] = m.atoms[k - 1];
    m.atoms[k] = p->m[i].atoms[0];
    m.deg++;
    if (find_unknown(&f->products, &m) < f->products.n) return true;
  }
  return false;
}

static void find_factors(solve_factors *f, const tkq_facts *facts) {
  for (size_t i = 0; i < facts->n; i++)
    for (size_t j = 0; j < facts->items[i]->p->n; j++) {
      const tkq_mono *m = &facts->items[i]->p->m[j];
      tkq_mono u;
      if (m->deg < 2) continue;
      tkq_unknown(f->terms, &f->products, m);
      for (int k = 0; k < m->deg; k++)
        if (cofactor(f->terms, m, k, &u)) tkq_unknown(f->terms, &f->all, &u);
    }
}

/* Adds the facts times what makes products of them that occur. */
static void multiply_facts(tkq_terms *t, const tkq_facts *facts,
                           solve_factors *f, tkq_facts *out) {
  const tkq_poly *zero = tkq_const(t, 0);
  for (size_t k = 0; k < f->all.n; k++)
    for (size_t i = 0; i < facts->n && out->n < MOST_PRODUCTS; i++) {
      const tkq_form *x = facts->items[i];
      if (!is_wanted(f, x->p, &f->all.items[k])) continue;
      const tkq_poly *p = tkq_mul(t, x->p, &(tkq_poly){1, &f->all.items[k]});
      if (!p) continue;
      const tkq_form *more =
          x->kind == TKQ_EQ ? tkq_eq(t, p, zero) : tkq_ge(t, p, zero);
      if (more->kind == TKQ_GE || more->kind == TKQ_EQ)
        TK_PUSH(t->arena, out, more);
    }
}

/* Whether an atom is a quotient by a number above 0, of what is not negative.
 */
static bool is_plain_quotient(const tkq_atom *a, const tkq_terms *t,
                              int64_t *c) {
  return a->kind == TKQ_DIV && tkq_is_const(a->arg[1], c) && *c > 0 &&
         tkq_low(t, a->arg[0]) >= 0;
}

/* Of a product of quotients a // c and b // d: it is not above a * b / (c * d).
 */
static void bound_product(tkq_terms *t, const tkq_mono *m, tkq_facts *out) {
  int64_t c, d;
  const tkq_atom *atoms = t->atoms.items;
  if (m->deg != 2 || !is_plain_quotient(&atoms[m->atoms[0]], t, &c) ||
      !is_plain_quotient(&atoms[m->atoms[1]], t, &d))
    return;
  const tkq_poly *most =
      tkq_mul(t, atoms[m->atoms[0]].arg[0], atoms[m->atoms[1]].arg[0]);
  tkq_mono *one = TK_NEW(t->arena, tkq_mono);
  *one = *m;
  if (__builtin_mul_overflow(c, d, &one->c)) return;
  const tkq_form *f = tkq_ge(t, most, &(tkq_poly){1, one});
  if (f->kind == TKQ_GE) TK_PUSH(t->arena, out, f);
}

/* Of a product of x >= a and y >= b: (x - a) * (y - b) is not negative. */
static void bound_corner(tkq_terms *t, const tkq_mono *m, tkq_facts *out) {
  const tkq_poly *over[2];
  if (m->deg != 2) return;
  for (int i = 0; i < 2; i++) {
    int64_t low = tkq_atom_low(t, m->atoms[i]);
    if (low < 1) return; /* that the product is not negative is said anyway */
    over[i] = tkq_plus(t, atom_itself(t, m->atoms[i]), -low);
  }
  const tkq_form *f = tkq_ge(t, tkq_mul(t, over[0], over[1]), tkq_const(t, 0));
  if (f->kind == TKQ_GE) TK_PUSH(t->arena, out, f);
}

/* What follows from the facts for the products in them. */
static void multiply_all(tkq_terms *t, const tkq_facts *facts, tkq_facts *out) {
  solve_factors f = {.terms = t};
  find_factors(&f, facts);
  multiply_facts(t, facts, &f, out);
  find_factors(&f, out);
  for (size_t i = 0; i < f.products.n; i++) {
    bound_product(t, &f.products.items[i], out);
    bound_corner(t, &f.products.items[i], out);
  }
}

/* ---- systems ------------------------------------------------------------- */

void tkq_add_rows(tkq_terms *t, tkq_unknowns *u, const tkq_facts *facts,
                  tkq_system *s) {
  for (size_t i = 0; i < facts->n; i++)
    for (size_t j = 0; j < facts->items[i]->p->n; j++)
      if (facts->items[i]->p->m[j].deg)
        tkq_unknown(t, u, &facts->items[i]->p->m[j]);
  s->n = u->n;
  for (size_t i = 0; i < facts->n; i++) {
    const tkq_form *f = facts->items[i];
    int64_t *c = TK_NEWN(t->arena, int64_t, f->p->n + 1);
    int *at = TK_NEWN(t->arena, int, f->p->n + 1);
    tkq_row row = {.at = at, .c = c, .eq = f->kind == TKQ_EQ};
    for (size_t j = 0; j < f->p->n; j++)
      if (f->p->m[j].deg) {
        at[row.n] = (int)tkq_unknown(t, u, &f->p->m[j]);
        c[row.n++] = f->p->m[j].c;
      } else {
        row.k = f->p->m[j].c;
      }
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
      sure &= tkq_atom_low(t, u->items[i].atoms[k]) >= 0;
    if (!sure) continue;
    static const int64_t one = 1;
    int *at = TK_NEW(t->arena, int);
    *at = (int)i;
    TK_PUSH(t->arena, &s->rows, ((tkq_row){.n = 1, .at = at, .c = &one}));
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

static bool is_rough(const tkq_terms *t, int atom, void *ud) {
  const tkq_atom *a = &t->atoms.items[atom];
  int64_t c;
  (void)ud;
  return a->kind == TKQ_REM ||
         (a->kind == TKQ_DIV && !tkq_is_const(a->arg[1], &c));
}

/* One way after the other, until it is known that the formula cannot hold. */
static tkq_answer try_ways(tkq_terms *t, const tkq_form *f) {
  bool rough = tkq_form_has(t, f, is_rough, NULL);
  tkq_answer a = TKQ_PERHAPS;
  int way = 0;
  for (; way <= t->most_way && a != TKQ_NEVER; way += rough ? 1 : TKQ_POINTS) {
    t->rough = rough && !(way & TKQ_EXACT);
    t->points = way & TKQ_POINTS;
    if (way > t->needed_way) t->needed_way = way;
    a = tkq_split(&(tkq_cases){.terms = t}, f);
  }
  t->rough = t->points = false;
  return a;
}

tkq_answer tkq_holds(tkq_terms *t, const tkq_form *f) {
  size_t natoms = t->atoms.n;
  t->arena = t->scratch;
  tkq_answer a = try_ways(t, f);
  t->arena = t->lasting;
  /* Atoms that came to be on the way have their arguments there. */
  if (t->atoms.n == natoms)
    tk_arena_free(t->scratch);
  else
    t->scratch = t->lasting;
  return a;
}
