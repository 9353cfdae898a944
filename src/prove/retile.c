/* retile.c - programs in a flat or a grouped order of tiles.
 *
 * With P * Q programs, pid // Q and pid % Q are a row and a column of tiles:
 * each pair comes up once.  So it is with the grouped order that Triton's
 * tutorial of matrix products has: groups of c rows, in which programs go down
 * the rows first.  The row and the column are put in place of the quotients and
 * remainders that give them, which then are linear; that no two programs have
 * the same pair is said beside.
 *
 * The same holds of any number below P * Q, such as the counter of a loop over
 * tiles, or what is left of a program's number when the batch is taken out. */
#include "prove/retile.h"

/* What tiles are counted by: an axis of P * Q programs, two of P and Q, or
 * another number, one of `orders` of the terms. */
typedef struct retile_count {
  const tkq_poly *rows, *columns; /* P, Q */
  int64_t group;                  /* the divisor is that many times Q */
  int axis[2];                    /* of the grid; -1: there is none */
  int order;                      /* -1: programs */
  bool turned; /* each group begins with another one of its rows */
  int copy;
} retile_count;

enum { FIRST_ORDER = 64 }; /* numbers of atoms from there on are of orders */

/* ---- what a divisor is --------------------------------------------------- */

/* p = c * (a product of atoms) with c above 0: then that product. */
static const tkq_poly *scaled_product(tkq_terms *t, const tkq_poly *p,
                                      int64_t *c) {
  if (p->n != 1 || !p->m[0].deg || p->m[0].c < 1) return NULL;
  tkq_mono *m = TK_NEW(t->arena, tkq_mono);
  tkq_poly *product = TK_NEW(t->arena, tkq_poly);
  *m = p->m[0];
  *c = m->c;
  m->c = 1;
  *product = (tkq_poly){1, m};
  return product;
}

/* p / (a product of atoms); NULL: it does not divide each term. */
static const tkq_poly *divided_by(tkq_terms *t, const tkq_poly *p,
                                  const tkq_poly *product) {
  for (int i = 0; p && i < product->m[0].deg; i++)
    p = tkq_divided(t, p, product->m[0].atoms[i]);
  return p;
}

/* Of Q * pid_i + pid_j, where there are Q programs along j: both axes. */
static bool two_axes(tkq_terms *t, const tkq_poly *p, const tkq_poly *columns,
                     retile_count *c) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (c->copy = 0; c->copy < 2; c->copy++) {
        if (i == j || !tkq_same(t->grid[j], columns)) continue;
        tkq_atom a = {.kind = TKQ_PID, .number = i, .name = "pid"}, b = a;
        a.copy = b.copy = c->copy;
        b.number = j;
        const tkq_poly *sum = tkq_add(
            t, tkq_mul(t, columns, tkq_atom_poly(t, &a)), tkq_atom_poly(t, &b));
        if (!tkq_same(sum, p)) continue;
        c->axis[0] = i;
        c->axis[1] = j;
        c->rows = t->grid[i];
        return true;
      }
  return false;
}

/* The number of an order of tiles. */
static int tile_order(tkq_terms *t, const tkq_poly *p) {
  for (size_t i = 0; i < t->orders.n; i++)
    if (tkq_same(t->orders.items[i], p)) return (int)i;
  TK_PUSH(t->lasting, &t->orders, p);
  return (int)t->orders.n - 1;
}

/* The rows of so many columns that p is known to be below, by a condition of
 * the formula; NULL: there is none. */
static const tkq_poly *rows_below(tkq_terms *t, const tkq_form *f,
                                  const tkq_poly *p, const tkq_poly *columns) {
  if (f->kind == TKQ_AND) {
    const tkq_poly *rows = rows_below(t, f->a, p, columns);
    return rows ? rows : rows_below(t, f->b, p, columns);
  }
  if (f->kind != TKQ_GE) return NULL;
  const tkq_poly *end = tkq_add(t, tkq_plus(t, f->p, 1), p);
  for (size_t i = 0; end && i < end->n; i++) /* fewer than all are below too */
    if (!end->m[i].deg && end->m[i].c < 0) {
      end = tkq_plus(t, end, -end->m[i].c);
      break;
    }
  return end && end->n ? divided_by(t, end, columns) : NULL;
}

