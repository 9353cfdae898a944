/* term.c - polynomials over atoms: making them, adding and multiplying. */
#include "prove/term.h"

#include <string.h>

/* ---- monomials ----------------------------------------------------------- */

static int mono_order(const tkq_mono *a, const tkq_mono *b) {
  if (a->deg != b->deg) return a->deg < b->deg ? -1 : 1;
  for (int i = 0; i < a->deg; i++)
    if (a->atoms[i] != b->atoms[i]) return a->atoms[i] < b->atoms[i] ? -1 : 1;
  return 0;
}

static bool mono_mul(const tkq_mono *a, const tkq_mono *b, tkq_mono *out) {
  if (a->deg + b->deg > TKQ_DEGREE) return false;
  if (__builtin_mul_overflow(a->c, b->c, &out->c)) return false;
  int i = 0, j = 0, n = 0;
  while (i < a->deg || j < b->deg) {
    bool left = j == b->deg || (i < a->deg && a->atoms[i] <= b->atoms[j]);
    out->atoms[n++] = left ? a->atoms[i++] : b->atoms[j++];
  }
  out->deg = n;
  return true;
}

static const tkq_poly *poly_of(tkq_terms *t, const tkq_mono *m, size_t n) {
  tkq_poly *p = TK_NEW(t->arena, tkq_poly);
  *p = (tkq_poly){n, m};
  return p;
}

/* ---- sums and products --------------------------------------------------- */

/* a + c * b, both in order. */
static const tkq_poly *merge(tkq_terms *t, const tkq_poly *a, const tkq_poly *b,
                             int64_t c) {
  if (!a || !b) return NULL;
  tkq_mono *m = TK_NEWN(t->arena, tkq_mono, a->n + b->n);
  size_t i = 0, j = 0, n = 0;
  while (i < a->n || j < b->n) {
    int order = i == a->n ? 1 : j == b->n ? -1 : mono_order(&a->m[i], &b->m[j]);
    int64_t add = 0;
    m[n] = order <= 0 ? a->m[i] : b->m[j];
    if (order > 0) m[n].c = 0;
    if (order >= 0 && (__builtin_mul_overflow(b->m[j].c, c, &add) ||
                       __builtin_add_overflow(m[n].c, add, &m[n].c)))
      return NULL;
    i += order <= 0;
    j += order >= 0;
    n += m[n].c != 0;
  }
  return poly_of(t, m, n);
}

const tkq_poly *tkq_add(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  return merge(t, a, b, 1);
}

const tkq_poly *tkq_sub(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  return merge(t, a, b, -1);
}

const tkq_poly *tkq_mul(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  if (!a || !b) return NULL;
  const tkq_poly *sum = tkq_const(t, 0);
  for (size_t i = 0; i < a->n && sum; i++) {
    tkq_mono *row = TK_NEWN(t->arena, tkq_mono, b->n);
    for (size_t j = 0; j < b->n; j++)
      if (!mono_mul(&a->m[i], &b->m[j], &row[j])) return NULL;
    /* One monomial after the other: multiplying need not keep their order. */
    for (size_t j = 0; j < b->n && sum; j++)
      sum = merge(t, sum, poly_of(t, &row[j], 1), 1);
  }
  return sum;
}

const tkq_poly *tkq_const(tkq_terms *t, int64_t c) {
  tkq_mono *m = TK_NEW(t->arena, tkq_mono);
  m->c = c;
  return poly_of(t, m, c != 0);
}

const tkq_poly *tkq_plus(tkq_terms *t, const tkq_poly *a, int64_t c) {
  return tkq_add(t, a, tkq_const(t, c));
}

bool tkq_is_const(const tkq_poly *p, int64_t *c) {
  if (!p || p->n > 1 || (p->n && p->m[0].deg)) return false;
  *c = p->n ? p->m[0].c : 0;
  return true;
}

