/* solve.h - a formula as cases, each a list of facts that hold together. */
#ifndef TK_PROVE_SOLVE_H
#define TK_PROVE_SOLVE_H

#include "prove/solver.h"

/* Formulas of the kinds GE and EQ. */
typedef struct tkq_facts {
  const tkq_form **items;
  size_t n, cap;
} tkq_facts;

/* Products of atoms, and atoms alone: the unknowns of a system. */
typedef struct tkq_unknowns {
  tkq_mono *items;
  size_t n, cap;
} tkq_unknowns;

typedef struct tkq_cases {
  tkq_terms *terms;
  tkq_facts facts;
  TK_VEC(int) defined; /* atoms whose definitions are among the facts */
  size_t ncases;
  bool unsure; /* something that nothing is known of was left out */
  /* What is asked of each case that may hold; NULL: whether it can.  An answer
   * but NEVER and GAVE_UP ends it. */
  tkq_answer (*leaf)(struct tkq_cases *c);
  void *ud;
} tkq_cases;

tkq_answer tkq_split(tkq_cases *c, const tkq_form *f);

/* What the solver says of a system, which it is asked once (asked.c); GAVE_UP
 * where the budget for new ones is spent. */
tkq_answer tkq_ask(tkq_terms *t, const tkq_system *s);

/* The number of an unknown, which is added if it is new. */
size_t tkq_unknown(tkq_terms *t, tkq_unknowns *u, const tkq_mono *m);
void tkq_add_rows(tkq_terms *t, tkq_unknowns *u, const tkq_facts *facts,
                  tkq_system *s);

#endif
