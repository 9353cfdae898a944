/* retile.h - rows and columns of tiles in place of the numbers of programs. */
#ifndef TK_PROVE_RETILE_H
#define TK_PROVE_RETILE_H

#include "prove/term.h"

/* The formula about rows and columns, which holds wherever f does; NULL: there
 * are none in it. */
const tkq_form *tkq_retiled(tkq_terms *t, const tkq_form *f);
/* A term of accesses that happen only where `whole` holds. */
const tkq_poly *tkq_retiled_poly(tkq_terms *t, const tkq_poly *p,
                                 const tkq_form *whole);
/* Whether it is about rows and columns and about the programs that they are of,
 * or of two orders: then it may hold of more than programs do. */
bool tkq_is_mixed(tkq_terms *t, const tkq_form *f);

#endif
