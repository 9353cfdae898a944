/* engine.h - the object that debugger.h is about; its calls are declared there
 * and defined in engine.c, api.c and inspect.c.
 */
#ifndef TK_DEBUG_ENGINE_H
#define TK_DEBUG_ENGINE_H

#include "debug/debug.h"

/* Most bytes of history, unless the user says otherwise. */
#define TKD_HISTORY ((uint64_t)256 << 20)

#endif
