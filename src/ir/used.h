/* used.h - whether the result of an instruction can matter.
 */
#ifndef TK_IR_USED_H
#define TK_IR_USED_H

#include "ir/ir.h"

/* Marks the slots of f, of which used has one flag each, that something is made
 * of which f stores, prints, asserts or branches on, or gives as one of those
 * results that its caller uses (NULL: all).  A compiler leaves instructions out
 * whose results are not marked. */
void tk_mark_used(tk_env *e, const tk_func *f, const bool *results, bool *used);

/* Whether one of an instruction's results is marked. */
bool tk_any_used(const bool *used, const tk_inst *in);

#endif
