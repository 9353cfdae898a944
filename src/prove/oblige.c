/* oblige.c - the duties of accesses: bounds, arithmetic, programs and lanes
 * that stay apart.
 *
 * Two programs, and two lanes, are two copies of the same terms: what differs
 * between them has another number in the second. */
#include "launch/internal.h"
#include "prove/oblige.h"

static tk_arena *oblige_arena(const tkq_numbers *n) {
  return n->terms->arena;
}

const tkq_form *tkq_lanes_of(tkq_terms *t, const tk_type *type) {
  const tkq_form *f = tkq_true();
  for (int i = 0; i < type->rank && i < TKQ_AXES; i++) {
    const tkq_poly *lane = tkq_lane(t, i);
    f = tkq_and(t, f, tkq_ge(t, lane, tkq_const(t, 0)));
    f = tkq_and(t, f, tkq_lt(t, lane, tkq_const(t, type->shape[i])));
  }
  return f;
}

/* The lanes of an access that are on. */
static const tkq_form *active(tkq_terms *t, const tkq_access *a) {
  return tkq_and(t, tkq_and(t, a->path, a->mask), tkq_lanes_of(t, &a->type));
}

/* ---- the other copy ------------------------------------------------------ */

static const tkq_poly *other_atom(tkq_terms *t, void *ud, int atom) {
  const bool *lanes_alone = ud;
  tkq_atom a = t->atoms.items[atom];
  bool own = a.kind == TKQ_LANE;
  if (!*lanes_alone)
    own |= a.kind == TKQ_PID || a.kind == TKQ_TRIP || a.kind == TKQ_DATA;
  if (!own) return NULL;
  a.copy = 1;
  for (int i = 0; i < TKQ_AXES; i++)
    if (a.arg[i])
      a.arg[i] = tkq_replace(t, a.arg[i], &(tkq_subst){other_atom, ud});
  return tkq_atom_poly(t, &a);
}

static const tkq_poly *other_poly(tkq_terms *t, const tkq_poly *p,
                                  bool lanes_alone) {
  return tkq_replace(t, p, &(tkq_subst){other_atom, &lanes_alone});
}

static const tkq_form *other_form(tkq_terms *t, const tkq_form *f,
                                  bool lanes_alone) {
  return tkq_replace_form(t, f, &(tkq_subst){other_atom, &lanes_alone});
}

/* The atoms of a product that are sizes, and the others with its coefficient.
 */
static void split_mono(const tkq_terms *t, const tkq_mono *m, tkq_mono *sizes,
                       tkq_mono *rest) {
  *sizes = (tkq_mono){.c = 1};
  *rest = (tkq_mono){.c = m->c};
  for (int k = 0; k < m->deg; k++) {
    bool size = t->atoms.items[m->atoms[k]].kind == TKQ_SIZE;
    tkq_mono *to = size ? sizes : rest;
    to->atoms[to->deg++] = m->atoms[k];
  }
}

/* Whether the first alternative of an alternative is in a conjunction. */
static bool is_in(const tkq_form *all, const tkq_form *any) {
  if (all->kind == TKQ_AND) return is_in(all->a, any) || is_in(all->b, any);
  return all->kind == TKQ_OR && any->kind == TKQ_OR &&
         tkq_same(all->a->p, any->a->p);
}

/* What stands before a product of sizes in p: its row, if that is a stride. */
static const tkq_poly *row_before(tkq_terms *t, const tkq_poly *p,
                                  const tkq_mono *stride) {
  const tkq_poly *row = tkq_const(t, 0);
  for (size_t i = 0; i < p->n; i++) {
    tkq_mono sizes, *rest = TK_NEW(t->arena, tkq_mono);
    split_mono(t, &p->m[i], &sizes, rest);
    bool same = sizes.deg == stride->deg;
    for (int k = 0; same && k < sizes.deg; k++)
      same = sizes.atoms[k] == stride->atoms[k];
    if (same) row = tkq_add(t, row, &(tkq_poly){1, rest});
  }
  return row;
}

/* For each product of sizes in p: one of both has the lower row, or they are
 * equal.  That always holds; said aloud, the solver looks at each case. */
