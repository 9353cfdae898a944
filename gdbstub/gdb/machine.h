/* machine.h - the processors that a launch can look like: what debuggers insist
 * on knowing about one.
 *
 * Sources: "Debugging with GDB", appendix G.5, Standard Target Features; the
 * System V ABI for x86-64, 3.2 and figure 3.36; "DWARF for the Arm 64-bit
 * Architecture", 4.1; "Procedure Call Standard for the Arm 64-bit
 * Architecture",
 * 6.9. */
#ifndef GDBSTUB_GDB_MACHINE_H
#define GDBSTUB_GDB_MACHINE_H

#include "base/env.h"

/* Registers of one kind, one after another in the client's numbering. */
typedef struct gs_registers {
  const char *feature;
  /* names separated by blanks, or one with %d for the number */
  const char *names;
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
  /* Registers that hold what a function returns: two halves, or the address of
   * a block. */
  int integers[2], floats[4], block;
  bool spreads; /* up to four floats are each in a register of their own */
  /* the code of a jump to the next statement, and of a nop */
  unsigned char jump[4], nop[4];
  const gs_registers *registers;
  size_t nregisters;
} gs_machine;

/* The machine of this name, or for NULL that of this process; NULL if there is
 * none. */
const gs_machine *gs_machine_named(const char *name);

/* The registers as target.xml. */
void gs_machine_describe(const gs_machine *m, tk_buf *b);
/* The size of a register in bytes; 0 if none has this number. */
size_t gs_register_size(const gs_machine *m, int number);

#endif
