/* form.c - formulas over polynomials, and putting other terms in place of
 * atoms. */
#include "prove/term.h"

#include <inttypes.h>

static const tkq_form truth = {.kind = TKQ_TRUE};
static const tkq_form falsity = {.kind = TKQ_FALSE};
static const tkq_form perhaps = {.kind = TKQ_MAYBE};

const tkq_form *tkq_true(void) {
  return &truth;
}
const tkq_form *tkq_false(void) {
  return &falsity;
}
const tkq_form *tkq_maybe(void) {
  return &perhaps;
}

static const tkq_form *form_new(tkq_terms *t, tkq_form_kind kind,
                                const tkq_poly *p, const tkq_form *a,
                                const tkq_form *b) {
  tkq_form *f = TK_NEW(t->arena, tkq_form);
  *f = (tkq_form){kind, p, a, b};
  return f;
}

static const tkq_form *ge0(tkq_terms *t, const tkq_poly *p) {
  int64_t c;
  if (!p) return tkq_maybe();
  if (tkq_is_const(p, &c)) return c >= 0 ? tkq_true() : tkq_false();
  return form_new(t, TKQ_GE, p, NULL, NULL);
}

const tkq_form *tkq_ge(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  return ge0(t, tkq_sub(t, a, b));
}

const tkq_form *tkq_lt(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  return ge0(t, tkq_plus(t, tkq_sub(t, b, a), -1));
}

const tkq_form *tkq_eq(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  const tkq_poly *p = tkq_sub(t, a, b);
  int64_t c;
  if (!p) return tkq_maybe();
  if (tkq_is_const(p, &c)) return c == 0 ? tkq_true() : tkq_false();
  return form_new(t, TKQ_EQ, p, NULL, NULL);
}

const tkq_form *tkq_and(tkq_terms *t, const tkq_form *a, const tkq_form *b) {
  if (a->kind == TKQ_FALSE || b->kind == TKQ_FALSE) return tkq_false();
  if (a->kind == TKQ_TRUE) return b;
  if (b->kind == TKQ_TRUE || a == b) return a;
  return form_new(t, TKQ_AND, NULL, a, b);
}

const tkq_form *tkq_or(tkq_terms *t, const tkq_form *a, const tkq_form *b) {
  if (a->kind == TKQ_TRUE || b->kind == TKQ_TRUE) return tkq_true();
  if (a->kind == TKQ_FALSE) return b;
  if (b->kind == TKQ_FALSE || a == b) return a;
  return form_new(t, TKQ_OR, NULL, a, b);
}

const tkq_form *tkq_not(tkq_terms *t, const tkq_form *f) {
  const tkq_poly *zero = tkq_const(t, 0);
  switch (f->kind) {
  case TKQ_TRUE: return tkq_false();
  case TKQ_FALSE: return tkq_true();
  case TKQ_GE: return tkq_lt(t, f->p, zero);
  case TKQ_EQ: return tkq_or(t, tkq_lt(t, f->p, zero), tkq_lt(t, zero, f->p));
  case TKQ_AND: return tkq_or(t, tkq_not(t, f->a), tkq_not(t, f->b));
  case TKQ_OR: return tkq_and(t, tkq_not(t, f->a), tkq_not(t, f->b));
  case TKQ_MAYBE: break;
  }
  return tkq_maybe();
}

/* ---- substitution -------------------------------------------------------- */

/* An atom with its arguments replaced. */
static const tkq_poly *atom_again(tkq_terms *t, int atom, const tkq_subst *s) {
  tkq_atom a = t->atoms.items[atom];
  bool lost = false;
  for (int i = 0; i < TKQ_AXES; i++)
    if (a.arg[i]) lost |= !(a.arg[i] = tkq_replace(t, a.arg[i], s));
  if (lost) return NULL;
  if (a.kind == TKQ_DIV) return tkq_div(t, a.arg[0], a.arg[1]);
  if (a.kind == TKQ_REM) return tkq_rem(t, a.arg[0], a.arg[1]);
  if (a.kind == TKQ_MIN) return tkq_min(t, a.arg[0], a.arg[1]);
  if (a.kind == TKQ_MAX) return tkq_max(t, a.arg[0], a.arg[1]);
  if (a.kind == TKQ_POWER) return tkq_power(t, a.arg[0]);
  if (a.kind != TKQ_SELECT) return tkq_atom_poly(t, &a);
  return tkq_select(t, tkq_replace_form(t, a.when, s), a.arg[0], a.arg[1]);
}