static bool is_other_copy(const tkq_terms *t, int atom, void *ud) {
  (void)ud;
  return t->atoms.items[atom].copy == 1;
}

/* Whether p is a number below that of all tiles. */
static bool orders_tiles(tkq_terms *t, const tkq_form *whole, const tkq_poly *p,
                         retile_count *c) {
  const tkq_atom *a = tkq_single(t, p);
  c->axis[0] = c->axis[1] = -1;
  if (tkq_low(t, p) < 0) return false;
  if (a && a->kind == TKQ_REM)
    c->rows = divided_by(t, a->arg[1], c->columns);
  else
    c->rows = rows_below(t, whole, p, c->columns);
  if (!c->rows || tkq_low(t, c->rows) < 1) return false;
  c->order = tile_order(t, p);
  c->copy = tkq_has(t, p, is_other_copy, NULL);
  return true;
}

/* Whether p counts all tiles, and b is a number times their columns; `whole`
 * is a formula that holds where they are counted. */
static bool counts(tkq_terms *t, const tkq_form *whole, const tkq_poly *p,
                   const tkq_poly *b, retile_count *c) {
  const tkq_atom *pid = tkq_single(t, p);
  *c = (retile_count){.axis = {-1, -1}, .order = -1};
  c->columns = scaled_product(t, b, &c->group);
  if (!c->columns || tkq_low(t, c->columns) < 1) return false;
  if (pid && pid->kind == TKQ_PID) {
    c->axis[0] = pid->number;
    c->copy = pid->copy;
    c->rows = divided_by(t, t->grid[pid->number], c->columns);
    if (c->rows) return true;
  } else if (two_axes(t, p, c->columns, c)) {
    return true;
  }
  return orders_tiles(t, whole, p, c);
}

/* ---- rows and columns ---------------------------------------------------- */

static const tkq_poly *tile(tkq_terms *t, const retile_count *c, int which) {
  tkq_atom a = {.kind = TKQ_TILE,
                .number = 8 * c->axis[0] + 2 * (c->axis[1] + 1) + which,
                .copy = c->copy,
                .name = which ? "column" : "row"};
  if (c->order >= 0) a.number = FIRST_ORDER + 2 * c->order + which;
  if (c->order >= 0) a.arg[4] = c->rows;
  a.arg[0] = which ? c->columns : c->rows;
  /* Another order has rows and columns of its own. */
  a.arg[1] = tkq_const(t, c->group);
  a.arg[2] = c->columns;
  if (c->turned && !which) a.arg[3] = tkq_const(t, 1);
  return tkq_atom_poly(t, &a);
}

/* The group of a row, whichever row its group begins with. */
static const tkq_poly *group_of(tkq_terms *t, const retile_count *c) {
  retile_count plain = *c;
  plain.turned = false;
  return tkq_div(t, tile(t, &plain, 0), tkq_const(t, c->group));
}

/* Whether b is min(P - c * group, c), the rows of a group: `group` is the
 * quotient of pid. */
static bool is_height(tkq_terms *t, const tkq_poly *b, const retile_count *c,
                      const tkq_poly *group) {
  const tkq_atom *m = tkq_single(t, b);
  int64_t most;
  if (!m || m->kind != TKQ_MIN) return false;
  const tkq_poly *x = m->arg[0], *y = m->arg[1];
  if (tkq_is_const(x, &most)) {
    x = y;
    y = m->arg[0];
  }
  const tkq_poly *left =
      tkq_sub(t, c->rows, tkq_mul(t, tkq_const(t, c->group), group));
  return tkq_is_const(y, &most) && most == c->group && tkq_same(x, left);
}

/* The row within its group. */
static const tkq_poly *row_in_group(tkq_terms *t, const retile_count *c) {
  const tkq_poly *first = tkq_mul(t, tkq_const(t, c->group), group_of(t, c));
  return tkq_sub(t, tile(t, c, 0), first);
}

/* Of p % height, where p is not what is left of the group: then a group begins
 * with another row, and goes through all of them alike. */
