/* term.h - what integers of a kernel are, for every launch at once: polynomials
 * over atoms, and formulas over those.
 *
 * An atom is a size or a scalar of the launch, the index of a program, a lane
 * along an axis, the trip of a loop, an integer of which nothing is known but
 * its type, or a quotient, minimum, maximum or choice of polynomials.  Lanes
 * go by the axis of the block that they are looked at in, so that one term
 * stands for all lanes.
 *
 * Terms belong to the arena of their tkq_terms and never change.  Equal atoms
 * are one atom; NULL is a polynomial that could not be kept (a coefficient or
 * a degree that is too large).
 */
#ifndef TK_PROVE_TERM_H
#define TK_PROVE_TERM_H

#include "ir/type.h"

enum { TKQ_DEGREE = 6, TKQ_AXES = 5 };

/* How a formula is tried, one way after the other: by bounds of quotients, then
 * by all that is known of them; by points of any kind, then by integers. */
enum { TKQ_EXACT = 1, TKQ_POINTS = 2, TKQ_WAYS = 4 };

typedef enum tkq_atom_kind {
  TKQ_SIZE, /* of the launch: the same in every program */
  TKQ_PID,
  TKQ_LANE,
  TKQ_TRIP,
  TKQ_TILE, /* a row or a column, below arg[0] (retile.h) */
  TKQ_DATA, /* nothing is known of it but its range */
  TKQ_DIV,  /* arg[0] / arg[1], rounded towards zero */
  TKQ_REM,  /* arg[0] % arg[1], where that is no number; arg[2]: TKQ_DIV */
  TKQ_MIN,  /* of arg[0] and arg[1] */
  TKQ_MAX,
  TKQ_POWER,  /* the smallest power of two that is not below arg[0] */
  TKQ_SELECT, /* arg[0] where `when` holds, else arg[1] */
} tkq_atom_kind;

typedef struct tkq_mono {
  int64_t c;
  int deg;
  int atoms[TKQ_DEGREE]; /* in ascending order */
} tkq_mono;

/* Monomials in one order, none of them 0; no monomial: the number 0. */
typedef struct tkq_poly {
  size_t n;
  const tkq_mono *m;
} tkq_poly;

typedef enum tkq_form_kind {
  TKQ_TRUE,
  TKQ_FALSE,
  TKQ_GE, /* p >= 0 */
  TKQ_EQ, /* p == 0 */
  TKQ_AND,
  TKQ_OR,
  TKQ_MAYBE, /* nothing is known of it, nor of its opposite */
} tkq_form_kind;

typedef struct tkq_form {
  tkq_form_kind kind;
  const tkq_poly *p;
  const struct tkq_form *a, *b;
} tkq_form;

typedef struct tkq_atom {
  tkq_atom_kind kind;
  int number;       /* of several of its kind: axis, size, loop, datum */
  int copy;         /* 1: of the other of two programs or lanes */
  const char *name; /* for messages */
  int64_t lo, hi;   /* SIZE, DATA: its range, ends included */
  const tkq_poly *arg[TKQ_AXES]; /* DATA: the lane that it is of */
  const tkq_form *when;
} tkq_atom;

typedef struct tkq_terms {
  tk_arena *arena;   /* of what is made now */
  tk_arena *lasting; /* of atoms, and of what the solver has answered */
  tk_arena *scratch; /* of a question to the solver, while it is asked */
  TK_VEC(tkq_atom) atoms;
  const tkq_poly *grid[3]; /* how many programs there are */
  int data;                /* how many DATA atoms were made */
  int64_t budget;          /* entries of systems that may still be solved */
  struct tkq_asked *asked; /* those that were; NULL: none */
  TK_VEC(const tkq_poly *) orders; /* numbers that tiles go by (retile.c) */
  bool rough;     /* of quotients by what is no number, only bounds are told */
  bool points;    /* of a system, whether an integer point is in it; else, which
                     is quicker, whether any point is */
  int most_way;   /* of TKQ_WAYS: those after it are not tried */
  int needed_way; /* the last one that some answer needed */
} tkq_terms;