bool tkq_same(const tkq_poly *a, const tkq_poly *b) {
  if (a == b) return true;
  if (!a || !b || a->n != b->n) return false;
  for (size_t i = 0; i < a->n; i++)
    if (a->m[i].c != b->m[i].c || mono_order(&a->m[i], &b->m[i])) return false;
  return true;
}

/* ---- atoms --------------------------------------------------------------- */

static bool same_atom(const tkq_atom *a, const tkq_atom *b) {
  if (a->kind != b->kind || a->number != b->number || a->copy != b->copy ||
      a->when != b->when)
    return false;
  for (int i = 0; i < TKQ_AXES; i++)
    if (!tkq_same(a->arg[i], b->arg[i])) return false;
  return true;
}

const tkq_poly *tkq_atom_poly(tkq_terms *t, const tkq_atom *a) {
  size_t i = 0;
  while (i < t->atoms.n && !same_atom(&t->atoms.items[i], a)) i++;
  if (i == t->atoms.n) TK_PUSH(t->lasting, &t->atoms, *a);
  tkq_mono *m = TK_NEW(t->arena, tkq_mono);
  *m = (tkq_mono){.c = 1, .deg = 1, .atoms = {(int)i}};
  return poly_of(t, m, 1);
}

const tkq_poly *tkq_lane(tkq_terms *t, int axis) {
  return tkq_atom_poly(
      t, &(tkq_atom){.kind = TKQ_LANE, .number = axis, .name = "lane"});
}

const tkq_poly *tkq_datum(tkq_terms *t, int rank, int64_t lo, int64_t hi,
                          const char *why) {
  tkq_atom a = {
      .kind = TKQ_DATA, .number = t->data++, .name = why, .lo = lo, .hi = hi};
  for (int i = 0; i < rank && i < TKQ_AXES; i++) a.arg[i] = tkq_lane(t, i);
  return tkq_atom_poly(t, &a);
}

static const tkq_poly *pair(tkq_terms *t, tkq_atom_kind kind, const tkq_poly *a,
                            const tkq_poly *b) {
  if (!a || !b) return NULL;
  return tkq_atom_poly(t, &(tkq_atom){.kind = kind, .arg = {a, b}});
}

/* a / c where c divides every coefficient; else NULL. */
static const tkq_poly *exact(tkq_terms *t, const tkq_poly *a, int64_t c) {
  tkq_mono *m = TK_NEWN(t->arena, tkq_mono, a->n ? a->n : 1);
  for (size_t i = 0; i < a->n; i++) {
    if (a->m[i].c % c) return NULL;
    m[i] = a->m[i];
    m[i].c /= c;
  }
  return poly_of(t, m, a->n);
}

const tkq_poly *tkq_div(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  int64_t x, y;
  if (!a || !b) return NULL;
  if (tkq_is_const(b, &y) && y > 0) {
    if (tkq_is_const(a, &x)) return tkq_const(t, x / y);
    const tkq_poly *q = exact(t, a, y);
    if (q) return q;
  }
  return pair(t, TKQ_DIV, a, b);
}

const tkq_poly *tkq_rem(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  int64_t c;
  const tkq_poly *q = tkq_div(t, a, b);
  if (!q) return NULL;
  if (tkq_is_const(b, &c)) return tkq_sub(t, a, tkq_mul(t, q, b));
  if (tkq_same(tkq_mul(t, q, b), a)) return tkq_const(t, 0);
  return tkq_atom_poly(t, &(tkq_atom){.kind = TKQ_REM, .arg = {a, b, q}});
}

const tkq_poly *tkq_min(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  int64_t x, y;
  if (tkq_is_const(a, &x) && tkq_is_const(b, &y)) return x < y ? a : b;
  return tkq_same(a, b) ? a : pair(t, TKQ_MIN, a, b);
}

const tkq_poly *tkq_power(tkq_terms *t, const tkq_poly *a) {
  int64_t c, power = 1;
  if (!tkq_is_const(a, &c) || c > (int64_t)1 << 40)
    return pair(t, TKQ_POWER, a, tkq_const(t, 0));
  while (power < c) power *= 2;
  return tkq_const(t, power);
}