static const tkq_poly *turned_row(tkq_terms *t, const tkq_form *whole,
                                  const tkq_atom *a, retile_count *c) {
  tkq_atom m = {.kind = TKQ_SIZE};
  const tkq_atom *height = tkq_single(t, a->arg[1]);
  if (a->kind != TKQ_REM || !height || height->kind != TKQ_MIN) return NULL;
  m = *height;
  for (int i = 0; i < 2; i++)
    for (size_t k = 0; k < m.arg[i]->n; k++) {
      const tkq_mono *x = &m.arg[i]->m[k];
      tkq_atom q = t->atoms.items[x->deg == 1 ? x->atoms[0] : 0];
      if (x->deg != 1 || q.kind != TKQ_DIV || !tkq_same(q.arg[0], a->arg[0]))
        continue;
      const tkq_poly *group = tkq_atom_poly(t, &q);
      c->turned = counts(t, whole, q.arg[0], q.arg[1], c) && c->group > 1 &&
                  is_height(t, a->arg[1], c, group);
      if (c->turned) return row_in_group(t, c);
    }
  return NULL;
}

/* The row or the column in place of a quotient or a remainder. */
static const tkq_poly *row_or_column(tkq_terms *t, const tkq_form *whole,
                                     const tkq_atom *a, retile_count *c) {
  bool column = a->kind == TKQ_REM;
  if (counts(t, whole, a->arg[0], a->arg[1], c)) {
    if (c->group == 1) return tile(t, c, column);
    return column ? NULL : group_of(t, c);
  }
  const tkq_atom *r = tkq_single(t, a->arg[0]);
  const tkq_poly *turned = turned_row(t, whole, a, c);
  if (turned || !r || r->kind != TKQ_REM) return turned;
  tkq_atom rest = *r;
  if (!counts(t, whole, rest.arg[0], rest.arg[1], c) || c->group == 1 ||
      !is_height(t, a->arg[1], c, rest.arg[2]))
    return NULL;
  return column ? row_in_group(t, c) : tile(t, c, 1);
}

/* ---- formulas ------------------------------------------------------------ */

typedef struct retile_job {
  const tkq_form *whole;
  TK_VEC(retile_count) met;
} retile_job;

/* Whether both count the same tiles, in one order up to where groups begin. */
static bool same_tiles(tkq_terms *t, const retile_count *a,
                       const retile_count *b) {
  return tkq_same(tile(t, a, 1), tile(t, b, 1));
}

static void retile_meet(tkq_terms *t, retile_job *j, const retile_count *c) {
  for (size_t i = 0; i < j->met.n; i++)
    if (same_tiles(t, &j->met.items[i], c)) {
      j->met.items[i].turned |= c->turned;
      return;
    }
  TK_PUSH(t->lasting, &j->met, *c);
}

static const tkq_poly *retiled(tkq_terms *t, void *ud, int atom) {
  retile_job *j = ud;
  retile_count c;
  tkq_atom a = t->atoms.items[atom];
  if (a.kind != TKQ_DIV && a.kind != TKQ_REM) return NULL;
  const tkq_poly *p = row_or_column(t, j->whole, &a, &c);
  if (p) retile_meet(t, j, &c);
  return p;
}

static const tkq_poly *pid_of(tkq_terms *t, const retile_count *c, int which,
                              int copy) {
  tkq_atom a = {.kind = TKQ_PID, .number = c->axis[which], .name = "pid"};
  a.copy = copy;
  return tkq_atom_poly(t, &a);
}

/* A term of the first of two copies. */
static const tkq_poly *first_copy(tkq_terms *t, void *ud, int atom) {
  tkq_atom a = t->atoms.items[atom];
  if (!a.copy || a.kind >= TKQ_DIV) return NULL;
  a.copy = 0;
  for (int i = 0; i < TKQ_AXES; i++)
    if (a.arg[i])
      a.arg[i] = tkq_replace(t, a.arg[i], &(tkq_subst){first_copy, ud});
  return tkq_atom_poly(t, &a);
}

static bool note_trip(const tkq_terms *t, int atom, void *ud) {
  if (t->atoms.items[atom].kind == TKQ_TRIP) *(int *)ud = atom;
  return false;
}

/* One of both copies of a loop is ahead of the other, or they are at the same
 * trip: said aloud, the solver looks at each case. */
