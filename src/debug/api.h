/* api.h - the edge of the engine: how its public calls fail.
 */
#ifndef TK_DEBUG_API_H
#define TK_DEBUG_API_H

#include "debug/debug.h"

/* Runs fn; what it raised or reported becomes the fault that tk_debug_error
 * gives. */
tk_status tkd_guard(tkd *d, void (*fn)(tkd *d, void *ud), void *ud);
/* The same inside another call: what went wrong stays reported. */
tk_status tkd_try(tkd *d, void (*fn)(tkd *d, void *ud), void *ud);
/* Fails unless the selected call is one of the program that runs next. */
void tkd_need_current(tkd *d);
/* Frees what tk_debug_error tells of. */
void tkd_drop_fault(tkd *d);

#endif
