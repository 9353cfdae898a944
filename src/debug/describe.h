/* describe.h - what is handed out of the engine: structs of debugger.h, which
 * live in its arena of answers.
 */
#ifndef TK_DEBUG_DESCRIBE_H
#define TK_DEBUG_DESCRIBE_H

#include "debug/value.h"

/* Where it is, and why. */
const tk_debug_stop *tkd_describe_stop(tkd *d);
tk_place tkd_place_of_frame(const tki_frame *f);
tk_debug_value tkd_describe_value(tkd *d, const char *name, const tkd_value *v);

#endif
