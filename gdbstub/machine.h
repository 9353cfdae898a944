/* machine.h - the processors that a launch can look like: what debuggers insist
 * on knowing about one.
 *
 * Sources: "Debugging with GDB", appendix G.5, Standard Target Features; the
 * System V ABI for x86-64, 3.2 and figure 3.36; "DWARF for the Arm 64-bit
 * Architecture", 4.1; "Procedure Call Standard for the Arm 64-bit
 * Architecture", 6.9.
 */
#ifndef GDBSTUB_MACHINE_H
#define GDBSTUB_MACHINE_H

#include "base/env.h"

/* Registers of one kind, one after another in the client's numbering. */
typedef struct gs_registers {
  const char *feature;
  const char *names; /* separated by blanks, or with %d for each number */
  int count, bits;
  const char *type, *group; /* group NULL: that of the type */
} gs_registers;

typedef struct gs_machine {
  const char *name, *triple; /* triple: for lldb */
  const char *architecture;  /* for gdb */
  int elf;                   /* e_machine */
  int frame, stack, pc;      /* numbers, of which DWARF shares all but pc */
  int return_address;        /* DWARF's column for it */
  int call_step; /* bytes between the addresses that calls return to */
  /* What a function returns: two halves, or the address of a block. */
  int integers[2], floats[4], block;
  bool spreads; /* up to four floats are each in a register of their own */
  unsigned char jump[4], nop[4]; /* to the next statement; nothing */
  const gs_registers *registers;
  size_t nregisters;
} gs_machine;

/* The one of a name, or without one that of this process; NULL: none. */
const gs_machine *gs_machine_named(const char *name);

/* The registers as target.xml. */
void gs_machine_describe(const gs_machine *m, tk_buf *b);
/* Bytes of a register; 0: there is none of that number. */
size_t gs_register_size(const gs_machine *m, int number);

#endif
