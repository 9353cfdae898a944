/* asm_read.h - inside the specialiser: reading inline assembly. */
#ifndef TK_IR_ASM_READ_H
#define TK_IR_ASM_READ_H

#include "ir/asm.h"
#include "ir/spec.h"

/* Adds the instructions of text; a's operands are known.  Reports what is
 * wrong and throws. */
void tks_asm_read(tks *s, tk_asm *a, const char *text);

#endif
