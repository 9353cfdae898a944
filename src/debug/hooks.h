/* hooks.h - what the engine does when the interpreter tells it of something.
 */
#ifndef TK_DEBUG_HOOKS_H
#define TK_DEBUG_HOOKS_H

#include "debug/debug.h"

/* The engine's observer, which calls what is in hooks.c. */
tki_observer tkd_observer(tkd *d);

#endif