const tkq_poly *tkq_replace(tkq_terms *t, const tkq_poly *p,
                            const tkq_subst *s) {
  const tkq_poly *sum = p ? tkq_const(t, 0) : NULL;
  for (size_t i = 0; p && i < p->n && sum; i++) {
    const tkq_poly *term = tkq_const(t, p->m[i].c);
    for (int k = 0; k < p->m[i].deg && term; k++) {
      int atom = p->m[i].atoms[k];
      const tkq_poly *x = s->of(t, s->ud, atom);
      term = tkq_mul(t, term, x ? x : atom_again(t, atom, s));
    }
    sum = tkq_add(t, sum, term);
  }
  return sum;
}

const tkq_form *tkq_replace_form(tkq_terms *t, const tkq_form *f,
                                 const tkq_subst *s) {
  const tkq_poly *zero = tkq_const(t, 0);
  switch (f->kind) {
  case TKQ_GE: return tkq_ge(t, tkq_replace(t, f->p, s), zero);
  case TKQ_EQ: return tkq_eq(t, tkq_replace(t, f->p, s), zero);
  case TKQ_AND:
    return tkq_and(t, tkq_replace_form(t, f->a, s),
                   tkq_replace_form(t, f->b, s));
  case TKQ_OR:
    return tkq_or(t, tkq_replace_form(t, f->a, s),
                  tkq_replace_form(t, f->b, s));
  case TKQ_TRUE:
  case TKQ_FALSE:
  case TKQ_MAYBE: break;
  }
  return f;
}

/* ---- looking for atoms --------------------------------------------------- */

static bool atom_has(const tkq_terms *t, int atom,
                     bool (*is)(const tkq_terms *t, int atom, void *ud),
                     void *ud) {
  const tkq_atom *a = &t->atoms.items[atom];
  if (is(t, atom, ud)) return true;
  for (int i = 0; i < TKQ_AXES; i++)
    if (a->arg[i] && tkq_has(t, a->arg[i], is, ud)) return true;
  return a->when && tkq_form_has(t, a->when, is, ud);
}

bool tkq_has(const tkq_terms *t, const tkq_poly *p,
             bool (*is)(const tkq_terms *t, int atom, void *ud), void *ud) {
  for (size_t i = 0; i < p->n; i++)
    for (int k = 0; k < p->m[i].deg; k++)
      if (atom_has(t, p->m[i].atoms[k], is, ud)) return true;
  return false;
}

bool tkq_form_has(const tkq_terms *t, const tkq_form *f,
                  bool (*is)(const tkq_terms *t, int atom, void *ud),
                  void *ud) {
  if (f->p && tkq_has(t, f->p, is, ud)) return true;
  return (f->a && tkq_form_has(t, f->a, is, ud)) ||
         (f->b && tkq_form_has(t, f->b, is, ud));
}

/* ---- text ---------------------------------------------------------------- */

static void put_atom(tk_buf *out, const tkq_terms *t, const tkq_atom *a) {
  static const char *const names[] = {[TKQ_MIN] = "min",
                                      [TKQ_MAX] = "max",
                                      [TKQ_POWER] = "next_power_of_2",
                                      [TKQ_SELECT] = "where"};
  if (a->kind == TKQ_LANE || a->kind == TKQ_PID) {
    tk_buf_printf(out, "%s_%d", a->name, a->number);
  } else if (a->kind < TKQ_DIV) {
    tk_buf_puts(out, a->name);
  } else if (a->kind == TKQ_DIV || a->kind == TKQ_REM) {
    tk_buf_putc(out, '(');
    tkq_put(out, t, a->arg[0]);
    tk_buf_puts(out, a->kind == TKQ_DIV ? ") // (" : ") % (");
    tkq_put(out, t, a->arg[1]);
    tk_buf_putc(out, ')');
  } else {
    tk_buf_printf(out, "%s(%s", names[a->kind], a->when ? "..., " : "");
    tkq_put(out, t, a->arg[0]);
    if (a->kind != TKQ_POWER) {
      tk_buf_puts(out, ", ");
      tkq_put(out, t, a->arg[1]);
    }
    tk_buf_putc(out, ')');
  }
}

static void put_mono(tk_buf *out, const tkq_terms *t, const tkq_mono *m,
                     bool first) {
  uint64_t c = m->c < 0 ? 0 - (uint64_t)m->c : (uint64_t)m->c;
  if (m->c < 0) tk_buf_puts(out, first ? "-" : " - ");
  if (m->c > 0 && !first) tk_buf_puts(out, " + ");
  if (c != 1 || !m->deg) tk_buf_printf(out, "%" PRIu64, c);
  for (int k = 0; k < m->deg; k++) {
    if (k || c != 1) tk_buf_puts(out, " * ");
    put_atom(out, t, &t->atoms.items[m->atoms[k]]);
  }
}

void tkq_put(tk_buf *out, const tkq_terms *t, const tkq_poly *p) {
  if (!p->n) tk_buf_putc(out, '0');
  for (size_t i = p->n; i-- > 0;) put_mono(out, t, &p->m[i], i + 1 == p->n);
}
