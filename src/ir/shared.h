/* shared.h - the shared memory that a compiled kernel would need. */
#ifndef TK_IR_SHARED_H
#define TK_IR_SHARED_H

#include "ir/ir.h"

/* An estimate in bytes for a device of compute capability `arch` (90: 9.0);
 * shared.c says what is in it. */
size_t tk_program_shared(tk_arena *a, const tk_program *p, int arch);

/* Bytes of global memory that a program needs for the tensor descriptors that
 * it makes, which the launcher allocates. */
size_t tk_program_scratch(tk_arena *a, const tk_program *p, int arch);

#endif