static const tkq_form *row_cases(tkq_terms *t, const tkq_poly *p,
                                 const tkq_poly *q) {
  const tkq_form *f = tkq_true();
  for (size_t i = 0; i < p->n; i++) {
    tkq_mono sizes, rest;
    split_mono(t, &p->m[i], &sizes, &rest);
    if (!sizes.deg || !rest.deg) continue;
    const tkq_poly *a = row_before(t, p, &sizes), *b = row_before(t, q, &sizes);
    const tkq_form *any = tkq_or(t, tkq_lt(t, a, b), tkq_lt(t, b, a));
    any = tkq_or(t, tkq_eq(t, a, b), any);
    if (!is_in(f, any)) f = tkq_and(t, f, any);
  }
  return f;
}

/* The second of two lanes comes after the first. */
static const tkq_form *lane_after(tkq_terms *t, const tk_type *type) {
  const tkq_form *any = tkq_false(), *same = tkq_true();
  for (int i = 0; i < type->rank; i++) {
    const tkq_poly *a = tkq_lane(t, i), *b = other_poly(t, a, true);
    any = tkq_or(t, any, tkq_and(t, same, tkq_lt(t, a, b)));
    same = tkq_and(t, same, tkq_eq(t, a, b));
  }
  return any;
}

static const tkq_form *another_program(const tkq_numbers *n) {
  tkq_terms *t = n->terms;
  const tkq_form *any = tkq_false();
  for (int i = 0; i < 3; i++) {
    tkq_atom pid = {.kind = TKQ_PID, .number = i, .name = "pid"};
    const tkq_poly *a = tkq_atom_poly(t, &pid), *b = other_poly(t, a, false);
    any = tkq_or(t, any, tkq_not(t, tkq_eq(t, a, b)));
  }
  return any;
}

/* ---- items --------------------------------------------------------------- */

typedef struct oblige_job {
  const tkq_walk *w;
  const tkq_numbers *n;
  tkq_items *out;
  size_t ncontrol; /* the first so many items: branches and loops */
  bool unknown;    /* some access goes where nobody knows */
} oblige_job;

static tkq_item *item_new(oblige_job *j, tk_duty duty, const tk_func *f,
                          tk_span span, const char *subject) {
  tkq_item x = {.duty = duty, .func = f, .span = span, .subject = subject};
  TK_PUSH(oblige_arena(j->n), j->out, x);
  return &j->out->items[j->out->n - 1];
}

static const char *subject_of(oblige_job *j, const tkq_access *a) {
  const char *what = a->atomic   ? "atomic operation on"
                     : a->writes ? "store to"
                                 : "load of";
  const char *name = a->known ? j->n->tensors[a->tensor].name : "memory";
  return tk_arena_printf(oblige_arena(j->n), "%s %s", what, name);
}

static void item_bad(oblige_job *j, tkq_item *x, const tkq_form *f) {
  if (f->kind != TKQ_FALSE) TK_PUSH(oblige_arena(j->n), &x->bad, f);
}

/* ---- arithmetic ---------------------------------------------------------- */

/* The item of an instruction's arithmetic; its number. */
static size_t wrap_item(oblige_job *j, const tkq_wrap *x) {
  for (size_t i = 0; i < j->out->n; i++)
    if (j->out->items[i].inst == x->inst) return i;
  tkq_item *item =
      item_new(j, TK_DUTY_WRAP, x->site.func, x->site.span,
               tk_arena_printf(oblige_arena(j->n), "arithmetic in %s",
                               tk_dtype_name((tk_dtype)x->inst->type.elem)));
  item->inst = x->inst;
  item->shown = x->p;
  return j->out->n - 1;
}

static size_t oblige_wrap(oblige_job *j, const tkq_wrap *x,
                          const tkq_form *where) {
  tkq_terms *t = j->n->terms;
  size_t i = wrap_item(j, x);
  if (!x->p) {
    j->out->items[i].reason = "a term that is too large to keep";
    return i;
  }
  const tkq_form *low = tkq_false(), *high = tkq_false();
  if (x->lo != INT64_MIN) low = tkq_lt(t, x->p, tkq_const(t, x->lo));
  if (x->hi != INT64_MAX) high = tkq_lt(t, tkq_const(t, x->hi), x->p);
  item_bad(j, &j->out->items[i], tkq_and(t, where, low));
  item_bad(j, &j->out->items[i], tkq_and(t, where, high));
  return i;
}

