/* registers.h - the registers that a compiled kernel would need. */
#ifndef TK_IR_REGISTERS_H
#define TK_IR_REGISTERS_H

#include "ir/ir.h"

/* An estimate for a thread, as if there were any number of them; registers.c
 * says what is in it.  The arena is for what it computes with. */
int tk_program_registers(tk_arena *a, const tk_program *p);

/* The estimate, if a compiler is all but sure to keep part of a thread's data
 * in memory, else 0: a product in a loop adds to more than the registers hold,
 * or twice as many are needed as a thread can have at all.  Of 1,483
 * compilations of 451 public kernels all of the latter spilled (Triton 3.6,
 * sm_90); the estimate alone was wrong where it was less, or where warps are
 * many. */
int tk_program_overflow(tk_arena *a, const tk_program *p);

/* How many registers a thread of the kernel has: its part of a block's, or what
 * the launch asks for (maxnreg). */
int tk_most_registers(const tk_program *p);

#endif