/* ---- polynomials (term.c) ------------------------------------------------ */

const tkq_poly *tkq_const(tkq_terms *t, int64_t c);
const tkq_poly *tkq_atom_poly(tkq_terms *t, const tkq_atom *a);
const tkq_poly *tkq_lane(tkq_terms *t, int axis);
/* An integer within a range, another one in each of the lanes of `rank` axes;
 * why: what it comes from. */
const tkq_poly *tkq_datum(tkq_terms *t, int rank, int64_t lo, int64_t hi,
                          const char *why);
const tkq_poly *tkq_add(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_poly *tkq_sub(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_poly *tkq_mul(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_poly *tkq_plus(tkq_terms *t, const tkq_poly *a, int64_t c);
const tkq_poly *tkq_div(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
/* a - (a / b) * b */
const tkq_poly *tkq_rem(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_poly *tkq_min(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_poly *tkq_max(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_poly *tkq_power(tkq_terms *t, const tkq_poly *a);
/* NULL also where it is not known which, which each lane and program may answer
 * in its own way. */
const tkq_poly *tkq_select(tkq_terms *t, const tkq_form *when,
                           const tkq_poly *a, const tkq_poly *b);
bool tkq_same(const tkq_poly *a, const tkq_poly *b);
/* The atom that p is; NULL: it is none. */
const tkq_atom *tkq_single(const tkq_terms *t, const tkq_poly *p);
/* p / (an atom); NULL: not each of its terms has the atom. */
const tkq_poly *tkq_divided(tkq_terms *t, const tkq_poly *p, int atom);
/* Whether it is a number, then *c. */
bool tkq_is_const(const tkq_poly *p, int64_t *c);
/* A bound that p is known not to be below; INT64_MIN: none. */
int64_t tkq_low(const tkq_terms *t, const tkq_poly *p);
int64_t tkq_atom_low(const tkq_terms *t, int atom);

/* ---- formulas (form.c) --------------------------------------------------- */

const tkq_form *tkq_true(void);
const tkq_form *tkq_false(void);
const tkq_form *tkq_maybe(void);
/* Whether MAYBE is nowhere in it. */
bool tkq_is_sure(const tkq_form *f);
const tkq_form *tkq_ge(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_form *tkq_lt(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_form *tkq_eq(tkq_terms *t, const tkq_poly *a, const tkq_poly *b);
const tkq_form *tkq_and(tkq_terms *t, const tkq_form *a, const tkq_form *b);
const tkq_form *tkq_or(tkq_terms *t, const tkq_form *a, const tkq_form *b);
const tkq_form *tkq_not(tkq_terms *t, const tkq_form *f);

/* ---- substitution (form.c) ----------------------------------------------- */

/* Gives what stands for an atom, or NULL to leave it (its arguments are
 * replaced all the same). */
typedef struct tkq_subst {
  const tkq_poly *(*of)(tkq_terms *t, void *ud, int atom);
  void *ud;
} tkq_subst;
const tkq_poly *tkq_replace(tkq_terms *t, const tkq_poly *p,
                            const tkq_subst *s);
const tkq_form *tkq_replace_form(tkq_terms *t, const tkq_form *f,
                                 const tkq_subst *s);
/* Whether some atom, also of arguments, is one of those. */
bool tkq_has(const tkq_terms *t, const tkq_poly *p,
             bool (*is)(const tkq_terms *t, int atom, void *ud), void *ud);
bool tkq_form_has(const tkq_terms *t, const tkq_form *f,
                  bool (*is)(const tkq_terms *t, int atom, void *ud), void *ud);

/* As a formula is written in a text. */
void tkq_put(tk_buf *out, const tkq_terms *t, const tkq_poly *p);

#endif
