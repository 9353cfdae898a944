/* registers.h - the registers that a compiled kernel would need. */
#ifndef TK_IR_REGISTERS_H
#define TK_IR_REGISTERS_H

#include "ir/ir.h"

/* An estimate for a thread, as if there were any number of them; registers.c
 * says what is in it.  The arena is for what it computes with. */
int tk_program_registers(tk_arena *a, const tk_program *p);

/* How many registers a thread of the kernel has: its part of a block's, or what
 * the launch asks for (maxnreg). */
int tk_most_registers(const tk_program *p);

#endif