static void item_needs(oblige_job *j, size_t item, size_t other) {
  tkq_item *x = &j->out->items[item];
  for (size_t i = 0; i < x->needs.n; i++)
    if (x->needs.items[i] == other) return;
  TK_PUSH(oblige_arena(j->n), &x->needs, other);
}

/* What items about an access need: its own arithmetic, and that of all branches
 * and loops. */
static void need_arithmetic(oblige_job *j, size_t item, const tkq_access *a) {
  tkq_terms *t = j->n->terms;
  const tkq_form *all = tkq_and(t, a->path, tkq_lanes_of(t, &a->type));
  for (size_t i = 0; i < j->ncontrol; i++) item_needs(j, item, i);
  for (size_t i = 0; a->address && i < a->address->n; i++)
    item_needs(j, item, oblige_wrap(j, &a->address->items[i], active(t, a)));
  for (size_t i = 0; a->lanes && i < a->lanes->n; i++)
    item_needs(j, item, oblige_wrap(j, &a->lanes->items[i], all));
}

/* ---- accesses ------------------------------------------------------------ */

static void oblige_bounds(oblige_job *j, const tkq_access *a) {
  tkq_terms *t = j->n->terms;
  size_t i = j->out->n;
  tkq_item *x =
      item_new(j, TK_DUTY_BOUNDS, a->site.func, a->site.span, subject_of(j, a));
  if (!a->known || !j->n->tensors[a->tensor].known || !a->p) {
    x->reason = "its pointer is not followed";
    return;
  }
  const tkq_poly *end = j->n->tensors[a->tensor].extent;
  const tkq_form *on = active(t, a);
  x->shown = a->p;
  item_bad(j, x, tkq_and(t, on, tkq_lt(t, a->p, tkq_const(t, 0))));
  item_bad(j, x, tkq_and(t, on, tkq_ge(t, a->p, end)));
  need_arithmetic(j, i, a);
}

static void oblige_lanes(oblige_job *j, const tkq_access *a) {
  tkq_terms *t = j->n->terms;
  size_t i = j->out->n;
  if (!a->writes || a->atomic || !a->known || !a->p || !a->type.rank) return;
  tkq_item *x =
      item_new(j, TK_DUTY_LANES, a->site.func, a->site.span, subject_of(j, a));
  const tkq_form *on = active(t, a);
  const tkq_form *f = tkq_and(t, on, other_form(t, on, true));
  f = tkq_and(t, f, lane_after(t, &a->type));
  x->shown = a->p;
  const tkq_poly *other = other_poly(t, a->p, true);
  f = tkq_and(t, f, row_cases(t, a->p, other));
  item_bad(j, x, tkq_and(t, f, tkq_eq(t, a->p, other)));
  need_arithmetic(j, i, a);
}

/* Whether two tensors of the launch lie over each other. */
static bool share_memory(const tkq_numbers *n, size_t a, size_t b) {
  const tk_tensor *x = &n->launch->args[a].tensor;
  const tk_tensor *y = &n->launch->args[b].tensor;
  int64_t before_x, after_x, before_y, after_y;
  const char *p = x->data, *q = y->data;
  tkn_tensor_extent(x, &before_x, &after_x); /* were checked when set */
  tkn_tensor_extent(y, &before_y, &after_y);
  return a != b && p - before_x < q + after_y && q - before_y < p + after_x;
}

static const char *why_not_apart(oblige_job *j, const tkq_access *a) {
  if (j->unknown)
    return "another access goes through a pointer that is not followed";
  for (size_t i = 0; i < j->w->accesses.n; i++) {
    const tkq_access *b = &j->w->accesses.items[i];
    if (b->tensor != a->tensor && share_memory(j->n, a->tensor, b->tensor))
      return tk_arena_printf(oblige_arena(j->n), "%s and %s share memory",
                             j->n->tensors[a->tensor].name,
                             j->n->tensors[b->tensor].name);
  }
  return NULL;
}

