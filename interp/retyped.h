/* retyped.h - an instruction on lanes of another type.
 *
 * What moves lanes moves whatever stands for them: marks, doubles.  Detectors
 * run the program's own instruction on those in place of its operands, so
 * that they need not know what it does.
 */
#ifndef TK_INTERP_RETYPED_H
#define TK_INTERP_RETYPED_H

#include "interp/bind.h"

enum { TKI_RETYPED_SLOTS = 8 };

/* Runs an instruction whose operands and results have element type d here:
 * slots holds its operands, which are released, and then gets its results.
 * Of operands with types of their own, only the first may matter to it.
 * kernel: the loop for d; NULL: the instruction's own. */
void tki_run_retyped(tki *t, const tk_inst *in, tk_dtype d, tki_kernel kernel,
                     tki_val slots[TKI_RETYPED_SLOTS]);

#endif