static const tkq_form *trip_cases(tkq_terms *t, const tkq_poly *order) {
  int atom = -1;
  tkq_has(t, order, note_trip, &atom);
  if (atom < 0) return tkq_true();
  tkq_atom a = t->atoms.items[atom];
  const tkq_poly *y = tkq_atom_poly(t, &a);
  const tkq_poly *x = first_copy(t, NULL, atom);
  return tkq_or(t, tkq_eq(t, x, y),
                tkq_or(t, tkq_lt(t, x, y), tkq_lt(t, y, x)));
}

/* That both copies have one place in the order. */
static const tkq_form *same_place(tkq_terms *t, retile_job *j,
                                  const retile_count *x,
                                  const retile_count *y) {
  const tkq_form *same = tkq_true();
  for (int i = 0; i < 2; i++)
    if (y->axis[i] >= 0)
      same =
          tkq_and(t, same, tkq_eq(t, pid_of(t, y, i, 0), pid_of(t, y, i, 1)));
  if (y->order < 0) return same;
  tkq_subst s = {retiled, j};
  const tkq_poly *a = tkq_replace(t, t->orders.items[x->order], &s);
  const tkq_poly *b = tkq_replace(t, t->orders.items[y->order], &s);
  return tkq_and(t, tkq_eq(t, a, b), trip_cases(t, t->orders.items[y->order]));
}

/* The tiles of two copies differ, or they are of one place in the order. */
static const tkq_form *one_to_one(tkq_terms *t, retile_job *j, retile_count y) {
  retile_count x = y;
  const tkq_form *differ = tkq_false();
  x.copy = 0;
  if (y.order >= 0)
    x.order = tile_order(t, tkq_replace(t, t->orders.items[y.order],
                                        &(tkq_subst){first_copy, NULL}));
  for (int i = 0; i < 2; i++)
    differ = tkq_or(t, differ,
                    tkq_not(t, tkq_eq(t, tile(t, &x, i), tile(t, &y, i))));
  return tkq_or(t, differ, same_place(t, j, &x, &y));
}

/* Without a condition that says no more than that rows and columns are some:
 * the product of both would have to be looked at. */
static const tkq_form *without_bounds(tkq_terms *t, const retile_job *j,
                                      const tkq_form *f) {
  if (f->kind == TKQ_AND)
    return tkq_and(t, without_bounds(t, j, f->a), without_bounds(t, j, f->b));
  for (size_t i = 0; f->kind == TKQ_GE && i < j->met.n; i++) {
    const retile_count *c = &j->met.items[i];
    if (c->order < 0) continue;
    const tkq_poly *end = tkq_mul(t, c->rows, c->columns);
    const tkq_poly *p = tkq_sub(t, end, t->orders.items[c->order]);
    if (tkq_same(tkq_plus(t, p, -1), f->p)) return tkq_true();
  }
  return f;
}

const tkq_form *tkq_retiled(tkq_terms *t, const tkq_form *f) {
  retile_job j = {.whole = f};
  tkq_subst s = {retiled, &j};
  tkq_replace_form(t, f, &s); /* what is met */
  if (!j.met.n) return NULL;
  const tkq_form *g = tkq_replace_form(t, without_bounds(t, &j, f), &s);
  for (size_t i = 0; i < j.met.n; i++)
    if (j.met.items[i].copy)
      g = tkq_and(t, g, one_to_one(t, &j, j.met.items[i]));
  return g;
}

const tkq_poly *tkq_retiled_poly(tkq_terms *t, const tkq_poly *p,
                                 const tkq_form *whole) {
  retile_job j = {.whole = whole};
  return tkq_replace(t, p, &(tkq_subst){retiled, &j});
}

/* ---- what is left of a program ------------------------------------------- */

typedef struct retile_left {
  tkq_terms *terms;
  const tkq_atom *of[3]; /* a row or column, by axis of the grid */
  TK_VEC(int) orders;    /* tiles that are counted by other numbers */
  bool mixed;
} retile_left;

/* Whether both are of one order of the same tiles. */
static bool goes_with(const tkq_atom *a, const tkq_atom *b) {
  bool rows = a->number == b->number && !(a->number & 1);
  return a->number / 2 == b->number / 2 && tkq_same(a->arg[1], b->arg[1]) &&
         tkq_same(a->arg[2], b->arg[2]) && (!rows || !a->arg[3] == !b->arg[3]);
}

