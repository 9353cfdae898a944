/* cover.c - whether every element of a tensor is written.
 *
 * An address is split by the tensor's strides into one index along each axis;
 * then the indices that stores reach are a set of integer points, as are those
 * of the tensor, and nothing of the second may lie outside of the first.  Only
 * what is known exactly counts as a store: a mask of which something is
 * unknown may be off. */
#include "prove/oblige.h"
#include "prove/retile.h"
#include "prove/solve.h"

typedef struct cover_job {
  const tkq_walk *w;
  const tkq_numbers *n;
  size_t tensor;
  const tkq_subst *given; /* NULL: all sizes */
  tkq_unknowns shared;    /* sizes, and the indices of an element */
  const tkq_poly *element[TKQ_AXES];
  TK_VEC(tkq_system) parts;
  bool failed;
} cover_job;

/* ---- indices ------------------------------------------------------------- */

/* m / s, if s divides it. */
static bool divide_mono(const tkq_mono *m, const tkq_mono *s, tkq_mono *q) {
  int k = 0;
  if (m->c % s->c) return false;
  *q = (tkq_mono){.c = m->c / s->c};
  for (int i = 0; i < m->deg; i++)
    if (k < s->deg && m->atoms[i] == s->atoms[k])
      k++;
    else
      q->atoms[q->deg++] = m->atoms[i];
  return k == s->deg;
}

/* Takes what a stride divides out of *rest. */
static const tkq_poly *index_of(tkq_terms *t, const tkq_poly *stride,
                                const tkq_poly **rest) {
  const tkq_poly *index = tkq_const(t, 0), *left = tkq_const(t, 0);
  for (size_t i = 0; i < (*rest)->n; i++) {
    tkq_mono *q = TK_NEW(t->arena, tkq_mono);
    tkq_poly one = {1, &(*rest)->m[i]};
    if (stride->n == 1 && divide_mono(&(*rest)->m[i], &stride->m[0], q))
      index = tkq_add(t, index, &(tkq_poly){1, q});
    else
      left = tkq_add(t, left, &one);
  }
  *rest = left;
  return index;
}

/* A term as the relations and what is given have it; NULL: it cannot be kept.
 */
static const tkq_poly *cover_poly(const cover_job *j, const tkq_poly *p) {
  p = tkq_related(j->n, p);
  return j->given ? tkq_replace(j->n->terms, p, j->given) : p;
}

static const tkq_form *cover_form(const cover_job *j, const tkq_form *f) {
  f = tkq_related_form(j->n, f);
  return j->given ? tkq_replace_form(j->n->terms, f, j->given) : f;
}

/* ---- parts --------------------------------------------------------------- */

static bool is_datum(const tkq_terms *t, int atom, void *ud) {
  const cover_job *j = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_DATA) return false;
  for (int i = 0; i < TKQ_AXES; i++)
    if (j->element[i] && j->element[i]->m[0].atoms[0] == atom) return false;
  return true;
}

/* The facts that have no products in them. */
static tkq_facts linear_facts(tkq_terms *t, const tkq_facts *f) {
  tkq_facts out = {0};
  for (size_t i = 0; i < f->n; i++) {
    bool linear = true;
    for (size_t k = 0; k < f->items[i]->p->n; k++)
      linear &= f->items[i]->p->m[k].deg <= 1;
    if (linear) TK_PUSH(t->arena, &out, f->items[i]);
  }
  return out;
}

/* The facts of a case, with the shared unknowns first; *all: whether none had
 * to be left out. */
static tkq_system case_system(cover_job *j, tkq_cases *c, bool *all) {
  tkq_terms *t = j->n->terms;
  tkq_unknowns u = {0};
  tkq_system s = {0};
  for (size_t i = 0; i < j->shared.n; i++)
    TK_PUSH(t->arena, &u, j->shared.items[i]);
  tkq_facts facts = linear_facts(t, &c->facts);
  *all = facts.n == c->facts.n;
  tkq_add_rows(t, &u, &facts, &s);
  return s;
}

