/* symbols.h - what a debugger is told of an image: functions, lines, types and
 * variables, in DWARF 4.
 *
 * Types are C's, so that the debugger's expressions are: a block is an array,
 * a tuple a structure, bfloat16 and the floats of eight bits have Triton's
 * names.  A variable that is assigned values of several types is several
 * variables, each in a block that begins where it is first assigned.  A value
 * that is not there yet cannot be read: its address answers with an error.
 */
#ifndef GDBSTUB_GDB_SYMBOLS_H
#define GDBSTUB_GDB_SYMBOLS_H

#include "gdbstub/gdb/image.h"

/* Makes m->file, once; names of files count from the folder.  Throws when
 * memory is out. */
void gs_symbols_write(gs_image *m, const char *folder);

#endif
