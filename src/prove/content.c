/* content.c - what relations say of the contents of tensors: "0 <= idx[*] < n",
 * "distinct slots[*]".
 *
 * A value that is loaded is an atom with the number of its load (walk.h), the
 * lanes that it is looked at in, and the copy of the program that loads it.
 * Where the mask of the load lets a lane through, the atom is an element. */
#include "prove/relate.h"

typedef struct content_job {
  const tkq_numbers *n;
  const tkq_walk *w;
  TK_VEC(int) atoms; /* loaded values that a formula is about */
} content_job;

/* ---- what an atom stands for --------------------------------------------- */

static const tkq_load *load_of(const content_job *j, const tkq_atom *a) {
  for (size_t i = 0; i < j->w->loads.n; i++)
    if (j->w->loads.items[i].datum == a->number) return &j->w->loads.items[i];
  return NULL;
}

/* A term of the load's own lanes, in those of an atom and its program. */
static const tkq_poly *at_atom(tkq_terms *t, void *ud, int atom) {
  const tkq_atom *of = ud;
  tkq_atom a = t->atoms.items[atom];
  if (a.kind == TKQ_LANE) return a.number < TKQ_AXES ? of->arg[a.number] : NULL;
  bool own = a.kind == TKQ_PID || a.kind == TKQ_TRIP || a.kind == TKQ_DATA;
  if (!of->copy || !own) return NULL;
  a.copy = 1;
  for (int i = 0; i < TKQ_AXES; i++)
    if (a.arg[i])
      a.arg[i] = tkq_replace(t, a.arg[i], &(tkq_subst){at_atom, ud});
  return tkq_atom_poly(t, &a);
}

static const tkq_poly *loaded_from(const content_job *j, int atom) {
  tkq_atom a = j->n->terms->atoms.items[atom];
  const tkq_load *l = load_of(j, &a);
  return tkq_replace(j->n->terms, l->p, &(tkq_subst){at_atom, &a});
}

static const tkq_form *is_off(const content_job *j, int atom) {
  tkq_atom a = j->n->terms->atoms.items[atom];
  const tkq_load *l = load_of(j, &a);
  tkq_subst s = {at_atom, &a};
  return tkq_not(j->n->terms, tkq_replace_form(j->n->terms, l->mask, &s));
}

static const tkq_poly *atom_poly(const content_job *j, int atom) {
  tkq_atom a = j->n->terms->atoms.items[atom];
  return tkq_atom_poly(j->n->terms, &a);
}

/* ---- facts --------------------------------------------------------------- */

typedef struct content_any {
  int atom;
  const tkq_poly *p;
} content_any;

static const tkq_poly *in_place(tkq_terms *t, void *ud, int atom) {
  const content_any *any = ud;
  (void)t;
  return atom == any->atom ? any->p : NULL;
}

/* That an atom is an element of a tensor of which a relation says something. */
static const tkq_form *element_fact(const content_job *j, int atom,
                                    const tkq_content *c) {
  tkq_terms *t = j->n->terms;
  content_any any = {c->any->m[0].atoms[0], atom_poly(j, atom)};
  const tkq_form *f =
      tkq_replace_form(t, c->fact, &(tkq_subst){in_place, &any});
  return tkq_or(t, is_off(j, atom), f);
}

/* That two elements are not equal, unless they are one. */
static const tkq_form *distinct_fact(const content_job *j, int a, int b) {
  tkq_terms *t = j->n->terms;
  const tkq_form *f = tkq_or(t, is_off(j, a), is_off(j, b));
  f = tkq_or(t, f, tkq_eq(t, loaded_from(j, a), loaded_from(j, b)));
  return tkq_or(t, f, tkq_not(t, tkq_eq(t, atom_poly(j, a), atom_poly(j, b))));
}

static bool is_from(const content_job *j, int atom, size_t tensor) {
  const tkq_atom a = j->n->terms->atoms.items[atom];
  return load_of(j, &a)->tensor == tensor;
}

static const tkq_form *content_facts(const content_job *j,
                                     const tkq_content *c) {
  const tkq_form *f = tkq_true();
  for (size_t i = 0; i < j->atoms.n; i++) {
    int atom = j->atoms.items[i];
    if (!is_from(j, atom, c->tensor)) continue;
    if (c->fact) f = tkq_and(j->n->terms, f, element_fact(j, atom, c));
    for (size_t k = 0; !c->fact && k < i; k++)
      if (is_from(j, j->atoms.items[k], c->tensor))
        f = tkq_and(j->n->terms, f, distinct_fact(j, j->atoms.items[k], atom));
  }
  return f;
}

/* ---- atoms --------------------------------------------------------------- */

static bool collect(const tkq_terms *t, int atom, void *ud) {
  content_job *j = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_DATA || !load_of(j, a)) return false;
  for (size_t i = 0; i < j->atoms.n; i++)
    if (j->atoms.items[i] == atom) return false;
  TK_PUSH(t->lasting, &j->atoms, atom);
  return false;
}

/* Those of a formula, then those that their addresses and masks are about. */
static void collect_all(content_job *j, const tkq_form *f) {
  tkq_terms *t = j->n->terms;
  tkq_form_has(t, f, collect, j);
  for (size_t i = 0; i < j->atoms.n; i++) {
    const tkq_poly *p = loaded_from(j, j->atoms.items[i]);
    if (p) tkq_has(t, p, collect, j);
    tkq_form_has(t, is_off(j, j->atoms.items[i]), collect, j);
  }
}

const tkq_form *tkq_contents_of(const tkq_numbers *n, const tkq_walk *w,
                                const tkq_form *f) {
  content_job j = {.n = n, .w = w};
  const tkq_form *all = tkq_true();
  if (!n->contents.n) return all;
  collect_all(&j, f);
  for (size_t i = 0; i < n->contents.n; i++) {
    const tkq_content *c = &n->contents.items[i];
    if (n->relations.items[c->relation].on)
      all = tkq_and(n->terms, all, content_facts(&j, c));
  }
  return all;
}

const tkq_form *tkq_possible_contents(const tkq_numbers *n) {
  const tkq_form *all = tkq_true();
  for (size_t i = 0; i < n->contents.n; i++) {
    const tkq_content *c = &n->contents.items[i], *first = c;
    for (size_t k = i; k-- > 0;)
      if (n->contents.items[k].tensor == c->tensor)
        first = &n->contents.items[k];
    content_any any = {c->any->m[0].atoms[0], first->any};
    if (c->fact)
      all = tkq_and(
          n->terms, all,
          tkq_replace_form(n->terms, c->fact, &(tkq_subst){in_place, &any}));
  }
  return tkq_related_form(n, all);
}

/* ---- tensors that change ------------------------------------------------- */

void tkq_check_contents(const tkq_numbers *n, const tkq_walk *w, tk_env *e) {
  for (size_t i = 0; i < n->contents.n; i++)
    for (size_t k = 0; k < w->accesses.n; k++) {
      const tkq_content *c = &n->contents.items[i];
      const tkq_access *a = &w->accesses.items[k];
      if (!a->writes || (a->known && a->tensor != c->tensor)) continue;
      tk_diag_add(e, TK_D_ARGUMENT, NULL, (tk_span){0, 0},
                  "--assume '%s': the kernel may store to %s, whose contents "
                  "then change",
                  n->relations.items[c->relation].text,
                  n->tensors[c->tensor].name);
      tk_throw(e, TK_USAGE);
    }
}