static tkq_answer add_part(tkq_cases *c) {
  cover_job *j = c->ud;
  bool all;
  tkq_system s = case_system(j, c, &all);
  TK_PUSH(j->n->terms->arena, &j->parts, s);
  j->failed |= !all || j->parts.n > 24;
  return j->failed ? TKQ_PERHAPS : TKQ_NEVER;
}

/* Elements that a store writes. */
static void add_store(cover_job *j, const tkq_access *a) {
  tkq_terms *t = j->n->terms;
  const tkq_tensor *x = &j->n->tensors[j->tensor];
  const tkq_form *f = tkq_and(t, a->path, tkq_lanes_of(t, &a->type));
  f = cover_form(j, tkq_and(t, f, a->mask));
  const tkq_poly *rest = cover_poly(j, a->p);
  if (rest) rest = tkq_retiled_poly(t, rest, f);
  for (int i = 0; rest && i < x->rank; i++) {
    const tkq_poly *stride = cover_poly(j, j->n->all.items[x->stride + i].p);
    if (!stride) return;
    const tkq_poly *index = index_of(t, stride, &rest);
    f = tkq_and(t, f, tkq_eq(t, index, j->element[i]));
  }
  const tkq_form *tiles = tkq_retiled(t, f);
  if (tiles) f = tiles;
  if (!rest || rest->n || !tkq_is_sure(f) || tkq_is_mixed(t, f) ||
      tkq_form_has(t, f, is_datum, j))
    return;
  tkq_cases c = {.terms = t, .leaf = add_part, .ud = j};
  if (tkq_split(&c, f) != TKQ_NEVER || c.unsure) j->failed = true;
}

/* ---- the whole ----------------------------------------------------------- */

static tkq_answer check_whole(tkq_cases *c) {
  cover_job *j = c->ud;
  bool all;
  tkq_system whole = case_system(j, c, &all);
  return tkq_outside(&whole, j->parts.items, j->parts.n, j->shared.n);
}

/* Sizes and the element, which are the same in all; what follows from them is
 * found anew in each, with its definition. */
static void share(cover_job *j, const tkq_poly *p) {
  const tkq_terms *t = j->n->terms;
  for (size_t i = 0; p && i < p->n; i++)
    if (p->m[i].deg == 1 && t->atoms.items[p->m[i].atoms[0]].kind < TKQ_DIV)
      tkq_unknown(j->n->terms, &j->shared, &p->m[i]);
}

/* An element's index along each axis, within the tensor. */
static const tkq_form *element_of(cover_job *j) {
  tkq_terms *t = j->n->terms;
  const tkq_tensor *x = &j->n->tensors[j->tensor];
  const tkq_form *f = cover_form(j, tkq_facts_of(j->n));
  for (int i = 0; i < x->rank; i++) {
    const tkq_poly *size = cover_poly(j, j->n->all.items[x->shape + i].p);
    j->element[i] = tkq_datum(t, 0, 0, tkq_most_size(j->n), "element");
    share(j, j->element[i]);
    f = tkq_and(t, f, tkq_lt(t, j->element[i], size));
  }
  return f;
}

bool tkq_covered(const tkq_walk *w, const tkq_numbers *n, size_t tensor,
                 const tkq_subst *given, const char **why) {
  cover_job j = {.w = w, .n = n, .tensor = tensor, .given = given};
  *why = "a statement of the kernel is not followed";
  if (w->inexact || w->lost || !n->tensors[tensor].known) return false;
  for (size_t i = 0; i < n->all.n; i++)
    share(&j, cover_poly(&j, n->all.items[i].p));
  const tkq_form *whole = element_of(&j);
  for (size_t i = 0; i < w->accesses.n; i++)
    if (w->accesses.items[i].writes && w->accesses.items[i].known &&
        w->accesses.items[i].tensor == tensor && w->accesses.items[i].p)
      add_store(&j, &w->accesses.items[i]);
  *why = "its stores are not such that their elements can be listed";
  if (j.failed || !j.parts.n) return false;
  *why = "some elements may not be written";
  tkq_cases c = {.terms = n->terms, .leaf = check_whole, .ud = &j};
  return tkq_split(&c, whole) == TKQ_NEVER;
}