static void note_axis(retile_left *l, int axis, const tkq_atom *a) {
  const tkq_atom *b = l->of[axis];
  if (!b || (b->number & 1)) l->of[axis] = a;
  if (b) l->mixed |= !goes_with(a, b);
}

static bool note_tile(const tkq_terms *t, int atom, void *ud) {
  retile_left *l = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_TILE) return false;
  if (a->number >= FIRST_ORDER) {
    TK_PUSH(l->terms->arena, &l->orders, atom);
    return false;
  }
  note_axis(l, a->number / 8, a);
  if (a->number % 8 >= 2) note_axis(l, a->number % 8 / 2 - 1, a);
  return false;
}

/* The axis of the grid that p = pid + trip * S goes over in steps of all
 * programs, up to `end`; -1: it is not such.  *trip: that loop. */
static int strided_axis(tkq_terms *t, const tkq_poly *p, const tkq_poly *end,
                        int *trip) {
  *trip = -1;
  tkq_has(t, p, note_trip, trip);
  for (int i = 0; i < 3 && *trip >= 0; i++) {
    tkq_atom a = {.kind = TKQ_PID, .number = i, .name = "pid"};
    const tkq_poly *rest = tkq_sub(t, p, tkq_atom_poly(t, &a));
    const tkq_poly *step = rest && rest->n ? tkq_divided(t, rest, *trip) : NULL;
    if (!step) continue;
    const tkq_atom *least = tkq_single(t, t->grid[i]);
    if (tkq_same(step, t->grid[i])) return i;
    if (!least || least->kind != TKQ_MIN) continue;
    const tkq_poly *x = least->arg[0], *y = least->arg[1];
    if ((tkq_same(x, step) && tkq_same(y, end)) ||
        (tkq_same(y, step) && tkq_same(x, end)))
      return i;
  }
  return -1;
}

static bool is_atom(const tkq_terms *t, int atom, void *ud) {
  (void)t;
  return atom == *(int *)ud;
}

/* What another one's columns are numbered by: those of programs, all of which
 * come up; NULL: it is not such. */
static const tkq_atom *outer_column(tkq_terms *t, const tkq_form *f,
                                    const tkq_poly *p, int *atom) {
  const tkq_poly *outer = tkq_retiled_poly(t, p, f);
  const tkq_atom *a = outer ? tkq_single(t, outer) : NULL;
  bool column =
      a && a->kind == TKQ_TILE && (a->number & 1) && a->number < FIRST_ORDER;
  if (!column) return NULL;
  *atom = outer->m[0].atoms[0];
  return a;
}

/* Takes note of what an order of tiles stands for; l->mixed: not all of its
 * numbers come up, or it is used in another way as well. */
static void note_order(retile_left *l, const tkq_form *f, int atom) {
  tkq_terms *t = l->terms;
  tkq_atom a = t->atoms.items[atom];
  const tkq_poly *p = t->orders.items[(a.number - FIRST_ORDER) / 2];
  for (size_t i = 0; i < l->orders.n; i++) {
    const tkq_atom *b = &t->atoms.items[l->orders.items[i]];
    l->mixed |= a.number / 2 == b->number / 2 && !goes_with(&a, b);
  }
  int own;
  const tkq_atom *column = outer_column(t, f, p, &own);
  int axis = column ? column->number / 8
                    : strided_axis(t, p, tkq_mul(t, a.arg[4], a.arg[2]), &own);
  l->mixed |= axis < 0 || tkq_form_has(t, f, is_atom, &own);
  if (axis < 0) return;
  if (column && column->number % 8 >= 2)
    l->mixed = true;
  else
    note_axis(l, axis, column ? column : &t->atoms.items[atom]);
}

static bool is_pid_of(const tkq_terms *t, int atom, void *ud) {
  const retile_left *l = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_PID && l->of[a->number];
}

bool tkq_is_mixed(tkq_terms *t, const tkq_form *f) {
  retile_left l = {.terms = t};
  tkq_form_has(t, f, note_tile, &l);
  for (size_t i = 0; i < l.orders.n; i++) note_order(&l, f, l.orders.items[i]);
  return l.mixed || tkq_form_has(t, f, is_pid_of, &l);
}
