/* variant.h - neighbouring forms of a kernel: what Triton compiles where one of
 * the launch's whole numbers is of another kind.
 *
 * Triton compiles a kernel anew for a number that is 1, and for one that needs
 * 64 bits.  It does so as well for multiples of 16, but the typed form is the
 * same for these, so that each proof is about both.
 */
#ifndef TK_PROVE_VARIANT_H
#define TK_PROVE_VARIANT_H

#include "prove/relate.h"

typedef enum tkq_variant_kind {
  TKQ_IS_ONE,
  TKQ_NOT_ONE,
  TKQ_INT64, /* 2**31 or more */
  TKQ_VARIANTS,
} tkq_variant_kind;

typedef struct tkq_variant {
  tkq_variant_kind kind;
  size_t arg;
  const char *text;          /* "n is 1" */
  const tk_program *program; /* NULL: the compiler refuses it */
  const char *refused;       /* by what it says */
  const tk_program *scalars; /* whose parameters are numbers of the launch */
} tkq_variant;

/* Compiles for another kind of an argument; false: there is no such form, or it
 * is that of the launch. */
bool tkq_variant_make(tk_env *e, tk_launch *l, const tk_program *own,
                      tkq_variant *v);
/* Makes what all launches of a form have in common a relation. */
void tkq_variant_tell(tkq_numbers *n, const tkq_variant *v);

#endif