static void apart_from(oblige_job *j, size_t item, const tkq_access *a,
                       const tkq_access *b) {
  tkq_terms *t = j->n->terms;
  const tkq_form *f =
      tkq_and(t, active(t, a), other_form(t, active(t, b), false));
  const tkq_poly *other = other_poly(t, b->p, false);
  f = tkq_and(t, f, tkq_eq(t, a->p, other));
  f = tkq_and(t, f, row_cases(t, a->p, other));
  item_bad(j, &j->out->items[item], tkq_and(t, f, another_program(j->n)));
  need_arithmetic(j, item, b);
}

static void oblige_apart(oblige_job *j, const tkq_access *a) {
  size_t item = j->out->n;
  if (!a->writes || !a->known || !a->p) return;
  tkq_item *x = item_new(j, TK_DUTY_OVERLAP, a->site.func, a->site.span,
                         subject_of(j, a));
  x->shown = a->p;
  x->reason = why_not_apart(j, a);
  if (x->reason) return;
  need_arithmetic(j, item, a);
  for (size_t i = 0; i < j->w->accesses.n; i++) {
    const tkq_access *b = &j->w->accesses.items[i];
    if (b->tensor != a->tensor || (a->atomic && b->atomic)) continue;
    apart_from(j, item, a, b);
  }
}

static void oblige_claim(oblige_job *j, const tkq_claim *c) {
  tkq_terms *t = j->n->terms;
  size_t item = j->out->n;
  if (tk_assert_assumed(c->inst)) return;
  tkq_item *x = item_new(j, TK_DUTY_CLAIM, c->func, c->inst->span, "assertion");
  const tkq_form *f = tkq_and(t, c->path, tkq_lanes_of(t, &c->type));
  item_bad(j, x, tkq_and(t, f, tkq_not(t, c->f)));
  for (size_t i = 0; i < j->ncontrol; i++) item_needs(j, item, i);
  for (size_t i = 0; c->wraps && i < c->wraps->n; i++)
    item_needs(j, item, oblige_wrap(j, &c->wraps->items[i], f));
}

static void oblige_tensors(oblige_job *j) {
  for (size_t i = 0; i < j->n->launch->nargs; i++) {
    const tkq_tensor *x = &j->n->tensors[i];
    bool stored = false;
    for (size_t k = 0; k < j->w->accesses.n; k++)
      stored |=
          j->w->accesses.items[k].writes && j->w->accesses.items[k].tensor == i;
    if (!x->name || !x->unwritten || !stored) continue;
    size_t item = j->out->n;
    item_new(j, TK_DUTY_COVER, NULL, (tk_span){0, 0}, x->name)->tensor = i;
    for (size_t k = 0; k < item; k++)
      if (j->out->items[k].duty == TK_DUTY_WRAP) item_needs(j, item, k);
  }
}

void tkq_oblige(const tkq_walk *w, const tkq_numbers *n, tkq_items *out) {
  oblige_job j = {.w = w, .n = n, .out = out};
  for (size_t i = 0; i < w->control.n; i++)
    oblige_wrap(&j, &w->control.items[i], w->control.items[i].path);
  j.ncontrol = out->n;
  for (size_t i = 0; i < w->accesses.n; i++)
    j.unknown |= !w->accesses.items[i].known || !w->accesses.items[i].p ||
                 !n->tensors[w->accesses.items[i].tensor].known;
  j.unknown |= w->lost;
  for (size_t i = 0; i < w->accesses.n; i++) {
    oblige_bounds(&j, &w->accesses.items[i]);
    oblige_lanes(&j, &w->accesses.items[i]);
    oblige_apart(&j, &w->accesses.items[i]);
  }
  for (size_t i = 0; i < w->claims.n; i++)
    oblige_claim(&j, &w->claims.items[i]);
  oblige_tensors(&j);
  for (size_t i = 0; i < w->endless.n; i++)
    item_new(&j, TK_DUTY_END, w->endless.items[i].func,
             w->endless.items[i].span, "statement")
        ->reason = w->endless.items[i].why;
}
