/* retile.c - programs in a flat or a grouped order of tiles.
 *
 * With P * Q programs, pid // Q and pid % Q are a row and a column of tiles:
 * each pair comes up once.  So it is with the grouped order that Triton's
 * tutorial of matrix products has: groups of c rows, in which programs go down
 * the rows first.  The row and the column are put in place of the quotients and
 * remainders that give them, which then are linear; that no two programs have
 * the same pair is said beside. */
#include "prove/retile.h"

/* What programs are counted by: one axis of P * Q, or two of P and Q. */
typedef struct retile_count {
  const tkq_poly *rows, *columns; /* P, Q */
  int64_t group;                  /* the divisor is that many times Q */
  int axis[2];                    /* of the grid; -1: there is no second */
  int copy;
} retile_count;

/* ---- what a divisor is --------------------------------------------------- */

/* p = c * (an atom) with c above 0: then that atom. */
static const tkq_poly *scaled_atom(tkq_terms *t, const tkq_poly *p,
                                   int64_t *c) {
  if (p->n != 1 || p->m[0].deg != 1 || p->m[0].c < 1) return NULL;
  tkq_mono *m = TK_NEW(t->arena, tkq_mono);
  tkq_poly *atom = TK_NEW(t->arena, tkq_poly);
  *m = p->m[0];
  *c = m->c;
  m->c = 1;
  *atom = (tkq_poly){1, m};
  return atom;
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

/* Whether p counts all programs, and b is a number times the columns of their
 * tiles. */
static bool counts(tkq_terms *t, const tkq_poly *p, const tkq_poly *b,
                   retile_count *c) {
  const tkq_atom *pid = tkq_single(t, p);
  *c = (retile_count){.axis = {-1, -1}};
  c->columns = scaled_atom(t, b, &c->group);
  if (!c->columns || tkq_low(t, c->columns) < 1) return false;
  if (!pid || pid->kind != TKQ_PID) return two_axes(t, p, c->columns, c);
  c->axis[0] = pid->number;
  c->copy = pid->copy;
  c->rows = tkq_divided(t, t->grid[pid->number], c->columns->m[0].atoms[0]);
  return c->rows != NULL;
}

/* ---- rows and columns ---------------------------------------------------- */

static const tkq_poly *tile(tkq_terms *t, const retile_count *c, int which) {
  tkq_atom a = {.kind = TKQ_TILE,
                .number = 8 * c->axis[0] + 2 * (c->axis[1] + 1) + which,
                .copy = c->copy,
                .name = which ? "column" : "row"};
  a.arg[0] = which ? c->columns : c->rows;
  /* Another order has rows and columns of its own. */
  a.arg[1] = tkq_const(t, c->group);
  a.arg[2] = c->columns;
  return tkq_atom_poly(t, &a);
}

/* The group of a row. */
static const tkq_poly *group_of(tkq_terms *t, const retile_count *c) {
  return tkq_div(t, tile(t, c, 0), tkq_const(t, c->group));
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

/* The row or the column in place of a quotient or a remainder. */
static const tkq_poly *row_or_column(tkq_terms *t, const tkq_atom *a,
                                     retile_count *c) {
  bool column = a->kind == TKQ_REM;
  if (counts(t, a->arg[0], a->arg[1], c)) {
    if (c->group == 1) return tile(t, c, column);
    return column ? NULL : group_of(t, c);
  }
  const tkq_atom *r = tkq_single(t, a->arg[0]);
  if (!r || r->kind != TKQ_REM) return NULL;
  tkq_atom rest = *r;
  if (!counts(t, rest.arg[0], rest.arg[1], c) || c->group == 1 ||
      !is_height(t, a->arg[1], c, rest.arg[2]))
    return NULL;
  if (!column) return tile(t, c, 1);
  const tkq_poly *first = tkq_mul(t, tkq_const(t, c->group), group_of(t, c));
  return tkq_sub(t, tile(t, c, 0), first);
}

/* ---- formulas ------------------------------------------------------------ */

typedef struct retile_job {
  TK_VEC(retile_count) met;
} retile_job;

static const tkq_poly *retiled(tkq_terms *t, void *ud, int atom) {
  retile_job *j = ud;
  retile_count c;
  tkq_atom a = t->atoms.items[atom];
  if (a.kind != TKQ_DIV && a.kind != TKQ_REM) return NULL;
  const tkq_poly *p = row_or_column(t, &a, &c);
  if (p) TK_PUSH(t->lasting, &j->met, c);
  return p;
}

static const tkq_poly *pid_of(tkq_terms *t, const retile_count *c, int which,
                              int copy) {
  tkq_atom a = {.kind = TKQ_PID, .number = c->axis[which], .name = "pid"};
  a.copy = copy;
  return tkq_atom_poly(t, &a);
}

/* The tiles of two programs differ, or they are one program. */
static const tkq_form *one_to_one(tkq_terms *t, const retile_count *c) {
  retile_count x = *c, y = *c;
  const tkq_form *differ = tkq_false(), *same = tkq_true();
  x.copy = 0;
  y.copy = 1;
  for (int i = 0; i < 2; i++) {
    differ = tkq_or(t, differ,
                    tkq_not(t, tkq_eq(t, tile(t, &x, i), tile(t, &y, i))));
    if (c->axis[i] >= 0)
      same =
          tkq_and(t, same, tkq_eq(t, pid_of(t, c, i, 0), pid_of(t, c, i, 1)));
  }
  return tkq_or(t, differ, same);
}

const tkq_form *tkq_retiled(tkq_terms *t, const tkq_form *f) {
  retile_job j = {{0}};
  const tkq_form *g = tkq_replace_form(t, f, &(tkq_subst){retiled, &j});
  if (!j.met.n) return NULL;
  for (size_t i = 0; i < j.met.n; i++)
    if (j.met.items[i].copy)
      return tkq_and(t, g, one_to_one(t, &j.met.items[i]));
  return g;
}

const tkq_poly *tkq_retiled_poly(tkq_terms *t, const tkq_poly *p) {
  retile_job j = {{0}};
  return tkq_replace(t, p, &(tkq_subst){retiled, &j});
}

/* ---- what is left of a program ------------------------------------------- */

typedef struct retile_left {
  const tkq_atom *of[3]; /* a row or column, by axis of the grid */
  bool mixed;
} retile_left;

static void note_axis(retile_left *l, int axis, const tkq_atom *a) {
  const tkq_atom *b = l->of[axis];
  if (!b) l->of[axis] = a;
  if (b)
    l->mixed |= a->number / 2 != b->number / 2 ||
                !tkq_same(a->arg[1], b->arg[1]) ||
                !tkq_same(a->arg[2], b->arg[2]);
}

static bool note_tile(const tkq_terms *t, int atom, void *ud) {
  const tkq_atom *a = &t->atoms.items[atom];
  if (a->kind != TKQ_TILE) return false;
  note_axis(ud, a->number / 8, a);
  if (a->number % 8 >= 2) note_axis(ud, a->number % 8 / 2 - 1, a);
  return false;
}

static bool is_pid_of(const tkq_terms *t, int atom, void *ud) {
  const retile_left *l = ud;
  const tkq_atom *a = &t->atoms.items[atom];
  return a->kind == TKQ_PID && l->of[a->number];
}

bool tkq_is_mixed(const tkq_terms *t, const tkq_form *f) {
  retile_left l = {{NULL, NULL, NULL}, false};
  tkq_form_has(t, f, note_tile, &l);
  return l.mixed || tkq_form_has(t, f, is_pid_of, &l);
}
