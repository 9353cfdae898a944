/* solver.h - whether a formula can hold.
 *
 * solve.c splits a formula into cases, each a list of inequalities that must
 * hold together.  Products of atoms count as unknowns of their own; facts that
 * follow by multiplying an inequality by something that is not negative are
 * added, so that rows of a stride that is not known can be told apart.  What is
 * left is linear and goes to isl.c.  NEVER is always right; PERHAPS may mean
 * that a product, or something that nothing is known of, was taken too
 * freely.
 */
#ifndef TK_PROVE_SOLVER_H
#define TK_PROVE_SOLVER_H

#include "prove/term.h"

typedef enum tkq_answer {
  TKQ_NEVER,   /* it cannot hold */
  TKQ_PERHAPS, /* it can, as far as is known */
  TKQ_GAVE_UP, /* there were too many cases, or operations of the solver */
} tkq_answer;

tkq_answer tkq_holds(tkq_terms *t, const tkq_form *f);

/* ---- linear integer arithmetic (isl.c) ----------------------------------- */

typedef struct tkq_row {
  size_t n; /* unknowns that are in it */
  const int *at;
  const int64_t *c; /* their coefficients */
  int64_t k;
  bool eq; /* sum of c times the unknowns, and k: is 0; else: is not below 0 */
} tkq_row;

typedef struct tkq_system {
  size_t n; /* unknowns */
  TK_VEC(tkq_row) rows;
} tkq_system;

/* Whether this library was built with isl. */
bool tkq_has_isl(void);
/* points: by integers; else NEVER only where no fractions solve it either. */
tkq_answer tkq_linear(const tkq_system *s, bool points);
/* Whether each point of `whole` is one of some part.  The unknowns from 0 to
 * `shared` are the same in all, others are found anew for each point.  NEVER:
 * no point of it is outside. */
tkq_answer tkq_outside(const tkq_system *whole, const tkq_system *parts,
                       size_t nparts, size_t shared);

#endif
