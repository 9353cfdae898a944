/* library.h - libdevice's functions for the interpreter, lane by lane: each is
 * compiled as a kernel of its own, by the code generator that kernels go
 * through, and run by the PTX interpreter.  So they have the bits that the
 * engine 'ptx'
 * gives. */
#ifndef TK_DEVICE_LIBRARY_H
#define TK_DEVICE_LIBRARY_H

#include "launch/session.h"

/* Lends the launch a library of the functions that its kernel calls. Returns
 * TK_USAGE if there are some and they cannot be compiled here. */
tk_status tkg_library_lend(tk_launch *l);
/* Takes the library back, if there is one. */
void tkg_library_return(tk_launch *l);

#endif