const tkq_poly *tkq_max(tkq_terms *t, const tkq_poly *a, const tkq_poly *b) {
  int64_t x, y;
  if (tkq_is_const(a, &x) && tkq_is_const(b, &y)) return x > y ? a : b;
  return tkq_same(a, b) ? a : pair(t, TKQ_MAX, a, b);
}

/* ---- what is known without a solver -------------------------------------- */

int64_t tkq_atom_low(const tkq_terms *t, int atom) {
  const tkq_atom *a = &t->atoms.items[atom];
  int64_t x = 0, y = 0, c;
  if (a->kind == TKQ_SIZE || a->kind == TKQ_DATA) return a->lo;
  if (a->kind == TKQ_PID || a->kind == TKQ_LANE || a->kind == TKQ_TRIP ||
      a->kind == TKQ_TILE)
    return 0;
  x = tkq_low(t, a->arg[0]);
  if (a->kind == TKQ_REM) return x >= 0 ? 0 : INT64_MIN;
  if (a->kind == TKQ_POWER) return x > 1 ? x : 1;
  y = tkq_low(t, a->arg[1]);
  if (a->kind == TKQ_MAX) return x > y ? x : y;
  if (a->kind != TKQ_DIV) return x < y ? x : y;
  if (x >= 0 && tkq_is_const(a->arg[1], &c) && c > 0) return x / c;
  return x >= 0 && y >= 1 ? 0 : INT64_MIN;
}

const tkq_atom *tkq_single(const tkq_terms *t, const tkq_poly *p) {
  bool one = p->n == 1 && p->m[0].deg == 1 && p->m[0].c == 1;
  return one ? &t->atoms.items[p->m[0].atoms[0]] : NULL;
}

const tkq_poly *tkq_divided(tkq_terms *t, const tkq_poly *p, int atom) {
  const tkq_poly *q = tkq_const(t, 0);
  for (size_t i = 0; i < p->n; i++) {
    tkq_mono *rest = TK_NEW(t->arena, tkq_mono);
    bool met = false;
    rest->c = p->m[i].c;
    for (int k = 0; k < p->m[i].deg; k++)
      if (!met && p->m[i].atoms[k] == atom)
        met = true;
      else
        rest->atoms[rest->deg++] = p->m[i].atoms[k];
    if (!met) return NULL;
    q = tkq_add(t, q, &(tkq_poly){1, rest});
  }
  return q;
}

int64_t tkq_low(const tkq_terms *t, const tkq_poly *p) {
  int64_t sum = 0;
  for (size_t i = 0; i < p->n; i++) {
    int64_t term = p->m[i].c;
    if (term < 0 && p->m[i].deg) return INT64_MIN;
    for (int k = 0; k < p->m[i].deg; k++) {
      int64_t low = tkq_atom_low(t, p->m[i].atoms[k]);
      if (low < 0 || __builtin_mul_overflow(term, low, &term)) return INT64_MIN;
    }
    if (__builtin_add_overflow(sum, term, &sum)) return INT64_MIN;
  }
  return sum;
}

bool tkq_is_sure(const tkq_form *f) {
  if (f->kind == TKQ_AND || f->kind == TKQ_OR)
    return tkq_is_sure(f->a) && tkq_is_sure(f->b);
  return f->kind != TKQ_MAYBE;
}

const tkq_poly *tkq_select(tkq_terms *t, const tkq_form *when,
                           const tkq_poly *a, const tkq_poly *b) {
  if (!a || !b || tkq_same(a, b)) return a && b ? a : NULL;
  if (when->kind == TKQ_TRUE) return a;
  if (when->kind == TKQ_GE && tkq_low(t, when->p) >= 0) return a;
  if (when->kind == TKQ_FALSE) return b;
  if (!tkq_is_sure(when)) return NULL;
  return tkq_atom_poly(
      t, &(tkq_atom){.kind = TKQ_SELECT, .arg = {a, b}, .when = when});
}
