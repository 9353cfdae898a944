/* used.h - whether what an instruction gives can change anything.
 */
#ifndef TK_IR_USED_H
#define TK_IR_USED_H

#include "ir/ir.h"

/* Whether something that f stores, prints, asserts, branches on, passes or
 * returns is made of what one of its instructions gives; if not, a compiler
 * leaves the instruction out. */
bool tk_inst_is_used(tk_env *e, const tk_func *f, const tk_inst *in);

#endif
