/* smt.h - what is asked of the solver, as files that other solvers read. */
#ifndef TK_PROVE_SMT_H
#define TK_PROVE_SMT_H

#include "prove/oblige.h"

/* Makes the folder if it does not exist; throws TK_USAGE after reporting. */
void tkq_smt_folder(tk_env *e, tk_arena *arena, const char *folder);
/* Writes a file: if it is unsatisfiable, none of the item's formulas can hold
 * given the relations that are on.  Conditions of a session that are equal are
 * one file. */
void tkq_smt_write(tk_env *e, const char *folder, const tkq_numbers *n,
                   const tkq_walk *w, const tkq_item *x);

#endif
